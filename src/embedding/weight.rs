//! Weights of samples, their total, and shares of sums, in integers.

use crate::error::{Error, Parameter};

/// The total weight of an embedding stays below this: 127·2²⁶, more than 8·10⁹ samples.
///
/// It is below 2³³ by a margin for backends whose points lie slightly outside the circle, so that
/// every sum fits in the 64 bits it is saved in.
pub const MAX_TOTAL_WEIGHT: f32 = 8_522_825_728.0;

/// Smallest weight of a sample other than 0: 2⁻¹². What a sample adds to a sum is rounded to 2⁻²⁴: if
/// your weights are smaller, multiply all of them by a constant.
pub const MIN_WEIGHT: f32 = 1.0 / 4096.0;

/// Largest weight of a sample: 2²⁰.
pub const MAX_WEIGHT: f32 = 1_048_576.0;

/// Fractional bits of the total weight.
pub(super) const PLACES: u32 = 30;
/// The unit of the sums in units of the weight.
pub(super) const SUM_UNIT: f32 = 64.0;
pub(super) const ONE: f32 = 1_073_741_824.0;
pub(super) const FULL: u64 = 127 << (26 + PLACES);

/// The weight of a sample: mantissa · 2^(−shift), exact for any `f32` in range.
#[derive(Debug, Clone, Copy)]
pub(super) struct Weight {
    pub(super) mantissa: i64,
    pub(super) shift: u32,
    /// The weight in units of 2⁻³⁰, as it is added to the total.
    pub(super) total: u64,
}

impl Weight {
    pub(super) fn new(weight: f32) -> Result<Self, Error> {
        if !weight.is_finite() {
            return Err(Error::NonFinite(Parameter::Weight));
        }
        // Weights from kernel mean matching are often 0.
        if weight == 0.0 {
            return Ok(Self { mantissa: 0, shift: 0, total: 0 });
        }
        if !(MIN_WEIGHT..=MAX_WEIGHT).contains(&weight) {
            return Err(Error::OutOfRange(Parameter::Weight));
        }
        let bits = weight.to_bits();
        // weight = mantissa · 2^(exponent − 150); weights in range have an exponent in 115..=147.
        let exponent = bits >> 23;
        let mantissa = i64::from((bits & 0x007f_ffff) | 0x0080_0000);
        let shift = 150_u32.saturating_sub(exponent);
        let total = scaled(1 << PLACES, mantissa, shift).unsigned_abs();
        Ok(Self { mantissa, shift, total })
    }

    /// Its square in units of 2⁻⁶⁰.
    pub(super) fn squared(self) -> u128 {
        square(self.total)
    }
}

pub(super) fn square(value: u64) -> u128 {
    u128::from(value).wrapping_mul(u128::from(value))
}

/// value · mantissa · 2^(−shift), rounded to nearest: |value| < 2³¹, mantissa < 2²⁴, shift ≤ 35.
#[inline]
pub(super) fn scaled(value: i64, mantissa: i64, shift: u32) -> i64 {
    let product = value.wrapping_mul(mantissa);
    if shift == 0 {
        return product;
    }
    let half = 1_i64.wrapping_shl(shift - 1);
    product.wrapping_add(half).wrapping_shr(shift)
}

/// value · factor · 2⁻³², rounded to nearest, for a factor of at most 2³².
pub(super) fn shrink(value: u64, factor: u64) -> u64 {
    let low = (value & 0xffff_ffff).wrapping_mul(factor);
    let rounded = (low >> 32).wrapping_add((low >> 31) & 1);
    (value >> 32).wrapping_mul(factor).wrapping_add(rounded)
}

/// The same for a sum, but rounded towards 0. Rounded to nearest, the last unit of a sum would
/// never vanish while the weight, which has a finer unit, goes on shrinking.
pub(super) fn shrink_sum(sum: i64, factor: u64) -> i64 {
    let value = sum.unsigned_abs();
    let low = (value & 0xffff_ffff).wrapping_mul(factor) >> 32;
    let size = (value >> 32).wrapping_mul(factor).wrapping_add(low).cast_signed();
    if sum < 0 { size.wrapping_neg() } else { size }
}

pub(super) fn shrink_wide(value: u128, factor: u64) -> u128 {
    let factor = u128::from(factor);
    let low = (value & 0xffff_ffff).wrapping_mul(factor);
    let rounded = (low >> 32).wrapping_add((low >> 31) & 1);
    (value >> 32).wrapping_mul(factor).wrapping_add(rounded)
}
