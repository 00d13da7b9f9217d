//! Sine and cosine: backends that turn a phase into a point on the circle.
//!
//! | backend | feature | largest error | for |
//! |---|---|---|---|
//! | [`Polynomial`] | – | 1e-6 | general use; the default |
//! | [`Quick`] | – | 1e-5 | the fewest instructions |
//! | `Libm` | `libm` | 5e-7 | comparison; slow without hardware `f64` |
//! | `Micromath` | `micromath` | 2e-3 | programs that use micromath already |
//! | [`fixed::Table`](crate::fixed::Table) | – | 8e-5 | the maps of [`fixed`](crate::fixed), in integers |
//!
//! Errors are absolute, over one turn. Each is the backend's [`SinCos::MAX_ERROR`], and is tested.

#[cfg(feature = "libm")]
mod libm;
#[cfg(feature = "micromath")]
mod micromath;
mod polynomial;

#[cfg(feature = "libm")]
pub use self::libm::Libm;
#[cfg(feature = "micromath")]
pub use self::micromath::Micromath;
pub use polynomial::{Polynomial, Quick};

use super::Scalar;
use crate::numeric::{CircleMeans, Number, Rate, Real};
use crate::state::state;

/// A point on (or, as a mean of points, inside) the unit circle.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Point {
    /// Cosine of the phase.
    pub cos: f32,
    /// Sine of the phase.
    pub sin: f32,
}

impl Point {
    /// The centre of the circle: the mean of no points at all.
    pub const ZERO: Self = Self { cos: 0.0, sin: 0.0 };

    /// Moves by the fraction `rate` of the way to another point.
    #[inline(always)]
    pub(crate) fn blend(&mut self, to: Self, rate: f32) {
        self.cos += rate * (to.cos - self.cos);
        self.sin += rate * (to.sin - self.sin);
    }

    /// |a − b|².
    #[inline(always)]
    pub(crate) fn squared_distance(&self, other: &Self) -> f32 {
        let (cos, sin) = (self.cos - other.cos, self.sin - other.sin);
        cos * cos + sin * sin
    }
}

/// A point on the unit circle as versine (1 − cos) and sine. The sums take this form; some
/// backends compute 1 − cos before cos.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Versed {
    /// 1 − cosine of the phase: from 0 to 2.
    pub versine: f32,
    /// Sine of the phase.
    pub sin: f32,
}

impl From<Versed> for Point {
    #[inline]
    fn from(Versed { versine, sin }: Versed) -> Self {
        Self { cos: 1.0 - versine, sin }
    }
}

impl From<Point> for Versed {
    #[inline]
    fn from(Point { cos, sin }: Point) -> Self {
        Self { versine: 1.0 - cos, sin }
    }
}

/// A backend as an embedding uses it: points in integer units of 2⁻²⁴.
///
/// Every [`SinCos`] is one. So is [`fixed::Table`](crate::fixed::Table), which needs no floating
/// point.
pub trait Backend: Copy + PartialEq + core::fmt::Debug {
    /// The number type of the samples.
    type Scalar: Scalar;

    /// Identifies the backend in saved sums: [`SinCos::CODE`].
    const CODE: u8;

    /// [`units`](Self::units) subtracts this from the cosine and adds it to the sine.
    const OFFSET: u32;

    /// What the mean of products of points over all circles is multiplied by, besides K(0), to give
    /// the kernel: 1 for points on the circle, 2 for cosines alone.
    const GAIN: f32 = 1.0;

    /// cos − [`OFFSET`](Self::OFFSET) and sin + [`OFFSET`](Self::OFFSET) of a phase, in units of
    /// 2⁻²⁴, modulo 2³².
    fn units(phase: <Self::Scalar as Scalar>::Phase) -> [u32; 2];
}

impl<B: SinCos + Copy + PartialEq + core::fmt::Debug> Backend for B {
    type Scalar = f32;
    const CODE: u8 = <B as SinCos>::CODE;
    const OFFSET: u32 = 6 << 24;

    /// One `f32` addition per coordinate: the bits of a number x from 4 to 8 are a multiple of 2²⁹
    /// plus 2²¹·x, so a shift gives x in units of 2⁻²⁴.
    #[inline(always)]
    fn units(phase: f32) -> [u32; 2] {
        let Versed { versine, sin } = B::versed(phase);
        // 6 − cos = 5 + versine. A shift of the added number costs nothing on a Cortex-M4.
        [((5.0 + versine).to_bits() << 3).wrapping_neg(), (6.0 + sin).to_bits() << 3]
    }
}

/// A backend that a detector can use.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no points for a detector",
    label = "not for a detector",
    note = "detectors need a map of points on circles: `Fourier`, `Fastfood`, or those of `fixed`"
)]
pub trait Points: Backend {
    /// The point of a phase.
    #[doc(hidden)]
    fn point_of(phase: <Self::Scalar as Scalar>::Phase) -> PointOf<Self>;
}

/// A point as the detectors of a backend use it.
#[doc(hidden)]
pub type PointOf<B> =
    <<NumberOfBackend<B> as Number>::Means as CircleMeans<NumberOfBackend<B>>>::Point;

type NumberOfBackend<B> = <<B as Backend>::Scalar as Scalar>::Number;

