//! A channel of one device beside that of another.

use crate::condition::Standardise;
use crate::numeric::{Number, larger};
use crate::state::State;

use super::super::legs::choice::{Legs, Slot};
use super::{Channel, LEVEL};

impl<L: Legs, N: Number> Channel<L, N> {
    /// Whether values of two channels are measured alike, bit for bit.
    pub(in crate::monitor) fn is_measured_as(&self, other: &Self) -> bool {
        let ((level, deviation), (theirs, their_deviation)) =
            (self.standard.in_use(), other.standard.in_use());
        level.to_bits() == theirs.to_bits()
            && deviation.to_bits() == their_deviation.to_bits()
            && self.profile == other.profile
    }

    /// Forgets all but how values are measured.
    pub(in crate::monitor) fn keep_scale(&mut self) {
        let (standard, profile) = (self.standard, self.profile.clone());
        self.reset();
        (self.standard, self.profile) = (standard, profile);
    }

    /// The mean of the value while learning, and its deviation as an estimate.
    pub(in crate::monitor) fn known_level(&self) -> (f32, f32) {
        (self.wander.mean(), self.wander.error())
    }

    /// By how much more the mean over long blocks varies than that over a window, each for its
    /// length: how much of the dependence of rows a window does not see.
    pub(in crate::monitor) fn inflation(&self, rows: f32) -> f32 {
        let error = self.wander.error();
        let Some(level) = self.level.carried() else { return 1.0 };
        let by_window = level.charts.first_variance(&LEVEL);
        if by_window > 0.0 { larger(error * error * rows / by_window, 1.0) } else { 1.0 }
    }

    /// Counts as healthy what the same channel of another device learned, too; `share` is that
    /// device's part of all rows.
    pub(in crate::monitor) fn join(&mut self, other: &Self, share: f32) {
        if let (Some(own), Some(theirs)) = (self.level.carried_mut(), other.level.carried()) {
            let away = own.charts.join(&theirs.charts, share);
            own.cusum.join(&theirs.cusum, away);
        }
        if let (Some(own), Some(theirs)) = (self.jump.carried_mut(), other.jump.carried()) {
            own.join(theirs, share);
        }
        if let (Some(own), Some(theirs)) = (self.spread.carried_mut(), other.spread.carried()) {
            own.up.join(&theirs.up, share);
            own.down.join(&theirs.down, share);
        }
        self.range.join(&other.range);
        self.stillness.allow(&other.stillness);
        self.gaps.allow(&other.gaps);
        if other.steadiness.code() > self.steadiness.code() {
            self.steadiness = other.steadiness;
        }
        self.causes.reset();
        self.predictor.restart();
    }
}
