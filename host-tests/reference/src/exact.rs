//! MMD² over all pairs of samples: the standard for every approximation.
//!
//! For samples with weights a and b, A = Σa, B = Σb, and any kernel k:
//!
//! MMD_b² = Σᵢⱼ aᵢaⱼ k(xᵢ,xⱼ)/A² + Σᵢⱼ bᵢbⱼ k(yᵢ,yⱼ)/B² − 2 Σᵢⱼ aᵢbⱼ k(xᵢ,yⱼ)/(AB);
//! MMD_u² leaves out the pairs i = j of the first two sums and divides by A² − Σa² and B² − Σb².

use crate::error::Refused;
use crate::points::{Weighted, same_dims};
use crate::real;

/// Σ over all pairs of a sample of `p` with one of `q`.
fn cross(p: &Weighted, q: &Weighted, kernel: impl Fn(&[f64], &[f64]) -> f64) -> f64 {
    p.iter().map(|(x, a)| a * q.iter().map(|(y, b)| b * kernel(x, y)).sum::<f64>()).sum()
}

/// Σ over all pairs of two different samples of `p`.
fn distinct(p: &Weighted, kernel: impl Fn(&[f64], &[f64]) -> f64) -> f64 {
    let half: f64 = p
        .iter()
        .enumerate()
        .map(|(index, (x, a))| {
            let later = p.iter().skip(index + 1);
            a * later.map(|(y, b)| b * kernel(x, y)).sum::<f64>()
        })
        .sum();
    2.0 * half
}

/// Σ over the pairs of a sample with itself.
fn own(p: &Weighted, kernel: impl Fn(&[f64], &[f64]) -> f64) -> f64 {
    p.iter().map(|(x, a)| a * a * kernel(x, x)).sum()
}

/// The mean of the kernel over all pairs of a sample of `p` with one of `q`. O(mn).
///
/// # Errors
/// [`Refused::Ragged`] for sets of different dimensions.
pub fn mean_kernel(
    p: &Weighted,
    q: &Weighted,
    kernel: impl Fn(&[f64], &[f64]) -> f64,
) -> Result<f64, Refused> {
    same_dims(p.points().dims(), q.points().dims())?;
    Ok(cross(p, q, kernel) / (p.total() * q.total()))
}

/// MMD_b² over all pairs. O((m+n)²/2 + mn).
///
/// # Errors
/// [`Refused::Ragged`] for sets of different dimensions.
pub fn biased(
    p: &Weighted,
    q: &Weighted,
    kernel: impl Fn(&[f64], &[f64]) -> f64 + Copy,
) -> Result<f64, Refused> {
    let between = mean_kernel(p, q, kernel)?;
    let within = |s: &Weighted| (distinct(s, kernel) + own(s, kernel)) / (s.total() * s.total());
    Ok(within(p) + within(q) - 2.0 * between)
}

/// MMD_u² over all pairs of different samples; 0 on average for equal distributions. O(as
/// [`biased`]).
///
/// # Errors
/// [`Refused::Ragged`] for sets of different dimensions, [`Refused::TooFewSamples`] for a set of
/// one.
pub fn unbiased(
    p: &Weighted,
    q: &Weighted,
    kernel: impl Fn(&[f64], &[f64]) -> f64 + Copy,
) -> Result<f64, Refused> {
    if p.points().len() < 2 || q.points().len() < 2 {
        return Err(Refused::TooFewSamples);
    }
    let between = mean_kernel(p, q, kernel)?;
    let within = |s: &Weighted| distinct(s, kernel) / (s.total() * s.total() - s.squares());
    Ok(within(p) + within(q) - 2.0 * between)
}

/// h((x, y), (x', y')) = k(x, x') − k(x, y') − k(y, x') + k(y, y') (embedding paper, equation 6): the
/// kernel of MMD_u² as a U-statistic over pairs of one sample from each set.
pub fn h<T: ?Sized>(z: (&T, &T), other: (&T, &T), kernel: impl Fn(&T, &T) -> f64) -> f64 {
    let ((x, y), (x2, y2)) = (z, other);
    kernel(x, x2) - kernel(x, y2) - kernel(y, x2) + kernel(y, y2)
}

