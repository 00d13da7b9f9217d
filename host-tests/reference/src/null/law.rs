//! The null distribution of a statistic: thresholds and p-values.

use std::f64::consts::{FRAC_PI_2, PI, SQRT_2};

use statrs::function::beta::beta_reg;
use statrs::function::erf::{erfc, erfc_inv};
use statrs::function::gamma::gamma_ur;

use crate::error::Refused;
use crate::real;

/// Values closer than this fraction of their size count as equal, up to rounding.
const TIED: f64 = 1e-9;

/// The distribution of MMD² for equal distributions.
#[derive(Debug, Clone, PartialEq)]
pub struct Null {
    law: Law,
}

#[derive(Debug, Clone, PartialEq)]
enum Law {
    /// Values drawn from it, in rising order.
    Drawn(Vec<f64>),
    /// `shift` + `scale`·Γ(`shape`).
    Gamma { shape: f64, scale: f64, shift: f64 },
    /// N(0, `deviation`²).
    Normal { deviation: f64 },
    /// P(statistic > t) ≤ 2·exp(−m·t²/16).
    Bound { samples: f64 },
    /// `unit`·F with these degrees of freedom.
    Fisher { unit: f64, degrees: [f64; 2] },
    /// `shift` + `scale`·B' with the beta prime distribution of these exponents: Pearson's type VI.
    Prime { shift: f64, scale: f64, exponents: [f64; 2] },
    /// `shift` + `scale`·tan θ, θ having a density of cos^r θ·exp(−νθ): Pearson's type IV.
    Tangent { shift: f64, scale: f64, power: f64, lean: f64 },
}

impl Null {
    /// The distribution that values were drawn from.
    pub(crate) fn drawn(mut values: Vec<f64>) -> Result<Self, Refused> {
        if values.is_empty() {
            return Err(Refused::BadParameter { name: "draws" });
        }
        if values.iter().any(|value| !value.is_finite()) {
            return Err(Refused::NotFinite);
        }
        values.sort_unstable_by(f64::total_cmp);
        Ok(Self { law: Law::Drawn(values) })
    }

    /// The Gamma distribution of a mean, a variance and a skewness.
    pub(super) fn gamma(mean: f64, variance: f64, skewness: f64) -> Result<Self, Refused> {
        Refused::unless_finite(&[mean, variance, skewness])?;
        if variance <= 0.0 || skewness <= 0.0 {
            return Err(Refused::Constant);
        }
        let shape = 4.0 / (skewness * skewness);
        let scale = variance.sqrt() * skewness / 2.0;
        let shift = mean - shape * scale;
        Refused::unless_finite(&[shape, scale, shift])?;
        Ok(Self { law: Law::Gamma { shape, scale, shift } })
    }

    /// N(0, `deviation`²).
    pub(super) fn normal(deviation: f64) -> Result<Self, Refused> {
        if deviation > 0.0 {
            Ok(Self { law: Law::Normal { deviation } })
        } else {
            Err(Refused::Constant)
        }
    }

    /// Pearson's curve of a mean, a variance, a skewness and an excess of kurtosis: of type III, a
    /// Gamma distribution, where the excess is at most 3/2·skewness², of type VI above it, and of
    /// type IV above the inverse Gamma distributions.
    ///
    /// # Errors
    /// [`Refused::NotFinite`], and [`Refused::Constant`] unless variance and skewness are positive.
    pub fn curve(mean: f64, variance: f64, skewness: f64, excess: f64) -> Result<Self, Refused> {
        Refused::unless_finite(&[mean, variance, skewness, excess])?;
        if variance <= 0.0 || skewness <= 0.0 {
            return Err(Refused::Constant);
        }
        // The second exponent from 4, where the kurtosis is infinite, to where it is a Gamma.
        let (mut low, mut high) = (4.0_f64, 1e7_f64);
        if prime_excess(first_exponent(skewness, high), high) >= excess {
            return Self::gamma(mean, variance, skewness);
        }
        for _ in 0..200 {
            let middle = (low * high).sqrt();
            if prime_excess(first_exponent(skewness, middle), middle) > excess {
                low = middle;
            } else {
                high = middle;
            }
        }
        let exponents = [first_exponent(skewness, high), high];
        if (prime_excess(exponents[0], high) / excess - 1.0).abs() > 1e-6
            || (prime_skewness(exponents[0], high) / skewness - 1.0).abs() > 1e-6
        {
            return Self::type_iv(mean, variance, skewness, excess);
        }
        let (centre, spread) = prime_moments(exponents);
        let scale = (variance / spread).sqrt();
        let shift = mean - scale * centre;
        Refused::unless_finite(&[scale, shift])?;
        Ok(Self { law: Law::Prime { shift, scale, exponents } })
    }

