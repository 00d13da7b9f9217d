//! Settings as Python gives them, with the tool's defaults.

use std::marker::PhantomData;

use fastmmd::dynamic::{self, Map};
use fastmmd::monitor::NotANumber;
use fastmmd::{Config, Kernel, Profile, Sampling};
use fastmmd_tune::learning::{PROMISE, default_promise};
use pyo3::prelude::*;

use crate::error::{of_settings, value_error};

/// A number of the core's precision; one beyond it becomes infinite, which the core refuses.
pub(crate) fn single(value: f64) -> f32 {
    fastmmd_reference::single(value)
}

/// The variant of a name, or what names there are.
pub(crate) fn named<T: Copy>(
    parameter: &str,
    text: &str,
    all: &[T],
    name: impl Fn(T) -> &'static str,
) -> PyResult<T> {
    all.iter().copied().find(|it| name(*it) == text).ok_or_else(|| {
        let names: Vec<String> = all.iter().map(|it| format!("{:?}", name(*it))).collect();
        value_error(parameter, format!("{text:?} is none of {}", names.join(", ")))
    })
}

/// A kernel by its name.
pub(crate) fn kernel(profile: &str, bandwidth: f64) -> PyResult<Kernel> {
    let profile = named("kernel", profile, &Profile::ALL, Profile::name)?;
    Kernel::new(profile, single(bandwidth)).map_err(of_settings)
}

/// A map by the names of its kernel and sampling.
pub(crate) fn map(
    kernel: Kernel,
    sampling: &str,
    seed: u64,
    channels: usize,
    frequencies: usize,
) -> PyResult<Map> {
    let sampling = named("sampling", sampling, &Sampling::ALL, Sampling::name)?;
    let most = dynamic::MOST;
    for (name, count) in [("channels", channels), ("frequencies", frequencies)] {
        if !(1..=most).contains(&count) {
            return Err(value_error(name, format!("{count}: must be from 1 to {most}")));
        }
    }
    Map::fourier(kernel, sampling, seed, channels, frequencies)
        .map_err(|error| value_error("kernel, sampling", error))
}

/// What Python calls the meaning of a reading that is not a number.
pub(crate) fn missing_name(meaning: NotANumber) -> &'static str {
    match meaning {
        NotANumber::Missing => "reading",
        NotANumber::Refused => "error",
    }
}

/// The detector's settings, as far as they are no matter of the map.
pub(crate) fn config(
    mean_time: Option<f64>,
    learning_rows: u32,
    period: Option<f64>,
    relearn_after: Option<u32>,
    missing: &str,
) -> PyResult<Config> {
    let not_a_number = named("missing", missing, &NotANumber::ALL, missing_name)?;
    let period = period.map(single);
    // All of them: a new one does not compile until Python has it.
    let mut config = Config {
        mean_time_between_false_alarms: PROMISE,
        learning_rows,
        not_a_number,
        period,
        relearn_after,
        legs: PhantomData,
    };
    // Checked before the promise, which follows from the others by default.
    check(&config)?;
    config.mean_time_between_false_alarms =
        mean_time.map_or_else(|| default_promise(&config), single);
    check(&config)?;
    Ok(config)
}

fn check(config: &Config) -> PyResult<()> {
    match config.period {
        None => config.check(),
        Some(period) => config.with_period(period).check(),
    }
    .map_err(of_settings)
}
