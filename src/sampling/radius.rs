//! Lengths of frequency vectors.

use crate::kernel::Tail;
use crate::numeric::{chi_quantile, f64_of, sqrt, u16_of};

use super::stream::Stream;

/// Divides a normal vector's length into a multivariate t: √(k/χ²_k) at probability `u`.
pub(super) const fn student_factor(degrees: usize, u: f64) -> f64 {
    sqrt(f64_of(degrees)) / chi_quantile(degrees, u)
}

/// L lengths of unit-bandwidth frequencies in `dims` dimensions, one from each of L strata of
/// equal probability, in random order.
///
/// Each length by itself has exactly the kernel's law, so estimates stay unbiased; together they
/// cover it evenly, which takes the variance of the lengths out of MMD².
pub(crate) const fn stratified_radii<const L: usize>(
    tail: Tail,
    dims: usize,
    stream: &mut Stream,
) -> [f64; L] {
    let strata: [f64; L] = shuffled_strata(stream);
    let mut radii = [0.0; L];
    let mut index = 0;
    while index < L {
        radii[index] = chi_quantile(dims, strata[index]);
        index += 1;
    }
    if let Tail::Student(degrees) = tail {
        let strata: [f64; L] = shuffled_strata(stream);
        let mut index = 0;
        while index < L {
            radii[index] *= student_factor(degrees, strata[index]);
            index += 1;
        }
    }
    radii
}

/// One uniform number from each of L equal parts of (0, 1), shuffled.
const fn shuffled_strata<const L: usize>(stream: &mut Stream) -> [f64; L] {
    let mut order = [0_u16; L];
    let mut index = 0;
    while index < L {
        order[index] = u16_of(index);
        index += 1;
    }
    stream.shuffle(&mut order, L);
    let mut strata = [0.0; L];
    let mut index = 0;
    while index < L {
        strata[index] = (order[index] as f64 + stream.uniform()) / f64_of(L);
        index += 1;
    }
    strata
}
