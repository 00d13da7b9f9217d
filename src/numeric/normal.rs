//! The normal distribution: Φ and its inverse.

use super::elementary::{exp, ln, sqrt};

/// Density of N(0, 1) at `x`.
pub(crate) const fn normal_density(x: f64) -> f64 {
    const INVERSE_ROOT_TAU: f64 = 0.398_942_280_401_432_7;
    INVERSE_ROOT_TAU * exp(-0.5 * x * x)
}

/// Φ(x) to 1e-15 absolute.
pub(crate) const fn normal_cdf(x: f64) -> f64 {
    if x > 8.5 {
        return 1.0;
    }
    if x < -8.5 {
        return 0.0;
    }
    // Φ(x) = ½ + φ(x)(x + x³/3 + x⁵/15 + …), all terms of one sign.
    let squared = x * x;
    let mut term = x;
    let mut sum = x;
    let mut odd = 3.0;
    while odd < 400.0 {
        term *= squared / odd;
        sum += term;
        odd += 2.0;
    }
    0.5 + normal_density(x) * sum
}

/// 1 − Φ(x): to 1e-15 absolute up to 4, and to a thousandth of itself beyond.
pub(crate) const fn normal_tail(x: f64) -> f64 {
    if x < 4.0 {
        return normal_cdf(-x);
    }
    let inverse = 1.0 / (x * x);
    normal_density(x) / x
        * (1.0 - inverse * (1.0 - 3.0 * inverse * (1.0 - 5.0 * inverse * (1.0 - 7.0 * inverse))))
}

/// Value of the polynomial with `coefficients`, constant first, at `x`.
const fn polynomial(coefficients: &[f64; 8], x: f64) -> f64 {
    let mut value = 0.0;
    let mut index = 8;
    while index > 0 {
        index -= 1;
        value = value * x + coefficients[index];
    }
    value
}

/// Φ⁻¹(u) for 0 < u < 1, to 1e-15 relative: the rational approximations of Wichura's algorithm
/// AS 241 (Applied Statistics 37, 1988).
pub(crate) const fn normal_quantile(u: f64) -> f64 {
    const CENTRE: [f64; 8] = [
        3.387_132_872_796_366_5,
        133.141_667_891_784_38,
        1_971.590_950_306_551_3,
        13_731.693_765_509_46,
        45_921.953_931_549_87,
        67_265.770_927_008_7,
        33_430.575_583_588_13,
        2_509.080_928_730_122_7,
    ];
    const CENTRE_BELOW: [f64; 8] = [
        1.0,
        42.313_330_701_600_91,
        687.187_007_492_057_9,
        5_394.196_021_424_751,
        21_213.794_301_586_597,
        39_307.895_800_092_71,
        28_729.085_735_721_943,
        5_226.495_278_852_854,
    ];
    const TAIL: [f64; 8] = [
        1.423_437_110_749_683_5,
        4.630_337_846_156_546,
        5.769_497_221_460_691,
        3.647_848_324_763_204_5,
        1.270_458_252_452_368_4,
        0.241_780_725_177_450_6,
        0.022_723_844_989_269_184,
        7.745_450_142_783_414e-4,
    ];
    const TAIL_BELOW: [f64; 8] = [
        1.0,
        2.053_191_626_637_759,
        1.676_384_830_183_803_8,
        0.689_767_334_985_1,
        0.148_103_976_427_480_08,
        0.015_198_666_563_616_457,
        5.475_938_084_995_345e-4,
        1.050_750_071_644_416_9e-9,
    ];
    const FAR: [f64; 8] = [
        6.657_904_643_501_103,
        5.463_784_911_164_114,
        1.784_826_539_917_291_3,
        0.296_560_571_828_504_87,
        0.026_532_189_526_576_124,
        0.001_242_660_947_388_078_4,
        2.711_555_568_743_487_6e-5,
        2.010_334_399_292_288_1e-7,
    ];
    const FAR_BELOW: [f64; 8] = [
        1.0,
        0.599_832_206_555_888,
        0.136_929_880_922_735_8,
        0.014_875_361_290_850_615,
        7.868_691_311_456_133e-4,
        1.846_318_317_510_054_8e-5,
        1.421_511_758_316_446e-7,
        2.044_263_103_389_939_8e-15,
    ];
    let centred = u - 0.5;
    if centred > -0.425 && centred < 0.425 {
        let r = 0.180_625 - centred * centred;
        return centred * polynomial(&CENTRE, r) / polynomial(&CENTRE_BELOW, r);
    }
    let tail = if centred < 0.0 { u } else { 1.0 - u };
    let r = sqrt(-ln(tail));
    let magnitude = if r <= 5.0 {
        polynomial(&TAIL, r - 1.6) / polynomial(&TAIL_BELOW, r - 1.6)
    } else {
        polynomial(&FAR, r - 5.0) / polynomial(&FAR_BELOW, r - 5.0)
    };
    if centred < 0.0 { -magnitude } else { magnitude }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cdf_matches_known_values() {
        for (x, cdf) in [
            (0.0, 0.5),
            (1.0, 0.841_344_746_068_542_9),
            (-1.0, 0.158_655_253_931_457_05),
            (1.959_963_984_540_054, 0.975),
            (3.0, 0.998_650_101_968_369_9),
            (-6.0, 9.865_876_450_377e-10),
        ] {
            assert!((normal_cdf(x) - cdf).abs() < 2e-15, "{x}");
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "too slow when interpreted")]
    fn quantile_inverts_the_cdf() {
        let mut u = 1e-4;
        while u < 1.0 {
            let back = normal_cdf(normal_quantile(u));
            assert!((back - u).abs() < 4e-15, "{u} {back}");
            u += 1e-4;
        }
    }

    #[test]
    fn upper_tail_matches_known_values() {
        for (x, tail) in
            [(1.0, 0.158_655_253_931_457_05), (5.0, 2.866_515_719e-7), (9.0, 1.128_588_4e-19)]
        {
            assert!((normal_tail(x) / tail - 1.0).abs() < 1e-3, "{x}");
        }
        assert!(normal_tail(40.0) >= 0.0);
    }

    #[test]
    fn far_tail_matches_known_values() {
        for (u, z) in [(1e-10, -6.361_340_902_404_056), (1e-15, -7.941_345_326_170_997)] {
            assert!((normal_quantile(u) - z).abs() < 1e-13, "{u}");
        }
    }
}
