//! Single outliers, which must not alarm.

use crate::numeric::{larger, row_count, smaller};
use crate::shape::{Length, Per};
use crate::state::state;

/// Rows of a block of learning rows at most: its second largest value is one that healthy rows
/// reach again and again, and one glitch in it goes unnoticed.
const BLOCK_ROWS: u32 = 512;
/// Beyond this many half ranges from the middle of its channel, a value is an outlier.
const REACH: f32 = 2.0;
/// Two outliers whose sizes are within this factor of each other confirm each other.
const ALIKE: f32 = 2.0;
/// Rows before an outlier in which another one confirms it.
const COMPANY_ROWS: usize = 8;
/// Least half range of a channel, in its deviations.
const MIN_HALF_RANGE: f32 = 0.1;

state! {
    /// Holds back a row with a value far beyond what its channel did while learning, unless one
    /// about as far out came shortly before: however large, a lone outlier then has no influence
    /// at all.
    ///
    /// A real change of that size goes on in the next row, so it is seen one row later. An outlier
    /// is confirmed only by one about as far out, and not by the extremes of healthy rows.
    /// 24·C + 40 bytes.
    #[derive(Debug, Clone, PartialEq)]
    pub(crate) struct Gate<C: Length> {
        /// Learning rows in the block at hand.
        rows: u32,
        /// Whole blocks.
        blocks: u32,
        channels: Per<C, Range>,
        /// How far out the last rows were, in half ranges, newest first.
        recent: [f32; COMPANY_ROWS],
    }
}

state! {
    /// What values of a channel reach: upwards, and downwards with their sign turned.
    #[derive(Debug, Clone, Copy, PartialEq)]
    struct Range {
        up: Extreme,
        down: Extreme,
    }
}

state! {
    /// The mean over blocks of the second largest value.
    #[derive(Debug, Clone, Copy, PartialEq)]
    struct Extreme {
        /// Largest value of the block at hand.
        largest: f32 = f32::MIN,
        /// Second largest value of the block at hand.
        second: f32 = f32::MIN,
        mean: f32,
    }
}

impl Extreme {
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

impl<C: Length> Gate<C> {
    /// Takes a row, one of `learning` in all, as healthy.
    pub(crate) fn learn(&mut self, values: &[f32], learning: u32) {
        for (channel, value) in self.channels.iter_mut().zip(values) {
            channel.up.push(*value);
            channel.down.push(-value);
        }
        self.rows = self.rows.saturating_add(1);
        if self.rows < BLOCK_ROWS.min(learning / 4) {
            return;
        }
        for channel in self.channels.iter_mut() {
            channel.up.end_block(self.blocks);
            channel.down.end_block(self.blocks);
        }
        self.rows = 0;
        self.blocks = self.blocks.saturating_add(1);
    }

    /// Whether to hold a row back.
    pub(crate) fn holds(&mut self, values: &[f32]) -> bool {
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
    pub(crate) fn join(&mut self, other: &Self) {
        for (channel, theirs) in self.channels.iter_mut().zip(other.channels.iter()) {
            channel.up.mean = channel.up.mean.max(theirs.up.mean);
            channel.down.mean = channel.down.mean.max(theirs.down.mean);
        }
    }

    /// The largest distance of a value from the middle of its channel, in half ranges.
    fn size(&self, values: &[f32]) -> f32 {
        let sizes = self.channels.iter().zip(values).map(|(channel, value)| {
            let middle = 0.5 * (channel.up.mean - channel.down.mean);
            let half = 0.5 * (channel.up.mean + channel.down.mean);
            (value - middle).abs() / larger(half, MIN_HALF_RANGE)
        });
        sizes.fold(0.0, larger)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::Fixed;
    use crate::state::Initial;

    /// A gate that has learned values from `from` to `from` + 2, with a glitch for each in `glitches`.
    fn learned(from: f32, glitches: &[f32]) -> Gate<Fixed<1>> {
        let mut gate = Gate::INITIAL;
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
