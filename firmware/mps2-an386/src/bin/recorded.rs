//! The detector for eight channels, fed with a recording over the link.

#![no_std]
#![no_main]

use cortex_m_rt::entry;
use drift_app::guard::Guard;
use drift_app::profile::{BoardDetector, EIGHT_CHANNELS, RECORDING, recording};
use drift_app::sensor::NoSensor;

type Detector = BoardDetector<8>;

board_common::retained!(STATE for Detector, 0 rows of 8);

#[entry]
fn main() -> ! {
    mps2_an386::run(&STATE, NoSensor, None, &RECORDING, Guard::open(), || {
        Detector::new(&EIGHT_CHANNELS, recording())
    })
}
