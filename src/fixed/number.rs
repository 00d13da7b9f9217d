//! The numbers of a detector in integers.
//!
//! Values are in units of 2⁻¹⁶ ([`Q16`]), products of two in units of 2⁻²⁴ ([`Q24`]); both in 32 bits.
//! All that is kept lies within ±2¹⁴ and ±64, so that sums and differences of two do not overflow.
//! Results are rounded to the nearest, and held to that range. The same bits on every target.

use core::ops::{Add, AddAssign, Neg, Sub, SubAssign};

use crate::error::Error;
use crate::numeric::{Moments, Number, Rate, Real, f32_of_sum, f32_of_weight};
use crate::state::{Plain, Reader, Writer, plain_states, state};

use super::ONE;
use super::circle::IntegerMeans;
use super::standard::IntegerStandard;

/// A number in units of 2^(−F), from −2³⁰ to 2³⁰ of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Q<const F: u32>(i32);

/// Values.
pub(crate) type Q16 = Q<16>;
/// Products.
pub(crate) type Q24 = Q<24>;

/// The largest number of units.
const MOST: i32 = (1 << 30) - 1;

impl<const F: u32> Q<F> {
    /// So many units, within the range.
    #[inline(always)]
    pub(crate) fn units(units: i32) -> Self {
        Self(units.clamp(-MOST, MOST))
    }

    /// The same of a wide number.
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "held to the range first")]
    pub(crate) fn wide(units: i64) -> Self {
        Self(units.clamp(-(MOST as i64), MOST as i64) as i32)
    }

    /// In units of 2^(−F).
    #[inline(always)]
    pub(crate) fn in_units(self) -> i32 {
        self.0
    }
}

impl<const F: u32> Add for Q<F> {
    type Output = Self;

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self(self.0.wrapping_add(other.0))
    }
}

impl<const F: u32> Sub for Q<F> {
    type Output = Self;

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        Self(self.0.wrapping_sub(other.0))
    }
}

impl<const F: u32> Neg for Q<F> {
    type Output = Self;

    #[inline(always)]
    fn neg(self) -> Self {
        Self(self.0.wrapping_neg())
    }
}

impl<const F: u32> AddAssign for Q<F> {
    #[inline(always)]
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl<const F: u32> SubAssign for Q<F> {
    #[inline(always)]
    fn sub_assign(&mut self, other: Self) {
        *self = *self - other;
    }
}

impl<const F: u32> Plain for Q<F> {
    const BYTES: usize = i32::BYTES;

    fn write(self, writer: &mut Writer<'_>) {
        self.0.write(writer);
    }

    fn take(reader: &mut Reader<'_>) -> Result<Self, Error> {
        let units = i32::take(reader)?;
        if units.unsigned_abs() <= MOST.unsigned_abs() {
            Ok(Self(units))
        } else {
            Err(Error::Inconsistent)
        }
    }
}

plain_states!(generic [const F: u32] Q<F> = Q(0));

/// x·r·2⁻¹⁶, rounded, for r up to 2¹⁶: two products of 32 bits, where one of 64 would be a call.
#[inline(always)]
pub(crate) fn scaled(x: i32, rate: u32) -> i32 {
    let low = (x.cast_unsigned() & 0xffff).wrapping_mul(rate).wrapping_add(0x8000) >> 16;
    (x >> 16).wrapping_mul(rate.cast_signed()).wrapping_add(low.cast_signed())
}

/// x·s·2⁻³², rounded.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "no larger than x")]
pub(crate) fn shared(x: i32, share: u32) -> i32 {
    ((i64::from(x) * i64::from(share) + (1 << 31)) >> 32) as i32
}

/// ⌊√x⌋, bit by bit: without division.
pub(crate) fn root_of_units(x: u32) -> u32 {
    let (mut rest, mut root) = (x, 0_u32);
    let mut bit = 1_u32 << 30;
    while bit > 0 {
        let trial = root.wrapping_add(bit);
        root >>= 1;
        if rest >= trial {
            rest -= trial;
            root |= bit;
        }
        bit >>= 2;
    }
    root
}

/// √x to 16 bits.
#[inline(never)]
#[expect(clippy::cast_possible_truncation, reason = "shifted to 32 bits")]
pub(crate) fn wide_root(x: u64) -> u32 {
    if x == 0 {
        return 0;
    }
    // By an even number of bits, to fill 32.
    let zeros = x.leading_zeros() & !1;
    if zeros < 32 {
        let down = 32 - zeros;
        root_of_units((x >> down) as u32) << (down / 2)
    } else {
        let up = zeros - 32;
        root_of_units((x as u32) << up) >> (up / 2)
    }
}

impl<const F: u32> Real for Q<F> {
    type Share = u32;
    const ZERO: Self = Self(0);
    const LEAST: Self = Self(1);

    #[inline(always)]
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        reason = "held to the range"
    )]
    fn of(value: f32) -> Self {
        let units = value * (1_u32 << F) as f32;
        Self::units((units + if value < 0.0 { -0.5 } else { 0.5 }) as i32)
    }

    #[expect(clippy::cast_precision_loss, reason = "to 24 bits")]
    fn value(self) -> f32 {
        self.0 as f32 / (1_u32 << F) as f32
    }

    #[inline(always)]
    fn bits(self) -> u32 {
        self.0.cast_unsigned()
    }

    #[inline(always)]
    fn from_bits(bits: u32) -> Self {
        Self(bits.cast_signed())
    }

    #[inline(always)]
    fn part(self, rate: Rate) -> Self {
        Self(scaled(self.0, rate.units()))
    }

    #[inline(always)]
    fn share(self, share: u32) -> Self {
        Self(shared(self.0, share))
    }
}

