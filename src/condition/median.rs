//! The median distance between rows, the usual bandwidth of a kernel (median heuristic).

use super::scale::check_row;
use crate::error::Error;
use crate::numeric::sqrt_f32;
use crate::shape::{Fixed, Length, Per};
use crate::state::{Initial, state};

/// Anchors kept; each new row is compared with one of the older half.
const ANCHORS: usize = 8;

/// The median distance of rows of C channels, for a C known at compile time: see
/// [`MedianDistanceOf`].
pub type MedianDistance<const C: usize> = MedianDistanceOf<Fixed<C>>;

state! {
    /// Streaming median of the Euclidean distance between rows that are not neighbours, the usual
    /// bandwidth of a kernel (median heuristic). 32·C + 60 bytes.
    ///
    /// Eight earlier rows are kept as anchors; every `spacing` rows, the newest replaces the oldest.
    /// Every row is compared with one of the four oldest anchors, which are four to eight spacings
    /// back: where readings are autocorrelated, neighbours are closer than independent rows. The
    /// median of the squared distances is estimated by the P² algorithm (Jain and Chlamtac, 1985).
    ///
    /// Pairs of equal rows are left out: of quantised readings, more than half of all pairs may be
    /// equal, and 0 is no bandwidth.
    #[derive(Debug, Clone, PartialEq)]
    pub struct MedianDistanceOf<C: Length> {
        spacing: u32 = 1,
        rows: u32,
        anchors: [Per<C, f32>; ANCHORS],
        median: RunningMedian,
    }
}

impl<const C: usize> MedianDistance<C> {
    /// An estimate that has seen nothing, with a new anchor every `spacing` rows (at least 1).
    #[must_use]
    pub const fn new(spacing: u32) -> Self {
        let mut distance = Self::INITIAL;
        distance.space(spacing);
        distance
    }
}

impl<C: Length> MedianDistanceOf<C> {
    /// Sets the rows between anchors.
    pub(crate) const fn space(&mut self, spacing: u32) {
        self.spacing = if spacing == 0 { 1 } else { spacing };
    }

    /// Takes a row into account, in the units the distance is wanted in. O(C).
    ///
    /// # Errors
    /// [`Error::NonFinite`] or [`Error::OutOfRange`], naming the channel, as for
    /// [`Scale::push`](super::ScaleOf::push).
    pub fn push(&mut self, row: &C::Slice<f32>) -> Result<(), Error> {
        check_row(row.as_ref())?;
        self.take_in(row.as_ref());
        Ok(())
    }

    /// Takes a row of finite values into account.
    pub(crate) fn take_in(&mut self, row: &[f32]) {
        let spacing = self.spacing.max(1);
        // Anchors laid before this row. The next one replaces the oldest, and the slots after that
        // hold the next oldest.
        // Rounded up, by a division that cannot panic.
        let whole = self.rows.checked_div(spacing).unwrap_or(0);
        let laid = whole.saturating_add(u32::from(!self.rows.is_multiple_of(spacing))) as usize;
        if laid >= ANCHORS {
            let turn = (self.rows % 4) as usize;
            if let Some(anchor) = self.anchors.get(laid.wrapping_add(turn) % ANCHORS) {
                let squares = row.iter().zip(anchor.iter()).map(|(x, a)| (x - a) * (x - a));
                let squared = squares.sum::<f32>();
                if squared > 0.0 {
                    self.median.push(squared);
                }
            }
        }
        if self.rows.is_multiple_of(spacing)
            && let Some(slot) = self.anchors.get_mut(laid % ANCHORS)
        {
            for (value, x) in slot.iter_mut().zip(row) {
                *value = *x;
            }
        }
        self.rows = self.rows.saturating_add(1);
    }

    /// The median distance of rows that differ, or `None` before five of them have been seen.
    #[must_use]
    pub fn median(&self) -> Option<f32> {
        self.median.value().map(sqrt_f32).filter(|median| *median > 0.0)
    }
}

state! {
    /// The P² estimate of a median: five markers, 44 bytes.
    #[derive(Debug, Clone, Copy, PartialEq)]
    struct RunningMedian {
        count: u32,
        heights: [f32; 5],
        positions: [f32; 5] = [1.0, 2.0, 3.0, 4.0, 5.0],
    }
}

impl RunningMedian {
    fn value(&self) -> Option<f32> {
        let [_, _, middle, _, _] = self.heights;
        (self.count >= 5).then_some(middle)
    }

    #[inline]
    fn push(&mut self, x: f32) {
        if let Some(height) = self.heights.get_mut(self.count as usize) {
            *height = x;
            self.count += 1;
            if self.count == 5 {
                self.heights.sort_unstable_by(f32::total_cmp);
            }
            return;
        }
        self.count = self.count.saturating_add(1);
        let [lowest, .., highest] = &mut self.heights;
        *lowest = lowest.min(x);
        *highest = highest.max(x);
        // Markers above the new value move up by one.
        let [_, inner @ .., last] = &mut self.positions;
        let [_, h1, h2, h3, _] = self.heights;
        for (position, height) in inner.iter_mut().zip([h1, h2, h3]) {
            if x < height {
                *position += 1.0;
            }
        }
        *last += 1.0;
        for (marker, quantile) in [(1_usize, 0.25), (2, 0.5), (3, 0.75)] {
            self.adjust(marker, quantile);
        }
    }

