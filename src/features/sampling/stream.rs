//! A random number generator that also runs at compile time.

use crate::numeric::u16_of;

/// Marsaglia's xorshift with 128 bits of state.
///
/// It gives the same words as the `rand_xorshift` crate (a test compares them). That crate is not
/// `const`, so it cannot fill a map in flash.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stream {
    words: [u32; 4],
}

impl Stream {
    /// The stream of a seed. `SplitMix64` spreads the seed over the state, so that seeds that
    /// differ in one bit give unrelated streams.
    #[expect(clippy::cast_possible_truncation, reason = "words are halves of the outputs")]
    pub(crate) const fn new(seed: u64) -> Self {
        let (low, high) = (split_mix(seed, 1), split_mix(seed, 2));
        let words = [low as u32, (low >> 32) as u32, high as u32, (high >> 32) as u32];
        // Xorshift cannot leave the all-zero state.
        if low == 0 && high == 0 { Self { words: [1, 2, 3, 4] } } else { Self { words } }
    }

    /// The next word.
    pub(crate) const fn word(&mut self) -> u32 {
        let [x, y, z, w] = self.words;
        let t = x ^ (x << 11);
        let next = w ^ (w >> 19) ^ (t ^ (t >> 8));
        self.words = [y, z, w, next];
        next
    }

    /// A number strictly between 0 and 1, in steps of 2⁻³².
    pub(crate) const fn uniform(&mut self) -> f64 {
        (self.word() as f64 + 0.5) / 4_294_967_296.0
    }

    /// A whole number below `bound`; the bias, `bound`/2³², does not matter here.
    pub(crate) const fn below(&mut self, bound: usize) -> usize {
        ((self.word() as u64 * bound as u64) >> 32) as usize
    }

    /// Writes the numbers from 0 to `length` − 1 to the first entries, in random order (Fisher and
    /// Yates).
    pub(crate) const fn permutation(&mut self, entries: &mut [u16], length: usize) {
        let length = if length < entries.len() { length } else { entries.len() };
        let mut place = 0;
        while place < length {
            entries[place] = u16_of(place);
            place += 1;
        }
        let mut remaining = length;
        while remaining > 1 {
            let chosen = self.below(remaining);
            remaining -= 1;
            if chosen < entries.len() && remaining < entries.len() {
                let kept = entries[remaining];
                entries[remaining] = entries[chosen];
                entries[chosen] = kept;
            }
        }
    }
}

/// The `index`-th output of `SplitMix64` started at `seed`.
const fn split_mix(seed: u64, index: u64) -> u64 {
    let state = seed.wrapping_add(index.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_core::{Rng, SeedableRng};
    use rand_xorshift::XorShiftRng;

    #[test]
    fn is_the_generator_of_rand_xorshift() {
        for seed in [0, 1, 42, u64::MAX] {
            let mut ours = Stream::new(seed);
            let mut bytes = [0; 16];
            for (chunk, word) in bytes.chunks_exact_mut(4).zip(ours.words) {
                chunk.copy_from_slice(&word.to_le_bytes());
            }
            let mut theirs = XorShiftRng::from_seed(bytes);
            for _ in 0..1000 {
                assert_eq!(ours.word(), theirs.next_u32());
            }
        }
    }

    #[test]
    fn permutations_have_every_number_once_and_differ_by_seed() {
        let drawn = |seed| {
            let mut entries = [0; 64];
            Stream::new(seed).permutation(&mut entries, 64);
            entries
        };
        let (one, two) = (drawn(1), drawn(2));
        assert_ne!(one, two);
        for mut entries in [one, two] {
            entries.sort_unstable();
            assert!(entries.iter().enumerate().all(|(i, &e)| i == e as usize));
        }
    }
}
