//! Nyström MMD (Cherfaoui and others, 2022): any kernel on any type, by a few landmarks.
//!
//! The kernel is replaced by k̂(x, y) = k_S(x)ᵀ·K_S⁺·k_S(y), where S are s landmarks and
//! k_S(x) the kernel between x and each of them; MMD² of n samples then takes Θ(ns) kernel
//! values. With λ > 0, k̂ + λδ separates any two different empirical distributions.

use std::collections::HashMap;
use std::hash::Hash;

use nalgebra::{DMatrix, DVector};

use crate::error::Refused;
use crate::generate::Generator;
use crate::null::symmetric;
use crate::real;

/// Eigenvalues of K_S below this fraction of the largest are rounding error and count as 0.
const RANK: f64 = 1e-12;

/// Landmarks and the map to features whose inner products are k̂.
#[derive(Debug, Clone)]
pub struct Nystrom<T, K> {
    landmarks: Vec<T>,
    kernel: K,
    /// (K_S⁺)^½.
    root: DMatrix<f64>,
}

impl<T, K: Fn(&T, &T) -> f64> Nystrom<T, K> {
    /// The approximation by these landmarks. O(s²) kernel values and O(s³).
    ///
    /// # Errors
    /// [`Refused::Empty`] without landmarks, [`Refused::NotFinite`] if the kernel is not finite
    /// somewhere, [`Refused::Singular`] if it vanishes on all of them.
    pub fn new(landmarks: Vec<T>, kernel: K) -> Result<Self, Refused> {
        if landmarks.is_empty() {
            return Err(Refused::Empty);
        }
        let all: Vec<&T> = landmarks.iter().collect();
        let eigen = symmetric(&all, &kernel)?.symmetric_eigen();
        let largest = eigen.eigenvalues.max();
        if largest <= 0.0 {
            return Err(Refused::Singular);
        }
        let inverse = |value: f64| if value > RANK * largest { 1.0 / value.sqrt() } else { 0.0 };
        let scaled = &eigen.eigenvectors * DMatrix::from_diagonal(&eigen.eigenvalues.map(inverse));
        let root = scaled * eigen.eigenvectors.transpose();
        Ok(Self { landmarks, kernel, root })
    }

    /// φ̂(x) = (K_S⁺)^½·k_S(x): s features whose products are k̂. s kernel values and O(s²).
    ///
    /// # Errors
    /// [`Refused::NotFinite`] if the kernel is not finite somewhere.
    pub fn feature_vector(&self, sample: &T) -> Result<Vec<f64>, Refused> {
        let features = self.features(sample);
        Refused::unless_finite(&features)?;
        Ok(features.iter().copied().collect())
    }

    /// The landmarks.
    #[must_use]
    pub fn landmarks(&self) -> &[T] {
        &self.landmarks
    }

    /// MMD² under k̂ of two discrete distributions, given by masses over the same points: lemma 6
    /// without its regulariser, λ = 0. It is the squared distance of their embeddings, projected to
    /// what the landmarks span; 0 for some that differ. n·s kernel values.
    ///
    /// # Errors
    /// [`Refused::Ragged`] unless there are two masses for each point, [`Refused::BadWeight`] for
    /// masses that are no distribution, [`Refused::NotFinite`].
    pub fn mmd2_of_masses(&self, points: &[T], p: &[f64], q: &[f64]) -> Result<f64, Refused> {
        let masses = crate::discrete::difference(points.len(), p, q)?;
        let mut sum = DVector::zeros(self.landmarks.len());
        for (point, mass) in points.iter().zip(&masses) {
            for (sum, landmark) in sum.iter_mut().zip(&self.landmarks) {
                *sum += mass * (self.kernel)(landmark, point);
            }
        }
        Refused::if_finite((&self.root * sum).norm_squared())
    }

