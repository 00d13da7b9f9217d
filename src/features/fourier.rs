//! The dense map of random Fourier features: L stored frequency vectors.

use core::marker::PhantomData;

use super::dense::{self, LANES};
use super::kernel::Kernel;
use super::sampling::{self, Sampling, Scheme};
use super::sincos::{Polynomial, SinCos};
use super::{FeatureMap, MapKind, Recipe, check_sample, reach_of};
use crate::error::{Error, Parameter};
use crate::numeric::{sqrt, u32_of};
use crate::shape::Fixed;
use crate::state::checksum;

/// Random Fourier features with L stored frequency vectors of D coordinates each, in turns per
/// unit of input: 4·D·L bytes, D·L multiplications per sample.
///
/// It is the most accurate map, and the cheapest up to about 8 channels. At 3 channels, 64
/// quasi-random frequencies are as good as about 500 independent ones. As a `static` it is
/// computed by the compiler and costs no RAM and no start-up time:
///
/// ```
/// use fastmmd::{Fourier, Sampling};
///
/// static MAP: Fourier<3, 64> = Fourier::gaussian(1);
/// # use fastmmd::FeatureMap;
/// assert_eq!(MAP.recipe().sampling, Sampling::Quasi);
/// ```
///
/// D and L are checked at compile time: D ≥ 1 and 1 ≤ L ≤ 65 536. For a `const` or `static` map,
/// `cargo check` reports a wrong shape; for one in a `let`, only `cargo build` does.
///
/// ```compile_fail
/// let map = fastmmd::Fourier::<0, 64>::gaussian(1);
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Fourier<const D: usize, const L: usize, B = Polynomial> {
    recipe: Recipe,
    fingerprint: u32,
    reach: f32,
    /// All coordinates, in the order of [`dense`].
    frequencies: [[f32; D]; L],
    backend: PhantomData<B>,
}

impl<const D: usize, const L: usize> Fourier<D, L> {
    /// Frequencies of the Gaussian kernel of bandwidth 1. Cost as for [`new`](Self::new).
    #[must_use]
    pub const fn gaussian(seed: u64) -> Self {
        Self::with_kernel(Kernel::GAUSSIAN, seed)
    }

    /// Frequencies for a [`Detector`](crate::Detector): those of
    /// [`Sampling::Additive`], for standardised inputs. Cost as for [`new`](Self::new).
    #[must_use]
    pub const fn additive(seed: u64) -> Self {
        Self::check_shape();
        Self::drawn(Kernel::GAUSSIAN, Scheme::Additive, seed)
    }

    /// Frequencies of `kernel`, drawn by [`Sampling::Auto`]. Cost as for [`new`](Self::new).
    #[must_use]
    pub const fn with_kernel(kernel: Kernel, seed: u64) -> Self {
        Self::check_shape();
        Self::drawn(kernel, Scheme::auto(&kernel, D), seed)
    }

    /// Draws the frequencies of `kernel`; for a constant map, at compile time. Takes some hundred
    /// `f64` operations per coordinate, and for orthogonal frequencies 4·D·min(D, L) more per
    /// frequency. From about 64 × 256 coordinates, the crate that has a constant map needs
    /// `#![allow(long_running_const_eval)]`.
    ///
    /// # Errors
    /// [`Error::NotSpherical`] for orthogonal sampling of the product Laplacian;
    /// [`Error::NotGaussian`] for additive sampling of a kernel that is not Gaussian.
    pub const fn new(kernel: Kernel, sampling: Sampling, seed: u64) -> Result<Self, Error> {
        Self::check_shape();
        match sampling.scheme(&kernel, D) {
            Ok(scheme) => Ok(Self::drawn(kernel, scheme, seed)),
            Err(error) => Err(error),
        }
    }

    const fn drawn(kernel: Kernel, scheme: Scheme, seed: u64) -> Self {
        let () = Self::SHAPE;
        let mut map = Self::blank(MapKind::Fourier, kernel, scheme.sampling(), seed);
        sampling::draw_into(&kernel, scheme, seed, dense::at_once(D), &mut map.frequencies);
        map.reach = reach_of(longest(map.frequencies.as_flattened(), D, L));
        map
    }

    /// A map with the caller's own frequencies, in turns per unit of input, for a kernel with
    /// K(0) = `amplitude`.
    ///
    /// ```
    /// use fastmmd::{FeatureMap, Fourier};
    ///
    /// let map = Fourier::given([[0.25], [0.5]], 1.0)?;
    /// assert_eq!(map.frequency(1), Some([0.5]));
    /// # Ok::<(), fastmmd::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NonFinite`] for a frequency that is NaN or infinite, [`Error::OutOfRange`] for
    /// one above 10¹² turns, and either for a bad `amplitude`.
    pub const fn given(frequencies: [[f32; D]; L], amplitude: f32) -> Result<Self, Error> {
        let () = Self::SHAPE;
        let kernel = match Kernel::GAUSSIAN.with_amplitude(amplitude) {
            Ok(kernel) => kernel,
            Err(error) => return Err(error),
        };
        match seed_of_given(frequencies.as_flattened()) {
            Ok(seed) => {
                let mut map = Self::blank(MapKind::Given, kernel, Sampling::Independent, seed);
                let own = map.frequencies.as_flattened_mut();
                let mut row = 0;
                while row < L {
                    let mut channel = 0;
                    while channel < D {
                        let place = dense::place(row, channel, D, L, dense::at_once(D));
                        if place < own.len() {
                            own[place] = frequencies[row][channel];
                        }
                        channel += 1;
                    }
                    row += 1;
                }
                map.reach = reach_of(longest(map.frequencies.as_flattened(), D, L));
                Ok(map)
            }
            Err(error) => Err(error),
        }
    }

