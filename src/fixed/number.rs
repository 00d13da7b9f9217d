//! The numbers of a detector in integers.
//!
//! Values are in units of 2⁻¹⁶ ([`Q16`]), products of two in units of 2⁻²⁰ ([`Q20`]), so that those of
//! readings 30 deviations out fit; both in 32 bits. All that is kept lies within ±2¹⁴ and ±1024, so that
//! sums and differences of two do not overflow. Results are rounded to the nearest, and held to that
//! range. The same bits on every target.

use core::ops::{Add, AddAssign, Neg, Sub, SubAssign};

use crate::error::Error;
use crate::numeric::{Moments, Number, Rate, Real, ln_in_units};
use crate::state::{Plain, Reader, Writer, plain_states, state};

use super::ONE;
use super::circle::{IntegerMeans, SquaredSum};
use super::maxima::IntegerMaxima;
use super::standard::IntegerStandard;

/// A number in units of 2^(−F), from −2³⁰ to 2³⁰ of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[doc(hidden)]
pub struct Q<const F: u32>(i32);

/// Values.
pub(crate) type Q16 = Q<16>;
/// Products of values.
pub(crate) type Q20 = Q<20>;
/// Points on circles.
pub(crate) type Q24 = Q<24>;

/// The largest number of units.
const MOST: i32 = (1 << 30) - 1;

impl<const F: u32> Q<F> {
    /// So many units, within the range.
    #[inline(always)]
    pub(crate) fn units(units: i32) -> Self {
        Self(units.clamp(-MOST, MOST))
    }

    /// So many units, known to be within the range.
    #[inline(always)]
    pub(crate) fn plain(units: i32) -> Self {
        Self(units)
    }

