//! Readings that do not come: for too long, or too often.

use crate::numeric::{Number, larger, ln_f32, row_count, smaller};
use crate::state::{NonNegative, state};

use super::stuck::{Overdue, Runs};

/// The share of missing readings that is looked for: TIMES·p + MORE, where p was learned.
const TIMES: f32 = 2.0;
const MORE: f32 = 0.05;
/// What the sum needs beyond the logarithm of the promised mean time, in nats, because it shares the
/// promise with other statistics.
const BEYOND: f32 = 2.0;
/// How far the sum may go beyond its threshold, so that it can come back.
const CEILING: f32 = 2.0;
/// Largest learned share.
const MOST: f32 = 0.9;

state! {
    /// Watches a channel for missing readings: their runs, and their rate by a cumulative sum of
    /// log-likelihoods against a rate that is [`TIMES`] as large and [`MORE`]. 40 bytes.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub(crate) struct Gaps<N: Number> {
        runs: Runs,
        sum: NonNegative<N>,
        /// While learning, gaps that began; after it, rows since the sum was 0.
        rows: u32,
        /// What a missing reading adds to the sum, and what one that comes takes off, in nats.
        up: NonNegative<N>,
        down: NonNegative<N>,
        open: NonNegative<N>,
        /// Whether the sum has passed its threshold, and not been 0 since.
        losing: bool,
    }
}

impl<N: Number> Gaps<N> {
    /// Takes in whether the reading of a row is missing.
    pub(crate) fn push(&mut self, missing: bool) {
        if !self.runs.is_armed() {
            self.rows = self.rows.saturating_add(u32::from(missing && self.runs.run == 0));
            self.runs.push(missing);
            return;
        }
        self.runs.push(missing);
        // Nearly always.
        if !missing && self.sum.0 <= N::ZERO {
            return;
        }
        self.sum_up(missing);
    }

    #[inline(never)]
    fn sum_up(&mut self, missing: bool) {
        let sum = if missing { self.sum.0 + self.up.0 } else { self.sum.0 - self.down.0 };
        self.sum.0 = sum.or_more(N::ZERO).or_less(self.open.0 + N::of(CEILING));
        let some = self.sum.0 > N::ZERO;
        self.rows = if some { self.rows.saturating_add(1) } else { 0 };
        self.losing = some && (self.losing || self.sum.0 > self.open.0);
    }

    /// Ends learning after `rows` rows. As [`Runs::arm`]; a gap counts once, however long gaps were
    /// on average, so that those that come in bursts do not count as many.
    pub(crate) fn arm(&mut self, rows: u32, mean_time: f32, least: u32) {
        let length = larger(row_count(self.runs.repeats()) / row_count(self.rows.max(1)), 1.0);
        let usual = (row_count(self.runs.repeats()) + 1.0) / (row_count(rows) + 2.0);
        let usual = smaller(usual, MOST);
        let more = smaller(TIMES * usual + MORE, 0.5 * (1.0 + usual));
        self.up.0 = N::of(ln_f32(more / usual) / length);
        self.down.0 = N::of(ln_f32((1.0 - usual) / (1.0 - more)) / length);
        self.open.0 = N::of(ln_f32(larger(mean_time, 2.0)) + BEYOND);
        (self.rows, self.sum.0) = (0, N::ZERO);
        self.runs.arm(rows, mean_time, least);
    }

    /// Whether readings are missing for too long, or too often: for how many rows, and by which
    /// statistic against which threshold.
    pub(crate) fn overdue(&self) -> Option<Overdue> {
        let too_often = || Overdue {
            rows: self.rows,
            allowed: 0,
            statistic: self.sum.0.value(),
            threshold: self.open.0.value(),
        };
        self.runs.overdue().or_else(|| self.losing.then(too_often))
    }

    /// Rows of the present gap.
    pub(crate) fn run(&self) -> u32 {
        self.runs.run
    }

    /// Whether a gap is going on, or readings come too rarely.
    pub(crate) fn is_overdue(&self) -> bool {
        self.losing || self.runs.is_too_long()
    }

    /// The statistic that is nearer to its threshold, over no window; `None` while learning.
    pub(crate) fn status(&self) -> Option<(u32, f32, f32)> {
        let (_, run, limit) = self.runs.status()?;
        let (sum, open) = (self.sum.0.value(), self.open.0.value());
        Some(if sum * limit > run * open { (0, sum, open) } else { (0, run, limit) })
    }

    /// Allows what another channel of its kind has learned to allow.
    pub(crate) fn allow(&mut self, other: &Self) {
        self.runs.allow(&other.runs);
        self.up.0 = self.up.0.or_less(other.up.0);
        self.down.0 = self.down.0.or_more(other.down.0);
    }

    /// Lets gaps as long as the present one pass from now on, and readings that come as rarely.
    pub(crate) fn dismiss(&mut self) {
        self.runs.dismiss();
        if self.losing {
            // A missing reading counts half as much from now on, and one that comes twice.
            self.up.0 = N::of(0.5 * self.up.0.value());
            self.down.0 = N::of(2.0 * self.down.0.value());
        }
        (self.sum.0, self.rows, self.losing) = (N::ZERO, 0, false);
    }

    /// Part of the `rows` rows of learning without a reading.
    pub(crate) fn part_of(&self, rows: u32) -> f32 {
        self.runs.part_of(rows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::Initial;

    /// Rows of readings of which a part is missing, after learning from one of which another is:
    /// the first on which they are overdue.
    fn found(learned: f32, part: f32, rows: u32) -> Option<u32> {
        let (mut gaps, mut word) = (Gaps::<f32>::INITIAL, 1_u32);
        let mut missing = |part: f32| {
            word = word.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            ((word >> 8) as f32 / 16_777_216.0) < part
        };
        for _ in 0..4096 {
            gaps.push(missing(learned));
        }
        gaps.arm(4096, 1e5, 12);
        (0..rows).find(|_| {
            gaps.push(missing(part));
            gaps.is_overdue()
        })
    }

    #[test]
    #[cfg_attr(miri, ignore = "too slow when interpreted")]
    fn readings_that_come_more_rarely_are_noticed() {
        for (learned, part, within) in
            [(0.0, 0.2, 60), (0.05, 0.4, 60), (0.05, 0.2, 300), (0.3, 0.8, 100)]
        {
            let found = found(learned, part, 2000);
            assert!(found.is_some_and(|row| row < within), "{learned} {part} {found:?}");
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "too slow when interpreted")]
    fn as_many_as_before_are_not() {
        for part in [0.0, 0.01, 0.05, 0.3, 0.6] {
            assert_eq!(found(part, part, 100_000), None, "{part}");
        }
    }

    #[test]
    fn dismissed_it_is_over() {
        let mut gaps = Gaps::<f32>::INITIAL;
        for _ in 0..1000 {
            gaps.push(false);
        }
        gaps.arm(1000, 1e5, 12);
        for row in 0..60 {
            gaps.push(row % 3 == 0);
        }
        assert!(gaps.is_overdue());
        gaps.dismiss();
        assert!(!gaps.is_overdue() && gaps.overdue().is_none());
    }
}