/// E_z' h(z, z') for each pair z = (pᵢ, qᵢ), over the other pairs. O(m²) kernel values.
fn h_means<T>(p: &[T], q: &[T], kernel: impl Fn(&T, &T) -> f64) -> Result<Vec<f64>, Refused> {
    same_dims(p.len(), q.len())?;
    if p.len() < 2 {
        return Err(Refused::TooFewSamples);
    }
    let count = real(p.len()) - 1.0;
    let mut sums = vec![0.0; p.len()];
    for i in 0..p.len() {
        for j in 0..i {
            let value = h((&p[i], &q[i]), (&p[j], &q[j]), &kernel);
            sums[i] += value / count;
            sums[j] += value / count;
        }
    }
    Refused::unless_finite(&sums)?;
    Ok(sums)
}

/// The mean of [`h`] over all pairs of different pairs: MMD² of two sets of equal size without the
/// pairs (xᵢ, yᵢ), so also for samples measured together. O(m²) kernel values.
///
/// # Errors
/// [`Refused::Ragged`] for sets of different sizes, [`Refused::TooFewSamples`] below two pairs,
/// [`Refused::NotFinite`].
pub fn u_statistic<T>(p: &[T], q: &[T], kernel: impl Fn(&T, &T) -> f64) -> Result<f64, Refused> {
    let means = h_means(p, q, kernel)?;
    Ok(means.iter().sum::<f64>() / real(means.len()))
}