    /// A map whose frequencies are still to be set.
    const fn blank(kind: MapKind, kernel: Kernel, sampling: Sampling, seed: u64) -> Self {
        let (inputs, count) = (u32_of(D), u32_of(L));
        let recipe = Recipe { kind, kernel, sampling, seed, inputs, block: 0, frequencies: count };
        Self {
            fingerprint: recipe.fingerprint(),
            recipe,
            reach: 0.0,
            frequencies: [[0.0; D]; L],
            backend: PhantomData,
        }
    }

    /// Draws the map of a recipe again, as for a saved state. Cost as for [`new`](Self::new).
    ///
    /// # Errors
    /// [`Error::WrongShape`] if the recipe is of another kind or shape, or of given frequencies,
    /// which cannot be drawn again.
    pub const fn from_recipe(recipe: &Recipe) -> Result<Self, Error> {
        if recipe.has_shape(MapKind::Fourier, D, 0, L) {
            Self::new(recipe.kernel, recipe.sampling, recipe.seed)
        } else {
            Err(Error::WrongShape)
        }
    }
}

impl<const D: usize, const L: usize, B> Fourier<D, L, B> {
    /// What an embedding stores about this map: its fingerprint and K(0).
    pub(crate) const fn identity(&self) -> (u32, f32) {
        (self.fingerprint, self.recipe.kernel.amplitude())
    }

    /// [`FeatureMap::recipe`], also for constants.
    pub(super) const fn own_recipe(&self) -> &Recipe {
        &self.recipe
    }

    pub(crate) const SHAPE: () = Self::check_shape();

    /// Checks the shape, in two ways. Called, it makes the compiler point at the line that declares
    /// a constant map of a wrong shape. As the constant `SHAPE`, it stops every other such map.
    pub(crate) const fn check_shape() {
        assert!(D >= 1, "a map must have at least 1 input: D is 0");
        assert!(
            L >= 1 && L <= most_frequencies!(),
            concat!("a map must have from 1 to ", most_frequencies!(), " frequencies L")
        );
    }

    /// The same frequencies, with another backend for sine and cosine.
    ///
    /// ```
    /// use fastmmd::Fourier;
    /// use fastmmd::features::sincos::Quick;
    ///
    /// static MAP: Fourier<3, 64, Quick> = Fourier::gaussian(1).with_backend();
    /// ```
    #[must_use]
    pub const fn with_backend<C>(self) -> Fourier<D, L, C> {
        let Self { recipe, fingerprint, reach, frequencies, backend: PhantomData } = self;
        Fourier { recipe, fingerprint, reach, frequencies, backend: PhantomData }
    }
}

/// The checksum of given frequencies, stored as the seed in their recipe.
pub(crate) const fn seed_of_given(frequencies: &[f32]) -> Result<u64, Error> {
    let mut seed = 0;
    let mut index = 0;
    while index < frequencies.len() {
        let frequency = frequencies[index];
        if !frequency.is_finite() {
            return Err(Error::NonFinite(Parameter::Frequency));
        }
        if frequency.abs() > 1e12 {
            return Err(Error::OutOfRange(Parameter::Frequency));
        }
        seed = checksum(seed, &frequency.to_le_bytes());
        index += 1;
    }
    Ok(seed as u64)
}

/// The length of the longest of `count` vectors, stored in groups of [`dense::at_once`].
pub(crate) const fn longest(frequencies: &[f32], inputs: usize, count: usize) -> f64 {
    let mut longest_squared = 0.0;
    let mut row = 0;
    while row < count {
        let mut squared = 0.0;
        let mut channel = 0;
        while channel < inputs {
            let place = dense::place(row, channel, inputs, count, dense::at_once(inputs));
            if place < frequencies.len() {
                let frequency = frequencies[place] as f64;
                squared += frequency * frequency;
            }
            channel += 1;
        }
        if squared > longest_squared {
            longest_squared = squared;
        }
        row += 1;
    }
    sqrt(longest_squared)
}

impl<const D: usize, const L: usize, B: SinCos> FeatureMap for Fourier<D, L, B> {
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
        dense::project(self.frequencies.as_flattened(), sample, items, &mut visit);
        Ok(())
    }

    #[inline]
    fn project_many<T>(
        &self,
        samples: &[&[f32; D]],
        items: &mut [T; L],
        mut visit: impl FnMut(&mut [T], &[[f32; LANES]]),
    ) -> bool {
        dense::project_many(self.frequencies.as_flattened(), samples, items, &mut visit)
    }

    fn frequency_into(&self, index: usize, frequency: &mut [f32]) -> bool {
        if index >= L {
            return false;
        }
        let own = self.frequencies.as_flattened();
        for (channel, coordinate) in frequency.iter_mut().enumerate().take(D) {
            let place = dense::place(index, channel, D, L, dense::at_once(D));
            *coordinate = own.get(place).copied().unwrap_or_default();
        }
        true
    }
}
