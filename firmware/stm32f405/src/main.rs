//! The app on an STM32F405: LSM303DLHC, TMP105 (or LM75) and 24x256 on I2C1 (PB6, PB7), the link
//! on USART1 (PA9, PA10) at 115 200 baud. Who connects PB8 with ground may command the board without a seal.
//!
//! It runs from the internal oscillator, so it needs no crystal. It also boots in QEMU's
//! `netduinoplus2`, which has only the USART.

#![no_std]
#![no_main]

#[cfg(feature = "secure")]
mod ratchet;

#[cfg(feature = "secure")]
use board_common::nonce;
use board_common::{SampleTimer, free_bus, made, record, run, stack};
use cortex_m_rt::entry;
use defmt_rtt as _;
use drift_app::app::{App, Board, Config, Parts};
use drift_app::guard::Guard;
use drift_app::link::ByteLink;
use drift_app::message::Cause;
use drift_app::profile::{BOARD, BoardDetector, FOUR_CHANNELS, ROWS_BETWEEN_SAVES, board};
#[cfg(feature = "secure")]
use drift_app::seal::Key;
use drift_app::sensor::MagnetometerThermometer;
use drift_app::store::Store;
use embedded_hal::i2c::{ErrorKind, ErrorType, I2c as I2cTrait, NoAcknowledgeSource, Operation};
use embedded_hal_nb::serial::{Read, Write};
use stm32f4xx_hal::gpio::PinState;
use stm32f4xx_hal::i2c::I2c;
use stm32f4xx_hal::pac::{self, I2C1, RCC, USART1};
use stm32f4xx_hal::prelude::*;
use stm32f4xx_hal::rcc::Config as Clocks;
use stm32f4xx_hal::serial::{self, Serial};
use stm32f4xx_hal::watchdog::IndependentWatchdog;

const CHANNELS: usize = 4;
const SAMPLES_PER_SECOND: u32 = 10;
type Detector = BoardDetector<CHANNELS>;

/// The key that commands are sealed with, of 64 hexadecimal digits; without one the board can only be read.
#[cfg(feature = "secure")]
static KEY: Option<Key> = Key::of_build(option_env!("FASTMMD_KEY"));

board_common::handlers!();
/// As many as its RAM budget has room for: three fewer than usual.
const ROWS: usize = ROWS_BETWEEN_SAVES - 3;
board_common::retained!(STATE for Detector, ROWS rows of CHANNELS);

/// The USART as the app's line.
struct Line(Serial<USART1>);

impl ByteLink for Line {
    type Error = serial::Error;

    fn read(&mut self) -> Result<Option<u8>, serial::Error> {
        match self.0.read() {
            Ok(byte) => Ok(Some(byte)),
            Err(nb::Error::WouldBlock) => Ok(None),
            Err(nb::Error::Other(error)) => Err(error),
        }
    }

    fn write(&mut self, byte: u8) -> Result<(), serial::Error> {
        nb::block!(self.0.write(byte))
    }
}

/// The I²C controller; `None` in the emulator, which has none: the HAL would wait for it for ever.
struct Controller(Option<I2c<I2C1>>);

impl Controller {
    fn new(bus: I2c<I2C1>) -> Self {
        // SAFETY: only reads a register, which has no effect; the driver does not run meanwhile.
        let enabled = unsafe { (*I2C1::ptr()).cr1().read().pe().bit_is_set() };
        // The driver has just enabled the controller. If the bit reads 0, there is no controller.
        Self(enabled.then_some(bus))
    }
}

/// What went wrong on the bus.
#[derive(Debug)]
struct BusError(ErrorKind);

impl embedded_hal::i2c::Error for BusError {
    fn kind(&self) -> ErrorKind {
        self.0
    }
}

impl ErrorType for Controller {
    type Error = BusError;
}

