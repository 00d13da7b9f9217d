//! Runs of something that should not go on: a reading that does not change, or does not come.

use core::ops::{Deref, DerefMut};

use crate::numeric::{Number, larger, ln_f32, row_count, smaller, whole};
use crate::state::state;

/// Something that has gone on for too long.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Overdue {
    /// Rows for which it has.
    pub(crate) rows: u32,
    /// Rows of it that were no alarm.
    pub(crate) allowed: u32,
    /// What is measured, and its threshold.
    pub(crate) statistic: f32,
    pub(crate) threshold: f32,
}

state! {
    /// How long something has gone on, and how long it may: 16 bytes.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub(crate) struct Runs {
        /// Rows for which it has gone on.
        pub(crate) run: u32,
        /// Longest run while learning.
        longest: u32,
        /// Rows while learning on which it went on.
        repeats: u32,
        /// Longest run that is no alarm; 0 while learning.
        pub(crate) limit: u32,
    }
}

state! {
    /// Watches a channel for values that repeat exactly: 20 bytes.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub(crate) struct Stillness<N: Number> {
        last: N::Scalar,
        runs: Runs,
    }
}

impl<N: Number> Stillness<N> {
    /// Takes a value into account, raw as it comes from the sensor.
    pub(crate) fn push(&mut self, value: N::Scalar) {
        // A stuck register does not even change its rounding.
        let repeats = value == self.last;
        self.last = value;
        self.runs.push(repeats);
    }
}

impl<N: Number> Deref for Stillness<N> {
    type Target = Runs;

    fn deref(&self) -> &Runs {
        &self.runs
    }
}

impl<N: Number> DerefMut for Stillness<N> {
    fn deref_mut(&mut self) -> &mut Runs {
        &mut self.runs
    }
}

impl Runs {
    /// Takes in whether it goes on.
    pub(crate) fn push(&mut self, goes_on: bool) {
        self.run = if goes_on { self.run.saturating_add(1) } else { 0 };
        if self.limit == 0 {
            self.longest = self.longest.max(self.run);
            self.repeats = self.repeats.saturating_add(u32::from(goes_on));
        }
    }

    /// Ends learning after `rows` rows: where it goes on by chance, runs are geometric, and the one
    /// that comes once in `mean_time` rows has a known length; coarse or slow sensors have
    /// longer ones, so four times the longest seen is allowed too, and never less than `least`.
    pub(crate) fn arm(&mut self, rows: u32, mean_time: f32, least: u32) {
        let chance = (row_count(self.repeats) + 1.0) / (row_count(rows) + 2.0);
        let by_chance = whole(ln_f32(larger(mean_time, 2.0)) / -ln_f32(smaller(chance, 0.999)));
        self.limit = by_chance.max(self.longest.saturating_mul(4)).max(least);
    }

    /// The present run against the longest that is no alarm, over no window; `None` while learning.
    pub(crate) fn status(&self) -> Option<(u32, f32, f32)> {
        (self.limit > 0).then_some((0, row_count(self.run), row_count(self.limit)))
    }

    /// Allows what another channel of its kind has learned to allow.
    pub(crate) fn allow(&mut self, other: &Self) {
        self.limit = self.limit.max(other.limit);
    }

    /// Lets a run as long as the present one pass from now on, if it is too long.
    pub(crate) fn dismiss(&mut self) {
        if self.is_too_long() {
            self.limit = self.run.saturating_mul(2);
        }
    }

    /// Whether learning is over.
    pub(crate) fn is_armed(&self) -> bool {
        self.limit > 0
    }

    /// Rows while learning on which it went on.
    pub(crate) fn repeats(&self) -> u32 {
        self.repeats
    }

    /// The present run, if it is too long.
    pub(crate) fn overdue(&self) -> Option<Overdue> {
        let (rows, limit) = (self.run, self.limit);
        self.is_too_long().then(|| Overdue {
            rows,
            allowed: limit,
            statistic: row_count(rows),
            threshold: row_count(limit),
        })
    }

    /// Whether it has gone on for too long.
    pub(crate) fn is_too_long(&self) -> bool {
        self.limit > 0 && self.run > self.limit
    }

    /// Part of the `rows` rows of learning on which it went on. A channel that has never moved goes
    /// on being counted.
    pub(crate) fn part_of(&self, rows: u32) -> f32 {
        row_count(self.repeats.min(rows)) / row_count(rows.max(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::Initial;

    #[test]
    fn a_stuck_value_is_noticed_and_a_coarse_sensor_is_not() {
        let (mut fine, mut coarse) = (Stillness::<f32>::INITIAL, Stillness::<f32>::INITIAL);
        for row in 0..1000_u16 {
            fine.push(f32::from(row) * 0.37);
            coarse.push(f32::from(row / 20));
        }
        fine.arm(1000, 1e4, 32);
        coarse.arm(1000, 1e4, 32);
        for _ in 0..33 {
            fine.push(1.0);
        }
        assert!(!fine.is_too_long());
        fine.push(1.0);
        assert!(fine.is_too_long());
        for _ in 0..76 {
            coarse.push(1.0);
        }
        assert!(!coarse.is_too_long());
        for _ in 0..200 {
            coarse.push(1.0);
        }
        assert!(coarse.is_too_long());
        coarse.dismiss();
        assert!(!coarse.is_too_long());
    }
}
