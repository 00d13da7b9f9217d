//! A detector tried on healthy rows: once unchanged, to count false alarms, and then with changes
//! injected into one channel at a time.

use fastmmd::dynamic::Map;
use fastmmd::monitor::NotANumber;
use fastmmd::{Config, Error, Stage, Verdict};
use fastmmd_reference::real;

use crate::detector::Detector;
use crate::inject::{Injected, Injection};
use crate::learning::{is_kept, share_promise};
use crate::log::Log;

/// Largest and smallest number of rows at which a change begins.
const ONSETS: usize = 10;
const FEWEST_ONSETS: usize = 3;
/// Largest number of rows with changes by default, over all channels, kinds and onsets.
const MOST_ROWS: usize = 4_000_000;
/// Fewest rows within which a change must be found.
const LEAST_WITHIN: usize = 50;

/// Healthy rows, and how detectors are tried on them. Those that are compared are tried on the same
/// rows, so that none has an easier part of the log.
#[derive(Debug, Clone, Copy)]
pub struct Healthy<'l> {
    log: &'l Log,
    /// The first row that counts: all detectors that are compared have learned before it.
    from: usize,
    /// Rows within which a change must be found.
    within: usize,
    /// What a lost reading is: missing, or 0 where none may be missing.
    lost: f32,
    /// Largest number of rows with changes, over all channels, kinds and onsets.
    most: usize,
}

impl<'l> Healthy<'l> {
    /// The rows of a log for detectors with these settings.
    #[must_use]
    pub fn new(log: &'l Log, each: &[Config]) -> Self {
        let learned = each.iter().map(|config| config.learning_rows as usize);
        let from = learned.max().unwrap_or(0);
        let missing = each.iter().all(|config| config.not_a_number == NotANumber::Missing);
        let lost = if missing { f32::NAN } else { 0.0 };
        Self { log, from, within: log.within(from), lost, most: MOST_ROWS }
    }

    /// The same with at most about so many rows with changes: changes begin more rarely, and have to be
    /// found sooner.
    #[must_use]
    pub fn with_at_most(self, most: usize) -> Self {
        let within =
            most / (FEWEST_ONSETS * Injected::ALL.len() * self.log.deviations.len().max(1));
        Self { within: self.within.min(within.max(LEAST_WITHIN)), most, ..self }
    }
}

/// The results of a candidate, with notes on what was learned.
#[derive(Debug)]
pub struct Tries<'p, T> {
    /// The detector after the last row.
    pub detector: Detector<'p>,
    /// What was noted when it had just learned.
    pub notes: T,
    /// Number of rows watched.
    pub watched: usize,
    /// Rows within which a change had to be found.
    pub within: usize,
    /// Alarms in the rows watched, without a change.
    pub false_alarms: usize,
    /// What was found of each kind of change of each channel.
    pub results: Vec<Tried>,
}

/// How one kind of change of one channel was found.
#[derive(Debug, Clone)]
pub struct Tried {
    /// The channel that was changed.
    pub channel: usize,
    /// How it was changed.
    pub kind: Injected,
    /// Delays of those that were found, in rows, ascending.
    pub delays: Vec<usize>,
    /// Number of times it was tried.
    pub tried: usize,
}

/// The first row of a change, and the detector before it.
type Onset<'p> = (usize, Detector<'p>);

/// A row that was refused, and why.
pub type Refused = (Error, usize);

impl<'p, T: Default> Tries<'p, T> {
    /// Tries a new detector; `note` sees it when it has learned.
    ///
    /// # Errors
    /// The first row that the detector refuses.
    pub fn make(
        healthy: &Healthy<'_>,
        mut detector: Detector<'p>,
        note: impl Fn(&Detector<'p>) -> T,
    ) -> Result<Self, Refused> {
        let learn = detector.config().learning_rows as usize;
        let Healthy { log, from, within, most, .. } = *healthy;
        let tries = Injected::ALL.len() * log.deviations.len() * within;
        let most = (most / tries.max(1)).clamp(FEWEST_ONSETS, ONSETS);
        let last = log.rows.len().saturating_sub(within);
        let every = last.saturating_sub(from).div_ceil(most).max(1);
        let (mut false_alarms, mut onsets, mut notes) = (0, Vec::new(), T::default());
        for (number, row) in log.rows.iter().enumerate() {
            let due = number >= from && (number - from).is_multiple_of(every);
            if due && number < last && detector.stage() == Stage::Monitoring {
                onsets.push((number, detector.clone()));
            }
            let verdict = detector.push(row).map_err(|error| (error, number))?;
            false_alarms += usize::from(number >= from && matches!(verdict, Verdict::Alarm(_)));
            if number + 1 == learn {
                notes = note(&detector);
            }
        }
        // If there is an alarm without a change, one with a change says nothing.
        let mut calm = Vec::new();
        for onset in onsets {
            if delay(healthy, &onset, None)?.is_none() {
                calm.push(onset);
            }
        }
        let mut results = Vec::new();
        for (channel, deviation) in log.deviations.iter().copied().enumerate() {
            // A channel that does not move has no deviation to be off by.
            for kind in Injected::ALL.into_iter().filter(|_| deviation > 0.0) {
                results.push(Tried::run(healthy, &calm, channel, kind)?);
            }
        }
        let watched = log.rows.len().saturating_sub(from);
        Ok(Self { detector, notes, watched, within, false_alarms, results })
    }
}

impl<T> Tries<'_, T> {
    /// Expected number of false alarms.
    #[must_use]
    pub fn expected(&self) -> f64 {
        real(self.watched) / f64::from(self.detector.config().mean_time_between_false_alarms)
    }

