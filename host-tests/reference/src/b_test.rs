//! The B-test (Zaremba and others, 2013): exact MMD² within blocks, averaged over blocks.

use crate::error::Refused;
use crate::exact;
use crate::points::{Points, Weighted, same_dims};
use crate::real;

/// The usual block length, √n rounded down, for n samples in each set.
#[must_use]
pub fn usual_block(samples: usize) -> usize {
    samples.isqrt()
}

/// MMD_u² within each block of `block` samples. The values are independent:
/// [`null::mean_of_independent`](crate::null::mean_of_independent) gives their mean and its
/// threshold. Samples beyond the last complete block are not used. O(n·`block`·d).
///
/// # Errors
/// [`Refused::Ragged`] for sets of different dimensions, [`Refused::TooFewSamples`] for blocks
/// below two samples or sets below one block.
pub fn blocks(
    p: &Points,
    q: &Points,
    block: usize,
    kernel: impl Fn(&[f64], &[f64]) -> f64 + Copy,
) -> Result<Vec<f64>, Refused> {
    same_dims(p.dims(), q.dims())?;
    let blocks = p.len().min(q.len()).checked_div(block).unwrap_or(0);
    if block < 2 || blocks == 0 {
        return Err(Refused::TooFewSamples);
    }
    let part = |points: &Points, index: usize| {
        let rows = points.rows().skip(index * block).take(block);
        Points::new(points.dims(), rows.flatten().copied().collect()).map(Weighted::even)
    };
    (0..blocks).map(|index| exact::unbiased(&part(p, index)?, &part(q, index)?, kernel)).collect()
}

/// The mean of the [`blocks`]: unbiased.
///
/// # Errors
/// Those of [`blocks`].
pub fn mmd2(
    p: &Points,
    q: &Points,
    block: usize,
    kernel: impl Fn(&[f64], &[f64]) -> f64 + Copy,
) -> Result<f64, Refused> {
    let values = blocks(p, q, block, kernel)?;
    Ok(values.iter().sum::<f64>() / real(values.len()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::Generator;
    use crate::kernel::gaussian;
    use crate::{linear, tolerance};

    #[test]
    fn one_block_is_exact_and_blocks_of_two_differ_from_linear_by_cross_pairs()
    -> Result<(), Refused> {
        let mut generator = Generator::new(3);
        let mut set = |shift| Points::new(1, (0..10).map(|_| generator.normal() + shift).collect());
        let (p, q) = (set(0.0)?, set(1.0)?);
        let kernel = gaussian(1.0);
        let whole =
            exact::unbiased(&Weighted::even(p.clone()), &Weighted::even(q.clone()), kernel)?;
        tolerance::REFERENCE_IDENTITY.hold("one block", mmd2(&p, &q, 10, kernel)?, whole);
        // MMD-linear with the pairs of q swapped has the other two cross pairs of each block.
        let swapped = q.reordered(&[1, 0, 3, 2, 5, 4, 7, 6, 9, 8])?;
        let mean = 0.5 * (linear::mmd2(&p, &q, kernel)? + linear::mmd2(&p, &swapped, kernel)?);
        tolerance::REFERENCE_IDENTITY.hold("blocks of two", mmd2(&p, &q, 2, kernel)?, mean);
        Ok(())
    }

    #[test]
    fn blocks_too_short_or_too_long_are_refused() -> Result<(), Refused> {
        let p = Points::new(1, vec![0.0, 1.0, 2.0])?;
        for block in [0, 1, 4] {
            let refused = mmd2(&p, &p, block, gaussian(1.0));
            assert_eq!(refused, Err(Refused::TooFewSamples));
        }
        Ok(())
    }
}
