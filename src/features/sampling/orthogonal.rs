//! Orthogonal frequencies: blocks of D random perpendicular directions.

use super::super::kernel::Kernel;
use crate::numeric::{normal_quantile, sqrt};

use super::radius::{Strata, stratified_radii};
use super::stream::Stream;
use super::{Frequencies, get, set};

/// Draws frequencies in blocks of D perpendicular random directions, with stratified lengths. The
/// last block is shorter if L is not a multiple of D. `basis` has room for D·min(D, L) numbers.
pub(super) const fn draw(
    kernel: &Kernel,
    stream: &mut Stream,
    mut frequencies: Frequencies<'_>,
    strata: Strata<'_>,
    basis: &mut [f64],
) {
    let inputs = frequencies.inputs;
    let radii = stratified_radii(kernel.tail(), inputs, stream, strata);
    let mut index = 0;
    let mut row = 0;
    while row < frequencies.count {
        perpendicular(basis, inputs, index, stream);
        let mut channel = 0;
        while channel < inputs {
            let along = get(basis, index * inputs + channel);
            frequencies.set(row, channel, kernel.turns_per_radian() * get(radii, row) * along);
            channel += 1;
        }
        index = if index + 1 < inputs { index + 1 } else { 0 };
        row += 1;
    }
}

/// Makes vector `count` of a basis a random unit vector perpendicular to those before it.
const fn perpendicular(basis: &mut [f64], inputs: usize, count: usize, stream: &mut Stream) {
    let own = count * inputs;
    let mut attempt = 0;
    // A vector that nearly lies in the span of the others would lose its digits: draw again.
    while attempt < 64 {
        let mut channel = 0;
        while channel < inputs {
            set(basis, own + channel, normal_quantile(stream.uniform()));
            channel += 1;
        }
        // The second pass removes what rounding left after the first.
        let mut pass = 0;
        while pass < 2 {
            let mut other = 0;
            while other < count {
                let overlap = dot(basis, own, other * inputs, inputs);
                let mut channel = 0;
                while channel < inputs {
                    let less = overlap * get(basis, other * inputs + channel);
                    set(basis, own + channel, get(basis, own + channel) - less);
                    channel += 1;
                }
                other += 1;
            }
            pass += 1;
        }
        let length = sqrt(dot(basis, own, own, inputs));
        if length > 1e-6 {
            let mut channel = 0;
            while channel < inputs {
                set(basis, own + channel, get(basis, own + channel) / length);
                channel += 1;
            }
            return;
        }
        attempt += 1;
    }
}

/// The dot product of two vectors of a basis, given the indices at which they begin.
const fn dot(basis: &[f64], a: usize, b: usize, inputs: usize) -> f64 {
    let mut sum = 0.0;
    let mut channel = 0;
    while channel < inputs {
        sum += get(basis, a + channel) * get(basis, b + channel);
        channel += 1;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_orthogonal() {
        let frequencies: [[f32; 7]; 21] =
            super::super::draw(&Kernel::GAUSSIAN, super::super::Scheme::Orthogonal, 5);
        for block in frequencies.chunks_exact(7) {
            for (i, a) in block.iter().enumerate() {
                for b in &block[..i] {
                    let product: f32 = a.iter().zip(b).map(|(x, y)| x * y).sum();
                    assert!(product.abs() < 1e-7, "{product}");
                }
            }
        }
    }
}
