//! Mean and variance of block maxima, in integers.

use crate::numeric::{Maxima, Real, f32_of_weight};
use crate::state::state;

use super::number::Q16;
use super::wide::{Wide, wide_share};

/// Variances are in units of 2⁻³².
const PER_SQUARE: f32 = 4_294_967_296.0;
/// No step is longer, in units of values: the sum of its square and a variance then has 55 bits, which a
/// wide number can keep.
const LONGEST: u32 = (1 << 27) - 1;

state! {
    /// Mean, and variance about it: 8 bytes.
    #[derive(Debug, Clone, Copy, PartialEq)]
    #[doc(hidden)]
    pub struct IntegerMaxima {
        mean: Q16,
        variance: Wide,
    }
}

impl Maxima<Q16> for IntegerMaxima {
    fn take_in(&mut self, root: Q16, count: u32) {
        let count = count.max(1);
        let step = (root - self.mean).in_units();
        // To the nearest: the number of blocks that are remembered is the same for long, so that always
        // rounding the same way would be a bias.
        let moved = (step.unsigned_abs().saturating_add(count / 2) / count).cast_signed();
        self.mean += Q16::plain(if step < 0 { moved.wrapping_neg() } else { moved });
        let step = u64::from(step.unsigned_abs().min(LONGEST));
        let share = u32::MAX / count;
        let variance = self.variance.get() + wide_share(step * step, share);
        // The first maximum has no spread.
        let left = if count == 1 { variance } else { wide_share(variance, share) };
        self.variance = Wide::of(variance - left);
    }

    fn mean(&self) -> f32 {
        self.mean.value()
    }

    fn variance(&self) -> f32 {
        f32_of_weight(self.variance.get()) / PER_SQUARE
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::sampling::Stream;
    use crate::state::Initial;

    /// Maxima of small and of large statistics, against sums of the same weights in `f64`.
    #[test]
    fn mean_and_variance_are_those_of_the_last_blocks() {
        for (least, spread) in [(600, 200), (6_000, 2_000), (2_000_000, 120_000_000)] {
            let mut stream = Stream::new(5);
            let (mut maxima, mut mean, mut variance) = (IntegerMaxima::INITIAL, 0.0, 0.0);
            for block in 1..400_u32 {
                let root = Q16::units(least + i32::try_from(stream.below(spread)).unwrap());
                let count = block.min(24);
                maxima.take_in(root, count);
                let (rate, step) = (1.0 / f64::from(count), f64::from(root.value()) - mean);
                mean += rate * step;
                variance = (1.0 - rate) * (variance + rate * step * step);
            }
            let error = f64::from(maxima.mean()) / mean - 1.0;
            assert!(error.abs() < 0.005, "{least}: {error}");
            let error = f64::from(maxima.variance()) / variance - 1.0;
            assert!(error.abs() < 0.02, "{least}: {error}");
        }
    }
}
