//! Single outliers, which must not alarm, and stuck channels, which must.

use crate::numeric::{ln, rounded, sqrt_f32};
use crate::scale::row_count;
use crate::state::fields;

/// Rows within which a second sample out of the ordinary makes the first one believable.
const COMPANY_ROWS: u32 = 16;
/// Rows of learning before the reference means anything.
const WARM_UP: u32 = 64;

/// Holds back a sample farther from the reference than any while learning, unless another such
/// came shortly before: however large, a lone outlier then has no influence at all.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub(super) struct Gate {
    /// Largest squared distance of a sample from the reference while learning.
    limit: f32,
    /// Rows since the last sample beyond it.
    calm_rows: u32,
}

impl Gate {
    pub(super) const fn new() -> Self {
        Self { limit: 0.0, calm_rows: u32::MAX }
    }

    /// Takes the distance of a learning sample, the `row`-th, into account.
    pub(super) fn learn(&mut self, row: u32, distance: f32) {
        if row > WARM_UP {
            self.limit = self.limit.max(distance);
        }
    }

    /// Whether to hold a sample at this distance back.
    pub(super) fn holds(&mut self, distance: f32) -> bool {
        self.calm_rows = self.calm_rows.saturating_add(1);
        if distance <= self.limit {
            return false;
        }
        let lone = self.calm_rows > COMPANY_ROWS;
        self.calm_rows = 0;
        lone
    }

    /// Takes in what another gate has learned, both references having moved by squared distances.
    pub(super) fn join(&mut self, other: &Self, away: f32, other_away: f32) {
        let farther = |limit: f32, away: f32| sqrt_f32(limit) + sqrt_f32(away);
        let limit = farther(self.limit, away).max(farther(other.limit, other_away));
        self.limit = limit * limit;
    }
}

fields!(Gate { limit: f32, calm_rows: u32 });

/// Watches a channel for values that repeat exactly.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub(super) struct Stillness {
    last: f32,
    /// Rows for which the value has been the same, after the first.
    pub(super) run: u32,
    longest: u32,
    repeats: u32,
    /// Longest run that is no alarm; 0 while learning.
    pub(super) limit: u32,
}

impl Stillness {
    /// Takes a value into account, raw as it comes from the sensor.
    pub(super) fn push(&mut self, value: f32) {
        // Bit for bit: a stuck register does not even change its rounding.
        if value.to_bits() == self.last.to_bits() {
            self.run = self.run.saturating_add(1);
        } else {
            self.run = 0;
            self.last = value;
        }
        if self.limit == 0 {
            self.longest = self.longest.max(self.run);
            self.repeats = self.repeats.saturating_add(u32::from(self.run > 0));
        }
    }

    /// Ends learning after `rows` rows: with repeats by chance, runs are geometric, and the one
    /// that comes once in `mean_time` rows has a known length; coarse or slow sensors have
    /// longer ones, so four times the longest seen is allowed too, and never less than 32.
    pub(super) fn arm(&mut self, rows: u32, mean_time: f32) {
        let chance = (row_count(self.repeats) + 1.0) / (row_count(rows) + 2.0);
        let by_chance = ln(f64::from(mean_time.max(2.0))) / -ln(f64::from(chance.min(0.999)));
        let seen = self.longest.saturating_mul(4);
        self.limit = whole(rounded(by_chance)).max(seen).max(32);
    }

    pub(super) fn is_stuck(&self) -> bool {
        self.limit > 0 && self.run > self.limit
    }

    /// Whether the value has not repeated for half as long as that.
    pub(super) fn is_calm(&self) -> bool {
        self.run <= self.limit / 2
    }
}

fields!(Stillness { last: f32, run: u32, longest: u32, repeats: u32, limit: u32 });

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the cast saturates, and the length is positive"
)]
fn whole(length: f32) -> u32 {
    length as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_outlier_is_held_back_and_two_are_not() {
        let mut gate = Gate::new();
        for row in 0..200 {
            gate.learn(row, 1.0);
        }
        assert!(!gate.holds(0.9));
        assert!(gate.holds(1.1));
        assert!(!gate.holds(1.1));
        for _ in 0..20 {
            assert!(!gate.holds(0.5));
        }
        assert!(gate.holds(5.0));
    }

    #[test]
    fn a_stuck_value_is_noticed_and_a_coarse_sensor_is_not() {
        let (mut fine, mut coarse) = (Stillness::default(), Stillness::default());
        for row in 0..1000_u16 {
            fine.push(f32::from(row) * 0.37);
            coarse.push(f32::from(row / 20));
        }
        fine.arm(1000, 1e4);
        coarse.arm(1000, 1e4);
        for _ in 0..33 {
            fine.push(1.0);
        }
        assert!(!fine.is_stuck());
        fine.push(1.0);
        assert!(fine.is_stuck());
        for _ in 0..76 {
            coarse.push(1.0);
        }
        assert!(!coarse.is_stuck());
        for _ in 0..200 {
            coarse.push(1.0);
        }
        assert!(coarse.is_stuck());
    }
}
