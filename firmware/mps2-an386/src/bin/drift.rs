//! Learns the healthy readings of its magnetometer and thermometer, and reports drift.

#![no_std]
#![no_main]

use cortex_m_rt::entry;
use drift_app::profile::{BOARD, BoardDetector, FOUR_CHANNELS, board};
use drift_app::sensor::MagnetometerThermometer;
use drift_app::store::Store;

const CHANNELS: usize = 4;
type Detector = BoardDetector<CHANNELS>;

board_common::retained!(STATE for Detector, 0 rows of CHANNELS);

#[entry]
fn main() -> ! {
    let sensor = MagnetometerThermometer::default();
    let detector = || Detector::new(&FOUR_CHANNELS, board());
    mps2_an386::run(&STATE, sensor, Some(Store::new()), &BOARD, mps2_an386::open(), detector)
}
