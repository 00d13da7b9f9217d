//! `drift`, with commands and saved states that are sealed.

#![no_std]
#![no_main]

use cortex_m_rt::entry;
use drift_app::guard::Guard;
use drift_app::profile::{BOARD, BoardDetector, FOUR_CHANNELS, TEST_KEY, board};
use drift_app::sensor::MagnetometerThermometer;
use drift_app::store::Store;

const CHANNELS: usize = 4;
type Detector = BoardDetector<CHANNELS>;

board_common::retained!(STATE for Detector, 0 rows of CHANNELS);

#[entry]
fn main() -> ! {
    let sensor = MagnetometerThermometer::default();
    let store = Store::sealed(Some(&TEST_KEY), None);
    let guard = Guard::new(Some(&TEST_KEY), mps2_an386::nonce());
    let detector = || Detector::new(&FOUR_CHANNELS, board());
    mps2_an386::run(&STATE, sensor, Some(store), &BOARD, guard, detector)
}
