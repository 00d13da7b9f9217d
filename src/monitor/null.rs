//! What the statistic of one window does while all is well, and where its alarm threshold lies.

use crate::numeric::{exp, larger, ln, normal_tail, rounded, row_count, sqrt, sqrt_f32};
use crate::state::state;

/// Euler's constant: the mean of the standard Gumbel distribution, to which maxima converge.
const EULER: f64 = 0.577_215_664_901_532_9;
/// Least threshold: above what rounding makes of a statistic that should be 0.
const MIN_THRESHOLD: f64 = 1e-6;
/// √6/π: the scale of a Gumbel distribution over its standard deviation.
const SQRT_6_OVER_PI: f64 = 0.779_696_801_233_675_9;
/// Degrees of freedom that a wide kernel is taken to have at least. Fewer shorten the tail, which
/// is right where windows saturate: no window is farther from the reference than any point of the
/// circles. Windows over a kernel much wider than the data never get there.
const WIDE_DEGREES: f64 = 5.0;

state! {
    /// Running moments and block maxima of the statistic R of one window: 36 bytes.
    ///
    /// R itself is autocorrelated, over rows of the window and with the data; the mean of the
    /// maxima over blocks of rows sees all of it, and the first three moments give the decay of
    /// the tail beyond.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub(crate) struct Null {
        pub(crate) rows: u32,
        pub(crate) mean: f32,
        /// Second central moment.
        second: f32,
        /// Third central moment.
        third: f32,
        /// Largest value of the block at hand.
        block_largest: f32,
        /// Rows of the block at hand.
        block_rows: u32,
        /// Whole blocks.
        blocks: u32,
        /// Mean of their largest values.
        largest_mean: f32,
        /// Variance of their largest values.
        largest_second: f32,
    }
}

impl Null {
    /// Rows of a block for a window of `length` rows in `learning` rows of learning.
    pub(crate) const fn block_of(length: u32, learning: u32) -> u32 {
        let (windows, share) = (length.saturating_mul(2), learning / 32);
        let block = if windows > share { windows } else { share };
        if block == 0 { 1 } else { block }
    }

    /// Takes a value into account; moments and maxima are over all values, or over about the
    /// last `memory` ones where that is less. True when a block is complete.
    pub(crate) fn push(&mut self, value: f32, block: u32, memory: u32) -> bool {
        self.rows = self.rows.saturating_add(1);
        let w = 1.0 / row_count(self.rows.min(memory));
        let d = value - self.mean;
        self.mean += w * d;
        self.third =
            (1.0 - w) * (self.third - 3.0 * w * d * self.second + w * (1.0 - 2.0 * w) * d * d * d);
        self.second = (1.0 - w) * (self.second + w * d * d);
        self.block_largest =
            if self.block_rows == 0 { value } else { larger(self.block_largest, value) };
        self.block_rows = self.block_rows.saturating_add(1);
        if self.block_rows < block {
            return false;
        }
        self.blocks = self.blocks.saturating_add(1);
        let w = 1.0 / row_count(self.blocks.min(memory.checked_div(block).unwrap_or(0).max(1)));
        let d = self.block_largest - self.largest_mean;
        self.largest_mean += w * d;
        self.largest_second = (1.0 - w) * (self.largest_second + w * d * d);
        self.block_rows = 0;
        true
    }

    /// The variance, corrected for the number of independent values, and the correction's share:
    /// R moves with the window, so that `rows` values hold about `rows`/`length` independent ones.
    fn variance(&self, length: f64) -> (f64, f64) {
        let ratio = (length / (2.0 * f64::from(self.rows.max(1)))).min(0.4);
        (f64::from(self.second).max(1e-24) / (1.0 - ratio), ratio)
    }

    /// The value of R that this window exceeds about once in `mean_time` rows.
    ///
    /// From the mean M of the block maxima on, the tail is taken as an exponential: of maxima
    /// over `mean_time` rows instead of `block` rows, the mean is M + β·ln(`mean_time`/`block`).
    /// Its scale β comes from the moments: for a sum of gamma variables with variance v and
    /// skewness 2θ/√v, the scale at a distance d beyond the mean is (v + θd)/(d + θ). It is
    /// corrected, by constants found in simulation (`cargo xtask evaluate` measures what they
    /// reach), for few degrees of freedom, for few independent values, and towards the spread of
    /// the maxima, which for an exponential tail is πβ/√6. `wide` says that the kernel is much
    /// wider than the data.
    pub(crate) fn threshold(&self, length: u32, block: u32, mean_time: f32, wide: bool) -> f32 {
        let n = f64::from(length);
        let rows = f64::from(self.rows.max(1));
        let (v, ratio) = self.variance(n);
        let deviation = sqrt(v);
        let skew = f64::from(self.third) / (2.0 * f64::from(self.second).max(1e-24));
        let theta = (skew * (1.0 + 2.0 * ratio)).max(0.001 * deviation);
        let mean = f64::from(self.mean);
        let largest =
            f64::from(if self.blocks == 0 { self.block_largest } else { self.largest_mean });
        let distance = (largest - mean).max(0.3 * deviation);
        let beyond = (ln(f64::from(mean_time) / f64::from(block)) - EULER).max(0.0);
        let scale = |at: f64| (v + theta * at) / (at + theta);
        let fewest = if wide { WIDE_DEGREES } else { 0.0 };
        let degrees = (2.0 * mean * mean / v).max(fewest);
        let blocks = f64::from(self.blocks.max(2));
        let spread = sqrt(f64::from(self.largest_second) * blocks / (blocks - 1.0));
        let from_spread = (SQRT_6_OVER_PI * spread / scale(distance)).clamp(0.3, 1.5);
        let correction =
            1.4 * degrees / (degrees + 1.0) * (1.0 + 0.3 * sqrt(n / rows)) * sqrt(from_spread);
        let near = correction * scale(distance);
        let far = correction * scale(distance + near * beyond);
        // Never 0: after constant data, any movement at all is beyond it.
        rounded((largest + far * beyond).max(MIN_THRESHOLD))
    }

