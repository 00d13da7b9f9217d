//! Random Fourier features: from a standardised sample to points on circles.
//!
//! A map turns a sample x of D channels into L phases t_k = ω_k'x / 2π, in turns, and each phase
//! into a point (cos 2πt_k, sin 2πt_k). It is immutable, may be a `static` in flash, and serves
//! any number of embeddings. It passes the phases one by one to a closure, each with an item of
//! the caller's list, so that no array of L phases is needed.
//!
//! * [`kernel`] defines the distribution of the frequencies ω, [`sampling`] draws them;
//! * [`Fourier`] stores them, [`Fastfood`] multiplies by structured matrices ([`hadamard`]);
//!   [`Offset`] uses only cosines, with random offsets;
//! * [`sincos`] computes the points.

/// Declares the limits of shapes, as macros, so that messages name them too.
macro_rules! limits {
    ($($(#[$meta:meta])* $name:ident = $number:literal;)*) => {$(
        $(#[$meta])*
        macro_rules! $name {
            () => {
                $number
            };
        }
        #[cfg(feature = "alloc")]
        pub(crate) use $name;
    )*};
}

limits! {
    /// Most frequencies of a map.
    most_frequencies = 65536;
    /// Shortest block of a Fastfood map.
    least_block = 4;
    /// Longest block of a Fastfood map.
    most_block = 32768;
}

pub(crate) mod dense;
mod fastfood;
mod fourier;
pub mod hadamard;
pub mod kernel;
mod offset;
mod recipe;
pub mod sampling;
pub mod sincos;

pub use fastfood::Fastfood;
#[cfg(feature = "alloc")]
pub(crate) use fastfood::{Diagonals, block_into, mix_into, visit_each, visit_many};
pub use fourier::Fourier;
#[cfg(feature = "alloc")]
pub(crate) use fourier::{longest, seed_of_given};
pub use offset::{Cosine, Offset};
pub use recipe::{MapKind, Recipe};

use core::sync::atomic::{Ordering, compiler_fence};

use crate::condition::Reading;
use crate::error::{Error, Parameter};
use crate::numeric::{Number, rounded};
use crate::shape::{Dims, Length, Per};
use crate::state::Initial;
use sincos::Backend;

/// Largest phase that can be reduced exactly to one turn in `f32`: 2²² turns.
///
/// The phase itself is rounded to about |t|·2⁻²⁴ turns. The error of a point is therefore about
/// 1e-6 for phases around one turn and 1e-5 for 16 turns; it is useless long before this limit.
pub const MAX_TURNS: f32 = 4_194_304.0;

/// The number type of a sample, and that of its phases.
///
/// `f32` samples have `f32` phases, in turns. The `i16` samples of [`fixed`](crate::fixed) have
/// `u32` phases, in units of 2⁻³² turns, which wrap as angles do.
pub trait Scalar: Copy + Reading + Initial {
    /// The type of a phase.
    type Phase: Copy + Default;

    /// What a detector of such readings computes with.
    #[doc(hidden)]
    type Number: Number<Scalar = Self>;

    /// The factor from phases of the map to those of another bandwidth: σ of the map / other σ.
    #[doc(hidden)]
    type Factor: Copy;

    /// The factor. For integers it must be a whole number; other bandwidths are out of range.
    #[doc(hidden)]
    fn factor(own: f32, bandwidth: f32) -> Result<Self::Factor, Error>;

    /// A phase times a factor.
    #[doc(hidden)]
    fn scaled(phase: Self::Phase, factor: Self::Factor) -> Self::Phase;

    /// The size of a phase times a factor, in turns; 0 where phases wrap.
    #[doc(hidden)]
    fn turns(phase: Self::Phase, factor: Self::Factor) -> f32;

    /// Refuses a sample that a map of this reach refuses; integers are never refused.
    #[doc(hidden)]
    fn check(sample: &[Self], reach: f32) -> Result<(), Error> {
        let _ = (sample, reach);
        Ok(())
    }
}

impl Scalar for f32 {
    type Phase = Self;
    type Number = Self;
    type Factor = Self;

    fn factor(own: f32, bandwidth: f32) -> Result<Self, Error> {
        Ok(own / bandwidth)
    }

    #[inline]
    fn scaled(phase: f32, factor: f32) -> f32 {
        phase * factor
    }

    #[inline]
    fn turns(phase: f32, factor: f32) -> f32 {
        (phase * factor).abs()
    }

    #[inline]
    fn check(sample: &[f32], reach: f32) -> Result<(), Error> {
        check_sample(sample, reach)
    }
}

/// A sample of a map: `[f32; D]`, `[i16; D]`, or a slice where the shape is known at run time.
pub type Sample<M> = <<M as FeatureMap>::Inputs as Length>::Slice<ScalarOf<M>>;

/// One value for each frequency of a map: `[T; L]`, or a slice.
pub type PerFrequency<M, T> = <<M as FeatureMap>::Frequencies as Length>::Slice<T>;

/// The number type of a map's samples: `f32` or `i16`.
pub type ScalarOf<M> = <<M as FeatureMap>::Backend as Backend>::Scalar;

/// What a detector over a map computes with.
pub(crate) type NumberOf<M> = <ScalarOf<M> as Scalar>::Number;

/// The type of a map's phases.
pub type PhaseOf<M> = <ScalarOf<M> as Scalar>::Phase;

/// A feature map: from samples to points on L circles. Its type determines the shapes of all that
/// is built on it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a map",
    label = "not a map",
    note = "maps are `Fourier<D, L>` and `Fastfood<D, P, L>`, with D inputs and L frequencies, and those of `fixed`"
)]
pub trait FeatureMap {
    /// The number of channels D of a sample.
    type Inputs: Length;

