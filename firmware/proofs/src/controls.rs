//! What the checkers must catch, with the proof's own handler: a program with nothing else in it,
//! which is linked in a moment.

#![no_std]
#![no_main]

#[cfg(feature = "inject-alloc")]
extern crate alloc;

mod handlers;

use core::hint::black_box;

use fastmmd as _;

/// The entry point under the linker's default name, as the proof has it.
// SAFETY: no other symbol of the program has this name.
#[unsafe(no_mangle)]
pub extern "C" fn _start() -> ! {
    #[cfg(feature = "inject-panic")]
    index();
    #[cfg(feature = "inject-alloc")]
    allocate();
    loop {
        black_box(());
    }
}

/// An index that no optimiser can prove to be inside.
#[cfg(feature = "inject-panic")]
fn index() {
    let values = black_box([1_u8, 2, 3]);
    black_box(values[black_box(1_usize)]);
}

/// A value on the heap.
#[cfg(feature = "inject-alloc")]
fn allocate() {
    black_box(alloc::boxed::Box::new(black_box(1_u8)));
}

#[cfg(feature = "inject-allocator")]
mod allocator {
    use core::alloc::{GlobalAlloc, Layout};

    struct Never;

    // SAFETY: a null pointer is a valid answer to every request, and nothing is ever freed.
    unsafe impl GlobalAlloc for Never {
        unsafe fn alloc(&self, _: Layout) -> *mut u8 {
            core::ptr::null_mut()
        }

        unsafe fn dealloc(&self, _: *mut u8, _: Layout) {}
    }

    #[global_allocator]
    static ALLOCATOR: Never = Never;
}
