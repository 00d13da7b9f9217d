//! Maps of any shape.

use core::marker::PhantomData;

use alloc::vec;
use alloc::vec::Vec;

use super::lengths::{Frequencies, Inputs};
use crate::error::Error;
use crate::features::dense::{self, LANES, TILE};
use crate::features::kernel::Kernel;
use crate::features::sampling::{self, Sampling, Strata};
use crate::features::sincos::{Polynomial, SinCos};
use crate::features::{
    Diagonals, FeatureMap, MapKind, Recipe, block_into, check_sample, least_block, longest,
    mix_into, most_block, most_frequencies, reach_of, seed_of_given, visit_each, visit_many,
};
use crate::numeric::u32_of;

/// Largest number of inputs, and of frequencies, of a [`Map`].
pub const MOST: usize = most_frequencies!();

/// A map of random Fourier features with any number of inputs and frequencies. It has the same
/// frequencies as [`Fourier`](crate::Fourier) or [`Fastfood`](crate::Fastfood), bit for bit.
#[derive(Debug, Clone, PartialEq)]
pub struct Map<B = Polynomial> {
    recipe: Recipe,
    fingerprint: u32,
    reach: f32,
    parts: Parts,
    backend: PhantomData<B>,
}

#[derive(Debug, Clone, PartialEq)]
enum Parts {
    /// All coordinates, in the order of [`dense`].
    Dense(Vec<f32>),
    Structured {
        signs: Vec<f32>,
        sources: Vec<u16>,
        gains: Vec<f32>,
        scales: Vec<f32>,
    },
}

impl Map {
    /// As [`Fourier::new`](crate::Fourier::new), with these numbers of inputs and frequencies.
    ///
    /// # Errors
    /// [`Error::WrongShape`] unless there are at least 1 input and from 1 to 65 536 frequencies;
    /// [`Error::NotSpherical`] for orthogonal sampling of the product Laplacian;
    /// [`Error::NotGaussian`] for additive sampling of a kernel that is not Gaussian.
    pub fn fourier(
        kernel: Kernel,
        sampling: Sampling,
        seed: u64,
        inputs: usize,
        frequencies: usize,
    ) -> Result<Self, Error> {
        check_shape(inputs, frequencies)?;
        let scheme = sampling.scheme(&kernel, inputs)?;
        let drawn = sampling::draw_dynamic(
            &kernel,
            scheme,
            seed,
            inputs,
            frequencies,
            dense::at_once(inputs),
        );
        let recipe = Recipe {
            kind: MapKind::Fourier,
            kernel,
            sampling: scheme.sampling(),
            seed,
            inputs: u32_of(inputs),
            block: 0,
            frequencies: u32_of(frequencies),
        };
        Ok(Self::dense(recipe, drawn))
    }

    /// As [`Fourier::given`](crate::Fourier::given): the frequency vectors, one after the other,
    /// each with `inputs` coordinates.
    ///
    /// # Errors
    /// As there, and [`Error::WrongShape`] if the length is not a multiple of `inputs`.
    pub fn given(frequencies: &[f32], inputs: usize, amplitude: f32) -> Result<Self, Error> {
        let count = frequencies.len().checked_div(inputs).unwrap_or(0);
        check_shape(inputs, count)?;
        if count * inputs != frequencies.len() {
            return Err(Error::WrongShape);
        }
        let recipe = Recipe {
            kind: MapKind::Given,
            kernel: Kernel::GAUSSIAN.with_amplitude(amplitude)?,
            sampling: Sampling::Independent,
            seed: seed_of_given(frequencies)?,
            inputs: u32_of(inputs),
            block: 0,
            frequencies: u32_of(count),
        };
        let mut grouped = vec![0.0; frequencies.len()];
        for (row, vector) in frequencies.chunks_exact(inputs).enumerate() {
            for (channel, coordinate) in vector.iter().enumerate() {
                let place = dense::place(row, channel, inputs, count, dense::at_once(inputs));
                if let Some(place) = grouped.get_mut(place) {
                    *place = *coordinate;
                }
            }
        }
        Ok(Self::dense(recipe, grouped))
    }

    /// A map with frequencies in groups.
    fn dense(recipe: Recipe, grouped: Vec<f32>) -> Self {
        let (inputs, count) = (recipe.inputs as usize, recipe.frequencies as usize);
        Self {
            fingerprint: recipe.fingerprint(),
            reach: reach_of(longest(&grouped, inputs, count)),
            parts: Parts::Dense(grouped),
            recipe,
            backend: PhantomData,
        }
    }

