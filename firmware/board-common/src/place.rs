//! Large values in their place.

use core::mem::MaybeUninit;

/// Makes a value in `slot`. Not inlined, and with nothing else around it, so that the compiler
/// has `make` write where the value is to be, and not to the stack first: `cargo xtask size`
/// would notice.
#[inline(never)]
pub fn placed<T>(slot: &mut MaybeUninit<T>, make: impl FnOnce() -> T) -> &mut T {
    slot.write(make())
}
