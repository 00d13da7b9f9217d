//! Scores of single channels for two classes: the special cases of feature selection by HSIC (Smola
//! and others, 2007, section 2.4; [`selection`](crate::selection) has the general case).
//!
//! Each is the difference of the class means of a channel over a size of its own:
//!
//! | score | size | |
//! |---|---|---|
//! | [`pearson`](crate::selection::pearson) | deviation of all | equation 10 |
//! | [`centroid`] | 1; λx₊ − (1 − λ)x₋ | before 14 |
//! | [`t_statistic`] | √(s₊²/m₊ + s₋²/m₋) | equation 16 |
//! | [`signal_to_noise`] | s₊ + s₋ | |
//! | [`moderated_t`] | shrunk towards that of all channels | equations 17 to 19 |
//! | [`b_statistic`] | a + b·t̃² | equation 20 |
//!
//! [`scaled`] divides channels by their sizes: HSIC with linear kernels of what results, and the
//! labels of [`centroid_kernel`](crate::selection::centroid_kernel), is the sum of the squared
//! scores. Variances are with m − 1.

use statrs::function::gamma::digamma;

use crate::error::Refused;
use crate::points::{Points, same_dims};
use crate::real;
use crate::selection::class_sizes;

/// Mean and variance of a channel in one class.
#[derive(Debug, Clone, Copy)]
struct Class {
    count: f64,
    mean: f64,
    variance: f64,
}

/// Both classes of every channel, the positive first.
fn classes(points: &Points, positive: &[bool]) -> Result<Vec<[Class; 2]>, Refused> {
    let sizes = class_sizes(points.len(), positive)?;
    if sizes.iter().any(|&size| size < 2.0) {
        return Err(Refused::TooFewSamples);
    }
    let one = |channel: usize, class: bool, count: f64| {
        let own = || {
            points.rows().zip(positive).filter(|(_, p)| **p == class).map(|(row, _)| row[channel])
        };
        let mean = own().sum::<f64>() / count;
        let variance = own().map(|x| (x - mean).powi(2)).sum::<f64>() / (count - 1.0);
        Class { count, mean, variance }
    };
    let both = |channel| [one(channel, true, sizes[0]), one(channel, false, sizes[1])];
    let classes: Vec<[Class; 2]> = (0..points.dims()).map(both).collect();
    for class in classes.iter().flatten() {
        Refused::unless_finite(&[class.mean, class.variance])?;
    }
    Ok(classes)
}

/// Differences of means over sizes.
fn over(classes: &[[Class; 2]], sizes: &[f64]) -> Result<Vec<f64>, Refused> {
    if sizes.iter().any(|&size| size <= 0.0) {
        return Err(Refused::Constant);
    }
    let one = |([plus, minus], size): (&[Class; 2], &f64)| (plus.mean - minus.mean) / size;
    Ok(classes.iter().zip(sizes).map(one).collect())
}

/// λx₊ − (1 − λ)x₋ of each channel, for class means x₊ and x₋ and 0 < λ < 1. For λ = ½ it is half the
/// difference; for others, features are scaled differently in the two classes, by which a channel far
/// from 0 scores without telling them apart.
///
/// # Errors
/// [`Refused::BadLevel`] for λ, [`Refused::Ragged`] for another number of labels,
/// [`Refused::Empty`] for an empty class, [`Refused::NotFinite`].
pub fn centroid(points: &Points, positive: &[bool], lambda: f64) -> Result<Vec<f64>, Refused> {
    Refused::unless_level(lambda)?;
    let sizes = class_sizes(points.len(), positive)?;
    let mut scores = vec![0.0; points.dims()];
    for (row, &positive) in points.rows().zip(positive) {
        let weight = if positive { lambda / sizes[0] } else { (lambda - 1.0) / sizes[1] };
        for (score, x) in scores.iter_mut().zip(row) {
            *score += weight * x;
        }
    }
    Refused::unless_finite(&scores)?;
    Ok(scores)
}

