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

/// Another number at each start, to be called once: a digest of the last one and of `memory`, both in RAM
/// that is not initialised. After a reset the last one is there; after a power cut, what the RAM holds is
/// noise, of which thousands of bits differ each time. The number need not be secret.
#[must_use]
pub fn nonce(memory: &[u8]) -> u64 {
    let last = LAST.0.get().cast::<u64>();
    // SAFETY: valid and aligned; a volatile read gives whatever the RAM holds, and any bits are a number.
    let before = unsafe { last.read_volatile() };
    let nonce = seal::digest(&before.to_le_bytes(), memory);
    // SAFETY: valid and aligned; nothing holds a reference to it.
    unsafe { last.write_volatile(nonce) };
    nonce
}
