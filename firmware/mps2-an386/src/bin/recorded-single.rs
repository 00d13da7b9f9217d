//! The detector for one channel, fed with a recording over the link.

#![no_std]
#![no_main]

use cortex_m_rt::entry;
use drift_app::guard::Guard;
use drift_app::profile::{BoardDetector, ONE_CHANNEL, RECORDING, recording};
use drift_app::sensor::NoSensor;

type Detector = BoardDetector<1>;

board_common::retained!(STATE for Detector, 16 rows of 1);

#[entry]
fn main() -> ! {
    mps2_an386::run(&STATE, NoSensor, None, &RECORDING, Guard::open(), || {
        Detector::new(&ONE_CHANNEL, recording())
    })
}
