//! Exact sums of points on L circles.
//!
//! Sums are integers in units of 2⁻²⁴, and exact. A point of weight 1 takes one 32-bit addition per
//! coordinate. A backend may give coordinates that are off by a constant where that is cheaper
//! ([`Backend::OFFSET`](crate::features::sincos::Backend::OFFSET)); the total of these constants is
//! kept separately. After 64 points, before 32 bits would overflow, the upper bits are carried into
//! a second 32-bit word.

use crate::shape::{Dims, Fixed, Length, Per};

/// Fractional bits of the sums.
pub(crate) const PLACES: u32 = 24;
/// The unit of the sums: 2⁻²⁴.
pub(crate) const UNIT: f32 = 1.0 / 16_777_216.0;
/// Points that the lower words can take: 64·2²⁴ plus what a carry leaves, at most half of 2²⁷, is
/// below 2³¹.
const MOST_PENDING: u32 = 64;
/// A carry moves the bits of a sum from this position up.
const CARRY: u32 = 27;

/// Sums of cos and sin at one frequency, in units of 2⁻²⁴.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sum {
    pub(crate) cos: i64,
    pub(crate) sin: i64,
}

impl Sum {
    pub(crate) fn plus(self, other: Self) -> Self {
        Self { cos: self.cos.wrapping_add(other.cos), sin: self.sin.wrapping_add(other.sin) }
    }

    pub(crate) fn minus(self, other: Self) -> Self {
        Self { cos: self.cos.wrapping_sub(other.cos), sin: self.sin.wrapping_sub(other.sin) }
    }

    /// The sums of a single point of weight 1, in the form a backend returns.
    #[inline]
    pub(crate) fn of(units: [u32; 2], offset: u32) -> Self {
        let mut lower = Lower::ZERO;
        lower.add(units);
        joined(lower, Higher::ZERO, offset)
    }
}

/// The lower words of both sums, modulo 2³², off by the backend's offset for each point.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lower {
    cos: u32,
    sin: u32,
}

impl Lower {
    const ZERO: Self = Self { cos: 0, sin: 0 };

    /// Adds a point of weight 1.
    #[inline(always)]
    pub(crate) fn add(&mut self, [cos, sin]: [u32; 2]) {
        // Both loaded, then both stored: one instruction each on a Cortex-M.
        let own = *self;
        *self = Self { cos: own.cos.wrapping_add(cos), sin: own.sin.wrapping_add(sin) };
    }
}

/// The upper words of both sums: each unit is 2²⁷ units of the lower word.
#[derive(Debug, Clone, Copy)]
struct Higher {
    cos: i32,
    sin: i32,
}

impl Higher {
    const ZERO: Self = Self { cos: 0, sin: 0 };
}

fn joined(lower: Lower, higher: Higher, offset: u32) -> Sum {
    let join = |lower: u32, higher: i32| {
        (i64::from(higher) << CARRY).wrapping_add(i64::from(lower.cast_signed()))
    };
    Sum {
        cos: join(lower.cos.wrapping_add(offset), higher.cos),
        sin: join(lower.sin.wrapping_sub(offset), higher.sin),
    }
}

/// Splits a sum into its two words. The lower is at most half a unit of the upper.
#[expect(clippy::cast_possible_truncation, reason = "sums are below 2⁵⁷, remainders below 2²⁷")]
fn split(sum: i64) -> (u32, i32) {
    let higher = sum.wrapping_add(1 << (CARRY - 1)) >> CARRY;
    let lower = sum.wrapping_sub(higher << CARRY);
    ((lower as i32).cast_unsigned(), higher as i32)
}

/// Sums of points on L circles: 16·L + 8 bytes.
#[derive(Debug, Clone)]
pub(crate) struct Sums<F: Length> {
    /// Points of weight 1 added to the lower words since the last carry.
    pending: u32,
    /// The total of their offsets.
    offset: u32,
    lower: Per<F, Lower>,
    higher: Per<F, Higher>,
}

impl<const L: usize> Sums<Fixed<L>> {
    /// No points, as a constant.
    pub(crate) const EMPTY: Self = Self {
        pending: 0,
        offset: 0,
        lower: Per([Lower::ZERO; L]),
        higher: Per([Higher::ZERO; L]),
    };
}

impl<F: Length> Sums<F> {
    pub(crate) fn new(dims: &Dims) -> Self {
        Self {
            pending: 0,
            offset: 0,
            lower: Per::make(dims, || Lower::ZERO),
            higher: Per::make(dims, || Higher::ZERO),
        }
    }

    /// Removes all points.
    pub(crate) fn reset(&mut self) {
        (self.pending, self.offset) = (0, 0);
        self.lower.fill(Lower::ZERO);
        self.higher.fill(Higher::ZERO);
    }

    /// Number of frequencies.
    pub(crate) fn count(&self) -> usize {
        self.lower.len()
    }

    /// The lower words, for the caller to add a point of weight 1 to each. It must then call
    /// [`added`](Self::added).
    #[inline]
    pub(crate) fn lower(&mut self) -> &mut F::Slice<Lower> {
        self.lower.borrow_mut()
    }

    /// Copies of `item`, one for each frequency.
    #[inline]
    pub(crate) fn like<T: Copy>(&self, item: T) -> Per<F, T> {
        self.lower.like(item)
    }

