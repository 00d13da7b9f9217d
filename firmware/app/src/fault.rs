//! What can go wrong, as two small numbers that fit into a report.

use embedded_hal::i2c::{Error as BusError, ErrorKind};

/// Where a fault lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(u8)]
pub enum Device {
    /// The magnetometer.
    Magnetometer = 1,
    /// The thermometer.
    Thermometer = 2,
    /// The EEPROM that keeps what was learned.
    Store = 3,
    /// A sample, from a sensor or over the link, that the engine cannot use.
    Sample = 4,
    /// The engine's own state.
    Engine = 5,
}

/// What is wrong there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(u8)]
pub enum FaultKind {
    /// Nobody answers at the device's address.
    NoAcknowledge = 1,
    /// The transaction broke in another way.
    Bus = 2,
    /// A device answers, but it is another one.
    WrongIdentity = 3,
    /// A reading outside of what the device can measure.
    OutOfRange = 4,
    /// The same reading over and over.
    Stuck = 5,
    /// NaN or infinite.
    NotFinite = 6,
    /// What was written does not read back: write-protected or worn out.
    NotWritten = 7,
    /// Longer than the space for it.
    TooLong = 8,
    /// Stored bytes that no engine of this build understands.
    Unreadable = 9,
    /// Refused for another reason.
    Refused = 10,
    /// What was kept was learned, or was being learned, under other settings than this build's.
    OtherSettings = 11,
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

    /// The fault that a failed transaction with `device` means.
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
            Device::Engine => "engine",
        };
        let kind = match self.kind {
            FaultKind::NoAcknowledge => "does not answer",
            FaultKind::Bus => "bus error",
            FaultKind::WrongIdentity => "is another device",
            FaultKind::OutOfRange => "out of range",
            FaultKind::Stuck => "stuck",
            FaultKind::NotFinite => "not finite",
            FaultKind::NotWritten => "does not read back as written",
            FaultKind::TooLong => "too long",
            FaultKind::Unreadable => "unreadable",
            FaultKind::Refused => "refused",
            FaultKind::OtherSettings => "kept under other settings",
        };
        write!(f, "{device}: {kind}")
    }
}

impl core::error::Error for Fault {}

impl Device {
    /// The device with this number on the link.
    #[must_use]
    pub const fn from_number(number: u8) -> Option<Self> {
        Some(match number {
            1 => Self::Magnetometer,
            2 => Self::Thermometer,
            3 => Self::Store,
            4 => Self::Sample,
            5 => Self::Engine,
            _ => return None,
        })
    }
}

impl FaultKind {
    /// The kind with this number on the link.
    #[must_use]
    pub const fn from_number(number: u8) -> Option<Self> {
        Some(match number {
            1 => Self::NoAcknowledge,
            2 => Self::Bus,
            3 => Self::WrongIdentity,
            4 => Self::OutOfRange,
            5 => Self::Stuck,
            6 => Self::NotFinite,
            7 => Self::NotWritten,
            8 => Self::TooLong,
            9 => Self::Unreadable,
            10 => Self::Refused,
            11 => Self::OtherSettings,
            _ => return None,
        })
    }
}
