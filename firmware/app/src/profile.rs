//! The detectors of the boards. The host makes the same ones to compare with, and `cargo xtask
//! size` checks them against their budget.

use fastmmd::{Config, Detector, Fourier, fixed};

/// The boards' detector: all legs.
pub type BoardDetector<const C: usize> = Detector<'static, Fourier<C, 32>>;

/// The same in integers, for boards without a floating-point unit.
pub type IntegerDetector<const C: usize> = Detector<'static, fixed::Fourier<C, 32>>;

/// As many learning samples as the stated mean time between false alarms: a tenth would be enough for
/// the core to give no warning. At ten samples per second both take a quarter of an hour, which is
/// quick to try and too short for a product. Or the settings of a file, as `fastmmd tune --save` writes
/// it, whose whole path the environment variable `FASTMMD_SETTINGS` gives while compiling.
#[must_use]
pub const fn board() -> Config {
    include!(concat!(env!("OUT_DIR"), "/settings.rs"))
}

const _: () = assert!(board().check().is_ok(), "FASTMMD_SETTINGS: a setting is out of range");

/// The same, in flash.
pub static BOARD: Config = board();

/// Magnetometer and thermometer.
pub static FOUR_CHANNELS: Fourier<4, 32> = Fourier::additive(1);

/// The same in counts.
pub static FOUR_COUNTS: fixed::Fourier<4, 32> = fixed::Fourier::additive(1);

/// A magnetometer alone.
pub static THREE_CHANNELS: Fourier<3, 32> = Fourier::additive(1);

/// For recordings of some thousand rows, for instance of a pump, of which few are known to be
/// healthy. The core warns that the time between false alarms is uncertain with so few learning
/// rows; the app reports that.
#[must_use]
pub const fn recording() -> Config {
    Config { learning_rows: 384, ..Config::rows(1000.0) }
}

/// The same, in flash.
pub static RECORDING: Config = recording();

/// The map for recordings of eight channels.
pub static EIGHT_CHANNELS: Fourier<8, 32> = Fourier::additive(1);

/// The map for recordings of one channel.
pub static ONE_CHANNEL: Fourier<1, 32> = Fourier::additive(1);

/// For the longest test: a million samples, with twenty false alarms expected.
pub const ENDURANCE: Config = Config { learning_rows: 50_000, ..Config::rows(50_000.0) };

/// The map of the longest test.
pub static ENDURANCE_MAP: Fourier<3, 16> = Fourier::additive(1);

/// Rows that a board keeps in RAM from one save of its state to the next: see [`retained`](crate::retained).
///
/// A reset loses none of them. On a Cortex-M4F, to keep rows and to save the state once for so many costs
/// at most a tenth of what it costs to process a row, on average: `cargo xtask bench keeping` and its
/// budget. They take as many times two bytes for each channel, and two. A board without that RAM may have
/// fewer, or none, as some emulated ones: then it saves more often, and a reset still loses nothing.
pub const ROWS_BETWEEN_SAVES: usize = 95;

/// The key of the emulated board, known to everybody.
#[cfg(feature = "secure")]
pub static TEST_KEY: crate::seal::Key = crate::seal::Key::new(*b"the key of the emulated board: 7");

/// Limit for the RAM of the detector of a 3-axis sensor, in bytes.
pub const MAX_DETECTOR_BYTES: usize = 5 * 1024;

// The host's pointers are longer.
#[cfg(target_pointer_width = "32")]
const _: () = assert!(size_of::<BoardDetector<3>>() <= MAX_DETECTOR_BYTES);
