//! The serial port as the app's line: its driver in the HAL takes bytes only while it is asked for them.

use core::convert::Infallible;

use drift_app::inbox::Inbox;
use drift_app::link::ByteLink;
use embedded_hal::digital::OutputPin;
use microbit::board::UartPins;
use microbit::hal::uarte;
use microbit::pac::{Interrupt, NVIC, UART0, UARTE0, interrupt, uart0};

/// What the line has received.
static INBOX: Inbox = Inbox::new();

/// The peripheral without DMA: it has the registers of the one with it.
fn registers() -> &'static uart0::RegisterBlock {
    // SAFETY: always valid. `Line` owns `UARTE0`, so that nothing else uses them; the interrupt uses only those
    // of received bytes, and the app only those of bytes to be sent.
    unsafe { &*UART0::ptr() }
}

#[interrupt]
fn UARTE0_UART0() {
    let uart = registers();
    // Cleared before the byte is taken: the next one of the six that wait sets it again.
    while uart.events_rxdrdy.read().bits() != 0 {
        uart.events_rxdrdy.reset();
        INBOX.put(uart.rxd.read().rxd().bits());
    }
}

/// The serial port at 115 200 baud.
pub(crate) struct Line(());

impl Line {
    pub(crate) fn new(_: UARTE0, pins: UartPins) -> Self {
        let mut pins = uarte::Pins::from(pins);
        let Ok(()) = pins.txd.set_high();
        let uart = registers();
        // A reset of the processor has left both peripherals off, and with no flow control nor parity.
        // SAFETY: the pins are these, and `connect` of 0 connects them.
        uart.psel.rxd.write(|pin| unsafe { pin.bits(pins.rxd.psel_bits()) });
        // SAFETY: as above.
        uart.psel.txd.write(|pin| unsafe { pin.bits(pins.txd.psel_bits()) });
        uart.baudrate.write(|rate| rate.baudrate().baud115200());
        uart.enable.write(|enable| enable.enable().enabled());
        uart.intenset.write(|enabled| enabled.rxdrdy().set_bit());
        // SAFETY: a task is started by any write of 1.
        uart.tasks_startrx.write(|task| unsafe { task.bits(1) });
        // SAFETY: as above.
        uart.tasks_starttx.write(|task| unsafe { task.bits(1) });
        // SAFETY: no critical section relies on this interrupt being masked.
        unsafe { NVIC::unmask(Interrupt::UARTE0_UART0) };
        Self(())
    }
}

impl ByteLink for Line {
    type Error = Infallible;

    fn read(&mut self) -> Result<Option<u8>, Infallible> {
        Ok(INBOX.take())
    }

    fn write(&mut self, byte: u8) -> Result<(), Infallible> {
        let uart = registers();
        uart.events_txdrdy.reset();
        // SAFETY: the register takes any byte.
        uart.txd.write(|data| unsafe { data.txd().bits(byte) });
        // The transmitter needs no other side: this takes as long as a byte does, 87 µs.
        while uart.events_txdrdy.read().bits() == 0 {}
        Ok(())
    }
}
