//! The panic handler, which calls an undefined function.

use core::panic::PanicInfo;

#[cfg(not(feature = "locate"))]
#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    unsafe extern "C" {
        /// Defined nowhere: a panic that survives optimisation makes the link fail with this name.
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
