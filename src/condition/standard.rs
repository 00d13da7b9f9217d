//! Level and spread of one channel, even if its first rows hold glitches or it stands still at
//! first.

use core::ops::{Add, Sub};

use crate::numeric::{Number, larger, row_count, sqrt_f32, within};
use crate::state::{NonNegative, State, state};

/// First rows, which are kept and judged together before any of them counts.
pub(crate) const FIRST_ROWS: usize = 16;

/// First rows are clipped at this many times the twelfth of their sixteen distances from the median:
/// four glitches among them do no harm.
pub(crate) const FIRST_CUT: f32 = 6.0;
/// Later ones at this many deviations.
const CUT: f32 = 8.0;

/// Level and spread of a channel in its own units, and how its readings become standardised values.
pub trait Standardise<N: Number>: State {
    /// Rows that were learned from, the first ones included while they are kept.
    fn rows(&mut self) -> &mut u32;

    /// A reading as one of the first, which are kept.
    fn kept(reading: N::Scalar) -> N::Product;

    /// Learns from the first readings together; counts rows from 0 on.
    fn begin(&mut self, first: &[N::Product]);

    /// Learns from one later reading.
    fn follow(&mut self, reading: N::Scalar);

    /// 1/deviation by all rows so far; 0 where nothing has moved. Rare.
    fn present_gain(&self) -> f32;

    /// 1/deviation in use; 0 where nothing has moved. Rare.
    fn gain_in_use(&self) -> f32;

    /// How far the mean of all rows so far is above the level in use, in the units of the readings.
    fn above_level(&self) -> f32;

    /// Uses the mean of all rows so far as level, with this gain.
    fn measure_by(&mut self, gain: f32);

    /// Takes a reading of a healthy channel. `first` holds the first rows, and is of no use to
    /// this channel after them.
    #[inline]
    fn learn(&mut self, reading: N::Scalar, first: &mut [N::Product]) {
        let first = first.get_mut(..FIRST_ROWS).unwrap_or(&mut []);
        let rows = self.rows();
        if let Some(place) = first.get_mut(*rows as usize) {
            *place = Self::kept(reading);
            *rows = rows.saturating_add(1);
            if *rows as usize == FIRST_ROWS {
                self.begin(first);
            }
            return;
        }
        self.follow(reading);
    }

    /// Ends the first rows, of which there may have been too few: where readings were missing.
    fn end_first(&mut self, first: &[N::Product]) {
        let few = first.get(..*self.rows() as usize).filter(|few| few.len() < FIRST_ROWS);
        if let Some(few) = few.filter(|few| !few.is_empty()) {
            self.begin(few);
        }
    }

    /// Measures values by what was learned so far, if that is off from what is in use by a factor
    /// of two or more, and returns how standardised values change by it. Rare.
    fn correct(&mut self) -> Option<Correction> {
        let (present, used) = (self.present_gain(), self.gain_in_use());
        if present > 0.0 && (used == 0.0 || present > 2.0 * used || present < 0.5 * used) {
            let shift = self.above_level() * used;
            let factor = if used > 0.0 { present / used } else { 0.0 };
            self.measure_by(present);
            return Some(Correction { shift, factor });
        }
        None
    }

    /// (x − level)/deviation, at most [`FARTHEST`] either way; 0 for a channel that has not moved.
    fn standardised(&self, reading: N::Scalar) -> N;

    /// Whether values mean anything: the channel has moved while learning.
    fn moves(&self) -> bool;

    /// Whether a reading is the mean of what was learned, bit for bit.
    fn is_mean(&self, reading: N::Scalar) -> bool;

    /// Mean and variance of all readings that were learned from: rare.
    fn learned(&self) -> (f32, f32);

    /// Level and deviation in use, in the units of the readings; a deviation of 0 for a channel
    /// that has not moved. Rare.
    fn in_use(&self) -> (f32, f32);
}

