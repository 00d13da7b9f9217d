//! Which known condition is a stream in, or which mixture of them?

use super::{Embedding, mmd};
use crate::error::Error;
use crate::features::FeatureMap;
use crate::numeric::f32_of;

/// Number of passes over all pairs of regimes to refine the proportions.
const SWEEPS: usize = 200;

/// The known regime nearest to a sample.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub struct Nearest {
    /// Its index among the known ones, from 0.
    pub index: usize,
    /// Its unbiased MMD² from the sample.
    pub squared: f32,
    /// MMD² of the second nearest minus that of the nearest: 0 if they are equally near.
    pub margin: f32,
}

/// N known conditions, each learned as an embedding over the same map: 4·N² bytes, and the
/// borrowed embeddings.
///
/// ```
/// use fastmmd::{Embedding, Fourier, Regimes};
///
/// let map = Fourier::<1, 64>::gaussian(1);
/// let mut idle = Embedding::new(&map);
/// let mut busy = Embedding::new(&map);
/// let mut now = Embedding::new(&map);
/// for step in 0..100 {
///     let noise = (step % 10) as f32 / 10.0;
///     idle.add(&map, &[noise])?;
///     busy.add(&map, &[noise + 3.0])?;
///     now.add(&map, &[if step % 4 == 0 { noise + 3.0 } else { noise }])?;
/// }
/// let regimes = Regimes::new([&idle, &busy])?;
/// assert_eq!(regimes.nearest(&now)?.index, 0);
/// let [_, share] = regimes.proportions(&now)?;
/// assert!((share - 0.25).abs() < 0.05);
/// # Ok::<(), fastmmd::Error>(())
/// ```
#[derive(Debug)]
pub struct Regimes<'e, M: FeatureMap, const N: usize> {
    known: [&'e Embedding<M>; N],
    /// Inner products of the known embeddings, without pairs of a sample with itself.
    gram: [[f32; N]; N],
}

// Not derived: a copy borrows the same embeddings.
impl<M: FeatureMap, const N: usize> Clone for Regimes<'_, M, N> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<M: FeatureMap, const N: usize> Copy for Regimes<'_, M, N> {}