/// Theorem 5's σ_u² = 4·Var E_z' h(z, z'): for different distributions, MMD_u² of m pairs has a
/// variance of σ_u²/m. O(m²) kernel values.
///
/// # Errors
/// As [`u_statistic`].
pub fn u_variance<T>(p: &[T], q: &[T], kernel: impl Fn(&T, &T) -> f64) -> Result<f64, Refused> {
    let means = h_means(p, q, kernel)?;
    let count = real(means.len());
    let all = means.iter().sum::<f64>() / count;
    Ok(4.0 * means.iter().map(|mean| (mean - all).powi(2)).sum::<f64>() / (count - 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::Generator;
    use crate::kernel::gaussian;
    use crate::points::Points;
    use crate::tolerance;
    use nalgebra::DMatrix;

    fn line(values: &[f64]) -> Result<Points, Refused> {
        Points::new(1, values.to_vec())
    }

    /// Two samples each, by hand: k(0)=1, k(1)=e^−½, k(2)=e^−2, k(3)=e^−4.5.
    #[test]
    fn four_samples_by_hand() -> Result<(), Refused> {
        let p = Weighted::even(line(&[0.0, 1.0])?);
        let q = Weighted::even(line(&[2.0, 3.0])?);
        let [k1, k2, k3] = [-0.5_f64, -2.0, -4.5].map(f64::exp);
        let between = (k2 + k3 + k1 + k2) / 4.0;
        let biased_by_hand = (2.0 + 2.0 * k1) / 4.0 * 2.0 - 2.0 * between;
        let unbiased_by_hand = 2.0 * k1 - 2.0 * between;
        let identity = tolerance::REFERENCE_IDENTITY;
        identity.hold("biased", biased(&p, &q, gaussian(1.0))?, biased_by_hand);
        identity.hold("unbiased", unbiased(&p, &q, gaussian(1.0))?, unbiased_by_hand);
        Ok(())
    }

    /// The kernel notes' example 1: MMD² with the kernel x'y is the squared distance of the means.
    #[test]
    fn a_linear_kernel_compares_means() -> Result<(), Refused> {
        let mut generator = Generator::new(75);
        let mut set = |mean: f64, count: usize| {
            let values = (0..2 * count).map(|_| mean + generator.normal()).collect();
            Points::new(2, values).map(Weighted::even)
        };
        let (p, q) = (set(0.0, 30)?, set(1.5, 20)?);
        let mean = |set: &Weighted, c: usize| -> f64 {
            set.points().rows().map(|row| row[c]).sum::<f64>() / real(set.points().len())
        };
        let apart: f64 = (0..2).map(|c| (mean(&p, c) - mean(&q, c)).powi(2)).sum();
        let value = biased(&p, &q, crate::selection::linear_kernel)?;
        tolerance::REFERENCE_IDENTITY.hold("MMD²", value, apart);
        Ok(())
    }

    #[test]
    fn weight_two_is_two_samples_when_biased() -> Result<(), Refused> {
        let p = Weighted::new(line(&[0.0, 1.0])?, vec![2.0, 1.0])?;
        let repeated = Weighted::even(line(&[0.0, 0.0, 1.0])?);
        let q = Weighted::even(line(&[0.5, 4.0])?);
        let values = [biased(&p, &q, gaussian(1.0))?, biased(&repeated, &q, gaussian(1.0))?];
        tolerance::REFERENCE_IDENTITY.hold("weights", values[0], values[1]);
        Ok(())
    }

    /// Without the pairs (xᵢ, yᵢ), by the sums over all others.
    #[test]
    fn the_u_statistic_leaves_out_pairs_measured_together() -> Result<(), Refused> {
        let (x, y) = ([0.3, 1.1, -0.4, 2.0], [0.0, 0.9, 1.5, -1.0]);
        let k = |a: &f64, b: &f64| gaussian(1.0)(&[*a], &[*b]);
        let [p, q] = [x, y].map(|set| line(&set).map(Weighted::even));
        let (p, q) = (p?, q?);
        let apart: f64 = x.iter().zip(&y).map(|(a, b)| k(a, b)).sum();
        let between = mean_kernel(&p, &q, gaussian(1.0))?;
        let others = (16.0 * between - apart) / 12.0;
        let expected = unbiased(&p, &q, gaussian(1.0))? + 2.0 * (between - others);
        tolerance::REFERENCE_IDENTITY.hold("U", u_statistic(&x, &y, k)?, expected);
        tolerance::REFERENCE_IDENTITY.hold("equal", u_variance(&x, &x, k)?, 0.0);
        assert!(u_variance(&x, &y, k)? > 0.0);
        assert_eq!(u_statistic(&x[..1], &y[..1], k), Err(Refused::TooFewSamples));
        assert!(u_statistic(&x, &y[..2], k).is_err());
        Ok(())
    }

    #[test]
    fn a_single_sample_or_another_dimension_is_refused() -> Result<(), Refused> {
        let one = Weighted::even(line(&[0.0])?);
        let two = Weighted::even(line(&[0.0, 1.0])?);
        let plane = Weighted::even(Points::new(2, vec![0.0; 4])?);
        assert_eq!(unbiased(&one, &two, gaussian(1.0)), Err(Refused::TooFewSamples));
        assert!(biased(&one, &two, gaussian(1.0)).is_ok());
        assert!(matches!(biased(&plane, &two, gaussian(1.0)), Err(Refused::Ragged { .. })));
        Ok(())
    }

    /// Equation 29 and corollary 2: means of a kernel over pairs of sets are a kernel of sets, of full rank
    /// unless two sets are the same.
    #[test]
    fn the_set_kernel_has_full_rank() -> Result<(), Refused> {
        let sets = [&[0.0, 1.0][..], &[0.5], &[0.0, 1.0, 2.0], &[-1.0, 3.0]];
        let gram = |sets: &[&[f64]]| -> Result<DMatrix<f64>, Refused> {
            let sets: Vec<Weighted> = sets
                .iter()
                .map(|set| Points::new(1, set.to_vec()).map(Weighted::even))
                .collect::<Result<_, _>>()?;
            let mut matrix = DMatrix::zeros(sets.len(), sets.len());
            for (i, p) in sets.iter().enumerate() {
                for (j, q) in sets.iter().enumerate() {
                    matrix[(i, j)] = mean_kernel(p, q, gaussian(1.0))?;
                }
            }
            Ok(matrix)
        };
        let rank = |matrix: DMatrix<f64>| matrix.rank(tolerance::REFERENCE_IDENTITY.limit);
        assert_eq!(rank(gram(&sets)?), 4);
        assert_eq!(rank(gram(&[sets[0], sets[1], &[1.0, 0.0]])?), 2);
        Ok(())
    }
}
