//! How large is a difference? A confidence interval of MMD².

use super::{TwoSample, Witness};
use crate::error::{BLOCK_ROWS, Error, Parameter, check_level, has_rows};
use crate::features::sincos::SinCos;
use crate::features::{FeatureMap, Sample};
use crate::numeric::{normal_quantile, rounded, row_count, sqrt};

/// An estimate of MMD², with its lower and upper bound.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub struct Interval {
    /// The unbiased MMD².
    pub estimate: f32,
    /// Its lower bound, at least 0.
    pub low: f32,
    /// Its upper bound.
    pub high: f32,
}

/// Mean and variance of the witness over blocks of samples of one stream.
#[derive(Debug, Clone, Copy, Default)]
struct Batches {
    /// Values in the present block, and their sum.
    filled: u32,
    sum: f32,
    /// Blocks so far, their mean, and the sum of squares about it.
    blocks: u32,
    mean: f32,
    squares: f32,
}

impl Batches {
    fn add(&mut self, value: f32, block: u32) {
        self.sum += value;
        self.filled = self.filled.saturating_add(1);
        if self.filled < block {
            return;
        }
        let value = self.sum / row_count(block);
        (self.filled, self.sum) = (0, 0.0);
        self.blocks = self.blocks.saturating_add(1);
        let before = value - self.mean;
        self.mean += before / row_count(self.blocks);
        self.squares += before * (value - self.mean);
    }

    /// b·Var of the mean of a block of b: the variance of a single value, if all are independent.
    fn variance(&self, block: u32) -> Option<f64> {
        let others = self.blocks.checked_sub(1).filter(|others| *others > 0)?;
        Some(f64::from(self.squares) / f64::from(others) * f64::from(block))
    }
}

/// A confidence interval of MMD² between two different distributions, on demand: 8·L bytes and a
/// little.
///
/// If P and Q differ, MMD_u² is normal about MMD² for many samples, with the variance
/// 4·(Var f(p)/m + Var f(q)/n), f being the [`Witness`]: theorem 5 of the embedding paper, whose
/// σ_u² = 4·Var E_z'h(z, z') is 4·(Var f(p) + Var f(q)) for pairs z of independent p and q. Here
/// f is the witness of the two streams as they are now. Push some more samples of each, such as the
/// next hundred or those in a buffer, to measure the variance of f. For samples that depend on
/// earlier ones, choose blocks as for a [`TwoSampleTest`](super::TwoSampleTest); Var is then that of
/// the mean of a block, times its length.
///
/// For equal distributions MMD_u² is not normal, and the interval is no test:
/// [`TwoSampleTest`](super::TwoSampleTest) is one.
///
/// ```
/// use fastmmd::embedding::Alternative;
/// use fastmmd::{Fourier, TwoSample};
///
/// let map = Fourier::<1, 64>::gaussian(1);
/// let mut streams = TwoSample::new(&map);
/// let noise = |step: u16| (f32::from(step) * 12.9898).sin() * 437.58 % 1.0;
/// for step in 0..500 {
///     streams.push_p(&[noise(step)])?;
///     streams.push_q(&[noise(step + 500) + 1.0])?;
/// }
/// let mut alternative = Alternative::new(&streams, 1)?;
/// for step in 1000..1100 {
///     alternative.push_p(&[noise(step)])?;
///     alternative.push_q(&[noise(step + 100) + 1.0])?;
/// }
/// let interval = alternative.interval(0.95)?;
/// assert!(interval.low < interval.estimate && interval.estimate < interval.high);
/// assert!(interval.high - interval.low < 0.2);
/// # Ok::<(), fastmmd::Error>(())
/// ```
#[derive(Debug)]
pub struct Alternative<'m, M: FeatureMap> {
    witness: Witness<'m, M>,
    block: u32,
    estimate: f32,
    /// 1/m and 1/n; for weighted samples, their concentration.
    shares: [f32; 2],
    batches: [Batches; 2],
}

impl<'m, M: FeatureMap<Backend: SinCos>> Alternative<'m, M> {
    /// The witness of two streams as they are now, with blocks of `block` samples. O(L).
    ///
    /// # Errors
    /// [`Error::Empty`] or [`Error::TooFewSamples`] before both streams have two samples,
    /// [`Error::OutOfRange`] for the block.
    pub fn new(streams: &TwoSample<'m, M>, block: u32) -> Result<Self, Error> {
        if !has_rows(&BLOCK_ROWS, block) {
            return Err(Error::OutOfRange(Parameter::Block));
        }
        let (p, q) = (streams.p(), streams.q());
        Ok(Self {
            witness: Witness::new(streams.map(), p, q)?,
            block,
            estimate: streams.mmd2_unbiased()?,
            shares: [p.concentration()?, q.concentration()?],
            batches: [Batches::default(); 2],
        })
    }

    /// Takes a sample of P. O(L), and the cost of the map.
    ///
    /// # Errors
    /// As [`Witness::at`].
    pub fn push_p(&mut self, sample: &Sample<M>) -> Result<(), Error> {
        let value = self.witness.at(sample)?;
        let [batches, _] = &mut self.batches;
        batches.add(value, self.block);
        Ok(())
    }

    /// Takes a sample of Q, as [`push_p`](Self::push_p).
    ///
    /// # Errors
    /// As [`Witness::at`].
    pub fn push_q(&mut self, sample: &Sample<M>) -> Result<(), Error> {
        let value = self.witness.at(sample)?;
        let [_, batches] = &mut self.batches;
        batches.add(value, self.block);
        Ok(())
    }

    /// The standard deviation of MMD_u²: √(4·(Var f(p)/m + Var f(q)/n)).
    ///
    /// # Errors
    /// [`Error::TooFewSamples`] before two blocks of each stream were pushed.
    pub fn deviation(&self) -> Result<f32, Error> {
        let mut variance = 0.0;
        for (batches, share) in self.batches.iter().zip(self.shares) {
            let own = batches.variance(self.block).ok_or(Error::TooFewSamples)?;
            variance += 4.0 * own * f64::from(share);
        }
        Ok(rounded(sqrt(variance)))
    }

    /// The interval that contains MMD² with probability `confidence`.
    ///
    /// # Errors
    /// [`Error::NonFinite`] or [`Error::OutOfRange`] unless 0 < `confidence` < 1, and as
    /// [`deviation`](Self::deviation).
    pub fn interval(&self, confidence: f32) -> Result<Interval, Error> {
        check_level(confidence)?;
        let z = rounded(normal_quantile(0.5 + 0.5 * f64::from(confidence)));
        let (estimate, reach) = (self.estimate, z * self.deviation()?);
        let low = estimate - reach;
        Ok(Interval { estimate, low: if low > 0.0 { low } else { 0.0 }, high: estimate + reach })
    }
}

#[cfg(feature = "defmt")]
impl<M: FeatureMap> defmt::Format for Alternative<'_, M> {
    fn format(&self, f: defmt::Formatter<'_>) {
        defmt::write!(f, "MMD² {}, blocks of {}", self.estimate, self.block);
    }
}
