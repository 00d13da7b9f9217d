//! Density estimation by a mixture whose embedding matches the sample's (Smola and others, 2007,
//! section 2.5).

use nalgebra::{DMatrix, DVector};

use crate::error::Refused;
use crate::points::{Points, same_dims};
use crate::population::Normal;
use crate::{real, simplex};

/// The shares β of normal candidates that minimise ‖μ_X − Σβᵢμᵢ‖² + λ‖β‖² for the Gaussian kernel
/// with bandwidth σ: ½βᵀ(Q + λI)β − lᵀβ over the simplex, where Q and l have closed forms
/// (equations 25 to 27). O(M² + Mn) of O(d) each.
///
/// # Errors
/// [`Refused::Empty`] without candidates, [`Refused::Ragged`] for candidates of another dimension,
/// [`Refused::BadParameter`] unless σ, λ and all deviations are positive, [`Refused::NotFinite`].
pub fn shares(
    sample: &Points,
    candidates: &[Normal],
    bandwidth: f64,
    lambda: f64,
) -> Result<Vec<f64>, Refused> {
    Refused::unless_positive("bandwidth", bandwidth)?;
    Refused::unless_positive("lambda", lambda)?;
    check(candidates, sample.dims())?;
    let size = candidates.len();
    let inner = |i: usize, j: usize| candidates[i].mean_gaussian_kernel(&candidates[j], bandwidth);
    let ridge = DMatrix::from_diagonal_element(size, size, lambda);
    let matrix = DMatrix::from_fn(size, size, inner) + ridge;
    let with_sample = |candidate: &Normal| {
        let point = |row: &[f64]| Normal { mean: row.to_vec(), deviation: vec![0.0; row.len()] };
        let rows = sample.rows().map(|x| point(x).mean_gaussian_kernel(candidate, bandwidth));
        rows.sum::<f64>() / real(sample.len())
    };
    simplex::minimise(&matrix, &DVector::from_iterator(size, candidates.iter().map(with_sample)))
}

/// Refuses candidates that are not densities over `dims` channels.
fn check(candidates: &[Normal], dims: usize) -> Result<(), Refused> {
    for candidate in candidates {
        same_dims(dims, candidate.mean.len())?;
        same_dims(dims, candidate.deviation.len())?;
        Refused::unless_finite(&candidate.mean)?;
        for &deviation in &candidate.deviation {
            Refused::unless_positive("deviation", deviation)?;
        }
    }
    Ok(())
}

/// The mixture's density at a point. O(Md).
///
/// # Errors
/// [`Refused::Ragged`] unless there is a share for each candidate and all have the point's
/// dimension, [`Refused::BadParameter`] unless all deviations are positive,
/// [`Refused::NotFinite`].
pub fn density(shares: &[f64], candidates: &[Normal], x: &[f64]) -> Result<f64, Refused> {
    same_dims(candidates.len(), shares.len())?;
    check(candidates, x.len())?;
    Refused::unless_finite(x.iter().chain(shares))?;
    let one = |candidate: &Normal| -> f64 {
        let channels = candidate.mean.iter().zip(&candidate.deviation).zip(x);
        let factor = |((mean, deviation), x): ((&f64, &f64), &f64)| {
            let z = (x - mean) / deviation;
            (-0.5 * z * z).exp() / (deviation * std::f64::consts::TAU.sqrt())
        };
        channels.map(factor).product()
    };
    let sum = shares.iter().zip(candidates).map(|(share, candidate)| share * one(candidate)).sum();
    Refused::if_finite(sum)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::Generator;
    use crate::tolerance;

    fn candidates() -> Vec<Normal> {
        let centres = [-4.0, -2.0, 0.0, 2.0, 4.0];
        centres.map(|centre| Normal { mean: vec![centre], deviation: vec![0.7] }).to_vec()
    }

    /// A mixture of two of five candidates, 0.3 and 0.7, is found again.
    #[test]
    fn a_known_mixture_is_found() -> Result<(), Refused> {
        let mut generator = Generator::new(31);
        let draw = |generator: &mut Generator| {
            let centre = if generator.uniform() < 0.3 { -2.0 } else { 2.0 };
            centre + 0.7 * generator.normal()
        };
        let sample = Points::new(1, (0..3000).map(|_| draw(&mut generator)).collect())?;
        let shares = shares(&sample, &candidates(), 0.7, 1e-6)?;
        for (share, truth) in shares.iter().zip([0.0, 0.3, 0.0, 0.7, 0.0]) {
            tolerance::MIXTURE_SHARE.hold("share", *share, truth);
        }
        // The density integrates to 1: rectangles of 0.01 from −10 to 10.
        let rectangles = (-1000..1000).map(|i| 0.01 * f64::from(i));
        let mut integral = 0.0;
        for x in rectangles {
            integral += 0.01 * density(&shares, &candidates(), &[x])?;
        }
        tolerance::QUANTILE.hold("integral", integral, 1.0);
        Ok(())
    }

    #[test]
    fn bad_input_is_refused_by_name() -> Result<(), Refused> {
        let sample = Points::new(1, vec![0.0, 1.0])?;
        assert_eq!(shares(&sample, &[], 1.0, 0.1), Err(Refused::Empty));
        let bad = |name| Err(Refused::BadParameter { name });
        assert_eq!(shares(&sample, &candidates(), 0.0, 0.1), bad("bandwidth"));
        assert_eq!(shares(&sample, &candidates(), 1.0, 0.0), bad("lambda"));
        let plane = [Normal::standard(2)];
        assert!(matches!(shares(&sample, &plane, 1.0, 0.1), Err(Refused::Ragged { .. })));
        Ok(())
    }
}
