//! Distributions on a discrete set: masses instead of samples, the norms of point masses, and the
//! family of distances that MMD is one of (Cherfaoui and others, 2022, sections 2 to 4).

use nalgebra::{DMatrix, DVector};

use crate::error::Refused;
use crate::points::{same_dims, unless_distribution};
use crate::real;

fn square(gram: &DMatrix<f64>) -> Result<usize, Refused> {
    if gram.is_empty() {
        return Err(Refused::Empty);
    }
    same_dims(gram.nrows(), gram.ncols())?;
    Refused::unless_finite(gram)?;
    Ok(gram.nrows())
}

/// The difference of two distributions over the same points.
pub(crate) fn difference(size: usize, p: &[f64], q: &[f64]) -> Result<DVector<f64>, Refused> {
    for masses in [p, q] {
        same_dims(size, masses.len())?;
        unless_distribution(masses)?;
    }
    Ok(DVector::from_iterator(size, p.iter().zip(q).map(|(p, q)| p - q)))
}

/// ‖δ_x‖² of each point in the space of a kernel with this Gram matrix: (K⁻¹)_xx (theorem 1). On an
/// infinite set it is the supremum over all finite sets with x, and rises as points are added; for
/// kernels k + λδ it is at most 1/λ, so that all point masses are in the space.
///
/// # Errors
/// [`Refused::Empty`], [`Refused::Ragged`], [`Refused::NotFinite`], and [`Refused::Singular`] if K is
/// not positive definite: then not all point masses are in the space.
pub fn dirac_norms(gram: &DMatrix<f64>) -> Result<Vec<f64>, Refused> {
    square(gram)?;
    let inverse = gram.clone().cholesky().ok_or(Refused::Singular)?.inverse();
    Refused::unless_finite(&inverse)?;
    Ok(inverse.diagonal().iter().copied().collect())
}

/// The squared distance of two distributions by an operator of theorem 4's family (definition 4 and
/// lemma 3): ‖Σ(p − q)ᵢ·oᵢ/k(xᵢ, xᵢ)·k(xᵢ, ·)‖², with a weight o ≠ 0 for each point. Weights of
/// k(x, x) give MMD²; any others a metric as well, in which some points count more. O(n²).
///
/// # Errors
/// Those of [`dirac_norms`], [`Refused::Ragged`] for other numbers of masses or weights,
/// [`Refused::BadWeight`] for masses that are no distribution or a weight of 0,
/// [`Refused::Constant`] where k(x, x) is 0.
pub fn squared_distance(
    gram: &DMatrix<f64>,
    p: &[f64],
    q: &[f64],
    weights: &[f64],
) -> Result<f64, Refused> {
    let size = square(gram)?;
    same_dims(size, weights.len())?;
    if weights.iter().any(|&o| o == 0.0 || !o.is_finite()) {
        return Err(Refused::BadWeight);
    }
    let mut masses = difference(size, p, q)?;
    for (index, mass) in masses.iter_mut().enumerate() {
        let own = gram[(index, index)];
        if own <= 0.0 {
            return Err(Refused::Constant);
        }
        *mass *= weights[index] / own;
    }
    Refused::if_finite(masses.dot(&(gram * &masses)))
}

/// MMD² of two distributions given by masses: Σ(p − q)ᵢ(p − q)ⱼk(xᵢ, xⱼ). O(n²).
///
/// # Errors
/// As [`squared_distance`].
pub fn mmd2(gram: &DMatrix<f64>, p: &[f64], q: &[f64]) -> Result<f64, Refused> {
    let masses = difference(square(gram)?, p, q)?;
    Refused::if_finite(masses.dot(&(gram * &masses)))
}

/// Lemma 7 for one kernel matrix: what the error of Nyström MMD² is bounded by, and the landmarks
/// that this takes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Coherence {
    /// μ_r = n/r·max‖U_i‖² over rows of the top r eigenvectors: from 1 to n/r. Large if few samples
    /// make up an eigenvector.
    pub coherence: f64,
    /// ‖K − K_r‖_*: the sum of the other eigenvalues.
    pub rest: f64,
    rank: f64,
}

