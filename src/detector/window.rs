//! One time scale of a detector.

use crate::mean::Mean;
use crate::null::Null;
use crate::numeric::{f32_of, larger, row_count};
use crate::sincos::Point;
use crate::state::fields;

use super::Baseline;
use super::attribution::{Axes, Signs};

/// The means of S exponential windows over the points of recent rows: 8·S·L bytes.
///
/// Circle by circle, not window by window: a row then meets all windows in one pass, in which
/// several coordinates at a time, and the sums of all windows side by side, can be worked out.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub(super) struct Means<const L: usize, const S: usize> {
    circles: [[Point; S]; L],
}

impl<const L: usize, const S: usize> Means<L, S> {
    pub(super) const fn new() -> Self {
        Self { circles: [[Point { cos: 0.0, sin: 0.0 }; S]; L] }
    }

    /// The points of one window; none for one that is not there.
    pub(super) fn of(&self, window: usize) -> impl Iterator<Item = &Point> {
        self.circles.iter().filter_map(move |circle| circle.get(window))
    }

    /// The points of one window, to be read over.
    pub(super) fn of_mut(&mut self, window: usize) -> impl Iterator<Item = &mut Point> {
        self.circles.iter_mut().filter_map(move |circle| circle.get_mut(window))
    }

    /// Moves each window towards `sample` by its own fraction, and measures the squared distances
    /// from `reference`.
    pub(super) fn blend_and_measure(
        &mut self,
        rates: &[f32; S],
        sample: &Mean<L>,
        reference: &Mean<L>,
    ) -> [f32; S] {
        let mut sums = [0.0; S];
        let points = sample.points.iter().zip(&reference.points);
        for (circle, (point, reference)) in self.circles.iter_mut().zip(points) {
            for ((mean, rate), sum) in circle.iter_mut().zip(rates).zip(&mut sums) {
                mean.cos += rate * (point.cos - mean.cos);
                mean.sin += rate * (point.sin - mean.sin);
                let (cos, sin) = (mean.cos - reference.cos, mean.sin - reference.sin);
                *sum += cos * cos + sin * sin;
            }
        }
        for sum in &mut sums {
            *sum /= f32_of(L);
        }
        sums
    }

    /// The squared distances of all windows from a reference.
    pub(super) fn distances(&self, reference: &Mean<L>) -> [f32; S] {
        let mut sums = [0.0; S];
        for (circle, reference) in self.circles.iter().zip(&reference.points) {
            for (mean, sum) in circle.iter().zip(&mut sums) {
                let (cos, sin) = (mean.cos - reference.cos, mean.sin - reference.sin);
                *sum += cos * cos + sin * sin;
            }
        }
        for sum in &mut sums {
            *sum /= f32_of(L);
        }
        sums
    }
}

/// One window but for its mean: what it usually does, and its threshold. 40·C + 64 bytes.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub(super) struct Window<const C: usize> {
    /// Sum of the squared weights of its rows.
    own: f32,
    /// Sum of the products of its rows' weights here and in the reference.
    shared: f32,
    /// R: squared distance from the reference over its expectation for independent rows with
    /// unit variance.
    pub(super) statistic: f32,
    pub(super) threshold: f32,
    pub(super) null: Null,
    /// The last row on which R was below its mean.
    pub(super) calm_row: u64,
    pub(super) axes: Axes<C>,
    /// Mean of the signs of each channel over the normaliser.
    pub(super) usual: [Signs; C],
}

/// What all windows of a detector take from one row.
pub(super) struct Row<'r, const C: usize> {
    pub(super) axes: &'r Axes<C>,
    pub(super) reference_axes: &'r Axes<C>,
    /// Sum of the squared weights of the reference's rows.
    pub(super) reference_own: f32,
    /// Weight of this row in the reference.
    pub(super) reference_rate: f32,
    /// Rows since reference and windows began, this one included.
    pub(super) count: u32,
}

impl<const C: usize> Window<C> {
    pub(super) const fn new() -> Self {
        Self {
            own: 0.0,
            shared: 0.0,
            statistic: 0.0,
            threshold: 0.0,
            null: Null::new(),
            calm_row: 0,
            axes: Axes::new(),
            usual: [[0.0; 4]; C],
        }
    }

