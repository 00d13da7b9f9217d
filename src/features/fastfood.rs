//! The structured map of random Fourier features: Fastfood (Le, Sarlós and Smola 2013).

use core::marker::PhantomData;

use super::dense::{LANES, TILE};
use super::hadamard;
use super::kernel::Kernel;
use super::sampling::{Sampling, Strata, Stream, stratified_radii};
use super::sincos::{Polynomial, SinCos};
use super::{FeatureMap, MapKind, Recipe, check_sample, one_at_a_time, reach_of};
use crate::error::Error;
use crate::numeric::{f64_of, normal_quantile, rounded, sqrt, u32_of};
use crate::shape::Fixed;

/// Random Fourier features whose frequencies are products S·H·G·Π·H·B of diagonal matrices, a
/// permutation and Walsh–Hadamard transforms: 8·L + 2·P + 4·D bytes and, for any D, about
/// L·(log₂ P + 2) operations per sample.
///
/// The L phases are computed in blocks of P, a power of two that is at least D; the sample is
/// padded with zeros. Each block has its own diagonal G of normal numbers, and its own diagonal S
/// of lengths, which follow the kernel's radial distribution. All blocks share the signs B and the
/// permutation Π, so that Π·H·B·x is computed once per sample. Sharing costs no accuracy: for any
/// B and Π, G alone gives every frequency its distribution and keeps blocks uncorrelated.
///
/// It is cheaper than [`Fourier`](super::Fourier) from about 8 channels, but coarser. For a change
/// of a single channel it is as accurate as orthogonal frequencies. For a change that all channels
/// share it is no better than independent ones: at 16 channels, a tenth as accurate as orthogonal
/// ones. Use a block of 16 or more even for fewer channels: in shorter blocks many rows are mirror
/// images of each other.
///
/// ```
/// use fastmmd::{Fastfood, FeatureMap, Kernel};
///
/// let map = Fastfood::<12, 16, 128>::new(Kernel::GAUSSIAN, 1)?;
/// assert_eq!(map.recipe().block, 16);
/// # Ok::<(), fastmmd::Error>(())
/// ```
///
/// The shape is checked at compile time: P a power of two from 4 to 32 768 and at least D, L a
/// multiple of P and at most 65 536. A part of a block would save no more than its scales; where
/// samples are longer than L, on a host, `dynamic::Map::fastfood` takes any number of frequencies.
///
/// ```compile_fail
/// # use fastmmd::{Fastfood, Kernel};
/// let map = Fastfood::<5, 4, 64>::new(Kernel::GAUSSIAN, 1);
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Fastfood<const D: usize, const P: usize, const L: usize, B = Polynomial> {
    pub(crate) recipe: Recipe,
    fingerprint: u32,
    reach: f32,
    /// B: 1 or −1 for each channel.
    pub(crate) signs: [f32; D],
    /// Π: where each input of the second transform comes from.
    pub(crate) sources: [u16; P],
    /// G, the diagonal of normal numbers.
    pub(crate) gains: [f32; L],
    /// S with all constant factors, in turns.
    pub(crate) scales: [f32; L],
    backend: PhantomData<B>,
}

/// The parts of a map that are drawn at random.
pub(crate) struct Diagonals<'d> {
    pub(crate) signs: &'d mut [f32],
    pub(crate) sources: &'d mut [u16],
    pub(crate) gains: &'d mut [f32],
    pub(crate) scales: &'d mut [f32],
}

impl Diagonals<'_> {
    /// Draws them, and returns the length of the longest frequency in turns per unit.
    pub(crate) const fn draw(self, kernel: &Kernel, seed: u64, strata: Strata<'_>) -> f64 {
        let Self { signs, sources, gains, scales } = self;
        let (block, count) = (sources.len(), gains.len());
        let mut stream = Stream::new(seed);
        let radii = stratified_radii(kernel.tail(), block, &mut stream, strata);
        stream.permutation(sources, block);
        let mut channel = 0;
        while channel < signs.len() {
            signs[channel] = if stream.word() >> 31 == 1 { -1.0 } else { 1.0 };
            channel += 1;
        }
        let mut longest = 0.0;
        let mut start = 0;
        while start < count {
            let end = if start + block < count { start + block } else { count };
            let mut gains_squared = 0.0;
            let mut index = start;
            while index < end {
                let gain = rounded(normal_quantile(stream.uniform()));
                gains_squared += gain as f64 * gain as f64;
                if index < gains.len() {
                    gains[index] = gain;
                }
                index += 1;
            }
            // Every row of H·G·Π·H·B has length √P·‖G‖.
            let row_length = sqrt(f64_of(block) * gains_squared);
            let mut index = start;
            while index < end {
                if index < radii.len() && index < scales.len() {
                    let length = radii[index] * kernel.turns_per_radian();
                    scales[index] = rounded(length / row_length);
                    if length > longest {
                        longest = length;
                    }
                }
                index += 1;
            }
            start = end;
        }
        longest
    }
}

