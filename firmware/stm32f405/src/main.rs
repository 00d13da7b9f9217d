//! The app on an STM32F405: LSM303DLHC, TMP105 (or LM75) and 24x256 on I²C (PB6, PB7), the link
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
use board_common::{SampleTimer, delay, made, record, run, stack};
use cortex_m_rt::entry;
use defmt_rtt as _;
use drift_app::app::{App, Board, Config, Parts};
use drift_app::guard::Guard;
use drift_app::inbox::Inbox;
use drift_app::link::ByteLink;
use drift_app::message::Cause;
use drift_app::profile::{BOARD, BoardDetector, FOUR_CHANNELS, ROWS_BETWEEN_SAVES, board};
#[cfg(feature = "secure")]
use drift_app::seal::Key;
use drift_app::sensor::MagnetometerThermometer;
use drift_app::store::Store;
use drift_app::wire::{Pins, Wire};
use embedded_hal_nb::serial::Write;
use stm32f4xx_hal::gpio::PinState;
use stm32f4xx_hal::pac::{self, Interrupt, NVIC, RCC, USART1, interrupt};
use stm32f4xx_hal::prelude::*;
use stm32f4xx_hal::rcc::Config as Clocks;
use stm32f4xx_hal::serial::{self, RxListen, Serial, Tx};
use stm32f4xx_hal::watchdog::IndependentWatchdog;

const CHANNELS: usize = 4;
const SAMPLES_PER_SECOND: u32 = 10;
type Detector = BoardDetector<CHANNELS>;

/// The key that commands are sealed with, of 64 hexadecimal digits; without one the board can only be read.
#[cfg(feature = "secure")]
static KEY: Option<Key> = Key::of_build(option_env!("FASTMMD_KEY"));

board_common::handlers!();
board_common::retained!(STATE for Detector, ROWS_BETWEEN_SAVES rows of CHANNELS);

/// What the line has received.
static INBOX: Inbox = Inbox::new();

#[interrupt]
fn USART1() {
    // SAFETY: only this interrupt reads these registers; the driver only writes what is to be sent.
    let usart = unsafe { &*USART1::ptr() };
    // Reading status and data also clears what says that a byte was lost; the checksum of its frame tells.
    if usart.sr().read().rxne().bit_is_set() {
        let [byte, _] = usart.dr().read().dr().bits().to_le_bytes();
        INBOX.put(byte);
    } else {
        usart.dr().read();
    }
}

/// The USART as the app's line.
struct Line(Tx<USART1>);

impl ByteLink for Line {
    type Error = serial::Error;

    fn read(&mut self) -> Result<Option<u8>, serial::Error> {
        Ok(INBOX.take())
    }

    fn write(&mut self, byte: u8) -> Result<(), serial::Error> {
        nb::block!(self.0.write(byte))
    }
}

/// Processor cycles of half a clock of the bus at 400 kHz, with the internal oscillator of 16 MHz.
const HALF_CLOCK: u32 = 20;

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
    let usart: Result<Serial<USART1>, _> =
        device.USART1.serial((port_a.pa9, port_a.pa10), 115_200.bps(), &mut rcc);
    let Ok(usart) = usart else {
        defmt::panic!("the clock cannot make this baud rate");
    };
    let (transmitter, mut receiver) = usart.split();
    receiver.listen();
    // SAFETY: no critical section relies on this interrupt being masked.
    unsafe { NVIC::unmask(Interrupt::USART1) };
    let bus = Wire::new(Pins {
        clock: port_b.pb6.into_open_drain_output_in_state(PinState::High),
        data: port_b.pb7.into_open_drain_output_in_state(PinState::High),
        wait: || delay::cycles(HALF_CLOCK),
    });
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
        bus,
        line: Line(transmitter),
        sensor: MagnetometerThermometer::default(),
        monitor,
        settings: &BOARD,
        #[cfg(feature = "secure")]
        store: Some(Store::sealed(KEY.as_ref(), Some(ratchet::ratchet))),
        #[cfg(not(feature = "secure"))]
        store: Some(Store::new()),
        // Its generator needs a clock of 48 MHz, which the internal oscillator alone does not give.
        #[cfg(feature = "secure")]
        guard: Guard::new(KEY.as_ref(), Some(nonce(0, memory))),
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
