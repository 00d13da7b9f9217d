//! Independent frequencies.

use crate::kernel::{Kernel, Tail};
use crate::numeric::rounded;

use super::coordinate;
use super::radius::student_factor;
use super::stream::Stream;

/// L independent draws from the kernel's spectral distribution.
pub(super) const fn draw<const D: usize, const L: usize>(
    kernel: &Kernel,
    stream: &mut Stream,
) -> [[f32; D]; L] {
    let mut frequencies = [[0.0; D]; L];
    let mut row = 0;
    while row < L {
        let mut factor = kernel.turns_per_radian();
        if let Tail::Student(degrees) = kernel.tail() {
            factor *= student_factor(degrees, stream.uniform());
        }
        let mut channel = 0;
        while channel < D {
            frequencies[row][channel] =
                rounded(factor * coordinate(kernel.tail(), stream.uniform()));
            channel += 1;
        }
        row += 1;
    }
    frequencies
}
