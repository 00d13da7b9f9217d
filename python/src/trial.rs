//! `tune`: finds the cycle of a healthy log, suggests settings, and tries them by injected changes. It
//! decides as `fastmmd tune` does; the tests compare the two.

use fastmmd::dynamic::Map;
use fastmmd::monitor::{LEARNING_ROWS, NotANumber};
use fastmmd::{Config, Error, Stage, Verdict};
use fastmmd_reference::real;
use numpy::PyReadonlyArray2;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::detector::Detector;
use crate::error::{of_row, value_error};
use crate::inject::{Injected, Injection};
use crate::period::{self, Cycle};
use crate::settings::{self, default_promise, single};
use crate::told;

/// Cycles to learn from, if they are no more than half of the log.
const GOOD_CYCLES: f64 = 8.0;
/// Longest delay by default, in rows.
const WITHIN: usize = 1000;
/// Most rows on which changes start.
const ONSETS: usize = 10;
/// Most rows pushed to try changes.
const MOST_ROWS: usize = 4_000_000;

/// A healthy log, and what is asked.
struct Log {
    rows: Vec<Vec<f32>>,
    deviations: Vec<f32>,
    cycle: Option<Cycle>,
    given: Option<f64>,
    learn: Option<u32>,
    promise: Option<f64>,
    within: Option<usize>,
    missing: String,
}

impl Log {
    /// The periods to try: none, and the one that was found or given.
    fn periods(&self) -> Vec<Option<f64>> {
        let found = self.cycle.as_ref().filter(|cycle| self.has_cycles(cycle.rows));
        match (self.given, found) {
            (Some(given), _) => vec![Some(given)],
            (None, Some(cycle)) => vec![None, Some(rounded(cycle.rows))],
            (None, None) => vec![None],
        }
    }

    /// Whether there are enough cycles to learn from.
    fn has_cycles(&self, rows: f64) -> bool {
        let half = self.learn.map_or(real(self.rows.len()) / 2.0, f64::from);
        f64::from(least_learning(Some(rows))) <= half
    }

    fn config(&self, period: Option<f64>) -> PyResult<Config> {
        let learn = self.learn.unwrap_or_else(|| self.learning_rows(period));
        let least = *LEARNING_ROWS.start();
        if self.rows.len() < learn as usize + least as usize {
            let why = format!(
                "{} healthy rows are too few: {learn} to learn from, and {least} more to try \
                 changes in, are needed",
                self.rows.len()
            );
            return Err(value_error("X", why));
        }
        settings::config(self.promise, learn, period, None, &self.missing)
    }

    /// As many as the core's default, as the promise needs, or as hold enough cycles, but no more than
    /// half of the log.
    fn learning_rows(&self, period: Option<f64>) -> u32 {
        let (least, most) = (*LEARNING_ROWS.start(), *LEARNING_ROWS.end());
        let half = u32::try_from(self.rows.len() / 2).unwrap_or(most).clamp(least, most);
        let mut rows = Config::rows(settings::PROMISE).learning_rows;
        if let Some(period) = period {
            rows = rows.max(ceiling(GOOD_CYCLES * period));
        }
        let supports = |rows: u32| {
            let period = period.map(single);
            let config = Config { learning_rows: rows, period, ..Config::rows(settings::PROMISE) };
            let promise = self.promise.map_or_else(|| default_promise(&config), single);
            config.supported_mean_time() >= promise
        };
        while rows < half && !supports(rows) {
            rows = rows.saturating_mul(2);
        }
        rows.min(half).max(least_learning(period)).min(most)
    }
}

fn least_learning(period: Option<f64>) -> u32 {
    Config { period: period.map(single), ..Config::rows(settings::PROMISE) }.least_learning_rows()
}

/// A period with as many digits as it deserves.
fn rounded(rows: f64) -> f64 {
    let digits = if rows >= 1000.0 { 1.0 } else { 100.0 };
    (rows * digits).round() / digits
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "positive, and saturates"
)]
fn ceiling(rows: f64) -> u32 {
    rows.ceil() as u32
}