impl Coherence {
    /// The top `rank` eigenvectors of a kernel matrix. O(n³).
    ///
    /// # Errors
    /// [`Refused::Empty`], [`Refused::Ragged`], [`Refused::NotFinite`], [`Refused::BadParameter`]
    /// for a rank of 0 or above n.
    pub fn new(gram: &DMatrix<f64>, rank: usize) -> Result<Self, Refused> {
        let size = square(gram)?;
        if rank == 0 || rank > size {
            return Err(Refused::BadParameter { name: "rank" });
        }
        let eigen = gram.clone().symmetric_eigen();
        let mut order: Vec<usize> = (0..size).collect();
        order.sort_by(|&a, &b| eigen.eigenvalues[b].total_cmp(&eigen.eigenvalues[a]));
        let row = |i: usize| {
            let parts = order[..rank].iter().map(|&c| eigen.eigenvectors[(i, c)].powi(2));
            parts.sum::<f64>()
        };
        let largest = (0..size).map(row).fold(0.0, f64::max);
        let rest = order[rank..].iter().map(|&c| eigen.eigenvalues[c].max(0.0)).sum();
        Ok(Self { coherence: real(size) / real(rank) * largest, rest, rank: real(rank) })
    }

    /// Landmarks, drawn uniformly, for which the bound holds: 2μ·r·ln(r/δ)/ε², rounded up.
    ///
    /// # Errors
    /// [`Refused::BadLevel`] unless δ and ε are between 0 and 1.
    pub fn landmarks(&self, accuracy: f64, failure: f64) -> Result<f64, Refused> {
        Refused::unless_level(accuracy)?;
        Refused::unless_level(failure)?;
        let needed = 2.0 * self.coherence * self.rank * (self.rank / failure).ln();
        Ok((needed / (accuracy * accuracy)).ceil())
    }

