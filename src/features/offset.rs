//! The map of random cosines: √2·cos(ω'x + b), with a random offset b for each frequency.

use core::marker::PhantomData;

use super::kernel::Kernel;
use super::sampling::{Sampling, Stream};
use super::sincos::{Backend, Polynomial, SinCos};
use super::{FeatureMap, Fourier, MapKind, Recipe};
use crate::error::Error;
use crate::numeric::rounded;
use crate::shape::Fixed;

/// The difference between the seed of the offsets and that of the frequencies.
const OTHER: u64 = 0x6f66_6673_6574_7321;

/// Random features with a single cosine each: z_k(x) = √2·cos(ω_k'x + b_k), b uniform over a turn
/// (Rahimi and Recht, 2007). 4·(D + 1)·L bytes, D·L multiplications per sample.
///
/// Most of the literature on random features uses this form: take it for weights that were learned
/// elsewhere in it. **For anything new take [`Fourier`]**, which has a sine and a cosine for each
/// frequency and no offsets: a product 2·cos(ω'x + b)·cos(ω'y + b) is cos ω'(x − y) plus
/// cos(ω'(x + y) + 2b), which is only noise. It adds ½ to the variance of every product, even of
/// k(x, x), which [`Fourier`] computes without error. At equal L, the variance of an estimate of k
/// is larger by ½/L. That doubles it for distant points, and is nearly all of it for near ones, where
/// the variance of [`Fourier`] is close to 0.
///
/// k̂(x, x) is not exactly K(0): it scatters about it by √(K(0)²/2L). The unbiased MMD² uses K(0) for
/// it, so it is unbiased over seeds, but for one seed it is off by about (1/m + 1/n)·K(0)/√(2L).
///
/// ```
/// use fastmmd::features::Offset;
/// use fastmmd::TwoSample;
///
/// static MAP: Offset<1, 64> = Offset::gaussian(1);
/// let mut test = TwoSample::new(&MAP);
/// for step in 0..100_u8 {
///     let reading = f32::from(step % 10) / 10.0;
///     test.push_p(&[reading])?;
///     test.push_q(&[reading + 2.0])?;
/// }
/// assert!(test.mmd2_unbiased()? > 0.5);
/// # Ok::<(), fastmmd::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Offset<const D: usize, const L: usize, B = Polynomial> {
    dense: Fourier<D, L, B>,
    recipe: Recipe,
    fingerprint: u32,
    /// b in turns, from 0 to 1.
    offsets: [f32; L],
}

impl<const D: usize, const L: usize> Offset<D, L> {
    /// Frequencies of the Gaussian kernel of bandwidth 1, and their offsets.
    #[must_use]
    pub const fn gaussian(seed: u64) -> Self {
        Self::of(Fourier::gaussian(seed), seed)
    }

    /// Draws the frequencies of `kernel` as [`Fourier::new`] does, and independent offsets.
    ///
    /// # Errors
    /// As [`Fourier::new`].
    pub const fn new(kernel: Kernel, sampling: Sampling, seed: u64) -> Result<Self, Error> {
        match Fourier::new(kernel, sampling, seed) {
            Ok(dense) => Ok(Self::of(dense, seed)),
            Err(error) => Err(error),
        }
    }

    /// Draws the map of a recipe again, as for a saved state.
    ///
    /// # Errors
    /// [`Error::WrongShape`] if the recipe is of another kind or shape.
    pub const fn from_recipe(recipe: &Recipe) -> Result<Self, Error> {
        if recipe.has_shape(MapKind::Offset, D, 0, L) {
            Self::new(recipe.kernel, recipe.sampling, recipe.seed)
        } else {
            Err(Error::WrongShape)
        }
    }

    const fn of(dense: Fourier<D, L>, seed: u64) -> Self {
        let mut offsets = [0.0; L];
        let mut stream = Stream::new(seed ^ OTHER);
        let mut row = 0;
        while row < L {
            offsets[row] = rounded(stream.uniform());
            row += 1;
        }
        let recipe = Recipe { kind: MapKind::Offset, ..*dense.own_recipe() };
        Self { fingerprint: recipe.fingerprint(), recipe, dense, offsets }
    }
}

impl<const D: usize, const L: usize, B> Offset<D, L, B> {
    /// What an embedding stores about this map: its fingerprint and K(0).
    pub(crate) const fn identity(&self) -> (u32, f32) {
        (self.fingerprint, self.recipe.kernel.amplitude())
    }

    /// The same frequencies and offsets, with another backend for the cosine.
    #[must_use]
    pub const fn with_backend<C>(self) -> Offset<D, L, C> {
        let Self { dense, recipe, fingerprint, offsets } = self;
        Offset { dense: dense.with_backend(), recipe, fingerprint, offsets }
    }

    /// The offset b of the k-th frequency in turns, from 0 to 1; `None` for k ≥ L.
    #[must_use]
    pub fn offset(&self, index: usize) -> Option<f32> {
        self.offsets.get(index).copied()
    }
}

/// The backend of an [`Offset`] map: the cosine of another backend, and 0 for the sine.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cosine<B>(PhantomData<B>);

impl<B: SinCos> Backend for Cosine<B> {
    type Scalar = f32;
    const CODE: u8 = <B as SinCos>::CODE;
    const OFFSET: u32 = B::OFFSET;
    const GAIN: f32 = 2.0;

    #[inline(always)]
    fn units(phase: f32) -> [u32; 2] {
        let [cos, _] = B::units(phase);
        [cos, Self::OFFSET]
    }
}

impl<const D: usize, const L: usize, B: SinCos> FeatureMap for Offset<D, L, B> {
    type Inputs = Fixed<D>;
    type Frequencies = Fixed<L>;
    type Backend = Cosine<B>;

    fn recipe(&self) -> &Recipe {
        &self.recipe
    }

    fn fingerprint(&self) -> u32 {
        self.fingerprint
    }

    fn reach(&self) -> f32 {
        self.dense.reach()
    }

    /// The phases ω'x + b, in turns.
    #[inline]
    fn project<T>(
        &self,
        sample: &[f32; D],
        items: &mut [T; L],
        mut visit: impl FnMut(&mut T, f32),
    ) -> Result<(), Error> {
        let mut offsets = self.offsets.iter();
        self.dense.project(sample, items, |item, phase| {
            // There is one for each frequency.
            let offset = offsets.next().copied().unwrap_or(0.0);
            visit(item, phase + offset);
        })
    }

    fn frequency_into(&self, index: usize, frequency: &mut [f32]) -> bool {
        self.dense.frequency_into(index, frequency)
    }
}
