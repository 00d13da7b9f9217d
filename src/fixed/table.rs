//! Sine and cosine in integers, from a table of line segments.

use crate::features::sincos::Backend;
use crate::numeric::{cos_sin_turns, f64_of, nearest};

/// The backend in integers: cosine and sine as 256 line segments each, called pieces. Two words of
/// flash per piece, two 32-bit multiplications per point, no branches, no floating point.
///
/// The largest error, [`Table::MAX_ERROR`], is the sum of two: that of a line over 1/256 of a turn,
/// (2π/256)²/16 = 4e-5, and that of the 16-bit height at which a piece begins, 3e-5.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Table;

impl Table {
    /// Largest absolute error of either coordinate, for any phase.
    pub const MAX_ERROR: f32 = 8e-5;
}

const PIECES: usize = 256;
/// Steps within a piece.
const STEPS: f64 = 4096.0;
/// Bits of a phase below a step.
const BELOW_STEP: u32 = 12;
/// Heights are in units of 2⁻³⁰: this many bits finer than the units of sums.
const FINER: u32 = 6;

static COSINE: [i32; PIECES] = pieces(0);
// sin t = cos(t − ¼)
static SINE: [i32; PIECES] = pieces(PIECES - PIECES / 4);

impl Backend for Table {
    type Scalar = i16;
    const CODE: u8 = 4;
    const OFFSET: u32 = 0;

    #[inline(always)]
    fn units(phase: u32) -> [u32; 2] {
        let piece = (phase >> 24) as usize;
        let step = (phase >> BELOW_STEP).cast_signed();
        [along(COSINE[piece], step), along(SINE[piece], step)]
    }
}

/// The height of a piece at a step, in the units of sums. The lower half of a piece is its slope;
/// the whole word is the height at which it begins.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "the slope is the lower half")]
const fn along(piece: i32, step: i32) -> u32 {
    let slope = piece as i16 as i32;
    (piece.wrapping_add(slope.wrapping_mul(step)) >> FINER).cast_unsigned()
}

/// All pieces of the cosine, starting with piece `first`.
///
/// The steps of a phase are counted from phase 0, not from the start of its piece. So a piece
/// stores the height of its line at phase 0, which wraps as the product does.
const fn pieces(first: usize) -> [i32; PIECES] {
    let mut pieces = [0; PIECES];
    let mut index = 0;
    while index < PIECES {
        pieces[index] = piece((index + first) % PIECES, index);
        index += 1;
    }
    pieces
}

/// The line nearest to the cosine over piece `of_circle`, as piece `index` of its table.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    reason = "numbers modulo 2³²"
)]
const fn piece(of_circle: usize, index: usize) -> i32 {
    const ONE: f64 = 1_073_741_824.0;
    let left = cosine(f64_of(of_circle));
    let middle = cosine(f64_of(of_circle) + 0.5);
    let right = cosine(f64_of(of_circle) + 1.0);
    let slope = nearest(ONE * (right - left) / STEPS);
    // Raised by half of the chord's error in the middle, so that the error at the ends is the same;
    // and moved by half a step, for the bits of the phase below a step.
    let height = left + 0.5 * (middle - 0.5 * (left + right)) + 0.5 * (right - left) / STEPS;
    let at_zero = nearest(ONE * height) - slope * (index as i64) * 4096;
    let lower = slope & 0xffff;
    let upper = (at_zero - lower + 0x8000) >> 16;
    ((upper << 16) | lower) as i32
}

/// The cosine of an angle of 0 to 257 pieces, reduced to one quarter of the circle.
const fn cosine(pieces: f64) -> f64 {
    let turns = pieces / f64_of(PIECES);
    let turns = if turns > 0.5 { 1.0 - turns } else { turns };
    if turns > 0.25 { -cos_sin_turns(0.5 - turns).0 } else { cos_sin_turns(turns).0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn coordinate(units: u32) -> f64 {
        f64::from(units.cast_signed()) / f64::from(1 << 24)
    }

    fn error_of(units: impl Fn(u32) -> [u32; 2]) -> f64 {
        // With an odd step, every piece and every part of a piece is visited.
        (0..400_000_u32)
            .map(|index| index.wrapping_mul(2_654_435_761))
            .chain((0..512_u32).map(|half| (half << 23).wrapping_sub(half & 1)))
            .map(|phase| {
                let [cos, sin] = units(phase).map(coordinate);
                let angle = core::f64::consts::TAU * f64::from(phase) / 4_294_967_296.0;
                (cos - angle.cos()).abs().max((sin - angle.sin()).abs())
            })
            .fold(0.0, f64::max)
    }

    #[test]
    #[cfg_attr(miri, ignore = "too slow when interpreted")]
    fn keeps_its_promise_and_it_is_not_idle() {
        let error = error_of(Table::units);
        std::println!("table: {error:.3e}");
        assert!(error <= f64::from(Table::MAX_ERROR), "{error}");
        assert!(error * 4.0 >= f64::from(Table::MAX_ERROR), "{error}");
        // The control: a phase that is off by 2⁻¹⁶ turns fails.
        assert!(error_of(|phase| Table::units(phase.wrapping_add(1 << 16))) > 8e-5);
    }

    #[test]
    fn quarters_are_where_they_belong() {
        for (phase, cos, sin) in [(0, 1.0, 0.0), (1 << 30, 0.0, 1.0), (1 << 31, -1.0, 0.0)] {
            let [c, s] = Table::units(phase).map(coordinate);
            assert!((c - cos).abs() < 8e-5 && (s - sin).abs() < 8e-5, "{phase}");
        }
    }
}
