//! Weights that make one sample look like another: kernel mean matching for covariate shift
//! (Smola and others, 2007, section 2.2).

use nalgebra::{DMatrix, DVector};

use crate::error::Refused;
use crate::null::symmetric;
use crate::{real, simplex};

/// A pivot below this fraction of its diagonal is rounding error: the matrix is singular.
const PIVOT: f64 = 1e-12;

/// A weight for each sample, none negative, with a sum of 1.
#[derive(Debug, Clone, PartialEq)]
pub struct Matched {
    /// β, in the order of the samples.
    pub weights: Vec<f64>,
}

impl Matched {
    /// 1/‖β‖²: the effective number of samples, from 1 to their number.
    #[must_use]
    pub fn effective_samples(&self) -> f64 {
        1.0 / self.weights.iter().map(|weight| weight * weight).sum::<f64>()
    }

    /// Σβᵢ·f(xᵢ) for values in the order of the samples.
    #[must_use]
    pub fn mean(&self, values: impl IntoIterator<Item = f64>) -> f64 {
        self.weights.iter().zip(values).map(|(weight, value)| weight * value).sum()
    }
}

/// The β that minimises ‖Σβᵢφ(xᵢ) − μ_target‖² + λ‖β‖²: ½βᵀ(K + λI)β − βᵀl over the simplex, with
/// lᵢ the mean of the kernel between xᵢ and the target (equation 9). O(m² + mn) kernel values.
///
/// # Errors
/// [`Refused::Empty`] for an empty set, [`Refused::BadParameter`] unless λ is 0 or more and
/// finite, [`Refused::NotFinite`], and [`Refused::Singular`] if K + λI has no inverse, as with
/// λ = 0 and a sample that occurs twice: β is then not determined.
pub fn match_means<T>(
    samples: &[T],
    target: &[T],
    kernel: impl Fn(&T, &T) -> f64,
    lambda: f64,
) -> Result<Matched, Refused> {
    if samples.is_empty() || target.is_empty() {
        return Err(Refused::Empty);
    }
    if !(lambda >= 0.0 && lambda.is_finite()) {
        return Err(Refused::BadParameter { name: "lambda" });
    }
    let gram = symmetric(&samples.iter().collect::<Vec<_>>(), &kernel)?;
    let size = samples.len();
    let ridged = gram + DMatrix::from_diagonal_element(size, size, lambda);
    let root = ridged.clone().cholesky().ok_or(Refused::Singular)?.unpack();
    let pivots = root.diagonal().iter().zip(&ridged.diagonal()).all(|(l, d)| l * l > PIVOT * d);
    if !pivots {
        return Err(Refused::Singular);
    }
    let mean = |x: &T| target.iter().map(|y| kernel(x, y)).sum::<f64>() / real(target.len());
    let means = DVector::from_iterator(size, samples.iter().map(mean));
    Ok(Matched { weights: simplex::minimise(&ridged, &means)? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::Generator;
    use crate::kernel::gaussian;
    use crate::tolerance;

    fn kernel(x: &f64, y: &f64) -> f64 {
        gaussian(1.0)(&[*x], &[*y])
    }

    fn normals(generator: &mut Generator, count: usize, mean: f64, deviation: f64) -> Vec<f64> {
        (0..count).map(|_| mean + deviation * generator.normal()).collect()
    }

    /// N(0, 1) reweighted to N(0.7, 0.6²), whose moments and density ratio are known.
    #[test]
    fn a_known_shift_is_matched() -> Result<(), Refused> {
        let mut generator = Generator::new(21);
        let samples = normals(&mut generator, 400, 0.0, 1.0);
        let target = normals(&mut generator, 400, 0.7, 0.6);
        let matched = match_means(&samples, &target, kernel, 1e-3)?;
        let mean = matched.mean(samples.iter().copied());
        tolerance::MATCHED_MOMENT.hold("mean", mean, 0.7);
        let square = matched.mean(samples.iter().map(|x| x * x));
        tolerance::MATCHED_MOMENT.hold("square", square, 0.7 * 0.7 + 0.36);
        // The control: without weights the error of the mean is far above the limit.
        let plain = samples.iter().sum::<f64>() / 400.0;
        assert!(!tolerance::MATCHED_MOMENT.admits(plain, 0.7));
        // The ratio of densities has an effective sample size of its own, 1/Σr² normalised.
        let ratio = |x: &f64| (-((x - 0.7) / 0.6).powi(2) / 2.0 + x * x / 2.0).exp() / 0.6;
        let ratios: Vec<f64> = samples.iter().map(ratio).collect();
        let total: f64 = ratios.iter().sum();
        let ideal = Matched { weights: ratios.iter().map(|r| r / total).collect() };
        let share = matched.effective_samples() / ideal.effective_samples();
        tolerance::MATCHED_EFFECTIVE.hold("effective samples over ideal", share.log2(), 0.0);
        Ok(())
    }

    /// A larger ridge gives more even weights; a sample matched to itself has equal weights.
    #[test]
    fn the_ridge_evens_the_weights() -> Result<(), Refused> {
        let mut generator = Generator::new(22);
        let samples = normals(&mut generator, 60, 0.0, 1.0);
        let target = normals(&mut generator, 60, 1.0, 1.0);
        let mut last = 0.0;
        for lambda in [1e-3, 1e-2, 0.1, 1.0, 1e3] {
            let size = match_means(&samples, &target, kernel, lambda)?.effective_samples();
            assert!(size > last, "λ = {lambda}: {size}");
            tolerance::REFERENCE_IDENTITY.hold_below("samples above all", size / 60.0 - 1.0);
            last = size;
        }
        let same = match_means(&samples, &samples, kernel, 1e-3)?;
        for weight in same.weights {
            tolerance::SIMPLEX.hold("weight", weight, 1.0 / 60.0);
        }
        Ok(())
    }

    #[test]
    fn bad_input_is_refused_by_name() {
        let two = [1.0, 2.0];
        assert_eq!(match_means(&[], &two, kernel, 0.1), Err(Refused::Empty));
        assert_eq!(match_means(&two, &[], kernel, 0.1), Err(Refused::Empty));
        let bad = Err(Refused::BadParameter { name: "lambda" });
        assert_eq!(match_means(&two, &two, kernel, -0.1), bad);
        assert_eq!(match_means(&two, &two, kernel, f64::NAN), bad);
        assert_eq!(match_means(&[1.0, 1.0], &two, kernel, 0.0), Err(Refused::Singular));
        assert!(match_means(&[1.0, 1.0], &two, kernel, 0.1).is_ok());
        let nan = match_means(&two, &[f64::NAN], kernel, 0.1);
        assert_eq!(nan, Err(Refused::NotFinite));
    }
}
