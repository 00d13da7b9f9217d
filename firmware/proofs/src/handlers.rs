//! What a panic would call: nothing that exists.

use core::panic::PanicInfo;

#[cfg(not(feature = "locate"))]
#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    unsafe extern "C" {
        /// Defined nowhere: a panic that survives optimisation makes the link fail by this name.
        fn the_core_can_panic() -> !;
    }
    // SAFETY: never runs, since a program with this call does not link.
    unsafe { the_core_can_panic() }
}

#[cfg(feature = "locate")]
#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    loop {}
}
