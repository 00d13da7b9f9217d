//! Lengths of frequency vectors.

use super::super::kernel::Tail;
use crate::numeric::{chi_quantile, f64_of, sqrt};

use super::stream::Stream;

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
    let Strata { radii, order } = strata;
    let count = radii.len();
    shuffle_strata(stream, order);
    let mut index = 0;
    while index < count {
        radii[index] = chi_quantile(inputs, within(order, index, stream));
        index += 1;
    }
    match tail {
        // A kernel with Cauchy coordinates is not spherical, and is not drawn by length.
        Tail::Normal | Tail::CauchyPerAxis => {}
        Tail::Student(degrees) => {
            shuffle_strata(stream, order);
            let mut index = 0;
            while index < count {
                radii[index] *= student_factor(degrees, within(order, index, stream));
                index += 1;
            }
        }
    }
    radii
}

/// Buffers for L lengths and for the strata they are drawn from.
pub(crate) struct Strata<'s> {
    pub(crate) radii: &'s mut [f64],
    pub(crate) order: &'s mut [u16],
}

/// Numbers as many equal parts of (0, 1), in random order.
const fn shuffle_strata(stream: &mut Stream, order: &mut [u16]) {
    let count = order.len();
    stream.permutation(order, count);
}

/// A uniform number from the part that comes next.
const fn within(order: &[u16], index: usize, stream: &mut Stream) -> f64 {
    let stratum = if index < order.len() { order[index] } else { 0 };
    (stratum as f64 + stream.uniform()) / f64_of(order.len())
}