impl<const D: usize, const P: usize, const L: usize> Fastfood<D, P, L> {
    /// Blocks of the Gaussian kernel of bandwidth 1.
    #[must_use]
    pub const fn gaussian(seed: u64) -> Self {
        Self::check_shape();
        Self::drawn(Kernel::GAUSSIAN, seed)
    }

    /// Draws the blocks of `kernel`.
    ///
    /// # Errors
    /// [`Error::NotSpherical`] for the product Laplacian, which has no Fastfood form.
    pub const fn new(kernel: Kernel, seed: u64) -> Result<Self, Error> {
        Self::check_shape();
        if kernel.is_spherical() { Ok(Self::drawn(kernel, seed)) } else { Err(Error::NotSpherical) }
    }

    const fn drawn(kernel: Kernel, seed: u64) -> Self {
        let () = Self::SHAPE;
        let recipe = Recipe {
            kind: MapKind::Fastfood,
            kernel,
            sampling: Sampling::Independent,
            seed,
            inputs: u32_of(D),
            block: u32_of(P),
            frequencies: u32_of(L),
        };
        let mut map = Self {
            fingerprint: recipe.fingerprint(),
            recipe,
            reach: 0.0,
            signs: [1.0; D],
            sources: [0; P],
            gains: [0.0; L],
            scales: [0.0; L],
            backend: PhantomData,
        };
        let diagonals = Diagonals {
            signs: &mut map.signs,
            sources: &mut map.sources,
            gains: &mut map.gains,
            scales: &mut map.scales,
        };
        let strata = Strata { radii: &mut [0.0; L], order: &mut [0; L] };
        map.reach = reach_of(diagonals.draw(&kernel, seed, strata));
        map
    }

    /// Draws the map of a recipe again, as for a saved state.
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
}

impl<const D: usize, const P: usize, const L: usize, B> Fastfood<D, P, L, B> {
    /// What an embedding stores about this map: its fingerprint and K(0).
    pub(crate) const fn identity(&self) -> (u32, f32) {
        (self.fingerprint, self.recipe.kernel.amplitude())
    }

    const SHAPE: () = Self::check_shape();

    /// Checks the shape, called and as a constant: see [`Fourier`](super::Fourier).
    const fn check_shape() {
        assert!(D >= 1, "a map must have at least 1 input: D is 0");
        assert!(
            P.is_power_of_two() && P >= least_block!() && P <= most_block!(),
            concat!(
                "the block P must be a power of two from ",
                least_block!(),
                " to ",
                most_block!()
            )
        );
        assert!(P >= D, "the block P must be at least as long as a sample, D");
        assert!(
            L >= P && L.is_multiple_of(P) && L <= most_frequencies!(),
            concat!(
                "the frequencies L must be whole blocks of P, and at most ",
                most_frequencies!()
            )
        );
    }

    /// The same frequencies, with another backend for sine and cosine.
    #[must_use]
    pub const fn with_backend<C>(self) -> Fastfood<D, P, L, C> {
        let Self {
            recipe,
            fingerprint,
            reach,
            signs,
            sources,
            gains,
            scales,
            backend: PhantomData,
        } = self;
        let backend = PhantomData;
        Fastfood { recipe, fingerprint, reach, signs, sources, gains, scales, backend }
    }

    /// Π·H·B·x, which all blocks share.
    ///
    /// Neither this nor [`block`] is inlined: the transforms need the registers in which the caller
    /// keeps the values of its closure.
    #[inline(never)]
    fn mix(&self, sample: &[f32; D], mixed: &mut [f32; P]) {
        mix_into(sample, &self.signs, &self.sources, &mut [0.0; P], mixed);
    }
}

