//! The Walsh–Hadamard transform, in place.

use core::ops::{Add, Sub};

/// Numbers that can be transformed: `f32`, or integers that wrap.
pub trait Summand: Copy + Add<Output = Self> + Sub<Output = Self> {}

impl<T: Copy + Add<Output = T> + Sub<Output = T>> Summand for T {}

/// Multiplies `values` by the N × N Hadamard matrix H (entries ±1, no normalisation; natural
/// order: H(i, j) = (−1)^popcount(i & j)), in place, in N log₂ N additions.
///
/// Applied twice it multiplies by N. N must be a power of two, which is checked at compile time:
///
/// ```compile_fail
/// fastmmd::features::hadamard::transform(&mut [0.0; 12]);
/// ```
///
/// ```
/// let mut values = [3.0, 8.0, 2.0, 7.0];
/// fastmmd::features::hadamard::transform(&mut values);
/// assert_eq!(values, [20.0, -10.0, 2.0, 0.0]);
/// ```
#[inline]
pub fn transform<T: Summand, const N: usize>(values: &mut [T; N]) {
    const { assert!(N.is_power_of_two(), "the transform needs a power of two") };
    transform_all(values);
}

/// Transforms an array or a slice; its length must be a power of two.
#[inline]
pub(crate) fn transform_all<T: Summand>(values: &mut (impl AsMut<[T]> + ?Sized)) {
    if values.as_mut().len() >= 4 {
        for chunk in values.as_mut().as_chunks_mut().0 {
            *chunk = four(*chunk);
        }
        transform_from(values, 4);
    } else {
        transform_from(values, 1);
    }
}

/// Completes the transform of values whose groups of `half` neighbours are already transformed.
///
/// It takes two steps at once, which halves loads and stores; the result is the same bit for bit.
/// It is generic over arrays and slices so that the length of an array is a constant here.
#[inline]
pub(crate) fn transform_from<T: Summand>(values: &mut (impl AsMut<[T]> + ?Sized), mut half: usize) {
    let values = values.as_mut();
    while half * 4 <= values.len() {
        two_steps(values, half);
        half *= 4;
    }
    if half < values.len() {
        step(values, half);
    }
}

/// Transforms four values.
#[inline(always)]
pub(crate) fn four<T: Summand>([a, b, c, d]: [T; 4]) -> [T; 4] {
    let (a, b, c, d) = (a + b, a - b, c + d, c - d);
    [a + c, b + d, a - c, b - d]
}

/// Transforms sixteen values: the same additions, without a load or a store between them.
#[inline(always)]
pub(crate) fn sixteen<T: Summand>([w, x, y, z]: [[T; 4]; 4]) -> [[T; 4]; 4] {
    let ([a, b, c, d], [e, f, g, h]) = (four(w), four(x));
    let ([i, j, k, l], [m, n, o, p]) = (four(y), four(z));
    let ([a, e, i, m], [b, f, j, n]) = (four([a, e, i, m]), four([b, f, j, n]));
    let ([c, g, k, o], [d, h, l, p]) = (four([c, g, k, o]), four([d, h, l, p]));
    [[a, b, c, d], [e, f, g, h], [i, j, k, l], [m, n, o, p]]
}

/// One step of the transform: replaces values a and b that are `half` apart by a + b and a − b.
#[inline]
fn step<T: Summand>(values: &mut [T], half: usize) {
    let mut rest = values;
    // The checked splits end the loop when nothing is left, and cannot panic.
    while let Some((low, above)) = rest.split_at_mut_checked(half)
        && let Some((high, next)) = above.split_at_mut_checked(half)
    {
        for (a, b) in low.iter_mut().zip(high) {
            (*a, *b) = (*a + *b, *a - *b);
        }
        rest = next;
    }
}

/// Two steps of the transform at once: of values `quarter` apart, then twice that.
#[inline]
fn two_steps<T: Summand>(values: &mut [T], quarter: usize) {
    let mut rest = values;
    while let Some((first, above)) = rest.split_at_mut_checked(quarter)
        && let Some((second, above)) = above.split_at_mut_checked(quarter)
        && let Some((third, above)) = above.split_at_mut_checked(quarter)
        && let Some((fourth, next)) = above.split_at_mut_checked(quarter)
    {
        for (((a, b), c), d) in first.iter_mut().zip(second).zip(third).zip(fourth) {
            [*a, *b, *c, *d] = four([*a, *b, *c, *d]);
        }
        rest = next;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn against_the_matrix<const N: usize>() {
        let input: [f32; N] = core::array::from_fn(|i| ((i * 37 + 11) % 64) as f32 - 32.0);
        let mut fast = input;
        transform(&mut fast);
        for (row, value) in fast.iter().enumerate() {
            let slow: f32 = input
                .iter()
                .enumerate()
                .map(|(column, x)| if (row & column).count_ones() % 2 == 0 { *x } else { -x })
                .sum();
            assert_eq!(*value, slow, "{N} {row}");
        }
        transform(&mut fast);
        assert!(fast.iter().zip(input).all(|(twice, once)| *twice == N as f32 * once));
    }

    /// Some builds do sixteen values at once.
    #[test]
    fn sixteen_at_once_are_the_same_bits() {
        let input: [f32; 16] = core::array::from_fn(|i| 1.0 / (i as f32 + 0.3));
        let mut expected = input;
        transform(&mut expected);
        let fours = core::array::from_fn(|row| core::array::from_fn(|i| input[4 * row + i]));
        let found = sixteen(fours);
        assert!(found.as_flattened().iter().zip(expected).all(|(a, b)| a.to_bits() == b.to_bits()));
    }

    #[test]
    fn is_the_hadamard_matrix_and_its_own_inverse_but_for_n() {
        against_the_matrix::<1>();
        against_the_matrix::<2>();
        against_the_matrix::<4>();
        against_the_matrix::<8>();
        against_the_matrix::<16>();
        if !cfg!(miri) {
            against_the_matrix::<32>();
            against_the_matrix::<64>();
            against_the_matrix::<128>();
            against_the_matrix::<256>();
        }
    }
}
