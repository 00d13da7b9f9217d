//! The detector for eight channels, fed with a recording over the link.

#![no_std]
#![no_main]

use board_common::RetainedMemory;
use cortex_m_rt::entry;
use drift_app::profile::{EIGHT_CHANNELS, RecordingDetector, recording};
use drift_app::retained::HEADER_BYTES;
use drift_app::sensor::NoSensor;

type Detector = RecordingDetector<8>;

const STATE_BYTES: usize = HEADER_BYTES + Detector::SAVED_BYTES;

// SAFETY: the start-up code does not touch this section, and nothing else is in it.
#[unsafe(link_section = ".uninit.STATE")]
static STATE: RetainedMemory<STATE_BYTES> = RetainedMemory::new();

#[entry]
fn main() -> ! {
    mps2_an386::run(&STATE, NoSensor, None, || Detector::new(&EIGHT_CHANNELS, recording()))
}
