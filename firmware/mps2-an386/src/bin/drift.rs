//! Learns what its magnetometer and thermometer read when all is well, and reports drift.

#![no_std]
#![no_main]

use board_common::RetainedMemory;
use cortex_m_rt::entry;
use drift_app::app::{App, Config, Parts};
use drift_app::engine::Engine;
use drift_app::profile::{BOARD, BoardDetector, FOUR_CHANNELS};
use drift_app::retained::HEADER_BYTES;
use drift_app::sensor::MagnetometerThermometer;
use drift_app::store::Store;
use mps2_an386::{Board, serve};

const CHANNELS: usize = 4;
type Detector = BoardDetector<CHANNELS>;

const STATE_BYTES: usize = HEADER_BYTES + <Detector as Engine<CHANNELS>>::STATE_BYTES;

// SAFETY: the start-up code does not touch this section, and nothing else is in it.
#[unsafe(link_section = ".uninit.STATE")]
static STATE: RetainedMemory<STATE_BYTES> = RetainedMemory::new();

#[entry]
fn main() -> ! {
    let (Some(board), Some(memory)) = (Board::take(), STATE.take()) else {
        // Both are taken here only, once after each start.
        cortex_m::peripheral::SCB::sys_reset();
    };
    // It stays where it is made: `main` does not end, and a move would take as much stack again.
    let mut engine = Detector::new(&FOUR_CHANNELS, BOARD);
    let Ok(engine) = &mut engine else {
        defmt::panic!("the settings are refused");
    };
    let parts = Parts {
        bus: board.bus,
        line: board.uart,
        sensor: MagnetometerThermometer::default(),
        engine,
        store: Some(Store::new()),
        memory,
    };
    serve(App::start(parts, Config::DEFAULT))
}
