//! `tune`: finds the cycle of a healthy log, suggests settings, and tries them by injected changes. It
//! decides as `fastmmd tune` does; the tests compare the two.

use fastmmd::Config;
use fastmmd::dynamic::Map;
use fastmmd::monitor::{LEARNING_ROWS, NotANumber};
use fastmmd_reference::real;
use numpy::PyReadonlyArray2;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::detector::Detector;
use crate::error::{of_row, value_error};
use crate::period::{self, Cycle};
use crate::settings::{self, default_promise, single};
use crate::told;
use crate::tries::{Healthy, Refused, Tries, best};

/// Cycles to learn from, if they are no more than half of the log.
const GOOD_CYCLES: f64 = 8.0;
/// Longest delay by default, in rows.
const WITHIN: usize = 1000;

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

/// A candidate, with the longest promise that learning supports, by the worst channel.
type Trial<'p> = Tries<'p, f32>;

/// Tries the settings with this period, or none.
fn tried<'m>(log: &Log, map: &'m Map, config: Config) -> Result<Trial<'m>, Refused> {
    let rest = log.rows.len().saturating_sub(config.learning_rows as usize);
    let healthy = Healthy {
        rows: &log.rows,
        deviations: &log.deviations,
        within: log.within.unwrap_or(WITHIN).min(rest / 3).max(1),
        lost: if config.not_a_number == NotANumber::Missing { f32::NAN } else { 0.0 },
    };
    let detector = Detector::new(map, config).map_err(|error| (error, 0))?;
    Trial::make(&healthy, detector, |detector| {
        let each = detector.quality().into_iter().map(|it| it.supported_mean_time);
        each.fold(config.supported_mean_time(), f32::min)
    })
}

fn told<'py>(py: Python<'py>, trial: &Trial<'_>) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    let detector = &trial.detector;
    let settings = told::settings(py, &detector.config(), detector.recipe())?;
    dict.set_item("settings", settings)?;
    dict.set_item("false_alarms", trial.false_alarms)?;
    dict.set_item("expected_false_alarms", trial.expected())?;
    dict.set_item("keeps_promise", trial.keeps())?;
    dict.set_item("watched", trial.watched)?;
    dict.set_item("within", trial.within)?;
    dict.set_item("found", trial.found())?;
    dict.set_item("tried", trial.tried())?;
    dict.set_item("supported_mean_time", trial.notes)?;
    let changes = PyList::empty(py);
    for it in &trial.results {
        let change = PyDict::new(py);
        change.set_item("channel", it.channel)?;
        change.set_item("change", it.kind.name())?;
        change.set_item("size", it.kind.size())?;
        change.set_item("found", it.delays.len())?;
        change.set_item("tried", it.tried)?;
        change.set_item("median_delay", it.median())?;
        changes.append(change)?;
    }
    dict.set_item("changes", changes)?;
    Ok(dict)
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
            let trial = tried(&log, &map, log.config(period)?);
            trials.push(trial.map_err(|(error, number)| {
                of_row(error, Some(number), log.rows.get(number).map_or(&[], Vec::as_slice), &names)
            })?);
        }
        Ok::<_, PyErr>((log, trials))
    })?;
    let best = best(&trials);
    let all = PyDict::new(py);
    all.set_item("best", best)?;
    all.set_item("cycle", log.cycle.as_ref().map(|cycle| cycle.rows))?;
    all.set_item("cycle_explains", log.cycle.as_ref().map(|cycle| cycle.explained.clone()))?;
    let candidates: PyResult<Vec<_>> = trials.iter().map(|trial| told(py, trial)).collect();
    all.set_item("candidates", candidates?)?;
    Ok(all)
}
