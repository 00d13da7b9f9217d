//! The app on an RP2040 (Raspberry Pi Pico): LSM303DLHC, TMP105 (or LM75) and 24x256 on I²C
//! (GPIO 4, 5), the link on UART0 (GPIO 0, 1) at 115 200 baud. Who connects GPIO 22
//! with ground may command the board without a seal.

#![no_std]
#![no_main]

use core::convert::Infallible;

#[cfg(feature = "secure")]
use board_common::nonce;
use board_common::{SampleTimer, delay, made, record, run, stack};
use defmt_rtt as _;
use drift_app::app::{App, Board, Config, Parts};
use drift_app::counts::Counts;
use drift_app::guard::Guard;
use drift_app::inbox::Inbox;
use drift_app::link::ByteLink;
use drift_app::message::Cause;
use drift_app::profile::{BOARD, FOUR_COUNTS, IntegerDetector, ROWS_BETWEEN_SAVES, board};
#[cfg(feature = "secure")]
use drift_app::seal::Key;
use drift_app::sensor::{MagnetometerThermometer, Sensor};
use drift_app::store::Store;
use drift_app::wire::{Pins as Lines, Wire};
use embedded_hal::digital::InputPin;
use fugit::{MicrosDurationU32, RateExtU32};
use rp2040_hal::clocks::init_clocks_and_plls;
// Also frees the spinlocks, which a reset by software leaves as they are.
use rp2040_hal::entry;
use rp2040_hal::gpio::{FunctionUart, InOutPin, Pins};
use rp2040_hal::pac::{self, interrupt};
use rp2040_hal::uart::{
    DataBits, Enabled, StopBits, UartConfig, UartDevice, UartPeripheral, ValidUartPinout,
};
use rp2040_hal::{Clock, Sio, Watchdog};

const CHANNELS: usize = 4;
const SAMPLES_PER_SECOND: u32 = 10;
const CRYSTAL_HERTZ: u32 = 12_000_000;
/// In integers: the processor has no floating-point unit.
type Detector = IntegerDetector<CHANNELS>;

/// The second stage of the boot loader, for the Pico's flash.
// SAFETY: the linker script places this section where the boot ROM looks for it.
#[unsafe(link_section = ".boot2")]
// SAFETY: no other symbol of the program has this name.
#[unsafe(no_mangle)]
pub static BOOT2_FIRMWARE: [u8; 256] = rp2040_boot2::BOOT_LOADER_W25Q080;

/// The key that commands are sealed with, of 64 hexadecimal digits; without one the board can only be read.
#[cfg(feature = "secure")]
static KEY: Option<Key> = Key::of_build(option_env!("FASTMMD_KEY"));

board_common::handlers!();
/// As many as its RAM budget has room for: four fewer than usual.
const ROWS: usize = ROWS_BETWEEN_SAVES - 4;
board_common::retained!(STATE for Detector, ROWS rows of CHANNELS);

/// What the line has received.
static INBOX: Inbox = Inbox::new();

#[interrupt]
fn UART0_IRQ() {
    // SAFETY: only this interrupt takes received bytes; the driver only writes what is to be sent.
    let uart = unsafe { &*pac::UART0::ptr() };
    // Taking all of them clears the interrupt. Errors of a byte are in the bits above it; the checksum of its
    // frame tells.
    while uart.uartfr().read().rxfe().bit_is_clear() {
        INBOX.put(uart.uartdr().read().data().bits());
    }
}

/// The UART as the app's line.
struct Line<D: UartDevice, P: ValidUartPinout<D>>(UartPeripheral<Enabled, D, P>);

impl<D: UartDevice, P: ValidUartPinout<D>> ByteLink for Line<D, P> {
    type Error = Infallible;

    fn read(&mut self) -> Result<Option<u8>, Infallible> {
        Ok(INBOX.take())
    }

    fn write(&mut self, byte: u8) -> Result<(), Infallible> {
        self.0.write_full_blocking(&[byte]);
        Ok(())
    }
}

/// Processor cycles of half a clock of the bus at 400 kHz, at 125 MHz.
const HALF_CLOCK: u32 = 156;