    /// Whether the number of false alarms is plausible for the stated time between them, and nothing
    /// differs at the end.
    #[must_use]
    pub fn keeps(&self) -> bool {
        let plausible = is_kept(real(self.false_alarms), self.expected());
        plausible && self.detector.stage() != Stage::Drift
    }

    /// Number of changes tried.
    #[must_use]
    pub fn tried(&self) -> usize {
        self.results.iter().map(|result| result.tried).sum()
    }

    /// Number of them that were found in time.
    #[must_use]
    pub fn found(&self) -> usize {
        self.results.iter().map(|result| result.delays.len()).sum()
    }

    /// Part of the tries that were found, and the mean delay of all, where one that was not found
    /// took all the time.
    fn merit(&self) -> (f64, f64) {
        let tried = real(self.tried().max(1));
        let delays: usize = self.results.iter().flat_map(|result| &result.delays).sum();
        let lost = (self.tried() - self.found()) * self.within;
        (real(self.found()) / tried, real(delays + lost) / tried)
    }
}

impl Tried {
    fn run(
        healthy: &Healthy<'_>,
        onsets: &[Onset<'_>],
        channel: usize,
        kind: Injected,
    ) -> Result<Self, Refused> {
        let Healthy { log, within, lost, .. } = *healthy;
        let deviation = log.deviations[channel];
        let mut delays = Vec::new();
        for onset in onsets {
            let change = Injection { kind, channel, deviation, from: onset.0, within, lost };
            delays.extend(delay(healthy, onset, Some(change))?);
        }
        delays.sort_unstable();
        Ok(Self { channel, kind, delays, tried: onsets.len() })
    }

    /// Median delay in rows of those that were found.
    #[must_use]
    pub fn median(&self) -> Option<usize> {
        self.delays.get(self.delays.len() / 2).copied()
    }
}

/// Rows from an onset to the first alarm, with a change or without; `None` if there is none in time.
fn delay(
    Healthy { log, within, .. }: &Healthy<'_>,
    (from, before): &Onset<'_>,
    change: Option<Injection>,
) -> Result<Option<usize>, Refused> {
    let mut detector = before.clone();
    let mut row = Vec::new();
    for at in *from..(from + within).min(log.rows.len()) {
        row.clone_from(&log.rows[at]);
        if let Some(change) = &change {
            row[change.channel] = change.reading(&log.rows, at);
        }
        let verdict = detector.push(&row).map_err(|error| (error, at))?;
        if matches!(verdict, Verdict::Alarm(_)) {
            return Ok(Some(at - from));
        }
    }
    Ok(None)
}

/// Candidates that were compared.
#[derive(Debug)]
pub struct Compared<'p, T> {
    /// All of them, tried with the same promise: the shortest of theirs.
    pub trials: Vec<Tries<'p, T>>,
    /// Which of them is best.
    pub best: usize,
    /// The best one with its own promise, if that is longer.
    pub own: Option<Tries<'p, T>>,
}

impl<'p, T: Default> Compared<'p, T> {
    /// Tries settings, each over its map, on the same rows of a log. `note` sees each detector when it
    /// has learned; `done` is told how many have been tried. `None` if there are none.
    ///
    /// # Errors
    /// The first row that a detector refuses, or 0 if it refuses its settings.
    pub fn make(
        log: &Log,
        candidates: &[(&'p Map, Config)],
        note: impl Fn(&Detector<'p>) -> T,
        mut done: impl FnMut(usize),
    ) -> Result<Option<Self>, Refused> {
        let mut configs: Vec<Config> = candidates.iter().map(|(_, config)| *config).collect();
        let healthy = Healthy::new(log, &configs);
        share_promise(&mut configs);
        let tried = |map: &'p Map, config: Config| {
            let detector = Detector::new(map, config).map_err(|error| (error, 0))?;
            Tries::make(&healthy, detector, &note)
        };
        let mut trials = Vec::new();
        for ((map, _), config) in candidates.iter().zip(&configs) {
            done(trials.len());
            trials.push(tried(map, *config)?);
        }
        let Some(best) = best(&trials) else { return Ok(None) };
        let (map, config) = candidates[best];
        let own = if config == configs[best] { None } else { Some(tried(map, config)?) };
        Ok(Some(Self { trials, best, own }))
    }

    /// The best one, with its own promise.
    #[must_use]
    pub fn suggested(&self) -> &Tries<'p, T> {
        self.own.as_ref().unwrap_or(&self.trials[self.best])
    }
}

/// The trial that keeps the promise and finds most; of equal ones, the quickest.
#[must_use]
pub(crate) fn best<T>(trials: &[Tries<'_, T>]) -> Option<usize> {
    let order = |trial: &Tries<'_, T>| {
        let (found, delay) = trial.merit();
        (trial.keeps(), found, -delay)
    };
    let better = |a: &Tries<'_, T>, b: &Tries<'_, T>| {
        let ((a, a_found, a_delay), (b, b_found, b_delay)) = (order(a), order(b));
        a.cmp(&b).then(a_found.total_cmp(&b_found)).then(a_delay.total_cmp(&b_delay))
    };
    trials.iter().enumerate().max_by(|(_, a), (_, b)| better(a, b)).map(|(index, _)| index)
}
