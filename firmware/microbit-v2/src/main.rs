//! The app on a micro:bit v2: its own LSM303AGR magnetometer, the link on its USB serial port at
//! 115 200 baud. It has no EEPROM: the learned state survives a reset at any time, by two copies in RAM that are
//! written in turn, but not a power cut.
//! Who holds its button B may command the board without a seal.

#![no_std]
#![no_main]

mod sensor;
mod serial;

#[cfg(feature = "secure")]
use board_common::nonce;
use board_common::{SampleTimer, delay, made, record, run, stack};
use cortex_m_rt::entry;
use defmt_rtt as _;
use drift_app::app::{App, Board, Config, Parts};
use drift_app::guard::Guard;
use drift_app::message::Cause;
use drift_app::profile::{self, BOARD, BoardDetector, ROWS_BETWEEN_SAVES, THREE_CHANNELS};
#[cfg(feature = "secure")]
use drift_app::seal::Key;
use drift_app::wire::{Pins, Wire};
use embedded_hal::digital::InputPin;
#[cfg(feature = "secure")]
use microbit::hal::Rng;
use microbit::hal::gpio::{Level, OpenDrainConfig::Standard0Disconnect1 as STANDARD};
use microbit::hal::wdt::{Watchdog, count};
use microbit::pac::POWER;
use sensor::Lsm303agrMagnetometer;
use serial::Line;

const CHANNELS: usize = 3;
const SAMPLES_PER_SECOND: u32 = 10;
const CLOCK_HERTZ: u32 = 64_000_000;
type Detector = BoardDetector<CHANNELS>;

/// The key that commands are sealed with, of 64 hexadecimal digits; without one the board can only be read.
#[cfg(feature = "secure")]
static KEY: Option<Key> = Key::of_build(option_env!("FASTMMD_KEY"));

board_common::handlers!();
board_common::retained!(STATE for twice Detector, ROWS_BETWEEN_SAVES rows of CHANNELS);

/// Processor cycles of half a clock of the bus at 100 kHz.
const HALF_CLOCK: u32 = CLOCK_HERTZ / 200_000;

/// The watchdog's oscillator, in hertz.
const WATCHDOG_HERTZ: u32 = 32_768;

/// Why the processor started; clears the note of it.
fn cause(power: &POWER) -> Cause {
    let reason = power.resetreas.read();
    let cause = if reason.dog().bit_is_set() {
        Cause::Watchdog
    } else if reason.sreq().bit_is_set() {
        Cause::Software
    } else if reason.lockup().bit_is_set() {
        Cause::Fault
    } else if reason.resetpin().bit_is_set() {
        Cause::Pin
    } else {
        // It notes all but this one.
        Cause::Power
    };
    // SAFETY: ones clear the bits that were read; the register has no other effect.
    power.resetreas.write(|register| unsafe { register.bits(reason.bits()) });
    cause
}

#[entry]
fn main() -> ! {
    let taken = (microbit::Board::take(), STATE.take());
    let (Some(mut board), Some(memory)) = taken else {
        // Both are taken here only, once after each start.
        cortex_m::peripheral::SCB::sys_reset();
    };
    stack::protect(&mut board.MPU);
    let cause = cause(&board.POWER);
    let line = Line::new(board.UARTE0, board.uart);
    let bus = Wire::new(Pins {
        clock: board.i2c_internal.scl.into_open_drain_input_output(STANDARD, Level::High),
        data: board.i2c_internal.sda.into_open_drain_input_output(STANDARD, Level::High),
        wait: || delay::cycles(HALF_CLOCK),
    });
    let watchdog = match Watchdog::try_new(board.WDT) {
        Ok(mut watchdog) => {
            watchdog.set_lfosc_ticks(4 * WATCHDOG_HERTZ);
            watchdog.activate::<count::One>()
        }
        // It has been running since before the reset.
        Err(running) => match Watchdog::try_recover::<count::One>(running) {
            Ok(recovered) => recovered,
            Err(_) => defmt::panic!("the watchdog has other handles"),
        },
    };
    let mut handle = watchdog.handles.0;
    let mut lock = board.buttons.button_b;
    let timer = SampleTimer::new(board.SYST, CLOCK_HERTZ, SAMPLES_PER_SECOND);

    let mut detector = Detector::new(&THREE_CHANNELS, profile::board());
    let monitor = made(&mut detector);
    let parts = Parts {
        board: &Board {
            name: "micro:bit v2",
            millihertz: 1000 * SAMPLES_PER_SECOND,
            start: record::started(cause),
        },
        bus,
        line,
        sensor: Lsm303agrMagnetometer::default(),
        monitor,
        settings: &BOARD,
        store: None,
        #[cfg(feature = "secure")]
        guard: Guard::new(KEY.as_ref(), Some(nonce(Rng::new(board.RNG).random_u64(), memory))),
        #[cfg(not(feature = "secure"))]
        guard: Guard::open(),
        memory,
    };
    let config = Config { report_every: SAMPLES_PER_SECOND, ..Config::DEFAULT };
    let mut app = App::new(parts, config);
    run(&mut app, timer, || {
        handle.pet();
        matches!(lock.is_low(), Ok(true))
    })
}