/// Bits of the ring oscillator, which runs beside the crystal. Each by itself may be biased: they are digested.
#[cfg(feature = "secure")]
fn drawn(oscillator: &pac::ROSC) -> u64 {
    let mut bits = 0;
    for _ in 0..u64::BITS {
        delay::cycles(HALF_CLOCK);
        bits = bits << 1 | u64::from(oscillator.randombit().read().randombit().bit());
    }
    bits
}

/// Why the processor started.
fn cause(device: &pac::Peripherals) -> Cause {
    let reason = device.WATCHDOG.reason().read();
    let chip = device.VREG_AND_CHIP_RESET.chip_reset().read();
    if reason.timer().bit_is_set() {
        Cause::Watchdog
    } else if reason.force().bit_is_set() {
        Cause::Software
    } else if chip.had_por().bit_is_set() {
        Cause::Power
    } else if chip.had_run().bit_is_set() {
        Cause::Pin
    } else {
        Cause::Unknown
    }
}

#[entry]
fn main() -> ! {
    let taken = (pac::Peripherals::take(), cortex_m::Peripherals::take(), STATE.take());
    let (Some(mut device), Some(mut core), Some(memory)) = taken else {
        // All are taken here only, once after each start.
        cortex_m::peripheral::SCB::sys_reset();
    };
    stack::protect(&mut core.MPU);
    let cause = cause(&device);
    let mut watchdog = Watchdog::new(device.WATCHDOG);
    let clocks = init_clocks_and_plls(
        CRYSTAL_HERTZ,
        device.XOSC,
        device.CLOCKS,
        device.PLL_SYS,
        device.PLL_USB,
        &mut device.RESETS,
        &mut watchdog,
    );
    let Ok(clocks) = clocks else {
        record::restart(Cause::Panic, line!());
    };
    let sio = Sio::new(device.SIO);
    let pins = Pins::new(device.IO_BANK0, device.PADS_BANK0, sio.gpio_bank0, &mut device.RESETS);
    let uart_pins =
        (pins.gpio0.into_function::<FunctionUart>(), pins.gpio1.into_function::<FunctionUart>());
    let uart = UartPeripheral::new(device.UART0, uart_pins, &mut device.RESETS).enable(
        UartConfig::new(115_200.Hz(), DataBits::Eight, None, StopBits::One),
        clocks.peripheral_clock.freq(),
    );
    let Ok(mut uart) = uart else {
        record::restart(Cause::Panic, line!());
    };
    uart.enable_rx_interrupt();
    // SAFETY: no critical section relies on this interrupt being masked.
    unsafe { cortex_m::peripheral::NVIC::unmask(pac::Interrupt::UART0_IRQ) };
    let bus = Wire::new(Lines {
        clock: InOutPin::new(pins.gpio5.into_pull_up_input()),
        data: InOutPin::new(pins.gpio4.into_pull_up_input()),
        wait: || delay::cycles(HALF_CLOCK),
    });
    let mut lock = pins.gpio22.into_pull_up_input();
    let timer = SampleTimer::new(core.SYST, clocks.system_clock.freq().to_Hz(), SAMPLES_PER_SECOND);
    watchdog.start(MicrosDurationU32::secs(4));

    let mut detector = Detector::new(&FOUR_COUNTS, board())
        .and_then(|detector| Counts::new(detector, MagnetometerThermometer::STEPS));
    let monitor = made(&mut detector);
    let parts = Parts {
        board: &Board {
            name: "rp2040",
            millihertz: 1000 * SAMPLES_PER_SECOND,
            start: record::started(cause),
        },
        bus,
        line: Line(uart),
        sensor: MagnetometerThermometer::default(),
        monitor,
        settings: &BOARD,
        #[cfg(feature = "secure")]
        store: Some(Store::sealed(KEY.as_ref(), None)),
        #[cfg(not(feature = "secure"))]
        store: Some(Store::new()),
        #[cfg(feature = "secure")]
        guard: Guard::new(KEY.as_ref(), Some(nonce(drawn(&device.ROSC), memory))),
        #[cfg(not(feature = "secure"))]
        guard: Guard::open(),
        memory,
    };
    let config = Config { report_every: SAMPLES_PER_SECOND, ..Config::DEFAULT };
    let mut app = App::new(parts, config);
    run(&mut app, timer, || {
        watchdog.feed();
        matches!(lock.is_low(), Ok(true))
    })
}