impl<B: SinCos + Copy + PartialEq + core::fmt::Debug> Points for B {
    #[inline(always)]
    fn point_of(phase: f32) -> Point {
        B::point(phase)
    }
}

state! {
    /// Two means of points on the circle of one frequency: of what was learned, and of a window. Side
    /// by side, so that a row goes through them once.
    #[derive(Debug, Clone, Copy, PartialEq)]
    #[doc(hidden)]
    pub struct Means {
        reference: Point,
        window: Point,
    }
}

impl CircleMeans<f32> for Means {
    type Point = Point;
    type Squared = f32;

    #[inline(always)]
    fn take_in(&mut self, point: Point, rate: Rate, least: Option<f32>) -> f32 {
        let mut of_window = 1.0_f32.part(rate);
        if let Some(share) = least {
            self.reference.blend(point, share);
            of_window = of_window.or_more(share);
        }
        self.window.blend(point, of_window);
        self.distance()
    }

    #[inline(always)]
    fn distance(&self) -> f32 {
        self.window.squared_distance(&self.reference)
    }

    fn reference(&self) -> [f32; 2] {
        [self.reference.cos, self.reference.sin]
    }

    fn reference_distance(&self, other: &Self) -> f32 {
        self.reference.squared_distance(&other.reference)
    }

    fn blend(&mut self, other: &Self, share: f32) {
        self.reference.blend(other.reference, share);
    }

    fn settle(&mut self) {
        self.window = self.reference;
    }
}

/// A way to compute sine and cosine together.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not compute sine and cosine in `f32`",
    label = "not for samples of `f32`",
    note = "coupling monitors and witnesses need a map of `f32` samples, not one of `fixed`"
)]
pub trait SinCos: Backend<Scalar = f32> {
    /// Largest absolute error of either, for phases within a turn.
    const MAX_ERROR: f32;

    /// Identifies the backend in saved sums. Codes below 128 are reserved for this crate.
    const CODE: u8;

    /// (cos 2πt, sin 2πt) for a phase t in turns, |t| ≤ [`MAX_TURNS`](crate::features::MAX_TURNS).
    fn point(turns: f32) -> Point;

    /// The same point as (1 − cos 2πt, sin 2πt): cheaper if the backend computes 1 − cos first.
    #[inline]
    #[must_use]
    fn versed(turns: f32) -> Versed {
        Self::point(turns).into()
    }
}

/// The phase minus the nearest whole number: in [−½, ½], exact for |t| ≤ 2²².
#[inline]
fn reduce(turns: f32) -> f32 {
    // A sum with 1.5·2²³ has no bits for a fraction: it is rounded to a whole number.
    const ROUNDING: f32 = 12_582_912.0;
    turns - ((turns + ROUNDING) - ROUNDING)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Largest error over spaced phases within a turn, whole turns away, and the corners.
    fn largest_error<B: SinCos>() -> f64 {
        let spaced = (-100_000_i32..=100_000).map(|i| i as f32 / 200_000.0);
        let corners = [0.0, 0.125, 0.25, 0.375, 0.5, -0.25, -0.5, 1.0, 1.5, -16.0, 15.999_9];
        let distant = (0..10_000_i16).map(|i| f32::from(i) * 0.419_3 - 2048.0);
        let limit = [4_194_303.5, -4_194_303.5, 4_194_304.0];
        spaced
            .chain(corners)
            .chain(distant)
            .chain(limit)
            .map(|turns| {
                let point = B::point(turns);
                // The fraction of a turn is exact in f64, so both sides have the same phase.
                let fraction = f64::from(turns) - f64::from(turns).round();
                let (sin, cos) = (core::f64::consts::TAU * fraction).sin_cos();
                (f64::from(point.cos) - cos).abs().max((f64::from(point.sin) - sin).abs())
            })
            .fold(0.0, f64::max)
    }

    fn keeps_its_promise<B: SinCos>(name: &str) {
        let error = largest_error::<B>();
        std::println!("{name}: {error:.3e} of {:.3e}", B::MAX_ERROR);
        assert!(error <= f64::from(B::MAX_ERROR), "{name}: {error}");
        // The stated error is not too loose: less than four times the measured one.
        assert!(error * 4.0 >= f64::from(B::MAX_ERROR), "{name}: {error}");
    }

    #[test]
    #[cfg_attr(miri, ignore = "too slow when interpreted")]
    fn every_backend_keeps_its_promise() {
        keeps_its_promise::<Polynomial>("polynomial");
        keeps_its_promise::<Quick>("quick");
        #[cfg(feature = "libm")]
        keeps_its_promise::<Libm>("libm");
        #[cfg(feature = "micromath")]
        keeps_its_promise::<Micromath>("micromath");
    }

    #[test]
    #[cfg_attr(miri, ignore = "too slow when interpreted")]
    fn a_worse_backend_is_caught() {
        #[derive(Debug, Clone, Copy, PartialEq)]
        struct Sloppy;
        impl SinCos for Sloppy {
            const MAX_ERROR: f32 = 1e-6;
            const CODE: u8 = 255;
            fn point(turns: f32) -> Point {
                let Point { cos, sin } = Polynomial::point(turns);
                Point { cos: cos + 2e-6, sin }
            }
        }
        assert!(largest_error::<Sloppy>() > f64::from(Sloppy::MAX_ERROR));
    }
}
