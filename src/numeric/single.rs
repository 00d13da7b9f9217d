//! Square root, logarithm, angle, limits and sums in `f32`.

use super::row_count;

/// Whether floating point is computed by long functions: a division is then hundreds of instructions.
const SOFT_FLOAT: bool = cfg!(all(
    any(target_arch = "arm", target_arch = "riscv32"),
    not(any(target_abi = "eabihf", target_feature = "f"))
));

/// √x, rounded to the nearest; 0 for x ≤ 0.
#[inline(never)]
pub(crate) fn sqrt_f32(x: f32) -> f32 {
    if x <= 0.0 {
        return 0.0;
    }
    if x == f32::INFINITY {
        return x;
    }
    if x < f32::MIN_POSITIVE {
        // 2²⁴ times as large, and its root 2¹² times; both exact.
        return sqrt_f32(x * 16_777_216.0) * (1.0 / 4096.0);
    }
    let exponent = x.to_bits() >> 23;
    let mantissa = (x.to_bits() & 0x007f_ffff) | 0x0080_0000;
    // x = radicand·4^half, where the root of the radicand, of 47 or 48 bits, has 24.
    let odd = (exponent & 1) ^ 1;
    let radicand = u64::from(mantissa) << (23 + odd);
    // The exponent of the root is half of that of x, about 127.
    let half = (exponent + 127 - odd) >> 1;
    let root = if SOFT_FLOAT {
        integer_root(radicand)
    } else {
        nearest_root::<1>(
            radicand,
            newton_root(x).wrapping_sub(half << 23).wrapping_add(0x0080_0000),
        )
    };
    f32::from_bits((half << 23).wrapping_add(root & 0x007f_ffff).wrapping_add((root >> 24) << 23))
}

/// √x by Newton's method, to about a unit in the last place, as bits.
#[inline(always)]
fn newton_root(x: f32) -> u32 {
    let mut root = f32::from_bits((x.to_bits() >> 1).wrapping_add(0x1fbb_4f2e));
    for _ in 0..3 {
        root = 0.5 * (root + x / root);
    }
    root.to_bits()
}

/// The whole number nearest to √r, for r of 47 or 48 bits: 16 bits of it one by one, and a step of
/// Newton's, which leaves at most three units.
#[expect(clippy::cast_possible_truncation, reason = "32 bits are left")]
fn integer_root(radicand: u64) -> u32 {
    let upper = (radicand >> 16) as u32;
    let first = crate::fixed::root_of_units(upper);
    // r = (first·2⁸ + rest)², nearly.
    let rest = upper.wrapping_sub(first.wrapping_mul(first));
    nearest_root::<3>(radicand, (first << 8).wrapping_add((rest << 7) / first.max(1)))
}

/// The whole number nearest to √r, from one at most `STEPS` away.
#[expect(clippy::cast_possible_truncation, reason = "24 bits")]
fn nearest_root<const STEPS: u32>(radicand: u64, near: u32) -> u32 {
    let mut root = u64::from(near);
    for _ in 0..STEPS {
        let square = root * root;
        if radicand > square + root {
            root += 1;
        } else if radicand + root <= square {
            root -= 1;
        }
    }
    root as u32
}

/// ln n, to 1e-4, in integers; 0 for n of 0.
pub(crate) fn ln_count(count: u32) -> f32 {
    row_count(ln_in_units(count)) * (1.0 / 65_536.0)
}

/// The same in units of 2⁻¹⁶.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "16 bits and a few")]
pub(crate) fn ln_in_units(count: u32) -> u32 {
    let count = count.max(1);
    let whole = count.checked_ilog2().unwrap_or(0);
    // m = 1 + x of 16 bits below the point, and log₂(1 + x) by a polynomial.
    let x = ((u64::from(count) << 16) >> whole) as u32 & 0xffff;
    let x = i64::from(x);
    let mut series = 0_i64;
    for coefficient in LOG2 {
        series = coefficient + ((series * x) >> 16);
    }
    let bits = (i64::from(whole) << 16) + ((series * x) >> 16);
    // ln 2 in units of 2⁻¹⁶.
    ((bits * 45_426) >> 16) as u32
}

/// Of log₂(1 + x)/x, from the highest power of x down, in units of 2⁻¹⁶.
const LOG2: [i64; 6] = [-2267, 9597, -19_883, 30_756, -47_215, 94_548];

/// ln x, with an error of at most 4e-7·max(1, |ln x|). A smaller x than the
/// smallest normal number counts as that number.
#[inline(never)]
pub(crate) fn ln_f32(x: f32) -> f32 {
    let x = larger(x, f32::MIN_POSITIVE);
    // x = 2^exponent · mantissa, with the mantissa from √½ to √2.
    let bits = x.to_bits().wrapping_sub(0x3f35_04f3);
    let exponent = bits.cast_signed() >> 23;
    let mantissa = f32::from_bits((bits & 0x007f_ffff).wrapping_add(0x3f35_04f3));
    // ln m = 2 artanh((m − 1)/(m + 1)).
    let s = (mantissa - 1.0) / (mantissa + 1.0);
    let squared = s * s;
    let series = 2.0 / 3.0 + squared * (2.0 / 5.0 + squared * (2.0 / 7.0 + squared * (2.0 / 9.0)));
    exponent_of(exponent) * core::f32::consts::LN_2 + (2.0 * s + s * squared * series)
}

/// An exponent as a number.
#[expect(clippy::cast_precision_loss, reason = "exponents are below 2⁸")]
fn exponent_of(exponent: i32) -> f32 {
    exponent as f32
}

/// The value clamped to ±`limit`, or −`limit` for NaN. Unlike `f32::clamp`, it cannot panic.
#[inline]
pub(crate) fn within(value: f32, limit: f32) -> f32 {
    smaller(larger(value, -limit), limit)
}

