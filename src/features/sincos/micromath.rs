//! Sine and cosine of the `micromath` crate.

use super::{Point, SinCos, reduce};

/// `micromath`'s approximations of the reduced phase: a thousand times coarser than the
/// [`Polynomial`](super::Polynomial), and not faster.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Micromath;

impl SinCos for Micromath {
    const MAX_ERROR: f32 = 2e-3;
    const CODE: u8 = 2;

    #[inline]
    fn point(turns: f32) -> Point {
        let angle = ::micromath::F32(core::f32::consts::TAU * reduce(turns));
        Point { cos: angle.cos().0, sin: angle.sin().0 }
    }
}
