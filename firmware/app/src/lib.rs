//! Learns what normal is from a sensor, monitors it, and reports when it drifts: everything of
//! the firmware that is not about one board.
//!
//! ```text
//! I²C bus ──▶ sensor ──▶ detector ──▶ report, alarm ──▶ framed link
//!    ▲                     │  ▲
//!    └── EEPROM, two slots ┘  └── RAM that outlives a reset
//! ```
//!
//! A board hands over an [`embedded_hal::i2c::I2c`] bus, a [`link::ByteLink`], a stretch of RAM
//! that its start-up code leaves alone, and calls [`App::poll`] (and [`App::sample`], if it keeps
//! time) for ever. Nothing here panics, allocates or blocks for longer than a bus transaction or
//! a frame; every failure is a value, is reported over the link, and never stops the app.
//!
//! The detector is any [`Monitor`](fastmmd::monitor::Monitor) of the core, and its verdicts,
//! alarms and errors are the core's; how they look on the link is told in [`message`]. The host
//! side uses the same [`message`] and [`frame`] modules.
//!
//! With the feature `fault-injection`, which is for tests alone, transactions on the bus can be
//! made to fail by a command over the link; without it there is no such command.

#![no_std]
#![forbid(unsafe_code)]

#[cfg(test)]
extern crate std;

pub mod app;
#[cfg(test)]
mod app_tests;
#[cfg(feature = "fault-injection")]
pub mod bus;
mod bytes;
pub mod endurance;
pub mod fault;
pub mod frame;
pub mod link;
mod log;
pub mod message;
pub mod profile;
pub mod retained;
pub mod sensor;
pub mod store;
#[cfg(test)]
mod testing;

pub use app::{App, Config, Request};
pub use fault::{Device, Fault, FaultKind};
pub use link::{ByteLink, Link};
pub use message::{Command, Message, Report};
pub use retained::Retained;
pub use sensor::Sensor;
pub use store::Store;

/// The checksum of frames and of stored states.
pub(crate) const CHECKSUM: crc::Crc<u32> = crc::Crc::<u32>::new(&crc::CRC_32_ISO_HDLC);
