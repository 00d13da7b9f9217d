//! Settings: what a user states.

use core::fmt;
use core::marker::PhantomData;
use core::ops::RangeInclusive;

use crate::error::{self, Error, Parameter, check_mean_time, has_rows};
use crate::numeric::{row_count, whole};
use crate::state::{codes, plain};

use super::legs::choice::{All, Cycle, Cyclic, Legs};

/// The promises that can be made: mean times between false alarms from 100 to 10¹⁵ rows.
pub const MEAN_TIMES: RangeInclusive<f32> = error::MEAN_TIME;

/// The learning rows that are allowed: 256 to 2²². With more, rounding in `f32` would add more error
/// to a mean than further rows remove.
pub const LEARNING_ROWS: RangeInclusive<u32> = error::LEARNING_ROWS;

/// The periods of a cycle that are allowed, in rows: 4 to 2²⁰. Learning has to hold
/// [`LEAST_CYCLES`] of them.
pub const PERIODS: RangeInclusive<f32> = error::PERIOD;

/// The rows of a lasting drift after which it may be learned as healthy: at least 1.
pub const RELEARN_ROWS: RangeInclusive<u32> = error::RELEARN_ROWS;

/// Cycles that learning has to hold: two for the profile, and two for thresholds.
pub const LEAST_CYCLES: u16 = 4;

/// Parts of a cycle in the profile that [`Config::with_period`] gives.
pub const CYCLE_BINS: usize = 32;

/// Up to this many learning rows m, the longest promise that they support is m rows; above, it is m²
/// over this number.
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

/// Declares the settings with their defaults and how they are saved. `=> since N` marks one that
/// records before version N do not have, which then has its default.
macro_rules! settings {
    (
        $(#[$meta:meta])*
        pub struct Config<L>($given:ident: $number:ty) {
            $(
                $(#[$field_meta:meta])*
                pub $field:ident: $kind:ty = $default:expr $(=> since $version:literal)?
            ),* $(,)?
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq)]
        #[cfg_attr(feature = "defmt", derive(defmt::Format))]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
        #[cfg_attr(feature = "serde", serde(bound = ""))]
        pub struct Config<L = All> {
            $($(#[$field_meta])* pub $field: $kind,)*
            /// Which legs these settings are for.
            #[cfg_attr(feature = "serde", serde(skip))]
            pub legs: PhantomData<L>,
        }

        impl Config {
            /// The default settings: 4096 learning rows and all legs. `mean_time` is the promised
            /// mean time between false alarms, in rows.
            #[must_use]
            pub const fn rows($given: $number) -> Self {
                Self { $($field: $default,)* legs: PhantomData }
            }
        }

        impl<L> Config<L> {
            /// The same settings for other legs.
            #[must_use]
            pub const fn with_legs<K: Legs>(self) -> Config<K> {
                Config { $($field: self.$field,)* legs: PhantomData }
            }
        }

        plain! {
            /// The settings as they stand in a record, which does not know of types.
            #[derive(Clone, Copy)]
            pub(super) struct Saved {
                $($field: $kind $(= $default => since $version)?,)*
            }
        }

        impl<L> From<&Config<L>> for Saved {
            fn from(config: &Config<L>) -> Self {
                Self { $($field: config.$field,)* }
            }
        }

        impl<L> From<Saved> for Config<L> {
            fn from(saved: Saved) -> Self {
                Self { $($field: saved.$field,)* legs: PhantomData }
            }
        }
    };
}

settings! {
    /// The settings of a [`Detector`](super::Detector) with the legs `L`.
    ///
    /// ```
    /// use fastmmd::{Config, Detector, Fourier};
    ///
    /// static MAP: Fourier<3, 32> = Fourier::additive(1);
    /// let config = Config { learning_rows: 16_384, ..Config::rows(100_000.0) };
    /// let mut detector = Detector::new(&MAP, config)?;
    /// detector.push(&[0.1, 0.2, 0.3])?;
    /// # Ok::<(), fastmmd::Error>(())
    /// ```
    pub struct Config<L>(mean_time: f32) {
        /// The promise: mean time between false alarms (average run length), in rows.
        pub mean_time_between_false_alarms: f32 = mean_time,
        /// Rows to learn from, all of which should be healthy. More rows support a longer promise:
        /// see [`supported_mean_time`](Config::supported_mean_time).
        pub learning_rows: u32 = 4096,
        /// What a reading that is not a number means.
        pub not_a_number: NotANumber = NotANumber::Refused,
        /// Length, in rows, of a cycle that the signal is known to have, such as a day or a turn of
        /// a machine. It need not be whole. Level and spread are then learned by the phase of the
        /// cycle, from the first half of the learning rows. All of them together have to hold at
        /// least four cycles. Needs legs that carry a profile: see
        /// [`with_period`](Config::with_period).
        pub period: Option<f32> = None,
        /// After a drift has lasted for this many rows without a break, everything is learned anew,
        /// thresholds included: what is there then is taken for healthy. `None`: never, a drift
        /// stays open.
        pub relearn_after: Option<u32> = None,
    }
}

/// A promise that the settings cannot be trusted to keep.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Warning {
    /// The mean time between false alarms is far longer than the learning rows support.
    PromiseBeyondLearning {
        /// The longest that they support, in rows.
        supported: f32,
    },
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::PromiseBeyondLearning { supported } => write!(
                f,
                "the promised time between false alarms is longer than the learning rows support, \
                 which is {} rows",
                // Whole: printing a fraction takes code that can panic.
                whole(*supported)
            ),
        }
    }
}

impl Config {
    /// The default settings for rows at `rate` hertz and a promised mean time between false
    /// alarms in seconds.
    #[must_use]
    pub const fn seconds(rate: f32, mean_time: f32) -> Self {
        Self::rows(rate * mean_time)
    }