/// Standardised values are clipped at this many deviations.
pub(crate) const FARTHEST: f32 = 1e4;

state! {
    /// Running mean and variance of a channel, in its own units, and the ones in use.
    #[derive(Debug, Clone, Copy, PartialEq)]
    #[doc(hidden)]
    pub struct FloatStandard {
        rows: u32,
        mean: f32,
        variance: NonNegative,
        /// What standardised values are measured from.
        level: f32,
        /// 1/deviation; 0 for a channel that has not moved, whose standardised value is always 0.
        gain: NonNegative => allowed |_, gain: &NonNegative| is_gain(gain.0),
    }
}

/// Whether this can be 1/deviation of readings: between that of the widest ones and that of the closest
/// that `f32` tells apart.
fn is_gain(gain: f32) -> bool {
    gain == 0.0 || (1e-16..=2e30).contains(&gain)
}

/// How standardised values change when they are measured anew: z becomes `factor`·(z − `shift`). The
/// factor is 0 if nothing was known before.
#[derive(Debug, Clone, Copy)]
#[doc(hidden)]
pub struct Correction {
    pub(crate) shift: f32,
    pub(crate) factor: f32,
}

impl Standardise<f32> for FloatStandard {
    #[inline]
    fn rows(&mut self) -> &mut u32 {
        &mut self.rows
    }

    #[inline]
    fn kept(reading: f32) -> f32 {
        reading
    }

    #[inline(never)]
    fn begin(&mut self, first: &[f32]) {
        let (median, trusted) = middle_of(first.iter().copied(), 0.0, |x| 0.5 * x);
        let cut = if trusted > 0.0 { FIRST_CUT * trusted } else { f32::MAX };
        self.rows = 0;
        for reading in first {
            self.blend(median + within(reading - median, cut) - self.mean);
        }
    }

    #[inline]
    fn follow(&mut self, reading: f32) {
        let cut = CUT * sqrt_f32(self.variance.0);
        let step = reading - self.mean;
        self.blend(if cut > 0.0 { within(step, cut) } else { step });
    }

    fn present_gain(&self) -> f32 {
        if self.variance.0 <= 0.0 {
            return 0.0;
        }
        // No finer than readings of this size can be told apart.
        1.0 / larger(sqrt_f32(self.variance.0), larger(2.4e-7 * self.mean.abs(), 1e-30))
    }

    fn gain_in_use(&self) -> f32 {
        self.gain.0
    }

    fn above_level(&self) -> f32 {
        self.mean - self.level
    }

    fn measure_by(&mut self, gain: f32) {
        (self.level, self.gain.0) = (self.mean, gain);
    }

    #[inline]
    fn standardised(&self, reading: f32) -> f32 {
        within(self.in_deviations(reading), FARTHEST)
    }

    #[inline]
    fn moves(&self) -> bool {
        self.gain.0 > 0.0
    }

    #[inline]
    fn is_mean(&self, reading: f32) -> bool {
        reading.to_bits() == self.mean.to_bits()
    }

    fn learned(&self) -> (f32, f32) {
        (self.mean, self.variance.0)
    }

    fn in_use(&self) -> (f32, f32) {
        (self.level, if self.gain.0 > 0.0 { 1.0 / self.gain.0 } else { 0.0 })
    }
}

impl FloatStandard {
    /// Takes a reading into mean and variance, given how far it is above the mean.
    fn blend(&mut self, step: f32) {
        self.rows = self.rows.saturating_add(1);
        let rate = 1.0 / row_count(self.rows);
        self.mean += rate * step;
        self.variance.0 = (1.0 - rate) * (self.variance.0 + rate * step * step);
    }

    /// (x − level)/deviation, however large.
    #[inline]
    pub(crate) fn in_deviations(&self, reading: f32) -> f32 {
        (reading - self.level) * self.gain.0
    }

    /// The same, measured by all rows so far.
    pub(crate) fn present(&self) -> Self {
        Self { level: self.mean, gain: NonNegative(self.present_gain()), ..*self }
    }
}

