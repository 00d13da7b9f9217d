//! How many frequencies the paper's theorems 3 and 4 ask for, and what they promise.
//!
//! Both are uniform over all sets of samples in a region, and so far above what is measured on
//! any one pair: on the blobs of figure 5 with L = 1024 the error of MMD² is some 10⁻³, where
//! theorem 3 promises an ε near 2 (see the table of `cargo xtask reproduce`). They are here to
//! be read, not to choose L by.

use crate::error::Refused;
use crate::real;

/// The Gaussian kernel's bandwidth, and the region that samples stay in.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Region {
    dims: f64,
    diameter: f64,
    bandwidth: f64,
}

/// Theorem 4's right-hand side, and whether its proof covers this case.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FastfoodBound {
    /// As printed; above 1 it says nothing.
    pub probability: f64,
    /// The proof's own assumptions: log d ≥ 2, a diameter of at least 1, and
    /// log d·diameter ≥ dσ²ε². Wherever the last holds, the bound is above 1 for every ε that
    /// means something.
    pub assumptions_hold: bool,
}

impl Region {
    /// Samples of `dims` channels within `diameter` of one another, and a Gaussian kernel.
    ///
    /// # Errors
    /// [`Refused::Empty`] without channels, [`Refused::BadParameter`] by name.
    pub fn new(dims: usize, diameter: f64, bandwidth: f64) -> Result<Self, Refused> {
        if dims == 0 {
            return Err(Refused::Empty);
        }
        Refused::unless_positive("diameter", diameter)?;
        Refused::unless_positive("bandwidth", bandwidth)?;
        Ok(Self { dims: real(dims), diameter, bandwidth })
    }

    /// (σ_p·diameter/ε)²·2¹², where σ_p² = d/σ² is the second moment of the frequencies.
    fn theorem_3_factor(&self, error: f64) -> f64 {
        let ratio = self.diameter / (self.bandwidth * error);
        4096.0 * self.dims * ratio * ratio
    }

    /// Theorem 3: a bound on the probability that MMD² by `frequencies` independent frequencies is
    /// anywhere off by `error` or more. At most 1.
    ///
    /// # Errors
    /// [`Refused::BadParameter`] unless `error` is positive, [`Refused::Empty`] without frequencies.
    pub fn failure(&self, frequencies: usize, error: f64) -> Result<f64, Refused> {
        Refused::unless_positive("error", error)?;
        if frequencies == 0 {
            return Err(Refused::Empty);
        }
        let exponent = -real(frequencies) * error * error / (64.0 * (self.dims + 2.0));
        Ok((self.theorem_3_factor(error) * exponent.exp()).min(1.0))
    }

    /// Theorem 3 solved for L: 64(d + 2)/ε²·log(2¹²(σ_p·diameter/ε)²/δ), rounded up.
    ///
    /// # Errors
    /// [`Refused::BadParameter`] unless `error` is positive, [`Refused::BadLevel`].
    pub fn frequencies_needed(&self, error: f64, probability: f64) -> Result<f64, Refused> {
        Refused::unless_positive("error", error)?;
        Refused::unless_level(probability)?;
        let needed = (self.theorem_3_factor(error) / probability).ln();
        Ok((64.0 * (self.dims + 2.0) / (error * error) * needed.max(0.0)).ceil().max(1.0))
    }

    /// Theorem 3 solved for ε: the error that `frequencies` frequencies stay below with a
    /// probability of at least 1 − `probability`.
    ///
    /// # Errors
    /// [`Refused::BadLevel`], [`Refused::Empty`] without frequencies.
    pub fn guarantee(&self, frequencies: usize, probability: f64) -> Result<f64, Refused> {
        Refused::unless_level(probability)?;
        // The bound falls as the error grows: halve the interval of its logarithm.
        let (mut low, mut high) = (1e-12_f64, 1e12_f64);
        for _ in 0..200 {
            let middle = (low * high).sqrt();
            if self.failure(frequencies, middle)? > probability {
                low = middle;
            } else {
                high = middle;
            }
        }
        Ok(high)
    }

    /// Theorem 4: as [`failure`](Self::failure) for Fastfood with blocks of `block` rows, to which
    /// the samples are padded.
    ///
    /// # Errors
    /// [`Refused::BadParameter`] unless `error` is positive, [`Refused::TooFewSamples`] for a block
    /// below two rows.
    pub fn fastfood_failure(&self, block: usize, error: f64) -> Result<FastfoodBound, Refused> {
        Refused::unless_positive("error", error)?;
        if block < 2 {
            return Err(Refused::TooFewSamples);
        }
        let d = real(block).max(self.dims);
        let ratio = d.ln() * self.diameter / (d * (self.bandwidth * error).powi(2));
        let exponent = -d * error * error / (64.0 * (d + 2.0));
        Ok(FastfoodBound {
            probability: 1_048_576.0 * ratio * ratio * exponent.exp(),
            assumptions_hold: d.ln() >= 2.0 && self.diameter >= 1.0 && ratio >= 1.0,
        })
    }

