//! A null distribution from blocks of samples, for samples that depend on earlier ones.

use nalgebra::{DMatrix, DVector};

use super::law::Null;
use crate::error::Refused;
use crate::features::Frequencies;
use crate::points::Points;
use crate::real;

/// Differences of neighbouring block means times √(b/2): the columns have the covariance of a mean
/// of many samples, times their number.
fn differences(features: &DMatrix<f64>, block: usize) -> Vec<DVector<f64>> {
    let pairs = features.ncols() / (2 * block);
    let mean = |start: usize| features.columns(start, block).column_mean();
    let scale = (0.5 * real(block)).sqrt();
    let one = |pair: usize| {
        let start = 2 * block * pair;
        (mean(start) - mean(start + block)) * scale
    };
    (0..pairs).map(one).collect()
}

/// (Σλ)²/Σλ² of λ that fall geometrically and had this value before each of them grew in proportion to
/// its square, all together by this share of their sum.
fn dimensions(before: f64, growth: f64) -> f64 {
    // 1 + r + r² + … times 1 − r.
    let ratio = (before - 1.0) / (before + 1.0);
    let start = Some(1.0 - ratio);
    let all = std::iter::successors(start, |lambda| Some(lambda * ratio).filter(|l| *l > 1e-12));
    let all: Vec<f64> = all.collect();
    let squares: f64 = all.iter().map(|lambda| lambda * lambda).sum();
    let grown = all.iter().map(|lambda| lambda + growth * lambda * lambda / squares);
    let (sum, squares) = grown.fold((0.0, 0.0), |(sum, squares), l| (sum + l, squares + l * l));
    sum * sum / squares
}

/// The distribution of MMD_b² by frequencies of two stretches of a series from one distribution:
/// s·Σλ·F with (Σλ)²/Σλ² degrees of freedom, and as many for each difference of neighbouring blocks
/// that Σλ was estimated from. The moments are of differences of blocks of `block` samples, and of a
/// quarter of it, by which Σλ is extrapolated to long blocks; its growth is given to each λ in proportion
/// to λ². With blocks of 1 for independent samples; for others, of at least ten times the rows over which
/// they depend on each other, and twenty times where several channels are equally slow. O(NL).
///
/// # Errors
/// [`Refused::BadParameter`] for blocks of length 0, [`Refused::Ragged`] for points of another
/// dimension, [`Refused::TooFewSamples`] below four pairs of blocks, [`Refused::Constant`] if the
/// samples do not vary.
pub fn blocks(
    p: &Points,
    q: &Points,
    frequencies: &Frequencies,
    block: usize,
) -> Result<Null, Refused> {
    if block == 0 {
        return Err(Refused::BadParameter { name: "block" });
    }
    let short = block.div_ceil(4);
    let sets = [frequencies.columns(p)?, frequencies.columns(q)?];
    let each = |block: usize| sets.each_ref().map(|set| differences(set, block));
    let (longs, shorts) = (each(block), each(short));
    let sizes = |set: &[Vec<DVector<f64>>; 2]| -> Vec<f64> {
        set.iter().flatten().map(|d| d.norm_squared()).collect()
    };
    let mean = |values: &[f64]| values.iter().sum::<f64>() / real(values.len());
    let (long, of_short) = (sizes(&longs), sizes(&shorts));
    let products = |set: &Vec<DVector<f64>>| -> Vec<f64> {
        set.windows(2).map(|pair| pair[0].dot(&pair[1]).powi(2)).collect()
    };
    let squares = shorts.each_ref().map(products).concat();
    if long.len() < 4 || squares.is_empty() {
        return Err(Refused::TooFewSamples);
    }
    let raw = (mean(&of_short).powi(2) / mean(&squares)).max(1.0);
    let of_short_blocks = (raw / (1.0 + 2.0 / (raw * real(of_short.len())))).max(1.0);
    let ratio = real(block) / real(short);
    let share = if ratio > 1.0 { ratio / (ratio - 1.0) } else { 1.0 };
    let trace = share * mean(&long) - (share - 1.0) * mean(&of_short);
    let trace = trace.max(0.5 * mean(&long));
    let degrees = dimensions(of_short_blocks, (trace / mean(&of_short) - 1.0).max(0.0));
    let spread = 1.0 / real(p.len()) + 1.0 / real(q.len());
    let known = degrees * real(long.len()) / (share * share);
    Null::fisher(spread * trace, [degrees, known])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::Generator;
    use crate::null::{Estimate, Features, Pool, spectrum};
    use crate::tolerance;

    /// For many independent samples, the threshold is that of the spectrum.
    #[test]
    fn independent_samples_have_the_threshold_of_the_spectrum() -> Result<(), Refused> {
        let mut generator = Generator::new(31);
        let mut set = || Points::new(1, (0..4000).map(|_| generator.normal()).collect());
        let (p, q) = (set()?, set()?);
        let frequencies = Frequencies::gaussian(&mut Generator::new(32), 32, 1, 1.0)?;
        let pool = Features::new(&frequencies, &p, &q)?;
        let drawn = spectrum(&pool, Estimate::Biased, 4000, &mut Generator::new(33))?;
        let moments = blocks(&p, &q, &frequencies, 1)?;
        let ratio = moments.threshold(0.05)? / drawn.threshold(0.05)?;
        tolerance::BLOCK_THRESHOLD.hold("over that of the spectrum", ratio, 1.0);
        assert!(pool.mmd2(Estimate::Biased)?.is_finite());
        assert!(blocks(&p, &q, &frequencies, 0).is_err());
        assert_eq!(blocks(&p, &q, &frequencies, 4000).err(), Some(Refused::TooFewSamples));
        Ok(())
    }
}
