//! The dense map: L stored frequency vectors.

use crate::error::{Error, Parameter};
use crate::kernel::Kernel;
use crate::numeric::{sqrt, u32_of};
use crate::sampling::{self, Sampling};

use super::recipe::CHECKSUM;
use super::{FeatureMap, MapKind, Recipe, check_sample, reach_of};

/// L frequency vectors of D coordinates each, in turns: 4·D·L bytes, D·L multiplications a
/// sample.
///
/// The most accurate map, and the cheapest up to about 8 channels. At 3 channels 64 quasi-random
/// frequencies are as good as about 500 independent ones. As a `static` it is computed by the
/// compiler and
/// costs no RAM and no start-up time:
///
/// ```
/// use fastmmd::{Fourier, Kernel, Sampling};
///
/// static MAP: Fourier<3, 64> = match Fourier::new(Kernel::GAUSSIAN, Sampling::Auto, 1) {
///     Ok(map) => map,
///     Err(_) => panic!("checked when compiled"),
/// };
/// # use fastmmd::FeatureMap;
/// assert_eq!(MAP.recipe().sampling, Sampling::Quasi);
/// ```
///
/// D and L are checked when compiled: D ≥ 1 and 1 ≤ L ≤ 65 536.
///
/// ```compile_fail
/// # use fastmmd::{Fourier, Kernel, Sampling};
/// let map = Fourier::<0, 64>::new(Kernel::GAUSSIAN, Sampling::Auto, 1);
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Fourier<const D: usize, const L: usize> {
    recipe: Recipe,
    fingerprint: u32,
    reach: f32,
    frequencies: [[f32; D]; L],
}

impl<const D: usize, const L: usize> Fourier<D, L> {
    pub(crate) const SHAPE: () = {
        assert!(D >= 1, "a sample has at least one channel");
        assert!(L >= 1 && L <= 65_536, "the number of frequencies is from 1 to 65536");
    };

    /// Draws the frequencies of `kernel`, at compile time where the map is a constant: some
    /// hundred `f64` operations per coordinate, and D² per frequency for orthogonal ones. From
    /// about 64 × 256 coordinates on, a constant map needs
    /// `#![allow(long_running_const_eval)]` in the crate that holds it.
    ///
    /// # Errors
    /// [`Error::NotSpherical`] for orthogonal sampling of the product Laplacian.
    pub const fn new(kernel: Kernel, sampling: Sampling, seed: u64) -> Result<Self, Error> {
        let () = Self::SHAPE;
        let resolved = match sampling.resolve(&kernel, D) {
            Ok(resolved) => resolved,
            Err(error) => return Err(error),
        };
        match sampling::draw(&kernel, resolved, seed) {
            Ok(frequencies) => {
                Ok(Self::assemble(MapKind::Fourier, kernel, resolved, seed, frequencies))
            }
            Err(error) => Err(error),
        }
    }

    /// A map with frequencies of the caller's own, in turns per unit of input, standing for a
    /// kernel with K(0) = `scale`.
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
    /// one above 10¹² turns, and either for a bad `scale`.
    pub const fn given(frequencies: [[f32; D]; L], scale: f32) -> Result<Self, Error> {
        let () = Self::SHAPE;
        let kernel = match Kernel::GAUSSIAN.with_scale(scale) {
            Ok(kernel) => kernel,
            Err(error) => return Err(error),
        };
        let mut digest = CHECKSUM.digest();
        let mut row = 0;
        while row < L {
            let mut channel = 0;
            while channel < D {
                let frequency = frequencies[row][channel];
                if !frequency.is_finite() {
                    return Err(Error::NonFinite(Parameter::Frequency));
                }
                if frequency.abs() > 1e12 {
                    return Err(Error::OutOfRange(Parameter::Frequency));
                }
                digest.update(&frequency.to_le_bytes());
                channel += 1;
            }
            row += 1;
        }
        let seed = digest.finalize() as u64;
        Ok(Self::assemble(MapKind::Given, kernel, Sampling::Independent, seed, frequencies))
    }

    const fn assemble(
        kind: MapKind,
        kernel: Kernel,
        sampling: Sampling,
        seed: u64,
        frequencies: [[f32; D]; L],
    ) -> Self {
        let mut longest_squared = 0.0;
        let mut row = 0;
        while row < L {
            let mut squared = 0.0;
            let mut channel = 0;
            while channel < D {
                let frequency = frequencies[row][channel] as f64;
                squared += frequency * frequency;
                channel += 1;
            }
            if squared > longest_squared {
                longest_squared = squared;
            }
            row += 1;
        }
        let recipe =
            Recipe { kind, kernel, sampling, seed, dims: u32_of(D), block: 0, features: u32_of(L) };
        Self {
            fingerprint: recipe.fingerprint(),
            recipe,
            reach: reach_of(sqrt(longest_squared)),
            frequencies,
        }
    }

    /// Makes the map again that a saved state speaks of.
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

impl<const D: usize, const L: usize> FeatureMap<D, L> for Fourier<D, L> {
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
        for (frequency, item) in self.frequencies.iter().zip(items) {
            let phase = frequency.iter().zip(sample).map(|(w, x)| w * x).sum();
            visit(item, phase);
        }
        Ok(())
    }

    fn frequency(&self, index: usize) -> Option<[f32; D]> {
        self.frequencies.get(index).copied()
    }
}
