//! MMD-linear (Gretton and others, 2012): each sample is used only once, in a group of four.

use crate::error::Refused;
use crate::points::{Points, same_dims};
use crate::real;

/// The terms k(x₂ᵢ₋₁,x₂ᵢ) + k(y₂ᵢ₋₁,y₂ᵢ) − k(x₂ᵢ₋₁,y₂ᵢ) − k(x₂ᵢ,y₂ᵢ₋₁). They are independent:
/// [`null::mean_of_independent`](crate::null::mean_of_independent) gives their mean and its
/// threshold. Samples beyond the shorter set, and an odd last one, are not used. O(nd).
///
/// # Errors
/// [`Refused::Ragged`] for sets of different dimensions, [`Refused::TooFewSamples`] below two.
pub fn terms(
    p: &Points,
    q: &Points,
    kernel: impl Fn(&[f64], &[f64]) -> f64,
) -> Result<Vec<f64>, Refused> {
    same_dims(p.dims(), q.dims())?;
    let x: Vec<&[f64]> = p.rows().collect();
    let y: Vec<&[f64]> = q.rows().collect();
    let (x, _) = x.as_chunks::<2>();
    let (y, _) = y.as_chunks::<2>();
    let terms: Vec<f64> = x
        .iter()
        .zip(y)
        .map(|([x1, x2], [y1, y2])| {
            kernel(x1, x2) + kernel(y1, y2) - kernel(x1, y2) - kernel(x2, y1)
        })
        .collect();
    if terms.is_empty() { Err(Refused::TooFewSamples) } else { Ok(terms) }
}

/// The mean of the [`terms`]: unbiased, O(nd), with a large variance.
///
/// # Errors
/// Those of [`terms`].
pub fn mmd2(
    p: &Points,
    q: &Points,
    kernel: impl Fn(&[f64], &[f64]) -> f64,
) -> Result<f64, Refused> {
    let terms = terms(p, q, kernel)?;
    Ok(terms.iter().sum::<f64>() / real(terms.len()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::gaussian;
    use crate::tolerance;

    #[test]
    fn two_pairs_by_hand() -> Result<(), Refused> {
        let p = Points::new(1, vec![0.0, 1.0, 9.0])?;
        let q = Points::new(1, vec![2.0, 4.0, 9.0])?;
        let by_hand = [-0.5_f64, -2.0].map(f64::exp).iter().sum::<f64>()
            - [-8.0_f64, -0.5].map(f64::exp).iter().sum::<f64>();
        tolerance::REFERENCE_IDENTITY.hold("linear", mmd2(&p, &q, gaussian(1.0))?, by_hand);
        let one = Points::new(1, vec![0.0])?;
        assert_eq!(mmd2(&one, &q, gaussian(1.0)), Err(Refused::TooFewSamples));
        Ok(())
    }
}
