//! A number that no earlier start had.

use core::cell::UnsafeCell;
use core::mem::MaybeUninit;

use drift_app::seal;

#[repr(C)]
struct Last(UnsafeCell<MaybeUninit<u64>>);

// SAFETY: only read and written by volatile accesses, on one core, and by no interrupt.
unsafe impl Sync for Last {}

// SAFETY: the start-up code does not touch this section; any bits are a number.
#[unsafe(link_section = ".uninit.NONCE")]
static LAST: Last = Last(UnsafeCell::new(MaybeUninit::uninit()));

/// Another number at each start, to be called once: a digest of the last one, of what the chip's generator has
/// `drawn` (0 if it has none), and of `memory`. The last one and `memory` are in RAM that is not initialised:
/// after a reset the last one is there; after a power cut, what the RAM holds is noise, of which thousands of bits
/// differ each time, as far as it was off for long enough. The number need not be secret.
#[must_use]
pub fn nonce(drawn: u64, memory: &[u8]) -> u64 {
    let last = LAST.0.get().cast::<u64>();
    // SAFETY: valid and aligned; a volatile read gives whatever the RAM holds, and any bits are a number.
    let before = unsafe { last.read_volatile() };
    // Added, not hashed by itself: who cannot choose the one cannot undo the other.
    let nonce = seal::digest(&before.wrapping_add(drawn).to_le_bytes(), memory);
    // SAFETY: valid and aligned; nothing holds a reference to it.
    unsafe { last.write_volatile(nonce) };
    nonce
}