    /// Type IV, which is never bounded on either side.
    fn type_iv(mean: f64, variance: f64, skewness: f64, excess: f64) -> Result<Self, Refused> {
        let squared = skewness * skewness;
        let power = 6.0 * (excess + 2.0 - squared) / (2.0 * excess - 3.0 * squared);
        let inside = 16.0 * (power - 1.0) - squared * (power - 2.0).powi(2);
        if !(power > 2.0 && inside > 0.0) {
            return Err(Refused::Constant);
        }
        let lean = -power * (power - 2.0) * skewness / inside.sqrt();
        let scale = 0.25 * (variance * inside).sqrt();
        let shift = mean + scale * lean / power;
        Refused::unless_finite(&[shift, scale, power, lean])?;
        Ok(Self { law: Law::Tangent { shift, scale, power, lean } })
    }

    /// `unit` times Fisher's F.
    pub(super) fn fisher(unit: f64, degrees: [f64; 2]) -> Result<Self, Refused> {
        Refused::unless_finite(&[unit, degrees[0], degrees[1]])?;
        if unit > 0.0 && degrees.iter().all(|&d| d > 0.0) {
            Ok(Self { law: Law::Fisher { unit, degrees } })
        } else {
            Err(Refused::Constant)
        }
    }

    pub(super) fn bound(samples: f64) -> Self {
        Self { law: Law::Bound { samples } }
    }

    /// The distribution of `factor` times the statistic. With r times as many samples, the
    /// asymptotic distribution is multiplied by 1/r: costly methods may use a part of a pool.
    ///
    /// # Errors
    /// [`Refused::BadParameter`] unless `factor` is positive.
    pub fn scaled(mut self, factor: f64) -> Result<Self, Refused> {
        Refused::unless_positive("factor", factor)?;
        match &mut self.law {
            Law::Drawn(values) => values.iter_mut().for_each(|value| *value *= factor),
            Law::Gamma { scale, shift, .. }
            | Law::Prime { scale, shift, .. }
            | Law::Tangent { scale, shift, .. } => {
                *scale *= factor;
                *shift *= factor;
            }
            Law::Normal { deviation } => *deviation *= factor,
            Law::Fisher { unit, .. } => *unit *= factor,
            Law::Bound { samples } => *samples /= factor * factor,
        }
        Ok(self)
    }

