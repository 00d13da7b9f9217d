//! Shared by programs that run on their own in QEMU: every way to end other than [`succeed`] is a
//! failure.

#![no_std]

use core::panic::PanicInfo;

use cortex_m_rt::{ExceptionFrame, exception};
use semihosting::{eprintln, process};

pub use cortex_m_rt::entry;
pub use semihosting::println;

/// Ends the emulator with exit code 0.
pub fn succeed() -> ! {
    process::exit(0)
}

#[panic_handler]
fn panic(info: &PanicInfo<'_>) -> ! {
    eprintln!("{info}");
    process::exit(101)
}

// SAFETY: it only prints and leaves.
#[exception]
unsafe fn HardFault(frame: &ExceptionFrame) -> ! {
    eprintln!("hard fault: {frame:?}");
    process::exit(102)
}

// SAFETY: it only prints and leaves.
#[exception]
unsafe fn DefaultHandler(number: i16) -> ! {
    eprintln!("unexpected exception {number}");
    process::exit(103)
}
