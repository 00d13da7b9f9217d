//! Lengths of frequency vectors.

use super::super::kernel::Tail;
use crate::numeric::{chi_quantile, f64_of, sqrt};

use super::stream::Stream;
use super::{get, set};

/// The factor that turns a normal vector into a multivariate t: √(k/χ²_k) at probability `u`.
pub(super) const fn student_factor(degrees: usize, u: f64) -> f64 {
    sqrt(f64_of(degrees)) / chi_quantile(degrees, u)
}

/// L lengths of unit-bandwidth frequencies in `inputs` dimensions, one from each of L strata of
/// equal probability, in random order.
///
/// Each length by itself follows the kernel's distribution exactly, so estimates stay unbiased.
/// Together they cover it evenly, so that they add no variance to MMD².
pub(crate) const fn stratified_radii<'s>(
    tail: Tail,
    inputs: usize,
    stream: &mut Stream,
    strata: Strata<'s>,
) -> &'s [f64] {
    let Strata { radii, strata, order } = strata;
    let count = radii.len();
    shuffled_strata(stream, order, strata);
    let mut index = 0;
    while index < count {
        radii[index] = chi_quantile(inputs, get(strata, index));
        index += 1;
    }
    match tail {
        // A kernel with Cauchy coordinates is not spherical, and is not drawn by length.
        Tail::Normal | Tail::CauchyPerAxis => {}
        Tail::Student(degrees) => {
            shuffled_strata(stream, order, strata);
            let mut index = 0;
            while index < count {
                radii[index] *= student_factor(degrees, get(strata, index));
                index += 1;
            }
        }
    }
    radii
}

/// Buffers for L lengths and for the numbers they are drawn from.
pub(crate) struct Strata<'s> {
    pub(crate) radii: &'s mut [f64],
    pub(crate) strata: &'s mut [f64],
    pub(crate) order: &'s mut [u16],
}

/// Divides (0, 1) into equal parts and draws one uniform number from each, in random order.
const fn shuffled_strata(stream: &mut Stream, order: &mut [u16], strata: &mut [f64]) {
    let count = order.len();
    stream.permutation(order, count);
    let mut index = 0;
    while index < count {
        set(strata, index, (order[index] as f64 + stream.uniform()) / f64_of(count));
        index += 1;
    }
}
