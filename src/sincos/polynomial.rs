//! The crate's own sine and cosine.

use super::{Point, SinCos, reduce};

/// Two polynomials of five terms in the half angle: additions and multiplications only, no
/// branches, the same bits on every target.
///
/// With S = √2 sin πr and C = √2 cos πr for the reduced phase r ∈ [−½, ½], the double-angle
/// formulae give cos 2πr = 1 − S² and sin 2πr = S·C, so that one range serves the whole circle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Polynomial;

/// √2 sin(πr)/r in powers of r², minimax weighted by the effect on the point.
const SINE: [f32; 5] = [4.442_883, -7.308_239, 3.606_261, -0.845_626_5, 0.108_975_98];
/// √2 cos(πr) in powers of r², likewise.
const COSINE: [f32; 5] = [1.414_213_3, -6.978_839_4, 5.739_295_5, -1.882_679_6, 0.309_128_96];

#[inline]
fn horner([c0, c1, c2, c3, c4]: [f32; 5], z: f32) -> f32 {
    (((c4 * z + c3) * z + c2) * z + c1) * z + c0
}

impl SinCos for Polynomial {
    const MAX_ERROR: f32 = 1e-6;
    const CODE: u8 = 0;

    #[inline]
    fn point(turns: f32) -> Point {
        let r = reduce(turns);
        let z = r * r;
        let s = r * horner(SINE, z);
        let c = horner(COSINE, z);
        Point { cos: 1.0 - s * s, sin: s * c }
    }
}
