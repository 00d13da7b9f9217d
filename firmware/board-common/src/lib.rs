//! What every Cortex-M board of the firmware needs beside its HAL: RAM that outlives a reset, a
//! guard below the stack, and a measure of how deep the stack has been.

#![no_std]

mod retained;
mod run;
pub mod stack;

#[doc(hidden)]
pub use drift_app::retained::HEADER_BYTES;
pub use retained::RetainedMemory;
pub use run::{Ticker, made, run};