/// √(s₊²/m₊ + s₋²/m₋) of each channel: what [`t_statistic`] divides by.
///
/// # Errors
/// [`Refused::Ragged`] for another number of labels, [`Refused::Empty`] or
/// [`Refused::TooFewSamples`] for a class below two, [`Refused::NotFinite`].
pub fn t_sizes(points: &Points, positive: &[bool]) -> Result<Vec<f64>, Refused> {
    let own = |[a, b]: &[Class; 2]| (a.variance / a.count + b.variance / b.count).sqrt();
    Ok(classes(points, positive)?.iter().map(own).collect())
}

/// Welch's t of each channel (equation 16).
///
/// # Errors
/// As [`t_sizes`], and [`Refused::Constant`] for a channel that does not vary in either class.
pub fn t_statistic(points: &Points, positive: &[bool]) -> Result<Vec<f64>, Refused> {
    over(&classes(points, positive)?, &t_sizes(points, positive)?)
}

/// s₊ + s₋ of each channel: what [`signal_to_noise`] divides by.
///
/// # Errors
/// As [`t_sizes`].
pub fn noise_sizes(points: &Points, positive: &[bool]) -> Result<Vec<f64>, Refused> {
    let own = |[a, b]: &[Class; 2]| a.variance.sqrt() + b.variance.sqrt();
    Ok(classes(points, positive)?.iter().map(own).collect())
}

/// (x₊ − x₋)/(s₊ + s₋) of each channel.
///
/// # Errors
/// As [`t_statistic`].
pub fn signal_to_noise(points: &Points, positive: &[bool]) -> Result<Vec<f64>, Refused> {
    over(&classes(points, positive)?, &noise_sizes(points, positive)?)
}

/// The sizes of all channels as if drawn from one distribution: s̄_j² about `variance`, worth
/// `samples` more samples.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prior {
    /// m₀; infinite if all channels have one size.
    pub samples: f64,
    /// s̄₀².
    pub variance: f64,
}

/// Estimates the prior from all channels (equations 18 and 19; their Γ is the digamma function):
/// z = ln s̄², m₀ = 2ψ'⁻¹(Var z − ψ'(m/2)), s̄₀² = exp(z̄ − ψ(m/2) + ψ(m₀/2) − ln(m₀/m)).
///
/// # Errors
/// As [`t_statistic`].
pub fn prior(points: &Points, positive: &[bool]) -> Result<Prior, Refused> {
    let sizes = t_sizes(points, positive)?;
    if sizes.iter().any(|&size| size <= 0.0) {
        return Err(Refused::Constant);
    }
    let half = 0.5 * real(points.len());
    let logs: Vec<f64> = sizes.iter().map(|size| 2.0 * size.ln()).collect();
    let mean = logs.iter().sum::<f64>() / real(logs.len());
    let spread = logs.iter().map(|z| (z - mean).powi(2)).sum::<f64>() / real(logs.len());
    let excess = spread - trigamma(half);
    let centre = mean - digamma(half) + half.ln();
    if excess <= 0.0 {
        // No more scatter than sizes of m samples have by chance.
        return Ok(Prior { samples: f64::INFINITY, variance: centre.exp() });
    }
    let own = inverse_trigamma(excess);
    Ok(Prior { samples: 2.0 * own, variance: (centre + digamma(own) - own.ln()).exp() })
}

/// √((m·s̄_j² + m₀·s̄₀²)/(m + m₀)) of each channel: what [`moderated_t`] divides by. (Equation 17 as
/// printed lacks the root.)
///
/// # Errors
/// As [`t_statistic`].
pub fn moderated_sizes(points: &Points, positive: &[bool]) -> Result<Vec<f64>, Refused> {
    let Prior { samples, variance } = prior(points, positive)?;
    let count = real(points.len());
    let own = |size: f64| {
        if samples.is_infinite() {
            return variance.sqrt();
        }
        ((count * size * size + samples * variance) / (count + samples)).sqrt()
    };
    Ok(t_sizes(points, positive)?.into_iter().map(own).collect())
}

