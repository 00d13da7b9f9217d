//! The I²C controller of the board: two lines driven by software.

use drift_app::wire::Lines;

/// The controller of QEMU's `bus=i2c` devices.
const BASE: usize = 0x4002_A000;
const SET_OR_READ: *mut u32 = BASE as *mut u32;
const CLEAR: *mut u32 = (BASE + 4) as *mut u32;
const CLOCK: u32 = 1;
const DATA: u32 = 1 << 1;

/// The lines. There are no delays between the edges: the emulated lines settle at once.
#[derive(Debug)]
pub struct Sbcon(());

impl Sbcon {
    /// The only one: [`Board::take`](crate::Board::take) makes it once.
    pub(crate) const fn new() -> Self {
        Self(())
    }

    fn set(&mut self, line: u32, high: bool) {
        let register = if high { SET_OR_READ } else { CLEAR };
        // SAFETY: a register of the board, used by this driver only.
        unsafe { register.write_volatile(line) };
    }
}

impl Lines for Sbcon {
    fn set_clock(&mut self, high: bool) {
        self.set(CLOCK, high);
    }

    fn set_data(&mut self, high: bool) {
        self.set(DATA, high);
    }

    /// No emulated device can hold it, and the register gives back what was set.
    fn clock(&mut self) -> bool {
        true
    }

    fn data(&mut self) -> bool {
        // SAFETY: as above.
        unsafe { SET_OR_READ.read_volatile() & DATA != 0 }
    }

    fn wait(&mut self) {}
}
