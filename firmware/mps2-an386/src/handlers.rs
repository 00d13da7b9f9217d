//! Handlers of panics and faults. Each ends the emulator with its own exit code, so that no test
//! takes a crash for a success.

use core::panic::PanicInfo;
use core::sync::atomic::{AtomicBool, Ordering};

use cortex_m::peripheral::SCB;
use cortex_m_rt::{ExceptionFrame, exception};
use semihosting::process::exit;

/// Exit code of a panic.
pub const PANIC: i32 = 101;
/// Exit code of a hard fault.
pub const HARD_FAULT: i32 = 102;
/// Exit code of an access to the guard below the stack, or another forbidden one.
pub const MEMORY_FAULT: i32 = 103;

/// Whether this is the first failure: a handler that fails itself must not log again.
fn first() -> bool {
    static FAILED: AtomicBool = AtomicBool::new(false);
    !FAILED.swap(true, Ordering::Relaxed)
}

#[panic_handler]
fn panic(info: &PanicInfo<'_>) -> ! {
    // Where, not what: to format the message would take more than a kilobyte of flash.
    if let Some(place) = info.location().filter(|_| first()) {
        defmt::error!("panic: {=str}, line {}", place.file(), place.line());
    }
    exit(PANIC)
}

// SAFETY: `unsafe` is what the attribute asks for; it only reads the frame, and does not return.
#[exception]
unsafe fn HardFault(frame: &ExceptionFrame) -> ! {
    if first() {
        defmt::error!("hard fault at {=u32:#x}", frame.pc());
    }
    exit(HARD_FAULT)
}

// The stack is used up when this runs, so it first resets the stack pointer to the top.
core::arch::global_asm!(
    ".section .text.MemoryManagement, \"ax\", %progbits",
    ".global MemoryManagement",
    ".type MemoryManagement, %function",
    ".thumb_func",
    "MemoryManagement:",
    "ldr r0, =_stack_start",
    "msr msp, r0",
    "b {end}",
    ".pool",
    ".size MemoryManagement, . - MemoryManagement",
    end = sym memory_fault,
);

extern "C" fn memory_fault() -> ! {
    if first() {
        // SAFETY: reading the fault's address has no effect.
        let address = unsafe { (*SCB::PTR).mmfar.read() };
        defmt::error!("stack overflow or forbidden access at {=u32:#x}", address);
    }
    exit(MEMORY_FAULT)
}