    /// The probability that R of a window of `length` rows is at least `value` while all is well.
    ///
    /// R is taken as a shifted and stretched chi-squared variable with the mean, variance and
    /// skewness learned, made normal by its cube root (Wilson and Hilferty); that the mean was
    /// itself estimated from about 2·rows/length independent values widens it as an F variable.
    pub(crate) fn p_value(&self, length: u32, value: f32) -> f32 {
        let (v, _) = self.variance(f64::from(length));
        let mean = f64::from(self.mean).max(1e-24);
        let second = f64::from(self.second).max(1e-24);
        let third = f64::from(self.third).max(0.0);
        let degrees = (2.0 * mean * mean / v).max(1.2);
        let skew_squared = (third * third / (second * second * second)).max(1e-3);
        // Below one, the tail is heavier than that of chi-squared with these degrees.
        let stretch = (0.85 * 8.0 / (degrees * skew_squared)).clamp(0.15, 1.0);
        let y = (1.0 + (f64::from(value) / mean - 1.0) / sqrt(stretch)).max(1e-6);
        let a = 2.0 / (9.0 * stretch * (degrees / 1.05));
        let b = a * f64::from(length) / (2.0 * f64::from(self.rows.max(1)));
        let root = exp(ln(y) / 3.0);
        let z = ((1.0 - b) * root - (1.0 - a)) / sqrt(b * root * root + a);
        rounded(normal_tail(z))
    }
}

impl Null {
    /// The same windows, compared with a reference farther away: δ = `away`, in units of R.
    ///
    /// With w the window and r the reference, R' = ‖(w − r) + (r − r')‖²: on average R + δ, with a
    /// variance larger by at most 4·δ·R, and at most (√R + √δ)².
    pub(crate) fn seen_from(&self, away: f32) -> Self {
        let farther = |value: f32| {
            let root = sqrt_f32(value.max(0.0)) + sqrt_f32(away);
            root * root
        };
        let stretch = 1.0 + sqrt_f32(away / self.largest_mean.max(1e-9));
        Self {
            mean: self.mean + away,
            second: self.second + 4.0 * away * self.mean,
            block_largest: farther(self.block_largest),
            largest_mean: farther(self.largest_mean),
            largest_second: self.largest_second * stretch * stretch,
            ..*self
        }
    }

    /// The moments and maxima of both, each by its number of rows.
    pub(crate) fn pooled(&self, other: &Self) -> Self {
        let share =
            |own: u32, other: u32| row_count(other) / (row_count(other) + row_count(own)).max(1.0);
        let b = share(self.rows, other.rows);
        let mean = self.mean + b * (other.mean - self.mean);
        let (from, to) = (self.mean - mean, other.mean - mean);
        let third = |null: &Self, d: f32| null.third + 3.0 * d * null.second + d * d * d;
        let c = share(self.blocks, other.blocks);
        let apart = other.largest_mean - self.largest_mean;
        Self {
            rows: self.rows.saturating_add(other.rows),
            mean,
            second: (1.0 - b) * (self.second + from * from) + b * (other.second + to * to),
            third: (1.0 - b) * third(self, from) + b * third(other, to),
            block_largest: self.block_largest.max(other.block_largest),
            block_rows: self.block_rows,
            blocks: self.blocks.saturating_add(other.blocks),
            largest_mean: self.largest_mean + c * apart,
            largest_second: (1.0 - c) * self.largest_second
                + c * other.largest_second
                + c * (1.0 - c) * apart * apart,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::Initial;
    use rand_core::{Rng, SeedableRng};
    use rand_xorshift::XorShiftRng;

    #[test]
    fn pooled_moments_are_those_of_all_values() {
        let mut rng = XorShiftRng::seed_from_u64(6);
        let (mut first, mut second, mut all) = (Null::INITIAL, Null::INITIAL, Null::INITIAL);
        for row in 0..600 {
            let value = rng.next_u32() as f32 / u32::MAX as f32;
            let (null, value) =
                if row < 400 { (&mut first, value) } else { (&mut second, value * value + 1.0) };
            null.push(value, 10, u32::MAX);
            all.push(value, 10, u32::MAX);
        }
        let pooled = first.pooled(&second);
        assert_eq!((pooled.rows, pooled.blocks), (all.rows, all.blocks));
        let pairs = [
            (pooled.mean, all.mean),
            (pooled.second, all.second),
            (pooled.third, all.third),
            (pooled.largest_mean, all.largest_mean),
            (pooled.largest_second, all.largest_second),
        ];
        for (got, wanted) in pairs {
            assert!((got - wanted).abs() < 1e-4, "{got} {wanted}");
        }
        assert_eq!(first.seen_from(0.0).mean, first.mean);
    }
}