    /// E‖window − reference‖² for independent rows with unit variance.
    pub(super) fn normaliser(&self, reference_own: f32) -> f32 {
        larger(self.own - 2.0 * self.shared + reference_own, 1e-9)
    }

    /// Makes what is kept of this window, of `length` rows, beside its mean that of a reference,
    /// which goes on at the same rate.
    pub(super) fn become_reference<const L: usize>(
        &self,
        length: u32,
        reference: &mut Baseline<C, L>,
    ) {
        reference.axes = self.axes;
        reference.own = self.own;
        reference.rows = length / 2;
    }

    /// From now on compared with a reference that was a window of `other` rows; this one has
    /// `length`, and is at this squared distance from it.
    pub(super) fn share_with(&mut self, own: f32, length: u32, other: u32, distance: f32) {
        let (rate, other) = (rate_of(length), rate_of(other));
        self.shared = rate * other / (rate + other - rate * other);
        self.statistic = distance / self.normaliser(own);
    }

    /// From now on compared with a reference in which the present one has this weight, and which
    /// otherwise shares no rows with this window.
    pub(super) fn share_in_part(&mut self, weight: f32, own: f32, distance: f32) {
        self.shared *= weight;
        self.statistic = distance / self.normaliser(own);
    }

    /// Whether this window would be calm, compared with a reference that shares no rows with it.
    pub(super) fn would_be_calm(&self, own: f32, distance: f32) -> bool {
        let statistic = distance / larger(self.own + own, 1e-9);
        2.0 * statistic <= self.null.mean + self.threshold
    }

    /// Takes in a row at its rate, with the squared distance from the reference after it. False while the
    /// window is too young for its statistic to mean anything.
    pub(super) fn push(&mut self, length: u32, rate: f32, row: &Row<'_, C>, distance: f32) -> bool {
        let keep = 1.0 - rate;
        self.axes.blend(row.axes, rate);
        self.own = keep * keep * self.own + rate * rate;
        self.shared = keep * (1.0 - row.reference_rate) * self.shared + rate * row.reference_rate;
        if row.count <= length.saturating_mul(2).max(16) {
            self.statistic = 0.0;
            return false;
        }
        let normaliser = self.normaliser(row.reference_own);
        self.statistic = distance / normaliser;
        true
    }

    /// Takes the statistic, and the signs of each channel, as those of a healthy row.
    pub(super) fn learn(&mut self, block: u32, row: &Row<'_, C>) {
        self.null.push(self.statistic, block, u32::MAX);
        let rate = 1.0 / row_count(self.null.rows);
        let normaliser = self.normaliser(row.reference_own);
        let signs = self.axes.signs(row.reference_axes);
        for (usual, sign) in self.usual.iter_mut().flatten().zip(signs.iter().flatten()) {
            *usual += rate * (sign / normaliser - *usual);
        }
    }

    /// The signs of change of each channel over their usual size.
    pub(super) fn unusual<const L: usize>(&self, reference: &Baseline<C, L>) -> [Signs; C] {
        let normaliser = self.normaliser(reference.own);
        let mut signs = self.axes.signs(&reference.axes);
        for (sign, usual) in signs.iter_mut().flatten().zip(self.usual.iter().flatten()) {
            *sign /= larger(usual * normaliser, 1e-12);
        }
        signs
    }

    /// Statistic over threshold: beyond 1 is an alarm.
    pub(super) fn ratio(&self) -> f32 {
        if self.threshold > 0.0 { self.statistic / self.threshold } else { 0.0 }
    }

    /// Whether the statistic is nearer to its usual mean than to its threshold.
    pub(super) fn is_calm(&self) -> bool {
        2.0 * self.statistic <= self.null.mean + self.threshold
    }
}

/// The weight of row `count` in a window of `length` rows, which is at first a plain mean.
pub(super) fn rate_at(length: u32, count: u32) -> f32 {
    larger(rate_of(length), 1.0 / row_count(count))
}

/// The weight of the newest row in a window of `length` rows.
fn rate_of(length: u32) -> f32 {
    2.0 / (row_count(length) + 1.0)
}

fields!(Window<const C> {
    own: f32,
    shared: f32,
    statistic: f32,
    threshold: f32,
    null: Null,
    calm_row: u64,
    axes: Axes<C>,
    usual: [Signs; C],
});