/// Standard deviation of a channel, over the readings that came.
fn deviation(rows: &[Vec<f32>], channel: usize) -> f32 {
    let values = || rows.iter().map(|row| f64::from(row[channel])).filter(|it| it.is_finite());
    let count = real(values().count().max(1));
    let mean = values().sum::<f64>() / count;
    single((values().map(|value| (value - mean).powi(2)).sum::<f64>() / count).sqrt())
}

/// How one kind of change of one channel was found.
struct Tried {
    channel: usize,
    kind: Injected,
    /// Delays of those that were found, in rows, ascending.
    delays: Vec<usize>,
    tried: usize,
}

/// One choice of settings, tried.
struct Trial {
    config: Config,
    false_alarms: usize,
    watched: usize,
    within: usize,
    ends_in_drift: bool,
    supported: f32,
    results: Vec<Tried>,
}

/// A row that was refused.
type Refused = (Error, usize);

impl Trial {
    fn run(log: &Log, map: &Map, config: Config) -> Result<Self, Refused> {
        let mut detector = Detector::new(map, config).map_err(|error| (error, 0))?;
        let learn = config.learning_rows as usize;
        let rest = log.rows.len().saturating_sub(learn);
        let within = log.within.unwrap_or(WITHIN).min(rest / 3).max(1);
        let tries = Injected::ALL.len() * log.deviations.len() * within;
        let most = (MOST_ROWS / tries.max(1)).clamp(3, ONSETS);
        let last = log.rows.len().saturating_sub(within);
        let every = last.saturating_sub(learn).div_ceil(most).max(1);
        let (mut false_alarms, mut onsets) = (0, Vec::new());
        let mut supported = config.supported_mean_time();
        for (number, row) in log.rows.iter().enumerate() {
            let due = number >= learn && (number - learn).is_multiple_of(every);
            if due && number < last && detector.stage() == Stage::Monitoring {
                onsets.push((number, detector.clone()));
            }
            let verdict = detector.push(row).map_err(|error| (error, number))?;
            false_alarms += usize::from(matches!(verdict, Verdict::Alarm(_)));
            if number + 1 == learn {
                let each = detector.quality().into_iter().map(|it| it.supported_mean_time);
                supported = each.fold(supported, f32::min);
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
        for (channel, deviation) in log.deviations.iter().copied().enumerate() {
            // A channel that does not move has no deviation to be off by.
            for kind in Injected::ALL.into_iter().filter(|_| deviation > 0.0) {
                let mut delays = Vec::new();
                for onset in &calm {
                    let missing = config.not_a_number == NotANumber::Missing;
                    let lost = if missing { f32::NAN } else { 0.0 };
                    let from = onset.0;
                    let change = Injection { kind, channel, deviation, from, within, lost };
                    delays.extend(delay(log, onset, within, Some(change))?);
                }
                delays.sort_unstable();
                results.push(Tried { channel, kind, delays, tried: calm.len() });
            }
        }
        let ends_in_drift = detector.stage() == Stage::Drift;
        Ok(Self { config, false_alarms, watched: rest, within, ends_in_drift, supported, results })
    }

    fn expected(&self) -> f64 {
        real(self.watched) / f64::from(self.config.mean_time_between_false_alarms)
    }

    /// Whether the number of false alarms is plausible, and nothing differs at the end.
    fn keeps(&self) -> bool {
        // Mean plus three standard deviations of a Poisson variable, plus one for the start.
        let most = self.expected() + 3.0 * self.expected().sqrt() + 1.0;
        real(self.false_alarms) <= most && !self.ends_in_drift
    }

    fn tried(&self) -> usize {
        self.results.iter().map(|it| it.tried).sum()
    }

    fn found(&self) -> usize {
        self.results.iter().map(|it| it.delays.len()).sum()
    }

    /// Whether it keeps its promise, the part that was found, and the mean delay, negative; what was
    /// not found took all the time.
    fn merit(&self) -> (bool, f64, f64) {
        let tried = real(self.tried().max(1));
        let delays: usize = self.results.iter().flat_map(|it| &it.delays).sum();
        let lost = (self.tried() - self.found()) * self.within;
        (self.keeps(), real(self.found()) / tried, -real(delays + lost) / tried)
    }

    fn told<'py>(&self, py: Python<'py>, map: &Map) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        use fastmmd::FeatureMap as _;
        dict.set_item("settings", told::settings(py, &self.config, map.recipe())?)?;
        dict.set_item("false_alarms", self.false_alarms)?;
        dict.set_item("expected_false_alarms", self.expected())?;
        dict.set_item("keeps_promise", self.keeps())?;
        dict.set_item("watched", self.watched)?;
        dict.set_item("within", self.within)?;
        dict.set_item("found", self.found())?;
        dict.set_item("tried", self.tried())?;
        dict.set_item("supported_mean_time", self.supported)?;
        let changes = PyList::empty(py);
        for it in &self.results {
            let change = PyDict::new(py);
            change.set_item("channel", it.channel)?;
            change.set_item("change", it.kind.name())?;
            change.set_item("size", it.kind.size())?;
            change.set_item("found", it.delays.len())?;
            change.set_item("tried", it.tried)?;
            change.set_item("median_delay", it.delays.get(it.delays.len() / 2).copied())?;
            changes.append(change)?;
        }
        dict.set_item("changes", changes)?;
        Ok(dict)
    }
}