impl I2cTrait for Controller {
    fn transaction(
        &mut self,
        address: u8,
        operations: &mut [Operation<'_>],
    ) -> Result<(), BusError> {
        match &mut self.0 {
            Some(bus) => I2cTrait::transaction(bus, address, operations)
                .map_err(|error| BusError(embedded_hal::i2c::Error::kind(&error))),
            None => Err(BusError(ErrorKind::NoAcknowledge(NoAcknowledgeSource::Address))),
        }
    }
}

/// Processor cycles of half a clock of the bus at 100 kHz, with the internal oscillator of 16 MHz.
const HALF_CLOCK: u32 = 80;

/// Why the processor started; clears the note of it.
fn cause(rcc: &RCC) -> Cause {
    let flags = rcc.csr().read();
    let cause = if flags.wdgrstf().bit_is_set() || flags.wwdgrstf().bit_is_set() {
        Cause::Watchdog
    } else if flags.sftrstf().bit_is_set() {
        Cause::Software
    } else if flags.porrstf().bit_is_set() {
        Cause::Power
    } else if flags.padrstf().bit_is_set() {
        Cause::Pin
    } else {
        Cause::Unknown
    };
    rcc.csr().modify(|_, csr| csr.rmvf().set_bit());
    cause
}

#[entry]
fn main() -> ! {
    let taken = (pac::Peripherals::take(), cortex_m::Peripherals::take(), STATE.take());
    let (Some(device), Some(mut core), Some(memory)) = taken else {
        // All are taken here only, once after each start.
        cortex_m::peripheral::SCB::sys_reset();
    };
    stack::protect(&mut core.MPU);
    let cause = cause(&device.RCC);
    #[cfg(feature = "secure")]
    ratchet::enable(&device.RCC, &device.PWR);
    let mut rcc = device.RCC.freeze(Clocks::hsi());
    let (port_a, port_b) = (device.GPIOA.split(&mut rcc), device.GPIOB.split(&mut rcc));
    let usart = device.USART1.serial((port_a.pa9, port_a.pa10), 115_200.bps(), &mut rcc);
    let Ok(usart) = usart else {
        defmt::panic!("the clock cannot make this baud rate");
    };
    let mut clock = port_b.pb6.into_open_drain_output_in_state(PinState::High);
    let mut data = port_b.pb7.into_open_drain_output_in_state(PinState::High);
    // If a device still holds the line, its transactions fail, and that is reported.
    let Ok(_) = free_bus(&mut clock, &mut data, || cortex_m::asm::delay(HALF_CLOCK));
    let bus = I2c::new(device.I2C1, (clock, data), 400.kHz(), &mut rcc);
    let lock = port_b.pb8.into_pull_up_input();
    let timer = SampleTimer::new(core.SYST, rcc.clocks.sysclk().raw(), SAMPLES_PER_SECOND);
    let mut watchdog = IndependentWatchdog::new(device.IWDG);
    watchdog.start(4.secs());

    let mut detector = Detector::new(&FOUR_CHANNELS, board());
    let monitor = made(&mut detector);
    let parts = Parts {
        board: &Board {
            name: "stm32f405",
            millihertz: 1000 * SAMPLES_PER_SECOND,
            start: record::started(cause),
        },
        bus: Controller::new(bus),
        line: Line(usart),
        sensor: MagnetometerThermometer::default(),
        monitor,
        settings: &BOARD,
        #[cfg(feature = "secure")]
        store: Some(Store::sealed(KEY.as_ref(), Some(ratchet::ratchet))),
        #[cfg(not(feature = "secure"))]
        store: Some(Store::new()),
        #[cfg(feature = "secure")]
        guard: Guard::new(KEY.as_ref(), Some(nonce(memory))),
        #[cfg(not(feature = "secure"))]
        guard: Guard::open(),
        memory,
    };
    let config = Config { report_every: SAMPLES_PER_SECOND, ..Config::DEFAULT };
    let mut app = App::new(parts, config);
    run(&mut app, timer, || {
        watchdog.feed();
        lock.is_low()
    })
}
