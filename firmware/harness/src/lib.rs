//! The emulated board from the host's side: starts QEMU, drives the sensors on its bus, talks to
//! the firmware over its link, decodes its log, resets it, cuts its power, and judges what it
//! does.
//!
//! Every wait has an end; a [`Machine`] that is dropped takes its process and its files with it;
//! a QEMU that ends unasked, by a signal or otherwise, is an error of the call that notices.

#![forbid(unsafe_code)]

pub mod demo;
mod device;
pub mod endurance;
mod error;
pub mod learned;
mod log;
mod machine;
mod monitor;
mod power;
pub mod recording;
pub mod scenarios;
pub mod signal;
pub mod stack;
pub mod tool;
pub mod transcript;

pub use device::{Answer, Closing, Device};
pub use error::Error;
pub use machine::{Board, Eeprom, Machine, PATIENCE, Setup};
