//! Which frequencies to use: independent, quasi-random or orthogonal.
//!
//! All three draw from the kernel's spectral distribution and differ in how evenly they cover
//! it. Averaged over changes of all channels, of one channel's level and of one channel's spread,
//! quasi-random frequencies have the smallest error of MMD² up to [`QUASI_MAX_DIMS`] channels;
//! above, orthogonal blocks do, except for the spread of a single channel when L is large
//! (`cargo test -p fastmmd-reference --test accuracy -- --nocapture` prints the table, and fails
//! if the rule stops being true).
//!
//! The same seed gives the same frequencies, bit for bit, on every target and at compile time.

mod independent;
mod orthogonal;
mod quasi;
mod radius;
mod stream;

use crate::codes::codes;
use crate::error::Error;
use crate::kernel::{Kernel, Tail};
use crate::numeric::{cos_sin_turns, normal_quantile};

pub(crate) use radius::stratified_radii;
pub(crate) use stream::Stream;

/// Largest input dimension for which [`Sampling::Auto`] is [`Sampling::Quasi`].
pub const QUASI_MAX_DIMS: usize = 4;

/// How the L frequencies of a dense map are spread over the spectral distribution.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Sampling {
    /// [`Quasi`](Self::Quasi) up to [`QUASI_MAX_DIMS`] channels and for kernels that are not
    /// spherical, [`Orthogonal`](Self::Orthogonal) otherwise.
    #[default]
    Auto,
    /// Independent draws, as in the FastMMD paper: the error falls as 1/√L.
    Independent,
    /// A scrambled Halton sequence through the inverse distribution function, on the half-space
    /// of frequencies (ω and −ω say the same).
    Quasi,
    /// Blocks of D orthogonal directions with stratified lengths; spherical kernels only.
    Orthogonal,
}

codes!(Sampling {
    Auto = 0 "auto",
    Independent = 1 "independent",
    Quasi = 2 "quasi",
    Orthogonal = 3 "orthogonal",
});

/// A sampling that is no longer a choice.
enum Scheme {
    Independent,
    Quasi,
    Orthogonal,
}

impl Sampling {
    /// The sampling that [`Auto`](Self::Auto) stands for; the others stand for themselves.
    ///
    /// # Errors
    /// [`Error::NotSpherical`] for orthogonal sampling of a kernel that is not spherical.
    pub const fn resolve(self, kernel: &Kernel, dims: usize) -> Result<Self, Error> {
        match self.scheme(kernel, dims) {
            Ok(Scheme::Independent) => Ok(Self::Independent),
            Ok(Scheme::Quasi) => Ok(Self::Quasi),
            Ok(Scheme::Orthogonal) => Ok(Self::Orthogonal),
            Err(error) => Err(error),
        }
    }

    const fn scheme(self, kernel: &Kernel, dims: usize) -> Result<Scheme, Error> {
        match self {
            Self::Auto if dims <= QUASI_MAX_DIMS || !kernel.is_spherical() => Ok(Scheme::Quasi),
            Self::Orthogonal if !kernel.is_spherical() => Err(Error::NotSpherical),
            Self::Auto | Self::Orthogonal => Ok(Scheme::Orthogonal),
            Self::Independent => Ok(Scheme::Independent),
            Self::Quasi => Ok(Scheme::Quasi),
        }
    }
}

/// Draws L frequency vectors of D coordinates, in turns per unit of input.
pub(crate) const fn draw<const D: usize, const L: usize>(
    kernel: &Kernel,
    sampling: Sampling,
    seed: u64,
) -> Result<[[f32; D]; L], Error> {
    let mut stream = Stream::new(seed);
    match sampling.scheme(kernel, D) {
        Ok(Scheme::Independent) => Ok(independent::draw(kernel, &mut stream)),
        Ok(Scheme::Quasi) => Ok(quasi::draw(kernel, &mut stream)),
        Ok(Scheme::Orthogonal) => Ok(orthogonal::draw(kernel, &mut stream)),
        Err(error) => Err(error),
    }
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

/// A seed for a map from a random generator, such as the chip's own.
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
