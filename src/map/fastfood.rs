//! The structured map: Fastfood.

use crate::error::Error;
use crate::hadamard;
use crate::kernel::Kernel;
use crate::numeric::{f64_of, normal_quantile, rounded, sqrt, u16_of, u32_of};
use crate::sampling::{Sampling, Stream, stratified_radii};

use super::{FeatureMap, MapKind, Recipe, check_sample, reach_of};

/// Frequencies as products S·H·G·Π·H·B of diagonal matrices, a permutation and Walsh–Hadamard
/// transforms: 8·L + 2·P + 4·D bytes and about L·(log₂ P + 2) operations a sample, whatever D.
///
/// The L phases come in blocks of P, a power of two and at least D; the sample is padded with
/// zeros. Each block has its own normal diagonal G, and lengths S, which carry the kernel's radial
/// law. The signs B and the permutation Π are the same for all blocks, so that Π·H·B·x is computed
/// once a sample; this costs no accuracy, for whatever they are, G alone makes every frequency
/// follow the kernel's law, and blocks stay uncorrelated.
///
/// Cheaper than [`Fourier`](super::Fourier) from about 8 channels, but coarser: for a change of a
/// single channel it is as accurate as orthogonal frequencies, for one that all channels share no
/// better than independent ones, at 16 channels a tenth as accurate as orthogonal ones. A block of
/// 16 or more is best even for fewer channels: many rows of shorter blocks are mirror images of
/// each other.
///
/// ```
/// use fastmmd::{Fastfood, FeatureMap, Kernel};
///
/// let map = Fastfood::<12, 16, 128>::new(Kernel::GAUSSIAN, 1)?;
/// assert_eq!(map.recipe().block, 16);
/// # Ok::<(), fastmmd::Error>(())
/// ```
///
/// The shape is checked when compiled: P a power of two from 4 to 32 768 and at least D, L a
/// multiple of P and at most 65 536.
///
/// ```compile_fail
/// # use fastmmd::{Fastfood, Kernel};
/// let map = Fastfood::<5, 4, 64>::new(Kernel::GAUSSIAN, 1);
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Fastfood<const D: usize, const P: usize, const L: usize> {
    recipe: Recipe,
    fingerprint: u32,
    reach: f32,
    /// B: 1 or −1 for each channel.
    pub(crate) signs: [f32; D],
    /// Π: where each input of the second transform comes from.
    pub(crate) sources: [u16; P],
    /// G, the normal diagonal.
    pub(crate) gains: [f32; L],
    /// S, and all constant factors: in turns.
    pub(crate) scales: [f32; L],
}

impl<const D: usize, const P: usize, const L: usize> Fastfood<D, P, L> {
    const SHAPE: () = {
        assert!(D >= 1, "a sample has at least one channel");
        assert!(P.is_power_of_two() && P >= 4 && P <= 32_768, "the block is a power of two from 4");
        assert!(P >= D, "the block is at least as long as the sample");
        assert!(L >= P && L.is_multiple_of(P) && L <= 65_536, "whole blocks, at most 65536");
    };

    /// Draws the blocks of `kernel`.
    ///
    /// # Errors
    /// [`Error::NotSpherical`] for the product Laplacian, which has no Fastfood form.
    pub const fn new(kernel: Kernel, seed: u64) -> Result<Self, Error> {
        let () = Self::SHAPE;
        if !kernel.is_spherical() {
            return Err(Error::NotSpherical);
        }
        let mut stream = Stream::new(seed);
        let radii: [f64; L] = stratified_radii(kernel.tail(), P, &mut stream);
        let mut map = Self {
            recipe: Recipe {
                kind: MapKind::Fastfood,
                kernel,
                sampling: Sampling::Independent,
                seed,
                dims: u32_of(D),
                block: u32_of(P),
                features: u32_of(L),
            },
            fingerprint: 0,
            reach: 0.0,
            signs: [1.0; D],
            sources: [0; P],
            gains: [0.0; L],
            scales: [0.0; L],
        };
        map.fingerprint = map.recipe.fingerprint();
        let mut place = 0;
        while place < P {
            map.sources[place] = u16_of(place);
            place += 1;
        }
        stream.shuffle(&mut map.sources, P);
        let mut channel = 0;
        while channel < D {
            if stream.word() >> 31 == 1 {
                map.signs[channel] = -1.0;
            }
            channel += 1;
        }
        let mut longest = 0.0;
        let mut start = 0;
        while start < L {
            let mut gains_squared = 0.0;
            let mut place = 0;
            while place < P && start + place < L {
                let gain = rounded(normal_quantile(stream.uniform()));
                gains_squared += gain as f64 * gain as f64;
                map.gains[start + place] = gain;
                place += 1;
            }
            // Every row of H·G·Π·H·B has length √P·‖G‖.
            let row_length = sqrt(f64_of(P) * gains_squared);
            let mut place = 0;
            while place < P && start + place < L {
                let length = radii[start + place] * kernel.turns_per_radian();
                map.scales[start + place] = rounded(length / row_length);
                if length > longest {
                    longest = length;
                }
                place += 1;
            }
            start += P;
        }
        map.reach = reach_of(longest);
        Ok(map)
    }

