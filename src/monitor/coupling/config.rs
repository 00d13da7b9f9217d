//! The settings of a coupling monitor.

use crate::error::{
    Error, LEARNING_ROWS, Parameter, SCALING_ROWS, WINDOW_ROWS, check_mean_time, has_rows,
};
use crate::monitor::legs::tail::{Design, Shape, memory_of};
use crate::numeric::{Number, ln_f32, row_count, sqrt_f32};
use crate::state::plain;

plain! {
    /// The settings of a [`Monitor`](super::Monitor).
    #[derive(Debug, Clone, Copy, PartialEq)]
    #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
    #[cfg_attr(feature = "defmt", derive(defmt::Format))]
    pub struct Config {
        /// The promise: mean time between false alarms, in rows.
        pub mean_time_between_false_alarms: f32,
        /// Rows to learn each channel's level and spread from.
        pub scaling_rows: u32,
        /// Rows to learn the coupling from, after those.
        pub learning_rows: u32,
        /// Length of the window that is compared with it, in rows.
        pub window: u32,
    }
}

impl Config {
    /// One false alarm in `mean_time` rows; 256 rows of scaling, 4096 of learning, a window of
    /// 256.
    #[must_use]
    pub const fn rows(mean_time: f32) -> Self {
        Self {
            mean_time_between_false_alarms: mean_time,
            scaling_rows: 256,
            learning_rows: 4096,
            window: 256,
        }
    }

    /// Whether a monitor can be made of these settings.
    ///
    /// # Errors
    /// [`Error::NonFinite`] or [`Error::OutOfRange`], naming the setting. Allowed are a mean time in
    /// [`MEAN_TIMES`](crate::monitor::MEAN_TIMES), from 16 to 2²⁰ scaling rows, a window from 2 to
    /// 2²⁰ rows, and learning rows in [`LEARNING_ROWS`](crate::monitor::LEARNING_ROWS), at least 8
    /// times the window.
    pub const fn check(&self) -> Result<(), Error> {
        if let Err(refused) = check_mean_time(self.mean_time_between_false_alarms) {
            return Err(refused);
        }
        if !has_rows(&SCALING_ROWS, self.scaling_rows) {
            return Err(Error::OutOfRange(Parameter::ScalingRows));
        }
        if !has_rows(&WINDOW_ROWS, self.window) {
            return Err(Error::OutOfRange(Parameter::Window));
        }
        let windows = self.window.saturating_mul(8);
        if !has_rows(&LEARNING_ROWS, self.learning_rows) || self.learning_rows < windows {
            return Err(Error::OutOfRange(Parameter::LearningRows));
        }
        Ok(())
    }
}

impl Config {
    /// Rows of scaling and learning together.
    pub(super) const fn rows_to_learn(&self) -> u32 {
        self.scaling_rows.saturating_add(self.learning_rows)
    }

    /// What is known of the statistic beforehand.
    pub(super) fn design(&self) -> Design {
        Design {
            shape: Shape::Distance,
            block: Design::block_of(self.window, self.learning_rows),
            window: self.window,
            ln_time: ln_f32(self.mean_time_between_false_alarms),
            unit: 0.0,
            // Covariances of features within ±√2 are at most 2, so two are at most 4 apart.
            reach: 4.0 * sqrt_f32(row_count(self.window)),
            memory: memory_of(self.learning_rows),
            raise: f32::raise(self.window, self.learning_rows),
        }
    }
}
