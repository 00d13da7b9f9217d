//! The detectors that the boards run, in one place: the host's side makes the same ones to compare
//! with, and `cargo xtask size` holds them to their budget.

use fastmmd::condition::{Innovation, Raw};
use fastmmd::shape::Windows;
use fastmmd::{Config, Detector, Fourier};

/// The boards' detector: single readings as they are, windows of 4, 16, 64 and 256 samples.
pub type BoardDetector<const C: usize> = Detector<'static, Fourier<C, 64>, Raw<C>>;

/// As many learning samples as the promised mean time between false alarms, for which the core
/// has no warning. Longer promises take longer learning: at ten samples a second this is a
/// quarter of an hour each, which is quick to try out and too short for a product.
#[must_use]
pub const fn board<const C: usize>() -> Config<Raw<C>> {
    Config { learning_rows: 8192, ..Config::rows(8192.0) }
}

/// Magnetometer and thermometer.
pub static FOUR_CHANNELS: Fourier<4, 64> = Fourier::gaussian(1);

/// A magnetometer alone.
pub static THREE_CHANNELS: Fourier<3, 64> = Fourier::gaussian(1);

/// For recordings, such as of a pump: what each channel does beyond what its past predicts.
pub type RecordingDetector<const C: usize> =
    Detector<'static, Fourier<C, 32>, Innovation<C>, Windows<3>>;

/// For recordings of some thousand rows, of which little is known to be healthy: the core warns
/// that so little learning makes the promise uncertain, and the app passes the warning on.
#[must_use]
pub const fn recording<const C: usize>() -> Config<Innovation<C>, Windows<3>> {
    let usual: Config<Raw<C>> = Config::rows(1000.0);
    Config { scaling_rows: 64, learning_rows: 320, ..usual.with_windows([4, 16, 64]).with_view() }
}

/// The map for recordings of eight channels.
pub static EIGHT_CHANNELS: Fourier<8, 32> = Fourier::gaussian(1);

/// The map for recordings of one channel.
pub static ONE_CHANNEL: Fourier<1, 32> = Fourier::gaussian(1);

/// For the longest run in the tests, a million samples, in which twenty false alarms are to be
/// expected.
pub const ENDURANCE: Config<Raw<3>> = Config { learning_rows: 50_000, ..Config::rows(50_000.0) };

/// The map for the longest run.
pub static ENDURANCE_MAP: Fourier<3, 16> = Fourier::gaussian(1);

/// Most bytes of RAM, and of a saved state, that the detector of a 3-axis sensor may take.
pub const MAX_DETECTOR_BYTES: usize = 5 * 1024;

const _: () = assert!(size_of::<BoardDetector<3>>() <= MAX_DETECTOR_BYTES);
const _: () = assert!(BoardDetector::<3>::SAVED_BYTES <= MAX_DETECTOR_BYTES);
