//! Learns the healthy readings of its magnetometer and thermometer, and reports drift.

#![no_std]
#![no_main]

use cortex_m_rt::entry;
use drift_app::guard::Guard;
use drift_app::store::Store;

#[entry]
fn main() -> ! {
    mps2_an386::drift::run(Store::new(), Guard::open())
}
