//! Is a difference more than chance? Thresholds and p-values of MMD_b² for equal distributions.

use super::mmd;
use super::{Embedding, TwoSample};
use crate::error::{Error, check_level};
use crate::features::FeatureMap;
use crate::numeric::{exp, ln, normal_quantile, normal_tail, rounded, sqrt};

/// What is assumed of two streams, besides that their samples are independent. See
/// [`TwoSampleTest`](super::TwoSampleTest) for streams whose samples depend on earlier ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Assumption {
    /// Nothing more: any number of samples, any distribution, any weights. The bound is
    /// √(s·K(0))·(1 + √(2·ln(1/α))) on MMD_b, s being the sum of both
    /// [concentrations](Embedding::concentration): 1/m + 1/n without weights. Bounded differences
    /// give it: a sample of weight a moves MMD_b by at most 2a√K(0), and the mean of MMD_b is at most
    /// √(s·K(0)). Conservative: about ten times the threshold of an exact test, for a Gaussian kernel
    /// as wide as the data.
    Nothing,
    /// Many samples, so that MMD_b² is a weighted sum of independent χ², with any weights λ ≥ 0: of
    /// all such sums of mean 1, none is above the (1 − α)-quantile of χ² with one degree of freedom
    /// with a probability of more than α ≤ 0.215 (Székely and Bakirov, 2003). The mean is
    /// MMD_b² − MMD_u². Conservative, the more so the more λ count.
    ManySamples,
}

/// Largest level at which the bound over all weights λ is proven.
const PROVEN: f64 = 0.215;

/// MMD_b² over its mean for equal distributions.
pub(super) struct Reading {
    pub(super) squared: f64,
    /// K(0)·s for [`Assumption::Nothing`], the mean for [`Assumption::ManySamples`].
    unit: f64,
}

impl Reading {
    pub(super) fn of<M: FeatureMap>(
        p: &Embedding<M>,
        q: &Embedding<M>,
        assumption: Assumption,
    ) -> Result<Self, Error> {
        let squared = f64::from(mmd::squared_biased(p, q)?);
        let unit = match assumption {
            Assumption::Nothing => {
                let spread = f64::from(p.concentration()?) + f64::from(q.concentration()?);
                // |φ(x)|² is at most this.
                spread * f64::from(p.gain())
            }
            // Never negative but for rounding, and 0 only if all samples are equal.
            Assumption::ManySamples => squared - f64::from(mmd::squared_unbiased(p, q)?),
        };
        Ok(Self { squared, unit })
    }

    /// The probability of an MMD_b² at least this large, times `tests`.
    pub(super) fn p_value(&self, assumption: Assumption, tests: f64) -> f64 {
        if self.squared <= 0.0 {
            return 1.0;
        }
        if self.unit <= 0.0 {
            // Without scatter, any difference is certain.
            return 0.0;
        }
        let root = sqrt(self.squared / self.unit);
        let own = match assumption {
            Assumption::Nothing if root <= 1.0 => 1.0,
            Assumption::Nothing => exp(-0.5 * (root - 1.0) * (root - 1.0)),
            Assumption::ManySamples => {
                let p = 2.0 * normal_tail(root);
                if p <= PROVEN { p } else { 1.0 }
            }
        };
        if own * tests < 1.0 { own * tests } else { 1.0 }
    }

    /// The MMD_b² that is exceeded with a probability of at most `level` over `tests`.
    pub(super) fn threshold(&self, assumption: Assumption, level: f32, tests: f64) -> f64 {
        let level = f64::from(level) / tests;
        let root = match assumption {
            Assumption::Nothing => 1.0 + sqrt(-2.0 * ln(level)),
            Assumption::ManySamples => {
                let level = if level < PROVEN { level } else { PROVEN };
                -normal_quantile(0.5 * level)
            }
        };
        self.unit * root * root
    }
}

impl<M: FeatureMap> TwoSample<'_, M> {
    /// The value that [`mmd2_biased`](Self::mmd2_biased) exceeds with a probability of at most
    /// `level` if both streams have one distribution and independent samples. O(L), and some hundred
    /// operations in `f64`.
    ///
    /// ```
    /// use fastmmd::embedding::Assumption;
    /// use fastmmd::{Fourier, TwoSample};
    ///
    /// let map = Fourier::<1, 64>::gaussian(1);
    /// let mut test = TwoSample::new(&map);
    /// for step in 0..200_u16 {
    ///     let noise = (f32::from(step) * 12.99).sin();
    ///     test.push_p(&[noise])?;
    ///     test.push_q(&[noise + 1.5])?;
    /// }
    /// assert!(test.mmd2_biased()? > test.threshold(Assumption::ManySamples, 0.01)?);
    /// assert!(test.p_value(Assumption::Nothing)? < 0.01);
    /// # Ok::<(), fastmmd::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NonFinite`] or [`Error::OutOfRange`] unless 0 < `level` < 1, [`Error::Empty`] before
    /// both streams have a sample, and [`Error::TooFewSamples`] for
    /// [`Assumption::ManySamples`] before both have two.
    pub fn threshold(&self, assumption: Assumption, level: f32) -> Result<f32, Error> {
        check_level(level)?;
        let reading = Reading::of(self.p(), self.q(), assumption)?;
        Ok(rounded(reading.threshold(assumption, level, 1.0)))
    }

    /// The probability of an [`mmd2_biased`](Self::mmd2_biased) at least as large as it is, if both
    /// streams have one distribution; an upper bound of it. Cost as for
    /// [`threshold`](Self::threshold).
    ///
    /// # Errors
    /// As [`threshold`](Self::threshold).
    pub fn p_value(&self, assumption: Assumption) -> Result<f32, Error> {
        let reading = Reading::of(self.p(), self.q(), assumption)?;
        Ok(rounded(reading.p_value(assumption, 1.0)))
    }
}

impl<M: FeatureMap> Embedding<M> {
    /// The error bar of the embedding: a bound on the distance ‖μ − μ_X‖ between the embedding μ of
    /// the distribution and this one, which holds with a probability of at least 1 − `probability`:
    /// √(K(0)·c)·(1 + √(2·ln(1/`probability`))), c being the
    /// [concentration](Self::concentration), 1/m without weights. For every distribution and
    /// any number of independent samples. By theorem 3 of the embedding paper it bounds the error of
    /// the mean of any function of norm 1 in the kernel's space. Cost: some hundred operations in
    /// `f64`.
    ///
    /// Theorem 2 there is 2R_m + R·√(ln(1/δ)/m), with a Rademacher average R_m ≤ √(K(0)/m) and
    /// R = √K(0). A kernel needs R_m only once, and bounded differences of 2R/m give √2 that the
    /// printed second term lacks. This is below what is printed for δ ≥ 0.003.
    ///
    /// ```
    /// use fastmmd::{Embedding, Fourier};
    ///
    /// let map = Fourier::<1, 32>::gaussian(1);
    /// let mut stream = Embedding::new(&map);
    /// for step in 0..100_u8 {
    ///     stream.add(&map, &[f32::from(step % 10)])?;
    /// }
    /// assert!(stream.error_bar(0.05)? < 0.35);
    /// # Ok::<(), fastmmd::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Empty`], and [`Error::NonFinite`] or [`Error::OutOfRange`] unless
    /// 0 < `probability` < 1.
    pub fn error_bar(&self, probability: f32) -> Result<f32, Error> {
        check_level(probability)?;
        let size = f64::from(self.gain()) * f64::from(self.concentration()?);
        Ok(rounded(sqrt(size) * (1.0 + sqrt(-2.0 * ln(f64::from(probability))))))
    }
}
