//! Tests the emulated board from the host: starts QEMU, sets its sensors, talks to the firmware
//! over the link, decodes its log, resets it, cuts its power, and checks what it does.
//!
//! Every wait has a time limit. Dropping a [`Machine`] ends its process and removes its files. If
//! QEMU ends unexpectedly, the call that notices returns an error.

#![forbid(unsafe_code)]

mod bus;
pub mod demo;
mod device;
pub mod endurance;
mod error;
pub mod learned;
mod log;
mod machine;
mod moments;
mod monitor;
mod power;
pub mod recording;
pub mod scenarios;
mod sealed;
pub mod signal;
pub mod stack;
pub mod tool;
pub mod transcript;

pub use device::{Answer, Closing, Device};
pub use error::Error;
pub use machine::{Board, Eeprom, Machine, PATIENCE, Setup};