    /// Moves a marker by one position towards its quantile, its height along a parabola.
    fn adjust(&mut self, marker: usize, quantile: f32) {
        let around = |values: &[f32; 5]| -> Option<[f32; 3]> {
            values.get(marker - 1..marker + 2)?.try_into().ok()
        };
        let (Some([p0, p1, p2]), Some([h0, h1, h2])) =
            (around(&self.positions), around(&self.heights))
        else {
            return;
        };
        let [.., last] = self.positions;
        let wanted = 1.0 + (last - 1.0) * quantile - p1;
        let step = if wanted >= 1.0 && p2 - p1 > 1.0 {
            1.0
        } else if wanted <= -1.0 && p0 - p1 < -1.0 {
            -1.0
        } else {
            return;
        };
        let parabola = h1
            + step / (p2 - p0)
                * ((p1 - p0 + step) * (h2 - h1) / (p2 - p1)
                    + (p2 - p1 - step) * (h1 - h0) / (p1 - p0));
        let height = if h0 < parabola && parabola < h2 {
            parabola
        } else if step > 0.0 {
            h1 + (h2 - h1) / (p2 - p1)
        } else {
            h1 - (h0 - h1) / (p0 - p1)
        };
        if let (Some(p), Some(h)) = (self.positions.get_mut(marker), self.heights.get_mut(marker)) {
            *p += step;
            *h = height;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_core::{Rng, SeedableRng};
    use rand_xorshift::XorShiftRng;
    use std::vec::Vec;

    /// A roughly normal number: a sum of twelve uniform ones.
    fn normal(rng: &mut XorShiftRng) -> f32 {
        (0..12).map(|_| rng.next_u32() as f32 / u32::MAX as f32).sum::<f32>() - 6.0
    }

    /// Largest relative error over 20 seeds of autoregressive rows of 3 channels.
    fn worst_error(correlation: f32, rows: u32, spacing: u32) -> f32 {
        (0..20)
            .map(|seed| {
                let mut rng = XorShiftRng::seed_from_u64(seed);
                let mut median = MedianDistance::<3>::new(spacing);
                let mut row = [0.0; 3];
                let mut kept = Vec::new();
                for _ in 0..rows {
                    for x in &mut row {
                        let noise = (1.0 - correlation * correlation).sqrt() * normal(&mut rng);
                        *x = correlation * *x + noise;
                    }
                    median.push(&row).unwrap();
                    kept.push(row);
                }
                let mut all = Vec::new();
                for (i, a) in kept.iter().enumerate() {
                    for b in &kept[..i] {
                        all.push(a.iter().zip(b).map(|(x, y)| (x - y) * (x - y)).sum::<f32>());
                    }
                }
                all.sort_unstable_by(f32::total_cmp);
                (median.median().unwrap() / all[all.len() / 2].sqrt() - 1.0).abs()
            })
            .fold(0.0, f32::max)
    }

    #[test]
    #[cfg_attr(miri, ignore = "too slow when interpreted")]
    fn is_near_the_true_median_with_and_without_autocorrelation() {
        let (independent, correlated) = (worst_error(0.0, 700, 16), worst_error(0.9, 700, 16));
        std::println!("independent {independent:.3}, autocorrelated {correlated:.3}");
        assert!(independent < 0.1 && correlated < 0.2);
    }

    /// Mean over seeds of the estimate over the true median of independent pairs, for a slow
    /// signal whose anchors lie a few of its correlation times back.
    #[test]
    #[cfg_attr(miri, ignore = "too slow when interpreted")]
    fn the_newest_anchor_is_not_compared_with() {
        // The median of |x − y| for normal x and y of variance 1: 0.6745·√2.
        let (truth, correlation) = (0.953_9, 0.99_f32);
        let ratio = (0..20).map(|seed| {
            let mut rng = XorShiftRng::seed_from_u64(seed);
            let mut median = MedianDistance::<1>::new(100);
            let mut x = 0.0;
            for _ in 0..300_000 {
                x = correlation * x + (1.0 - correlation * correlation).sqrt() * normal(&mut rng);
                median.push(&[x]).unwrap();
            }
            median.median().unwrap() / truth / 20.0
        });
        let ratio = ratio.sum::<f32>();
        // With the newest anchor among those compared with it was 0.87.
        assert!((ratio - 0.99).abs() < 0.02, "{ratio}");
    }

    #[test]
    #[cfg_attr(miri, ignore = "too slow when interpreted")]
    fn ties_do_not_count() {
        // A deviation of a fifth of a step; readings that are 0 in 96 of 100 rows.
        let coarse = |rng: &mut XorShiftRng| (0.2 * normal(rng)).round();
        let sparse = |rng: &mut XorShiftRng| {
            let (chance, size) = (rng.next_u32(), normal(rng).abs());
            if chance < u32::MAX / 25 { size } else { 0.0 }
        };
        let of = |reading: &dyn Fn(&mut XorShiftRng) -> f32| {
            let (mut rng, mut median) =
                (XorShiftRng::seed_from_u64(1), MedianDistance::<1>::new(4));
            (0..40_000).for_each(|_| median.push(&[reading(&mut rng)]).unwrap());
            median.median().unwrap()
        };
        assert!((of(&coarse) - 1.0).abs() < 1e-3);
        // The median of |x| for a normal x is 0.67.
        let sparse = of(&sparse);
        assert!((sparse - 0.69).abs() < 0.1, "{sparse}");
    }

    #[test]
    fn says_nothing_before_it_knows() {
        let mut median = MedianDistance::<1>::new(4);
        for _ in 0..200 {
            assert_eq!(median.median(), None);
            median.push(&[1.0]).unwrap();
        }
    }
}