    /// The bound on |MMD² − MMD² by Nyström| that then holds with a probability of at least 1 − 3δ:
    /// (2 + 2/(δ²(1 − ε)))·‖K − K_r‖_* + 2λ.
    ///
    /// # Errors
    /// [`Refused::BadLevel`] unless δ and ε are between 0 and 1, [`Refused::BadParameter`] unless
    /// λ is 0 or more and finite.
    pub fn error(&self, accuracy: f64, failure: f64, lambda: f64) -> Result<f64, Refused> {
        Refused::unless_level(accuracy)?;
        Refused::unless_level(failure)?;
        if !(lambda >= 0.0 && lambda.is_finite()) {
            return Err(Refused::BadParameter { name: "lambda" });
        }
        let factor = 2.0 + 2.0 / (failure * failure * (1.0 - accuracy));
        Ok(factor * self.rest + 2.0 * lambda)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::Generator;
    use crate::kernel::gaussian;
    use crate::null::symmetric;
    use crate::nystrom::{Nystrom, uniform};
    use crate::points::{Points, Weighted};
    use crate::{exact, tolerance};

    fn kernel(x: &f64, y: &f64) -> f64 {
        gaussian(1.0)(&[*x], &[*y])
    }

    fn gram(points: &[f64]) -> Result<DMatrix<f64>, Refused> {
        symmetric(&points.iter().collect::<Vec<_>>(), kernel)
    }

    /// Masses are weights; a weight of k(x, x) for each point is MMD (theorem 4), other weights
    /// count masses twice.
    #[test]
    fn masses_are_weights_and_theorem_4_holds() -> Result<(), Refused> {
        let points = [0.0, 0.7, 1.1, 3.0];
        let (p, q) = ([0.5, 0.25, 0.25, 0.0], [0.0, 0.25, 0.25, 0.5]);
        let matrix = gram(&points)?;
        let set = |masses: &[f64]| Weighted::new(Points::new(1, points.to_vec())?, masses.to_vec());
        let expected = exact::biased(&set(&p)?, &set(&q)?, gaussian(1.0))?;
        tolerance::REFERENCE_IDENTITY.hold("MMD²", mmd2(&matrix, &p, &q)?, expected);
        let own: Vec<f64> = matrix.diagonal().iter().copied().collect();
        let value = squared_distance(&matrix, &p, &q, &own)?;
        tolerance::REFERENCE_IDENTITY.hold("theorem 4", value, expected);
        let twice = squared_distance(&matrix, &p, &q, &[2.0; 4])?;
        tolerance::REFERENCE_IDENTITY.hold("twice", twice, 4.0 * expected);
        // A kernel s(x)s(y)k(x, y), whose diagonal s² differs from point to point: masses are divided by
        // it, so that weights of s give the MMD² of k, and weights of s² that of the kernel itself.
        let scales = [0.5, 1.0, 3.0, 2.0];
        let scaled = DMatrix::from_fn(4, 4, |i, j| scales[i] * scales[j] * matrix[(i, j)]);
        let by_scale = squared_distance(&scaled, &p, &q, &scales)?;
        tolerance::REFERENCE_IDENTITY.hold("of a diagonal", by_scale, expected);
        let squares = scales.map(|s| s * s);
        let own = squared_distance(&scaled, &p, &q, &squares)?;
        let varying = |x: &[f64], y: &[f64]| {
            let scale = |z: &[f64]| {
                points.iter().position(|p| p.to_bits() == z[0].to_bits()).map(|at| scales[at])
            };
            scale(x).unwrap_or(0.0) * scale(y).unwrap_or(0.0) * gaussian(1.0)(x, y)
        };
        let expected = exact::biased(&set(&p)?, &set(&q)?, varying)?;
        tolerance::REFERENCE_IDENTITY.hold("of its own", own, expected);
        // The control: the two differ.
        assert!(!tolerance::REFERENCE_IDENTITY.admits(own, by_scale));
        let same = squared_distance(&matrix, &p, &p, &[1.0, 5.0, 2.0, 0.1])?;
        tolerance::REFERENCE_IDENTITY.hold("itself", same, 0.0);
        assert!(squared_distance(&matrix, &p, &q, &[1.0, 5.0, 2.0, 0.1])? > 0.0);
        Ok(())
    }

    /// Theorem 1: ⟨δ_x, f⟩ = f(x)-coefficients; norms rise as points are added and stay below 1/λ.
    #[test]
    fn norms_of_point_masses_rise_to_their_bound() -> Result<(), Refused> {
        let ridge = 0.1;
        let points: Vec<f64> = (0..30).map(|i| 0.3 * f64::from(i)).collect();
        let mut last = 0.0;
        for count in [1, 2, 5, 30] {
            let matrix = gram(&points[..count])? + DMatrix::identity(count, count) * ridge;
            let norms = dirac_norms(&matrix)?;
            assert!(norms[0] >= last && norms[0] <= 1.0 / ridge, "{count}: {}", norms[0]);
            last = norms[0];
            // δ_x = Σ(K⁻¹)_xy k_y, whose squared norm is cᵀKc.
            let solved = matrix
                .clone()
                .lu()
                .solve(&DVector::from_fn(count, |i, _| f64::from(u8::from(i == 0))));
            let c = solved.ok_or(Refused::Singular)?;
            tolerance::NYSTROM_FULL.hold("norm", norms[0], c.dot(&(&matrix * &c)));
        }
        let twice = gram(&[0.0, 0.0])?;
        assert_eq!(dirac_norms(&twice), Err(Refused::Singular));
        Ok(())
    }

    /// Lemma 7, where it says something: on a circle the eigenvectors are waves, so that the coherence
    /// is 1, a sixth of the points are landmarks enough, and the bound is below MMD² itself. It holds
    /// in every one of 20 draws, as a bound so wide must.
    #[test]
    fn the_coherence_bound_is_kept() -> Result<(), Refused> {
        const COUNT: u32 = 600;
        let turn = std::f64::consts::TAU / f64::from(COUNT);
        let points: Vec<[f64; 2]> =
            (0..COUNT).map(|i| (turn * f64::from(i)).sin_cos().into()).collect();
        let kernel = |x: &[f64; 2], y: &[f64; 2]| gaussian(2.0)(x, y);
        let bound = Coherence::new(&symmetric(&points.iter().collect::<Vec<_>>(), kernel)?, 9)?;
        tolerance::NYSTROM_FULL.hold("on a circle", bound.coherence, 1.0);
        let promised = bound.error(0.8, 0.2, 0.0)?;
        let needed = bound.landmarks(0.8, 0.2)?;
        let landmarks = (1..points.len()).find(|&count| real(count) >= needed);
        let landmarks = landmarks.expect("fewer landmarks than points");
        let (p, q) = points.split_at(points.len() / 2);
        let set = |half: &[[f64; 2]]| Points::new(2, half.concat()).map(Weighted::even);
        let exact = exact::biased(&set(p)?, &set(q)?, gaussian(2.0))?;
        assert!(promised < exact, "a bound of {promised} on what is wrong with {exact} is none");
        let mut generator = Generator::new(91);
        let mut off = |landmarks: usize| -> Result<f64, Refused> {
            let chosen = uniform(points.len(), landmarks, &mut generator)?;
            let map = Nystrom::new(chosen.iter().map(|&i| points[i]).collect(), kernel)?;
            Ok((map.mmd2(p, q)? - exact).abs())
        };
        for _ in 0..20 {
            tolerance::BOUND_KEPT.hold_below("lemma 7", off(landmarks)? / promised);
        }
        // The control: a single landmark is too few.
        assert!(off(1)? > promised);
        // With λ, and all mass on one point each, where λδ adds all of 2λ: as large as the bound allows
        // without its other term, which alone does not hold.
        let mass = |at: usize| -> Vec<f64> {
            (0..points.len()).map(|index| f64::from(u8::from(index == at))).collect()
        };
        let (first, second) = (mass(0), mass(points.len() / 2));
        let matrix = symmetric(&points.iter().collect::<Vec<_>>(), kernel)?;
        let exact = mmd2(&matrix, &first, &second)?;
        let lambda = 2.0 * promised;
        let with_lambda = bound.error(0.8, 0.2, lambda)?;
        for _ in 0..20 {
            let chosen = uniform(points.len(), landmarks, &mut generator)?;
            let map = Nystrom::new(chosen.iter().map(|&i| points[i]).collect(), kernel)?;
            let found = map.regularised_of_masses(&points, &first, &second, lambda)?;
            let off = (found - exact).abs();
            tolerance::BOUND_KEPT.hold_below("lemma 7 with λ", off / with_lambda);
            assert!(off > promised, "λ is not seen: {off} and {promised}");
        }
        // One sample alone makes up an eigenvector: the coherence is as large as can be.
        let mut lonely = vec![0.0; 20];
        lonely[7] = 50.0;
        let matrix = gram(&lonely)?;
        tolerance::NYSTROM_FULL.hold("alone", Coherence::new(&matrix, 2)?.coherence, 10.0);
        assert!(Coherence::new(&matrix, 0).is_err() && Coherence::new(&matrix, 21).is_err());
        assert_eq!(bound.landmarks(1.0, 0.1), Err(Refused::BadLevel));
        for (accuracy, failure) in [(0.0, 0.1), (1.0, 0.1), (0.5, 0.0), (0.5, f64::NAN)] {
            assert_eq!(bound.error(accuracy, failure, 0.0), Err(Refused::BadLevel));
        }
        for lambda in [-1.0, f64::NAN, f64::INFINITY] {
            let bad = Err(Refused::BadParameter { name: "lambda" });
            assert_eq!(bound.error(0.5, 0.1, lambda), bad);
        }
        Ok(())
    }

    #[test]
    fn bad_masses_are_refused() -> Result<(), Refused> {
        let matrix = gram(&[0.0, 1.0])?;
        for bad in [[0.5, 0.6], [-0.5, 1.5], [f64::NAN, 1.0]] {
            assert_eq!(mmd2(&matrix, &bad, &[0.5, 0.5]), Err(Refused::BadWeight));
        }
        assert!(mmd2(&matrix, &[1.0], &[0.5, 0.5]).is_err());
        let none = squared_distance(&matrix, &[1.0, 0.0], &[0.0, 1.0], &[0.0, 1.0]);
        assert_eq!(none, Err(Refused::BadWeight));
        Ok(())
    }
}
