//! What a user states.

use core::marker::PhantomData;
use core::ops::RangeInclusive;

use crate::error::{Error, Parameter};
use crate::state::{codes, plain};

use super::legs::choice::{All, Legs};

/// The promises that can be made: mean times between false alarms from 100 to 10¹⁵ rows.
pub const MEAN_TIMES: RangeInclusive<f32> = 100.0..=1e15;

/// The learning rows that are allowed. Over more, rounding of a mean in `f32` would outweigh the
/// rows.
pub const LEARNING_ROWS: RangeInclusive<u32> = 256..=1 << 22;

/// Learning rows from which the promise that they support grows faster than they do.
const FEW: f32 = 400.0;

/// What a reading that is not a number means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum NotANumber {
    /// An error: the row is refused.
    Refused,
    /// The channel has no reading in this row; the others count.
    Missing,
}

codes!(NotANumber {
    Refused = 0 "refused",
    Missing = 1 "missing",
});

/// The settings of a [`Detector`](super::Detector) with the legs `L`.
///
/// ```
/// use fastmmd::Fourier;
/// use fastmmd::drift::{Config, Detector};
///
/// static MAP: Fourier<3, 32> = Fourier::additive(1);
/// let config = Config { learning_rows: 16_384, ..Config::rows(100_000.0) };
/// let mut detector = Detector::new(&MAP, config)?;
/// detector.push(&[0.1, 0.2, 0.3])?;
/// # Ok::<(), fastmmd::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(bound = ""))]
pub struct Config<L = All> {
    /// The promise: mean time between false alarms (average run length), in rows.
    pub mean_time_between_false_alarms: f32,
    /// Rows to learn from, all of which should be healthy.
    pub learning_rows: u32,
    /// What a reading that is not a number means.
    pub not_a_number: NotANumber,
    /// Which legs these settings are for.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub legs: PhantomData<L>,
}

impl Config {
    /// The default settings: 4096 learning rows and all legs. `mean_time` is the promised mean time
    /// between false alarms, in rows.
    #[must_use]
    pub const fn rows(mean_time: f32) -> Self {
        Self {
            mean_time_between_false_alarms: mean_time,
            learning_rows: 4096,
            not_a_number: NotANumber::Refused,
            legs: PhantomData,
        }
    }

    /// The default settings for rows at `rate` hertz and a promised mean time between false
    /// alarms in seconds.
    #[must_use]
    pub const fn seconds(rate: f32, mean_time: f32) -> Self {
        Self::rows(rate * mean_time)
    }
}

impl<L> Config<L> {
    /// The same settings for other legs.
    #[must_use]
    pub const fn with_legs<K: Legs>(self) -> Config<K> {
        Config {
            mean_time_between_false_alarms: self.mean_time_between_false_alarms,
            learning_rows: self.learning_rows,
            not_a_number: self.not_a_number,
            legs: PhantomData,
        }
    }

    /// Refuses settings that mean nothing.
    ///
    /// # Errors
    /// [`Error::NonFinite`] or [`Error::OutOfRange`], naming the parameter, for a mean time outside
    /// [`MEAN_TIMES`] or learning rows outside [`LEARNING_ROWS`].
    pub const fn check(&self) -> Result<(), Error> {
        let time = self.mean_time_between_false_alarms;
        if !time.is_finite() {
            return Err(Error::NonFinite(Parameter::MeanTime));
        }
        if !(time >= *MEAN_TIMES.start() && time <= *MEAN_TIMES.end()) {
            return Err(Error::OutOfRange(Parameter::MeanTime));
        }
        let rows = self.learning_rows;
        if rows < *LEARNING_ROWS.start() || rows > *LEARNING_ROWS.end() {
            return Err(Error::OutOfRange(Parameter::LearningRows));
        }
        Ok(())
    }

    /// The longest promise that so many learning rows support, in rows: as many as were learned
    /// from where they are few, and ten times as many from 4000 on. Beyond, the mean time kept may
    /// be off by more than a factor of two.
    #[must_use]
    pub const fn supported_mean_time(&self) -> f32 {
        let rows = crate::numeric::row_count(self.learning_rows);
        let factor = rows / FEW;
        let factor = if factor < 1.0 { 1.0 } else { factor };
        rows * if factor > 10.0 { 10.0 } else { factor }
    }

    /// Rows after which readings are standardised.
    pub(super) fn scaling_rows(&self) -> u32 {
        (self.learning_rows / 16).clamp(64, 256)
    }
}

plain!(
    struct Saved {
        mean_time_between_false_alarms: f32,
        learning_rows: u32,
        not_a_number: NotANumber,
    }
);

/// The settings as they stand in a record, which does not know of types.
#[derive(Clone, Copy)]
pub(super) struct Saved {
    mean_time_between_false_alarms: f32,
    learning_rows: u32,
    not_a_number: NotANumber,
}

impl<L> From<&Config<L>> for Saved {
    fn from(config: &Config<L>) -> Self {
        Self {
            mean_time_between_false_alarms: config.mean_time_between_false_alarms,
            learning_rows: config.learning_rows,
            not_a_number: config.not_a_number,
        }
    }
}

impl<L> From<Saved> for Config<L> {
    fn from(saved: Saved) -> Self {
        Self {
            mean_time_between_false_alarms: saved.mean_time_between_false_alarms,
            learning_rows: saved.learning_rows,
            not_a_number: saved.not_a_number,
            legs: PhantomData,
        }
    }
}