    /// The same settings for a signal with a cycle of `period` rows. A profile keeps level and
    /// spread of each of [`CYCLE_BINS`] parts of the cycle: 384 bytes a channel. For another number
    /// of parts, see [`Cyclic`].
    ///
    /// ```
    /// use fastmmd::{Config, Detector, Fourier};
    ///
    /// static MAP: Fourier<1, 32> = Fourier::additive(1);
    /// // A reading a minute, and a cycle of a day.
    /// let config = Config { learning_rows: 14 * 1440, ..Config::rows(1e5) };
    /// let mut detector = Detector::new(&MAP, config.with_period(1440.0))?;
    /// detector.push(&[21.5])?;
    /// # Ok::<(), fastmmd::Error>(())
    /// ```
    #[must_use]
    pub const fn with_period(self, rows: f32) -> Config<Cyclic<CYCLE_BINS>> {
        let mut config = self.with_legs();
        config.period = Some(rows);
        config
    }
}

impl<L: Legs> Config<L> {
    /// Refuses settings that mean nothing.
    ///
    /// # Errors
    /// [`Error::NonFinite`] or [`Error::OutOfRange`], naming the parameter, for a mean time outside
    /// [`MEAN_TIMES`], learning rows outside [`LEARNING_ROWS`], a period outside [`PERIODS`], with
    /// fewer than [`least_learning_rows`](Self::least_learning_rows) or for legs without a profile,
    /// or 0 rows before relearning.
    pub const fn check(&self) -> Result<(), Error> {
        if let Err(refused) = check_mean_time(self.mean_time_between_false_alarms) {
            return Err(refused);
        }
        if !has_rows(&LEARNING_ROWS, self.learning_rows) {
            return Err(Error::OutOfRange(Parameter::LearningRows));
        }
        if let Some(period) = self.period {
            if !period.is_finite() {
                return Err(Error::NonFinite(Parameter::Period));
            }
            let allowed = period >= *PERIODS.start() && period <= *PERIODS.end();
            let seen = self.learning_rows >= self.least_learning_rows();
            if !(allowed && seen && <L::Cycle as Cycle>::BINS > 0) {
                return Err(Error::OutOfRange(Parameter::Period));
            }
        }
        match self.relearn_after {
            Some(rows) if !has_rows(&RELEARN_ROWS, rows) => {
                Err(Error::OutOfRange(Parameter::RelearnRows))
            }
            _ => Ok(()),
        }
    }

    /// The fewest learning rows that go with these settings: the start of [`LEARNING_ROWS`], or
    /// [`LEAST_CYCLES`] cycles of the period, rounded up, if they are more.
    ///
    /// ```
    /// use fastmmd::Config;
    ///
    /// let config = Config::rows(1e4);
    /// assert_eq!(config.least_learning_rows(), 256);
    /// assert_eq!(config.with_period(1000.3).least_learning_rows(), 4002);
    /// ```
    #[must_use]
    pub const fn least_learning_rows(&self) -> u32 {
        let least = *LEARNING_ROWS.start();
        let Some(period) = self.period else { return least };
        let cycles = LEAST_CYCLES as f32 * period;
        let whole = whole(cycles);
        let rows = if row_count(whole) < cycles { whole.saturating_add(1) } else { whole };
        if rows > least { rows } else { least }
    }

    /// The longest promise, in rows, that these learning rows support. For m rows, not counting
    /// those of a profile, it is m·min(max(m/400, 1), 10). With a longer promise, false alarms may
    /// come more than twice as often as stated. Up to it they do not, on average over devices, on
    /// the made-up signals of `cargo xtask evaluate`; on some they come far more rarely, as on a
    /// cycle whose noise grows with the level. On recordings they may come more often:
    /// `host-tests/evaluation/tables/servers.md` and `skab.md` tell by how much.
    #[must_use]
    pub const fn supported_mean_time(&self) -> f32 {
        let rows = row_count(self.learning_rows - self.profile_rows());
        let factor = rows / FEW;
        let factor = if factor < 1.0 { 1.0 } else { factor };
        rows * if factor > 10.0 { 10.0 } else { factor }
    }

    /// What the settings promise and cannot be trusted to keep; measured by
    /// `cargo xtask evaluate`.
    pub fn warnings(&self) -> impl Iterator<Item = Warning> + use<L> {
        let supported = self.supported_mean_time();
        let beyond = self.mean_time_between_false_alarms > supported;
        beyond.then_some(Warning::PromiseBeyondLearning { supported }).into_iter()
    }

    /// Rows that the profile by phase is learned from, before all else.
    pub(super) const fn profile_rows(&self) -> u32 {
        if self.period.is_some() { self.learning_rows / 2 } else { 0 }
    }

    /// Rows after which readings are standardised.
    pub(super) fn scaling_rows(&self) -> u32 {
        (self.learning_rows / 16).clamp(64, 256)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One row fewer is refused, whole period or not.
    #[test]
    fn the_least_learning_rows_are_just_enough() {
        for period in [4.0, 64.0, 64.1, 500.0, 1000.3, 262_143.9] {
            let config = Config::rows(1e4).with_period(period);
            let least = config.least_learning_rows();
            assert!(f64::from(least) >= f64::from(LEAST_CYCLES) * f64::from(period));
            assert_eq!(Config { learning_rows: least, ..config }.check(), Ok(()));
            assert!(Config { learning_rows: least - 1, ..config }.check().is_err(), "{period}");
        }
        let longest = Config::rows(1e4).with_period(*PERIODS.end());
        assert_eq!(longest.least_learning_rows(), *LEARNING_ROWS.end());
    }
}
