//! Learns the healthy readings of its magnetometer and thermometer, and reports drift.

#![no_std]
#![no_main]

use board_common::RetainedMemory;
use cortex_m_rt::entry;
use drift_app::profile::{BoardDetector, FOUR_CHANNELS, board};
use drift_app::retained::HEADER_BYTES;
use drift_app::sensor::MagnetometerThermometer;
use drift_app::store::Store;

const CHANNELS: usize = 4;
type Detector = BoardDetector<CHANNELS>;

const STATE_BYTES: usize = HEADER_BYTES + Detector::SAVED_BYTES;

// SAFETY: the start-up code does not touch this section, and nothing else is in it.
#[unsafe(link_section = ".uninit.STATE")]
static STATE: RetainedMemory<STATE_BYTES> = RetainedMemory::new();

#[entry]
fn main() -> ! {
    let sensor = MagnetometerThermometer::default();
    let detector = || Detector::new(&FOUR_CHANNELS, board());
    mps2_an386::run(&STATE, sensor, Some(Store::new()), detector)
}
