//! A candidate tried on a healthy log.
//!
//! It learns from the first part and watches the rest: once unchanged, to count false alarms, and
//! then with changes injected into one channel at a time.

use fastmmd::{Stage, Verdict};
use fastmmd_reference::real;
use serde_json::{Value, json};

use crate::args::Missing;
use crate::cost;
use crate::detector::Detector;
use crate::fault::Fault;
use crate::healthy::Log;
use crate::inject::{Injected, Injection};
use crate::report::number;
use crate::setup::Plan;
use crate::summary;

/// Largest number of rows at which a change begins.
const ONSETS: usize = 10;
/// Largest number of rows with changes, over all channels, kinds and onsets.
const MOST_ROWS: usize = 4_000_000;

/// The results of a candidate.
pub(crate) struct Trial<'p> {
    /// The detector after the last row.
    pub(crate) detector: Detector<'p>,
    /// The same when it had just learned.
    pub(crate) notes: Vec<String>,
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

impl<'p> Trial<'p> {
    pub(crate) fn run(log: &Log, plan: &'p Plan) -> Result<Self, Fault> {
        let refused = |error: fastmmd::Error| Fault::of(&log.name, error);
        let mut detector = plan.detector().map_err(refused)?;
        let learn = plan.config.learning_rows as usize;
        let within = log.within(learn);
        let tries = Injected::ALL.len() * log.names.len() * within;
        let most = (MOST_ROWS / tries.max(1)).clamp(3, ONSETS);
        let last = log.rows.len().saturating_sub(within);
        let every = last.saturating_sub(learn).div_ceil(most).max(1);
        let (mut false_alarms, mut onsets, mut notes) = (0, Vec::new(), Vec::new());
        for (number, row) in log.rows.iter().enumerate() {
            let due = number >= learn && (number - learn).is_multiple_of(every);
            if due && number < last && detector.stage() == Stage::Monitoring {
                onsets.push((number, detector.clone()));
            }
            let verdict = detector.push(row).map_err(refused)?;
            false_alarms += usize::from(matches!(verdict, Verdict::Alarm(_)));
            if number + 1 == learn {
                notes = summary::learned_lines(&detector, &log.names);
            }
        }
        // If there is an alarm without a change, one with a change says nothing.
        let mut calm = Vec::new();
        for onset in onsets {
            if delay(log, &onset, within, None)?.is_none() {
                calm.push(onset);
            }
        }
        let mut results = Vec::new();
        for channel in 0..log.names.len() {
            // A channel that does not move has no deviation to be off by.
            let kinds = Injected::ALL.into_iter().filter(|_| log.deviations[channel] > 0.0);
            for kind in kinds {
                results.push(Tried::run(log, &calm, within, channel, kind)?);
            }
        }
        let watched = log.rows.len() - learn;
        Ok(Self { detector, notes, watched, within, false_alarms, results })
    }

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

    pub(crate) fn json(&self, suggested: bool) -> Value {
        let config = self.detector.config();
        let [m4f, m0] = ["m4f", "m0"].map(|core| cost::instructions(core, &self.detector));
        json!({
            "event": "candidate",
            "learning_rows": config.learning_rows,
            "period": config.period.map(number),
            "mean_time_between_false_alarms": number(config.mean_time_between_false_alarms),
            "supported_mean_time": number(config.supported_mean_time()),
            "features": self.detector.recipe().frequencies,
            "watched": self.watched,
            "false_alarms": self.false_alarms,
            "expected": self.expected(),
            "within": self.within,
            "found": self.found(),
            "tried": self.tried(),
            "ram_bytes": cost::ram_bytes(&self.detector),
            "instructions_m4f": m4f.map(|it| it.count),
            "instructions_m0": m0.map(|it| it.count),
            "instructions_measured": m4f.is_some_and(|it| it.measured),
            "suggested": suggested,
        })
    }
}

impl Tried {
    fn run(
        log: &Log,
        onsets: &[Onset<'_>],
        within: usize,
        channel: usize,
        kind: Injected,
    ) -> Result<Self, Fault> {
        let deviation = log.deviations[channel];
        let mut delays = Vec::new();
        for onset in onsets {
            let lost = if log.missing == Missing::Reading { f32::NAN } else { 0.0 };
            let change = Injection { kind, channel, deviation, from: onset.0, within, lost };
            delays.extend(delay(log, onset, within, Some(change))?);
        }
        delays.sort_unstable();
        Ok(Self { channel, kind, delays, tried: onsets.len() })
    }

    pub(crate) fn median(&self) -> Option<usize> {
        self.delays.get(self.delays.len() / 2).copied()
    }

    pub(crate) fn json(&self, log: &Log) -> Value {
        json!({
            "event": "trial",
            "channel": self.channel,
            "channel_name": log.names[self.channel],
            "change": self.kind.name(),
            "size": self.kind.size().map(number),
            "found": self.delays.len(),
            "tried": self.tried,
            "median_delay": self.median(),
        })
    }
}

/// Rows from an onset to the first alarm, with a change or without; `None` if there is none in time.
fn delay(
    log: &Log,
    (from, before): &Onset<'_>,
    within: usize,
    change: Option<Injection>,
) -> Result<Option<usize>, Fault> {
    let mut detector = before.clone();
    let mut row = Vec::new();
    for at in *from..(from + within).min(log.rows.len()) {
        row.clone_from(&log.rows[at]);
        if let Some(change) = &change {
            row[change.channel] = change.reading(&log.rows, at);
        }
        let verdict = detector.push(&row).map_err(|error| Fault::of(&log.name, error))?;
        if matches!(verdict, Verdict::Alarm(_)) {
            return Ok(Some(at - from));
        }
    }
    Ok(None)
}

/// The trial that keeps the promise and finds most; of equal ones, the quickest.
pub(crate) fn best(trials: &[Trial<'_>]) -> Option<usize> {
    let order = |trial: &Trial<'_>| {
        let (found, delay) = trial.merit();
        (trial.keeps(), found, -delay)
    };
    let better = |a: &Trial<'_>, b: &Trial<'_>| {
        let ((a, a_found, a_delay), (b, b_found, b_delay)) = (order(a), order(b));
        a.cmp(&b).then(a_found.total_cmp(&b_found)).then(a_delay.total_cmp(&b_delay))
    };
    trials.iter().enumerate().max_by(|(_, a), (_, b)| better(a, b)).map(|(index, _)| index)
}
