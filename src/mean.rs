//! Means that forget: the reference and the windows of a detector.

use crate::numeric::f32_of;
use crate::sincos::Point;
use crate::state::fields;

/// A mean of points on L circles in `f32`, each new sample blended in at a rate: 8·L bytes.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub(crate) struct Mean<const L: usize> {
    pub(crate) points: [Point; L],
}

impl<const L: usize> Mean<L> {
    pub(crate) const fn new() -> Self {
        Self { points: [Point { cos: 0.0, sin: 0.0 }; L] }
    }

    /// Moves towards `sample` by the fraction `rate`.
    #[inline]
    pub(crate) fn blend(&mut self, sample: &Self, rate: f32) {
        for (mean, point) in self.points.iter_mut().zip(&sample.points) {
            mean.cos += rate * (point.cos - mean.cos);
            mean.sin += rate * (point.sin - mean.sin);
        }
    }

    /// Mean over the circles of the squared distance of the points.
    #[inline]
    pub(crate) fn squared_distance(&self, other: &Self) -> f32 {
        let mut sum = 0.0;
        for (a, b) in self.points.iter().zip(&other.points) {
            let (cos, sin) = (a.cos - b.cos, a.sin - b.sin);
            sum += cos * cos + sin * sin;
        }
        sum / f32_of(L)
    }
}

fields!(Mean<const L> { points: [Point; L] });
