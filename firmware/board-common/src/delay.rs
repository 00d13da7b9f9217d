//! Short waits.

/// Waits for at least this many cycles of a Cortex-M0+, M3 or M4, for less than three more and the call.
///
/// [`cortex_m::asm::delay`] runs a loop as many times as it is told, and once more. On these processors each
/// takes three cycles.
#[inline(always)]
pub fn cycles(count: u32) {
    cortex_m::asm::delay(count / 3);
}
