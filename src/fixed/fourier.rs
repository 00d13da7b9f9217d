//! The dense map in integers.

use crate::error::Error;
use crate::features::kernel::Kernel;
use crate::features::sampling::{self, Sampling, Scheme};
use crate::features::{FeatureMap, MapKind, Recipe, one_at_a_time};
use crate::numeric::{nearest, rounded, u32_of};
use crate::shape::Fixed;

use super::{PHASE_PER_TURN_AND_STEP, Table, check_bandwidth, reach};

/// Random Fourier features with L stored frequency vectors of D coordinates each, in 2⁻³² turns per
/// step of the sample: 4·D·L bytes, D·L 32-bit multiplications per sample.
///
/// The frequencies are those of the [`Fourier`](crate::Fourier) with the same kernel, sampling and
/// seed, rounded to 2⁻³² turns per step. Phases are then exact.
///
/// ```
/// use fastmmd::{Sampling, fixed};
///
/// static MAP: fixed::Fourier<3, 64> = fixed::Fourier::gaussian(1);
/// # use fastmmd::FeatureMap;
/// assert_eq!(MAP.recipe().sampling, Sampling::Quasi);
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Fourier<const D: usize, const L: usize> {
    recipe: Recipe,
    fingerprint: u32,
    frequencies: [[i32; D]; L],
}

impl<const D: usize, const L: usize> Fourier<D, L> {
    /// What embeddings of this map keep of it: its fingerprint and K(0).
    pub(crate) const fn identity(&self) -> (u32, f32) {
        (self.fingerprint, self.recipe.kernel.amplitude())
    }

    /// Frequencies of the Gaussian kernel of bandwidth 1.
    #[must_use]
    pub const fn gaussian(seed: u64) -> Self {
        crate::Fourier::<D, L>::check_shape();
        Self::drawn(Kernel::GAUSSIAN, Scheme::auto(&Kernel::GAUSSIAN, D), seed)
    }

    /// Frequencies for a detector, as [`Fourier::additive`](crate::Fourier::additive).
    #[must_use]
    pub const fn additive(seed: u64) -> Self {
        crate::Fourier::<D, L>::check_shape();
        Self::drawn(Kernel::GAUSSIAN, Scheme::Additive, seed)
    }

    /// Draws the frequencies of `kernel`, as [`Fourier::new`](crate::Fourier::new) does.
    ///
    /// # Errors
    /// As [`Fourier::new`](crate::Fourier::new), and [`Error::OutOfRange`] for a bandwidth
    /// outside [`BANDWIDTHS`](super::BANDWIDTHS).
    pub const fn new(kernel: Kernel, sampling: Sampling, seed: u64) -> Result<Self, Error> {
        crate::Fourier::<D, L>::check_shape();
        if let Err(error) = check_bandwidth(&kernel) {
            return Err(error);
        }
        match sampling.scheme(&kernel, D) {
            Ok(scheme) => Ok(Self::drawn(kernel, scheme, seed)),
            Err(error) => Err(error),
        }
    }

    #[expect(clippy::cast_possible_truncation, reason = "turns are counted modulo 2³²")]
    const fn drawn(kernel: Kernel, scheme: Scheme, seed: u64) -> Self {
        let () = crate::Fourier::<D, L>::SHAPE;
        let drawn: [[f32; D]; L] = sampling::draw(&kernel, scheme, seed);
        let mut frequencies = [[0; D]; L];
        let mut row = 0;
        while row < L {
            let mut channel = 0;
            while channel < D {
                let turns = drawn[row][channel] as f64;
                frequencies[row][channel] = nearest(turns * PHASE_PER_TURN_AND_STEP) as i32;
                channel += 1;
            }
            row += 1;
        }
        let recipe = Recipe {
            kind: MapKind::FixedFourier,
            kernel,
            sampling: scheme.sampling(),
            seed,
            inputs: u32_of(D),
            block: 0,
            frequencies: u32_of(L),
        };
        Self { fingerprint: recipe.fingerprint(), recipe, frequencies }
    }

    /// Draws the map of a recipe again, as for a saved state.
    ///
    /// # Errors
    /// [`Error::WrongShape`] if the recipe is of another kind or shape, and those of
    /// [`new`](Self::new).
    pub const fn from_recipe(recipe: &Recipe) -> Result<Self, Error> {
        if recipe.has_shape(MapKind::FixedFourier, D, 0, L) {
            Self::new(recipe.kernel, recipe.sampling, recipe.seed)
        } else {
            Err(Error::WrongShape)
        }
    }

    /// The k-th frequency vector, without rounding to `f32`, in turns per unit of input; `None` for
    /// k ≥ L.
    #[must_use]
    pub fn exact_frequency(&self, index: usize) -> Option<[f64; D]> {
        let frequency = self.frequencies.get(index)?;
        Some(frequency.map(|phase| f64::from(phase) / PHASE_PER_TURN_AND_STEP))
    }
}

impl<const D: usize, const L: usize> FeatureMap for Fourier<D, L> {
    type Inputs = Fixed<D>;
    type Frequencies = Fixed<L>;
    type Backend = Table;

    fn recipe(&self) -> &Recipe {
        &self.recipe
    }

    fn fingerprint(&self) -> u32 {
        self.fingerprint
    }

    fn reach(&self) -> f32 {
        reach(D)
    }

    #[inline]
    fn project<T>(
        &self,
        sample: &[i16; D],
        items: &mut [T; L],
        mut visit: impl FnMut(&mut T, u32),
    ) -> Result<(), Error> {
        // Widened once, not once for each frequency.
        let sample = sample.map(i32::from);
        for (frequency, item) in self.frequencies.iter().zip(items) {
            visit(item, phase(frequency, &sample));
            one_at_a_time();
        }
        Ok(())
    }

    fn frequency_into(&self, index: usize, frequency: &mut [f32]) -> bool {
        let Some(exact) = self.exact_frequency(index) else { return false };
        for (coordinate, exact) in frequency.iter_mut().zip(exact) {
            *coordinate = rounded(exact);
        }
        true
    }
}

/// The sum of the products, in 2³² a turn. In steps of four by hand, because the compiler does not
/// unroll a loop at opt-level "s".
#[inline(always)]
fn phase(frequency: &[i32], sample: &[i32]) -> u32 {
    let turn = |phase: i32, w: i32, x: i32| phase.wrapping_add(w.wrapping_mul(x));
    let (fours, rest) = frequency.as_chunks();
    let (values, rest_values) = sample.as_chunks();
    let mut phase = 0;
    for ([a, b, c, d], [x, y, z, u]) in fours.iter().zip(values) {
        phase = turn(turn(turn(turn(phase, *a, *x), *b, *y), *c, *z), *d, *u);
    }
    match (rest, rest_values) {
        ([a], [x]) => phase = turn(phase, *a, *x),
        ([a, b], [x, y]) => phase = turn(turn(phase, *a, *x), *b, *y),
        ([a, b, c], [x, y, z]) => phase = turn(turn(turn(phase, *a, *x), *b, *y), *c, *z),
        _ => {}
    }
    phase.cast_unsigned()
}
