//! What the statistic of one window does while all is well, and where its alarm threshold lies.

use crate::numeric::{exp, larger, ln, normal_tail, rounded, row_count, sqrt};
use crate::state::fields;

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

/// Running moments and block maxima of the statistic R of one window: 36 bytes.
///
/// R itself is autocorrelated, over rows of the window and with the data; the mean of the
/// maxima over blocks of rows sees all of it, and the first three moments give the decay of the
/// tail beyond.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub(crate) struct Null {
    pub(crate) rows: u32,
    pub(crate) mean: f32,
    /// Second and third central moment.
    pub(crate) second: f32,
    pub(crate) third: f32,
    /// Largest value, and rows, of the block at hand.
    pub(crate) block_largest: f32,
    pub(crate) block_rows: u32,
    /// Whole blocks, and mean and variance of their largest values.
    pub(crate) blocks: u32,
    pub(crate) largest_mean: f32,
    pub(crate) largest_second: f32,
}

impl Null {
    pub(crate) const fn new() -> Self {
        Self {
            rows: 0,
            mean: 0.0,
            second: 0.0,
            third: 0.0,
            block_largest: 0.0,
            block_rows: 0,
            blocks: 0,
            largest_mean: 0.0,
            largest_second: 0.0,
        }
    }

    /// Rows of a block for a window of `length` rows in `learning` rows of learning.
    pub(crate) fn block_of(length: u32, learning: u32) -> u32 {
        length.saturating_mul(2).max(learning / 32).max(1)
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

    /// Variance, and the share of it that few independent values hide: R moves with the window, so that `rows` values hold
    /// about `rows`/`length` independent ones.
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

fields!(Null {
    rows: u32,
    mean: f32,
    second: f32,
    third: f32,
    block_largest: f32,
    block_rows: u32,
    blocks: u32,
    largest_mean: f32,
    largest_second: f32,
});
