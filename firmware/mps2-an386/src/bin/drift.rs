//! Learns the healthy readings of its magnetometer and thermometer, and reports drift.

#![no_std]
#![no_main]

use cortex_m_rt::entry;
use drift_app::guard::Guard;
use drift_app::store::Store;
use mps2_an386::drift::{CHANNELS, Detector, run};

// It saves its state on every row; `secured` keeps rows.
board_common::retained!(STATE for Detector, 0 rows of CHANNELS);

#[entry]
fn main() -> ! {
    run(&STATE, Store::new(), Guard::open())
}