impl<'e, M: FeatureMap, const N: usize> Regimes<'e, M, N> {
    /// Takes the known conditions and computes their inner products. O(N²·L).
    ///
    /// # Errors
    /// [`Error::MapMismatch`], [`Error::Empty`], or [`Error::TooFewSamples`] for a condition of a
    /// single sample.
    pub fn new(known: [&'e Embedding<M>; N]) -> Result<Self, Error> {
        const { assert!(N >= 2, "a choice needs at least two regimes") };
        let mut gram = [[0.0; N]; N];
        for (i, (row, a)) in gram.iter_mut().zip(known).enumerate() {
            for (j, (entry, b)) in row.iter_mut().zip(known).enumerate() {
                *entry = if i == j { mmd::unbiased_squared_norm(a)? } else { a.inner_product(b)? };
            }
        }
        Ok(Self { known, gram })
    }

    /// The condition with the smallest unbiased MMD² from `now` (for N = 2, the three-sample
    /// problem). O(N·L).
    ///
    /// # Errors
    /// As [`mmd::squared_unbiased`].
    pub fn nearest(&self, now: &Embedding<M>) -> Result<Nearest, Error> {
        let mut nearest = Nearest { index: 0, squared: f32::INFINITY, margin: 0.0 };
        for (index, known) in self.known.iter().enumerate() {
            let squared = mmd::squared_unbiased(known, now)?;
            if squared < nearest.squared {
                nearest = Nearest { index, squared, margin: nearest.squared - squared };
            } else {
                nearest.margin = nearest.margin.min(squared - nearest.squared);
            }
        }
        Ok(nearest)
    }

    /// The mixture of the known conditions nearest to `now`: weights w ≥ 0 with Σw = 1 that
    /// minimise ‖Σ wᵢμᵢ − μ‖². O(N·L) for the products and at most 200·N³ operations for the
    /// weights. Their numerical error is below 0.001 unless two conditions are nearly alike.
    ///
    /// # Errors
    /// [`Error::MapMismatch`] or [`Error::Empty`].
    pub fn proportions(&self, now: &Embedding<M>) -> Result<[f32; N], Error> {
        let mut products = [0.0; N];
        for (product, known) in products.iter_mut().zip(self.known) {
            *product = known.inner_product(now)?;
        }
        Ok(nearest_mixture(&self.gram, &products))
    }
}

/// Minimises w'Gw/2 − b'w over w ≥ 0, Σw = 1 by exact steps along pairs of coordinates.
fn nearest_mixture<const N: usize>(gram: &[[f32; N]; N], products: &[f32; N]) -> [f32; N] {
    let mut weights = [1.0 / f32_of(N); N];
    // Curvatures are about K(0) in size: below 1e-9 of it, two regimes count as equal.
    let flat = 1e-9 * gram.iter().flatten().fold(0.0_f32, |size, entry| size.max(entry.abs()));
    let slope = |weights: &[f32; N], row: &[f32; N], product: f32| -> f32 {
        row.iter().zip(weights).map(|(g, w)| g * w).sum::<f32>() - product
    };
    for _ in 0..SWEEPS {
        let mut moved = 0.0_f32;
        for (to, (row_to, product_to)) in gram.iter().zip(products).enumerate() {
            for (from, (row_from, product_from)) in gram.iter().zip(products).enumerate().take(to) {
                let (Some(same_to), Some(same_from), Some(across)) =
                    (row_to.get(to), row_from.get(from), row_to.get(from))
                else {
                    continue;
                };
                let curvature = same_to + same_from - 2.0 * across;
                let difference =
                    slope(&weights, row_from, *product_from) - slope(&weights, row_to, *product_to);
                let (Some(&held_to), Some(&held_from)) = (weights.get(to), weights.get(from))
                else {
                    continue;
                };
                let wanted = if curvature > flat { difference / curvature } else { 0.0 };
                let step = wanted.max(-held_to).min(held_from);
                if let Some(weight) = weights.get_mut(to) {
                    *weight = held_to + step;
                }
                if let Some(weight) = weights.get_mut(from) {
                    *weight = held_from - step;
                }
                moved = moved.max(step.abs());
            }
        }
        if moved < 1e-6 {
            break;
        }
    }
    weights
}

#[cfg(feature = "defmt")]
impl<M: FeatureMap, const N: usize> defmt::Format for Regimes<'_, M, N> {
    fn format(&self, f: defmt::Formatter<'_>) {
        defmt::write!(f, "{} regimes: {}", N, self.known);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_mixture_inside_and_on_the_edge_of_the_simplex() {
        let gram = [[1.0, 0.2, 0.1], [0.2, 1.0, 0.3], [0.1, 0.3, 1.0]];
        let apply = |w: [f32; 3]| gram.map(|row| row.iter().zip(w).map(|(g, w)| g * w).sum());
        for truth in [[0.2, 0.3, 0.5], [0.0, 0.4, 0.6], [1.0, 0.0, 0.0]] {
            let found = nearest_mixture(&gram, &apply(truth));
            assert!(found.iter().zip(truth).all(|(f, t)| (f - t).abs() < 1e-3), "{found:?}");
            assert!((found.iter().sum::<f32>() - 1.0).abs() < 1e-5);
        }
        // For a point outside the simplex, the nearest mixture has no negative weight.
        let found = nearest_mixture(&gram, &apply([1.3, -0.3, 0.0]));
        assert!(found.iter().all(|w| *w >= 0.0) && found[1] < 1e-3, "{found:?}");
    }

    #[test]
    fn alike_regimes_do_not_break_it() {
        let found = nearest_mixture(&[[1.0, 1.0], [1.0, 1.0]], &[1.0, 1.0]);
        assert!((found[0] + found[1] - 1.0).abs() < 1e-6);
    }
}
