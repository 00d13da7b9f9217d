//! Two mean points on a circle, in integers.

use core::ops::AddAssign;

use crate::features::sincos::Points;
use crate::numeric::{CircleMeans, Rate, Real};
use crate::state::state;

use super::Table;
use super::number::{Q16, Q24, scaled, shared};
use crate::features::sincos::Backend;

state! {
    /// Means of what was learned, and of a window, in units of 2⁻²⁴: 16 bytes.
    #[derive(Debug, Clone, Copy, PartialEq)]
    #[doc(hidden)]
    pub struct IntegerMeans {
        reference: [Q24; 2],
        window: [Q24; 2],
    }
}

/// Bits of a difference that are not squared: what is left has 15 bits and a sign.
const FINER: u32 = 10;
/// Squared distances are in units of 2⁻²⁸.
const SQUARED: f32 = 268_435_456.0;
/// And bits of them that are left out of their sum, so that 4000 as large as they can be fit in 32 bits.
const LEFT_OUT: u32 = 10;

/// A sum of squared distances, in units of 2⁻¹⁸. Of more frequencies than fit, which are then all far off,
/// it stays at the most.
#[derive(Debug, Clone, Copy, Default)]
#[doc(hidden)]
pub struct SquaredSum(pub(super) u32);

impl AddAssign for SquaredSum {
    #[inline(always)]
    fn add_assign(&mut self, other: Self) {
        self.0 = self.0.saturating_add(other.0);
    }
}

impl Points for Table {
    #[inline(always)]
    fn point_of(phase: u32) -> [i32; 2] {
        Self::units(phase).map(u32::cast_signed)
    }
}

impl CircleMeans<Q16> for IntegerMeans {
    type Point = [i32; 2];
    type Squared = SquaredSum;

    #[inline(always)]
    fn take_in(&mut self, point: [i32; 2], rate: Rate, least: Option<u32>) -> SquaredSum {
        let mut squared = 0_u32;
        for ((window, reference), x) in self.window.iter_mut().zip(&mut self.reference).zip(point) {
            let step = x.wrapping_sub(window.in_units());
            let mut moved = scaled(step, rate.units());
            if let Some(share) = least {
                let learned = shared(x.wrapping_sub(reference.in_units()), share);
                *reference += Q24::plain(learned);
                if share >> 16 > rate.units() {
                    moved = shared(step, share);
                }
            }
            *window += Q24::plain(moved);
            let apart = window.in_units().wrapping_sub(reference.in_units()) >> FINER;
            squared = squared.wrapping_add(apart.wrapping_mul(apart).cast_unsigned());
        }
        SquaredSum(squared >> LEFT_OUT)
    }

    fn distance(&self) -> f32 {
        squared_distance(self.window, self.reference)
    }

    fn reference(&self) -> [f32; 2] {
        self.reference.map(Real::value)
    }

    fn reference_distance(&self, other: &Self) -> f32 {
        squared_distance(self.reference, other.reference)
    }

    fn blend(&mut self, other: &Self, share: f32) {
        use crate::numeric::Real;
        for (own, other) in self.reference.iter_mut().zip(other.reference) {
            *own = Q24::of(own.value() + share * (other.value() - own.value()));
        }
    }

    fn settle(&mut self) {
        self.window = self.reference;
    }
}

fn squared_distance(a: [Q24; 2], b: [Q24; 2]) -> f32 {
    let squares = a.into_iter().zip(b).map(|(a, b)| {
        let apart = a.in_units().wrapping_sub(b.in_units()) >> FINER;
        apart.wrapping_mul(apart).cast_unsigned()
    });
    crate::numeric::row_count(squares.fold(0, u32::wrapping_add)) / SQUARED
}
