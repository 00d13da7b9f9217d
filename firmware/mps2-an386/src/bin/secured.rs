//! `drift`, with commands and saved states that are sealed.

#![no_std]
#![no_main]

use cortex_m_rt::entry;
use drift_app::guard::Guard;
use drift_app::profile::TEST_KEY;
use drift_app::store::Store;
use mps2_an386::drift::{CHANNELS, Detector, run};

/// Rows between two saves of the state to RAM: few, so that tests see many saves.
const ROWS: usize = 4;
board_common::retained!(STATE for Detector, ROWS rows of CHANNELS);

#[entry]
fn main() -> ! {
    let guard = Guard::new(Some(&TEST_KEY), mps2_an386::nonce());
    run(&STATE, Store::sealed(Some(&TEST_KEY), None), guard)
}
