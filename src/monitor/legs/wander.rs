//! Does the level of a healthy channel wander? By the means of 16 blocks of the learning rows: Von
//! Neumann's ratio of their steps to their variance, and the KPSS test for a level that stays.

use crate::condition::Correction;
use crate::numeric::{Number, larger, row_count, smaller, sqrt_f32, within};
use crate::state::{NonNegative, codes, plain_states, state};

use super::{DERIVED, LARGEST};

/// Blocks of learning whose means are compared.
pub(crate) const BLOCKS: u32 = 16;

/// Whether the level of a channel stays where it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Steadiness {
    /// It stays where it is.
    Steady,
    /// It may wander: alarms of the level need more evidence.
    Doubtful,
    /// It wanders, as that of a random walk: it says nothing, and its legs are off.
    Wandering,
}

codes!(Steadiness {
    Steady = 0 "steady",
    Doubtful = 1 "doubtful",
    Wandering = 2 "wandering",
});
plain_states!(Steadiness = Self::Steady);

state! {
    /// Means of [`BLOCKS`] blocks of the learning rows.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub(crate) struct Wander<N: Number> {
        sum: N::Sum => up to DERIVED,
        rows: u32,
        blocks: u32,
        last: f32,
        mean: f32,
        /// Sums of squares: of block means about their mean, and of the steps between them.
        squares: NonNegative,
        steps: NonNegative,
        /// Σᵢ Sᵢ² and Σᵢ i·Sᵢ for the running sums Sᵢ of block means.
        total: f32,
        totals_square: NonNegative,
        weighted: f32,
    }
}

impl<N: Number> Wander<N> {
    /// Takes a standardised value of one of `learning_rows` rows.
    pub(crate) fn learn(&mut self, value: N, learning_rows: u32) {
        let block = (learning_rows / BLOCKS).max(1);
        value.take_into(&mut self.sum);
        self.rows = self.rows.saturating_add(1);
        if self.rows >= block {
            self.end_block(block);
        }
    }

    #[inline(never)]
    fn end_block(&mut self, block: u32) {
        let mean = within(N::sum_value(&self.sum) / row_count(block), LARGEST);
        (self.sum, self.rows) = (N::sum_of(0.0), 0);
        self.blocks = self.blocks.saturating_add(1);
        let count = row_count(self.blocks);
        if self.blocks > 1 {
            self.steps.0 += (mean - self.last) * (mean - self.last);
        }
        self.last = mean;
        let step = mean - self.mean;
        self.mean += step / count;
        self.squares.0 += larger(step * (mean - self.mean), 0.0);
        self.total = within(self.total + mean, LARGEST);
        self.totals_square.0 += self.total * self.total;
        self.weighted = within(self.weighted + count * self.total, LARGEST);
    }

    /// Goes on as if all values had been measured as they will be.
    pub(crate) fn correct(&mut self, Correction { shift, factor }: Correction) {
        let count = row_count(self.blocks);
        let of_squares = count * (count + 1.0) * (2.0 * count + 1.0) / 6.0;
        let squared = factor * factor;
        let totals = self.totals_square.0 - 2.0 * shift * self.weighted;
        self.totals_square.0 = larger(squared * (totals + shift * shift * of_squares), 0.0);
        self.weighted = factor * (self.weighted - shift * of_squares);
        self.total = factor * (self.total - shift * count);
        let sum = N::sum_value(&self.sum) - shift * row_count(self.rows);
        self.sum = N::sum_of(factor * sum);
        self.last = factor * (self.last - shift);
        self.mean = factor * (self.mean - shift);
        self.squares.0 *= squared;
        self.steps.0 *= squared;
        // Only those of a forged state are beyond.
        for number in [&mut self.weighted, &mut self.total, &mut self.last, &mut self.mean] {
            *number = within(*number, LARGEST);
        }
        for square in [&mut self.totals_square, &mut self.squares, &mut self.steps] {
            square.0 = smaller(square.0, DERIVED * DERIVED);
        }
    }

    /// Mean of the learning rows, in standardised units.
    pub(crate) fn mean(&self) -> f32 {
        self.mean
    }

