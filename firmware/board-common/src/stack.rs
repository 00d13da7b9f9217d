//! The stack: its deepest use, and a guard below it.

use core::ptr::addr_of;

use cortex_m_rt::STACK_PAINT_VALUE;

// SAFETY: `cortex-m-rt`'s linker script defines both; only their addresses are used.
unsafe extern "C" {
    /// The linker's: first address above the stack.
    static _stack_start: u32;
    /// The linker's: first address above all statics, where the stack ends.
    static _stack_end: u32;
}

/// Bytes below the stack that must not be touched.
const GUARD_BYTES: usize = 256;

fn top() -> usize {
    addr_of!(_stack_start) as usize
}

/// The guard begins at the first multiple of its size above the statics.
fn guard() -> usize {
    (addr_of!(_stack_end) as usize).next_multiple_of(GUARD_BYTES)
}

/// Size of the stack, in bytes.
#[must_use]
pub fn size() -> usize {
    top().saturating_sub(guard() + GUARD_BYTES)
}

/// Deepest use of the stack since the start, in bytes.
///
/// The start-up code fills the stack with a pattern; words that still have it were not used. (A
/// stacked value equal to the pattern makes the result too small by a few bytes.)
#[must_use]
pub fn high_water() -> usize {
    let mut address = guard() + GUARD_BYTES;
    while address < top() {
        // SAFETY: aligned, and between the linker's ends of the stack, all of which is RAM.
        let word = unsafe { (address as *const u32).read_volatile() };
        if word != STACK_PAINT_VALUE {
            break;
        }
        address += 4;
    }
    top() - address
}

/// Makes any access to the bytes below the stack a memory-management fault.
///
/// On cores without that fault (ARMv6-M) it is a hard fault.
#[expect(clippy::cast_possible_truncation, reason = "addresses of a 32-bit processor")]
pub fn protect(mpu: &mut cortex_m::peripheral::MPU) {
    const VALID: u32 = 1 << 4;
    const EXECUTE_NEVER: u32 = 1 << 28;
    // 2^(7 + 1) = 256 bytes; the access bits are 0: no access at all.
    const SIZE_256: u32 = 7 << 1;
    const ENABLE: u32 = 1;
    const DEFAULT_MAP: u32 = 1 << 2;

    // SAFETY: region 0 covers only the guard, in which nothing lives; all else keeps its default
    // access through the default map.
    unsafe {
        mpu.rbar.write(guard() as u32 | VALID);
        mpu.rasr.write(EXECUTE_NEVER | SIZE_256 | ENABLE);
        mpu.ctrl.write(DEFAULT_MAP | ENABLE);
    }
    cortex_m::asm::dsb();
    cortex_m::asm::isb();
}
