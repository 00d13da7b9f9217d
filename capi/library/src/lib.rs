//! The static library `libfastmmd.a`: what `fastmmd-capi` exports.

#![no_std]

pub use fastmmd_capi::*;

/// Never runs: the library has no code that panics, which `cargo xtask capi` checks.
#[cfg(target_os = "none")]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}

// On a host, the standard library brings the handler.
#[cfg(not(target_os = "none"))]
extern crate std;