    /// Von Neumann's ratio: 2 for independent blocks, near 0 for a walk or a trend.
    pub(crate) fn ratio(&self) -> f32 {
        if self.blocks < 4 || self.squares.0 <= 0.0 { 2.0 } else { self.steps.0 / self.squares.0 }
    }

    /// The statistic of Kwiatkowski, Phillips, Schmidt and Shin, with the variance of steps: beyond
    /// 0.46 in one of twenty channels that stay.
    pub(crate) fn kpss(&self) -> f32 {
        if self.blocks < 4 || self.steps.0 <= 0.0 {
            return 0.0;
        }
        let count = row_count(self.blocks);
        let mean = self.total / count;
        let squares = self.totals_square.0 - 2.0 * mean * self.weighted
            + mean * mean * count * (count + 1.0) * (2.0 * count + 1.0) / 6.0;
        squares / (count * count) / (self.steps.0 / (2.0 * (count - 1.0)))
    }

    /// How far the second half of the blocks lies above the first, if the level rose evenly: by
    /// Σᵢ i·Sᵢ, in which early means weigh more.
    pub(crate) fn rise(&self) -> f32 {
        if self.blocks < 4 {
            return 0.0;
        }
        let n = row_count(self.blocks);
        let squares = n * (n + 1.0) * (2.0 * n + 1.0) / 6.0;
        let cubes = 0.25 * n * n * (n + 1.0) * (n + 1.0);
        // What it would be for means of 1, 2, …, n, less what their mean adds.
        let even = 0.5 * (cubes + squares) - 0.5 * (n + 1.0) * squares;
        0.5 * n * (self.weighted - self.total / n * squares) / even
    }

    /// Deviation of the learned mean, from that of block means. Blocks that go the same way tell
    /// less of it, and those that alternate, as over a cycle, tell more: (4 − r)/r for a first-order
    /// autoregression of blocks with von Neumann's ratio r.
    pub(crate) fn error(&self) -> f32 {
        let count = row_count(self.blocks.max(2));
        let ratio = larger(self.ratio(), 0.25);
        let dependence = if ratio < 2.0 { 2.0 } else { larger(4.0 - ratio, 0.4) } / ratio;
        sqrt_f32(self.squares.0 / (count - 1.0) / count * dependence)
    }

    /// Whether the level stays: of channels that do, one in some thousand is called wandering, and one
    /// in sixty doubtful.
    pub(crate) fn steadiness(&self) -> Steadiness {
        let (ratio, kpss) = (self.ratio(), self.kpss());
        if ratio < 0.65 || kpss > 2.2 {
            Steadiness::Wandering
        } else if ratio < 1.0 || kpss > 1.0 {
            Steadiness::Doubtful
        } else {
            Steadiness::Steady
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::Initial;

    #[test]
    fn corrected_it_is_as_if_measured_so_from_the_start() {
        let value = |row: u32| ((row * 7919) % 1000) as f32 / 100.0 + row as f32 / 200.0;
        let (mut corrected, mut straight) = (Wander::<f32>::INITIAL, Wander::<f32>::INITIAL);
        let correction = Correction { shift: 3.0, factor: 0.25 };
        for row in 0..1000 {
            if row == 600 {
                corrected.correct(correction);
            }
            let later = correction.factor * (value(row) - correction.shift);
            corrected.learn(if row < 600 { value(row) } else { later }, 1024);
            straight.learn(later, 1024);
        }
        assert!((corrected.ratio() - straight.ratio()).abs() < 1e-3);
        assert!((corrected.kpss() / straight.kpss() - 1.0).abs() < 1e-2);
        assert!((corrected.error() / straight.error() - 1.0).abs() < 1e-3);
        // A trend, of 0.00125 a row: 8 blocks of 64 rows.
        assert_eq!(straight.steadiness(), Steadiness::Wandering);
        assert!((straight.rise() - 0.64).abs() < 0.05, "{}", straight.rise());
        assert!((corrected.rise() / straight.rise() - 1.0).abs() < 1e-2);
    }
}