    /// The number of frequencies L.
    type Frequencies: Length;

    /// The backend that turns phases into points.
    type Backend: Backend;

    /// The parameters from which this map can be drawn again.
    fn recipe(&self) -> &Recipe;

    /// [`Recipe::fingerprint`], stored: it differs between maps with different frequencies.
    fn fingerprint(&self) -> u32;

    /// Largest ‖x‖₂ for which no phase exceeds [`MAX_TURNS`]. Phases of `i16` samples never do:
    /// there it is the largest ‖x‖₂ that a sample can have.
    fn reach(&self) -> f32;

    /// Calls `visit` once for each frequency k, in ascending order, with the k-th item and the
    /// phase ω_k'x / 2π, in turns.
    ///
    /// # Errors
    /// [`Error::NonFinite`] naming the channel, or [`Error::PhaseTooLarge`] beyond
    /// [`reach`](Self::reach); `visit` has then not been called. Every `i16` sample is accepted.
    /// With lengths known at run time, [`Error::WrongShape`] for a sample of another length.
    fn project<T>(
        &self,
        sample: &Sample<Self>,
        items: &mut PerFrequency<Self, T>,
        visit: impl FnMut(&mut T, PhaseOf<Self>),
    ) -> Result<(), Error>;

    /// Calls `visit` for groups of neighbouring items, each item once for every sample, with the
    /// phases of the group for some of the samples at a time; phases beyond the last item mean
    /// nothing. The samples must be such as [`project`](Self::project) accepts. Returns `false`, and
    /// has called nothing, if the map has no faster way than one sample after the other.
    #[doc(hidden)]
    fn project_many<T>(
        &self,
        samples: &[&Sample<Self>],
        items: &mut PerFrequency<Self, T>,
        visit: impl FnMut(&mut [T], &[[PhaseOf<Self>; dense::LANES]]),
    ) -> bool {
        let _ = (samples, items, visit);
        false
    }

    /// Writes the k-th frequency vector, in turns per unit of input. Returns `false` for k ≥ L.
    fn frequency_into(&self, index: usize, frequency: &mut [f32]) -> bool;

    /// The k-th frequency vector, in turns per unit of input, or `None` for k ≥ L.
    fn frequency(&self, index: usize) -> Option<<Self::Inputs as Length>::Of<f32>> {
        let mut frequency = Per::<Self::Inputs, f32>::make(&self.dims(), || 0.0);
        self.frequency_into(index, &mut frequency).then_some(frequency.0)
    }

    /// Σ_k w_k·ω_k/2π, in turns per unit of input: the transpose of [`project`](Self::project),
    /// which turns weights on the phases into weights on the channels. O(L·D), or less where the
    /// map has a faster way.
    fn weighted_frequencies(
        &self,
        weights: &PerFrequency<Self, f32>,
    ) -> <Self::Inputs as Length>::Of<f32> {
        let mut sums = Per::<Self::Inputs, f32>::make(&self.dims(), || 0.0);
        let mut frequency = sums.like(0.0);
        for (index, weight) in weights.as_ref().iter().enumerate() {
            if self.frequency_into(index, &mut frequency) {
                for (sum, coordinate) in sums.iter_mut().zip(frequency.iter()) {
                    *sum += weight * coordinate;
                }
            }
        }
        sums.0
    }

    /// The lengths of what is built on this map, where its type does not give them.
    #[doc(hidden)]
    fn dims(&self) -> Dims {
        let recipe = self.recipe();
        let (inputs, frequencies) = (recipe.inputs as usize, recipe.frequencies as usize);
        Dims { inputs, frequencies }
    }
}

/// Refuses what [`FeatureMap::project`] refuses. O(D).
pub(crate) fn check<M: FeatureMap>(map: &M, sample: &Sample<M>) -> Result<(), Error> {
    let sample = sample.as_ref();
    if sample.len() != map.dims().inputs {
        return Err(Error::WrongShape);
    }
    ScalarOf::<M>::check(sample, map.reach())
}

/// Refuses a sample that is not finite or longer than `reach`. O(D).
#[inline]
pub(crate) fn check_sample(sample: &[f32], reach: f32) -> Result<(), Error> {
    let squared: f32 = sample.iter().map(|x| x * x).sum();
    if squared <= reach * reach {
        return Ok(());
    }
    match sample.iter().position(|x| !x.is_finite()) {
        Some(channel) => Err(Error::NonFinite(Parameter::Channel(channel))),
        None => Err(Error::PhaseTooLarge),
    }
}

/// Prevents the compiler of a microcontroller's program from interleaving several frequencies, for which
/// it has too few registers. Compiles to no instruction.
#[inline(always)]
pub(crate) fn one_at_a_time() {
    if cfg!(any(target_arch = "arm", target_arch = "riscv32")) {
        compiler_fence(Ordering::SeqCst);
    }
}

/// The reach of a map whose longest frequency is `longest` turns per unit, with a margin for
/// rounding; kept below the square root of the largest `f32` so that it can be squared.
pub(crate) const fn reach_of(longest: f64) -> f32 {
    let reach = 0.999 * MAX_TURNS as f64 / longest;
    if reach < 1e18 { rounded(reach) } else { 1e18 }
}
