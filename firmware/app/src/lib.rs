//! Drift detection firmware, without the parts that depend on a board. It learns a sensor's normal
//! behaviour, monitors it, and reports when it drifts.
//!
//! ```text
//! I²C bus ──▶ sensor ──▶ detector ──▶ report, alarm ──▶ framed link
//!    ▲                     │  ▲
//!    └── EEPROM, two slots ┘  └── RAM that survives a reset
//! ```
//!
//! A board provides an [`embedded_hal::i2c::I2c`] bus, best the master in [`wire`], whose transactions
//! always end; a [`link::ByteLink`], best over an [`inbox`] that an interrupt fills; and a block of RAM that
//! its start-up code does not initialise. It then calls [`App::poll`] for ever, or [`App::turn`] if
//! it keeps time itself. Nothing here panics or allocates. A turn blocks for one row, one
//! frame, and one transaction with the EEPROM; longer only where the EEPROM is read as a whole, at a start and
//! while it is tried again, and where rows come during a save that the RAM has no room for. Every failure is reported over the link, and none stops the app.
//!
//! The detector is any [`Monitor`](fastmmd::monitor::Monitor) of the core; verdicts, alarms and
//! errors are the core's. [`message`] describes them as bytes. The host uses the same [`message`]
//! and [`frame`] modules.
//!
//! The feature `fault-injection`, for tests only, adds a command that makes transactions on the bus
//! fail.

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
pub mod clock;
pub mod counts;
pub mod endurance;
pub mod fault;
#[cfg(feature = "fault-injection")]
pub mod forge;
pub mod frame;
pub mod guard;
pub mod inbox;
pub mod link;
mod log;
pub mod message;
pub mod profile;
pub mod retained;
#[cfg(feature = "secure")]
pub mod seal;
pub mod sensor;
pub mod starts;
pub mod store;
#[cfg(test)]
mod testing;
pub mod wire;

pub use app::{App, Board, Config, Request};
pub use clock::{Clock, Ticker};
pub use fault::{Device, Fault, FaultKind};
pub use guard::Guard;
pub use link::{ByteLink, Link};
pub use message::{Command, Message, Report};
pub use retained::Retained;
pub use sensor::Sensor;
pub use store::Store;
