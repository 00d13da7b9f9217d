//! Quasi-random frequencies: a scrambled Halton sequence.

use super::super::kernel::{Kernel, Tail};
use crate::numeric::f64_of;

use super::radius::student_factor;
use super::stream::Stream;
use super::{Frequencies, coordinate, get, set};

/// Upper limit of the Halton bases: enough primes for 168 dimensions.
const LARGEST_BASE: usize = 1000;

/// Draws L points of a scrambled Halton sequence in D dimensions, and one more dimension for the
/// length if the kernel has heavy tails; maps each coordinate by the inverse distribution function.
/// `points` and `factors` have room for L numbers.
///
/// ω and −ω give complex conjugate features. The first coordinate therefore covers only the
/// positive half of its distribution, and the L points cover the half-space twice as densely.
pub(super) const fn draw(
    kernel: &Kernel,
    stream: &mut Stream,
    mut frequencies: Frequencies<'_>,
    points: &mut [f64],
    factors: &mut [f64],
) {
    let mut base = 2;
    let mut row = 0;
    while row < frequencies.count {
        set(factors, row, kernel.turns_per_radian());
        row += 1;
    }
    match kernel.tail() {
        Tail::Normal | Tail::CauchyPerAxis => {}
        Tail::Student(degrees) => {
            // The length matters most, so it gets the dimension that is covered most evenly.
            halton(base, stream, points);
            let mut row = 0;
            while row < frequencies.count {
                let factor = get(factors, row) * student_factor(degrees, get(points, row));
                set(factors, row, factor);
                row += 1;
            }
            base = next_prime(base);
        }
    }
    let mut channel = 0;
    while channel < frequencies.inputs {
        halton(base, stream, points);
        let mut row = 0;
        while row < frequencies.count {
            let point = get(points, row);
            let u = if channel == 0 { 0.5 + 0.5 * point } else { point };
            frequencies.set(row, channel, get(factors, row) * coordinate(kernel.tail(), u));
            row += 1;
        }
        base = next_prime(base);
        channel += 1;
    }
}

/// The first points of the van der Corput sequence in `base`, each digit scrambled by its own
/// random permutation, strictly inside (0, 1). Above the largest base the points are independent:
/// there a Halton sequence of practical length is no better.
const fn halton(base: usize, stream: &mut Stream, points: &mut [f64]) {
    let count = points.len();
    let mut row = 0;
    while row < count {
        points[row] = if base >= LARGEST_BASE { stream.uniform() } else { 0.0 };
        row += 1;
    }
    if base >= LARGEST_BASE {
        return;
    }
    let mut permutation = [0_u16; LARGEST_BASE];
    // Value of the current digit, and of all digits before it.
    let mut place = 1.0;
    let mut divisor = 1;
    while divisor < count {
        stream.permutation(&mut permutation, base);
        place /= f64_of(base);
        let mut row = 0;
        while row < count {
            // Neither divisor is ever 0; the checked forms are there because they cannot panic.
            if let Some(above) = row.checked_div(divisor)
                && let Some(digit) = above.checked_rem(base)
                && digit < LARGEST_BASE
            {
                points[row] += place * permutation[digit] as f64;
            }
            row += 1;
        }
        divisor = divisor.saturating_mul(base);
    }
    // All further digits are zero in every point and scrambled alike: together they add one random
    // number, the same for all points.
    let rest = place * stream.uniform();
    let mut row = 0;
    while row < count {
        let point = points[row] + rest;
        points[row] = if point > 1.0 - 1e-12 { 1.0 - 1e-12 } else { point };
        row += 1;
    }
}

/// The smallest prime above `number`.
const fn next_prime(number: usize) -> usize {
    let mut candidate = number + 1;
    loop {
        let mut divisor = 2;
        while divisor * divisor <= candidate && !candidate.is_multiple_of(divisor) {
            divisor += 1;
        }
        if divisor * divisor > candidate {
            return candidate;
        }
        candidate += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn primes_follow_each_other() {
        let mut prime = 2;
        for expected in [3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37] {
            prime = next_prime(prime);
            assert_eq!(prime, expected);
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "too slow when interpreted")]
    fn every_cell_of_every_base_holds_one_point() {
        for seed in 0..20 {
            let mut stream = Stream::new(seed);
            let (mut base_two, mut base_three) = ([0.0; 64], [0.0; 81]);
            halton(2, &mut stream, &mut base_two);
            halton(3, &mut stream, &mut base_three);
            let mut cells = [0; 64];
            for point in base_two {
                cells[(point * 64.0) as usize] += 1;
            }
            assert_eq!(cells, [1; 64]);
            let mut cells = [0; 81];
            for point in base_three {
                cells[(point * 81.0) as usize] += 1;
            }
            assert_eq!(cells, [1; 81]);
        }
    }

    #[test]
    fn points_stay_inside_the_unit_interval_for_any_base() {
        let mut stream = Stream::new(3);
        for base in [2, 3, 5, 311, 997, 1009, 5003] {
            let mut points = [0.0; 100];
            halton(base, &mut stream, &mut points);
            assert!(points.iter().all(|&p| p > 0.0 && p < 1.0), "{base}");
        }
    }
}
