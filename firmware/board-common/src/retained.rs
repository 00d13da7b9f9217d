//! RAM that the start-up code does not initialise.

use core::arch::asm;
use core::cell::UnsafeCell;
use core::mem::MaybeUninit;
use core::sync::atomic::{AtomicBool, Ordering};

/// Declares the [`RetainedMemory`] of a program for a detector of this type, with room for so many rows
/// of so many channels between two saves: see
/// [`ROWS_BETWEEN_SAVES`](drift_app::profile::ROWS_BETWEEN_SAVES). With `twice` before the detector, for two
/// states: a board without EEPROM needs them, so that a reset at any time loses nothing.
#[macro_export]
macro_rules! retained {
    ($name:ident for twice $detector:ty, $rows:tt rows of $channels:expr) => {
        $crate::retained!($name, memory_bytes_for_two, $detector, $rows, $channels);
    };
    ($name:ident for $detector:ty, $rows:tt rows of $channels:expr) => {
        $crate::retained!($name, memory_bytes, $detector, $rows, $channels);
    };
    ($name:ident, $bytes:ident, $detector:ty, $rows:tt, $channels:expr) => {
        // SAFETY: the start-up code does not touch this section, and nothing else is in it.
        #[unsafe(link_section = ".uninit.STATE")]
        static $name: $crate::RetainedMemory<
            { $crate::$bytes(<$detector>::SAVED_BYTES, $rows, $channels) },
        > = $crate::RetainedMemory::new();
    };
}

/// `N` bytes of RAM that keep their content through a reset, if placed in a section that the
/// start-up code does not touch: see [`retained!`](crate::retained!).
#[repr(C, align(8))]
pub struct RetainedMemory<const N: usize>(UnsafeCell<MaybeUninit<[u8; N]>>);

// SAFETY: the content is only reached through `take`, which gives it out once.
unsafe impl<const N: usize> Sync for RetainedMemory<N> {}

/// Outside the retained memory, which is not initialised at start.
static TAKEN: AtomicBool = AtomicBool::new(false);

impl<const N: usize> RetainedMemory<N> {
    /// Memory with any content.
    #[must_use]
    pub const fn new() -> Self {
        Self(UnsafeCell::new(MaybeUninit::uninit()))
    }

    /// The bytes, with any content; `None` if they were already taken since the start. (A program
    /// has one such memory.)
    #[expect(clippy::mut_from_ref, reason = "given out once: that is what the flag is for")]
    pub fn take(&'static self) -> Option<&'static mut [u8; N]> {
        let taken = critical_section::with(|_| {
            let taken = TAKEN.load(Ordering::Relaxed);
            TAKEN.store(true, Ordering::Relaxed);
            taken
        });
        if taken {
            return None;
        }
        let bytes: *mut [u8; N] = self.0.get().cast();
        // SAFETY: the empty assembly gets the address. As far as the compiler knows it may have
        // written the bytes, so their content is a value and not undefined.
        unsafe { asm!("/* {0} */", in(reg) bytes, options(nostack, preserves_flags)) };
        // SAFETY: valid, aligned and static; any byte is a `u8`; the flag above makes this the
        // only reference.
        Some(unsafe { &mut *bytes })
    }
}

impl<const N: usize> Default for RetainedMemory<N> {
    fn default() -> Self {
        Self::new()
    }
}

/// Words that keep their value through a reset, if placed in a section that the start-up code does not
/// touch. They hold anything when the power comes on, so whoever reads them must check them.
#[repr(C)]
pub struct RetainedWords<const N: usize>(UnsafeCell<MaybeUninit<[u32; N]>>);

// SAFETY: only reached by volatile accesses, on one core, and not from interrupts that return.
unsafe impl<const N: usize> Sync for RetainedWords<N> {}

impl<const N: usize> RetainedWords<N> {
    /// Words with any value.
    #[must_use]
    pub const fn new() -> Self {
        Self(UnsafeCell::new(MaybeUninit::uninit()))
    }

    /// Their value.
    pub fn read(&'static self) -> [u32; N] {
        // SAFETY: valid and aligned; a volatile read gives whatever the RAM holds, and any bits are words.
        unsafe { self.0.get().cast::<[u32; N]>().read_volatile() }
    }

    /// Replaces them.
    pub fn write(&'static self, words: [u32; N]) {
        // SAFETY: valid and aligned; nothing holds a reference to them.
        unsafe { self.0.get().cast::<[u32; N]>().write_volatile(words) };
    }
}

impl<const N: usize> Default for RetainedWords<N> {
    fn default() -> Self {
        Self::new()
    }
}
