//! What every Cortex-M board of the firmware needs beside its HAL: RAM that outlives a reset, a
//! guard below the stack, and a measure of how deep the stack has been.

#![no_std]

mod retained;
mod run;
pub mod stack;

pub use retained::RetainedMemory;
pub use run::{Ticker, run};
