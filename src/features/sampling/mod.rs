//! How frequencies are drawn: independent, quasi-random or orthogonal, or of an additive kernel.
//!
//! The first three draw from the kernel's spectral distribution; they differ in how evenly they
//! cover it. Up to [`QUASI_MAX_INPUTS`] channels, quasi-random frequencies have the smallest error of
//! MMD², averaged over changes of all channels, of one channel's level and of one channel's
//! spread. Above that, orthogonal blocks are best, except for the spread of a single channel when L
//! is large (`cargo test -p fastmmd-tests accuracy:: -- --nocapture` prints the table, and fails if
//! this is no longer true). Above [`ORTHOGONAL_MAX_INPUTS`] channels, independent directions are
//! nearly orthogonal anyway, and making them exactly so would take minutes.
//!
//! The same seed gives the same frequencies, bit for bit, on every target and at compile time.

mod additive;
mod independent;
mod orthogonal;
mod quasi;
mod radius;
mod stream;

use super::dense;
use super::kernel::{Kernel, Tail};
use crate::error::Error;
use crate::numeric::{cos_sin_turns, normal_quantile, rounded};
use crate::state::codes;

pub(crate) use radius::{Strata, stratified_radii};
pub(crate) use stream::Stream;

/// Largest input dimension for which [`Sampling::Auto`] is [`Sampling::Quasi`].
pub const QUASI_MAX_INPUTS: usize = 4;

/// Largest input dimension for which [`Sampling::Auto`] is [`Sampling::Orthogonal`].
pub const ORTHOGONAL_MAX_INPUTS: usize = 512;

/// How the L frequencies of a dense map are drawn from the spectral distribution.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Sampling {
    /// [`Quasi`](Self::Quasi) up to [`QUASI_MAX_INPUTS`] channels and for kernels that are not
    /// spherical, [`Orthogonal`](Self::Orthogonal) up to [`ORTHOGONAL_MAX_INPUTS`] channels,
    /// [`Independent`](Self::Independent) above.
    #[default]
    Auto,
    /// Independent draws, as in the FastMMD paper: the error falls as 1/√L.
    Independent,
    /// A scrambled Halton sequence, mapped by the inverse distribution function to a half-space
    /// of frequencies (ω and −ω give the same kernel).
    Quasi,
    /// Blocks of D orthogonal directions with stratified lengths; spherical kernels only. Drawing
    /// takes 4·D·L·min(D, L) operations: seconds for 512 × 4096, minutes for 4096 × 4096.
    Orthogonal,
    /// Frequencies of an additive kernel of the same bandwidth: the mean of kernels of single
    /// inputs, of pairs of inputs, and of all inputs. It responds to a change of one channel among
    /// many. For standardised inputs, as a [`Detector`](crate::Detector) has them; Gaussian kernels
    /// only.
    Additive,
}

codes!(Sampling {
    Auto = 0 "auto",
    Independent = 1 "independent",
    Quasi = 2 "quasi",
    Orthogonal = 3 "orthogonal",
    Additive = 4 "additive",
});

impl Sampling {
    /// Replaces [`Auto`](Self::Auto) by the sampling it stands for; returns the others unchanged.
    ///
    /// # Errors
    /// [`Error::NotSpherical`] for orthogonal sampling of a kernel that is not spherical;
    /// [`Error::NotGaussian`] for additive sampling of one that is not Gaussian.
    pub const fn resolve(self, kernel: &Kernel, inputs: usize) -> Result<Self, Error> {
        match self.scheme(kernel, inputs) {
            Ok(scheme) => Ok(scheme.sampling()),
            Err(error) => Err(error),
        }
    }

    pub(crate) const fn scheme(self, kernel: &Kernel, inputs: usize) -> Result<Scheme, Error> {
        match self {
            Self::Auto => Ok(Scheme::auto(kernel, inputs)),
            Self::Independent => Ok(Scheme::Independent),
            Self::Quasi => Ok(Scheme::Quasi),
            Self::Orthogonal if kernel.is_spherical() => Ok(Scheme::Orthogonal),
            Self::Additive if matches!(kernel.tail(), Tail::Normal) => Ok(Scheme::Additive),
            Self::Orthogonal => Err(Error::NotSpherical),
            Self::Additive => Err(Error::NotGaussian),
        }
    }
}

/// A [`Sampling`] other than [`Sampling::Auto`].
#[derive(Clone, Copy)]
pub(crate) enum Scheme {
    Independent,
    Quasi,
    Orthogonal,
    Additive,
}

impl Scheme {
    pub(crate) const fn sampling(self) -> Sampling {
        match self {
            Self::Independent => Sampling::Independent,
            Self::Quasi => Sampling::Quasi,
            Self::Orthogonal => Sampling::Orthogonal,
            Self::Additive => Sampling::Additive,
        }
    }

