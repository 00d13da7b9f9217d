//! Independent frequencies.

use super::super::kernel::{Kernel, Tail};

use super::radius::student_factor;
use super::stream::Stream;
use super::{Frequencies, coordinate};

/// Independent draws from the kernel's spectral distribution.
pub(super) const fn draw(kernel: &Kernel, stream: &mut Stream, mut frequencies: Frequencies<'_>) {
    let mut row = 0;
    while row < frequencies.count {
        let mut factor = kernel.turns_per_radian();
        match kernel.tail() {
            Tail::Normal | Tail::CauchyPerAxis => {}
            Tail::Student(degrees) => factor *= student_factor(degrees, stream.uniform()),
        }
        let mut channel = 0;
        while channel < frequencies.inputs {
            let value = factor * coordinate(kernel.tail(), stream.uniform());
            frequencies.set(row, channel, value);
            channel += 1;
        }
        row += 1;
    }
}
