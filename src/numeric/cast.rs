//! Number conversions that round or rely on a bound, each in one place.

/// A count as `f64`: exact below 2⁵³.
#[expect(clippy::cast_precision_loss, reason = "counts are far below 2⁵³")]
pub(crate) const fn f64_of(count: usize) -> f64 {
    count as f64
}

/// A count as `f32`: exact below 2²⁴, which covers every number of frequencies.
#[expect(clippy::cast_precision_loss, reason = "numbers of frequencies are at most 2¹⁶")]
pub(crate) const fn f32_of(count: usize) -> f32 {
    count as f32
}

/// A number of rows as `f32`: exact up to 2²⁴, and accurate enough for a rate above.
#[expect(clippy::cast_precision_loss, reason = "a rate of learning need not be exact")]
pub(crate) const fn row_count(rows: u32) -> f32 {
    rows as f32
}

/// The nearest `f32`.
#[expect(clippy::cast_possible_truncation, reason = "rounding is what is asked for")]
pub(crate) const fn rounded(value: f64) -> f32 {
    value as f32
}

/// The nearest `f32` to a sum.
#[expect(clippy::cast_precision_loss, reason = "rounding is what is asked for")]
pub(crate) fn f32_of_sum(sum: i64) -> f32 {
    sum as f32
}

/// The nearest `f32` to a total weight.
#[expect(clippy::cast_precision_loss, reason = "rounding is what is asked for")]
pub(crate) fn f32_of_weight(weight: u64) -> f32 {
    weight as f32
}

/// The nearest `f32` to a sum of squared weights.
#[expect(clippy::cast_precision_loss, reason = "rounding is what is asked for")]
pub(crate) fn f32_of_squares(squares: u128) -> f32 {
    squares as f32
}

/// An index or length whose bound a shape check guarantees.
#[expect(clippy::cast_possible_truncation, reason = "every caller's bound is below 2¹⁶")]
pub(crate) const fn u16_of(index: usize) -> u16 {
    index as u16
}

/// A length whose bound a shape check guarantees.
#[expect(clippy::cast_possible_truncation, reason = "lengths are far below 2³²")]
pub(crate) const fn u32_of(length: usize) -> u32 {
    length as u32
}

/// A number of rows without its fraction; 0 for a negative one.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the cast saturates, which is what is asked for"
)]
pub(crate) const fn whole(rows: f32) -> u32 {
    rows as u32
}

/// The nearest integer; halves are rounded away from 0.
#[expect(clippy::cast_possible_truncation, reason = "the cast saturates")]
pub(crate) const fn nearest(value: f64) -> i64 {
    (value + if value < 0.0 { -0.5 } else { 0.5 }) as i64
}

/// `part`/`whole` as a number from 0 to 1, rounded down to about 32 bits less those of `whole`; in
/// integers, for cores that compute with floating point only by long functions.
pub(crate) fn part_of(part: u32, whole: u32) -> f32 {
    if part >= whole {
        return 1.0;
    }
    let shift = part.leading_zeros();
    let quotient = part.checked_shl(shift).unwrap_or(0) / whole.max(1);
    if quotient == 0 {
        return 0.0;
    }
    let zeros = quotient.leading_zeros();
    let mantissa = (quotient << zeros) >> 8;
    // quotient·2^(−shift), by the bits of an `f32`: the first bit of the mantissa is not kept.
    let exponent = 127 + 31 - zeros - shift;
    f32::from_bits((exponent << 23) | (mantissa & 0x007f_ffff))
}
