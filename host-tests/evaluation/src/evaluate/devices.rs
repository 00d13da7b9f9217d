//! Simulated devices: detectors at default settings, each of which learns by itself.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use fastmmd::condition::{Raw, ViewKind};
use fastmmd::dynamic::{self, Config, Detector, Map};
use fastmmd::{Kernel, Sampling};

use super::families::Source;

/// Frequencies of the map at default settings.
pub const FREQUENCIES: usize = 64;

/// Unwraps results of a simulation, whose rows are finite and whose settings are valid.
pub(super) fn granted<T>(answer: Result<T, fastmmd::Error>) -> T {
    answer.expect("simulated rows are finite and settings valid")
}

/// The map of every device, with the seed of this evaluation: the same for all, as in a fleet.
#[must_use]
pub fn map(inputs: usize) -> Map {
    granted(Map::fourier(Kernel::GAUSSIAN, Sampling::Auto, 1, inputs, FREQUENCIES))
}

/// The default settings for a promise (mean time between false alarms, in rows), with this many
/// learning rows.
#[must_use]
pub fn settings(promise: f32, learning_rows: u32) -> Config {
    let rows = fastmmd::Config::<Raw<1>>::rows(promise);
    Config { learning_rows, ..Config::of(&rows) }
}

/// A device that has learned from `source` and is now monitoring.
pub fn learned<'m, const C: usize>(
    map: &'m Map,
    view: ViewKind,
    config: &Config,
    source: &mut Source<C>,
) -> Detector<'m> {
    let mut device = granted(dynamic::detector(map, C, view, config.clone()));
    while !device.stage().is_learned() {
        granted(device.push(&source.row()));
    }
    device
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

/// Calls a function that is generic over the number of channels.
macro_rules! with_channels {
    ($channels:expr, $function:ident($($argument:expr),* $(,)?)) => {
        match $channels {
            1 => $function::<1>($($argument),*),
            3 => $function::<3>($($argument),*),
            8 => $function::<8>($($argument),*),
            other => panic!("no simulation for {other} channels"),
        }
    };
}
pub(super) use with_channels;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluate::families::Family;
    use fastmmd::Stage;

    #[test]
    fn results_come_in_the_order_of_devices() {
        assert!(fleet(100, |device| device * 2).into_iter().eq((0..100).map(|d| d * 2)));
        assert!(fleet(0, |device| device).is_empty());
    }

    #[test]
    fn learning_ends_after_the_rows_set() {
        let map = map(1);
        let mut source = Source::<1>::new(Family::Gaussian, 1);
        let device = learned(&map, ViewKind::Raw, &settings(1e3, 1024), &mut source);
        assert_eq!((device.rows(), device.stage()), (1280, Stage::Monitoring));
    }
}