    /// MMD² under k̂ + λδ of two discrete distributions over the same, different points (lemma 6):
    /// [`mmd2_of_masses`](Self::mmd2_of_masses) + λ·Σ(p − q)². 0 only for equal ones. The same cost.
    ///
    /// # Errors
    /// Those of [`mmd2_of_masses`](Self::mmd2_of_masses), and [`Refused::BadParameter`] unless λ is
    /// positive.
    pub fn regularised_of_masses(
        &self,
        points: &[T],
        p: &[f64],
        q: &[f64],
        lambda: f64,
    ) -> Result<f64, Refused> {
        Refused::unless_positive("lambda", lambda)?;
        let masses = crate::discrete::difference(points.len(), p, q)?;
        Ok(self.mmd2_of_masses(points, p, q)? + lambda * masses.norm_squared())
    }

    fn features(&self, sample: &T) -> DVector<f64> {
        let values = self.landmarks.iter().map(|landmark| (self.kernel)(landmark, sample));
        &self.root * DVector::from_iterator(self.landmarks.len(), values)
    }

    /// k̂(x, y). 2s kernel values and O(s²).
    ///
    /// # Errors
    /// [`Refused::NotFinite`] if the kernel is not finite somewhere.
    pub fn kernel(&self, x: &T, y: &T) -> Result<f64, Refused> {
        Refused::if_finite(self.features(x).dot(&self.features(y)))
    }

    /// Mean of k_S over a set, so that the map is applied once and not to each sample.
    fn mean(&self, set: &[T]) -> Result<DVector<f64>, Refused> {
        if set.is_empty() {
            return Err(Refused::Empty);
        }
        let mut sum = DVector::zeros(self.landmarks.len());
        for sample in set {
            for (sum, landmark) in sum.iter_mut().zip(&self.landmarks) {
                *sum += (self.kernel)(landmark, sample);
            }
        }
        let mean = sum / real(set.len());
        Refused::unless_finite(&mean)?;
        Ok(mean)
    }

    /// MMD_b² of two sets under k̂: (m + n)·s kernel values.
    ///
    /// # Errors
    /// [`Refused::Empty`] for an empty set, [`Refused::NotFinite`].
    pub fn mmd2(&self, p: &[T], q: &[T]) -> Result<f64, Refused> {
        Refused::if_finite((&self.root * (self.mean(p)? - self.mean(q)?)).norm_squared())
    }

    /// MMD_b² under k̂ + λδ: [`mmd2`](Self::mmd2) + λ·Σ(p_x − q_x)² over the different samples x,
    /// where `key` gives equal keys to equal samples alone. The same cost.
    ///
    /// # Errors
    /// Those of [`mmd2`](Self::mmd2), and [`Refused::BadParameter`] unless λ is positive.
    pub fn regularised<E: Hash + Eq>(
        &self,
        p: &[T],
        q: &[T],
        lambda: f64,
        key: impl Fn(&T) -> E,
    ) -> Result<f64, Refused> {
        Refused::unless_positive("lambda", lambda)?;
        let plain = self.mmd2(p, q)?;
        let mut masses: HashMap<E, f64> = HashMap::new();
        for (set, sign) in [(p, 1.0), (q, -1.0)] {
            for sample in set {
                *masses.entry(key(sample)).or_default() += sign / real(set.len());
            }
        }
        Ok(plain + lambda * masses.values().map(|mass| mass * mass).sum::<f64>())
    }

    /// The ridge leverage score of each sample, φ̂(x)ᵀ(Σφ̂φ̂ᵀ + nλI)⁻¹φ̂(x): small if the others
    /// can replace it. Exact, diag K(K + nλI)⁻¹, if all samples are landmarks; otherwise an
    /// estimate. n·s kernel values and O(ns² + s³).
    ///
    /// # Errors
    /// [`Refused::Empty`], [`Refused::BadParameter`] unless λ is positive, [`Refused::NotFinite`],
    /// and [`Refused::Singular`] if λ is lost in rounding.
    pub fn leverage(&self, samples: &[T], lambda: f64) -> Result<Vec<f64>, Refused> {
        Refused::unless_positive("lambda", lambda)?;
        if samples.is_empty() {
            return Err(Refused::Empty);
        }
        let features: Vec<_> = samples.iter().map(|sample| self.features(sample)).collect();
        let columns = DMatrix::from_columns(&features);
        let ridge = DMatrix::identity(columns.nrows(), columns.nrows()) * lambda;
        let scatter = &columns * columns.transpose() + ridge * real(samples.len());
        Refused::unless_finite(&scatter)?;
        let inverse = scatter.cholesky().ok_or(Refused::Singular)?;
        let solved = inverse.solve(&columns);
        let scores = columns.column_iter().zip(solved.column_iter()).map(|(a, b)| a.dot(&b));
        let scores: Vec<f64> = scores.collect();
        Refused::unless_finite(&scores)?;
        Ok(scores)
    }
}