/// The median of the first rows, and the twelfth of their sixteen distances from it: 0 if most are the
/// same.
pub(crate) fn middle_of<T>(
    readings: impl Iterator<Item = T> + Clone,
    zero: T,
    half: impl Fn(T) -> T,
) -> (T, T)
where
    T: Copy + PartialOrd + Add<Output = T> + Sub<Output = T>,
{
    let mut sorted = [zero; FIRST_ROWS];
    // Fewer count several times, which changes neither median nor the twelfth distance much.
    for (sorted, reading) in sorted.iter_mut().zip(readings.cycle()) {
        *sorted = reading;
    }
    sort(&mut sorted);
    let [_, _, _, _, _, _, _, a, b, ..] = sorted;
    let median = half(a) + half(b);
    for value in &mut sorted {
        *value = if *value < median { median - *value } else { *value - median };
    }
    sort(&mut sorted);
    let [_, _, _, _, _, _, _, _, _, _, _, trusted, ..] = sorted;
    (median, trusted)
}

/// Sorts a few numbers by exchange: no call that could panic, and little code.
fn sort<T: Copy + PartialOrd>(values: &mut [T; FIRST_ROWS]) {
    for _ in 0..FIRST_ROWS {
        let mut rest = &mut values[..];
        while let [low, above @ ..] = rest {
            if let Some(high) = above.first_mut()
                && *low > *high
            {
                core::mem::swap(low, high);
            }
            rest = above;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::Initial;

    fn learned(readings: impl Iterator<Item = f32>) -> (f32, f32) {
        let (mut standard, mut first) = (FloatStandard::INITIAL, [0.0; FIRST_ROWS]);
        for reading in readings {
            standard.learn(reading, &mut first);
        }
        standard.correct();
        standard.in_use()
    }

    fn noise(row: u32) -> f32 {
        ((row * 7919) % 1000) as f32 / 500.0 - 1.0
    }

    #[test]
    fn a_glitch_at_power_on_does_not_count() {
        let clean = learned((0..256).map(|row| 20.0 + noise(row)));
        for at in 0..8 {
            let (level, deviation) =
                learned((0..256).map(|row| if row == at { 4095.0 } else { 20.0 + noise(row) }));
            assert!((level - clean.0).abs() < 0.2 * clean.1, "{level}");
            assert!(deviation < 1.5 * clean.1, "{deviation} {}", clean.1);
        }
    }

    #[test]
    fn a_few_readings_before_a_gap_count_as_what_they_are() {
        for few in [0, 1, 2, 8, 15] {
            let (mut standard, mut first) = (FloatStandard::INITIAL, [0.0; FIRST_ROWS]);
            for row in 0..few {
                standard.learn(1000.0 + noise(row), &mut first);
            }
            standard.end_first(&first);
            for row in 0..600 {
                standard.learn(1000.0 + noise(row), &mut []);
            }
            standard.correct();
            let (level, deviation) = standard.in_use();
            assert!((level - 1000.0).abs() < 0.2, "{few}: {level}");
            assert!(deviation > 0.4 && deviation < 0.8, "{few}: {deviation}");
        }
    }

    #[test]
    fn a_channel_that_does_not_move_has_no_deviation() {
        assert_eq!(learned((0..256).map(|_| 5.0)), (0.0, 0.0));
    }

    #[test]
    fn one_that_begins_to_move_is_measured_anew() {
        let (mut standard, mut first) = (FloatStandard::INITIAL, [0.0; FIRST_ROWS]);
        for _ in 0..100 {
            standard.learn(0.0, &mut first);
        }
        assert!(standard.correct().is_none() && !standard.moves());
        for row in 0..400 {
            standard.learn(5.0 + noise(row), &mut first);
        }
        assert!(standard.correct().is_some() && standard.moves());
        assert!(standard.correct().is_none());
    }
}
