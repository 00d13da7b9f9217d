//! What is called linear MMD, in two meanings. [`mmd2`] is MMD-linear (Gretton and others, 2012, and
//! FastMMD): each sample is used only once, in a group of four. [`of_root`] is what the Nyström
//! paper compares with: MMD of √n random samples of each set.

use crate::error::Refused;
use crate::exact;
use crate::generate::Generator;
use crate::nystrom::uniform;
use crate::points::{Points, Weighted, same_dims};
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

/// ⌈√n⌉.
fn root(count: usize) -> usize {
    let root = count.isqrt();
    root + usize::from(root * root < count)
}

/// MMD_b² of ⌈√m⌉ random samples of P and ⌈√n⌉ of Q: O((m + n)d).
///
/// # Errors
/// [`Refused::Ragged`] for sets of different dimensions, [`Refused::NotFinite`].
pub fn of_root(
    p: &Points,
    q: &Points,
    kernel: impl Fn(&[f64], &[f64]) -> f64 + Copy,
    generator: &mut Generator,
) -> Result<f64, Refused> {
    let mut part = |set: &Points| -> Result<Weighted, Refused> {
        let rows: Vec<&[f64]> = set.rows().collect();
        let chosen = uniform(rows.len(), root(rows.len()), generator)?;
        let values = chosen.into_iter().flat_map(|index| rows[index]).copied().collect();
        Ok(Weighted::even(Points::new(set.dims(), values)?))
    };
    let (p, q) = (part(p)?, part(q)?);
    exact::biased(&p, &q, kernel)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::gaussian;
    use crate::tolerance;

    #[test]
    fn roots_are_rounded_up() {
        assert_eq!([1, 2, 4, 5, 9, 10, 100].map(root), [1, 2, 2, 3, 3, 4, 10]);
    }

    /// One sample of each set, and all where the root is the whole: the pairs are known. Over many
    /// draws, the mean is that of all pairs but those of a sample with itself.
    #[test]
    fn the_root_of_a_set_is_a_part_of_it() -> Result<(), Refused> {
        let generator = &mut Generator::new(5);
        let (one, other) = (Points::new(1, vec![0.0])?, Points::new(1, vec![1.0])?);
        let value = of_root(&one, &other, gaussian(1.0), generator)?;
        tolerance::REFERENCE_IDENTITY.hold("one each", value, 2.0 - 2.0 * (-0.5_f64).exp());
        let p = Points::new(1, (0..9).map(|i| 0.3 * f64::from(i)).collect())?;
        let q = Points::new(1, (0..9).map(|i| 1.0 + 0.2 * f64::from(i)).collect())?;
        let mut sum = 0.0;
        for _ in 0..4000 {
            sum += of_root(&p, &q, gaussian(1.0), generator)? / 4000.0;
        }
        let sets = [&p, &q].map(|set| Weighted::even(set.clone()));
        let distinct = exact::unbiased(&sets[0], &sets[1], gaussian(1.0))?;
        let [within_p, within_q] = sets.each_ref().map(|set| {
            let mean = exact::mean_kernel(set, set, gaussian(1.0))?;
            Ok::<f64, Refused>((9.0 * mean - 1.0) / 8.0)
        });
        // Of three samples, a third of the pairs is of a sample with itself.
        let expected = distinct + (2.0 - within_p? - within_q?) / 3.0;
        tolerance::ROOT_MEAN.hold("mean over draws", sum, expected);
        Ok(())
    }

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
