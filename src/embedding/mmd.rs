//! The squared maximum mean discrepancy of two embeddings.
//!
//! MMD² = ‖μ₁ − μ₂‖²: the mean over the L circles of the squared distance between two mean points,
//! times K(0). It is 0 for equal distributions and at most 4·K(0).

use super::Embedding;
use crate::error::Error;
use crate::features::FeatureMap;
use crate::features::sincos::SinCos;
use crate::numeric::{angle_turns, compensated_sum, f32_of, sqrt_f32};

/// The biased estimate MMD_b² = K(0)/L·Σ|μ₁ₖ − μ₂ₖ|². It is never negative: for m and n samples of
/// equal distributions its mean is (1/m + 1/n)·(K(0) − E k(x, x')). O(L).
///
/// # Errors
/// [`Error::Empty`] or [`Error::MapMismatch`].
pub fn squared_biased<M: FeatureMap>(p: &Embedding<M>, q: &Embedding<M>) -> Result<f32, Error> {
    p.check_same(q)?;
    let sum = compensated_sum(p.mean()?.zip(q.mean()?).map(|(a, b)| {
        let (cos, sin) = (a.cos - b.cos, a.sin - b.sin);
        cos * cos + sin * sin
    }));
    Ok(p.gain() * sum / f32_of(p.frequencies()))
}

/// The unbiased estimate, which leaves out the pairs of a sample with itself. For equal
/// distributions its mean is 0, so it is sometimes negative. O(L).
///
/// MMD_u² = MMD_b² + Σᵢ sᵢ/(1 − sᵢ)·(‖μᵢ‖² − K(0)) with sᵢ = Σa²/(Σa)², which is 1/m and 1/n for
/// unweighted samples (line 9 of Algorithm 1 of the FastMMD paper). If one sample outweighs all
/// others, s is near 1 and the error of sine and cosine grows to about 10⁻⁶·s/(1 − s).
///
/// # Errors
/// [`Error::Empty`], [`Error::MapMismatch`], or [`Error::TooFewSamples`] if one of the
/// embeddings is effectively a single sample.
pub fn squared_unbiased<M: FeatureMap>(p: &Embedding<M>, q: &Embedding<M>) -> Result<f32, Error> {
    let biased = squared_biased(p, q)?;
    Ok(biased + self_pairs(p)? + self_pairs(q)?)
}

/// What is added to MMD² to leave out the pairs of each sample with itself.
fn self_pairs<M: FeatureMap>(embedding: &Embedding<M>) -> Result<f32, Error> {
    let concentration = embedding.concentration()?;
    // Weights of two samples in f32 bring it no closer to 1 than 0.5e-6.
    if concentration > 1.0 - 5e-7 {
        return Err(Error::TooFewSamples);
    }
    let excess = embedding.squared_norm()? - embedding.amplitude();
    Ok(concentration / (1.0 - concentration) * excess)
}

/// ‖μ‖² without the pairs of a sample with itself: the mean of the kernel over pairs of
/// different samples. O(L).
///
/// # Errors
/// [`Error::Empty`] or [`Error::TooFewSamples`].
pub fn unbiased_squared_norm<M: FeatureMap>(embedding: &Embedding<M>) -> Result<f32, Error> {
    Ok(embedding.squared_norm()? + self_pairs(embedding)?)
}

/// The biased MMD: the square root of [`squared_biased`]. O(L).
///
/// # Errors
/// As [`squared_biased`].
pub fn biased<M: FeatureMap>(p: &Embedding<M>, q: &Embedding<M>) -> Result<f32, Error> {
    squared_biased(p, q).map(sqrt_f32)
}

/// Amplitudes and phases of two samples on one circle.
///
/// The mean of sin(y − ω'xᵢ) over a sample is A·sin(y − θ), with amplitude A and phase θ. The
/// difference of two samples has this form too. It is largest, A, a quarter of a turn after its own
/// θ: the diameter through that angle has P on one side and Q on the other (Definition 2 and
/// figure 2 of the FastMMD paper; its appendix A.5 says θ, where the difference is 0).
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub struct Circle {
    /// A₁, from 0 to 1.
    pub amplitude_p: f32,
    /// θ₁ in turns, in [−½, ½].
    pub phase_p: f32,
    /// A₂, from 0 to 1.
    pub amplitude_q: f32,
    /// θ₂ in turns, in [−½, ½].
    pub phase_q: f32,
    /// A, the amplitude of the difference, from 0 to 2.
    pub amplitude: f32,
    /// The decision diameter, in turns, in [−½, ½]: the y at which E sin(y − p) − E sin(y − q) is
    /// largest, θ + ¼ of the difference. P is on its clockwise side.
    pub diameter: f32,
}

impl Circle {
    /// A² = A₁² + A₂² − 2·A₁·A₂·cos(θ₁ − θ₂): line 6 of Algorithm 1 of the FastMMD paper. Its mean
    /// over the circles is MMD_b²/K(0).
    #[must_use]
    pub fn squared_amplitude<B: SinCos>(&self) -> f32 {
        let between = B::point(self.phase_p - self.phase_q).cos;
        self.amplitude_p * self.amplitude_p + self.amplitude_q * self.amplitude_q
            - 2.0 * self.amplitude_p * self.amplitude_q * between
    }
}

/// Amplitudes and phases of two embeddings on each of the L circles, in order of k. O(L).
///
/// # Errors
/// [`Error::Empty`] or [`Error::MapMismatch`].
pub fn circles<'a, M: FeatureMap>(
    p: &'a Embedding<M>,
    q: &'a Embedding<M>,
) -> Result<impl Iterator<Item = Circle> + 'a, Error> {
    p.check_same(q)?;
    Ok(p.mean()?.zip(q.mean()?).map(|(a, b)| {
        let (cos, sin) = (a.cos - b.cos, a.sin - b.sin);
        Circle {
            amplitude_p: sqrt_f32(a.cos * a.cos + a.sin * a.sin),
            phase_p: angle_turns(a.cos, a.sin),
            amplitude_q: sqrt_f32(b.cos * b.cos + b.sin * b.sin),
            phase_q: angle_turns(b.cos, b.sin),
            amplitude: sqrt_f32(cos * cos + sin * sin),
            // θ + ¼ is the angle of the difference, turned by a quarter.
            diameter: angle_turns(-sin, cos),
        }
    }))
}
