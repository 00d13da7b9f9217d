//! Level and spread of a channel of integer readings.

use crate::condition::{FARTHEST, FIRST_CUT, Standardise, middle_of};
use crate::numeric::{Real, f32_of_weight, row_count, sqrt_f32};
use crate::state::state;

use super::number::{Q16, Q20, scaled, shared, wide_root};
use super::wide::{Wide, wide_share};

/// Readings are clipped at this many deviations, as a power of two.
const CUT: u32 = 3;
/// Levels are in units of 2⁻¹⁵ of a count.
const PER_COUNT: f32 = 32_768.0;
const LEVEL_BITS: u32 = 15;
/// Variances are in units of 2⁻¹⁶ of a square count: of distances in units of 2⁻⁸.
const PER_SQUARE: f32 = 65_536.0;
const BELOW_DISTANCE: u32 = 7;
/// [`FARTHEST`] in units of values, and [`FIRST_CUT`].
#[expect(clippy::cast_possible_truncation, reason = "whole numbers")]
const FARTHEST_UNITS: i32 = (FARTHEST as i32) << 16;
#[expect(clippy::cast_possible_truncation, reason = "a whole number")]
const FIRST_CUT_WHOLE: i32 = FIRST_CUT as i32;
/// No deviation is taken to be smaller, in counts.
const LEAST_DEVIATION: f32 = 1.0 / 64.0;

state! {
    /// Running mean and variance of a channel of integer readings, and the ones in use: 20 bytes.
    #[derive(Debug, Clone, Copy, PartialEq)]
    #[doc(hidden)]
    pub struct IntegerStandard {
        rows: u32,
        mean: i32,
        variance: Wide,
        /// What standardised values are measured from.
        level: i32,
        /// 2¹⁶ units of a value for each unit of a level: 16 bits, and by how many bits the product is
        /// shifted down above them. 0 for a channel that has not moved.
        gain: u32,
    }
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
    fn rows(&mut self) -> &mut u32 {
        &mut self.rows
    }

    #[inline]
    fn kept(reading: i16) -> Q20 {
        Q20::units(reading.into())
    }

    #[inline(never)]
    fn begin(&mut self, first: &[Q20]) {
        let heights = first.iter().map(|reading| reading.in_units() << LEVEL_BITS);
        let (median, trusted) = middle_of(heights.clone(), 0, |height| height >> 1);
        let cut = if trusted > 0 { trusted.saturating_mul(FIRST_CUT_WHOLE) } else { i32::MAX };
        self.rows = 0;
        for height in heights {
            let height = median.wrapping_add(height.wrapping_sub(median).max(-cut).min(cut));
            self.blend(height.wrapping_sub(self.mean));
        }
    }

    #[inline]
    fn follow(&mut self, reading: i16) {
        let step = height(reading).wrapping_sub(self.mean);
        self.blend(self.cut(step));
    }

    fn present_gain(&self) -> f32 {
        let variance = self.learned().1;
        if variance <= 0.0 { 0.0 } else { 1.0 / sqrt_f32(variance).or_more(LEAST_DEVIATION) }
    }

    fn gain_in_use(&self) -> f32 {
        let factor = row_count(self.gain & 0xffff);
        // 2^(−shift)·2^15/2^16, as a level has 15 bits and a value 16.
        let exponent = 126_u32.wrapping_sub(self.gain >> 16);
        factor * f32::from_bits((exponent & 0xff) << 23)
    }

    fn above_level(&self) -> f32 {
        counts(self.mean.wrapping_sub(self.level))
    }

    fn measure_by(&mut self, gain: f32) {
        (self.level, self.gain) = (self.mean, gain_of(gain));
    }

    #[inline]
    fn standardised(&self, reading: i16) -> Q16 {
        let distance = height(reading).wrapping_sub(self.level);
        let (factor, shift) = (self.gain & 0xffff, (self.gain >> 16) & 31);
        let value = scaled(distance, factor);
        if shift >= 16 {
            return Q16::units((value >> (shift - 16)).clamp(-FARTHEST_UNITS, FARTHEST_UNITS));
        }
        // A fine scale: at most 9 bits.
        let most = i64::from(FARTHEST_UNITS);
        Q16::wide((i64::from(value) << (16 - shift)).max(-most).min(most))
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
        (counts(self.mean), f32_of_weight(self.variance.get()) / PER_SQUARE)
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
        let variance = self.variance.get();
        if variance == 0 || distance * distance <= variance << (2 * CUT) {
            return step;
        }
        let longest = (wide_root(variance) << (CUT + BELOW_DISTANCE)).cast_signed();
        if step < 0 { longest.wrapping_neg() } else { longest }
    }

    /// Takes a reading into mean and variance, given how far it is above the mean.
    fn blend(&mut self, step: i32) {
        self.rows = self.rows.saturating_add(1);
        let share = u32::MAX / self.rows.max(1);
        self.mean = self.mean.wrapping_add(shared(step, share));
        let distance = u64::from(step.unsigned_abs() >> BELOW_DISTANCE);
        let variance = self.variance.get() + wide_share(distance * distance, share);
        // The first reading has no spread.
        let left = if self.rows == 1 { variance } else { wide_share(variance, share) };
        self.variance = Wide::of(variance - left);
    }
}

/// The factor of 16 bits, and the shift, of a gain per count.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "16 bits")]
fn gain_of(per_count: f32) -> u32 {
    // Units of 2⁻¹⁶ of a value for each unit of 2⁻¹⁵ of a count.
    let (mut factor, mut shift) = (2.0 * per_count, 0_u32);
    while factor < 32_768.0 && shift < 31 {
        factor *= 2.0;
        shift += 1;
    }
    (shift << 16) | (factor + 0.5).min(65_535.0) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::sampling::Stream;
    use crate::state::Initial;

    /// Noise of less than a count, and rows that each move mean and variance by far less than a unit.
    #[test]
    #[cfg_attr(miri, ignore = "too slow when interpreted")]
    fn long_learning_of_small_noise_is_as_good_as_short() {
        let mut stream = Stream::new(5);
        let (mut standard, mut first) = (IntegerStandard::INITIAL, [Q20::ZERO; 16]);
        for rows in [4096, 262_144] {
            let (mut sum, mut squares) = (0.0, 0.0);
            for _ in 0..rows {
                let reading = i16::from(stream.below(10) == 0);
                standard.learn(reading, &mut first);
                sum += f64::from(reading);
                squares += f64::from(reading).powi(2);
            }
            let mean = sum / f64::from(rows);
            let (level, variance) = standard.learned();
            let ratio = f64::from(variance) / (squares / f64::from(rows) - mean * mean);
            assert!((f64::from(level) - mean).abs() < 0.01, "{level} {mean}");
            assert!((ratio - 1.0).abs() < 0.1, "{ratio}");
        }
    }
}