/// The moderated t of each channel: its size is shrunk towards that of all channels.
///
/// # Errors
/// As [`t_statistic`].
pub fn moderated_t(points: &Points, positive: &[bool]) -> Result<Vec<f64>, Refused> {
    over(&classes(points, positive)?, &moderated_sizes(points, positive)?)
}

/// The logarithm of the odds that a channel tells the classes apart, a + b·t̃² for many samples
/// (equation 20): if a `share` of channels does, with differences whose variance is `ratio` times
/// that of the error, a = ln(share/(1 − share)) − ½ln(1 + ratio) and b = ½ratio/(1 + ratio). It
/// rises with t̃², so that it ranks channels as t̃ does.
///
/// # Errors
/// [`Refused::BadLevel`] for the share, [`Refused::BadParameter`] for the ratio,
/// [`Refused::NotFinite`].
pub fn b_statistic(moderated: &[f64], share: f64, ratio: f64) -> Result<Vec<f64>, Refused> {
    Refused::unless_level(share)?;
    Refused::unless_positive("ratio", ratio)?;
    Refused::unless_finite(moderated)?;
    let a = (share / (1.0 - share)).ln() - 0.5 * (1.0 + ratio).ln();
    let b = 0.5 * ratio / (1.0 + ratio);
    let odds: Vec<f64> = moderated.iter().map(|t| a + b * t * t).collect();
    Refused::unless_finite(&odds)?;
    Ok(odds)
}

/// Each channel over its size.
///
/// # Errors
/// [`Refused::Ragged`] unless there is a size for each channel, [`Refused::Constant`] for a size of
/// 0, [`Refused::NotFinite`].
pub fn scaled(points: &Points, sizes: &[f64]) -> Result<Points, Refused> {
    same_dims(points.dims(), sizes.len())?;
    if sizes.iter().any(|&size| size <= 0.0) {
        return Err(Refused::Constant);
    }
    let values = points.rows().flat_map(|row| row.iter().zip(sizes).map(|(x, s)| x / s));
    Points::new(points.dims(), values.collect())
}

/// ψ'(x) for x > 0, to 1e-13: by its recurrence up to 16 and an asymptotic series from there.
fn trigamma(x: f64) -> f64 {
    let (mut sum, mut x) = (0.0, x);
    while x < 16.0 {
        sum += 1.0 / (x * x);
        x += 1.0;
    }
    let square = 1.0 / (x * x);
    let series = 1.0 / 6.0 - square * (1.0 / 30.0 - square * (1.0 / 42.0 - square / 30.0));
    sum + 1.0 / x + 0.5 * square + square / x * series
}

