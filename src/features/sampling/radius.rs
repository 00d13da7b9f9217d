//! Lengths of frequency vectors.

use super::super::kernel::Tail;
use crate::numeric::{chi_quantile, f64_of, sqrt, u16_of};

use super::stream::Stream;
use super::{get, set};

/// Divides a normal vector's length into a multivariate t: √(k/χ²_k) at probability `u`.
pub(super) const fn student_factor(degrees: usize, u: f64) -> f64 {
    sqrt(f64_of(degrees)) / chi_quantile(degrees, u)
}

/// L lengths of unit-bandwidth frequencies in `inputs` dimensions, one from each of L strata of
/// equal probability, in random order.
///
/// Each length by itself has exactly the kernel's law, so estimates stay unbiased; together they
/// cover it evenly, which takes the variance of the lengths out of MMD².
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
    if let Tail::Student(degrees) = tail {
        shuffled_strata(stream, order, strata);
        let mut index = 0;
        while index < count {
            radii[index] *= student_factor(degrees, get(strata, index));
            index += 1;
        }
    }
    radii
}

/// Room for L lengths, and for what they are drawn from.
pub(crate) struct Strata<'s> {
    pub(crate) radii: &'s mut [f64],
    pub(crate) strata: &'s mut [f64],
    pub(crate) order: &'s mut [u16],
}

/// One uniform number from each of as many equal parts of (0, 1), shuffled.
const fn shuffled_strata(stream: &mut Stream, order: &mut [u16], strata: &mut [f64]) {
    let count = order.len();
    let mut index = 0;
    while index < count {
        order[index] = u16_of(index);
        index += 1;
    }
    stream.shuffle(order, count);
    let mut index = 0;
    while index < count {
        set(strata, index, (order[index] as f64 + stream.uniform()) / f64_of(count));
        index += 1;
    }
}
