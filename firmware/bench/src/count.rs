//! Counts instructions, and stack use by filling the stack with a pattern.

use core::hint::black_box;

use clock::{LARGEST, now};
pub(crate) use clock::{TICKS_OF_TEN, start};

/// `SysTick`. With `-icount shift=6` an emulated instruction takes 64 ns: 1.6 ticks at the 25 MHz of
/// these boards.
#[cfg(target_arch = "arm")]
mod clock {
    /// Ticks of ten instructions.
    pub(crate) const TICKS_OF_TEN: u32 = 16;

    const CONTROL: *mut u32 = 0xe000_e010 as *mut u32;
    const RELOAD: *mut u32 = 0xe000_e014 as *mut u32;
    const CURRENT: *mut u32 = 0xe000_e018 as *mut u32;
    /// The counter has 24 bits.
    pub(super) const LARGEST: u32 = 0x00ff_ffff;
    /// Enabled, on the core's clock, no interrupt.
    const RUNNING: u32 = 0b101;

    /// Starts the counter.
    pub(crate) fn start() {
        // SAFETY: SysTick's registers; nothing else here uses it.
        unsafe {
            RELOAD.write_volatile(LARGEST);
            CURRENT.write_volatile(0);
            CONTROL.write_volatile(RUNNING);
        }
    }

    pub(super) fn now() -> u32 {
        // SAFETY: reading the counter has no side effect.
        unsafe { CURRENT.read_volatile() }
    }
}

/// The processor's own counter of instructions, which is exact with `-icount`.
#[cfg(target_arch = "riscv32")]
mod clock {
    /// Ticks of ten instructions.
    pub(crate) const TICKS_OF_TEN: u32 = 10;
    pub(super) const LARGEST: u32 = u32::MAX;

    /// It always runs.
    pub(crate) fn start() {}

    pub(super) fn now() -> u32 {
        let count: u32;
        // SAFETY: reading the counter has no side effect.
        unsafe { core::arch::asm!("csrr {0}, minstret", out(reg) count) };
        // As the other one, it counts down.
        count.wrapping_neg()
    }
}

/// Number of stack words filled with the pattern: far more than any sample uses.
const PAINTED: usize = 4096;
const PAINT: u32 = 0xa5c3_96e1;

/// The cost of one call.
pub(crate) struct Measured<T> {
    pub(crate) result: T,
    pub(crate) ticks: u32,
    pub(crate) stack: usize,
}

/// Calls `work` once. Its cost must stay below 10 million instructions and 16 KB of stack.
#[inline(never)]
pub(crate) fn measure<T>(work: impl FnOnce() -> T) -> Measured<T> {
    paint();
    // It counts down, and wraps.
    let before = now();
    let result = apart(work);
    let ticks = before.wrapping_sub(now()) & LARGEST;
    Measured { result, ticks, stack: painted_over() }
}

/// Calls `work` without inlining it, so that its stack begins where the pattern does.
#[inline(never)]
fn apart<T>(work: impl FnOnce() -> T) -> T {
    black_box(work())
}

/// The unused words below the stack; the caller will use the highest of them next.
#[inline(always)]
fn unused() -> *mut u32 {
    let here = 0_u32;
    // The caller's frame lies around this variable.
    black_box(&raw const here).cast_mut()
}

/// Fills the unused part of the stack with the pattern.
#[inline(never)]
fn paint() {
    let end = unused();
    for depth in FRAME..PAINTED {
        // SAFETY: below the stack's end and, as PAINTED words are left there, in RAM.
        unsafe { end.wrapping_sub(depth).write_volatile(PAINT) };
    }
}

/// Number of bytes that no longer have the pattern.
#[inline(never)]
fn painted_over() -> usize {
    let end = unused();
    let mut depth = PAINTED;
    // SAFETY: the words that were painted.
    while depth > FRAME && unsafe { end.wrapping_sub(depth - 1).read_volatile() } == PAINT {
        depth -= 1;
    }
    (depth - FRAME) * size_of::<u32>()
}

/// Words below a variable of a small function that may be in that function's own frame.
const FRAME: usize = 16;