    /// So many of a wide number, within the range.
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "held to the range first")]
    pub(crate) fn wide(units: i64) -> Self {
        let most = i64::from(MOST);
        // Not `clamp`, which a small build does not know to be in order.
        Self(units.max(-most).min(most) as i32)
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

/// x·s·2⁻³², rounded up or down, as often as it is nearer to one or the other.
///
/// Rounded to nearest, a running mean would stand still as soon as its steps are below half a unit, and
/// one of squares, whose steps down are small and many, would only rise.
#[inline(always)]
pub(crate) fn shared(x: i32, share: u32) -> i32 {
    if SHORT_PRODUCTS {
        return shared_in_parts(x, share);
    }
    ((i64::from(x) * i64::from(share) + (i64::from(dither(share)) << 16)) >> 32) as i32
}

/// From 0 to 2¹⁶ − 1, another one for each share, as if drawn.
#[inline(always)]
pub(crate) fn dither(share: u32) -> u32 {
    share.wrapping_mul(0x9e37_79b9) >> 16
}

/// Whether the core multiplies 32 bits by 32 to 32 only, so that a longer product is a call of dozens of
/// instructions: that is ARMv6-M, known by what else it lacks.
const SHORT_PRODUCTS: bool = cfg!(all(target_arch = "arm", not(target_has_atomic = "32")));

/// [`shared`] by products of 32 bits.
#[inline]
fn shared_in_parts(x: i32, share: u32) -> i32 {
    // x = a·2¹⁶ + b, share = c·2¹⁶ + d.
    let (a, b) = (x >> 16, x.cast_unsigned() & 0xffff);
    let (c, d) = (share >> 16, share & 0xffff);
    let (left, right) = (a.wrapping_mul(d.cast_signed()), b.wrapping_mul(c));
    let below = (left.cast_unsigned() & 0xffff) + (right & 0xffff) + (b.wrapping_mul(d) >> 16);
    a.wrapping_mul(c.cast_signed())
        .wrapping_add(left >> 16)
        .wrapping_add((right >> 16).cast_signed())
        .wrapping_add(((below + dither(share)) >> 16).cast_signed())
}

/// x·y·2^(−F), rounded, for F of 12 and 16 and a result of less than 2³⁰.
#[inline(always)]
fn short_product<const F: u32>(x: i32, y: i32) -> i32 {
    // x = a·2¹⁶ + b, y = c·2¹⁶ + d.
    let (a, b) = (x >> 16, x.cast_unsigned() & 0xffff);
    let (c, d) = (y >> 16, y.cast_unsigned() & 0xffff);
    let cross = a.wrapping_mul(d.cast_signed()).wrapping_add(c.wrapping_mul(b.cast_signed()));
    let low = b.wrapping_mul(d).wrapping_add(1 << (F - 1)) >> F;
    (a.wrapping_mul(c) << (32 - F)).wrapping_add(cross << (16 - F)).wrapping_add(low.cast_signed())
}

/// x·y·2^(−F), rounded, and held to the range.
#[inline(always)]
fn product<const F: u32, const G: u32>(x: i32, y: i32) -> Q<G> {
    // Both short enough that nothing is to be held.
    let near = 1_i32 << ((30 + F) / 2);
    let is_near = |x: i32| x.wrapping_add(near).cast_unsigned() < 2 * near.cast_unsigned();
    if SHORT_PRODUCTS && is_near(x) && is_near(y) {
        return Q(short_product::<F>(x, y).clamp(-MOST, MOST));
    }
    Q::wide((i64::from(x) * i64::from(y) + (1 << (F - 1))) >> F)
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

/// Terms of a prediction are cut here: 128.
const FARTHEST_TERM: i32 = (1 << 23) - 1;

impl Number for Q16 {
    type Scalar = i16;
    type Product = Q20;
    type Sum = i32;
    type Moments = IntegerMoments;
    type Maxima = IntegerMaxima;
    type Standard = IntegerStandard;
    type Means = IntegerMeans;

    #[inline]
    fn share_of(count: u32) -> u32 {
        u32::MAX / count.max(1)
    }

    #[inline]
    fn shares(share: u32, count: u32) -> Self {
        Self::fraction(share.wrapping_mul(count))
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
        product::<16, 16>(self.0, other.0)
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
        let units = self.0.max(0).cast_unsigned();
        // The root of 2¹²·x is in units of 2⁻¹⁴.
        if units < 1 << 20 {
            return Self((root_of_units(units << 12) << 2).cast_signed());
        }
        Self(wide_root(u64::from(units) << 16).cast_signed())
    }

    fn ln(self) -> Self {
        Self::ln_ratio(self.0.unsigned_abs(), 1 << 16)
    }

    fn ln_ratio(a: u32, b: u32) -> Self {
        Self(ln_in_units(a).cast_signed() - ln_in_units(b).cast_signed())
    }

    fn ratio(a: u32, b: u32) -> Self {
        Self::units(((a.min(0xffff) << 16) / b.max(1)).cast_signed())
    }

    #[inline(always)]
    fn product(self, other: Self) -> Q20 {
        product::<12, 20>(self.0, other.0)
    }

    #[inline]
    fn root_of(product: Q20) -> Self {
        Self(wide_root(u64::from(product.0.max(0).cast_unsigned()) << 12).cast_signed())
    }

    #[inline]
    fn sum_of_products<const T: usize>(first: Self, terms: [Self; T], weights: &[Self; T]) -> Self {
        // Farther terms say no more, and sums of the others do not overflow.
        let products = terms.into_iter().zip(weights);
        products
            .fold(first, |sum, (term, weight)| sum + term.held(Self(FARTHEST_TERM)).times(*weight))
    }

    /// In units of 2⁻⁸, so that millions fit.
    #[inline(always)]
    fn take_into(self, sum: &mut i32) {
        *sum = sum.saturating_add((self.0 + (1 << 7)) >> 8);
    }

    #[expect(clippy::cast_precision_loss, reason = "to 24 bits")]
    fn sum_value(sum: &i32) -> f32 {
        *sum as f32 / 256.0
    }

    #[expect(clippy::cast_possible_truncation, reason = "the cast saturates")]
    fn sum_of(value: f32) -> i32 {
        (value * 256.0) as i32
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
    #[expect(clippy::cast_possible_truncation, reason = "maps have fewer circles")]
    fn root_of_distance(SquaredSum(sum): SquaredSum, circles: usize, window: u32) -> Self {
        // In units of 2⁻¹⁸; the root of units of 2⁻³² is in those of 2⁻¹⁶.
        let mean = u64::from(sum / (circles.max(1) as u32));
        Self::units(wide_root((mean * u64::from(window)) << 14).cast_signed())
    }
}

state! {
    /// Mean of R and its variance, both in units of 2⁻¹⁶, where R is of the order of 1: 8
    /// bytes. Not the mean of R²: the small difference of two large numbers would be lost.
    #[derive(Debug, Clone, Copy, PartialEq)]
    #[doc(hidden)]
    pub struct IntegerMoments {
        mean: i32,
        variance: i32,
    }
}

/// No larger root, in units of 2⁻¹⁶, is told from this one, of 128: R then fits.
const LARGEST_ROOT: u32 = (1 << 23) - 1;

impl Moments<Q16> for IntegerMoments {
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "the root is cut")]
    fn take_in(&mut self, root: Q16, rows: u32, exponent: i32) {
        let root = root.0.unsigned_abs().min(1 << 26);
        let root = if exponent < 0 { root >> -exponent } else { root << exponent };
        let root = u64::from(root.min(LARGEST_ROOT));
        let r = (root * root) >> 16;
        let share = u32::MAX / rows.max(1);
        let before = i64::from((r as i32).wrapping_sub(self.mean));
        self.mean = self.mean.wrapping_add(shared(before as i32, share));
        let square = ((before * i64::from((r as i32).wrapping_sub(self.mean))) >> 16)
            .max(0)
            .min(MOST.into());
        self.variance =
            self.variance.wrapping_add(shared((square as i32).wrapping_sub(self.variance), share));
    }

    #[expect(clippy::cast_precision_loss, reason = "to 24 bits")]
    fn means(&self, _rows: u32, exponent: i32) -> (f32, f32) {
        // 4^(−exponent).
        let unit = f32::from_bits((127 - 2 * exponent).cast_unsigned() << 23);
        let mean = self.mean as f32 / 65_536.0 * unit;
        (mean, mean * mean + self.variance as f32 / 65_536.0 * unit * unit)
    }

    fn mean_times(&self, exponent: i32, count: u32) -> Q16 {
        Q16::wide((i64::from(self.mean) * i64::from(count)) >> (2 * exponent).max(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::sampling::Stream;

    /// Numbers of all sizes.
    fn numbers(seed: u64) -> impl FnMut() -> i32 {
        let mut stream = Stream::new(seed);
        move || {
            let bits = stream.below(31);
            let size = stream.below(1 << bits);
            let size = i32::try_from(size).unwrap();
            if stream.below(2) == 0 { size } else { -size }
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "too slow when interpreted")]
    fn products_are_exact_whatever_the_core_has() {
        let mut number = numbers(1);
        for _ in 0..20_000 {
            let (x, y) = (number(), number());
            let share = number().cast_unsigned();
            let dither = i64::from(dither(share)) << 16;
            let wide = ((i64::from(x) * i64::from(share) + dither) >> 32) as i32;
            assert_eq!(shared_in_parts(x, share), wide, "{x} {share}");
            let wide = (i64::from(x) * i64::from(y) + (1 << 15)) >> 16;
            if wide.abs() < 1 << 30 && x.abs() < 1 << 23 && y.abs() < 1 << 23 {
                assert_eq!(i64::from(short_product::<16>(x, y)), wide, "{x} {y}");
            }
            let wide = (i64::from(x) * i64::from(y) + (1 << 11)) >> 12;
            if wide.abs() < 1 << 30 && x.abs() < 1 << 21 && y.abs() < 1 << 21 {
                assert_eq!(i64::from(short_product::<12>(x, y)), wide, "{x} {y}");
            }
            let rate = number().cast_unsigned() & 0xffff;
            let wide = (i64::from(x) * i64::from(rate) + (1 << 15)) >> 16;
            assert_eq!(i64::from(scaled(x, rate)), wide, "{x} {rate}");
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "too slow when interpreted")]
    fn quotients_and_roots_are_near() {
        let mut number = numbers(2);
        for _ in 0..20_000 {
            let (x, y) = (Q16::units(number()), Q16::units(number()));
            let quotient = f64::from(x.value()) / f64::from(y.value());
            let held = quotient.clamp(-16_384.0, 16_384.0);
            let error = (f64::from(x.over(y).value()) - held).abs();
            if y != Q16::ZERO {
                assert!(error <= 3e-5 + 1e-4 * held.abs(), "{x:?} {y:?} {error}");
            }
            let root = f64::from(x.value()).max(0.0).sqrt();
            let error = (f64::from(x.root().value()) - root).abs();
            assert!(error <= 7e-5 + 1e-4 * root, "{x:?} {error}");
            let product = Q20::units(x.0);
            let root = f64::from(product.value()).max(0.0).sqrt();
            let error = (f64::from(Q16::root_of(product).value()) - root).abs();
            assert!(error <= 2e-5 + 1e-4 * root, "{product:?} {error}");
        }
        assert_eq!(Q16::of(1.0).over(Q16::ZERO), Q16::of(1e9));
    }

    #[test]
    #[cfg_attr(miri, ignore = "too slow when interpreted")]
    fn logarithms_are_near() {
        let mut number = numbers(4);
        for _ in 0..20_000 {
            let (a, b) = (number().unsigned_abs().max(1), number().unsigned_abs().max(1));
            let error = f64::from(Q16::ln_ratio(a, b).value()) - (f64::from(a) / f64::from(b)).ln();
            assert!(error.abs() < 3e-4, "{a} {b} {error}");
            let x = Q16::units(a.cast_signed());
            let error = f64::from(x.ln().value()) - f64::from(x.value()).ln();
            assert!(error.abs() < 3e-4, "{x:?} {error}");
        }
        assert_eq!(Q16::of(1.0).ln(), Q16::ZERO);
    }

    #[test]
    fn numbers_are_rounded_and_held() {
        assert_eq!(Q16::of(1.0).0, 65_536);
        assert_eq!(Q16::of(-0.25).0, -16_384);
        assert_eq!(Q16::of(f32::MAX).0, MOST);
        assert_eq!(Q16::of(f32::MIN).0, -MOST);
        assert_eq!(Q16::of(1e4).times(Q16::of(1e4)), Q16::of(f32::MAX));
        assert_eq!(Q16::of(-3.0).part(Rate::of(0.25)), Q16::of(-0.75));
    }

    #[test]
    #[cfg_attr(miri, ignore = "too slow when interpreted")]
    fn moments_are_those_of_all_rows() {
        // Large and small variances; of the small ones, a row moves the mean by far less than a unit.
        for (least, spread, rows) in [(0, 200_000, 16_384), (40_000, 20_000, 200_000_u32)] {
            let mut stream = Stream::new(3);
            let (mut moments, mut mean, mut square) =
                (IntegerMoments { mean: 0, variance: 0 }, 0.0, 0.0);
            for row in 1..=rows {
                let root = Q16::units(least + i32::try_from(stream.below(spread)).unwrap());
                moments.take_in(root, row, 0);
                let r = f64::from(root.value()).powi(2);
                mean += r / f64::from(rows);
                square += r * r / f64::from(rows);
            }
            let (found, found_square) = moments.means(rows, 0);
            assert!((f64::from(found) / mean - 1.0).abs() < 0.002, "{found} {mean}");
            let variance = f64::from(found_square) - f64::from(found).powi(2);
            let ratio = variance / (square - mean * mean);
            assert!((ratio - 1.0).abs() < 0.05, "{ratio}");
        }
    }
}
