//! Frequencies of an additive kernel: of single inputs, of pairs, and of all.

use super::super::kernel::Kernel;

use super::stream::Stream;
use super::{Frequencies, coordinate};
use crate::features::kernel::Tail;
use crate::numeric::{f64_of, sqrt};

/// Of every four frequencies, one is of a single input, two are of a pair of inputs and one is of
/// all inputs; inputs and pairs take turns. A change of one channel, or of the dependence of two,
/// then moves a good part of the points. In a frequency of many inputs, the noise of the others
/// would hide it. The inputs must be standardised.
pub(super) const fn draw(kernel: &Kernel, stream: &mut Stream, mut frequencies: Frequencies<'_>) {
    let inputs = frequencies.inputs;
    let unit = kernel.turns_per_radian();
    let mut row = 0;
    while row < frequencies.count {
        let turn = row / 4;
        if inputs == 1 {
            let part = (f64_of(row) + 0.5) / f64_of(frequencies.count);
            frequencies.set(row, 0, unit * (0.25 + 3.5 * part));
        } else if row % 4 == 0 {
            let (round, input) = divided(turn, inputs);
            frequencies.set(row, input, unit * f64_of(1 + round % 3));
        } else if row % 4 == 3 {
            // Half the median distance of two rows of independent channels.
            let median = sqrt(2.0 * f64_of(inputs) - 1.3);
            let mut channel = 0;
            while channel < inputs {
                let normal = coordinate(Tail::Normal, stream.uniform());
                frequencies.set(row, channel, unit * 2.0 * normal / median);
                channel += 1;
            }
        } else {
            let place = 2 * turn + row % 4 - 1;
            let pairs = inputs * (inputs - 1) / 2;
            let (round, index) = divided(place, pairs);
            let (first, second) = if 2 * pairs <= frequencies.count {
                pair(inputs, index)
            } else {
                let first = stream.below(inputs);
                let (_, second) = divided(first + 1 + stream.below(inputs - 1), inputs);
                (first, second)
            };
            let sign = if round % 2 == 0 { 1.0 } else { -1.0 };
            frequencies.set(row, first, unit * (0.7 + 0.6 * stream.uniform()));
            frequencies.set(row, second, unit * sign * (0.7 + 0.6 * stream.uniform()));
        }
        row += 1;
    }
}

/// Quotient and remainder; 0 and 0 for a divisor of 0. That never occurs, but this form cannot panic.
const fn divided(number: usize, divisor: usize) -> (usize, usize) {
    match (number.checked_div(divisor), number.checked_rem(divisor)) {
        (Some(quotient), Some(remainder)) => (quotient, remainder),
        _ => (0, 0),
    }
}

/// Pair `index` of (0, 1), (0, 2), …, (1, 2), ….
const fn pair(inputs: usize, index: usize) -> (usize, usize) {
    let (mut first, mut left) = (0, index);
    while first + 1 + left >= inputs && first + 2 < inputs {
        left -= inputs - 1 - first;
        first += 1;
    }
    (first, first + 1 + left)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pair_has_its_turn() {
        let all: [(usize, usize); 6] = core::array::from_fn(|index| pair(4, index));
        assert_eq!(all, [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]);
    }
}
