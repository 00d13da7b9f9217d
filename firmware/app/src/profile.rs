//! The detectors of the boards. The host makes the same ones to compare with, and `cargo xtask
//! size` checks them against their budget.

use fastmmd::condition::{Innovation, Raw};
use fastmmd::shape::Windows;
use fastmmd::{Config, Detector, Fourier};

/// The boards' detector: raw values, windows of 4, 16, 64 and 256 samples.
pub type BoardDetector<const C: usize> = Detector<'static, Fourier<C, 64>, Raw<C>>;

/// The number of learning samples is the stated mean time between false alarms: as many as the core
/// needs to give no warning. At ten samples per second both take a quarter of an hour, which is
/// quick to try and too short for a product.
#[must_use]
pub const fn board<const C: usize>() -> Config<Raw<C>> {
    Config { learning_rows: 8192, ..Config::rows(8192.0) }
}

/// Magnetometer and thermometer.
pub static FOUR_CHANNELS: Fourier<4, 64> = Fourier::gaussian(1);

/// A magnetometer alone.
pub static THREE_CHANNELS: Fourier<3, 64> = Fourier::gaussian(1);

/// For recordings, for instance of a pump: watches innovations, the errors of predicting each
/// channel from its past.
pub type RecordingDetector<const C: usize> =
    Detector<'static, Fourier<C, 32>, Innovation<C>, Windows<3>>;

/// For recordings of some thousand rows, of which few are known to be healthy. The core warns that
/// the time between false alarms is uncertain with so few learning rows; the app reports that.
#[must_use]
pub const fn recording<const C: usize>() -> Config<Innovation<C>, Windows<3>> {
    let usual: Config<Raw<C>> = Config::rows(1000.0);
    Config { scaling_rows: 64, learning_rows: 320, ..usual.with_windows([4, 16, 64]).with_view() }
}

/// The map for recordings of eight channels.
pub static EIGHT_CHANNELS: Fourier<8, 32> = Fourier::gaussian(1);

/// The map for recordings of one channel.
pub static ONE_CHANNEL: Fourier<1, 32> = Fourier::gaussian(1);

/// For the longest test: a million samples, with twenty false alarms expected.
pub const ENDURANCE: Config<Raw<3>> = Config { learning_rows: 50_000, ..Config::rows(50_000.0) };

/// The map of the longest test.
pub static ENDURANCE_MAP: Fourier<3, 16> = Fourier::gaussian(1);

/// Limit for the RAM, and for the saved state, of the detector of a 3-axis sensor, in bytes.
pub const MAX_DETECTOR_BYTES: usize = 5 * 1024;

const _: () = assert!(size_of::<BoardDetector<3>>() <= MAX_DETECTOR_BYTES);
const _: () = assert!(BoardDetector::<3>::SAVED_BYTES <= MAX_DETECTOR_BYTES);
