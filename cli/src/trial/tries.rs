//! A detector tried on healthy rows, without files or options: for the tool and the Python package.

use fastmmd::{Error, Stage, Verdict};
use fastmmd_reference::real;

use crate::detector::Detector;
use crate::inject::{Injected, Injection};

/// Largest number of rows at which a change begins.
const ONSETS: usize = 10;
/// Largest number of rows with changes, over all channels, kinds and onsets.
const MOST_ROWS: usize = 4_000_000;

/// Healthy rows, and what is tried on them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Healthy<'l> {
    pub(crate) rows: &'l [Vec<f32>],
    /// Standard deviation of each channel.
    pub(crate) deviations: &'l [f32],
    /// Rows within which a change must be found.
    pub(crate) within: usize,
    /// What a lost reading is: missing, or 0 where none may be missing.
    pub(crate) lost: f32,
}

/// The results of a candidate, with notes on what was learned.
pub(crate) struct Tries<'p, T> {
    /// The detector after the last row.
    pub(crate) detector: Detector<'p>,
    /// What was noted when it had just learned.
    pub(crate) notes: T,
    /// Number of rows watched.
    pub(crate) watched: usize,
    pub(crate) within: usize,
    pub(crate) false_alarms: usize,
    pub(crate) results: Vec<Tried>,
}

/// How one kind of change of one channel was found.
pub(crate) struct Tried {
    pub(crate) channel: usize,
    pub(crate) kind: Injected,
    /// Delays of those that were found, in rows, ascending.
    pub(crate) delays: Vec<usize>,
    /// Number of times it was tried.
    pub(crate) tried: usize,
}

/// The first row of a change, and the detector before it.
type Onset<'p> = (usize, Detector<'p>);

/// A row that was refused, and why.
pub(crate) type Refused = (Error, usize);

impl<'p, T: Default> Tries<'p, T> {
    /// Tries a new detector; `note` sees it when it has learned.
    pub(crate) fn make(
        log: &Healthy<'_>,
        mut detector: Detector<'p>,
        note: impl Fn(&Detector<'p>) -> T,
    ) -> Result<Self, Refused> {
        let learn = detector.config().learning_rows as usize;
        let within = log.within;
        let tries = Injected::ALL.len() * log.deviations.len() * within;
        let most = (MOST_ROWS / tries.max(1)).clamp(3, ONSETS);
        let last = log.rows.len().saturating_sub(within);
        let every = last.saturating_sub(learn).div_ceil(most).max(1);
        let (mut false_alarms, mut onsets, mut notes) = (0, Vec::new(), T::default());
        for (number, row) in log.rows.iter().enumerate() {
            let due = number >= learn && (number - learn).is_multiple_of(every);
            if due && number < last && detector.stage() == Stage::Monitoring {
                onsets.push((number, detector.clone()));
            }
            let verdict = detector.push(row).map_err(|error| (error, number))?;
            false_alarms += usize::from(matches!(verdict, Verdict::Alarm(_)));
            if number + 1 == learn {
                notes = note(&detector);
            }
        }
        // If there is an alarm without a change, one with a change says nothing.
        let mut calm = Vec::new();
        for onset in onsets {
            if delay(log, &onset, None)?.is_none() {
                calm.push(onset);
            }
        }
        let mut results = Vec::new();
        for (channel, deviation) in log.deviations.iter().copied().enumerate() {
            // A channel that does not move has no deviation to be off by.
            for kind in Injected::ALL.into_iter().filter(|_| deviation > 0.0) {
                results.push(Tried::run(log, &calm, channel, kind)?);
            }
        }
        let watched = log.rows.len().saturating_sub(learn);
        Ok(Self { detector, notes, watched, within, false_alarms, results })
    }
}

impl<T> Tries<'_, T> {
    /// Expected number of false alarms.
    pub(crate) fn expected(&self) -> f64 {
        real(self.watched) / f64::from(self.detector.config().mean_time_between_false_alarms)
    }

    /// Whether the number of false alarms is plausible for the stated time between them, and nothing
    /// differs at the end.
    pub(crate) fn keeps(&self) -> bool {
        // Mean plus three standard deviations of a Poisson variable, plus one for the start.
        let most = self.expected() + 3.0 * self.expected().sqrt() + 1.0;
        real(self.false_alarms) <= most && self.detector.stage() != Stage::Drift
    }

    pub(crate) fn tried(&self) -> usize {
        self.results.iter().map(|result| result.tried).sum()
    }

    pub(crate) fn found(&self) -> usize {
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
        log: &Healthy<'_>,
        onsets: &[Onset<'_>],
        channel: usize,
        kind: Injected,
    ) -> Result<Self, Refused> {
        let Healthy { within, lost, .. } = *log;
        let deviation = log.deviations[channel];
        let mut delays = Vec::new();
        for onset in onsets {
            let change = Injection { kind, channel, deviation, from: onset.0, within, lost };
            delays.extend(delay(log, onset, Some(change))?);
        }
        delays.sort_unstable();
        Ok(Self { channel, kind, delays, tried: onsets.len() })
    }

    pub(crate) fn median(&self) -> Option<usize> {
        self.delays.get(self.delays.len() / 2).copied()
    }
}

/// Rows from an onset to the first alarm, with a change or without; `None` if there is none in time.
fn delay(
    log: &Healthy<'_>,
    (from, before): &Onset<'_>,
    change: Option<Injection>,
) -> Result<Option<usize>, Refused> {
    let mut detector = before.clone();
    let mut row = Vec::new();
    for at in *from..(from + log.within).min(log.rows.len()) {
        row.clone_from(&log.rows[at]);
        if let Some(change) = &change {
            row[change.channel] = change.reading(log.rows, at);
        }
        let verdict = detector.push(&row).map_err(|error| (error, at))?;
        if matches!(verdict, Verdict::Alarm(_)) {
            return Ok(Some(at - from));
        }
    }
    Ok(None)
}

/// The trial that keeps the promise and finds most; of equal ones, the quickest.
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