/// The larger of two; `other` if `value` is NaN. A plain comparison, because `f32::max` is a call
/// of fifteen instructions on a Cortex-M4F.
#[inline]
pub(crate) fn larger(value: f32, other: f32) -> f32 {
    if value > other { value } else { other }
}

/// The smaller of two; `other` if `value` is NaN.
#[inline]
pub(crate) fn smaller(value: f32, other: f32) -> f32 {
    if value < other { value } else { other }
}

/// Kahan's compensated sum: its rounding error does not grow with the number of values.
pub(crate) fn compensated_sum(values: impl Iterator<Item = f32>) -> f32 {
    let (mut sum, mut lost) = (0.0_f32, 0.0_f32);
    for value in values {
        let corrected = value - lost;
        let next = sum + corrected;
        lost = (next - sum) - corrected;
        sum = next;
    }
    sum
}

/// The angle of the point (`cos`, `sin`) in turns, in [−½, ½], to 1e-7; 0 for the origin.
pub(crate) fn angle_turns(cos: f32, sin: f32) -> f32 {
    // Minimax of atan(q)/2πq in q², for q = smaller/larger of the two.
    const COEFFICIENTS: [f32; 8] = [
        0.159_154_84,
        -0.053_046_122,
        0.031_745_96,
        -0.022_136_324,
        0.015_346_149,
        -0.008_898_863,
        0.003_479_685,
        -0.000_645_326_5,
    ];
    let (x, y) = (cos.abs(), sin.abs());
    let (small, large) = if y < x { (y, x) } else { (x, y) };
    if large == 0.0 {
        return 0.0;
    }
    let quotient = small / large;
    let squared = quotient * quotient;
    let series = COEFFICIENTS.iter().rev().fold(0.0, |sum, c| sum * squared + c);
    let first_octant = quotient * series;
    let first_quadrant = if y < x { first_octant } else { 0.25 - first_octant };
    let upper_half = if cos < 0.0 { 0.5 - first_quadrant } else { first_quadrant };
    if sin < 0.0 { -upper_half } else { upper_half }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg_attr(miri, ignore = "too slow when interpreted")]
    fn roots_of_all_sizes_are_rounded_to_the_nearest() {
        let mut x = 1e-30_f32;
        while x < 1e30 {
            assert_eq!(sqrt_f32(x).to_bits(), x.sqrt().to_bits(), "{x}");
            x *= 1.31;
        }
        assert!(sqrt_f32(0.0) == 0.0 && sqrt_f32(-4.0) == 0.0);
    }

    /// Two exponents are enough: a power of four as a factor changes only the exponent of the root.
    #[test]
    #[cfg_attr(miri, ignore = "too slow when interpreted")]
    fn roots_are_rounded_to_the_nearest_whatever_the_core_has() {
        let halves = (0.5_f32.to_bits()..2.0_f32.to_bits()).step_by(7);
        for x in halves.map(f32::from_bits) {
            assert_eq!(sqrt_f32(x).to_bits(), x.sqrt().to_bits(), "{x}");
            let mantissa = u64::from(x.to_bits() & 0x007f_ffff | 0x0080_0000);
            let radicand = mantissa << if x < 1.0 { 24 } else { 23 };
            let other = integer_root(radicand);
            assert_eq!(other & 0x007f_ffff, x.sqrt().to_bits() & 0x007f_ffff, "{x}");
        }
        for x in [1e-44_f32, 3e-40, f32::MIN_POSITIVE, f32::MAX] {
            assert_eq!(sqrt_f32(x).to_bits(), x.sqrt().to_bits(), "{x}");
        }
    }

    #[test]
    fn logarithms_of_counts_are_within_their_error() {
        for count in (1..5000).chain([65_535, 1_000_000, u32::MAX]) {
            let error = f64::from(ln_count(count)) - f64::from(count).ln();
            assert!(error.abs() < 1e-4, "{count} {error}");
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "too slow when interpreted")]
    fn logarithm_is_within_its_error() {
        let mut x = 1e-37_f32;
        while x < 1e37 {
            let error = f64::from(ln_f32(x)) - f64::from(x).ln();
            assert!(error.abs() <= 4e-7 * f64::from(x).ln().abs().max(1.0), "{x} {error}");
            x *= 1.003;
        }
        assert!(ln_f32(1.0) == 0.0 && ln_f32(0.0) < -87.0 && ln_f32(-1.0) < -87.0);
    }

    #[test]
    #[cfg_attr(miri, ignore = "too slow when interpreted")]
    fn a_long_sum_is_as_good_as_a_short_one() {
        let values = || (0..100_000_u32).map(|i| 0.1 + (i % 7) as f32 * 1e-3);
        let expected: f64 = values().map(f64::from).sum();
        let error = |sum: f32| (f64::from(sum) / expected - 1.0).abs();
        assert!(error(compensated_sum(values())) < 1e-7);
        // The control: a plain sum is a thousand times worse.
        assert!(error(values().sum()) > 1e-5);
    }

    #[test]
    #[cfg_attr(miri, ignore = "too slow when interpreted")]
    fn angle_is_right_all_around() {
        for step in -5000_i16..=5000 {
            let turns = f64::from(step) / 10_000.0;
            let (sin, cos) = (core::f64::consts::TAU * turns).sin_cos();
            let (cos, sin) = ((0.3 * cos) as f32, (0.3 * sin) as f32);
            let expected = f64::from(sin).atan2(f64::from(cos)) / core::f64::consts::TAU;
            let error = f64::from(angle_turns(cos, sin)) - expected;
            assert!((error - error.round()).abs() < 1e-7, "{turns} {error}");
        }
        assert!(angle_turns(0.0, 0.0) == 0.0);
    }
}
