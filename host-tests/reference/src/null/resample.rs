//! Null distributions by resampling the pool.

use nalgebra::DMatrix;

use super::law::Null;
use super::pool::{Estimate, Pool, Split};
use crate::error::Refused;
use crate::generate::Generator;

/// Columns per matrix product, which is much faster than single columns; 256 columns of some
/// thousand samples fit in a cache.
const BATCH: usize = 256;

/// Draws in batches: `batch` returns the statistics of the given number of draws.
fn draw(draws: usize, mut batch: impl FnMut(usize) -> Vec<f64>) -> Result<Null, Refused> {
    let mut values = Vec::with_capacity(draws);
    while values.len() < draws {
        values.extend(batch(BATCH.min(draws - values.len())));
    }
    Null::drawn(values)
}

/// The statistic of `shuffles` random splits of the pool. If both sets come from one distribution,
/// the true split is one of these, so that thresholds are exact for any number of samples. O(N²)
/// per shuffle of a Gram matrix, O(NL) of features.
///
/// # Errors
/// [`Refused::BadParameter`] for no shuffles, [`Refused::NotFinite`] where a sum overflows.
pub fn permutation(
    pool: &impl Pool,
    estimate: Estimate,
    shuffles: usize,
    generator: &mut Generator,
) -> Result<Null, Refused> {
    let [m, n] = pool.sizes();
    draw(shuffles, |columns| {
        let mut p = DMatrix::zeros(m + n, columns);
        for mut column in p.column_iter_mut() {
            for index in generator.order(m + n).into_iter().take(m) {
                column[index] = 1.0;
            }
        }
        Split::parting(pool, &p).mmd2(estimate)
    })
}

/// The statistic of sets drawn from the pool with replacement. Twice the cost of
/// [`permutation`]; good for many samples, where drawing one twice is rare.
///
/// # Errors
/// [`Refused::BadParameter`] for no draws, [`Refused::NotFinite`] where a sum overflows.
pub fn bootstrap(
    pool: &impl Pool,
    estimate: Estimate,
    draws: usize,
    generator: &mut Generator,
) -> Result<Null, Refused> {
    let [m, n] = pool.sizes();
    draw(draws, |columns| {
        let mut counts = |size: usize| {
            let mut counts = DMatrix::zeros(m + n, columns);
            for mut column in counts.column_iter_mut() {
                for _ in 0..size {
                    column[generator.below(m + n)] += 1.0;
                }
            }
            counts
        };
        let (p, q) = (counts(m), counts(n));
        Split::between(pool, &p, &q).mmd2(estimate)
    })
}
