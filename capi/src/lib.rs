//! `fastmmd::Detector` for programs in C.
//!
//! The caller gives the memory; nothing is allocated, and nothing panics. Results are `int32_t`: at
//! least 0 for an answer, below 0 for an error, which leaves the detector as it was. `fastmmd.h` is
//! made of the sources here by cbindgen.
//!
//! * `api.rs`: the functions; each checks its pointers, and what they point to where it can;
//! * `codes.rs`: the numbers of verdicts and errors, and what they say;
//! * `values.rs`: the structures that cross the boundary;
//! * `shapes.rs`: the detectors that are compiled in, a line of a table for each;
//! * `slot.rs`: a detector of any shape in the caller's memory.

#![no_std]

pub mod api;
pub mod codes;
pub mod shapes;
mod slot;
pub mod values;

pub use slot::{Handle, Shape};

/// The library's own version.
pub const FASTMMD_VERSION: &str = env!("CARGO_PKG_VERSION");

/// Shows that the check for panics finds one.
#[cfg(feature = "inject-panic")]
#[unsafe(no_mangle)]
pub extern "C" fn fastmmd_control(index: usize) -> u8 {
    [1, 2, 3][index]
}
