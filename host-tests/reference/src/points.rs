//! Samples and their weights.

use crate::error::Refused;
use crate::single;

/// A set of samples of equal dimension, row by row.
#[derive(Debug, Clone, PartialEq)]
pub struct Points {
    dims: usize,
    values: Vec<f64>,
}

impl Points {
    /// Samples of `dims` channels each, from their values row by row.
    ///
    /// # Errors
    /// [`Refused::Empty`] without values or channels, [`Refused::Ragged`] if the last row is
    /// incomplete, [`Refused::NotFinite`] for NaN and infinities.
    pub fn new(dims: usize, values: Vec<f64>) -> Result<Self, Refused> {
        if dims == 0 || values.is_empty() {
            return Err(Refused::Empty);
        }
        Refused::unless_finite(&values)?;
        match values.len() % dims {
            0 => Ok(Self { dims, values }),
            found => Err(Refused::Ragged { expected: dims, found }),
        }
    }

    /// Samples from arrays, as the core takes them.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn from_arrays<const D: usize>(samples: &[[f32; D]]) -> Result<Self, Refused> {
        let values = samples.iter().flatten().map(|&x| f64::from(x)).collect();
        Self::new(D, values)
    }

    /// Number of channels.
    #[must_use]
    pub fn dims(&self) -> usize {
        self.dims
    }

    /// Number of samples; never 0.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "a set is never empty")]
    pub fn len(&self) -> usize {
        self.values.len() / self.dims
    }

    /// The samples in order.
    #[must_use]
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &[f64]> + Clone {
        self.values.chunks_exact(self.dims)
    }

    /// The samples as the core takes them, each value rounded to `f32`.
    ///
    /// # Errors
    /// [`Refused::Ragged`] if D is not the number of channels.
    pub fn arrays<const D: usize>(&self) -> Result<Vec<[f32; D]>, Refused> {
        if self.dims != D {
            return Err(Refused::Ragged { expected: self.dims, found: D });
        }
        Ok(self
            .rows()
            .map(|row| {
                let mut sample = [0.0; D];
                for (x, value) in sample.iter_mut().zip(row) {
                    *x = single(*value);
                }
                sample
            })
            .collect())
    }

    /// The samples times `factor`, rounded to `f32` so that the core can have the same values.
    #[must_use]
    pub fn scaled(&self, factor: f64) -> Self {
        let values = self.values.iter().map(|x| f64::from(single(x * factor)));
        Self { dims: self.dims, values: values.collect() }
    }

    /// The samples in another order.
    ///
    /// # Errors
    /// [`Refused::NotAPermutation`] unless `order` holds every index once.
    pub fn reordered(&self, order: &[usize]) -> Result<Self, Refused> {
        unless_permutation(order, self.len())?;
        let mut values = Vec::with_capacity(self.values.len());
        for &index in order {
            let start = index * self.dims;
            values.extend_from_slice(&self.values[start..start + self.dims]);
        }
        Ok(Self { dims: self.dims, values })
    }
}

/// Refuses two sets of different dimensions.
pub(crate) fn same_dims(a: usize, b: usize) -> Result<(), Refused> {
    if a == b { Ok(()) } else { Err(Refused::Ragged { expected: a, found: b }) }
}

/// Refuses masses that are no distribution.
pub(crate) fn unless_distribution(masses: &[f64]) -> Result<(), Refused> {
    let good = masses.iter().all(|mass| mass.is_finite() && *mass >= 0.0);
    let total: f64 = masses.iter().sum();
    if good && (total - 1.0).abs() <= 1e-9 { Ok(()) } else { Err(Refused::BadWeight) }
}

/// Refuses an order that does not hold every index below `count` once.
pub(crate) fn unless_permutation(order: &[usize], count: usize) -> Result<(), Refused> {
    let mut seen = vec![false; count];
    for &index in order {
        match seen.get_mut(index) {
            Some(seen) if !*seen => *seen = true,
            _ => return Err(Refused::NotAPermutation),
        }
    }
    if order.len() == count { Ok(()) } else { Err(Refused::NotAPermutation) }
}

/// Samples with a weight each, none negative and not all 0.
#[derive(Debug, Clone, PartialEq)]
pub struct Weighted {
    points: Points,
    weights: Vec<f64>,
}

impl Weighted {
    /// Samples with a weight each.
    ///
    /// # Errors
    /// [`Refused::Ragged`] if the numbers differ, [`Refused::BadWeight`] for a weight that is
    /// negative or not finite, or if all are 0.
    pub fn new(points: Points, weights: Vec<f64>) -> Result<Self, Refused> {
        same_dims(points.len(), weights.len())?;
        let good = weights.iter().all(|&w| w.is_finite() && w >= 0.0);
        if good && weights.iter().any(|&w| w > 0.0) {
            Ok(Self { points, weights })
        } else {
            Err(Refused::BadWeight)
        }
    }

    /// Samples of weight 1.
    #[must_use]
    pub fn even(points: Points) -> Self {
        let weights = vec![1.0; points.len()];
        Self { points, weights }
    }

    /// The samples.
    #[must_use]
    pub fn points(&self) -> &Points {
        &self.points
    }

    /// The weights, in the order of the samples.
    #[must_use]
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// Samples and weights together.
    pub fn iter(&self) -> impl Iterator<Item = (&[f64], f64)> + Clone {
        self.points.rows().zip(self.weights.iter().copied())
    }

    /// Σa.
    #[must_use]
    pub fn total(&self) -> f64 {
        self.weights.iter().sum()
    }

    /// Σa².
    #[must_use]
    pub fn squares(&self) -> f64 {
        self.weights.iter().map(|w| w * w).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ragged_and_empty_input_is_refused() {
        assert_eq!(Points::new(2, vec![]), Err(Refused::Empty));
        assert_eq!(Points::new(0, vec![1.0]), Err(Refused::Empty));
        let ragged = Refused::Ragged { expected: 2, found: 1 };
        assert_eq!(Points::new(2, vec![1.0; 3]), Err(ragged));
    }

    #[test]
    fn bad_weights_and_orders_are_refused() -> Result<(), Refused> {
        let points = Points::new(1, vec![1.0, 2.0])?;
        for weight in [-1.0, f64::NAN, f64::INFINITY] {
            let weighted = Weighted::new(points.clone(), vec![1.0, weight]);
            assert_eq!(weighted, Err(Refused::BadWeight));
        }
        assert!(Weighted::new(points.clone(), vec![1.0, 0.0]).is_ok());
        assert_eq!(Weighted::new(points.clone(), vec![0.0, 0.0]), Err(Refused::BadWeight));
        assert!(Weighted::new(points.clone(), vec![1.0]).is_err());
        for order in [&[0, 0][..], &[0], &[0, 2]] {
            assert_eq!(points.reordered(order), Err(Refused::NotAPermutation));
        }
        assert_eq!(points.reordered(&[1, 0])?, Points::new(1, vec![2.0, 1.0])?);
        Ok(())
    }
}
