//! What every Cortex-M board needs besides its HAL: short waits, RAM that survives a reset, a guard below the
//! stack, and a measurement of the deepest stack use.

#![no_std]

pub mod delay;
#[cfg(feature = "secure")]
mod nonce;
pub mod record;
mod retained;
mod run;
pub mod stack;

#[doc(hidden)]
pub use drift_app::retained::{memory_bytes, memory_bytes_for_two};
#[cfg(feature = "secure")]
pub use nonce::nonce;
pub use retained::{RetainedMemory, RetainedWords};
pub use run::{SampleTimer, made, run};