    pub(crate) const fn auto(kernel: &Kernel, inputs: usize) -> Self {
        if inputs <= QUASI_MAX_INPUTS || !kernel.is_spherical() {
            Self::Quasi
        } else if inputs <= ORTHOGONAL_MAX_INPUTS {
            Self::Orthogonal
        } else {
            Self::Independent
        }
    }
}

/// Frequency vectors, their number and length, and how many are stored in a group: see
/// [`dense`](super::dense). In groups of 1 they are stored one after the other.
pub(crate) struct Frequencies<'f> {
    pub(crate) coordinates: &'f mut [f32],
    pub(crate) inputs: usize,
    pub(crate) count: usize,
    pub(crate) at_once: usize,
}

impl Frequencies<'_> {
    const fn set(&mut self, row: usize, channel: usize, value: f64) {
        let index = dense::place(row, channel, self.inputs, self.count, self.at_once);
        if index < self.coordinates.len() {
            self.coordinates[index] = rounded(value);
        }
    }
}

/// Element `index`, which always exists; this form cannot panic.
const fn get(values: &[f64], index: usize) -> f64 {
    if index < values.len() { values[index] } else { 0.0 }
}

/// Sets element `index`, which always exists; this form cannot panic.
const fn set(values: &mut [f64], index: usize, value: f64) {
    if index < values.len() {
        values[index] = value;
    }
}

/// Draws L frequency vectors of D coordinates, in turns per unit of input.
pub(crate) const fn draw<const D: usize, const L: usize>(
    kernel: &Kernel,
    scheme: Scheme,
    seed: u64,
) -> [[f32; D]; L] {
    let mut drawn = [[0.0; D]; L];
    draw_into(kernel, scheme, seed, 1, &mut drawn);
    drawn
}

/// The same, in groups of `at_once`, into memory of the caller.
pub(crate) const fn draw_into<const D: usize, const L: usize>(
    kernel: &Kernel,
    scheme: Scheme,
    seed: u64,
    at_once: usize,
    drawn: &mut [[f32; D]; L],
) {
    let mut stream = Stream::new(seed);
    let coordinates = drawn.as_flattened_mut();
    let frequencies = Frequencies { coordinates, inputs: D, count: L, at_once };
    match scheme {
        Scheme::Independent => independent::draw(kernel, &mut stream, frequencies),
        Scheme::Additive => additive::draw(kernel, &mut stream, frequencies),
        Scheme::Quasi => {
            quasi::draw(kernel, &mut stream, frequencies, &mut [0.0; L], &mut [0.0; L]);
        }
        Scheme::Orthogonal => {
            let strata = Strata { radii: &mut [0.0; L], order: &mut [0; L] };
            let mut basis = [[0.0; D]; D];
            let basis = basis.as_flattened_mut();
            orthogonal::draw(kernel, &mut stream, frequencies, strata, basis);
        }
    }
}

/// The same for a shape known at run time.
#[cfg(feature = "alloc")]
pub(crate) fn draw_dynamic(
    kernel: &Kernel,
    scheme: Scheme,
    seed: u64,
    inputs: usize,
    count: usize,
    at_once: usize,
) -> alloc::vec::Vec<f32> {
    use alloc::vec;
    let mut stream = Stream::new(seed);
    let mut drawn = vec![0.0; inputs * count];
    let frequencies = Frequencies { coordinates: &mut drawn, inputs, count, at_once };
    let mut first = vec![0.0; count];
    match scheme {
        Scheme::Independent => independent::draw(kernel, &mut stream, frequencies),
        Scheme::Additive => additive::draw(kernel, &mut stream, frequencies),
        Scheme::Quasi => {
            quasi::draw(kernel, &mut stream, frequencies, &mut first, &mut vec![0.0; count]);
        }
        Scheme::Orthogonal => {
            let order = &mut vec![0; count];
            let strata = Strata { radii: &mut first, order };
            let mut basis = vec![0.0; inputs * inputs.min(count)];
            orthogonal::draw(kernel, &mut stream, frequencies, strata, &mut basis);
        }
    }
    drawn
}

/// One coordinate of a unit-bandwidth frequency from a uniform number, before any Student factor.
const fn coordinate(tail: Tail, u: f64) -> f64 {
    match tail {
        Tail::Normal | Tail::Student(_) => normal_quantile(u),
        Tail::CauchyPerAxis => {
            // tan(π(u − ½))
            let (cos, sin) = cos_sin_turns(0.5 * (u - 0.5));
            sin / cos
        }
    }
}

/// Draws the seed of a map from a random generator, such as the chip's own.
///
/// ```
/// use fastmmd::{Fourier, Kernel, Sampling, seed_from};
/// use rand_core::SeedableRng;
///
/// let mut generator = rand_xorshift::XorShiftRng::seed_from_u64(1);
/// let map = Fourier::<3, 64>::new(Kernel::GAUSSIAN, Sampling::Auto, seed_from(&mut generator))?;
/// # Ok::<(), fastmmd::Error>(())
/// ```
#[cfg(feature = "rand_core")]
pub fn seed_from(generator: &mut impl rand_core::Rng) -> u64 {
    generator.next_u64()
}
