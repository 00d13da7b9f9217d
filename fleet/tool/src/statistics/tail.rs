//! The tail of Σλz², with z ~ N(0, 1): what MMD² is for equal distributions.

use statrs::distribution::{ContinuousCDF, Normal};

/// The weights λ of a sum, above 0.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Spectrum(Vec<f64>);

impl Spectrum {
    /// Of eigenvalues; those that are 0 but for rounding are left out.
    pub(crate) fn new(values: impl Iterator<Item = f64>) -> Self {
        let mut values: Vec<f64> = values.collect();
        let most = values.iter().copied().fold(0.0, f64::max);
        values.retain(|value| *value > 1e-9 * most && *value > 0.0);
        Self(values)
    }

    /// Σλ.
    pub(crate) fn mean(&self) -> f64 {
        self.0.iter().sum()
    }

    /// (Σλ)²/Σλ²: how many equal weights scatter as these do; 1 if one governs.
    pub(crate) fn spread(&self) -> f64 {
        let squares: f64 = self.0.iter().map(|l| l * l).sum();
        if squares > 0.0 { self.mean().powi(2) / squares } else { 1.0 }
    }

    /// The probability that Σλz² is above x.
    pub(crate) fn above(&self, x: f64) -> f64 {
        self.above_estimated(x, f64::INFINITY)
    }

    /// The probability that Σλz² is above x·χ²/ν, of ν degrees of freedom: the weights are then only
    /// known up to a common factor, as well as from ν squares. With one weight it is the tail of F, with
    /// many equal ones that of Dempster's test (1958).
    ///
    /// By the saddlepoint formula of Lugannani and Rice (Kuonen 1999), for Σλz² − x·χ²/ν above 0. Within
    /// some per cent of itself, far out too.
    pub(crate) fn above_estimated(&self, x: f64, degrees: f64) -> f64 {
        let (mean, most) = (self.mean(), self.0.iter().copied().fold(0.0, f64::max));
        if x <= 0.0 || most <= 0.0 {
            return if x > 0.0 { 0.0 } else { 1.0 };
        }
        if (x / mean - 1.0).abs() < 1e-4 {
            // The formula is 0/0 at the mean: from both sides of it.
            let aside = |factor: f64| self.above_estimated(mean * factor, degrees);
            return 0.5 * (aside(0.999) + aside(1.001));
        }
        let known = |s: f64| 1.0 + 2.0 * x * s / degrees;
        // K'(s) = Σλ/(1 − 2λs) − x/(1 + 2xs/ν) rises from −∞ to ∞: the s at which it is 0.
        let slope =
            |s: f64| self.0.iter().map(|l| l / (1.0 - 2.0 * l * s)).sum::<f64>() - x / known(s);
        let limit = 0.5 / most;
        let mut high = limit;
        let mut low = if degrees.is_finite() { -0.5 * degrees / x } else { -limit };
        // Where x is small, s is far below 0.
        while degrees.is_infinite() && slope(low) > 0.0 {
            low *= 2.0;
        }
        for _ in 0..200 {
            let middle = 0.5 * (low + high);
            if middle <= low || middle >= high {
                break;
            }
            if slope(middle) < 0.0 { low = middle } else { high = middle }
        }
        let s = 0.5 * (low + high);
        let spent = if degrees.is_finite() { 0.5 * degrees * known(s).ln() } else { s * x };
        let k = -0.5 * self.0.iter().map(|l| (1.0 - 2.0 * l * s).ln()).sum::<f64>() - spent;
        let curvature: f64 =
            self.0.iter().map(|l| 2.0 * (l / (1.0 - 2.0 * l * s)).powi(2)).sum::<f64>()
                + 2.0 * (x / known(s)).powi(2) / degrees;
        let w = s.signum() * (-2.0 * k).max(0.0).sqrt();
        let v = s * curvature.sqrt();
        let z = w + (v / w).ln() / w;
        Normal::standard().sf(z).clamp(0.0, 1.0)
    }

    /// The value that Σλz² is above with this probability.
    pub(crate) fn quantile(&self, probability: f64) -> f64 {
        let (mut low, mut high) = (0.0, self.mean().max(f64::MIN_POSITIVE));
        while self.above(high) > probability {
            high *= 2.0;
        }
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            if self.above(middle) > probability { low = middle } else { high = middle }
        }
        0.5 * (low + high)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use statrs::distribution::{ChiSquared, FisherSnedecor};

    #[test]
    fn equal_weights_are_a_chi_squared() {
        for degrees in [1_u8, 3, 10, 60] {
            let spectrum = Spectrum::new((0..degrees).map(|_| 0.25));
            let exact = ChiSquared::new(f64::from(degrees)).unwrap();
            for probability in [0.9, 0.5, 0.1, 1e-3, 1e-6] {
                let x = exact.inverse_cdf(1.0 - probability);
                let ratio = spectrum.above(0.25 * x) / exact.sf(x);
                assert!((ratio - 1.0).abs() < 0.1, "{degrees} {probability} {ratio}");
                let back = spectrum.quantile(spectrum.above(0.25 * x));
                assert!((back / (0.25 * x) - 1.0).abs() < 1e-3);
            }
        }
    }

    #[test]
    fn weights_that_are_estimated_have_a_tail_of_f() {
        for (count, degrees) in [(1_u8, 19.0), (1, 200.0), (4, 76.0), (30, 570.0)] {
            let spectrum = Spectrum::new((0..count).map(|_| 0.5));
            let exact = FisherSnedecor::new(f64::from(count), degrees).unwrap();
            for probability in [0.9, 0.5, 0.1, 1e-3, 1e-6] {
                let x = exact.inverse_cdf(1.0 - probability);
                let told = spectrum.above_estimated(0.5 * f64::from(count) * x, degrees);
                let ratio = told / exact.sf(x);
                assert!((ratio - 1.0).abs() < 0.15, "{count} {degrees} {probability}: {ratio}");
            }
        }
        // The control: taken as known, the tail of one weight from 19 squares is far too thin.
        let spectrum = Spectrum::new([1.0].into_iter());
        let far = FisherSnedecor::new(1.0, 19.0).unwrap().inverse_cdf(1.0 - 2.5e-3);
        assert!(spectrum.above(far) < 1e-3);
    }

    #[test]
    fn one_large_weight_governs_the_tail() {
        let spectrum = Spectrum::new([1.0].into_iter().chain((0..20).map(|_| 0.1)));
        // Exact: conditional on the small ones, whose sum is 0.1·χ²₂₀, by numeric integration.
        let (small, large) = (ChiSquared::new(20.0).unwrap(), ChiSquared::new(1.0).unwrap());
        for x in [3.0, 8.0, 14.0, 20.0] {
            let steps = 20_000_u32;
            let share = |i: u32| (f64::from(i) + 0.5) / f64::from(steps);
            let exact: f64 = (0..steps)
                .map(|i| large.sf((x - 0.1 * small.inverse_cdf(share(i))).max(0.0)))
                .sum::<f64>()
                / f64::from(steps);
            let ratio = spectrum.above(x) / exact;
            assert!((ratio - 1.0).abs() < 0.1, "{x}: {ratio}");
        }
        // The control: a Gamma with the same two moments is wrong by far.
        let (mean, degrees) = (3.0, 9.0 / 1.2);
        let gamma = ChiSquared::new(degrees).unwrap().sf(20.0 * degrees / mean);
        assert!(gamma < 0.01 * spectrum.above(20.0));
    }
}