/// The phases of one block before they are multiplied by S: H·G times `mixed`.
#[inline(never)]
fn block<const P: usize>(gains: &[f32; P], mixed: &[f32; P], phases: &mut [f32; P]) {
    block_into(gains, mixed, phases);
}

/// Writes Π·H·B·x to `mixed`. `values` is scratch space, filled with 0; both have the length of a
/// block.
#[inline(always)]
pub(crate) fn mix_into(
    sample: &[f32],
    signs: &[f32],
    sources: &[u16],
    values: &mut (impl AsMut<[f32]> + ?Sized),
    mixed: &mut [f32],
) {
    for ((value, x), sign) in values.as_mut().iter_mut().zip(sample).zip(signs) {
        *value = sign * x;
    }
    hadamard::transform_all(values);
    let values = values.as_mut();
    let mask = values.len().wrapping_sub(1);
    for (mixed, source) in mixed.iter_mut().zip(sources) {
        // The masked index is below the length, a power of two: the bounds check is optimised away.
        if let Some(value) = values.get(usize::from(*source) & mask) {
            *mixed = *value;
        }
    }
}

/// H·G times `mixed`.
#[inline(always)]
pub(crate) fn block_into(gains: &[f32], mixed: &[f32], phases: &mut (impl AsMut<[f32]> + ?Sized)) {
    // The transform starts with groups: multiplying them here saves a load and a store each.
    if SIXTEEN_IN_REGISTERS && gains.len() >= 16 {
        let factors = sixteens(gains).iter().zip(sixteens(mixed));
        let groups = phases.as_mut().as_chunks_mut().0.as_chunks_mut().0;
        for (phases, ([a, b, c, d], [e, f, g, h])) in groups.iter_mut().zip(factors) {
            let products = [products(a, e), products(b, f), products(c, g), products(d, h)];
            *phases = hadamard::sixteen(products);
        }
        return hadamard::transform_from(phases, 16);
    }
    let factors = gains.as_chunks().0.iter().zip(mixed.as_chunks().0);
    for (phases, (gains, mixed)) in phases.as_mut().as_chunks_mut().0.iter_mut().zip(factors) {
        *phases = hadamard::four(products(gains, mixed));
    }
    hadamard::transform_from(phases, 4);
}

/// Whether sixteen numbers, and what is needed to transform them, stay in registers: of those of a
/// Cortex-M with a floating-point unit, which has 32. A vector unit prefers loops.
const SIXTEEN_IN_REGISTERS: bool = cfg!(all(target_arch = "arm", target_abi = "eabihf"));

#[inline(always)]
fn sixteens(values: &[f32]) -> &[[[f32; 4]; 4]] {
    values.as_chunks().0.as_chunks().0
}

#[inline(always)]
fn products([a, b, c, d]: &[f32; 4], [e, f, g, h]: &[f32; 4]) -> [f32; 4] {
    [a * e, b * f, c * g, d * h]
}

/// Calls `visit` for each item of a block with its phase, multiplied by S.
///
/// In groups of eight, so that the compiler unrolls the inner loop at opt-level 3 but not at "s".
#[inline]
pub(crate) fn visit_each<T>(
    items: &mut [T],
    phases: &[f32],
    scales: &[f32],
    visit: &mut impl FnMut(&mut T, f32),
) {
    const AT_ONCE: usize = 8;
    let (items, last_items) = items.as_chunks_mut::<AT_ONCE>();
    let (phases, last_phases) = phases.as_chunks::<AT_ONCE>();
    let (scales, last_scales) = scales.as_chunks::<AT_ONCE>();
    let mut groups = phases.iter().zip(scales);
    for items in items {
        let Some((phases, scales)) = groups.next() else { break };
        // By place: two iterators over `f32` are zipped by a function that at opt-level "s" is called, and
        // not inlined, where another crate has it too.
        for place in 0..AT_ONCE {
            visit(&mut items[place], phases[place] * scales[place]);
            one_at_a_time();
        }
    }
    for (place, item) in last_items.iter_mut().enumerate() {
        if let (Some(phase), Some(scale)) = (last_phases.get(place), last_scales.get(place)) {
            visit(item, phase * scale);
        }
    }
}

/// Longest block for which [`FeatureMap::project_many`] of [`Fastfood`] keeps several samples on the
/// stack, in 64 bytes for each frequency of the block.
const LONGEST_ABREAST: usize = 1024;

