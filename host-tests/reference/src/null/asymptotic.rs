//! Null distributions from asymptotic theory.

use super::law::Null;
use super::pool::{Estimate, Moments, Pool};
use crate::error::Refused;
use crate::generate::Generator;
use crate::real;

/// 1/m + 1/n.
fn spread(pool: &impl Pool) -> f64 {
    pool.sizes().map(|size| 1.0 / real(size)).iter().sum()
}

/// Moments of a pool. Refused if Σλ is only rounding error of the mean of k(x, x), if the estimate
/// of Σλ² is not positive, or if either overflows.
fn moments(pool: &impl Pool) -> Result<Moments, Refused> {
    const ROUNDING: f64 = 1e-12;
    let size = pool.diagonal().mean();
    let moments = pool.moments();
    Refused::unless_finite(&[size, moments.trace, moments.square])?;
    let varies = moments.trace > ROUNDING * size && moments.square > 0.0;
    if varies { Ok(moments) } else { Err(Refused::Constant) }
}

/// Draws of (1/m + 1/n)·Σλ(z² − 1), or Σλz² for the biased estimate, with the eigenvalues of the
/// pool (Gretton and others, 2009). O(N³) once over a Gram matrix, O(NL² + L³) over features, and
/// the number of eigenvalues for each draw.
///
/// # Errors
/// [`Refused::BadParameter`] for no draws, [`Refused::Constant`] if the samples do not vary,
/// [`Refused::NotFinite`] where a sum of kernel values overflows.
pub fn spectrum(
    pool: &impl Pool,
    estimate: Estimate,
    draws: usize,
    generator: &mut Generator,
) -> Result<Null, Refused> {
    // Checked first: a matrix that is not finite has no eigenvalues.
    moments(pool)?;
    let eigenvalues = pool.eigenvalues();
    let total: f64 = eigenvalues.iter().sum();
    let spread = spread(pool);
    let centre = match estimate {
        Estimate::Biased => 0.0,
        Estimate::Unbiased => total,
    };
    let mut value = || {
        let sum: f64 = eigenvalues.iter().map(|l| l * generator.normal().powi(2)).sum();
        spread * (sum - centre)
    };
    Null::drawn((0..draws).map(|_| value()).collect())
}

/// The mean of the statistic; 0 for MMD_u².
fn mean(pool: &impl Pool, estimate: Estimate, trace: f64) -> f64 {
    match estimate {
        Estimate::Biased => spread(pool) * trace,
        Estimate::Unbiased => 0.0,
    }
}

/// Pearson's curve fitted to the first three moments. It is of type III: a shifted Gamma
/// distribution. Variance 2s²Σλ² and third central moment 8s³Σλ³ with s = 1/m + 1/n.
///
/// # Errors
/// [`Refused::Constant`] if the samples do not vary, or too little to see a skewness,
/// [`Refused::NotFinite`] where a sum of kernel values overflows.
pub fn pearson(pool: &impl Pool, estimate: Estimate) -> Result<Null, Refused> {
    let moments = moments(pool)?;
    let variance = 2.0 * spread(pool).powi(2) * moments.square;
    let skewness = 8.0 * pool.cube() / (2.0 * moments.square).powf(1.5);
    Null::gamma(mean(pool, estimate, moments.trace), variance, skewness)
}

/// Pearson's curve fitted to the first four moments (embedding paper, after theorem 5): of type III
/// where a single λ counts, else of type VI or IV. As [`pearson`], with an
/// excess of kurtosis of 12Σλ⁴/(Σλ²)², for which Σλ⁴ is that of the pool's eigenvalues.
///
/// # Errors
/// As [`pearson`].
pub fn pearson_by_four(pool: &impl Pool, estimate: Estimate) -> Result<Null, Refused> {
    let moments = moments(pool)?;
    let variance = 2.0 * spread(pool).powi(2) * moments.square;
    let skewness = 8.0 * pool.cube() / (2.0 * moments.square).powf(1.5);
    let fourth: f64 = pool.eigenvalues().iter().map(|l| l.powi(4)).sum();
    let excess = 12.0 * fourth / (moments.square * moments.square);
    Null::curve(mean(pool, estimate, moments.trace), variance, skewness, excess)
}

