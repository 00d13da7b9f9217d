//! What the core tells, as Python's dictionaries: the fields of the classes in `fastmmd/report.py`.

use std::marker::PhantomData;

use fastmmd::monitor::{ChannelQuality, LegStatus, Mute, Open};
use fastmmd::{Alarm, Config, Recipe};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::settings;

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
    // All of them: a new one does not compile until Python has it.
    let &Config {
        mean_time_between_false_alarms,
        learning_rows,
        not_a_number,
        period,
        relearn_after,
        legs: PhantomData,
    } = config;
    fields!(py, {
        "mean_time_between_false_alarms": mean_time_between_false_alarms,
        "learning_rows": learning_rows,
        "period": period,
        "relearn_after": relearn_after,
        "missing": settings::missing_name(not_a_number),
        "kernel": recipe.kernel.profile().name(),
        "bandwidth": recipe.kernel.bandwidth(),
        "sampling": recipe.sampling.name(),
        "seed": recipe.seed,
        "frequencies": recipe.frequencies,
    })
}
