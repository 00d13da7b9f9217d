//! The chi distribution: the length of a vector of independent N(0, 1).

use super::cast::f64_of;
use super::elementary::{exp, ln, sqrt};
use super::normal::{normal_cdf, normal_quantile};

/// Above this the closed form underflows. The cube-root approximation used there has a relative
/// error of up to 3e-4 in the far tails.
const CLOSED_FORM_LIMIT: usize = 256;

/// Distribution function and density of chi-squared with `degrees` degrees of freedom at `x`.
///
/// F(k+2) = F(k) − (x/2)^(k/2) e^(−x/2) / Γ(k/2 + 1), from the exponential (even k) or the normal
/// distribution (odd k); the last term taken off is twice the density.
const fn chi_squared(degrees: usize, x: f64) -> (f64, f64) {
    const TWO_OVER_PI: f64 = core::f64::consts::FRAC_2_PI;
    let half = 0.5 * x;
    let decay = exp(-half);
    let (mut cdf, mut term, mut order);
    if degrees.is_multiple_of(2) {
        term = decay;
        cdf = 1.0 - term;
        order = 1.0;
    } else {
        let root = sqrt(x);
        cdf = 2.0 * normal_cdf(root) - 1.0;
        // (x/2)^(−1/2) e^(−x/2) / Γ(1/2)
        term = sqrt(TWO_OVER_PI) * decay / root;
        order = 0.5;
    }
    let mut reached = if degrees.is_multiple_of(2) { 2 } else { 1 };
    while reached < degrees {
        term *= half / order;
        cdf -= term;
        order += 1.0;
        reached += 2;
    }
    (cdf, 0.5 * term)
}

/// The `u`-quantile, 0 < u < 1, of the length of a vector of `degrees` independent N(0, 1).
/// Relative error 1e-12 up to 256 degrees, 3e-4 above.
pub(crate) const fn chi_quantile(degrees: usize, u: f64) -> f64 {
    if degrees == 1 {
        return normal_quantile(0.5 + 0.5 * u);
    }
    if degrees == 2 {
        return sqrt(-2.0 * ln(1.0 - u));
    }
    let k = f64_of(degrees);
    // Wilson and Hilferty: the cube root of chi-squared is nearly normal.
    let ninth = 2.0 / (9.0 * k);
    let cube_root = 1.0 - ninth + normal_quantile(u) * sqrt(ninth);
    let x = if cube_root > 0.05 { k * cube_root * cube_root * cube_root } else { 1e-4 * k };
    sqrt(if degrees > CLOSED_FORM_LIMIT { x } else { refined(degrees, u, x) })
}

/// Refines a guess of the chi-squared quantile.
const fn refined(degrees: usize, u: f64, guess: f64) -> f64 {
    // Newton's method, kept inside a bracket that shrinks with every evaluation.
    let mut x = guess;
    let (mut low, mut high) = (0.0, 2.0 * f64_of(degrees) + 400.0);
    let mut step = 0;
    while step < 60 {
        let (cdf, density) = chi_squared(degrees, x);
        if cdf < u {
            low = x;
        } else {
            high = x;
        }
        let mut next = x - (cdf - u) / density;
        if !(next > low && next < high) {
            next = 0.5 * (low + high);
        }
        let change = next - x;
        x = next;
        if change < 1e-13 * x && change > -1e-13 * x {
            break;
        }
        step += 1;
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_match_tables() {
        // Chi-squared quantiles from standard tables.
        for (degrees, u, chi_squared) in [
            (1, 0.95, 3.841_458_820_694_124),
            (2, 0.95, 5.991_464_547_107_979),
            (3, 0.5, 2.365_973_884_375_337),
            (3, 0.99, 11.344_866_730_144_373),
            (5, 0.01, 0.554_298_076_728_276_6),
            (10, 0.95, 18.307_038_053_275_147),
            (100, 0.5, 99.334_129_235_988_46),
        ] {
            let r = chi_quantile(degrees, u);
            assert!((r * r / chi_squared - 1.0).abs() < 1e-11, "{degrees} {u} {}", r * r);
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "too slow when interpreted")]
    fn quantile_inverts_the_cdf_in_both_tails() {
        for degrees in [3, 4, 5, 8, 16, 17, 64, 255, 256] {
            for u in [1e-6, 1e-3, 0.1, 0.5, 0.9, 0.999, 1.0 - 1e-6] {
                let r = chi_quantile(degrees, u);
                let (cdf, _) = chi_squared(degrees, r * r);
                assert!((cdf - u).abs() < 1e-12, "{degrees} {u} {cdf}");
            }
        }
    }

    #[test]
    fn large_degrees_are_good_to_three_ten_thousandths() {
        for u in [1e-5, 1e-4, 0.01, 0.5, 0.99, 0.9999, 1.0 - 1e-5] {
            let r = chi_quantile(257, u);
            let exact = sqrt(refined(257, u, r * r));
            assert!((r / exact - 1.0).abs() < 3e-4, "{u} {r} {exact}");
        }
    }
}
