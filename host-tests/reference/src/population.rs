//! MMD² of normal distributions in closed form: exact values without sampling noise.

use std::f64::consts::TAU;

use crate::features::Frequencies;
use crate::real;

/// A normal distribution with independent channels.
#[derive(Debug, Clone, PartialEq)]
pub struct Normal {
    /// Mean of each channel.
    pub mean: Vec<f64>,
    /// Standard deviation of each channel.
    pub deviation: Vec<f64>,
}

impl Normal {
    /// N(0, 1) in each of `dims` channels.
    #[must_use]
    pub fn standard(dims: usize) -> Self {
        Self { mean: vec![0.0; dims], deviation: vec![1.0; dims] }
    }

    /// The characteristic function E e^{iω'x} = exp(iω'm − ½Σω²s²) as (real, imaginary), ω in
    /// radians per unit. O(d).
    #[must_use]
    pub fn characteristic(&self, frequency: &[f64]) -> (f64, f64) {
        let (mut angle, mut decay) = (0.0, 0.0);
        for ((w, mean), deviation) in frequency.iter().zip(&self.mean).zip(&self.deviation) {
            angle += w * mean;
            decay += 0.5 * (w * deviation) * (w * deviation);
        }
        let amplitude = (-decay).exp();
        (amplitude * angle.cos(), amplitude * angle.sin())
    }

    /// E k(x, y) for x of this and y of another distribution and the Gaussian kernel with
    /// bandwidth σ: Π σ/√v·exp(−(m₁−m₂)²/2v) with v = σ² + s₁² + s₂². O(d).
    #[must_use]
    pub fn mean_gaussian_kernel(&self, other: &Self, bandwidth: f64) -> f64 {
        let channels = self.mean.iter().zip(&other.mean);
        let deviations = self.deviation.iter().zip(&other.deviation);
        channels
            .zip(deviations)
            .map(|((m1, m2), (s1, s2))| {
                let v = bandwidth * bandwidth + s1 * s1 + s2 * s2;
                bandwidth / v.sqrt() * (-(m1 - m2) * (m1 - m2) / (2.0 * v)).exp()
            })
            .product()
    }
}

/// MMD² of two normal distributions for the Gaussian kernel. O(d).
#[must_use]
pub fn gaussian_mmd2(p: &Normal, q: &Normal, bandwidth: f64) -> f64 {
    p.mean_gaussian_kernel(p, bandwidth) + q.mean_gaussian_kernel(q, bandwidth)
        - 2.0 * p.mean_gaussian_kernel(q, bandwidth)
}

/// MMD² of two normal distributions by features: the mean of |φ_p(ω) − φ_q(ω)|², which
/// FastMMD approaches as the samples grow. O(Ld).
#[must_use]
pub fn feature_mmd2(frequencies: &Frequencies, p: &Normal, q: &Normal) -> f64 {
    let rows = frequencies.rows();
    let sum: f64 = rows
        .iter()
        .map(|row| {
            let radians: Vec<f64> = row.iter().map(|w| TAU * w).collect();
            let (a, b) = (p.characteristic(&radians), q.characteristic(&radians));
            (a.0 - b.0) * (a.0 - b.0) + (a.1 - b.1) * (a.1 - b.1)
        })
        .sum();
    sum / real(rows.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::Generator;
    use crate::kernel::gaussian;
    use crate::{Points, Refused, Weighted, exact, tolerance};

    #[test]
    fn closed_form_is_what_large_samples_give() -> Result<(), Refused> {
        let p = Normal::standard(2);
        let q = Normal { mean: vec![0.5, -0.25], deviation: vec![1.5, 0.5] };
        let mut generator = Generator::new(5);
        let mut draw = |n: &Normal| {
            let mut values = Vec::new();
            for _ in 0..3000 {
                for (m, s) in n.mean.iter().zip(&n.deviation) {
                    values.push(m + s * generator.normal());
                }
            }
            Points::new(2, values).map(Weighted::even)
        };
        let sampled = exact::unbiased(&draw(&p)?, &draw(&q)?, gaussian(1.2))?;
        let closed = gaussian_mmd2(&p, &q, 1.2);
        tolerance::POPULATION_BY_SAMPLES.hold("closed form", sampled, closed);
        // And by features, with very many frequencies.
        let scale = 1.0 / (TAU * 1.2);
        let rows = (0..200_000).map(|_| (0..2).map(|_| scale * generator.normal()).collect());
        let featured = feature_mmd2(&Frequencies::new(rows.collect())?, &p, &q);
        tolerance::POPULATION_BY_SAMPLES.hold("features", featured, closed);
        Ok(())
    }
}
