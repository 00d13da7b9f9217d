//! The numbers that a detector computes with: `f32`, or integers for cores without floating-point
//! hardware ([`fixed`](crate::fixed)).
//!
//! On the path of a row a detector uses only what is declared here. What is rare (the end of learning
//! or of a block, an alarm, a report) is computed in `f32` for both.

use core::fmt::Debug;
use core::ops::{Add, AddAssign, Neg, Sub, SubAssign};

use crate::condition::{FloatStandard, Reading, Standardise};
use crate::features::sincos::Means;
use crate::state::{Initial, NonNegative, Plain, State, state};

use super::{larger, ln_f32, row_count, smaller, sqrt_f32};

/// A constant part of a number, from 0 to 1, as each kind of number uses it.
#[derive(Debug, Clone, Copy)]
#[doc(hidden)]
pub struct Rate {
    float: f32,
    /// In units of 2⁻¹⁶.
    units: u32,
}

impl Rate {
    /// Nothing.
    pub(crate) const NONE: Self = Self::of(0.0);

    /// The part `rate`.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to 1")]
    pub(crate) const fn of(rate: f32) -> Self {
        Self { float: rate, units: (rate * 65_536.0 + 0.5) as u32 }
    }

    /// The weight of a row in an exponentially weighted mean of the same variance as that of
    /// `window` rows: 2/(window + 1).
    pub(crate) const fn of_window(window: u32) -> Self {
        Self::of(2.0 / (row_count(window) + 1.0))
    }

    /// So many units of 2⁻¹⁶, for integers only.
    pub(crate) const fn of_units(units: u32) -> Self {
        Self { float: 0.0, units }
    }

    /// In units of 2⁻¹⁶.
    #[inline(always)]
    pub(crate) fn units(self) -> u32 {
        self.units
    }
}

/// A number with a sign, of which sums, differences and parts are taken.
///
/// Sums and differences of integers wrap. They do not in practice: all that is learned from or kept is
/// cut at [`of`](Self::of) of 10⁴, far below half of what fits.
pub trait Real:
    Copy
    + Debug
    + PartialOrd
    + Add<Output = Self>
    + Sub<Output = Self>
    + Neg<Output = Self>
    + AddAssign
    + SubAssign
    + Plain
    + Initial
{
    /// One part of a number of equal parts.
    type Share: Copy;

    /// 0.
    const ZERO: Self;
    /// The least positive number that is kept as exactly as others.
    const LEAST: Self;

    /// The nearest number. Without cost where `value` is a constant; else rare.
    fn of(value: f32) -> Self;

    /// As `f32`: rare.
    fn value(self) -> f32;

    /// As it is kept in memory.
    fn bits(self) -> u32;

    /// From [`bits`](Self::bits).
    fn from_bits(bits: u32) -> Self;

    /// A constant part of it.
    fn part(self, rate: Rate) -> Self;

    /// One of its equal parts, as [`Number::share_of`] counts them.
    fn share(self, share: Self::Share) -> Self;

    /// |x|.
    #[inline]
    #[must_use]
    fn size(self) -> Self {
        if self < Self::ZERO { -self } else { self }
    }

    /// The larger of two.
    #[inline]
    #[must_use]
    fn or_more(self, other: Self) -> Self {
        if self > other { self } else { other }
    }

    /// The smaller of two.
    #[inline]
    #[must_use]
    fn or_less(self, other: Self) -> Self {
        if self < other { self } else { other }
    }

    /// Clamped to ±`limit`.
    #[inline]
    #[must_use]
    fn held(self, limit: Self) -> Self {
        self.or_more(-limit).or_less(limit)
    }
}

/// The numbers of a detector.
pub trait Number: Real {
    /// The number type of readings, and of the coordinates of a map.
    type Scalar: Reading + Initial;
    /// What a product of two numbers is kept as.
    type Product: Real<Share = Self::Share>;
    /// A sum of many numbers.
    type Sum: Initial + Copy + PartialEq + Debug;
    /// Means of the square and of the fourth power of a statistic's root.
    type Moments: Moments<Self> + Initial + Copy + PartialEq + Debug;
    /// Mean and variance of the maxima of blocks.
    type Maxima: Maxima<Self> + Initial + Copy + PartialEq + Debug;
    /// How readings become standardised values.
    type Standard: Standardise<Self> + Initial + Copy + PartialEq + Debug;
    /// Two mean points on a circle.
    type Means: CircleMeans<Self> + Initial + Copy + PartialEq + Debug;

    /// One of `count` equal parts.
    fn share_of(count: u32) -> Self::Share;

    /// So many of those parts, of at most one.
    fn shares(share: Self::Share, count: u32) -> Self;

    /// The weight of a row in a window whose length is not a constant: as [`Rate::of_window`].
    fn rate_of_window(window: u32) -> Rate;

    /// A number from 0 to 1 in units of 2⁻³², such as a phase in turns.
    fn fraction(units: u32) -> Self;