    /// Counts a point of weight 1 that was added at every frequency, by a backend of this offset.
    #[inline]
    pub(crate) fn added(&mut self, offset: u32) {
        self.offset = self.offset.wrapping_add(offset);
        self.pending = self.pending.wrapping_add(1);
        if self.pending >= MOST_PENDING {
            self.carry();
        }
    }

    /// Makes room for this many points of weight 1, at most [`MOST_PENDING`], which the caller is
    /// going to add to the lower words. It must then call [`added_many`](Self::added_many).
    pub(crate) fn make_room(&mut self, points: u32) {
        if self.pending.wrapping_add(points) > MOST_PENDING {
            self.carry();
        }
    }

    /// Counts points as [`added`](Self::added) does.
    pub(crate) fn added_many(&mut self, points: u32, offset: u32) {
        self.offset = self.offset.wrapping_add(offset.wrapping_mul(points));
        self.pending = self.pending.wrapping_add(points);
        if self.pending >= MOST_PENDING {
            self.carry();
        }
    }

    #[inline(never)]
    fn carry(&mut self) {
        let offset = core::mem::take(&mut self.offset);
        self.pending = 0;
        for (lower, higher) in self.lower.iter_mut().zip(self.higher.iter_mut()) {
            let sum = joined(*lower, *higher, offset);
            Cell { lower, higher }.set(sum);
        }
    }

    /// The sums in order of frequency.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Sum> + '_ {
        let parts = self.lower.iter().zip(self.higher.iter());
        parts.map(|(lower, higher)| joined(*lower, *higher, self.offset))
    }

    /// The same, mutable.
    pub(crate) fn cells(&mut self) -> impl Iterator<Item = Cell<'_>> + '_ {
        self.carry();
        let parts = self.lower.iter_mut().zip(self.higher.iter_mut());
        parts.map(|(lower, higher)| Cell { lower, higher })
    }
}

/// The sums of one frequency.
pub(crate) struct Cell<'s> {
    lower: &'s mut Lower,
    higher: &'s mut Higher,
}

impl Cell<'_> {
    pub(crate) fn sum(&self) -> Sum {
        joined(*self.lower, *self.higher, 0)
    }

    /// Sets the sums, which must be below 2⁵⁷ in size; the largest weight of an embedding is less.
    pub(crate) fn set(&mut self, sum: Sum) {
        (self.lower.cos, self.higher.cos) = split(sum.cos);
        (self.lower.sin, self.higher.sin) = split(sum.sin);
    }
}

impl<F: Length> PartialEq for Sums<F> {
    /// Compares values, whether they have been carried or not.
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::sincos::{Backend, Polynomial};
    use crate::shape::Fixed;

    const OFFSET: u32 = Polynomial::OFFSET;

    fn point(turns: f32) -> [u32; 2] {
        Polynomial::units(turns)
    }

    #[test]
    fn carried_or_not_the_sum_is_that_of_the_single_points() {
        for turns in [0.0, 0.25, 0.5, 0.75, 0.9, 0.01] {
            let mut sums = Sums::<Fixed<1>>::new(&Dims::default());
            let mut expected = Sum { cos: 0, sin: 0 };
            for count in 1..=300 {
                sums.lower()[0].add(point(turns));
                sums.added(OFFSET);
                expected = expected.plus(Sum::of(point(turns), OFFSET));
                assert_eq!(sums.iter().next(), Some(expected), "{turns} {count}");
            }
            let mut carried = sums.clone();
            carried.carry();
            assert!(carried == sums && carried.pending == 0);
            let exact =
                300.0 * (core::f64::consts::TAU * f64::from(turns)).cos() * f64::from(1 << PLACES);
            assert!((expected.cos as f64 - exact).abs() < 300.0 * 8.0, "{turns}");
        }
    }

    #[test]
    fn a_coarse_backends_point_outside_the_circle_does_not_overflow() {
        let coordinate = (-1.01 * f64::from(1 << PLACES)) as i32;
        let outside = [coordinate.cast_unsigned(); 2];
        let mut sums = Sums::<Fixed<1>>::new(&Dims::default());
        for _ in 0..MOST_PENDING {
            sums.lower()[0].add(outside);
            sums.added(0);
        }
        let sum = sums.iter().next().unwrap();
        let expected = -1.01 * f64::from(MOST_PENDING) * f64::from(1 << PLACES);
        assert!((sum.cos as f64 / expected - 1.0).abs() < 1e-6);
        assert!((sum.sin as f64 / expected - 1.0).abs() < 1e-6);
    }

    #[test]
    fn any_sum_that_fits_can_be_set() {
        let mut sums = Sums::<Fixed<1>>::new(&Dims::default());
        for size in [0, 1, 1 << 26, (1 << 26) + 1, 1 << 40, (1 << 57) - 1] {
            let sum = Sum { cos: size, sin: -size };
            sums.cells().for_each(|mut cell| cell.set(sum));
            assert_eq!(sums.iter().next(), Some(sum));
            let again: std::vec::Vec<Sum> = sums.cells().map(|cell| cell.sum()).collect();
            assert_eq!(again, [sum]);
        }
    }
}
