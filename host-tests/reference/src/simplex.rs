//! Quadratic programs over the simplex: minimise ½βᵀQβ − lᵀβ with β ≥ 0 and Σβ = 1.
//!
//! Kernel mean matching and density estimation both lead to this problem. The solver moves weight
//! from the worst to the best coordinate, by the best amount for these two, until no move improves
//! the objective. It is slow for thousands of unknowns, and easy to check.

use nalgebra::{DMatrix, DVector};

use crate::error::Refused;
use crate::real;

/// The largest gap between gradients that counts as solved, relative to the largest entry of Q and
/// l. The objective is then within this of its minimum.
const GAP: f64 = 1e-10;

/// Largest number of moves per unknown: beyond that there is only rounding.
const MOVES: usize = 20_000;

/// The β that minimises ½βᵀQβ − lᵀβ over the simplex, for a positive semidefinite Q. O(M) for
/// each move.
///
/// # Errors
/// [`Refused::Empty`] without unknowns, [`Refused::Ragged`] if the sizes differ,
/// [`Refused::NotFinite`], [`Refused::Singular`] if the solver meets a negative curvature of Q or
/// cannot move, and [`Refused::NotConverged`] after too many moves.
pub fn minimise(q: &DMatrix<f64>, l: &DVector<f64>) -> Result<Vec<f64>, Refused> {
    let size = l.len();
    if size == 0 {
        return Err(Refused::Empty);
    }
    for found in [q.nrows(), q.ncols()] {
        if found != size {
            return Err(Refused::Ragged { expected: size, found });
        }
    }
    if q.iter().chain(l).any(|value| !value.is_finite()) {
        return Err(Refused::NotFinite);
    }
    let gap = GAP * q.amax().max(l.amax());
    let mut weights = DVector::repeat(size, 1.0 / real(size));
    let mut gradient = q * &weights - l;
    for step in 0..MOVES.saturating_mul(size) {
        // Recomputed because rounding errors add up over many moves.
        if step % 10_000 == 9_999 {
            gradient = q * &weights - l;
        }
        let to = gradient.imin();
        let from = (0..size)
            .filter(|&index| weights[index] > 0.0)
            .max_by(|&a, &b| gradient[a].total_cmp(&gradient[b]))
            .ok_or(Refused::Empty)?;
        let gain = gradient[from] - gradient[to];
        if Refused::if_finite(gain)? <= gap {
            return Ok(weights.iter().copied().collect());
        }
        let curvature = q[(to, to)] + q[(from, from)] - 2.0 * q[(to, from)];
        if curvature < -gap {
            return Err(Refused::Singular);
        }
        let best = if curvature > 0.0 { gain / curvature } else { f64::INFINITY };
        let moved = best.min(weights[from]);
        // With an infinite curvature no move is possible.
        if moved <= 0.0 {
            return Err(Refused::Singular);
        }
        weights[to] += moved;
        weights[from] -= moved;
        gradient += moved * (q.column(to) - q.column(from));
    }
    Err(Refused::NotConverged)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::Generator;
    use crate::tolerance;

    /// Another method: gradient steps, projected to the simplex by sorting.
    fn by_projection(q: &DMatrix<f64>, l: &DVector<f64>) -> DVector<f64> {
        let mut weights = DVector::repeat(l.len(), 1.0 / real(l.len()));
        let step = 1.0 / q.trace();
        for _ in 0..100_000 {
            let moved = &weights - step * (q * &weights - l);
            let mut sorted: Vec<f64> = moved.iter().copied().collect();
            sorted.sort_unstable_by(|a, b| b.total_cmp(a));
            let (mut sum, mut level) = (0.0, 0.0);
            for (index, value) in sorted.iter().enumerate() {
                sum += value;
                let candidate = (sum - 1.0) / real(index + 1);
                if *value > candidate {
                    level = candidate;
                }
            }
            weights = moved.map(|value| (value - level).max(0.0));
        }
        weights
    }

    #[test]
    fn the_scale_of_a_program_changes_nothing() -> Result<(), Refused> {
        let mut generator = Generator::new(7);
        let half = DMatrix::from_fn(6, 6, |_, _| generator.normal());
        let q = &half * half.transpose() + DMatrix::identity(6, 6) * 0.1;
        let l = DVector::from_fn(6, |_, _| 3.0 * generator.normal());
        let plain = minimise(&q, &l)?;
        for scale in [2.0_f64.powi(-60), 2.0_f64.powi(60)] {
            // Multiplied by powers of two, so that even rounding is the same.
            assert_eq!(minimise(&(&q * scale), &(&l * scale))?, plain);
        }
        Ok(())
    }

    #[test]
    fn two_solvers_agree() -> Result<(), Refused> {
        let mut generator = Generator::new(6);
        for size in [2, 5, 12] {
            let half = DMatrix::from_fn(size, size, |_, _| generator.normal());
            let q = &half * half.transpose() + DMatrix::identity(size, size) * 0.1;
            let l = DVector::from_fn(size, |_, _| 3.0 * generator.normal());
            let weights = minimise(&q, &l)?;
            let other = by_projection(&q, &l);
            for (a, b) in weights.iter().zip(&other) {
                tolerance::SIMPLEX.hold("weight", *a, *b);
            }
            tolerance::SIMPLEX.hold("sum", weights.iter().sum(), 1.0);
            assert!(weights.iter().all(|&weight| weight >= 0.0));
        }
        Ok(())
    }

    #[test]
    fn a_corner_and_bad_input() -> Result<(), Refused> {
        let q = DMatrix::identity(3, 3);
        let l = DVector::from_vec(vec![5.0, 0.0, 0.0]);
        assert!(minimise(&q, &l)?[0] > 1.0 - GAP);
        let none = minimise(&DMatrix::zeros(0, 0), &DVector::zeros(0));
        assert_eq!(none, Err(Refused::Empty));
        assert!(matches!(minimise(&q, &DVector::zeros(2)), Err(Refused::Ragged { .. })));
        let nan = minimise(&DMatrix::repeat(3, 3, f64::NAN), &l);
        assert_eq!(nan, Err(Refused::NotFinite));
        let saddle = DMatrix::from_diagonal_element(3, 3, -1.0);
        assert_eq!(minimise(&saddle, &l), Err(Refused::Singular));
        Ok(())
    }
}
