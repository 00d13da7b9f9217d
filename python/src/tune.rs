//! `tune`: finds the cycle of a healthy log, suggests settings, and tries them by injected changes. It
//! decides as `fastmmd tune` does; the tests compare the two.

use fastmmd::Config;
use fastmmd_tune::detector::Detector;
use fastmmd_tune::log::Log;
use fastmmd_tune::tries::{Compared, Tries};
use numpy::PyReadonlyArray2;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::error::{of_row, value_error};
use crate::settings::{self, single};
use crate::told;

/// A candidate, with the longest promise that learning supports, by the worst channel.
type Trial<'p> = Tries<'p, f32>;

/// The settings to try.
fn configs(log: &Log, promise: Option<f64>, missing: &str) -> PyResult<Vec<Config>> {
    let of = |period: Option<f64>| {
        let learn = log.learning_rows(period, promise.map(single));
        let learn = learn.map_err(|error| value_error("X", error))?;
        settings::config(promise, learn, period, None, missing)
    };
    log.periods().into_iter().map(of).collect()
}

/// The longest promise that learning supports, by the worst channel.
fn supported(detector: &Detector<'_>) -> f32 {
    let each = detector.quality().into_iter().map(|it| it.supported_mean_time);
    each.fold(detector.config().supported_mean_time(), f32::min)
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
    let (log, compared) = py.detach(|| {
        let log = Log::new(rows, names.len(), period, learning_rows, within);
        let configs = configs(&log, mean_time_between_false_alarms, &missing)?;
        let candidates: Vec<_> = configs.into_iter().map(|config| (&map, config)).collect();
        let compared = Compared::make(&log, &candidates, supported, |_| ());
        let compared = compared.map_err(|(error, number)| {
            of_row(error, Some(number), log.rows.get(number).map_or(&[], Vec::as_slice), &names)
        })?;
        Ok::<_, PyErr>((log, compared.ok_or_else(|| value_error("X", "nothing to try"))?))
    })?;
    let trials: Vec<&Trial<'_>> = compared.trials.iter().chain(&compared.own).collect();
    let best = if compared.own.is_some() { trials.len() - 1 } else { compared.best };
    let all = PyDict::new(py);
    all.set_item("best", best)?;
    all.set_item("cycle", log.cycle.as_ref().map(|cycle| cycle.rows))?;
    all.set_item("cycle_explains", log.cycle.as_ref().map(|cycle| cycle.explained.clone()))?;
    let candidates: PyResult<Vec<_>> = trials.into_iter().map(|trial| told(py, trial)).collect();
    all.set_item("candidates", candidates?)?;
    Ok(all)
}
