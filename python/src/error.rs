//! Errors as Python's exceptions, naming the parameter as Python calls it.

use fastmmd::condition::MAX_READING;
use fastmmd::monitor::{LEARNING_ROWS, LEAST_CYCLES, PERIODS};
use fastmmd::{Error, Parameter};
use fastmmd_reference::error::Refused;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// What Python calls a parameter of the core; one that it has no name for, as the core does.
fn name(parameter: Parameter) -> &'static str {
    match parameter {
        Parameter::Bandwidth => "bandwidth",
        Parameter::MeanTime => "mean_time_between_false_alarms",
        Parameter::LearningRows => "learning_rows",
        Parameter::Period => "period",
        Parameter::RelearnRows => "relearn_after",
        other => other.name(),
    }
}

/// A `ValueError` for one parameter.
pub(crate) fn value_error(parameter: &str, why: impl std::fmt::Display) -> PyErr {
    PyValueError::new_err(format!("{parameter}: {why}"))
}

/// Settings that the core refuses.
pub(crate) fn of_settings(error: Error) -> PyErr {
    let why = match error.parameter() {
        // In Python's words; the core's also tell of other types of detectors.
        Some(Parameter::Period) => {
            let (least, most) = (PERIODS.start(), PERIODS.end());
            let cycles = format!("learning_rows has to hold {LEAST_CYCLES} cycles");
            format!("must be from {least} to {most} rows, and {cycles}")
        }
        Some(Parameter::LearningRows) => {
            format!("must be from {} to {}", LEARNING_ROWS.start(), LEARNING_ROWS.end())
        }
        _ => error.to_string(),
    };
    match error.parameter() {
        Some(parameter) => value_error(name(parameter), why),
        None => PyValueError::new_err(why),
    }
}

/// Bytes that are no saved detector, or none of this package's legs.
pub(crate) fn of_record(error: Error) -> PyErr {
    value_error("state", error)
}

/// Samples that the toolbox refuses.
pub(crate) fn of_samples(error: Refused) -> PyErr {
    value_error("X, Y", error)
}

/// A row that the core refuses; `row` is its number in the call, if there are several.
pub(crate) fn of_row(error: Error, row: Option<usize>, reading: &[f32], names: &[String]) -> PyErr {
    let place = row.map_or_else(|| "x".to_owned(), |row| format!("X, row {row}"));
    let channel = |channel: usize| {
        names.get(channel).map_or_else(|| channel.to_string(), |name| format!("{name:?}"))
    };
    let why = match error {
        Error::OutOfRange(Parameter::Channel(at)) => {
            let value = reading.get(at).copied().unwrap_or(f32::NAN);
            format!("channel {}: {value} is beyond ±{MAX_READING:e}", channel(at))
        }
        Error::NonFinite(Parameter::Channel(at)) => {
            let value = reading.get(at).copied().unwrap_or(f32::NAN);
            let hint =
                if value.is_nan() { "; missing=\"reading\" takes it for missing" } else { "" };
            format!("channel {}: {value} is not a finite number{hint}", channel(at))
        }
        Error::WrongShape => format!("{} readings for {} channels", reading.len(), names.len()),
        other => other.to_string(),
    };
    value_error(&place, why)
}