    /// Makes the map again that a saved state speaks of.
    ///
    /// # Errors
    /// [`Error::WrongShape`] if the recipe is of another kind or shape.
    pub const fn from_recipe(recipe: &Recipe) -> Result<Self, Error> {
        if recipe.has_shape(MapKind::Fastfood, D, P, L)
            && matches!(recipe.sampling, Sampling::Independent)
        {
            Self::new(recipe.kernel, recipe.seed)
        } else {
            Err(Error::WrongShape)
        }
    }

    /// Π·H·B·x: what all blocks start from.
    ///
    /// Not inlined, nor is [`block`]: what a visitor keeps in registers would have to leave them
    /// for the transforms.
    #[inline(never)]
    fn mix(&self, sample: &[f32; D], mixed: &mut [f32; P]) {
        let mut values = [0.0; P];
        for ((value, x), sign) in values.iter_mut().zip(sample).zip(&self.signs) {
            *value = sign * x;
        }
        hadamard::transform(&mut values);
        for (mixed, source) in mixed.iter_mut().zip(&self.sources) {
            // Masked, the index is below P: no bounds check is left.
            *mixed = values[usize::from(*source) & (P - 1)];
        }
    }
}

/// The phases of one block but for S: H·G times `mixed`.
#[inline(never)]
fn block<const P: usize>(gains: &[f32; P], mixed: &[f32; P], phases: &mut [f32; P]) {
    // Four at a time, as the transform starts with: it saves a load and a store for each.
    let fours = gains.as_chunks().0.iter().zip(mixed.as_chunks().0);
    for (phases, (gains, mixed)) in phases.as_chunks_mut().0.iter_mut().zip(fours) {
        let [a, b, c, d]: &[f32; 4] = gains;
        let [e, f, g, h]: &[f32; 4] = mixed;
        *phases = hadamard::four([a * e, b * f, c * g, d * h]);
    }
    hadamard::transform_from(phases, 4);
}

/// Visits the items of a block with their phases, now times S.
///
/// Eight at a time: optimised for speed, the inner loop is unrolled, and for size it is not.
#[inline]
fn visit_each<T>(
    items: &mut [T],
    phases: &[f32],
    scales: &[f32],
    visit: &mut impl FnMut(&mut T, f32),
) {
    const AT_ONCE: usize = 8;
    let (items, last_items) = items.as_chunks_mut::<AT_ONCE>();
    let (phases, last_phases) = phases.as_chunks::<AT_ONCE>();
    let (scales, last_scales) = scales.as_chunks::<AT_ONCE>();
    for (items, (phases, scales)) in items.iter_mut().zip(phases.iter().zip(scales)) {
        for (item, (phase, scale)) in items.iter_mut().zip(phases.iter().zip(scales)) {
            visit(item, phase * scale);
        }
    }
    for (item, (phase, scale)) in last_items.iter_mut().zip(last_phases.iter().zip(last_scales)) {
        visit(item, phase * scale);
    }
}

impl<const D: usize, const P: usize, const L: usize> FeatureMap<D, L> for Fastfood<D, P, L> {
    fn recipe(&self) -> &Recipe {
        &self.recipe
    }

    fn fingerprint(&self) -> u32 {
        self.fingerprint
    }

    fn reach(&self) -> f32 {
        self.reach
    }

    #[inline]
    fn project<T>(
        &self,
        sample: &[f32; D],
        items: &mut [T; L],
        mut visit: impl FnMut(&mut T, f32),
    ) -> Result<(), Error> {
        check_sample(sample, self.reach)?;
        let (mut mixed, mut phases) = ([0.0; P], [0.0; P]);
        self.mix(sample, &mut mixed);
        let diagonals = self.gains.as_chunks::<P>().0.iter().zip(self.scales.as_chunks::<P>().0);
        for ((gains, scales), items) in diagonals.zip(items.as_chunks_mut::<P>().0) {
            block(gains, &mixed, &mut phases);
            visit_each(items, &phases, scales, &mut visit);
        }
        Ok(())
    }

