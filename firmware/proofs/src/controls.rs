//! Controls: code that the checkers must reject.

use core::hint::black_box;

/// An index that no optimiser can prove to be inside.
#[cfg(feature = "inject-panic")]
pub(crate) fn index() {
    let values = black_box([1_u8, 2, 3]);
    black_box(values[black_box(1_usize)]);
}

/// A value on the heap.
#[cfg(feature = "inject-alloc")]
pub(crate) fn allocate() {
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