    /// The value that the statistic exceeds with a probability of at most `level`.
    ///
    /// For B draws it is the ⌈(1 − level)·(B + 1)⌉-th smallest, with a margin for rounding, and
    /// infinite if B is too small. A statistic is above it if its [p-value](Self::p_value) is at
    /// most `level`.
    ///
    /// # Errors
    /// [`Refused::BadLevel`] unless 0 < `level` < 1.
    pub fn threshold(&self, level: f64) -> Result<f64, Refused> {
        Refused::unless_level(level)?;
        Ok(match &self.law {
            Law::Drawn(values) => {
                // The draws that may lie above: the largest r with (r + 1)/(B + 1) ≤ level.
                let allowed = level * (real(values.len()) + 1.0) - 1.0;
                // A small margin, so that 0.05·(999 + 1) counts as 50.
                let above = (0..=values.len()).take_while(|&r| real(r) <= allowed + 1e-9).last();
                above.map_or(f64::INFINITY, |r| {
                    let value = values[(values.len() - 1).saturating_sub(r)];
                    value + TIED * value.abs()
                })
            }
            Law::Gamma { shape, scale, shift } => shift + scale * gamma_quantile(*shape, level),
            Law::Normal { deviation } => deviation * SQRT_2 * erfc_inv(2.0 * level),
            Law::Bound { samples } => 4.0 * ((2.0 / level).ln() / samples).sqrt(),
            Law::Tangent { shift, scale, power, lean } => {
                // The angle from its lower end.
                let angle = falling_to(level, PI, |x| upper_tangent(*power, *lean, x));
                shift + scale * (angle - FRAC_PI_2).tan()
            }
            Law::Prime { shift, scale, exponents } => {
                shift + scale * falling_to(level, 1.0, |x| upper_prime(*exponents, x))
            }
            Law::Fisher { unit, degrees } => {
                unit * falling_to(level, 1.0, |x| upper_fisher(*degrees, x))
            }
        })
    }

    /// The probability of a statistic at least this large; NaN for NaN.
    ///
    /// For B draws it is (1 + the number of draws that are as large)/(B + 1), so never 0. Draws
    /// that are smaller only by rounding count as equal: with few different values, many draws tie.
    #[must_use]
    pub fn p_value(&self, statistic: f64) -> f64 {
        if statistic.is_nan() {
            return f64::NAN;
        }
        match &self.law {
            Law::Drawn(values) => {
                let least = statistic - TIED * statistic.abs();
                let below = values.partition_point(|&value| value < least);
                (1.0 + real(values.len() - below)) / (1.0 + real(values.len()))
            }
            Law::Gamma { shape, scale, shift } => upper_gamma(*shape, (statistic - shift) / scale),
            Law::Normal { deviation } => 0.5 * erfc(statistic / (deviation * SQRT_2)),
            Law::Bound { samples } => {
                let t = statistic.max(0.0);
                (2.0 * (-samples * t * t / 16.0).exp()).min(1.0)
            }
            Law::Fisher { unit, degrees } => upper_fisher(*degrees, statistic / unit),
            Law::Tangent { shift, scale, power, lean } => {
                let angle = ((statistic - shift) / scale).atan() + FRAC_PI_2;
                upper_tangent(*power, *lean, angle)
            }
            Law::Prime { shift, scale, exponents } => {
                upper_prime(*exponents, (statistic - shift) / scale)
            }
        }
    }
}

/// P(Γ(shape) > x).
fn upper_gamma(shape: f64, x: f64) -> f64 {
    if x <= 0.0 {
        1.0
    } else if x.is_infinite() {
        0.0
    } else {
        gamma_ur(shape, x)
    }
}

/// Mean and variance of the beta prime distribution.
fn prime_moments([a, b]: [f64; 2]) -> (f64, f64) {
    (a / (b - 1.0), a * (a + b - 1.0) / ((b - 2.0) * (b - 1.0).powi(2)))
}

fn prime_skewness(a: f64, b: f64) -> f64 {
    2.0 * (2.0 * a + b - 1.0) / (b - 3.0) * ((b - 2.0) / (a * (a + b - 1.0))).sqrt()
}

/// Its kurtosis minus 3.
fn prime_excess(a: f64, b: f64) -> f64 {
    let part = a * (a + b - 1.0) * (5.0 * b - 11.0) + (b - 1.0).powi(2) * (b - 2.0);
    6.0 * part / (a * (a + b - 1.0) * (b - 3.0) * (b - 4.0))
}

