//! The FastMMD paper's theorems 3 and 4: error bounds, and the number of frequencies they require.
//!
//! | | theorem 3: independent frequencies | theorem 4: one block of Fastfood |
//! |---|---|---|
//! | probability of an error of ε or more | [`failure`](Region::failure) | [`fastfood_failure`](Region::fastfood_failure) |
//! | L needed for ε and δ | [`frequencies_needed`](Region::frequencies_needed) | [`fastfood_block_needed`](Region::fastfood_block_needed) |
//! | ε given L and δ | [`guarantee`](Region::guarantee) | [`fastfood_guarantee`](Region::fastfood_guarantee) |
//!
//! Both are uniform over all sets of samples in a region, and conservative. Even the largest error
//! over all pairs of points is about a twentieth of theorem 3's bound; for two sets such as the
//! blobs of figure 5 it is less than a thousandth. The report of `cargo xtask reproduce` compares
//! the measured error with both theorems for each L. Do not choose L by these bounds.

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
    /// The bound as printed in the paper; above 1 it says nothing.
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

    /// Theorem 3: a bound on the probability that MMD² by `frequencies` independent frequencies has
    /// an error of `error` or more anywhere in the region. At most 1.
    ///
    /// # Errors
    /// [`Refused::BadParameter`] unless `error` is positive, [`Refused::Empty`] without
    /// frequencies.
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
        error_at(probability, |error| self.failure(frequencies, error))
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
            // A block is at least as long as a sample.
            if real(block) >= self.dims
                && self.fastfood_failure(block, error)?.probability <= probability
            {
                return Ok(Some(block));
            }
        }
        Ok(None)
    }

    /// Theorem 4 solved for ε: the error that one block of `block` rows stays below with a
    /// probability of at least 1 − `probability`, by the bound as printed. The proof's assumptions
    /// do not hold there: see [`FastfoodBound::assumptions_hold`].
    ///
    /// # Errors
    /// [`Refused::BadLevel`], [`Refused::TooFewSamples`] for a block below two rows.
    pub fn fastfood_guarantee(&self, block: usize, probability: f64) -> Result<f64, Refused> {
        error_at(probability, |error| Ok(self.fastfood_failure(block, error)?.probability))
    }
}

/// The error at which a bound, which falls as the error grows, equals a probability: by bisection
/// of the logarithm.
fn error_at(probability: f64, bound: impl Fn(f64) -> Result<f64, Refused>) -> Result<f64, Refused> {
    Refused::unless_level(probability)?;
    let (mut low, mut high) = (1e-12_f64, 1e12_f64);
    for _ in 0..200 {
        let middle = (low * high).sqrt();
        if bound(middle)? > probability {
            low = middle;
        } else {
            high = middle;
        }
    }
    Ok(high)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::Frequencies;
    use crate::generate::Generator;
    use crate::kernel::gaussian;
    use crate::tolerance;

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

    /// Four times the frequencies halve the error, up to the logarithm.
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

    /// d = 2, padded to a block of 8, σ = 1, diameter 1: 2²⁰·(log 8/8ε²)²·exp(−8ε²/640) by hand,
    /// and its inverse.
    #[test]
    fn theorem_4_by_hand() -> Result<(), Refused> {
        let region = Region::new(2, 1.0, 1.0)?;
        let error = 40.0_f64;
        let ratio = 8.0_f64.ln() / (8.0 * error * error);
        let by_hand = 1_048_576.0 * ratio * ratio * (-8.0 * error * error / 640.0).exp();
        let bound = region.fastfood_failure(8, error)?.probability;
        tolerance::REFERENCE_IDENTITY.hold("probability", bound, by_hand);
        let back = region.fastfood_guarantee(8, bound)?;
        tolerance::QUANTILE.hold("ε", back, error);
        // For one block the exponential is negligible: ε falls as √(log d/d), by the factor before
        // it.
        let [few, many] = [1 << 20, 1 << 30].map(|block| region.fastfood_guarantee(block, 0.05));
        let (few, many) = (few?, many?);
        let law = (20.0_f64 / 30.0 * 1024.0).sqrt();
        assert!((few / many / law - 1.0).abs() < 0.01, "{few} and {many}");
        let needed = region.fastfood_block_needed(few, 0.05)?.expect("a power below 2³¹");
        assert_eq!(needed, 1 << 20);
        Ok(())
    }

    /// The bound is conservative, as documented, where it says something: below 2, which no MMD²
    /// exceeds. Checked over all pairs of points, as in the theorem: MMD_b² of two points is 2 −
    /// 2k, so that its error is twice that of the kernel at their distance.
    #[test]
    fn measured_errors_are_below_the_guarantee() -> Result<(), Refused> {
        const DIAMETER: f64 = 10.0;
        let region = Region::new(1, DIAMETER, 1.0)?;
        let mut generator = Generator::new(12);
        for frequencies in [1 << 12, 1 << 14] {
            let promised = region.guarantee(frequencies, 0.05)?;
            assert!(promised < 1.0, "{promised} promises next to nothing");
            for _ in 0..10 {
                let drawn = Frequencies::gaussian(&mut generator, frequencies, 1, 1.0)?;
                let off = |step: i32| {
                    let apart = DIAMETER * f64::from(step) / 200.0;
                    2.0 * (drawn.mean_cosine(&[apart]) - gaussian(1.0)(&[apart], &[0.0])).abs()
                };
                let largest = (0..=200).map(off).fold(0.0, f64::max);
                println!("L = {frequencies}: {largest:.4} of {promised:.3} promised");
                tolerance::BOUND_KEPT.hold_below("theorem 3", largest / promised);
                // The control: the bound is conservative by a limited factor.
                let factor = tolerance::BOUND_CONSERVATIVE.limit;
                assert!(largest > promised / factor, "{largest} is far below {promised}");
            }
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
        for level in [0.0, 1.0, -0.5, f64::NAN] {
            assert_eq!(region.guarantee(9, level), Err(Refused::BadLevel));
            assert_eq!(region.fastfood_guarantee(9, level), Err(Refused::BadLevel));
            assert_eq!(region.fastfood_block_needed(1.0, level), Err(Refused::BadLevel));
        }
        assert_eq!(region.guarantee(0, 0.05), Err(Refused::Empty));
        assert_eq!(region.fastfood_guarantee(1, 0.05), Err(Refused::TooFewSamples));
        Ok(())
    }
}
