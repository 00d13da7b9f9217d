//! A reading as the sensor gives it.

use core::fmt::Debug;

use crate::error::{Error, Parameter};

use super::scale::MAX_READING;

/// The number type of readings: `f32`, in any unit, or `i16`, such as the counts of an ADC.
pub trait Reading: Copy + PartialEq + Debug {
    /// Whether it is no number, which may stand for a missing reading.
    fn is_not_a_number(self) -> bool;

    /// Refuses a reading that is not finite or too large.
    fn checked(self, channel: usize) -> Result<(), Error>;

    /// The reading, unless it is no number.
    fn present(self) -> Option<Self>;
}

impl Reading for f32 {
    #[inline]
    fn is_not_a_number(self) -> bool {
        self.is_nan()
    }

    #[inline]
    fn checked(self, channel: usize) -> Result<(), Error> {
        if !self.is_finite() {
            return Err(Error::NonFinite(Parameter::Channel(channel)));
        }
        if self.abs() > MAX_READING {
            return Err(Error::OutOfRange(Parameter::Channel(channel)));
        }
        Ok(())
    }

    #[inline]
    fn present(self) -> Option<f32> {
        // 0 for −0, which is the same reading with other bits.
        (!self.is_nan()).then_some(self + 0.0)
    }
}

impl Reading for i16 {
    #[inline]
    fn is_not_a_number(self) -> bool {
        false
    }

    #[inline]
    fn checked(self, _channel: usize) -> Result<(), Error> {
        Ok(())
    }

    #[inline]
    fn present(self) -> Option<i16> {
        Some(self)
    }
}
