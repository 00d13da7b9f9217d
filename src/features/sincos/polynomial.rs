//! The crate's own sine and cosine.
//!
//! With S = √2 sin πr and C = √2 cos πr for the reduced phase r ∈ [−½, ½], the double-angle
//! formulae give 1 − cos 2πr = S² and sin 2πr = S·C: one range covers the whole circle, without
//! branches. S/r and C are minimax polynomials in r², weighted by their effect on the point. The
//! last digits of the coefficients were chosen for the smallest error after rounding.

use super::{Point, SinCos, Versed, reduce};

/// The default backend: two polynomials of five terms in the half angle. Additions and
/// multiplications only, no branches, the same bits on every target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Polynomial;

/// Two polynomials of four terms in the half angle: saves a fifteenth of the instructions of
/// [`Polynomial`], with ten times its error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Quick;

/// The powers r², r⁴, r⁶ and r⁸, shared by both polynomials. Sums of multiples of shared powers
/// take fewer instructions than Horner's scheme, which shares nothing.
struct Powers([f32; 4]);

impl Powers {
    #[inline(always)]
    fn of(r: f32) -> Self {
        let z = r * r;
        let z2 = z * z;
        Self([z, z2, z2 * z, z2 * z2])
    }

    #[inline(always)]
    fn five(&self, [c0, c1, c2, c3, c4]: [f32; 5]) -> f32 {
        let Self([z, z2, z3, z4]) = *self;
        c4 * z4 + c3 * z3 + c2 * z2 + c1 * z + c0
    }

    #[inline(always)]
    fn four(&self, [c0, c1, c2, c3]: [f32; 4]) -> f32 {
        let Self([z, z2, z3, _]) = *self;
        c3 * z3 + c2 * z2 + c1 * z + c0
    }
}

impl SinCos for Polynomial {
    const MAX_ERROR: f32 = 1e-6;
    const CODE: u8 = 0;

    #[inline]
    fn point(turns: f32) -> Point {
        Self::versed(turns).into()
    }

    #[inline(always)]
    fn versed(turns: f32) -> Versed {
        const SINE: [f32; 5] = [4.442_883, -7.308_242, 3.606_256_5, -0.845_503_45, 0.108_684_37];
        const COSINE: [f32; 5] = [1.414_213_3, -6.978_843, 5.739_347_5, -1.882_922_9, 0.309_552_6];
        let r = reduce(turns);
        let powers = Powers::of(r);
        let (s, c) = (r * powers.five(SINE), powers.five(COSINE));
        Versed { versine: s * s, sin: s * c }
    }
}

impl SinCos for Quick {
    const MAX_ERROR: f32 = 1e-5;
    const CODE: u8 = 3;

    #[inline]
    fn point(turns: f32) -> Point {
        Self::versed(turns).into()
    }

    #[inline(always)]
    fn versed(turns: f32) -> Versed {
        const SINE: [f32; 4] = [4.442_866, -7.307_347_3, 3.593_936_7, -0.782_169_46];
        const COSINE: [f32; 4] = [1.414_179_3, -6.976_861, 5.708_993, -1.714_023_4];
        let r = reduce(turns);
        let powers = Powers::of(r);
        let (s, c) = (r * powers.four(SINE), powers.four(COSINE));
        Versed { versine: s * s, sin: s * c }
    }
}
