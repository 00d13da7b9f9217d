//! How many rows to learn from, and what to promise, by default.

use fastmmd::Config;
use fastmmd::monitor::LEARNING_ROWS;
use fastmmd_reference::single;

use crate::period::ceiling;

/// Mean time between false alarms, in rows, where the learning rows support it.
pub const PROMISE: f32 = 10_000.0;
/// Cycles to learn from, if they are no more than half of the log.
pub const GOOD_CYCLES: f64 = 8.0;

/// The learning rows of the core's default settings.
#[must_use]
pub fn default_rows() -> u32 {
    Config::rows(PROMISE).learning_rows
}

/// The fewest learning rows that the core takes with this period, or without one.
#[must_use]
pub fn least_rows(period: Option<f64>) -> u32 {
    Config { period: period.map(single), ..Config::rows(PROMISE) }.least_learning_rows()
}

/// The mean time between false alarms by default, in rows: the usual one, if these settings support
/// it, and otherwise the longest that they do, in round numbers.
#[must_use]
pub fn default_promise(config: &Config) -> f32 {
    let supported = f64::from(config.supported_mean_time());
    let digit = 10_f64.powf(supported.log10().floor() - 1.0);
    PROMISE.min(single((supported / digit).floor() * digit))
}

/// Rows to learn from in a healthy log of `rows` rows: as many as the core's default, as the promise
/// needs, or as hold enough cycles, but no more than half of the log.
#[must_use]
pub fn suggested_rows(rows: usize, period: Option<f64>, promise: Option<f32>) -> u32 {
    let (least, most) = (*LEARNING_ROWS.start(), *LEARNING_ROWS.end());
    let half = u32::try_from(rows / 2).unwrap_or(most).clamp(least, most);
    let mut learned = default_rows();
    if let Some(period) = period {
        learned = learned.max(ceiling(GOOD_CYCLES * period));
    }
    let supports = |learning_rows: u32| {
        let config = Config { learning_rows, period: period.map(single), ..Config::rows(PROMISE) };
        config.supported_mean_time() >= promise.unwrap_or_else(|| default_promise(&config))
    };
    while learned < half && !supports(learned) {
        learned = learned.saturating_mul(2);
    }
    learned.min(half).max(least_rows(period)).min(most)
}

/// Gives all settings the shortest mean time between false alarms among them: what they find is
/// compared at the same rate of false alarms.
pub fn share_promise(each: &mut [Config]) {
    let times = each.iter().map(|config| config.mean_time_between_false_alarms);
    if let Some(shortest) = times.reduce(f32::min) {
        each.iter_mut().for_each(|config| config.mean_time_between_false_alarms = shortest);
    }
}

/// Whether a number of alarms is plausible where so many false ones are promised: no more than the mean
/// plus three standard deviations of a Poisson variable, plus one for the start.
#[must_use]
pub fn is_kept(alarms: f64, promised: f64) -> bool {
    alarms <= promised + 3.0 * promised.sqrt() + 1.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_default_promise_is_one_that_learning_supports() {
        for (learning_rows, promise) in [(256, 250.0), (768, 1400.0), (2048, 10_000.0)] {
            let config = Config { learning_rows, ..Config::rows(PROMISE) };
            let stated = default_promise(&config);
            assert!((stated - promise).abs() < 0.5, "{learning_rows} {stated}");
            let config = Config { mean_time_between_false_alarms: stated, ..config };
            assert_eq!(config.warnings().count(), 0);
        }
    }
}
