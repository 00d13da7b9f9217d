//! The app on a micro:bit v2: its own LSM303AGR magnetometer, the link on its USB serial port at
//! 115 200 baud. It has no EEPROM: the learned state survives a reset, but not a power cut.

#![no_std]
#![no_main]

mod sensor;

use board_common::{SampleTimer, made, run, stack};
use cortex_m_rt::entry;
use defmt_rtt as _;
use drift_app::app::{App, Board, Config, Parts};
use drift_app::link::ByteLink;
use drift_app::message::Start;
use drift_app::profile::{self, BoardDetector, THREE_CHANNELS};
use embedded_io::{Read, ReadReady, Write};
use microbit::hal::twim::{Frequency, Twim};
use microbit::hal::uarte::{Baudrate, Error, Parity, Uarte, UarteRx, UarteTx};
use microbit::pac::UARTE0;
use panic_probe as _;
use sensor::Lsm303agrMagnetometer;

const CHANNELS: usize = 3;
const SAMPLES_PER_SECOND: u32 = 10;
const CLOCK_HERTZ: u32 = 64_000_000;
type Detector = BoardDetector<CHANNELS>;

board_common::retained!(STATE for Detector, 66 rows of CHANNELS);

/// The serial port as the app's line.
struct Line {
    transmitter: UarteTx<UARTE0>,
    receiver: UarteRx<UARTE0>,
}

impl ByteLink for Line {
    type Error = Error;

    fn read(&mut self) -> Result<Option<u8>, Error> {
        if !self.receiver.read_ready()? {
            return Ok(None);
        }
        let mut byte = [0];
        self.receiver.read(&mut byte)?;
        Ok(Some(byte[0]))
    }

    fn write(&mut self, byte: u8) -> Result<(), Error> {
        self.transmitter.write(&[byte])?;
        self.transmitter.flush()
    }
}

#[entry]
fn main() -> ! {
    let taken = (microbit::Board::take(), STATE.take());
    let (Some(mut board), Some(memory)) = taken else {
        // Both are taken here only, once after each start.
        cortex_m::peripheral::SCB::sys_reset();
    };
    stack::protect(&mut board.MPU);
    let uart = Uarte::new(board.UARTE0, board.uart.into(), Parity::EXCLUDED, Baudrate::BAUD115200);
    let buffers = (
        cortex_m::singleton!(TRANSMIT: [u8; 1] = [0]),
        cortex_m::singleton!(RECEIVE: [u8; 1] = [0]),
    );
    let (Some(transmit), Some(receive)) = buffers else {
        cortex_m::peripheral::SCB::sys_reset();
    };
    let Ok((transmitter, receiver)) = uart.split(transmit, receive) else {
        defmt::panic!("buffers of one byte are long enough");
    };
    let bus = Twim::new(board.TWIM0, board.i2c_internal.into(), Frequency::K100);
    let timer = SampleTimer::new(board.SYST, CLOCK_HERTZ, SAMPLES_PER_SECOND);

    let mut detector = Detector::new(&THREE_CHANNELS, profile::board());
    let monitor = made(&mut detector);
    let parts = Parts {
        board: Board {
            name: "micro:bit v2",
            millihertz: 1000 * SAMPLES_PER_SECOND,
            start: Start::UNKNOWN,
        },
        bus,
        line: Line { transmitter, receiver },
        sensor: Lsm303agrMagnetometer::default(),
        monitor,
        store: None,
        memory,
    };
    let config = Config { report_every: SAMPLES_PER_SECOND, ..Config::DEFAULT };
    run(App::start(parts, config), timer, || {})
}