    /// As [`Fastfood::new`](crate::Fastfood::new), with these numbers of inputs, of frequencies per
    /// block, and of frequencies. Of the last block, only the rows that are needed are kept: with
    /// many inputs, there may be fewer frequencies than inputs.
    ///
    /// # Errors
    /// [`Error::WrongShape`] if the block is not a power of two from 4 to 32 768 or is shorter than a
    /// sample, or the number of frequencies is 0 or above 65 536; [`Error::NotSpherical`] for the
    /// product Laplacian.
    pub fn fastfood(
        kernel: Kernel,
        seed: u64,
        inputs: usize,
        block: usize,
        frequencies: usize,
    ) -> Result<Self, Error> {
        check_shape(inputs, frequencies)?;
        let blocks = Self::least_block(inputs)..=most_block!();
        if !block.is_power_of_two() || !blocks.contains(&block) {
            return Err(Error::WrongShape);
        }
        if !kernel.is_spherical() {
            return Err(Error::NotSpherical);
        }
        let (mut signs, mut sources) = (vec![1.0; inputs], vec![0; block]);
        // Each row of a block has all its gains.
        let mut gains = vec![0.0; frequencies.next_multiple_of(block)];
        let mut scales = vec![0.0; frequencies];
        let diagonals = Diagonals {
            signs: &mut signs,
            sources: &mut sources,
            gains: &mut gains,
            scales: &mut scales,
        };
        let strata =
            Strata { radii: &mut vec![0.0; frequencies], order: &mut vec![0; frequencies] };
        let longest = diagonals.draw(&kernel, seed, strata);
        let recipe = Recipe {
            kind: MapKind::Fastfood,
            kernel,
            sampling: Sampling::Independent,
            seed,
            inputs: u32_of(inputs),
            block: u32_of(block),
            frequencies: u32_of(frequencies),
        };
        Ok(Self {
            fingerprint: recipe.fingerprint(),
            recipe,
            reach: reach_of(longest),
            parts: Parts::Structured { signs, sources, gains, scales },
            backend: PhantomData,
        })
    }

    /// The shortest block of a Fastfood map with this many inputs.
    #[must_use]
    pub const fn least_block(inputs: usize) -> usize {
        let block = inputs.next_power_of_two();
        if block < least_block!() { least_block!() } else { block }
    }

    /// Draws the map of a recipe again, as for a saved state.
    ///
    /// # Errors
    /// [`Error::WrongShape`] for given frequencies, which cannot be drawn again, and for the
    /// integer maps of [`fixed`](crate::fixed).
    pub fn from_recipe(recipe: &Recipe) -> Result<Self, Error> {
        let (inputs, frequencies) = (recipe.inputs as usize, recipe.frequencies as usize);
        match recipe.kind {
            MapKind::Fourier => {
                Self::fourier(recipe.kernel, recipe.sampling, recipe.seed, inputs, frequencies)
            }
            MapKind::Fastfood => {
                let block = recipe.block as usize;
                Self::fastfood(recipe.kernel, recipe.seed, inputs, block, frequencies)
            }
            MapKind::Given | MapKind::FixedFourier | MapKind::FixedFastfood | MapKind::Offset => {
                Err(Error::WrongShape)
            }
        }
    }
}

impl<B> Map<B> {
    /// The same frequencies, with another backend for sine and cosine.
    #[must_use]
    pub fn with_backend<C>(self) -> Map<C> {
        let Self { recipe, fingerprint, reach, parts, backend: PhantomData } = self;
        Map { recipe, fingerprint, reach, parts, backend: PhantomData }
    }
}

impl<B: SinCos> Map<B> {
    /// All frequency vectors, one after the other, in turns per unit of input, as
    /// [`given`](Map::given) takes them. O(L·D); for a Fastfood map, D projections.
    #[must_use]
    pub fn frequencies(&self) -> Vec<f32> {
        let inputs = self.recipe.inputs as usize;
        let mut all = vec![0.0; inputs * self.recipe.frequencies as usize];
        let mut along = vec![0.0; self.recipe.frequencies as usize];
        for input in 0..inputs {
            self.coordinates_into(input, &mut along);
            for (vector, coordinate) in all.chunks_exact_mut(inputs).zip(&along) {
                if let Some(place) = vector.get_mut(input) {
                    *place = *coordinate;
                }
            }
        }
        all
    }

    /// One coordinate of a dense map.
    fn stored(&self, grouped: &[f32], row: usize, input: usize) -> f32 {
        let (inputs, count) = (self.recipe.inputs as usize, self.recipe.frequencies as usize);
        let place = dense::place(row, input, inputs, count, dense::at_once(inputs));
        grouped.get(place).copied().unwrap_or_default()
    }

    /// The coordinates of all frequencies along one input.
    fn coordinates_into(&self, input: usize, along: &mut [f32]) {
        if let Parts::Dense(grouped) = &self.parts {
            for (row, coordinate) in along.iter_mut().enumerate() {
                *coordinate = self.stored(grouped, row, input);
            }
            return;
        }
        // Shortened where necessary, the unit vector is within reach for any kernel.
        let unit = if self.reach < 1.0 { 0.5 * self.reach } else { 1.0 };
        let mut axis = vec![0.0; self.recipe.inputs as usize];
        axis.iter_mut().skip(input).take(1).for_each(|value| *value = unit);
        // Never refused: the axis has the right length, is finite and within reach.
        let _ = self.project(&axis, along, |place, phase| *place = phase / unit);
    }
}

fn check_shape(inputs: usize, frequencies: usize) -> Result<(), Error> {
    let fits = (1..=MOST).contains(&inputs) && (1..=MOST).contains(&frequencies);
    if fits { Ok(()) } else { Err(Error::WrongShape) }
}

