//! Square root, angle, limits and sums in `f32`.

/// √x to one unit in the last place; 0 for x ≤ 0.
#[inline(never)]
pub(crate) fn sqrt_f32(x: f32) -> f32 {
    if x <= 0.0 {
        return 0.0;
    }
    if x == f32::INFINITY {
        return x;
    }
    let mut root = f32::from_bits((x.to_bits() >> 1).wrapping_add(0x1fbb_4f2e));
    for _ in 0..3 {
        root = 0.5 * (root + x / root);
    }
    // Only subnormal numbers need a fourth step.
    if x.to_bits() < f32::MIN_POSITIVE.to_bits() { 0.5 * (root + x / root) } else { root }
}

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
    fn root_is_within_one_unit_in_the_last_place() {
        let mut x = 1e-30_f32;
        while x < 1e30 {
            let (ours, expected) = (sqrt_f32(x), x.sqrt());
            assert!(ours.to_bits().abs_diff(expected.to_bits()) <= 1, "{x}");
            x *= 1.31;
        }
        assert!(sqrt_f32(0.0) == 0.0 && sqrt_f32(-4.0) == 0.0);
    }

    /// Two exponents are enough: a power of four as a factor changes only the exponent of the root.
    #[test]
    #[cfg_attr(miri, ignore = "too slow when interpreted")]
    fn another_step_would_not_change_a_root() {
        let next = |x: f32, root: f32| 0.5 * (root + x / root);
        let halves = 0.5_f32.to_bits()..2.0_f32.to_bits();
        for x in halves.map(f32::from_bits) {
            let root = sqrt_f32(x);
            assert_eq!(next(x, root).to_bits(), root.to_bits(), "{x}");
        }
    }

    #[test]
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
