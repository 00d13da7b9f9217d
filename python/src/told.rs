//! What the core tells, as Python's dictionaries: the fields of the classes in `fastmmd/report.py`.

use fastmmd::monitor::{ChannelQuality, LegStatus, Mute, Open};
use fastmmd::{Alarm, Config, Recipe, Verdict};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// The code of a verdict: its place in `fastmmd.VERDICTS`.
pub(crate) fn code(verdict: &Verdict) -> u8 {
    match verdict {
        Verdict::Learning { .. } => 0,
        Verdict::Healthy => 1,
        Verdict::Alarm(_) => 2,
        Verdict::Amended(_) => 3,
        Verdict::Drifting => 4,
    }
}

/// Makes a dictionary of fields.
macro_rules! fields {
    ($py:expr, { $($name:literal: $value:expr),* $(,)? }) => {{
        let dict = PyDict::new($py);
        $(dict.set_item($name, $value)?;)*
        Ok(dict)
    }};
}

pub(crate) fn alarm<'py>(py: Python<'py>, it: &Alarm) -> PyResult<Bound<'py, PyDict>> {
    fields!(py, {
        "row": it.row,
        "since": it.since,
        "channel": it.channel,
        "change": it.change.name(),
        "leg": it.leg.name(),
        "window": it.window,
        "score": it.score,
        "threshold": it.threshold,
    })
}

pub(crate) fn leg<'py>(py: Python<'py>, it: &LegStatus) -> PyResult<Bound<'py, PyDict>> {
    fields!(py, {
        "leg": it.leg.name(),
        "channel": it.channel,
        "window": it.window,
        "statistic": it.statistic,
        "threshold": it.threshold,
    })
}

pub(crate) fn open<'py>(py: Python<'py>, it: &Open) -> PyResult<Bound<'py, PyDict>> {
    fields!(py, {
        "leg": it.leg.name(),
        "channel": it.channel,
        "rows": it.rows,
        "size": it.size,
    })
}

pub(crate) fn mute<'py>(py: Python<'py>, it: &Mute) -> PyResult<Bound<'py, PyDict>> {
    fields!(py, { "leg": it.leg.name(), "channel": it.channel, "window": it.window })
}

pub(crate) fn quality<'py>(py: Python<'py>, it: &ChannelQuality) -> PyResult<Bound<'py, PyDict>> {
    fields!(py, {
        "level": it.level,
        "deviation": it.deviation,
        "ties": it.ties,
        "missing": it.missing,
        "rise": it.rise,
        "steadiness": it.steadiness.name(),
        "independent_rows": it.independent_rows,
        "supported_mean_time": it.supported_mean_time,
    })
}

/// The settings under the names of the parameters of `DriftDetector`.
pub(crate) fn settings<'py>(
    py: Python<'py>,
    config: &Config,
    recipe: &Recipe,
) -> PyResult<Bound<'py, PyDict>> {
    use fastmmd::monitor::NotANumber;
    let missing = match config.not_a_number {
        NotANumber::Missing => "reading",
        NotANumber::Refused => "error",
    };
    fields!(py, {
        "mean_time_between_false_alarms": config.mean_time_between_false_alarms,
        "learning_rows": config.learning_rows,
        "period": config.period,
        "relearn_after": config.relearn_after,
        "missing": missing,
        "kernel": recipe.kernel.profile().name(),
        "bandwidth": recipe.kernel.bandwidth(),
        "sampling": recipe.sampling.name(),
        "seed": recipe.seed,
        "frequencies": recipe.frequencies,
    })
}
