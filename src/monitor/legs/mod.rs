//! The legs that a detector stands on: each looks for one kind of change.
//!
//! Every statistic is compared with its own past ([`tail`]), and all of them by one number: how far
//! the promised mean time would have to be lengthened for the present value to be no alarm, in
//! nats. They share the promise.

pub(crate) mod charts;
pub(crate) mod choice;
pub(crate) mod cusum;
pub(crate) mod joint;
pub(crate) mod range;
pub(crate) mod tail;
pub(crate) mod wander;

use crate::numeric::{f32_of, larger, ln_f32, row_count, sqrt_f32};

use tail::{CALM_NATS, LEAST_MEMORY, Tail};

/// Legs that share the promise.
pub(crate) const LEGS: f32 = 6.5;
/// Times as long as so many learnings are known well enough.
const SEEN: f32 = 2.0;
/// How much more evidence a level needs beyond that, in nats for a nat of mean time.
pub(crate) const WARY_OF_LEVEL: f32 = 2.0;
/// The same for a spread.
pub(crate) const WARY_OF_SPREAD: f32 = 1.0;

/// What follows from the settings for all legs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Plan {
    /// Rows of learning in all.
    pub(crate) learning_rows: u32,
    /// Rows of it from which thresholds are learned.
    pub(crate) collected: u32,
    /// Channels.
    pub(crate) channels: usize,
    /// ln of the promised mean time between false alarms, in rows.
    pub(crate) ln_time: f32,
    /// Rows of a cycle, or 0; and where in it this row is, in units of 2⁻³² turns.
    pub(crate) period: f32,
    pub(crate) phase: u32,
}

impl Plan {
    /// ln of the mean time that each of `charts` statistics of each of `channels` may have, of a
    /// leg with so many shares of the promise.
    pub(crate) fn ln_time_of(&self, shares: f32, charts: usize, channels: usize) -> f32 {
        self.ln_time + ln_f32(LEGS * f32_of(charts.saturating_mul(channels).max(1)) / shares)
    }

    /// What a level or a spread needs more: how far it wanders over times much longer than
    /// learning was is not known from learning. In nats.
    pub(crate) fn doubt(&self, wary: f32) -> f32 {
        wary * larger(self.ln_time - ln_f32(SEEN * row_count(self.learning_rows)), 0.0)
    }

    /// Rows that thresholds remember after learning.
    pub(crate) fn memory(&self) -> u32 {
        self.learning_rows.max(LEAST_MEMORY)
    }
}

/// How a drift ended.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum End {
    /// The data are back.
    ByItself,
    /// Somebody said that it was nothing.
    Dismissed {
        /// How large it was.
        size: f32,
        /// Rows since it was told of.
        rows: u32,
    },
}

/// What a leg says of a row.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Found {
    /// How far beyond its promise, in nats of mean time.
    pub(crate) excess: f32,
    /// Root of the statistic, and of its threshold.
    pub(crate) statistic: f32,
    pub(crate) threshold: f32,
    /// Length of the window, in rows.
    pub(crate) window: u32,
}

impl Found {
    /// Nothing.
    pub(crate) const CALM: Self =
        Self { excess: -CALM_NATS, statistic: 0.0, threshold: 0.0, window: 0 };

    /// Takes in a statistic R, if it is farther beyond its promise.
    #[inline]
    pub(crate) fn take_in(&mut self, tail: &mut Tail, r: f32, window: u32) {
        let excess = tail.excess(r);
        if excess > self.excess {
            *self =
                Self { excess, statistic: sqrt_f32(r), threshold: sqrt_f32(tail.open()), window };
        }
    }

    /// How far beyond its promise it would be, were its root smaller by this factor.
    pub(crate) fn excess_of_part(&self, factor: f32) -> f32 {
        let beyond = self.statistic - self.threshold;
        if beyond <= 0.0 {
            return self.excess;
        }
        self.excess * (factor * self.statistic - self.threshold) / beyond
    }
}
