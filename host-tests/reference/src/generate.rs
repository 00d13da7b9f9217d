//! Seeded random numbers.

use rand_core::{Rng, SeedableRng};
use rand_xorshift::XorShiftRng;

/// A stream of random numbers; the same seed gives the same stream.
#[derive(Debug, Clone)]
pub struct Generator {
    words: XorShiftRng,
    spare: Option<f64>,
}

impl Generator {
    /// The stream of a seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self { words: XorShiftRng::seed_from_u64(seed), spare: None }
    }

    /// The next 64 random bits.
    pub fn word(&mut self) -> u64 {
        self.words.next_u64()
    }

    /// Uniform in [0, 1), in steps of 2⁻³².
    pub fn uniform(&mut self) -> f64 {
        f64::from(self.words.next_u32()) / 4_294_967_296.0
    }

    /// A whole number below `bound`, or 0 for a bound of 0.
    ///
    /// # Panics
    /// Never: the remainder fits in a `usize`.
    pub fn below(&mut self, bound: usize) -> usize {
        let bound = u64::try_from(bound.max(1)).expect("a usize has at most 64 bits");
        usize::try_from(self.word() % bound).expect("less than a usize")
    }

    /// A number of N(0, 1), by the polar method.
    pub fn normal(&mut self) -> f64 {
        if let Some(spare) = self.spare.take() {
            return spare;
        }
        loop {
            let (x, y) = (2.0 * self.uniform() - 1.0, 2.0 * self.uniform() - 1.0);
            let squared = x * x + y * y;
            if squared > 0.0 && squared < 1.0 {
                let factor = (-2.0 * squared.ln() / squared).sqrt();
                self.spare = Some(y * factor);
                return x * factor;
            }
        }
    }

    /// A random permutation of `count` items.
    pub fn order(&mut self, count: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..count).collect();
        for last in (1..count).rev() {
            order.swap(last, self.below(last + 1));
        }
        order
    }

    /// A random permutation of `count` items in which blocks of `block` successive items stay together;
    /// the last block may be shorter. A block of 0 counts as one of 1.
    pub fn order_of_blocks(&mut self, count: usize, block: usize) -> Vec<usize> {
        let block = block.max(1);
        let blocks = self.order(count.div_ceil(block)).into_iter();
        blocks.flat_map(|at| at * block..count.min((at + 1) * block)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{real, tolerance};

    #[test]
    fn normals_have_the_moments_of_the_normal_distribution() {
        let mut generator = Generator::new(1);
        let numbers: Vec<f64> = (0..1_000_000).map(|_| generator.normal()).collect();
        for (power, moment) in [(1, 0.0), (2, 1.0), (3, 0.0), (4, 3.0)] {
            let mean = numbers.iter().map(|x| x.powi(power)).sum::<f64>() / real(numbers.len());
            tolerance::NORMAL_MOMENTS.hold(&format!("moment {power}"), mean, moment);
        }
    }

    #[test]
    fn orders_are_permutations() {
        let mut order = Generator::new(2).order(100);
        assert!(!order.is_sorted());
        order.sort_unstable();
        assert!(order.into_iter().eq(0..100));
        let mut order = Generator::new(2).order_of_blocks(103, 10);
        let torn = order.windows(2).filter(|pair| pair[0] + 1 != pair[1]).count();
        assert!((1..=10).contains(&torn), "{order:?}");
        order.sort_unstable();
        assert!(order.into_iter().eq(0..103));
        let [one, none] = [1, 0].map(|block| Generator::new(3).order_of_blocks(50, block));
        assert_eq!((&one, &none), (&Generator::new(3).order(50), &one));
    }
}
