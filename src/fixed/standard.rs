//! Level and spread of a channel of integer readings.

use crate::condition::{Correction, FARTHEST, FIRST_ROWS, Standardise, middle_of};
use crate::numeric::{Real, f32_of_weight, sqrt_f32, within};
use crate::state::state;

use super::number::{Q16, Q24, shared, wide_root};

/// Readings are cut at so many deviations, as a power of two.
const CUT: u32 = 3;
/// Levels are in units of 2⁻¹⁵ of a count.
const PER_COUNT: f32 = 32_768.0;
const LEVEL_BITS: u32 = 15;
/// Variances are in units of 2⁻¹⁶ of a square count: of distances in units of 2⁻⁸.
const PER_SQUARE: f32 = 65_536.0;
const BELOW_DISTANCE: u32 = 7;
/// No deviation is taken to be smaller, in counts.
const LEAST_DEVIATION: f32 = 1.0 / 64.0;

state! {
    /// Running mean and variance of a channel of integer readings, and the ones in use: 24 bytes.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct IntegerStandard {
        rows: u32,
        mean: i32,
        variance: u64,
        /// What standardised values are measured from.
        level: i32,
        /// 2¹⁶ units of a value for each unit of a level: 16 bits, and by how many bits the product is
        /// shifted down above them. 0 for a channel that has not moved.
        gain: u32,
    }
}

/// x·s·2⁻³² for a wide number.
fn wide_share(x: u64, share: u32) -> u64 {
    let share = u64::from(share);
    (x >> 32).wrapping_mul(share).wrapping_add(((x & 0xffff_ffff).wrapping_mul(share)) >> 32)
}

/// A reading in the units of levels.
#[inline(always)]
fn height(reading: i16) -> i32 {
    i32::from(reading) << LEVEL_BITS
}

#[expect(clippy::cast_precision_loss, reason = "to 24 bits")]
fn counts(height: i32) -> f32 {
    height as f32 / PER_COUNT
}

impl Standardise<Q16> for IntegerStandard {
    #[inline]
    fn learn(&mut self, reading: i16, first: &mut [Q24]) {
        let first = first.get_mut(..FIRST_ROWS).unwrap_or(&mut []);
        if let Some(place) = first.get_mut(self.rows as usize) {
            *place = Q24::units(reading.into());
            self.rows = self.rows.saturating_add(1);
            if self.rows as usize == FIRST_ROWS {
                self.begin(first);
            }
            return;
        }
        let step = height(reading).wrapping_sub(self.mean);
        self.blend(self.cut(step));
    }

    fn end_first(&mut self, first: &[Q24]) {
        let few = first.get(..self.rows as usize).filter(|few| few.len() < FIRST_ROWS);
        if let Some(few) = few.filter(|few| !few.is_empty()) {
            self.begin(few);
        }
    }

    fn correct(&mut self) -> Option<Correction> {
        let (present, used) = (self.present_gain(), self.gain_in_use());
        if present > 0.0 && (used == 0.0 || present > 2.0 * used || present < 0.5 * used) {
            let shift = counts(self.mean.wrapping_sub(self.level)) * used;
            let factor = if used > 0.0 { present / used } else { 0.0 };
            (self.level, self.gain) = (self.mean, gain_of(present));
            return Some(Correction { shift, factor });
        }
        None
    }

    #[inline]
    fn standardised(&self, reading: i16) -> Q16 {
        const MOST: i64 = (FARTHEST as i64) << 16;
        let distance = i64::from(height(reading).wrapping_sub(self.level));
        let (factor, shift) = (i64::from(self.gain & 0xffff), (self.gain >> 16) & 63);
        let value = (distance * factor) >> shift;
        Q16::wide(value.clamp(-MOST, MOST))
    }

    #[inline]
    fn moves(&self) -> bool {
        self.gain > 0
    }

    #[inline]
    fn is_mean(&self, reading: i16) -> bool {
        height(reading) == self.mean
    }

    fn learned(&self) -> (f32, f32) {
        (counts(self.mean), f32_of_weight(self.variance) / PER_SQUARE)
    }

    fn in_use(&self) -> (f32, f32) {
        let gain = self.gain_in_use();
        (counts(self.level), if gain > 0.0 { 1.0 / gain } else { 0.0 })
    }
}

impl IntegerStandard {
    /// A step from the mean, at most 8 deviations long.
    #[inline]
    fn cut(&self, step: i32) -> i32 {
        let distance = u64::from(step.unsigned_abs() >> BELOW_DISTANCE);
        if self.variance == 0 || distance * distance <= self.variance << (2 * CUT) {
            return step;
        }
        let longest = (wide_root(self.variance) << (CUT + BELOW_DISTANCE)).cast_signed();
        if step < 0 { longest.wrapping_neg() } else { longest }
    }

    #[inline(never)]
    #[expect(clippy::cast_possible_truncation, reason = "within the range of readings")]
    fn begin(&mut self, readings: &[Q24]) {
        let mut values = [0.0; FIRST_ROWS];
        for (value, reading) in values.iter_mut().zip(readings) {
            *value = counts(reading.in_units() << LEVEL_BITS);
        }
        let values = values.get(..readings.len()).unwrap_or(&values);
        let (median, cut) = middle_of(values);
        let cut = if cut > 0.0 { cut } else { f32::MAX };
        self.rows = 0;
        for value in values {
            let value = median + within(value - median, cut);
            self.blend(((value * PER_COUNT) as i32).wrapping_sub(self.mean));
        }
    }

    /// Takes a reading that is so far above the mean into mean and variance.
    fn blend(&mut self, step: i32) {
        self.rows = self.rows.saturating_add(1);
        let share = u32::MAX / self.rows;
        self.mean = self.mean.wrapping_add(shared(step, share));
        let distance = u64::from(step.unsigned_abs() >> BELOW_DISTANCE);
        let variance = self.variance.saturating_add(wide_share(distance * distance, share));
        // The first reading has no spread.
        let left = if self.rows == 1 { variance } else { wide_share(variance, share) };
        self.variance = variance.saturating_sub(left);
    }

    /// 1/deviation by all rows so far, in counts; 0 where nothing has moved.
    fn present_gain(&self) -> f32 {
        let variance = self.learned().1;
        if variance <= 0.0 { 0.0 } else { 1.0 / sqrt_f32(variance).or_more(LEAST_DEVIATION) }
    }

    fn gain_in_use(&self) -> f32 {
        let factor = crate::numeric::row_count(self.gain & 0xffff);
        // 2^(−shift)·2^15/2^16, as a level has 15 bits and a value 16.
        let exponent = 127 - (self.gain >> 16) - 1;
        factor * f32::from_bits((exponent & 0xff) << 23)
    }
}

/// The factor of 16 bits, and the shift, of a gain per count.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "16 bits")]
fn gain_of(per_count: f32) -> u32 {
    // Units of 2⁻¹⁶ of a value for each unit of 2⁻¹⁵ of a count.
    let (mut factor, mut shift) = (2.0 * per_count, 0_u32);
    while factor < 32_768.0 && shift < 40 {
        factor *= 2.0;
        shift += 1;
    }
    (shift << 16) | (factor + 0.5).min(65_535.0) as u32
}
