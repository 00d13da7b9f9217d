//! Square root, logarithm, exponential, sine and cosine in `f64`, as `const fn`.

const LN_2_HIGH: f64 = 0.693_147_180_369_123_8;
const LN_2_LOW: f64 = 1.908_214_929_270_587_7e-10;
const EXPONENT_BIAS: i32 = 1023;
const MANTISSA_BITS: u32 = 52;

/// √x for finite x ≥ 0, to within one unit in the last place; 0 for x ≤ 0.
pub(crate) const fn sqrt(x: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    // Halving the exponent gives a start within 6 %; each Newton step squares the error.
    let mut root = f64::from_bits((x.to_bits() >> 1).wrapping_add(0x1ff7_a3be_a91d_9b1b));
    let mut step = 0;
    while step < 5 {
        root = 0.5 * (root + x / root);
        step += 1;
    }
    root
}

/// ln x for normal x > 0, to a few units in the last place.
pub(crate) const fn ln(x: f64) -> f64 {
    let bits = x.to_bits();
    let mut exponent = ((bits >> MANTISSA_BITS) & 0x7ff) as i32 - EXPONENT_BIAS;
    let mut mantissa =
        f64::from_bits((bits & ((1 << MANTISSA_BITS) - 1)) | (1023 << MANTISSA_BITS));
    if mantissa > core::f64::consts::SQRT_2 {
        mantissa *= 0.5;
        exponent += 1;
    }
    // ln m = 2 artanh s with |s| ≤ 0.172: thirteen odd powers reach 1e-18.
    let s = (mantissa - 1.0) / (mantissa + 1.0);
    let s_squared = s * s;
    let mut series = 0.0;
    let mut power = 12;
    while power >= 0 {
        series = series * s_squared + 1.0 / (2 * power + 1) as f64;
        power -= 1;
    }
    let exponent = exponent as f64;
    exponent * LN_2_HIGH + (2.0 * s * series + exponent * LN_2_LOW)
}

/// eˣ, to a few units in the last place; 0 below −700; x is clamped to 700.
#[expect(clippy::cast_possible_truncation, reason = "|x| ≤ 700")]
pub(crate) const fn exp(x: f64) -> f64 {
    if x < -700.0 {
        return 0.0;
    }
    let x = if x > 700.0 { 700.0 } else { x };
    let turns = x * core::f64::consts::LOG2_E;
    let whole = (turns + if turns < 0.0 { -0.5 } else { 0.5 }) as i32;
    let rest = (x - whole as f64 * LN_2_HIGH) - whole as f64 * LN_2_LOW;
    let mut series = 1.0;
    let mut term = 16;
    while term > 0 {
        series = 1.0 + series * rest / term as f64;
        term -= 1;
    }
    series * f64::from_bits(((whole + EXPONENT_BIAS).cast_unsigned() as u64) << MANTISSA_BITS)
}

/// (cos 2πt, sin 2πt) for |t| ≤ 1/4, to 1e-15.
pub(crate) const fn cos_sin_turns(t: f64) -> (f64, f64) {
    let angle = core::f64::consts::TAU * t;
    let squared = angle * angle;
    let (mut cos, mut sin) = (1.0, 1.0);
    let mut term = 11;
    while term > 0 {
        let even = (2 * term) as f64;
        cos = 1.0 - cos * squared / (even * (even - 1.0));
        sin = 1.0 - sin * squared / (even * (even + 1.0));
        term -= 1;
    }
    (cos, angle * sin)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(ours: f64, expected: f64, relative: f64) {
        assert!(
            (ours - expected).abs() <= relative * expected.abs().max(1e-300),
            "{ours} {expected}"
        );
    }

    #[test]
    fn agree_with_std_over_their_range() {
        let mut x = 1e-12;
        while x < 1e12 {
            close(sqrt(x), x.sqrt(), 3e-16);
            assert!((ln(x) - x.ln()).abs() <= 1e-15 * x.ln().abs() + 3e-16, "ln {x}");
            x *= 1.37;
        }
        let mut x = -690.0;
        while x < 690.0 {
            close(exp(x), x.exp(), 3e-15);
            x += 0.731;
        }
        let mut t = -0.25;
        while t <= 0.25 {
            let (sin, cos) = (core::f64::consts::TAU * t).sin_cos();
            let ours = cos_sin_turns(t);
            assert!((ours.0 - cos).abs() < 1e-15 && (ours.1 - sin).abs() < 1e-15, "{t}");
            t += 0.003_7;
        }
        assert!(sqrt(0.0) == 0.0 && sqrt(-1.0) == 0.0 && exp(-1000.0) == 0.0);
    }
}
