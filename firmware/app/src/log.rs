//! Log lines for a developer, by `defmt` if that feature is on.

#![cfg_attr(not(feature = "defmt"), allow(unused_variables, reason = "nothing is logged then"))]

use fastmmd::monitor::{Alarm, Warning};

use crate::fault::Fault;
use crate::message::Origin;

pub(crate) fn started(origin: Origin, rows: u64) {
    #[cfg(feature = "defmt")]
    defmt::info!("started from {}, {} samples", origin, rows);
}

pub(crate) fn uncertain(warning: Warning) {
    #[cfg(feature = "defmt")]
    defmt::warn!("{}", warning);
}

pub(crate) fn learned(rows: u64) {
    #[cfg(feature = "defmt")]
    defmt::info!("learned from {} samples", rows);
}

pub(crate) fn stored(rows: u64, bytes: usize) {
    #[cfg(feature = "defmt")]
    defmt::info!("stored {} bytes after {} samples", bytes, rows);
}

pub(crate) fn alarm(alarm: &Alarm) {
    #[cfg(feature = "defmt")]
    defmt::warn!("{}", alarm);
}

pub(crate) fn amended(alarm: &Alarm) {
    #[cfg(feature = "defmt")]
    defmt::info!("amended: {}", alarm);
}

pub(crate) fn dismissed(open: u32) {
    #[cfg(feature = "defmt")]
    defmt::info!("dismissed {} open", open);
}

pub(crate) fn fault(fault: Fault) {
    #[cfg(feature = "defmt")]
    defmt::warn!("{}", fault);
}

pub(crate) fn recovered() {
    #[cfg(feature = "defmt")]
    defmt::info!("sensor recovered");
}