/// The x with ψ'(x) = `value`, by bisection of its logarithm: ψ' falls.
fn inverse_trigamma(value: f64) -> f64 {
    let (mut low, mut high) = (1e-12_f64, 1e12_f64);
    for _ in 0..200 {
        let middle = (low * high).sqrt();
        if trigamma(middle) > value {
            low = middle;
        } else {
            high = middle;
        }
    }
    (low * high).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::Generator;
    use crate::selection::{centroid_kernel, dependence, linear_kernel};
    use crate::tolerance;

    fn labelled(generator: &mut Generator) -> Result<(Points, Vec<bool>), Refused> {
        let positive: Vec<bool> = (0..60).map(|i| i % 3 == 0).collect();
        let mut values = Vec::new();
        for &label in &positive {
            for (shift, size) in [(0.0, 1.0), (0.6, 2.0), (0.0, 0.5), (1.2, 1.0), (0.3, 3.0)] {
                values.push(f64::from(u8::from(label)) * shift + size * generator.normal());
            }
        }
        Ok((Points::new(5, values)?, positive))
    }

    /// tr KHLH of scaled channels is the sum of the squared scores.
    #[test]
    fn every_score_is_a_special_case_of_hsic() -> Result<(), Refused> {
        let (points, positive) = labelled(&mut Generator::new(44))?;
        let labels = centroid_kernel(&positive)?;
        let all: Vec<usize> = (0..5).collect();
        let trace = |points: &Points| dependence(points, &all, &labels, linear_kernel);
        let squares = |scores: Vec<f64>| scores.iter().map(|s| s * s).sum::<f64>();
        let moderated = moderated_t(&points, &positive)?;
        for (name, scores, sizes) in [
            ("t", t_statistic(&points, &positive)?, t_sizes(&points, &positive)?),
            ("noise", signal_to_noise(&points, &positive)?, noise_sizes(&points, &positive)?),
            ("moderated", moderated.clone(), moderated_sizes(&points, &positive)?),
        ] {
            let value = trace(&scaled(&points, &sizes)?)?;
            tolerance::SELECTION.hold(name, value / squares(scores), 1.0);
        }
        // B: Σ(B − a)/b.
        let (share, ratio) = (0.1, 4.0);
        let b = b_statistic(&moderated, share, ratio)?;
        let a = (share / (1.0_f64 - share)).ln() - 0.5 * (1.0_f64 + ratio).ln();
        let sum: f64 = b.iter().map(|b| (b - a) / 0.4).sum();
        let value = trace(&scaled(&points, &moderated_sizes(&points, &positive)?)?)?;
        tolerance::SELECTION.hold("B", value / sum, 1.0);
        // λ: the positive class times 2λ, the other times 2(1 − λ), is twice the score.
        for lambda in [0.5, 0.8] {
            let scores = centroid(&points, &positive, lambda)?;
            let factor = |label: bool| 2.0 * if label { lambda } else { 1.0 - lambda };
            let rows = points.rows().zip(&positive);
            let values = rows.flat_map(|(row, &label)| row.iter().map(move |x| factor(label) * x));
            let value = trace(&Points::new(5, values.collect())?)?;
            tolerance::SELECTION.hold("centroid", value / (4.0 * squares(scores)), 1.0);
        }
        Ok(())
    }

    #[test]
    fn trigamma_is_right() {
        let squared = std::f64::consts::PI.powi(2);
        tolerance::REFERENCE_IDENTITY.hold("ψ'(1)", trigamma(1.0), squared / 6.0);
        tolerance::REFERENCE_IDENTITY.hold("ψ'(½)", trigamma(0.5), squared / 2.0);
        for x in [0.3, 2.0, 40.0] {
            tolerance::QUANTILE.hold("inverse", inverse_trigamma(trigamma(x)) / x, 1.0);
        }
    }

    /// Channels of one size shrink all the way; of very different sizes, hardly.
    #[test]
    fn sizes_shrink_as_far_as_they_agree() -> Result<(), Refused> {
        let mut generator = Generator::new(45);
        let positive: Vec<bool> = (0..40).map(|i| i < 20).collect();
        let mut draw = |size: &dyn Fn(usize) -> f64| {
            let values = (0..40 * 30).map(|i| size(i % 30) * generator.normal()).collect();
            Points::new(30, values)
        };
        let (alike, apart) = (draw(&|_| 1.0)?, draw(&|c| 10_f64.powf(0.2 * real(c) - 3.0))?);
        let of_alike = prior(&alike, &positive)?.samples;
        tolerance::PRIOR_ALIKE.hold_below("40 samples over the prior's", 40.0 / of_alike);
        tolerance::PRIOR_APART.hold_below("30 sizes", prior(&apart, &positive)?.samples);
        assert_eq!(t_statistic(&alike, &[true; 40]), Err(Refused::Empty));
        assert_eq!(centroid(&alike, &positive, 1.0), Err(Refused::BadLevel));
        let constant = Points::new(1, vec![1.0; 4])?;
        let four = [true, true, false, false];
        assert_eq!(signal_to_noise(&constant, &four), Err(Refused::Constant));
        let one = [true, false, false, false];
        assert_eq!(t_statistic(&constant, &one), Err(Refused::TooFewSamples));
        Ok(())
    }
}
