//! Simulated devices: detectors at default settings, each of which learns by itself.
//!
//! The detector under test is named here and nowhere else in this program.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use fastmmd::dynamic::{self, Map};
use fastmmd::{Kernel, Sampling};

pub use fastmmd::monitor::{Alarm, Change, Config, Leg, Verdict};

/// The detector under test, of any number of channels.
pub type Detector<'m> = fastmmd::Detector<'m, Map>;

/// Frequencies of the map at default settings.
pub const FREQUENCIES: usize = 32;

/// Unwraps results of a simulation, whose rows are finite and whose settings are valid.
pub(super) fn granted<T>(answer: Result<T, fastmmd::Error>) -> T {
    answer.expect("rows are finite and settings valid")
}

/// The map of every device, with the seed of this evaluation: the same for all, as in a fleet.
#[must_use]
pub fn map(channels: usize) -> Map {
    granted(Map::fourier(Kernel::GAUSSIAN, Sampling::Additive, 1, channels, FREQUENCIES))
}

/// The default settings for a promise (mean time between false alarms, in rows), with this many
/// learning rows.
#[must_use]
pub fn settings(promise: f32, learning_rows: u32) -> Config {
    Config { learning_rows, ..Config::rows(promise) }
}

/// A detector that has seen nothing.
#[must_use]
pub fn detector(map: &Map, config: Config) -> Detector<'_> {
    granted(dynamic::detector(map, config))
}

/// A detector that has learned from rows of `next`.
pub fn learned(map: &Map, config: Config, mut next: impl FnMut() -> Vec<f32>) -> Detector<'_> {
    let mut device = detector(map, config);
    while !device.stage().is_learned() {
        granted(device.push(&next()));
    }
    device
}

/// Pushes a row, and says whether it raised an alarm.
pub fn alarms(device: &mut Detector<'_>, row: &[f32]) -> bool {
    matches!(granted(device.push(row)), Verdict::Alarm(_))
}

/// Runs `work` for each of `count` devices, on all cores; returns results in the order of devices.
pub fn fleet<T: Send>(count: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let threads = thread::available_parallelism().map_or(1, usize::from).min(count.max(1));
    let next = AtomicUsize::new(0);
    let mut done: Vec<(usize, T)> = thread::scope(|scope| {
        let one = || {
            let mut own = Vec::new();
            loop {
                let device = next.fetch_add(1, Ordering::Relaxed);
                if device >= count {
                    return own;
                }
                own.push((device, work(device)));
            }
        };
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(one)).collect();
        let joined = workers.into_iter().map(|worker| match worker.join() {
            Ok(own) => own,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        joined.flatten().collect()
    });
    done.sort_by_key(|(device, _)| *device);
    done.into_iter().map(|(_, result)| result).collect()
}

/// The median, or NaN of nothing.
#[must_use]
pub fn median(values: impl Iterator<Item = f64>) -> f64 {
    quantile(values, 0.5)
}

/// A quantile, or NaN of nothing.
#[must_use]
pub fn quantile(values: impl Iterator<Item = f64>, part: f64) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    let last = fastmmd_reference::real(values.len().saturating_sub(1));
    let below = |place: &f64| *place + 0.5 < part * last;
    let places = (0..values.len()).map(fastmmd_reference::real);
    let place = places.take_while(below).count();
    values.get(place).copied().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluate::signals::{Kind, Signal};
    use fastmmd::monitor::Stage;

    #[test]
    fn results_come_in_the_order_of_devices() {
        assert!(fleet(100, |device| device * 2).into_iter().eq((0..100).map(|d| d * 2)));
        assert!(fleet(0, |device| device).is_empty());
    }

    #[test]
    fn learning_ends_after_the_rows_set() {
        let map = map(1);
        let mut signal = Signal::new(Kind::White, 1);
        let device = learned(&map, settings(1e3, 1024), || vec![signal.reading()]);
        assert_eq!((device.rows(), device.stage()), (1024, Stage::Monitoring));
    }

    #[test]
    fn quantiles_of_few_values() {
        let values = [3.0, 1.0, 2.0, 5.0, 4.0];
        let of = |part| quantile(values.into_iter(), part).to_bits();
        assert_eq!([0.0, 0.5, 1.0].map(of), [1.0, 3.0, 5.0].map(f64::to_bits));
        assert!(quantile([].into_iter(), 0.5).is_nan());
    }
}
