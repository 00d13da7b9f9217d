//! The detectors that the boards run, in one place: the host's side makes the same ones to compare
//! with, and `cargo xtask size` holds them to their budget.

use fastmmd::detector::{Config, Detector, Raw};
use fastmmd::innovation::Innovation;
use fastmmd::{Error, Fourier, Kernel, Sampling};

/// Frequencies of the boards' maps.
pub const FREQUENCIES: usize = 64;

/// The boards' detector: single readings as they are, windows of 4, 16, 64 and 256 samples.
pub type BoardDetector<const C: usize> =
    Detector<'static, Fourier<C, FREQUENCIES>, Raw, C, C, FREQUENCIES, 4>;

/// As many learning samples as the promised mean time between false alarms, for which the core
/// has no warning. Longer promises take longer learning: at ten samples a second this is a
/// quarter of an hour each, which is quick to try out and too short for a product.
pub const BOARD: Config<4> = Config { learning_rows: 8192, ..Config::rows(8192.0) };

/// Magnetometer and thermometer.
pub static FOUR_CHANNELS: Fourier<4, FREQUENCIES> = drawn();

/// A magnetometer alone.
pub static THREE_CHANNELS: Fourier<3, FREQUENCIES> = drawn();

/// For recordings, such as of a pump: what each channel does beyond what its past predicts.
pub type RecordingDetector<const C: usize> =
    Detector<'static, Fourier<C, 32>, Innovation<C>, C, C, 32, 3>;

/// For recordings of some thousand rows, of which little is known to be healthy: the core warns
/// that so little learning makes the promise uncertain, and the app passes the warning on.
pub const RECORDING: Config<3> = Config {
    scaling_rows: 64,
    learning_rows: 320,
    ..Config::rows(1000.0).with_scales([4, 16, 64])
};

/// The map for recordings of eight channels.
pub static EIGHT_CHANNELS: Fourier<8, 32> = drawn();

/// The map for recordings of one channel.
pub static ONE_CHANNEL: Fourier<1, 32> = drawn();

/// For the longest run in the tests: a million samples of three channels.
pub type EnduranceDetector = Detector<'static, Fourier<3, 16>, Raw, 3, 3, 16, 4>;

/// Twenty false alarms are to be expected in a million samples.
pub const ENDURANCE: Config<4> = Config { learning_rows: 50_000, ..Config::rows(50_000.0) };

/// The map for the longest run.
pub static ENDURANCE_MAP: Fourier<3, 16> = drawn();

/// Drawn by the compiler, so that it is in flash.
const fn drawn<const D: usize, const L: usize>() -> Fourier<D, L> {
    let map: Result<_, Error> = Fourier::new(Kernel::GAUSSIAN, Sampling::Auto, 1);
    match map {
        Ok(map) => map,
        Err(_) => panic!("refused when compiled"),
    }
}

/// Most bytes of RAM, and of a saved state, that the detector of a 3-axis sensor may take.
pub const MAX_DETECTOR_BYTES: usize = 5 * 1024;

const _: () = assert!(size_of::<BoardDetector<3>>() <= MAX_DETECTOR_BYTES);
const _: () = assert!(BoardDetector::<3>::SAVED_BYTES <= MAX_DETECTOR_BYTES);