impl<B: SinCos> FeatureMap for Map<B> {
    type Inputs = Inputs;
    type Frequencies = Frequencies;
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

    fn project<T>(
        &self,
        sample: &[f32],
        items: &mut [T],
        mut visit: impl FnMut(&mut T, f32),
    ) -> Result<(), Error> {
        let count = self.recipe.frequencies as usize;
        if sample.len() != self.recipe.inputs as usize || items.len() != count {
            return Err(Error::WrongShape);
        }
        check_sample(sample, self.reach)?;
        match &self.parts {
            Parts::Dense(grouped) => dense::project(grouped, sample, items, &mut visit),
            Parts::Structured { signs, sources, gains, scales } => {
                let block = sources.len();
                let (mut mixed, mut phases) = (vec![0.0; block], vec![0.0; block]);
                mix_into(sample, signs, sources, &mut phases, &mut mixed);
                let diagonals = gains.chunks_exact(block).zip(scales.chunks(block));
                for ((gains, scales), items) in diagonals.zip(items.chunks_mut(block)) {
                    block_into(gains, &mixed, &mut phases);
                    let kept = phases.get(..items.len()).unwrap_or(&[]);
                    visit_each(items, kept, scales, &mut visit);
                }
            }
        }
        Ok(())
    }

    fn project_many<T>(
        &self,
        samples: &[&[f32]],
        items: &mut [T],
        mut visit: impl FnMut(&mut [T], &[[f32; LANES]]),
    ) -> bool {
        match &self.parts {
            Parts::Dense(grouped) => {
                return dense::project_many(grouped, samples, items, &mut visit);
            }
            Parts::Structured { signs, sources, gains, scales } => {
                let block = sources.len();
                if !block.is_multiple_of(LANES) {
                    return false;
                }
                let (mut values, mut all_mixed) = (vec![0.0; block], vec![0.0; TILE * block]);
                let mut all_phases = vec![0.0; TILE * block];
                for samples in samples.chunks(TILE) {
                    let mixed = all_mixed.chunks_exact_mut(block);
                    for (mixed, sample) in mixed.zip(samples) {
                        values.fill(0.0);
                        mix_into(sample, signs, sources, &mut values, mixed);
                    }
                    let diagonals = gains.chunks_exact(block).zip(scales.chunks_exact(block));
                    for ((gains, scales), items) in diagonals.zip(items.chunks_exact_mut(block)) {
                        let mixed = all_mixed.chunks_exact(block).take(samples.len());
                        let phases = all_phases.chunks_exact_mut(block);
                        for (phases, mixed) in phases.zip(mixed) {
                            block_into(gains, mixed, phases);
                        }
                        let phases = all_phases.get(..samples.len() * block).unwrap_or(&all_phases);
                        visit_many(items, phases, scales, &mut visit);
                    }
                }
            }
        }
        true
    }

    fn frequency_into(&self, index: usize, frequency: &mut [f32]) -> bool {
        let count = self.recipe.frequencies as usize;
        if index >= count {
            return false;
        }
        if let Parts::Dense(grouped) = &self.parts {
            for (input, coordinate) in frequency.iter_mut().enumerate() {
                *coordinate = self.stored(grouped, index, input);
            }
            return true;
        }
        let mut along = vec![0.0; count];
        for (input, coordinate) in frequency.iter_mut().enumerate() {
            self.coordinates_into(input, &mut along);
            *coordinate = along.get(index).copied().unwrap_or_default();
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rows that are kept of a block are those of S·H·G·Π·H·B, in `f64` from the matrices'
    /// definitions.
    #[test]
    fn rows_of_a_part_of_a_block_are_those_of_the_product() {
        let hadamard = |i: usize, j: usize| {
            if (i & j).count_ones().is_multiple_of(2) { 1.0 } else { -1.0 }
        };
        for (inputs, block, count) in [(5, 8, 3), (13, 16, 9), (5, 8, 21), (7, 8, 16), (3, 4, 1)] {
            let map = Map::fastfood(Kernel::GAUSSIAN, 9, inputs, block, count).unwrap();
            let Parts::Structured { signs, sources, gains, scales } = &map.parts else {
                panic!("not structured")
            };
            assert_eq!(scales.len(), count);
            let found = map.frequencies();
            for (index, vector) in found.chunks_exact(inputs).enumerate() {
                let start = index / block * block;
                for (channel, coordinate) in vector.iter().enumerate() {
                    let entry = |place: usize| {
                        let source = usize::from(sources[place]);
                        hadamard(index - start, place)
                            * f64::from(gains[start + place])
                            * hadamard(source, channel)
                    };
                    let sum: f64 = (0..block).map(entry).sum();
                    let expected = f64::from(scales[index]) * sum * f64::from(signs[channel]);
                    assert!((f64::from(*coordinate) - expected).abs() < 1e-6, "{index} of {count}");
                }
                assert_eq!(map.frequency(index).as_deref(), Some(vector));
            }
            assert_eq!((found.len(), map.frequency(count)), (count * inputs, None));
            assert_eq!(Map::from_recipe(map.recipe()), Ok(map));
        }
    }
}
