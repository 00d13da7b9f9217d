//! The first UART (CMSDK APB UART): the line to the host.

use core::convert::Infallible;

use cortex_m::interrupt::InterruptNumber;
use cortex_m::peripheral::NVIC;
use drift_app::ByteLink;

const BASE: usize = 0x4000_4000;
const DATA: *mut u32 = BASE as *mut u32;
const STATE: *mut u32 = (BASE + 0x4) as *mut u32;
const CONTROL: *mut u32 = (BASE + 0x8) as *mut u32;
const INTERRUPT_CLEAR: *mut u32 = (BASE + 0xC) as *mut u32;
const BAUD_DIVIDER: *mut u32 = (BASE + 0x10) as *mut u32;

const TRANSMIT_FULL: u32 = 1;
const RECEIVE_FULL: u32 = 1 << 1;
const TRANSMIT_ENABLE: u32 = 1;
const RECEIVE_ENABLE: u32 = 1 << 1;
const RECEIVE_INTERRUPT: u32 = 1 << 3;
/// 25 MHz / 217 ≈ 115 200 baud.
const DIVIDER: u32 = 217;

/// The interrupt of a received byte.
#[derive(Clone, Copy)]
struct Received;

// SAFETY: the board has this interrupt, and its number is constant.
unsafe impl InterruptNumber for Received {
    fn number(self) -> u16 {
        0
    }
}

/// The UART, polled; an interrupt only wakes it up.
#[derive(Debug)]
pub struct Uart(());

impl Uart {
    /// The only one: [`Board::take`](crate::Board::take) makes it once.
    pub(crate) fn new() -> Self {
        // SAFETY: registers of the board, used by this driver only.
        unsafe {
            BAUD_DIVIDER.write_volatile(DIVIDER);
            CONTROL.write_volatile(TRANSMIT_ENABLE | RECEIVE_ENABLE | RECEIVE_INTERRUPT);
        }
        Self(())
    }

    fn state(&self) -> u32 {
        // SAFETY: as above.
        unsafe { STATE.read_volatile() }
    }

    /// Sleeps until a byte is there.
    pub fn wait(&mut self) {
        // With interrupts off the processor wakes up, but no handler runs: none is needed.
        cortex_m::interrupt::free(|_| {
            // SAFETY: as above.
            unsafe { INTERRUPT_CLEAR.write_volatile(RECEIVE_FULL) };
            if self.state() & RECEIVE_FULL != 0 {
                return;
            }
            // SAFETY: no critical section relies on this interrupt, and it is masked again
            // before interrupts are on.
            unsafe { NVIC::unmask(Received) };
            cortex_m::asm::wfi();
            NVIC::mask(Received);
            // SAFETY: as above.
            unsafe { INTERRUPT_CLEAR.write_volatile(RECEIVE_FULL) };
            NVIC::unpend(Received);
        });
    }

    /// Waits until the last byte has been handed to the line.
    pub fn flush(&mut self) {
        while self.state() & TRANSMIT_FULL != 0 {}
    }
}

impl ByteLink for Uart {
    type Error = Infallible;

    fn read(&mut self) -> Result<Option<u8>, Infallible> {
        if self.state() & RECEIVE_FULL == 0 {
            return Ok(None);
        }
        // SAFETY: as above.
        let [byte, ..] = unsafe { DATA.read_volatile() }.to_le_bytes();
        Ok(Some(byte))
    }

    fn write(&mut self, byte: u8) -> Result<(), Infallible> {
        self.flush();
        // SAFETY: as above.
        unsafe { DATA.write_volatile(u32::from(byte)) };
        Ok(())
    }
}
