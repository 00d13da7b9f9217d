//! Whether it helps a detector to know a cycle: tried on healthy rows, as `tune` does, but quickly.

use fastmmd::dynamic::Map;
use fastmmd::monitor::NotANumber;
use fastmmd::{Config, Kernel, Sampling};
use fastmmd_reference::single;

use crate::detector::{Detector, FREQUENCIES};
use crate::learning::{PROMISE, default_promise, share_promise};
use crate::log::Log;
use crate::period::Cycle;
use crate::tries::{Healthy, Tries, best};

/// Readings with changes that are tried, at most: about a second.
const MOST_READINGS: usize = 1 << 20;

/// Whether a detector with this cycle is at least as good on these healthy rows as one without: as
/// quiet, and as quick to find injected changes. Both learn from the first rows and are tried on the
/// rest. `false` also if there are too few rows to tell.
#[must_use]
pub fn helps(rows: &[Vec<f32>], channels: usize, cycle: &Cycle) -> bool {
    tried(rows, channels, cycle).unwrap_or(false)
}

fn tried(rows: &[Vec<f32>], channels: usize, cycle: &Cycle) -> Option<bool> {
    let log = Log::with_cycle(rows.to_vec(), channels, Some(cycle.clone()));
    let mut configs = Vec::new();
    for period in log.periods() {
        let learning_rows = log.learning_rows(period, None).ok()?;
        let not_a_number = NotANumber::Missing;
        let period = period.map(single);
        let mut config = Config { learning_rows, not_a_number, period, ..Config::rows(PROMISE) };
        config.mean_time_between_false_alarms = default_promise(&config);
        configs.push(config);
    }
    share_promise(&mut configs);
    let map = Map::fourier(Kernel::GAUSSIAN, Sampling::Additive, 1, channels, FREQUENCIES).ok()?;
    let healthy = Healthy::new(&log, &configs).with_at_most(MOST_READINGS / channels.max(1));
    let mut trials: Vec<Tries<'_, ()>> = Vec::new();
    for config in configs {
        let detector = Detector::new(&map, config).ok()?;
        trials.push(Tries::make(&healthy, detector, |_| ()).ok()?);
    }
    let best = trials.get(best(&trials)?)?;
    Some(best.detector.config().period.is_some())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::period;
    use fastmmd_reference::generate::Generator;
    use fastmmd_reference::real;
    use std::f64::consts::TAU;

    /// A channel with a cycle and noise, and one of noise.
    fn log(rows: usize, length: f64) -> Vec<Vec<f32>> {
        let mut random = Generator::new(7);
        let row = |row: usize| {
            let cycle = 6.0 * (real(row) * TAU / length).sin();
            vec![single(cycle + random.normal()), single(random.normal())]
        };
        (0..rows).map(row).collect()
    }

    #[test]
    fn a_cycle_that_hides_changes_helps_and_a_wrong_one_does_not() {
        let rows = log(12_000, 300.0);
        let cycle = period::find(&rows, 2).expect("a cycle");
        assert!(helps(&rows, 2, &cycle), "{cycle:?}");
        // One of a wrong length is worse than none.
        let wrong = Cycle { rows: cycle.rows * 1.3, ..cycle.clone() };
        assert!(!helps(&rows, 2, &wrong), "{wrong:?}");
        // Of too few rows nothing is known.
        assert!(!helps(&rows[..600], 2, &cycle));
    }
}
