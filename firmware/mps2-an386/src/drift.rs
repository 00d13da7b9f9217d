//! The app with magnetometer, thermometer and EEPROM.

use board_common::RetainedMemory;
use drift_app::guard::Guard;
use drift_app::profile::{BOARD, BoardDetector, FOUR_CHANNELS, board};
use drift_app::sensor::MagnetometerThermometer;
use drift_app::store::Store;

/// The channels of the sensors.
pub const CHANNELS: usize = 4;

/// The detector of the sensors.
pub type Detector = BoardDetector<CHANNELS>;

/// Learns the healthy readings of the sensors, and reports drift, for ever.
pub fn run<const N: usize>(state: &'static RetainedMemory<N>, store: Store, guard: Guard) -> ! {
    let sensor = MagnetometerThermometer::default();
    let detector = || Detector::new(&FOUR_CHANNELS, board());
    crate::run(state, sensor, Some(store), &BOARD, guard, detector)
}