    /// x·y.
    #[must_use]
    fn times(self, other: Self) -> Self;

    /// x/y, for y other than 0.
    #[must_use]
    fn over(self, other: Self) -> Self;

    /// √x; 0 for x ≤ 0.
    #[must_use]
    fn root(self) -> Self;

    /// ln x, for x > 0.
    #[must_use]
    fn ln(self) -> Self;

    /// ln(a/b) of two counts other than 0.
    fn ln_ratio(a: u32, b: u32) -> Self;

    /// a/b of two counts, for a < 2¹⁶, b > 0 and a quotient below 10⁴.
    fn ratio(a: u32, b: u32) -> Self;

    /// 1 + n/2m: by how much the error of a mean of m rows lengthens, on average, the distance of a window
    /// of n rows from it.
    fn raise(window: u32, learned: u32) -> Self {
        Self::of(1.0) + Self::ratio(window, learned.saturating_mul(2).max(1))
    }

    /// x·y, kept with more digits.
    fn product(self, other: Self) -> Self::Product;

    /// The root of a product; 0 for one that is not positive.
    fn root_of(product: Self::Product) -> Self;

    /// first + Σ terms·weights.
    fn sum_of_products<const T: usize>(first: Self, terms: [Self; T], weights: &[Self; T]) -> Self;

    /// Takes a number into a sum.
    fn take_into(self, sum: &mut Self::Sum);

    /// A sum as `f32`: rare.
    fn sum_value(sum: &Self::Sum) -> f32;

    /// A sum of this value: rare.
    fn sum_of(value: f32) -> Self::Sum;

    /// A coordinate of a vector for a map.
    fn coordinate(self) -> Self::Scalar;

    /// Draws in a vector that is longer than half of a map's reach.
    fn draw_in(vector: &mut [Self::Scalar], reach: impl Fn() -> f32);

    /// √(n·d) for the length n of a window and the mean d of squared distances, whose sum over
    /// `circles` circles this is.
    fn root_of_distance(
        sum: <Self::Means as CircleMeans<Self>>::Squared,
        circles: usize,
        window: u32,
    ) -> Self;
}

/// Running means of R and R² for a statistic R, given by its root.
pub trait Moments<N: Number>: State {
    /// Takes in a root, the `rows`-th; it is of the order of 2^(−`exponent`).
    fn take_in(&mut self, root: N, rows: u32, exponent: i32);

    /// The means of R and R² after `rows` rows: rare.
    fn means(&self, rows: u32, exponent: i32) -> (f32, f32);

    /// The mean of R, times a count, for an exponent that is not negative.
    fn mean_times(&self, exponent: i32, count: u32) -> N;
}

/// Mean and variance of the maxima of a statistic's root over blocks of rows, the last of which weigh more.
pub trait Maxima<N: Number>: State {
    /// Takes in the maximum of a block, one of `count` that are remembered.
    fn take_in(&mut self, root: N, count: u32);

    /// Their mean: rare.
    fn mean(&self) -> f32;

    /// Their variance: rare.
    fn variance(&self) -> f32;
}

/// Two means of the points of a row on one circle: of what was learned, and of a window.
pub trait CircleMeans<N: Number>: State {
    /// A point on the circle.
    type Point: Copy;
    /// A sum of squared distances.
    type Squared: Copy + AddAssign + Default;

    /// The window takes in a point at this rate, and the reference at its own, if it learns; tells
    /// the squared distance of the two.
    fn take_in(&mut self, point: Self::Point, rate: Rate, least: Option<N::Share>)
    -> Self::Squared;

    /// The squared distance of the window from the reference: rare.
    fn distance(&self) -> f32;

    /// The mean point of what was learned: rare.
    fn reference(&self) -> [f32; 2];

    /// The squared distance of two references: rare.
    fn reference_distance(&self, other: &Self) -> f32;

    /// Moves the reference by the part `share` of the way to another: rare.
    fn blend(&mut self, other: &Self, share: f32);

    /// The window is where the reference is.
    fn settle(&mut self);
}

impl Real for f32 {
    type Share = Self;
    const ZERO: Self = 0.0;
    const LEAST: Self = Self::MIN_POSITIVE;

    #[inline(always)]
    fn of(value: f32) -> Self {
        value
    }

    #[inline(always)]
    fn value(self) -> f32 {
        self
    }

    #[inline(always)]
    fn bits(self) -> u32 {
        self.to_bits()
    }

    #[inline(always)]
    fn from_bits(bits: u32) -> Self {
        Self::from_bits(bits)
    }

    #[inline(always)]
    fn part(self, rate: Rate) -> Self {
        rate.float * self
    }

    #[inline(always)]
    fn share(self, share: f32) -> Self {
        share * self
    }

    #[inline(always)]
    fn size(self) -> Self {
        self.abs()
    }
}

