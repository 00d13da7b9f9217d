//! From a sample to L phases: the maps.
//!
//! A map is immutable, may be a `static` in flash, and serves any number of embeddings. It turns
//! a sample x of D channels into L phases t_k = ω_k'x / 2π, in turns, and hands each to a
//! visitor next to an item of the caller's, so that no array of L phases is needed.

mod fastfood;
mod fourier;
mod recipe;

pub use fastfood::Fastfood;
pub use fourier::Fourier;
pub(crate) use recipe::CHECKSUM;
pub use recipe::{MapKind, Recipe};

use crate::error::{Error, Parameter};
use crate::numeric::rounded;

/// Largest phase, in turns, that can be reduced exactly to one turn in `f32`: 2²².
///
/// The phase itself is rounded to about |t|·2⁻²⁴ turns, so a point on the circle is good to 1e-6
/// for phases of a turn or so, to 1e-5 for 16 turns, and means little long before this limit.
pub const MAX_TURNS: f32 = 4_194_304.0;

/// The numbers that samples are made of, and what their phases are.
///
/// `f32` samples have `f32` phases, in turns; the `i16` samples of [`fixed`](crate::fixed) have
/// `u32` phases, in 2⁻³² turns, which wrap as angles do.
pub trait Scalar: Copy {
    /// A phase.
    type Phase: Copy;
}

impl Scalar for f32 {
    type Phase = Self;
}

/// A map from samples of D channels to L phases.
pub trait FeatureMap<const D: usize, const L: usize, X: Scalar = f32> {
    /// What it takes to make this map again.
    fn recipe(&self) -> &Recipe;

    /// A number that tells maps with other frequencies apart: [`Recipe::fingerprint`], kept.
    fn fingerprint(&self) -> u32;

    /// Largest ‖x‖₂ for which no phase exceeds [`MAX_TURNS`]; with `i16` samples, which no phase
    /// is too large for, the largest there is.
    fn reach(&self) -> f32;

    /// Calls `visit` once for each frequency k, with the k-th item and the phase ω_k'x / 2π in
    /// turns; the order is that of k.
    ///
    /// # Errors
    /// [`Error::NonFinite`] naming the channel, or [`Error::PhaseTooLarge`] beyond
    /// [`reach`](Self::reach); `visit` has then not been called. With `i16` samples, none.
    fn project<T>(
        &self,
        sample: &[X; D],
        items: &mut [T; L],
        visit: impl FnMut(&mut T, X::Phase),
    ) -> Result<(), Error>;

    /// The k-th frequency vector, in turns per unit of input, or `None` for k ≥ L.
    fn frequency(&self, index: usize) -> Option<[f32; D]>;

    /// Σ_k w_k·ω_k/2π, the transpose of [`project`](Self::project), in turns per unit of input:
    /// what a weight on each phase says of the channels. O(L·D), unless a map knows better.
    fn weighted_frequencies(&self, weights: &[f32; L]) -> [f32; D] {
        let mut sums = [0.0; D];
        for (index, weight) in weights.iter().enumerate() {
            if let Some(frequency) = self.frequency(index) {
                for (sum, coordinate) in sums.iter_mut().zip(frequency) {
                    *sum += weight * coordinate;
                }
            }
        }
        sums
    }
}

/// Refuses a sample that is not finite or longer than `reach`. O(D).
#[inline]
fn check_sample<const D: usize>(sample: &[f32; D], reach: f32) -> Result<(), Error> {
    let squared: f32 = sample.iter().map(|x| x * x).sum();
    if squared <= reach * reach {
        return Ok(());
    }
    match sample.iter().position(|x| !x.is_finite()) {
        Some(channel) => Err(Error::NonFinite(Parameter::Channel(channel))),
        None => Err(Error::PhaseTooLarge),
    }
}

/// The reach of a map whose longest frequency is `longest` turns per unit, with a margin for
/// rounding; held below the square root of the largest `f32` so that it can be squared.
const fn reach_of(longest: f64) -> f32 {
    let reach = 0.999 * MAX_TURNS as f64 / longest;
    if reach < 1e18 { rounded(reach) } else { 1e18 }
}