/// The Gamma distribution from 0 with the mean and the variance of MMD_b² (Gretton and others,
/// 2009), shifted by the mean for MMD_u². The cheapest method. It does not match the third moment,
/// so it is only good where its skewness happens to be right.
///
/// # Errors
/// [`Refused::Constant`] if the samples do not vary, [`Refused::NotFinite`] where a sum of kernel
/// values overflows.
pub fn gamma(pool: &impl Pool, estimate: Estimate) -> Result<Null, Refused> {
    let Moments { trace, square } = moments(pool)?;
    // A Gamma from 0 has a skewness of twice its deviation over its mean.
    let variance = 2.0 * spread(pool).powi(2) * square;
    let skewness = 2.0 * variance.sqrt() / (spread(pool) * trace);
    Null::gamma(mean(pool, estimate, trace), variance, skewness)
}

/// The bound 4√(log(2/δ)/m) on MMD_u² for m independent samples in each set and a kernel from 0 to
/// 1 (Smola and others, 2007, theorem 4). It holds for every distribution and any m, so it is very
/// conservative.
///
/// # Errors
/// [`Refused::TooFewSamples`] below two.
pub fn distribution_free(samples: usize) -> Result<Null, Refused> {
    if samples < 2 {
        return Err(Refused::TooFewSamples);
    }
    Ok(Null::bound(real(samples)))
}

/// The mean of independent values with expectation 0 under the null hypothesis, and its normal
/// distribution, estimated from the values. Gives the threshold of MMD-linear, from its
/// [`terms`](crate::linear::terms), and of the B-test, from its [`blocks`](crate::b_test::blocks).
///
/// # Errors
/// [`Refused::TooFewSamples`] below two values, [`Refused::NotFinite`], and
/// [`Refused::Constant`] if all are equal.
pub fn mean_of_independent(values: &[f64]) -> Result<(f64, Null), Refused> {
    if values.len() < 2 {
        return Err(Refused::TooFewSamples);
    }
    if values.iter().any(|value| !value.is_finite()) {
        return Err(Refused::NotFinite);
    }
    let count = real(values.len());
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let deviation = (squares / (count - 1.0) / count).sqrt();
    Refused::unless_finite(&[mean, deviation])?;
    Ok((mean, Null::normal(deviation)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::null::Gram;
    use crate::tolerance;

    /// Equation 8 for the kernel xy, whose only λ is the variance: m·MMD_u² is λ(g² − 2) with g ~ N(0, 2),
    /// so that 1.96² of its z² are exceeded once in twenty times; and MMD_b² has no centre.
    #[test]
    fn the_spectrum_draws_equation_8() -> Result<(), Refused> {
        const COUNT: usize = 30;
        let mut generator = Generator::new(35);
        let mut set = || -> Vec<f64> { (0..COUNT).map(|_| 2.0 + generator.normal()).collect() };
        let (p, q) = (set(), set());
        let all: Vec<f64> = p.iter().chain(&q).copied().collect();
        let mean = all.iter().sum::<f64>() / real(all.len());
        let squares: f64 = all.iter().map(|x| (x - mean).powi(2)).sum();
        let variance = squares / real(all.len());
        let pool = Gram::new(&p, &q, |x: &f64, y: &f64| x * y)?;
        for (estimate, centre) in [(Estimate::Unbiased, 2.0), (Estimate::Biased, 0.0)] {
            let drawn = spectrum(&pool, estimate, 20_000, &mut generator)?;
            let quantile = 2.0 * 1.959_964_f64.powi(2) - centre;
            let found = real(COUNT) * drawn.threshold(0.05)? / variance;
            tolerance::EQUATION_8.hold("quantile", found / quantile, 1.0);
        }
        Ok(())
    }

    /// Theorem 4 of the embedding paper by hand, for δ = .05 and m = 100: 4·√(ln 40/100); four
    /// times the samples halve it, and its p-value is δ.
    #[test]
    fn the_distribution_free_bound_by_hand() -> Result<(), Refused> {
        let bound = distribution_free(100)?;
        let by_hand = 4.0 * (40.0_f64.ln() / 100.0).sqrt();
        tolerance::REFERENCE_IDENTITY.hold("threshold", bound.threshold(0.05)?, by_hand);
        let half = distribution_free(400)?.threshold(0.05)?;
        tolerance::REFERENCE_IDENTITY.hold("four times as many", 2.0 * half, by_hand);
        tolerance::REFERENCE_IDENTITY.hold("p", bound.p_value(by_hand), 0.05);
        Ok(())
    }
}
