//! A level that was dismissed as harmless.

use crate::condition::FARTHEST;
use crate::numeric::{Number, Rate, within};
use crate::state::{NonNegative, state};

/// Log-likelihood of the other level from which values are taken to be at it: one row of 4
/// deviations, or several of fewer.
const SURE: f32 = 8.0;
/// Rows that a level is measured by.
const MEASURED: u8 = 160;
/// After the first few, a value is clipped at this many deviations for that.
const CUT: f32 = 4.0;
const FEW: u8 = 4;
/// A shift of fewer deviations is not told from none.
const NEAREST: f32 = 0.2;

state! {
    /// A shift of the level that was dismissed: values near it count as those near the learned one.
    /// 12 bytes.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub(super) struct Accepted<N: Number> {
        /// In deviations; 0 for none.
        shift: N,
        /// Whether values are at it now.
        inside: bool,
        /// A cumulative sum of log-likelihoods that they are at the other level.
        other: NonNegative<N>,
        /// Rows that the shift was measured by so far.
        rows: u8,
    }
}

impl<N: Number> Accepted<N> {
    /// Takes a value, and gives it as measured from the level that it is at.
    #[inline]
    pub(super) fn take(&mut self, value: N) -> N {
        if self.shift == N::ZERO {
            return value;
        }
        self.nearest(value)
    }

    #[inline(never)]
    fn nearest(&mut self, value: N) -> N {
        let (mut own, mut other) = (value, value - self.shift);
        if self.inside {
            (own, other) = (other, own);
        }
        // ½(own² − other²), which is far less than either square may be.
        let nearer = (own - other).times((own + other).part(const { Rate::of(0.5) }));
        self.other.0 = (self.other.0 + nearer).or_more(N::ZERO);
        if self.other.0 >= N::of(SURE) {
            (self.inside, self.other.0, own) = (!self.inside, N::ZERO, other);
        }
        if self.inside && self.rows < MEASURED {
            self.rows += 1;
            let few = self.rows <= FEW;
            let step = if few { own } else { own.held(N::of(CUT)) };
            let step = step.share(N::share_of(u32::from(self.rows)));
            self.shift = (self.shift + step).held(N::of(FARTHEST));
            own -= step;
        }
        own
    }

    /// Values at a distance of `shift` deviations from the present level count as healthy from now on.
    ///
    /// `rows`: how many rows the shift was estimated from; 0 if the estimate was clipped, so that later
    /// rows replace it. `inside`: whether values are at the shifted level now.
    pub(super) fn accept(&mut self, shift: f32, rows: u32, inside: bool) {
        let before = if self.inside { self.shift.value() } else { 0.0 };
        let shift = within(before + shift, FARTHEST);
        let far = shift.abs() > NEAREST;
        *self = Self {
            shift: if far { N::of(shift) } else { N::ZERO },
            inside: far && inside,
            other: NonNegative(N::ZERO),
            rows: u8::try_from(rows).unwrap_or(u8::MAX).min(MEASURED),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::Initial;

    #[test]
    fn values_are_measured_from_the_level_they_are_at() {
        let mut accepted = Accepted::<f32>::INITIAL;
        assert_eq!(accepted.take(7.0), 7.0);
        accepted.accept(6.0, 8, true);
        // The first measurement was off.
        let mut left = [0.0; 2];
        for row in 0..200 {
            let noise = if row % 2 == 0 { 0.5 } else { -0.5 };
            let healthy = accepted.take(noise);
            let shifted = accepted.take(7.0 + noise);
            left = [healthy - noise, shifted - noise];
        }
        assert!(left[0].abs() < 0.01 && left[1].abs() < 0.1, "{left:?}");
        // The other way it is as before.
        assert_eq!(accepted.take(-5.0), -5.0);
    }

    #[test]
    fn what_is_dismissed_at_a_dismissed_level_is_measured_from_the_learned_one() {
        let mut accepted = Accepted::<f32>::INITIAL;
        accepted.accept(6.0, 8, true);
        accepted.accept(2.0, 8, true);
        assert_eq!(accepted.shift, 8.0);
        accepted.accept(-8.0, 8, true);
        assert_eq!((accepted.shift, accepted.inside), (0.0, false));
    }
}
