//! Orthogonal frequencies: blocks of D random perpendicular directions.

use crate::kernel::Kernel;
use crate::numeric::{normal_quantile, rounded, sqrt};

use super::radius::stratified_radii;
use super::stream::Stream;

/// L frequencies in blocks of D perpendicular random directions, the last block cut where L is
/// not a multiple of D, with stratified lengths.
pub(super) const fn draw<const D: usize, const L: usize>(
    kernel: &Kernel,
    stream: &mut Stream,
) -> [[f32; D]; L] {
    let radii: [f64; L] = stratified_radii(kernel.tail(), D, stream);
    let mut frequencies = [[0.0; D]; L];
    let mut basis = [[0.0; D]; D];
    let mut row = 0;
    while row < L {
        let index = row % D;
        if index == 0 {
            basis = [[0.0; D]; D];
        }
        basis[index] = perpendicular(&basis, index, stream);
        let mut channel = 0;
        while channel < D {
            frequencies[row][channel] =
                rounded(kernel.turns_per_radian() * radii[row] * basis[index][channel]);
            channel += 1;
        }
        row += 1;
    }
    frequencies
}

/// A random unit vector perpendicular to the first `count` vectors of an orthonormal basis.
const fn perpendicular<const D: usize>(
    basis: &[[f64; D]; D],
    count: usize,
    stream: &mut Stream,
) -> [f64; D] {
    let mut vector = [0.0; D];
    let mut attempt = 0;
    // A draw that nearly lies in the span of the others would lose its digits: draw again.
    while attempt < 64 {
        let mut channel = 0;
        while channel < D {
            vector[channel] = normal_quantile(stream.uniform());
            channel += 1;
        }
        // Twice is enough: what rounding leaves of the first pass, the second takes off.
        let mut pass = 0;
        while pass < 2 {
            let mut other = 0;
            while other < count && other < D {
                let overlap = dot(&vector, &basis[other]);
                let mut channel = 0;
                while channel < D {
                    vector[channel] -= overlap * basis[other][channel];
                    channel += 1;
                }
                other += 1;
            }
            pass += 1;
        }
        let length = sqrt(dot(&vector, &vector));
        if length > 1e-6 {
            let mut channel = 0;
            while channel < D {
                vector[channel] /= length;
                channel += 1;
            }
            return vector;
        }
        attempt += 1;
    }
    vector
}

const fn dot<const D: usize>(a: &[f64; D], b: &[f64; D]) -> f64 {
    let mut sum = 0.0;
    let mut channel = 0;
    while channel < D {
        sum += a[channel] * b[channel];
        channel += 1;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_orthogonal() {
        let frequencies: [[f32; 7]; 21] = draw(&Kernel::GAUSSIAN, &mut Stream::new(5));
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
