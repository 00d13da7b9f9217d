//! Faults: a device and what is wrong with it, as two small numbers that fit into a message.

use embedded_hal::i2c::{Error as BusError, ErrorKind};
use fastmmd::{Error, ErrorClass, numbers};

/// The device that has a fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Device {
    /// The magnetometer.
    Magnetometer,
    /// The thermometer.
    Thermometer,
    /// The EEPROM that holds the learned state.
    Store,
    /// A sample, from a sensor or over the link, that the detector cannot use.
    Sample,
    /// The detector's own state.
    Detector,
}

numbers!(Device { Magnetometer = 1, Thermometer = 2, Store = 3, Sample = 4, Detector = 5 });

/// What is wrong with the device.
///
/// A sensor that repeats its value is not a fault here: whether that is unusual depends on the
/// learning data, so the detector decides and raises an alarm.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum FaultKind {
    /// Nobody answers at the device's address.
    NoAcknowledge,
    /// The transaction failed in another way.
    Bus,
    /// A device answers, but it is another one.
    WrongIdentity,
    /// A reading outside the device's measuring range, or a number outside the allowed range.
    OutOfRange,
    /// NaN or infinite.
    NotFinite,
    /// Written data does not read back: the EEPROM is write-protected or worn out.
    NotWritten,
    /// The data is longer than the space for it.
    TooLong,
    /// Stored bytes that this build cannot restore.
    Unreadable,
    /// Refused for another reason.
    Refused,
    /// The saved state has other settings than this build.
    OtherSettings,
    /// A saved state is damaged. An older one is in force, if there is one.
    Damaged,
    /// A saved state that this board did not save: its seal is not one of its key.
    Forged,
    /// A saved state that is older than the last one that this board saved.
    Replayed,
    /// A state that was being written over the link, of which no more pieces came.
    Abandoned,
}

numbers!(FaultKind {
    NoAcknowledge = 1,
    Bus = 2,
    WrongIdentity = 3,
    OutOfRange = 4,
    NotFinite = 5,
    NotWritten = 6,
    TooLong = 7,
    Unreadable = 8,
    Refused = 9,
    OtherSettings = 10,
    Damaged = 11,
    Forged = 12,
    Replayed = 13,
    Abandoned = 14,
});

/// Converts errors of the core; the only place that does.
impl From<Error> for FaultKind {
    fn from(error: Error) -> Self {
        match error.class() {
            ErrorClass::NonFinite => Self::NotFinite,
            ErrorClass::OutOfRange => Self::OutOfRange,
            ErrorClass::Buffer => Self::TooLong,
            ErrorClass::Record => Self::Unreadable,
            ErrorClass::Request => Self::Refused,
        }
    }
}

/// A device and what is wrong with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Fault {
    /// Where.
    pub device: Device,
    /// What.
    pub kind: FaultKind,
}

impl Fault {
    /// A fault of `device`.
    #[must_use]
    pub const fn new(device: Device, kind: FaultKind) -> Self {
        Self { device, kind }
    }

    /// The fault for a failed bus transaction with `device`.
    #[must_use]
    pub fn of_bus(device: Device, error: &impl BusError) -> Self {
        let kind = match error.kind() {
            ErrorKind::NoAcknowledge(_) => FaultKind::NoAcknowledge,
            _ => FaultKind::Bus,
        };
        Self { device, kind }
    }
}

impl core::fmt::Display for Fault {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let device = match self.device {
            Device::Magnetometer => "magnetometer",
            Device::Thermometer => "thermometer",
            Device::Store => "store",
            Device::Sample => "sample",
            Device::Detector => "detector",
        };
        let kind = match self.kind {
            FaultKind::NoAcknowledge => "does not answer",
            FaultKind::Bus => "bus error",
            FaultKind::WrongIdentity => "is another device",
            FaultKind::OutOfRange => "out of range",
            FaultKind::NotFinite => "not finite",
            FaultKind::NotWritten => "does not read back as written",
            FaultKind::TooLong => "too long",
            FaultKind::Unreadable => "unreadable",
            FaultKind::Refused => "refused",
            FaultKind::OtherSettings => "kept under other settings",
            FaultKind::Damaged => "holds a state that is damaged",
            FaultKind::Forged => "holds a state that this board did not save",
            FaultKind::Replayed => "holds a state from before the last save",
            FaultKind::Abandoned => "a state that was being written did not come to its end",
        };
        write!(f, "{device}: {kind}")
    }
}

impl core::error::Error for Fault {}