impl Number for f32 {
    type Scalar = Self;
    type Product = Self;
    type Sum = Self;
    type Moments = FloatMoments;
    type Maxima = FloatMaxima;
    type Standard = FloatStandard;
    type Means = Means;

    #[inline(always)]
    fn share_of(count: u32) -> f32 {
        1.0 / row_count(count)
    }

    #[inline(always)]
    fn shares(share: f32, count: u32) -> f32 {
        share * row_count(count)
    }

    #[inline(always)]
    fn rate_of_window(window: u32) -> Rate {
        Rate::of_window(window)
    }

    #[inline]
    #[expect(clippy::cast_precision_loss, reason = "a part of a turn need not be exact")]
    fn fraction(units: u32) -> f32 {
        units as f32 / 4_294_967_296.0
    }

    #[inline(always)]
    fn times(self, other: f32) -> f32 {
        self * other
    }

    #[inline(always)]
    fn over(self, other: f32) -> f32 {
        self / other
    }

    #[inline(always)]
    fn root(self) -> f32 {
        sqrt_f32(self)
    }

    fn ln(self) -> f32 {
        ln_f32(self)
    }

    fn ln_ratio(a: u32, b: u32) -> f32 {
        ln_f32(row_count(a) / row_count(b))
    }

    fn ratio(a: u32, b: u32) -> f32 {
        row_count(a) / row_count(b)
    }

    #[inline(always)]
    fn product(self, other: f32) -> f32 {
        self * other
    }

    #[inline(always)]
    fn root_of(product: f32) -> f32 {
        sqrt_f32(product)
    }

    #[inline(always)]
    fn sum_of_products<const T: usize>(first: f32, terms: [f32; T], weights: &[f32; T]) -> f32 {
        first + terms.into_iter().zip(weights).map(|(term, weight)| term * weight).sum::<f32>()
    }

    #[inline(always)]
    fn take_into(self, sum: &mut f32) {
        *sum += self;
    }

    fn sum_value(sum: &f32) -> f32 {
        *sum
    }

    fn sum_of(value: f32) -> f32 {
        value
    }

    #[inline(always)]
    fn coordinate(self) -> f32 {
        self.held(30.0)
    }

    #[inline]
    fn draw_in(vector: &mut [f32], reach: impl Fn() -> f32) {
        draw_in(vector, 0.5 * reach());
    }

    #[inline]
    fn root_of_distance(sum: f32, circles: usize, window: u32) -> f32 {
        sqrt_f32(row_count(window) * sum / super::f32_of(circles))
    }
}

/// Draws a vector that is longer than `longest` in to it: far beyond what means something, and
/// within the map's reach.
#[inline]
pub(crate) fn draw_in(vector: &mut [f32], longest: f32) {
    let squared: f32 = vector.iter().map(|x| *x * *x).sum();
    if squared > longest * longest {
        let factor = longest / sqrt_f32(squared).or_more(1e-6);
        vector.iter_mut().for_each(|x| *x *= factor);
    }
}

state! {
    /// Means of R and R².
    #[derive(Debug, Clone, Copy, PartialEq)]
    #[doc(hidden)]
    pub struct FloatMoments {
        mean: NonNegative<f32>,
        mean_square: NonNegative<f32>,
    }
}

impl Moments<f32> for FloatMoments {
    #[inline]
    fn take_in(&mut self, root: f32, rows: u32, _exponent: i32) {
        let (r, rate) = (root * root, 1.0 / row_count(rows));
        self.mean.0 += rate * (r - self.mean.0);
        self.mean_square.0 += rate * (r * r - self.mean_square.0);
    }

    fn means(&self, _rows: u32, _exponent: i32) -> (f32, f32) {
        (self.mean.0, self.mean_square.0)
    }

    fn mean_times(&self, _exponent: i32, count: u32) -> f32 {
        self.mean.0 * row_count(count)
    }
}

state! {
    /// Mean and variance.
    #[derive(Debug, Clone, Copy, PartialEq)]
    #[doc(hidden)]
    pub struct FloatMaxima {
        mean: f32,
        variance: NonNegative<f32>,
    }
}

/// Beyond what readings give: only a forged state has such maxima. They stay finite, so that it can be
/// saved again.
const FARTHEST_STEP: f32 = 1e18;

impl Maxima<f32> for FloatMaxima {
    fn take_in(&mut self, root: f32, count: u32) {
        let rate = 1.0 / row_count(count.max(1));
        let step = larger(smaller(root - self.mean, FARTHEST_STEP), -FARTHEST_STEP);
        self.mean += rate * step;
        let variance = smaller(self.variance.0, FARTHEST_STEP * FARTHEST_STEP);
        self.variance.0 = (1.0 - rate) * (variance + rate * step * step);
    }

    fn mean(&self) -> f32 {
        self.mean
    }

    fn variance(&self) -> f32 {
        self.variance.0
    }
}