/// The same for several samples: `mixed` and `phases` have those of the block, one sample after the
/// other. The length of a block must be a multiple of [`LANES`].
#[inline(always)]
pub(crate) fn visit_many<T>(
    items: &mut [T],
    phases: &[f32],
    scales: &[f32],
    visit: &mut impl FnMut(&mut [T], &[[f32; LANES]]),
) {
    let mut scaled = scales.as_chunks::<LANES>().0.iter();
    for (group, items) in items.chunks_exact_mut(LANES).enumerate() {
        let Some(own) = scaled.next() else { break };
        let mut tile = [[0.0; LANES]; TILE];
        let mut count = 0;
        let mut samples = phases.chunks_exact(scales.len().max(1));
        for (tile, phases) in tile.iter_mut().zip(&mut samples) {
            if let Some(phases) = phases.as_chunks::<LANES>().0.get(group) {
                for ((place, phase), scale) in tile.iter_mut().zip(phases).zip(own) {
                    *place = phase * scale;
                }
            }
            count += 1;
        }
        visit(items, tile.get(..count).unwrap_or(&tile));
    }
}

impl<const D: usize, const P: usize, const L: usize, B: SinCos> FeatureMap
    for Fastfood<D, P, L, B>
{
    type Inputs = Fixed<D>;
    type Frequencies = Fixed<L>;
    type Backend = B;

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

    #[inline]
    fn project_many<T>(
        &self,
        samples: &[&[f32; D]],
        items: &mut [T; L],
        mut visit: impl FnMut(&mut [T], &[[f32; LANES]]),
    ) -> bool {
        if !P.is_multiple_of(LANES) || P > LONGEST_ABREAST {
            return false;
        }
        for samples in samples.chunks(TILE) {
            let mut mixed = [[0.0; P]; TILE];
            for (mixed, sample) in mixed.iter_mut().zip(samples) {
                self.mix(sample, mixed);
            }
            let mixed = mixed.get(..samples.len()).unwrap_or(&mixed);
            let mut phases = [[0.0; P]; TILE];
            let diagonals =
                self.gains.as_chunks::<P>().0.iter().zip(self.scales.as_chunks::<P>().0);
            for ((gains, scales), items) in diagonals.zip(items.as_chunks_mut::<P>().0) {
                for (phases, mixed) in phases.iter_mut().zip(mixed) {
                    block(gains, mixed, phases);
                }
                let phases = phases.get(..mixed.len()).unwrap_or(&phases).as_flattened();
                visit_many(items, phases, scales, &mut visit);
            }
        }
        true
    }

    /// Costs one projection per channel: for inspection, not for every sample.
    fn frequency_into(&self, index: usize, frequency: &mut [f32]) -> bool {
        if index >= L {
            return false;
        }
        // Shortened where necessary, the unit vector is within reach for any kernel.
        let unit = if self.reach < 1.0 { 0.5 * self.reach } else { 1.0 };
        let mut found = true;
        for (channel, coordinate) in frequency.iter_mut().enumerate() {
            let axis = core::array::from_fn(|other| if other == channel { unit } else { 0.0 });
            let mut position = 0;
            let mut items = [(); L];
            let projected = self.project(&axis, &mut items, |(), phase| {
                if position == index {
                    *coordinate = phase / unit;
                }
                position += 1;
            });
            found &= projected.is_ok();
        }
        found
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
            for (ours, expected) in frequency.iter().zip(row(&map, index)) {
                assert!((f64::from(*ours) - expected).abs() < 1e-6, "{index}");
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
            let expected: f64 =
                (0..32).map(|k| f64::from(weights[k]) * row(&map, k)[channel]).sum();
            assert!((f64::from(*sum) - expected).abs() < 2e-5, "{channel} {sum} {expected}");
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "too slow when interpreted")]
    fn rows_have_the_lengths_of_the_radial_law() {
        // In a full block, D = P, the length of a row is the radius drawn for it.
        let map = Fastfood::<16, 16, 4096>::new(Kernel::GAUSSIAN, 2).unwrap();
        let mean_squared =
            (0..4096).map(|index| row(&map, index).iter().map(|w| w * w).sum::<f64>()).sum::<f64>()
                / 4096.0;
        let expected = 16.0 / core::f64::consts::TAU.powi(2);
        assert!((mean_squared / expected - 1.0).abs() < 1e-3, "{mean_squared} {expected}");
    }
}
