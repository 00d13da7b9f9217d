//! The app with magnetometer, thermometer and EEPROM.

use drift_app::guard::Guard;
use drift_app::profile::{BOARD, BoardDetector, FOUR_CHANNELS, board};
use drift_app::sensor::MagnetometerThermometer;
use drift_app::store::Store;

const CHANNELS: usize = 4;
type Detector = BoardDetector<CHANNELS>;

board_common::retained!(STATE for Detector, 0 rows of CHANNELS);

/// Learns the healthy readings of the sensors, and reports drift, for ever.
pub fn run(store: Store, guard: Guard) -> ! {
    let sensor = MagnetometerThermometer::default();
    let detector = || Detector::new(&FOUR_CHANNELS, board());
    crate::run(&STATE, sensor, Some(store), &BOARD, guard, detector)
}
