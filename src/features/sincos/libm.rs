//! Sine and cosine of the `libm` crate.

use super::{Point, SinCos, reduce};

/// `libm::sincosf` of the reduced phase. It computes in `f64`: on a core without double precision
/// it takes many times as long as [`Polynomial`](super::Polynomial).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Libm;

impl SinCos for Libm {
    const MAX_ERROR: f32 = 5e-7;
    const CODE: u8 = 1;

    #[inline]
    fn point(turns: f32) -> Point {
        let (sin, cos) = ::libm::sincosf(core::f32::consts::TAU * reduce(turns));
        Point { cos, sin }
    }
}
