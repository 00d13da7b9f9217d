//! Shared by programs that run on their own in QEMU: every way to end other than [`succeed`] is a
//! failure.

#![no_std]

use core::panic::PanicInfo;

use semihosting::{eprintln, process};

#[cfg(target_arch = "arm")]
pub use cortex_m_rt::entry;
#[cfg(target_arch = "riscv32")]
pub use riscv_rt::entry;
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

#[cfg(target_arch = "arm")]
mod exceptions {
    use super::{eprintln, process};
    use cortex_m_rt::{ExceptionFrame, exception};

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
}

#[cfg(target_arch = "riscv32")]
mod exceptions {
    use super::{eprintln, process};

    /// What riscv-rt calls for an exception that nothing else handles.
    // SAFETY: it only prints and leaves, and no other symbol of the program has this name.
    #[unsafe(no_mangle)]
    extern "C" fn ExceptionHandler(frame: &riscv_rt::TrapFrame) -> ! {
        eprintln!("exception: {frame:?}");
        process::exit(102)
    }
}