/// `count` different indices below `samples`, all equally likely. O(N log N).
///
/// # Errors
/// [`Refused::TooFewSamples`] for more landmarks than samples, [`Refused::Empty`] for none,
/// [`Refused::BadParameter`] for 2³² samples or more.
pub fn uniform(
    samples: usize,
    count: usize,
    generator: &mut Generator,
) -> Result<Vec<usize>, Refused> {
    if u32::try_from(samples).is_err() {
        return Err(Refused::BadParameter { name: "samples" });
    }
    by_scores(&vec![1.0; samples], count, generator)
}

/// `count` different indices, drawn one after the other with probabilities proportional to their
/// scores. O(N log N), without computing the scores.
///
/// # Errors
/// [`Refused::TooFewSamples`] for more landmarks than positive scores, [`Refused::Empty`] for none,
/// [`Refused::BadWeight`] for a score that is negative or not finite.
pub fn by_scores(
    scores: &[f64],
    count: usize,
    generator: &mut Generator,
) -> Result<Vec<usize>, Refused> {
    if count == 0 {
        return Err(Refused::Empty);
    }
    if scores.iter().any(|&score| !score.is_finite() || score < 0.0) {
        return Err(Refused::BadWeight);
    }
    if scores.iter().filter(|&&score| score > 0.0).count() < count {
        return Err(Refused::TooFewSamples);
    }
    // The smallest of exponential variables of rates s, each −log(u)/s.
    let mut clocks: Vec<(f64, usize)> = scores
        .iter()
        .enumerate()
        .filter(|&(_, &score)| score > 0.0)
        .map(|(index, score)| (-(1.0 - generator.uniform()).ln() / score, index))
        .collect();
    clocks.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    Ok(clocks.into_iter().take(count).map(|(_, index)| index).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::gaussian;
    use crate::null::{Estimate, Gram, Pool};
    use crate::{Points, tolerance};

    fn line(generator: &mut Generator, count: usize, deviation: f64) -> Vec<f64> {
        (0..count).map(|_| deviation * generator.normal()).collect()
    }

    fn kernel(x: &f64, y: &f64) -> f64 {
        gaussian(1.0)(&[*x], &[*y])
    }

    #[test]
    fn all_landmarks_are_exact() -> Result<(), Refused> {
        let mut generator = Generator::new(1);
        let (p, q) = (line(&mut generator, 12, 1.0), line(&mut generator, 9, 2.0));
        let all: Vec<f64> = p.iter().chain(&q).copied().collect();
        let nystrom = Nystrom::new(all, kernel)?;
        let exact = Gram::new(&p, &q, kernel)?.mmd2(Estimate::Biased)?;
        tolerance::NYSTROM_FULL.hold("MMD²", nystrom.mmd2(&p, &q)?, exact);
        tolerance::NYSTROM_FULL.hold("kernel", nystrom.kernel(&p[0], &q[0])?, kernel(&p[0], &q[0]));
        let (x, y) = (nystrom.feature_vector(&p[0])?, nystrom.feature_vector(&q[0])?);
        let product: f64 = x.iter().zip(&y).map(|(a, b)| a * b).sum();
        tolerance::NYSTROM_FULL.hold("φ̂'φ̂", product, kernel(&p[0], &q[0]));
        // Masses of 1/m and 1/n over all points.
        let masses = |of_p: bool| -> Vec<f64> {
            let mass = |i: usize| match (i < 12, of_p) {
                (true, true) => 1.0 / 12.0,
                (false, false) => 1.0 / 9.0,
                _ => 0.0,
            };
            (0..21).map(mass).collect()
        };
        let by_masses =
            nystrom.mmd2_of_masses(nystrom.landmarks(), &masses(true), &masses(false))?;
        tolerance::NYSTROM_FULL.hold("masses", by_masses, exact);
        // All samples differ, so that λδ adds λ(1/m + 1/n).
        let ridged = nystrom.regularised(&p, &q, 0.5, |x| x.to_bits())?;
        tolerance::NYSTROM_FULL.hold("λδ", ridged, exact + 0.5 * (1.0 / 12.0 + 1.0 / 9.0));
        let of_masses = nystrom.regularised_of_masses(
            nystrom.landmarks(),
            &masses(true),
            &masses(false),
            0.5,
        )?;
        tolerance::NYSTROM_FULL.hold("λδ of masses", of_masses, ridged);
        let none = nystrom.regularised(&p, &p, 0.5, |x| x.to_bits())?;
        tolerance::NYSTROM_FULL.hold("the same set twice", none, 0.0);
        Ok(())
    }

    /// Few landmarks and uneven masses: the norm of Σ(p − q)k(x, ·) along an orthonormal basis of the
    /// landmarks' functions, by Gram and Schmidt instead of eigenvectors.
    #[test]
    fn masses_are_compared_in_the_landmarks_span() -> Result<(), Refused> {
        let points = [-2.0, -1.1, -0.4, 0.0, 0.3, 0.9, 1.7, 2.5];
        let p = [0.3, 0.05, 0.15, 0.0, 0.1, 0.2, 0.15, 0.05];
        let q = [0.02, 0.08, 0.0, 0.4, 0.25, 0.05, 0.1, 0.1];
        let whole =
            crate::discrete::mmd2(&symmetric(&points.iter().collect::<Vec<_>>(), kernel)?, &p, &q)?;
        // Functions as coefficients of k(s, ·).
        type Function = Vec<(f64, f64)>;
        let product = |f: &Function, g: &Function| -> f64 {
            let pairs = f.iter().flat_map(|a| g.iter().map(move |b| (a, b)));
            pairs.map(|((c, x), (d, y))| c * d * kernel(x, y)).sum()
        };
        let masses = points.iter().zip(p.iter().zip(&q));
        let apart: Function = masses.map(|(x, (p, q))| (p - q, *x)).collect();
        let (mut basis, mut expected) = (Vec::<Function>::new(), 0.0);
        let mut last = 0.0;
        for (count, landmark) in [-1.5, 0.3, 2.5].into_iter().enumerate() {
            let mut own: Function = vec![(1.0, landmark)];
            for other in &basis {
                let along = product(&own, other);
                own.extend(other.iter().map(|(c, x)| (-along * c, *x)));
            }
            let size = product(&own, &own).sqrt();
            own.iter_mut().for_each(|(c, _)| *c /= size);
            expected += product(&apart, &own).powi(2);
            basis.push(own);
            let nystrom = Nystrom::new([-1.5, 0.3, 2.5][..=count].to_vec(), kernel)?;
            let found = nystrom.mmd2_of_masses(&points, &p, &q)?;
            tolerance::NYSTROM_FULL.hold("masses", found, expected);
            assert!(found > last && found < whole, "{found} of {whole}");
            last = found;
        }
        Ok(())
    }

    /// One landmark cannot separate these sets; λδ can.
    #[test]
    fn the_ridge_makes_it_a_metric() -> Result<(), Refused> {
        let (p, q) = (vec![-1.0, 1.0], vec![1.0, 1.0]);
        let nystrom = Nystrom::new(vec![0.0], kernel)?;
        tolerance::NYSTROM_FULL.hold("without", nystrom.mmd2(&p, &q)?, 0.0);
        let ridged = nystrom.regularised(&p, &q, 1.0, |x| x.to_bits())?;
        tolerance::NYSTROM_FULL.hold("with", ridged, 0.5);
        Ok(())
    }

    #[test]
    fn leverage_is_the_diagonal_of_the_smoother() -> Result<(), Refused> {
        let mut generator = Generator::new(2);
        let all = line(&mut generator, 15, 1.0);
        let scores = Nystrom::new(all.clone(), kernel)?.leverage(&all, 0.01)?;
        let references: Vec<&f64> = all.iter().collect();
        let gram = symmetric(&references, kernel)?;
        let ridged = &gram + DMatrix::identity(15, 15) * 0.15;
        let smoother = gram * ridged.try_inverse().ok_or(Refused::Singular)?;
        for (index, score) in scores.iter().enumerate() {
            tolerance::NYSTROM_FULL.hold("score", *score, smoother[(index, index)]);
        }
        Ok(())
    }

    /// A rare, distant cluster: leverage scores find it, uniform landmarks mostly do not.
    #[test]
    fn leverage_scores_find_what_is_rare() -> Result<(), Refused> {
        let mut generator = Generator::new(3);
        let mut all = line(&mut generator, 300, 0.5);
        all.extend(line(&mut generator, 3, 0.5).iter().map(|x| x + 20.0));
        let pilot = Nystrom::new(all.clone(), kernel)?;
        let scores = pilot.leverage(&all, 1e-3)?;
        let mut found = [0, 0];
        for _ in 0..200 {
            let chosen =
                [uniform(all.len(), 8, &mut generator)?, by_scores(&scores, 8, &mut generator)?];
            for (found, landmarks) in found.iter_mut().zip(chosen) {
                *found += usize::from(landmarks.iter().any(|&index| index >= 300));
            }
        }
        let [by_chance, by_score] = found.map(|count| real(count) / 200.0);
        tolerance::LEVERAGE_CHANCE.hold_below("uniform", by_chance);
        tolerance::LEVERAGE_MISSED.hold_below("by scores", 1.0 - by_score);
        Ok(())
    }

    #[test]
    fn bad_input_is_refused_by_name() -> Result<(), Refused> {
        let generator = &mut Generator::new(4);
        assert_eq!(Nystrom::new(vec![], kernel).err(), Some(Refused::Empty));
        let nan = Nystrom::new(vec![f64::NAN], kernel);
        assert_eq!(nan.err(), Some(Refused::NotFinite));
        let zero = Nystrom::new(vec![1.0], |_: &f64, _: &f64| 0.0);
        assert_eq!(zero.err(), Some(Refused::Singular));
        let nystrom = Nystrom::new(vec![1.0, 1.0], kernel)?;
        assert_eq!(nystrom.mmd2(&[], &[1.0]), Err(Refused::Empty));
        assert_eq!(nystrom.mmd2(&[f64::NAN], &[1.0]), Err(Refused::NotFinite));
        let bad = Err(Refused::BadParameter { name: "lambda" });
        assert_eq!(nystrom.regularised(&[1.0], &[1.0], 0.0, |x| x.to_bits()), bad);
        assert_eq!(nystrom.regularised_of_masses(&[1.0], &[1.0], &[1.0], 0.0), bad);
        assert_eq!(uniform(3, 4, generator), Err(Refused::TooFewSamples));
        assert_eq!(uniform(3, 0, generator), Err(Refused::Empty));
        assert_eq!(by_scores(&[-1.0], 1, generator), Err(Refused::BadWeight));
        Ok(())
    }

    /// Rows of points can be samples.
    #[test]
    fn rows_of_points_are_samples() -> Result<(), Refused> {
        let points = Points::new(2, vec![0.0, 0.0, 1.0, 1.0])?;
        let rows: Vec<&[f64]> = points.rows().collect();
        let nystrom = Nystrom::new(rows.clone(), |x: &&[f64], y: &&[f64]| gaussian(1.0)(x, y))?;
        tolerance::NYSTROM_FULL.hold("itself", nystrom.mmd2(&rows, &rows)?, 0.0);
        Ok(())
    }
}