impl Number for Q16 {
    type Scalar = i16;
    type Product = Q24;
    type Sum = i64;
    type Moments = IntegerMoments;
    type Standard = IntegerStandard;
    type Means = IntegerMeans;

    #[inline]
    fn share_of(count: u32) -> u32 {
        u32::MAX / count.max(1)
    }

    #[inline]
    fn shares(share: u32, count: u32) -> Self {
        Self(share.wrapping_mul(count).cast_signed() >> 16 & 0xffff)
    }

    #[inline]
    fn rate_of_window(window: u32) -> Rate {
        Rate::of_units((2 << 16) / window.saturating_add(1))
    }

    #[inline]
    fn fraction(units: u32) -> Self {
        Self((units >> 16).cast_signed())
    }

    #[inline(always)]
    fn times(self, other: Self) -> Self {
        Self::wide((i64::from(self.0) * i64::from(other.0) + (1 << 15)) >> 16)
    }

    #[inline(never)]
    fn over(self, other: Self) -> Self {
        let negative = (self.0 < 0) != (other.0 < 0);
        let (above, below) = (self.0.unsigned_abs(), other.0.unsigned_abs());
        let up = above.leading_zeros();
        // The divisor to 16 bits, which are then those of the quotient.
        let down = 16_u32.saturating_sub(below.leading_zeros());
        let below = below >> down;
        if above == 0 {
            return Self::ZERO;
        }
        if below == 0 {
            return Self(if negative { -MOST } else { MOST });
        }
        let quotient = u64::from((above << up) / below);
        // above/below·2¹⁶ = quotient·2^(16 − up − down).
        let units = if up + down <= 16 {
            quotient << (16 - up - down)
        } else {
            quotient >> (up + down - 16).min(63)
        };
        let units = units.min(MOST.unsigned_abs().into()).cast_signed();
        Self::wide(if negative { -units } else { units })
    }

    #[inline]
    fn root(self) -> Self {
        if self.0 <= 0 {
            return Self::ZERO;
        }
        Self(wide_root(u64::from(self.0.cast_unsigned()) << 16).cast_signed())
    }

    #[inline(always)]
    fn product(self, other: Self) -> Q24 {
        Q24::wide((i64::from(self.0) * i64::from(other.0) + (1 << 7)) >> 8)
    }

    #[inline]
    fn root_of(product: Q24) -> Self {
        if product.0 <= 0 {
            return Self::ZERO;
        }
        Self(wide_root(u64::from(product.0.cast_unsigned()) << 8).cast_signed())
    }

    #[inline]
    fn sum_of_products<const T: usize>(first: Self, terms: [Self; T], weights: &[Self; T]) -> Self {
        let mut sum = (i64::from(first.0) << 16) + (1 << 15);
        for (term, weight) in terms.into_iter().zip(weights) {
            sum = sum.wrapping_add(i64::from(term.0) * i64::from(weight.0));
        }
        Self::wide(sum >> 16)
    }

    #[inline(always)]
    fn take_into(self, sum: &mut i64) {
        *sum = sum.saturating_add(self.0.into());
    }

    fn sum_value(sum: &i64) -> f32 {
        f32_of_sum(*sum) / 65_536.0
    }

    #[expect(clippy::cast_possible_truncation, reason = "the cast saturates")]
    fn sum_of(value: f32) -> i64 {
        (value * 65_536.0) as i64
    }

    /// In units of 2⁻¹¹, from −16 to 16.
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "held to the range first")]
    fn coordinate(self) -> i16 {
        const BELOW: u32 = 16 - ONE.ilog2();
        (self.0 >> BELOW).clamp(i16::MIN.into(), i16::MAX.into()) as i16
    }

    #[inline(always)]
    fn draw_in(_vector: &mut [i16], _reach: impl Fn() -> f32) {}

    #[inline]
    fn root_of_distance(sum: u64, circles: usize, window: u32) -> Self {
        // In units of 2⁻²⁸; the root of units of 2⁻³² is in those of 2⁻¹⁶.
        let mean = sum / (circles.max(1) as u64);
        Self::units(wide_root(mean.wrapping_mul(window.into()) << 4).cast_signed())
    }
}

state! {
    /// Sums of R, in units of 2⁻¹⁶, and of R², in units of 2⁻²⁴, where R is of the order of 1.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct IntegerMoments {
        sum: u64,
        squares: u64,
    }
}

/// No larger root, in units of 2⁻¹⁶, is told from this one: its square has 32 bits.
const LARGEST_ROOT: u64 = (1 << 24) - 1;

impl Moments<Q16> for IntegerMoments {
    #[inline]
    fn take_in(&mut self, root: Q16, _rows: u32, exponent: i32) {
        let root = u64::from(root.0.unsigned_abs());
        let root = if exponent < 0 { root >> -exponent } else { root << exponent };
        let root = root.min(LARGEST_ROOT);
        let r = (root * root) >> 16;
        self.sum = self.sum.saturating_add(r);
        self.squares = self.squares.saturating_add((r >> 4) * (r >> 4));
    }

    fn means(&self, rows: u32, exponent: i32) -> (f32, f32) {
        let rows = crate::numeric::row_count(rows.max(1));
        // 4^(−exponent).
        let unit = f32::from_bits((127 - 2 * exponent).cast_unsigned() << 23);
        let mean = f32_of_weight(self.sum) / 65_536.0 / rows * unit;
        (mean, f32_of_weight(self.squares) / 16_777_216.0 / rows * unit * unit)
    }
}