    /// Costs a projection per channel: meant for inspection, not for use on every sample.
    fn frequency(&self, index: usize) -> Option<[f32; D]> {
        if index >= L {
            return None;
        }
        let mut frequency = [0.0; D];
        for (channel, coordinate) in frequency.iter_mut().enumerate() {
            // Within reach for any kernel: the unit vector scaled, if it must be.
            let unit = if self.reach < 1.0 { 0.5 * self.reach } else { 1.0 };
            let axis = core::array::from_fn(|other| if other == channel { unit } else { 0.0 });
            let mut position = 0;
            let mut items = [(); L];
            let found = self.project(&axis, &mut items, |(), phase| {
                if position == index {
                    *coordinate = phase / unit;
                }
                position += 1;
            });
            if found.is_err() {
                return None;
            }
        }
        Some(frequency)
    }

    /// B·H·Π'·Σ G·H·S·w over the blocks: as cheap as a projection.
    fn weighted_frequencies(&self, weights: &[f32; L]) -> [f32; D] {
        let mut gathered = [0.0; P];
        let blocks = self.gains.as_chunks::<P>().0.iter().zip(self.scales.as_chunks::<P>().0);
        for ((gains, scales), weights) in blocks.zip(weights.as_chunks::<P>().0) {
            let mut values = *weights;
            for (value, scale) in values.iter_mut().zip(scales) {
                *value *= scale;
            }
            hadamard::transform(&mut values);
            for ((sum, value), gain) in gathered.iter_mut().zip(values).zip(gains) {
                *sum += gain * value;
            }
        }
        let mut values = [0.0; P];
        for (source, value) in self.sources.iter().zip(gathered) {
            values[usize::from(*source) & (P - 1)] = value;
        }
        hadamard::transform(&mut values);
        let mut sums = self.signs;
        for (sum, value) in sums.iter_mut().zip(values) {
            *sum *= value;
        }
        sums
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One row of S·H·G·Π·H·B in `f64`, from the matrices' definitions.
    fn row<const D: usize, const P: usize, const L: usize>(
        map: &Fastfood<D, P, L>,
        index: usize,
    ) -> [f64; D] {
        let hadamard = |i: usize, j: usize| {
            if (i & j).count_ones().is_multiple_of(2) { 1.0 } else { -1.0 }
        };
        let start = index / P * P;
        core::array::from_fn(|channel| {
            let sum: f64 = (0..P)
                .map(|place| {
                    let source = usize::from(map.sources[place]);
                    hadamard(index - start, place)
                        * f64::from(map.gains[start + place])
                        * hadamard(source, channel)
                })
                .sum();
            f64::from(map.scales[index]) * sum * f64::from(map.signs[channel])
        })
    }

    #[test]
    fn is_the_product_of_its_matrices() {
        let map = Fastfood::<5, 8, 32>::new(Kernel::GAUSSIAN, 9).unwrap();
        for index in 0..32 {
            let frequency = map.frequency(index).unwrap();
            for (ours, judge) in frequency.iter().zip(row(&map, index)) {
                assert!((f64::from(*ours) - judge).abs() < 1e-6, "{index}");
            }
        }
        assert_eq!(map.frequency(32), None);
    }

    #[test]
    fn weighted_frequencies_are_the_transpose() {
        let map = Fastfood::<5, 8, 32>::new(Kernel::GAUSSIAN, 9).unwrap();
        let weights: [f32; 32] = core::array::from_fn(|k| (k * 7 % 11) as f32 - 5.0);
        let sums = map.weighted_frequencies(&weights);
        for (channel, sum) in sums.iter().enumerate() {
            let judge: f64 = (0..32).map(|k| f64::from(weights[k]) * row(&map, k)[channel]).sum();
            assert!((f64::from(*sum) - judge).abs() < 2e-5, "{channel} {sum} {judge}");
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "too slow when interpreted")]
    fn rows_have_the_lengths_of_the_radial_law() {
        // Of a full block, D = P, the length of a row is the radius drawn for it.
        let map = Fastfood::<16, 16, 4096>::new(Kernel::GAUSSIAN, 2).unwrap();
        let mean_squared =
            (0..4096).map(|index| row(&map, index).iter().map(|w| w * w).sum::<f64>()).sum::<f64>()
                / 4096.0;
        let expected = 16.0 / core::f64::consts::TAU.powi(2);
        assert!((mean_squared / expected - 1.0).abs() < 1e-3, "{mean_squared} {expected}");
    }
}