    /// Theorem 4 solved for the block, a power of two: the smallest whose bound, as printed, is
    /// at most `probability`. `None` if 2³¹ rows are not enough.
    ///
    /// # Errors
    /// [`Refused::BadParameter`] unless `error` is positive, [`Refused::BadLevel`].
    pub fn fastfood_block_needed(
        &self,
        error: f64,
        probability: f64,
    ) -> Result<Option<usize>, Refused> {
        Refused::unless_level(probability)?;
        for power in 1..32 {
            let block = 1 << power;
            // Padding below the dimension is none.
            if real(block) >= self.dims
                && self.fastfood_failure(block, error)?.probability <= probability
            {
                return Ok(Some(block));
            }
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::Frequencies;
    use crate::generate::Generator;
    use crate::kernel::gaussian;
    use crate::{Weighted, data, exact, tolerance};

    /// d = 2, σ = 1, diameter 1, ε = 1: 64·4·log(2¹²·2/δ).
    #[test]
    fn theorem_3_by_hand() -> Result<(), Refused> {
        let region = Region::new(2, 1.0, 1.0)?;
        let by_hand = (256.0 * (8192.0_f64 / 0.05).ln()).ceil();
        let needed = region.frequencies_needed(1.0, 0.05)?;
        tolerance::QUANTILE.hold("L", needed, by_hand);
        let count = 3074;
        tolerance::QUANTILE.hold("L by hand", by_hand, real(count));
        let back = region.guarantee(count, region.failure(count, 1.0)?)?;
        tolerance::QUANTILE.hold("ε", back, 1.0);
        Ok(())
    }

    /// Four times the frequencies halve the error, but for the logarithm.
    #[test]
    fn guarantees_fall_with_frequencies() -> Result<(), Refused> {
        let region = Region::new(3, 10.0, 2.0)?;
        let [few, many] = [1 << 10, 1 << 20].map(|l| region.guarantee(l, 0.01));
        let ratio = few? / many?;
        assert!(ratio > 16.0 && ratio < 40.0, "{ratio}");
        let block = region.fastfood_block_needed(1.0, 0.05)?.expect("a power below 2³¹");
        assert!(region.fastfood_failure(block, 1.0)?.probability <= 0.05);
        assert!(region.fastfood_failure(block / 2, 1.0)?.probability > 0.05);
        assert!(!region.fastfood_failure(block, 1.0)?.assumptions_hold);
        let covered = region.fastfood_failure(8, 0.2)?;
        assert!(covered.assumptions_hold && covered.probability > 1.0);
        Ok(())
    }

    /// What the documentation calls conservative is so: measured errors stay below the promise.
    #[test]
    fn measured_errors_are_below_the_guarantee() -> Result<(), Refused> {
        let mut generator = Generator::new(12);
        let p = data::blobs(&mut generator, 300, 10.0, 1.0)?;
        let q = data::blobs(&mut generator, 300, 10.0, 4.0)?;
        let (p, q) = (Weighted::even(p), Weighted::even(q));
        let truth = exact::biased(&p, &q, gaussian(1.0))?;
        let promised = Region::new(2, 60.0, 1.0)?.guarantee(256, 0.05)?;
        for _ in 0..20 {
            let frequencies = Frequencies::gaussian(&mut generator, 256, 2, 1.0)?;
            let value = frequencies.spectrum(&p)?.biased(&frequencies.spectrum(&q)?);
            assert!((value - truth).abs() < promised);
        }
        Ok(())
    }

    #[test]
    fn bad_parameters_are_refused_by_name() -> Result<(), Refused> {
        assert_eq!(Region::new(0, 1.0, 1.0), Err(Refused::Empty));
        let bad = |name| Refused::BadParameter { name };
        assert_eq!(Region::new(1, 0.0, 1.0), Err(bad("diameter")));
        assert_eq!(Region::new(1, 1.0, f64::NAN), Err(bad("bandwidth")));
        let region = Region::new(1, 1.0, 1.0)?;
        assert_eq!(region.failure(1, -1.0), Err(bad("error")));
        assert_eq!(region.failure(0, 1.0), Err(Refused::Empty));
        assert_eq!(region.frequencies_needed(1.0, 1.0), Err(Refused::BadLevel));
        assert_eq!(region.fastfood_failure(1, 1.0), Err(Refused::TooFewSamples));
        Ok(())
    }
}
