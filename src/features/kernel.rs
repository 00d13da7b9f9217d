//! Shift-invariant kernels, given by their spectral distributions.
//!
//! By Bochner's theorem K(x − y) = K(0)·E cos(ω'(x − y)) for frequencies ω drawn from the
//! kernel's spectral distribution p(ω). For a unit bandwidth:
//!
//! | profile | K(x)/K(0) | ω |
//! |---|---|---|
//! | Gaussian | exp(−‖x‖₂²/2) | N(0, I) |
//! | Laplacian | exp(−‖x‖₁) | independent Cauchy per axis |
//! | Exponential | exp(−‖x‖₂) | multivariate t, 1 degree of freedom |
//! | Matérn 3/2 | (1+√3‖x‖₂) exp(−√3‖x‖₂) | multivariate t, 3 degrees |
//! | Matérn 5/2 | (1+√5‖x‖₂+5‖x‖₂²/3) exp(−√5‖x‖₂) | multivariate t, 5 degrees |
//!
//! A bandwidth σ divides x, and so ω, by σ. All but the product Laplacian are spherically
//! invariant: ω has a uniform direction and an independent length.

use crate::error::{Error, Parameter};
use crate::state::codes;

/// The shape of a kernel, apart from its bandwidth and its value at 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Profile {
    /// exp(−‖x‖₂²/2σ²): smooth; the usual choice.
    #[default]
    Gaussian,
    /// exp(−‖x‖₁/σ), a product over the axes; not spherically invariant. A few of its Cauchy
    /// frequencies are huge; with many frequencies they limit how large a sample can be
    /// ([`FeatureMap::reach`](crate::FeatureMap::reach)).
    Laplacian,
    /// exp(−‖x‖₂/σ), radial; heavy spectral tails: sensitive to fine structure.
    Exponential,
    /// Matérn kernel of smoothness 3/2.
    Matern32,
    /// Matérn kernel of smoothness 5/2.
    Matern52,
}

codes!(Profile {
    Gaussian = 0 "gaussian",
    Laplacian = 1 "laplacian",
    Exponential = 2 "exponential",
    Matern32 = 3 "matern32",
    Matern52 = 4 "matern52",
});

/// How the length of a frequency is distributed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tail {
    /// Normal coordinates.
    Normal,
    /// Normal coordinates divided by √(χ²_k / k): a multivariate t with k degrees of freedom.
    Student(usize),
    /// An independent Cauchy variable for each coordinate.
    CauchyPerAxis,
}

/// A kernel: its profile, its bandwidth σ (in units of the input) and K(0).
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Kernel {
    profile: Profile,
    bandwidth: f32,
    amplitude: f32,
}

impl Kernel {
    /// The Gaussian kernel with σ = 1 and K(0) = 1.
    pub const GAUSSIAN: Self = Self::unit(Profile::Gaussian);
    /// The product Laplacian kernel with σ = 1 and K(0) = 1.
    pub const LAPLACIAN: Self = Self::unit(Profile::Laplacian);
    /// The exponential kernel with σ = 1 and K(0) = 1.
    pub const EXPONENTIAL: Self = Self::unit(Profile::Exponential);
    /// The Matérn kernel of smoothness 3/2 with σ = 1 and K(0) = 1.
    pub const MATERN32: Self = Self::unit(Profile::Matern32);
    /// The Matérn kernel of smoothness 5/2 with σ = 1 and K(0) = 1.
    pub const MATERN52: Self = Self::unit(Profile::Matern52);

    /// Range of the bandwidth and of K(0). Outside it, `f32` phases have no correct digits.
    pub const RANGE: core::ops::RangeInclusive<f32> = 1e-12..=1e12;

    const fn unit(profile: Profile) -> Self {
        Self { profile, bandwidth: 1.0, amplitude: 1.0 }
    }

    /// A kernel of this profile with bandwidth σ and K(0) = 1.
    ///
    /// # Errors
    /// [`Error::NonFinite`] or [`Error::OutOfRange`] for a bandwidth that is NaN, infinite, zero,
    /// negative or outside [`Kernel::RANGE`].
    pub const fn new(profile: Profile, bandwidth: f32) -> Result<Self, Error> {
        match Self::check(bandwidth, Parameter::Bandwidth) {
            Ok(()) => Ok(Self { profile, bandwidth, amplitude: 1.0 }),
            Err(error) => Err(error),
        }
    }

    /// The same kernel with K(0) = `amplitude`; every MMD² is multiplied by it.
    ///
    /// # Errors
    /// [`Error::NonFinite`] or [`Error::OutOfRange`] as for [`Kernel::new`].
    pub const fn with_amplitude(self, amplitude: f32) -> Result<Self, Error> {
        match Self::check(amplitude, Parameter::Amplitude) {
            Ok(()) => Ok(Self { amplitude, ..self }),
            Err(error) => Err(error),
        }
    }

    const fn check(value: f32, parameter: Parameter) -> Result<(), Error> {
        if !value.is_finite() {
            Err(Error::NonFinite(parameter))
        } else if value < *Self::RANGE.start() || value > *Self::RANGE.end() {
            Err(Error::OutOfRange(parameter))
        } else {
            Ok(())
        }
    }

    /// The kernel's shape.
    #[must_use]
    pub const fn profile(&self) -> Profile {
        self.profile
    }

    /// The bandwidth σ, in units of the input.
    #[must_use]
    pub const fn bandwidth(&self) -> f32 {
        self.bandwidth
    }

    /// K(0).
    #[must_use]
    pub const fn amplitude(&self) -> f32 {
        self.amplitude
    }

    /// Whether K depends on ‖x‖₂ alone, as Fastfood and orthogonal sampling need.
    #[must_use]
    pub const fn is_spherical(&self) -> bool {
        match self.tail() {
            Tail::Normal | Tail::Student(_) => true,
            Tail::CauchyPerAxis => false,
        }
    }

    pub(crate) const fn tail(&self) -> Tail {
        match self.profile {
            Profile::Gaussian => Tail::Normal,
            Profile::Laplacian => Tail::CauchyPerAxis,
            Profile::Exponential => Tail::Student(1),
            Profile::Matern32 => Tail::Student(3),
            Profile::Matern52 => Tail::Student(5),
        }
    }

    /// 1/(2πσ): converts a unit-bandwidth frequency in radians to turns per unit of input.
    pub(crate) const fn turns_per_radian(&self) -> f64 {
        1.0 / (core::f64::consts::TAU * self.bandwidth as f64)
    }
}

impl Default for Kernel {
    fn default() -> Self {
        Self::GAUSSIAN
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refuses_bad_bandwidths_and_amplitudes_by_name() {
        let non_finite = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY];
        for value in non_finite {
            assert_eq!(
                Kernel::new(Profile::Gaussian, value),
                Err(Error::NonFinite(Parameter::Bandwidth))
            );
            assert_eq!(
                Kernel::GAUSSIAN.with_amplitude(value),
                Err(Error::NonFinite(Parameter::Amplitude))
            );
        }
        for value in [0.0, -0.0, -1.0, 1e-30, 1e30] {
            assert_eq!(
                Kernel::new(Profile::Gaussian, value),
                Err(Error::OutOfRange(Parameter::Bandwidth))
            );
            assert_eq!(
                Kernel::GAUSSIAN.with_amplitude(value),
                Err(Error::OutOfRange(Parameter::Amplitude))
            );
        }
    }
}
