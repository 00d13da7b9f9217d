//! What every Cortex-M board needs besides its HAL: RAM that survives a reset, a guard below the
//! stack, and a measurement of the deepest stack use.

#![no_std]

#[cfg(feature = "secure")]
mod nonce;
pub mod record;
mod recovery;
mod retained;
mod run;
pub mod stack;

#[doc(hidden)]
pub use drift_app::retained::memory_bytes;
#[cfg(feature = "secure")]
pub use nonce::nonce;
pub use recovery::free_bus;
pub use retained::RetainedMemory;
pub use run::{SampleTimer, made, run};