/// The first exponent with this skewness, by bisection: the skewness falls with it.
fn first_exponent(skewness: f64, second: f64) -> f64 {
    let (mut low, mut high) = (1e-9_f64, 1e12_f64);
    for _ in 0..200 {
        let middle = (low * high).sqrt();
        if prime_skewness(middle, second) > skewness {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}

/// P(θ + π/2 > angle) for the density cos^r θ·exp(−νθ), by Simpson's rule.
fn upper_tangent(power: f64, lean: f64, angle: f64) -> f64 {
    const PANELS: u32 = 400;
    // The largest of the density, which may be far from 1.
    let mode = (-lean / power).atan();
    let logarithm = |theta: f64| power * theta.cos().abs().ln() - lean * theta;
    let peak = logarithm(mode);
    let integral = |from: f64, to: f64| {
        let step = (to - from) / f64::from(PANELS);
        let at = |place: f64| {
            let value = (logarithm(from + step * place) - peak).exp();
            if value.is_nan() { 0.0 } else { value }
        };
        let panel = |i: u32| {
            let left = f64::from(i);
            (at(left) + 4.0 * at(left + 0.5) + at(left + 1.0)) / 6.0
        };
        step * (0..PANELS).map(panel).sum::<f64>()
    };
    let from = (angle - FRAC_PI_2).clamp(-FRAC_PI_2, FRAC_PI_2);
    let (above, below) = (integral(from, FRAC_PI_2), integral(-FRAC_PI_2, from));
    above / (above + below)
}

/// P(B' > x) of the beta prime distribution.
fn upper_prime([a, b]: [f64; 2], x: f64) -> f64 {
    if x <= 0.0 {
        1.0
    } else if x.is_infinite() {
        0.0
    } else {
        beta_reg(b, a, 1.0 / (1.0 + x))
    }
}

/// P(F > x) of Fisher's distribution, by the incomplete beta function.
fn upper_fisher(degrees: [f64; 2], x: f64) -> f64 {
    let [over, under] = degrees;
    if x <= 0.0 {
        1.0
    } else if x.is_infinite() {
        0.0
    } else {
        beta_reg(0.5 * under, 0.5 * over, under / (under + over * x))
    }
}

/// The x with P(Γ(shape) > x) = `level`.
fn gamma_quantile(shape: f64, level: f64) -> f64 {
    falling_to(level, shape + 1.0, |x| upper_gamma(shape, x))
}

/// The x ≥ 0 at which a falling function is `level`, by bisection from a guess.
fn falling_to(level: f64, guess: f64, tail: impl Fn(f64) -> f64) -> f64 {
    let (mut low, mut high) = (0.0, guess);
    while tail(high) > level && high < f64::MAX / 4.0 {
        (low, high) = (high, 2.0 * high);
    }
    for _ in 0..80 {
        let middle = 0.5 * (low + high);
        if tail(middle) > level {
            low = middle;
        } else {
            high = middle;
        }
    }
    0.5 * (low + high)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tolerance;

    /// Γ(1) is the exponential distribution, whose tail is exp(−x).
    #[test]
    fn a_gamma_of_shape_one_is_exponential() -> Result<(), Refused> {
        let null = Null::gamma(5.0, 9.0, 2.0)?;
        let value = 2.0 + 3.0 * 20.0_f64.ln();
        tolerance::QUANTILE.hold("threshold", null.threshold(0.05)?, value);
        tolerance::QUANTILE.hold("p", null.p_value(value), 0.05);
        tolerance::QUANTILE.hold("below its range", null.p_value(1.0), 1.0);
        Ok(())
    }

    #[test]
    fn thresholds_and_p_values_agree() -> Result<(), Refused> {
        let drawn = Null::drawn((0..999).map(|i| real(i) / 999.0).collect())?;
        let fisher = Null::fisher(0.1, [2.5, 60.0])?;
        for null in
            [drawn, Null::gamma(0.0, 1.0, 0.5)?, Null::normal(2.0)?, Null::bound(100.0), fisher]
        {
            for level in [0.3, 0.05, 0.01] {
                let threshold = null.threshold(level)?;
                let above = null.p_value(threshold + 1e-9);
                tolerance::QUANTILE.hold("p just above the threshold", above, level);
                assert!(null.p_value(threshold - 0.01) > level);
            }
            for level in [0.0, 1.0, -0.1, f64::NAN] {
                assert_eq!(null.threshold(level), Err(Refused::BadLevel));
            }
            assert!(null.p_value(f64::NAN).is_nan());
            let (threshold, doubled) = (null.threshold(0.05)?, null.clone().scaled(2.0)?);
            tolerance::QUANTILE.hold("scaled", doubled.threshold(0.05)?, 2.0 * threshold);
            assert!(null.scaled(0.0).is_err());
        }
        Ok(())
    }

    /// A curve has the moments it was fitted to, by integrating its tail; and one on the line of
    /// the Gamma distributions is that one.
    #[test]
    fn curves_have_their_four_moments() -> Result<(), Refused> {
        for (skewness, excess) in [(1.0, 1.8), (0.7, 1.9), (2.0, 7.5), (1.4, 3.5)] {
            let null = Null::curve(0.5, 4.0, skewness, excess)?;
            // E x^n by parts: ∫ n·x^(n−1)·P(X > x) from the lower end, in steps of 0.02.
            let low = null.threshold(1.0 - 1e-9)?;
            let mut central = [0.0; 4];
            let mut last = 1.0;
            for step in 0..10_000 {
                let x = low + 0.02 * (f64::from(step) + 0.5);
                let tail = null.p_value(x + 0.01);
                for (power, moment) in central.iter_mut().enumerate() {
                    let power = i32::try_from(power).expect("small") + 1;
                    *moment += (x - 0.5).powi(power) * (last - tail);
                }
                last = tail;
            }
            let [mean, variance, third, fourth] = central;
            tolerance::CURVE_MOMENTS.hold("mean", mean, 0.0);
            tolerance::CURVE_MOMENTS.hold("variance", variance / 4.0, 1.0);
            tolerance::CURVE_MOMENTS.hold("skewness", third / 8.0 / skewness, 1.0);
            tolerance::CURVE_MOMENTS.hold("excess", (fourth / 16.0 - 3.0) / excess, 1.0);
        }
        let (curve, gamma) = (Null::curve(0.0, 1.0, 1.0, 1.5)?, Null::gamma(0.0, 1.0, 1.0)?);
        assert_eq!(curve, gamma);
        assert_eq!(Null::curve(0.0, 0.0, 1.0, 2.0), Err(Refused::Constant));
        Ok(())
    }

    /// F with 2 and n degrees of freedom has the tail (1 + 2x/n)^(−n/2).
    #[test]
    fn fishers_tail_is_known_for_two_degrees() -> Result<(), Refused> {
        let null = Null::fisher(3.0, [2.0, 10.0])?;
        for x in [0.1_f64, 1.0, 4.0] {
            let tail = (1.0 + 0.2 * x).powf(-5.0);
            tolerance::QUANTILE.hold("tail", null.p_value(3.0 * x), tail);
            tolerance::QUANTILE.hold("threshold", null.threshold(tail)?, 3.0 * x);
        }
        assert_eq!(Null::fisher(0.0, [2.0, 10.0]), Err(Refused::Constant));
        Ok(())
    }

    #[test]
    fn too_few_draws_have_no_threshold() -> Result<(), Refused> {
        assert!(Null::drawn(vec![1.0; 10])?.threshold(0.05)?.is_infinite());
        assert_eq!(Null::drawn(vec![]), Err(Refused::BadParameter { name: "draws" }));
        assert_eq!(Null::drawn(vec![f64::NAN]), Err(Refused::NotFinite));
        assert_eq!(Null::gamma(0.0, 0.0, 1.0), Err(Refused::Constant));
        assert_eq!(Null::normal(0.0), Err(Refused::Constant));
        Ok(())
    }
}
