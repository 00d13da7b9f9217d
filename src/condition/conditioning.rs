//! All steps from a row of readings to the vector that is mapped.

use super::{Gate, Kept, MAX_DEVIATIONS, MedianDistanceOf, ScaleOf, Stillness};
use crate::numeric::{f64_of, rounded, sqrt_f32, within};
use crate::shape::{Length, Per};
use crate::state::{NonNegative, state};

state! {
    /// What is learned while scaling.
    #[derive(Debug, Clone, PartialEq)]
    pub(crate) struct Scaling<C: Length> {
        pub(crate) scale: ScaleOf<C>,
        distance: MedianDistanceOf<C>,
        /// 1/deviation of each channel.
        pub(crate) gains: Per<C, NonNegative>,
        /// 1/bandwidth, in deviations.
        pub(crate) inverse_bandwidth: NonNegative,
    }
}

state! {
    /// What a detector knows of its channels.
    #[derive(Debug, Clone, PartialEq)]
    pub(crate) struct Conditioning<V: Kept> {
        pub(crate) scaling: Scaling<V::C>,
        pub(crate) view: V,
        pub(crate) gate: Gate<V::C>,
        pub(crate) stillness: Per<V::C, Stillness>,
    }
}

impl<V: Kept> Conditioning<V> {
    /// Takes a row of the scaling stage, one of `rows` in all, and says whether it was the last.
    pub(crate) fn scale_by(&mut self, row: &[f32], rows: u32) -> bool {
        let Scaling { scale, distance, gains, .. } = &mut self.scaling;
        scale.take_in(row);
        // Some thirty anchors in all.
        distance.space(rows / 32);
        if scale.rows() > rows / 8 {
            // By then the running spread is good enough to measure distances in.
            distance.take_in(&scale.in_deviations(row));
        }
        if scale.rows() < rows {
            return false;
        }
        for (gain, deviation) in gains.iter_mut().zip(scale.spreads().iter()) {
            gain.0 = 1.0 / deviation;
        }
        true
    }

    /// The number of channels.
    pub(crate) fn channels(&self) -> usize {
        self.scaling.gains.len()
    }

    /// The median distance of two vectors, in deviations.
    pub(crate) fn median_distance(&self) -> f32 {
        // Of independent channels with unit spread, the median distance is about √(2C − 1.3);
        // for delay vectors of k lags, √k times that of the row.
        let (channels, inputs) = (self.channels(), self.view.delay().vector().len());
        let lags = inputs.checked_div(channels).unwrap_or(1);
        let expected = sqrt_f32((2.0 * rounded(f64_of(channels)) - 1.3).max(0.9));
        self.scaling.distance.median().unwrap_or(expected) * sqrt_f32(rounded(f64_of(lags)))
    }

    /// (x − mean)/deviation for each channel, cut at ±[`MAX_DEVIATIONS`].
    pub(crate) fn standardised(&self, row: &[f32]) -> Per<V::C, f32> {
        let Scaling { scale, gains, .. } = &self.scaling;
        let mut values = gains.like(0.0);
        let scale = row.iter().zip(scale.means().as_ref()).zip(gains.iter());
        for (value, ((x, mean), gain)) in values.iter_mut().zip(scale) {
            *value = within((x - mean) * gain.0, MAX_DEVIATIONS);
        }
        values
    }

    /// The last vector in units of the bandwidth, and no longer than `longest`.
    pub(crate) fn scaled_vector(&self, longest: f32) -> Per<V::D, f32> {
        let inverse_bandwidth = self.scaling.inverse_bandwidth.0;
        let mut vector = self.view.delay().vector().clone();
        let mut squared = 0.0;
        for x in vector.iter_mut() {
            // Not beyond what any row can bring, even where a state was forged.
            *x = within(*x, MAX_DEVIATIONS);
            squared += *x * *x;
        }
        let length = sqrt_f32(squared) * inverse_bandwidth;
        let factor = drawn_in(length, longest);
        for x in vector.iter_mut() {
            *x *= inverse_bandwidth * factor;
        }
        vector
    }
}

/// The factor on a vector of this length that draws it, far beyond any reading that means
/// something, into the map's reach.
#[inline]
pub(crate) fn drawn_in(length: f32, longest: f32) -> f32 {
    if length > longest { longest / length } else { 1.0 }
}