/// Rows from an onset to the first alarm, with a change or without; `None` if there is none in time.
fn delay(
    log: &Log,
    (from, before): &(usize, Detector<'_>),
    within: usize,
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

/// What was tried, and which of it is best; see `fastmmd.tune`.
#[pyfunction]
#[pyo3(signature = (
    rows, names, *, mean_time_between_false_alarms, learning_rows, period, missing, kernel, bandwidth,
    sampling, seed, frequencies, within
))]
#[expect(clippy::too_many_arguments, reason = "called by name, from one place")]
pub(crate) fn tune<'py>(
    py: Python<'py>,
    rows: PyReadonlyArray2<'py, f32>,
    names: Vec<String>,
    mean_time_between_false_alarms: Option<f64>,
    learning_rows: Option<u32>,
    period: Option<f64>,
    missing: String,
    kernel: &str,
    bandwidth: f64,
    sampling: &str,
    seed: u64,
    frequencies: usize,
    within: Option<usize>,
) -> PyResult<Bound<'py, PyDict>> {
    let kernel = settings::kernel(kernel, bandwidth)?;
    let map = settings::map(kernel, sampling, seed, names.len(), frequencies)?;
    let rows: Vec<Vec<f32>> = rows.as_array().rows().into_iter().map(|row| row.to_vec()).collect();
    let (log, trials) = py.detach(|| {
        let channels = names.len();
        let log = Log {
            cycle: if period.is_none() { period::find(&rows, channels) } else { None },
            deviations: (0..channels).map(|channel| deviation(&rows, channel)).collect(),
            given: period,
            learn: learning_rows,
            promise: mean_time_between_false_alarms,
            within,
            missing,
            rows,
        };
        let mut trials = Vec::new();
        for period in log.periods() {
            let trial = Trial::run(&log, &map, log.config(period)?);
            trials.push(trial.map_err(|(error, number)| {
                of_row(error, Some(number), log.rows.get(number).map_or(&[], Vec::as_slice), &names)
            })?);
        }
        Ok::<_, PyErr>((log, trials))
    })?;
    let better = |a: &Trial, b: &Trial| {
        let ((a, a_found, a_delay), (b, b_found, b_delay)) = (a.merit(), b.merit());
        a.cmp(&b).then(a_found.total_cmp(&b_found)).then(a_delay.total_cmp(&b_delay))
    };
    let best = trials.iter().enumerate().max_by(|(_, a), (_, b)| better(a, b)).map(|(at, _)| at);
    let told = PyDict::new(py);
    told.set_item("best", best)?;
    told.set_item("cycle", log.cycle.as_ref().map(|cycle| cycle.rows))?;
    told.set_item("cycle_explains", log.cycle.as_ref().map(|cycle| cycle.explained.clone()))?;
    let candidates: PyResult<Vec<_>> = trials.iter().map(|trial| trial.told(py, &map)).collect();
    told.set_item("candidates", candidates?)?;
    Ok(told)
}
