//! Single outliers, which must not alarm.

use crate::numeric::{larger, row_count, smaller};
use crate::state::fields;

/// Rows of a block of learning rows at most: its second largest value is one that healthy rows
/// reach again and again, and one glitch in it goes unnoticed.
const BLOCK_ROWS: u32 = 512;
/// Beyond this many half ranges from the middle of its channel, a value is an outlier.
const REACH: f32 = 2.0;
/// Outliers within this factor of each other are company.
const ALIKE: f32 = 2.0;
/// Rows before an outlier in which another one makes it believable.
const COMPANY_ROWS: usize = 8;
/// Least half range of a channel, in its deviations.
const MIN_HALF_RANGE: f32 = 0.1;

/// Holds back a row with a value far beyond what its channel did while learning, unless one about
/// as far out came shortly before: however large, a lone outlier then has no influence at all.
///
/// A real change of that size goes on in the next row, so it is seen one row later. That company
/// has to be about as far out keeps an outlier alone beside the extremes of healthy rows.
/// 24·C + 40 bytes.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub(super) struct Gate<const C: usize> {
    /// Learning rows in the block at hand, and whole blocks.
    rows: u32,
    blocks: u32,
    channels: [Range; C],
    /// How far out the last rows were, in half ranges, newest first.
    recent: [f32; COMPANY_ROWS],
}

/// What values of a channel reach: upwards, and downwards with their sign turned.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
struct Range {
    up: Extreme,
    down: Extreme,
}

/// The mean over blocks of the second largest value.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
struct Extreme {
    /// Of the block at hand.
    largest: f32,
    second: f32,
    mean: f32,
}

impl Extreme {
    const NONE: Self = Self { largest: f32::MIN, second: f32::MIN, mean: 0.0 };

    fn push(&mut self, value: f32) {
        self.second = larger(self.second, smaller(value, self.largest));
        self.largest = larger(self.largest, value);
    }

    /// Ends a block, the one after `blocks` others.
    fn end_block(&mut self, blocks: u32) {
        self.mean += (self.second - self.mean) / row_count(blocks.saturating_add(1));
        (self.largest, self.second) = (f32::MIN, f32::MIN);
    }
}

impl<const C: usize> Gate<C> {
    pub(super) const fn new() -> Self {
        let channel = Range { up: Extreme::NONE, down: Extreme::NONE };
        Self { rows: 0, blocks: 0, channels: [channel; C], recent: [0.0; COMPANY_ROWS] }
    }

    /// Takes a row, one of `learning` in all, as healthy.
    pub(super) fn learn(&mut self, values: &[f32; C], learning: u32) {
        for (channel, value) in self.channels.iter_mut().zip(values) {
            channel.up.push(*value);
            channel.down.push(-value);
        }
        self.rows = self.rows.saturating_add(1);
        if self.rows < BLOCK_ROWS.min(learning / 4) {
            return;
        }
        for channel in &mut self.channels {
            channel.up.end_block(self.blocks);
            channel.down.end_block(self.blocks);
        }
        self.rows = 0;
        self.blocks = self.blocks.saturating_add(1);
    }

    /// Whether to hold a row back.
    pub(super) fn holds(&mut self, values: &[f32; C]) -> bool {
        let size = self.size(values);
        let company =
            |other: &f32| *other > REACH && *other < ALIKE * size && size < ALIKE * *other;
        let lone = size > REACH && !self.recent.iter().any(company);
        let mut newer = size;
        for size in &mut self.recent {
            core::mem::swap(size, &mut newer);
        }
        lone
    }

    /// Takes in what another gate has learned: healthy is what was so for either.
    pub(super) fn join(&mut self, other: &Self) {
        for (channel, theirs) in self.channels.iter_mut().zip(&other.channels) {
            channel.up.mean = channel.up.mean.max(theirs.up.mean);
            channel.down.mean = channel.down.mean.max(theirs.down.mean);
        }
    }

    /// The largest distance of a value from the middle of its channel, in half ranges.
    fn size(&self, values: &[f32; C]) -> f32 {
        let sizes = self.channels.iter().zip(values).map(|(channel, value)| {
            let middle = 0.5 * (channel.up.mean - channel.down.mean);
            let half = 0.5 * (channel.up.mean + channel.down.mean);
            (value - middle).abs() / larger(half, MIN_HALF_RANGE)
        });
        sizes.fold(0.0, larger)
    }
}

fields!(Extreme { largest: f32, second: f32, mean: f32 });
fields!(Range { up: Extreme, down: Extreme });
fields!(Gate<const C> {
    rows: u32,
    blocks: u32,
    channels: [Range; C],
    recent: [f32; COMPANY_ROWS],
});

#[cfg(test)]
mod tests {
    use super::*;

    /// A gate that has learned values from `from` to `from` + 2, with a glitch for each in `glitches`.
    fn learned(from: f32, glitches: &[f32]) -> Gate<1> {
        let mut gate = Gate::new();
        for row in 0..2048_u16 {
            let healthy = from + f32::from(row % 101) / 50.0;
            let glitch = glitches.get(usize::from(row / 512)).filter(|_| row % 512 == 100);
            gate.learn(&[*glitch.unwrap_or(&healthy)], 2048);
        }
        gate
    }

    #[test]
    fn one_outlier_is_held_back_and_two_are_not() {
        let mut gate = learned(-1.0, &[]);
        assert!(!gate.holds(&[1.9]));
        assert!(gate.holds(&[2.1]));
        assert!(!gate.holds(&[-2.1]));
        for _ in 0..COMPANY_ROWS {
            assert!(!gate.holds(&[0.5]));
        }
        assert!(gate.holds(&[1e5]));
    }

    #[test]
    fn company_is_about_as_far_out() {
        let mut gate = learned(-1.0, &[]);
        assert!(gate.holds(&[2.1]));
        assert!(gate.holds(&[100.0]));
        assert!(gate.holds(&[-5.0]));
        assert!(!gate.holds(&[2.2]));
        assert!(!gate.holds(&[150.0]));
    }

    #[test]
    fn glitches_while_learning_do_not_open_it() {
        let glitches = [1e5, -1e5, 50.0, 1e4];
        let (mut clean, mut glitched) = (learned(6.0, &[]), learned(6.0, &glitches));
        for value in [4.9, 5.1, 8.9, 9.1] {
            let held = clean.holds(&[value]);
            assert_eq!(held, glitched.holds(&[value]), "{value}");
            clean.recent = [0.0; COMPANY_ROWS];
            glitched.recent = [0.0; COMPANY_ROWS];
        }
    }
}
