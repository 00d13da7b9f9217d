//! The two-sample test of streams, also of streams whose samples depend on earlier ones.

use super::sums::{Sum, UNIT};
use super::{Embedding, TwoSample, mmd};
use crate::error::{BLOCK_ROWS, Error, Parameter, check_level, has_rows};
use crate::features::sincos::Backend;
use crate::features::{FeatureMap, Sample};
use crate::numeric::{
    compensated_sum, exp, f32_of, f32_of_sum, ln, normal_quantile, normal_tail, rounded, row_count,
    sqrt,
};
use crate::shape::{Length, Per};
use crate::state::{NonNegative, Plain, State, plain, plain_states, state};

/// Long blocks are this many short ones.
const SHORT: u32 = 4;

/// Fewest long differences of both streams from which their scatter is estimated.
const FEWEST: u32 = 4;

plain! {
    /// A sum of points with signs.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub(super) struct Signed {
        cos: f32,
        sin: f32,
    }
}

impl Signed {
    const ZERO: Self = Self { cos: 0.0, sin: 0.0 };
}
plain_states!(Signed = Signed::ZERO);

state! {
    /// How much the mean points of blocks of a stream scatter: 24·L bytes and a little.
    ///
    /// A difference is the sum over one block minus that over the next. Differences of long blocks
    /// show how much the mean of a long stream scatters. Short blocks are more numerous: products of
    /// one difference with the next also give the effective number of dimensions.
    #[derive(Debug, Clone)]
    pub(super) struct Scatter<F: Length> {
        /// Samples in the present differences.
        in_short: u32,
        in_long: u32,
        short: Per<F, Signed>,
        long: Per<F, Signed>,
        /// The last short difference.
        last: Per<F, Signed>,
        /// Differences so far.
        shorts: u32,
        longs: u32,
        /// Means of |d|²/2b over short and over long differences, and of (d'd_last/2b)².
        short_trace: NonNegative,
        long_trace: NonNegative,
        square: NonNegative,
    }
}

/// Length of a saved scatter, in bytes.
pub(super) const fn scatter_bytes(frequencies: usize) -> usize {
    4 * u32::BYTES + 3 * f32::BYTES + 3 * Signed::BYTES * frequencies
}

/// Moments of the scatter of both streams.
struct Moments {
    /// Σλ: b·E|B − μ|² of a mean B of b samples, for long b.
    trace: f64,
    /// (Σλ)²/Σλ²: effective number of dimensions.
    degrees: f64,
    /// Degrees of freedom of `trace` itself, as it is estimated.
    known: f64,
}

impl<F: Length> Scatter<F> {
    /// Adds the points of a sample, as a backend of this offset gives them. O(L).
    fn add(&mut self, units: &Per<F, [u32; 2]>, offset: u32, block: u32) {
        let short = short_of(block);
        let sign = |row: u32, block: u32| if row < block { 1.0 } else { -1.0 };
        let (short_sign, long_sign) = (sign(self.in_short, short), sign(self.in_long, block));
        let sums = self.short.iter_mut().zip(self.long.iter_mut());
        for (units, (in_short, in_long)) in units.iter().zip(sums) {
            let Sum { cos, sin } = Sum::of(*units, offset);
            let (cos, sin) = (UNIT * f32_of_sum(cos), UNIT * f32_of_sum(sin));
            for (sum, sign) in [(in_short, short_sign), (in_long, long_sign)] {
                sum.cos += sign * cos;
                sum.sin += sign * sin;
            }
        }
        self.in_short = self.in_short.saturating_add(1);
        self.in_long = self.in_long.saturating_add(1);
        if self.in_short >= 2 * short {
            self.end_of_short(short);
        }
        if self.in_long >= 2 * block {
            self.end_of_long(block);
        }
    }

    /// Whether a test with blocks of this length can have reached this state.
    pub(super) fn is_consistent(&self, block: u32) -> bool {
        let short = short_of(block);
        // No sum exceeds the number of its points, in a difference those of two blocks; 1 % is for coarse
        // backends.
        let fits = |sums: &Per<F, Signed>, points: u32| {
            let limit = 1.01 * row_count(points);
            sums.iter().all(|sum| sum.cos.abs() <= limit && sum.sin.abs() <= limit)
        };
        // Nor do means of |d|²/2b what such sums have.
        let most = |block: u32| 4.1 * row_count(block);
        self.in_short < short.saturating_mul(2)
            && self.in_long < block.saturating_mul(2)
            && self.short_trace.0 <= most(short)
            && self.long_trace.0 <= most(block)
            && self.square.0 <= most(short) * most(short)
            && fits(&self.short, self.in_short)
            && fits(&self.last, short.saturating_mul(2))
            && fits(&self.long, self.in_long)
    }

    fn end_of_short(&mut self, block: u32) {
        let scale = mean_of(self.short.len(), block);
        let trace = scale * product(&self.short, &self.short);
        self.shorts = self.shorts.saturating_add(1);
        step(&mut self.short_trace, trace, self.shorts);
        if self.shorts > 1 {
            let product = scale * product(&self.short, &self.last);
            step(&mut self.square, product * product, self.shorts.saturating_sub(1));
        }
        core::mem::swap(&mut self.last, &mut self.short);
        self.short.fill(Signed::ZERO);
        self.in_short = 0;
    }

    fn end_of_long(&mut self, block: u32) {
        let trace = mean_of(self.long.len(), block) * product(&self.long, &self.long);
        self.longs = self.longs.saturating_add(1);
        step(&mut self.long_trace, trace, self.longs);
        self.long.fill(Signed::ZERO);
        self.in_long = 0;
    }
}

/// Samples in a short block.
fn short_of(block: u32) -> u32 {
    block.div_ceil(SHORT)
}

/// 1/(2b·L): differences of blocks of b have twice their variance.
fn mean_of(frequencies: usize, block: u32) -> f32 {
    1.0 / (2.0 * row_count(block) * f32_of(frequencies))
}

fn product(a: &[Signed], b: &[Signed]) -> f32 {
    compensated_sum(a.iter().zip(b).map(|(a, b)| a.cos * b.cos + a.sin * b.sin))
}

/// Moves a mean of `count` values to its newest.
fn step(mean: &mut NonNegative, value: f32, count: u32) {
    mean.0 += (value - mean.0) / row_count(count);
}

/// A two-sample test in constant memory: MMD² of two streams, and whether it is more than chance.
/// 80·L bytes and a little.
///
/// For equal distributions MMD_b² is distributed as (1/m + 1/n)·Σλz², with z ~ N(0, 1). The λ are the
/// eigenvalues of the covariance of a sample's features; where samples depend on earlier ones, of
/// b times the covariance of the mean of b samples, for large b. The sum is approximated by a Gamma
/// distribution with the same mean and variance. Both are estimated from the streams themselves, so
/// the ratio of the sum to its mean is compared with Fisher's F distribution. Σλ and Σλ² are averages
/// over differences of neighbouring blocks of samples: no mean has to be known first, and no sample
/// is stored.
///
/// * For **independent** samples, the block is 1 sample.
/// * For samples that **depend** on earlier ones, choose a block of at least ten times the number of
///   rows over which they do (for an AR(1) process with coefficient a: 10/(1 − a)), twenty times where
///   several channels are equally slow, and streams of at least sixteen blocks each. Blocks of a quarter
///   of this length show how much neighbouring blocks still depend on each other, and the estimate is
///   corrected for it.
///
/// At a level of .05, between .04 and .06 of the tests reject by chance: of five distributions of
/// independent samples, correlated channels, and AR(1) series with a up to 0.95, in 1, 3 and 8 channels,
/// by as many samples of both streams or not (`cargo test -p fastmmd-tests significance::`); for a kernel
/// as wide as the data, and of 1 channel for one half to twice as wide. With blocks shorter than stated,
/// more do, and up to .066 for a kernel a quarter as wide. Of eight AR(1) channels with a = 0.9, by blocks of ten
/// times instead of twenty, fewer do: about .035.
///
/// [`TwoSample::threshold`] needs less memory and assumes less about the distribution, but it detects
/// less, and is only for independent samples.
///
/// ```
/// use fastmmd::embedding::TwoSampleTest;
/// use fastmmd::Fourier;
///
/// let map = Fourier::<1, 32>::gaussian(1);
/// let mut test = TwoSampleTest::new(&map, 1)?;
/// for step in 0..400_u16 {
///     let noise = (f32::from(step) * 12.9898).sin() * 437.58 % 1.0;
///     test.push_p(&[noise])?;
///     test.push_q(&[noise * 2.0])?;
/// }
/// assert!(test.p_value()? < 0.001);
/// # Ok::<(), fastmmd::Error>(())
/// ```
#[derive(Debug)]
pub struct TwoSampleTest<'m, M: FeatureMap> {
    streams: TwoSample<'m, M>,
    block: u32,
    pub(super) scatter: [Scatter<M::Frequencies>; 2],
}

// Not derived: a copy borrows the same map, which need not be `Clone`.
impl<M: FeatureMap> Clone for TwoSampleTest<'_, M> {
    fn clone(&self) -> Self {
        Self { streams: self.streams.clone(), block: self.block, scatter: self.scatter.clone() }
    }
}

impl<'m, M: FeatureMap> TwoSampleTest<'m, M> {
    /// Two empty streams over `map`, with blocks of `block` samples, from 1 to 65,536.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] for the block.
    pub fn new(map: &'m M, block: u32) -> Result<Self, Error> {
        if !has_rows(&BLOCK_ROWS, block) {
            return Err(Error::OutOfRange(Parameter::Block));
        }
        let dims = map.dims();
        let scatter = [Scatter::make(&dims), Scatter::make(&dims)];
        Ok(Self { streams: TwoSample::new(map), block, scatter })
    }

    /// Adds a sample to P. O(L), the cost of the map, and 8·L bytes of stack.
    ///
    /// # Errors
    /// As [`Embedding::add`].
    pub fn push_p(&mut self, sample: &Sample<M>) -> Result<(), Error> {
        let map = self.streams.map();
        let [scatter, _] = &mut self.scatter;
        push(map, self.streams.p_mut(), scatter, self.block, sample)
    }

    /// Adds a sample to Q, as [`push_p`](Self::push_p).
    ///
    /// # Errors
    /// As [`Embedding::add`].
    pub fn push_q(&mut self, sample: &Sample<M>) -> Result<(), Error> {
        let map = self.streams.map();
        let [_, scatter] = &mut self.scatter;
        push(map, self.streams.q_mut(), scatter, self.block, sample)
    }

    /// The streams: their embeddings, MMD² and circles.
    #[must_use]
    pub fn streams(&self) -> &TwoSample<'m, M> {
        &self.streams
    }

    pub(super) fn streams_mut(&mut self) -> &mut TwoSample<'m, M> {
        &mut self.streams
    }

    /// Samples in a block.
    #[must_use]
    pub fn block(&self) -> u32 {
        self.block
    }

    /// Empties both streams.
    pub fn reset(&mut self) {
        self.streams.reset();
        self.scatter.iter_mut().for_each(State::reset);
    }

    /// The probability of an MMD_b² at least as large as it is, if both streams have one
    /// distribution. O(L), and some hundred operations in `f64`.
    ///
    /// # Errors
    /// [`Error::Empty`] before both streams have a sample, [`Error::TooFewSamples`] before both
    /// together have four times two blocks, or if no sample differs from another.
    pub fn p_value(&self) -> Result<f32, Error> {
        let (moments, unit) = self.moments()?;
        let ratio = f64::from(self.streams.mmd2_biased()?) / unit;
        Ok(rounded(normal_tail(deviate(ratio, &moments))))
    }

    /// The value that MMD_b² exceeds with a probability of `level` if both streams have one
    /// distribution. Cost as for [`p_value`](Self::p_value).
    ///
    /// # Errors
    /// As [`p_value`](Self::p_value); [`Error::NonFinite`] or [`Error::OutOfRange`] unless
    /// 0 < `level` < 1, and [`Error::TooFewSamples`] also where the streams are too short for a
    /// threshold of this level.
    pub fn threshold(&self, level: f32) -> Result<f32, Error> {
        check_level(level)?;
        let (moments, unit) = self.moments()?;
        let z = -normal_quantile(f64::from(level));
        ratio_at(z, &moments).map(|ratio| rounded(unit * ratio)).ok_or(Error::TooFewSamples)
    }

    /// The moments, and the mean of MMD_b² for equal distributions.
    fn moments(&self) -> Result<(Moments, f64), Error> {
        let (p, q) = (self.streams.p(), self.streams.q());
        // Refuses embeddings of another map, too.
        mmd::squared_biased(p, q)?;
        let spread = f64::from(p.concentration()?) + f64::from(q.concentration()?);
        let moments = Moments::of(&self.scatter, self.block).ok_or(Error::TooFewSamples)?;
        let unit = spread * moments.trace * f64::from(p.gain());
        Ok((moments, unit))
    }
}

/// Adds a sample to a stream and to its scatter, or to neither.
fn push<M: FeatureMap>(
    map: &M,
    stream: &mut Embedding<M>,
    scatter: &mut Scatter<M::Frequencies>,
    block: u32,
    sample: &Sample<M>,
) -> Result<(), Error> {
    let mut units = Per::make(&map.dims(), || [0; 2]);
    stream.add_seen(map, sample, &mut units)?;
    scatter.add(&units, M::Backend::OFFSET, block);
    Ok(())
}

impl Moments {
    fn of<F: Length>(scatter: &[Scatter<F>; 2], block: u32) -> Option<Self> {
        // Means over the differences of both streams.
        let both = |count: fn(&Scatter<F>) -> u32, value: fn(&Scatter<F>) -> NonNegative| {
            let counts = scatter.each_ref().map(|s| f64::from(count(s)));
            let sums = scatter.each_ref().map(|s| f64::from(count(s)) * f64::from(value(s).0));
            let ([a, b], [x, y]) = (counts, sums);
            let count = a + b;
            (count, if count > 0.0 { (x + y) / count } else { 0.0 })
        };
        let (longs, long_trace) = both(|s| s.longs, |s| s.long_trace);
        let (shorts, short_trace) = both(|s| s.shorts, |s| s.short_trace);
        let (pairs, square) = both(|s| s.shorts.saturating_sub(1), |s| s.square);
        if longs < f64::from(FEWEST) || pairs < 1.0 || square <= 0.0 {
            return None;
        }
        let at_least_one = |x: f64| if x > 1.0 { x } else { 1.0 };
        // The square of an estimate is too large by its variance.
        let raw = at_least_one(short_trace * short_trace / square);
        let of_short = at_least_one(raw / (1.0 + 2.0 / (raw * shorts)));
        // Means of b samples that depend on neighbours scatter less than they would for long b, by
        // a share of 1/b: extrapolated from b and b/4. The variance grows by (4/3)².
        let ratio = f64::from(block) / f64::from(short_of(block));
        let (trace, known) = if ratio > 1.0 {
            let share = ratio / (ratio - 1.0);
            (share * long_trace - (share - 1.0) * short_trace, longs / (share * share))
        } else {
            (long_trace, longs)
        };
        // Where blocks scatter much less than their parts, there is nothing to extrapolate.
        let trace = if trace > 0.5 * long_trace { trace } else { 0.5 * long_trace };
        let growth = if trace > short_trace { trace / short_trace - 1.0 } else { 0.0 };
        let degrees = at_least_one(grown(of_short, growth));
        (trace > 0.0).then_some(Self { trace, degrees, known: degrees * known })
    }

    /// 2/9 over the degrees of freedom of the ratio and of its unit.
    fn ninths(&self) -> (f64, f64) {
        (2.0 / (9.0 * self.degrees), 2.0 / (9.0 * self.known))
    }
}

/// Effective dimensions of long blocks, from those of short ones, if Σλ is larger in long blocks by the
/// share `growth`.
///
/// What remembers longest grows most from short blocks to long ones, and has the largest λ: for AR(1)
/// series of coefficients a, λ is in proportion to 1/(1 − a), and what it lacks in blocks of one length to
/// the square of that. So each λ grows in proportion to its square, which leaves several equally slow
/// channels as many dimensions as they have. For λ that fall geometrically, Σλ³ is 4/(3d² + 1) and Σλ⁴ is
/// 2/(d(d² + 1)) of such powers of Σλ.
fn grown(dimensions: f64, growth: f64) -> f64 {
    let d2 = dimensions * dimensions;
    let (cubes, fourths) = (8.0 * d2 / (3.0 * d2 + 1.0), 2.0 * d2 / (d2 + 1.0));
    let squares = 1.0 + growth * (cubes + growth * fourths);
    dimensions * (1.0 + growth) * (1.0 + growth) / squares
}

/// The normal deviate of a ratio of Fisher's F distribution: its cube root is nearly normal
/// (Wilson and Hilferty; Paulson). A p-value of .05 is good to a twentieth of itself.
fn deviate(ratio: f64, moments: &Moments) -> f64 {
    let (a, b) = moments.ninths();
    let root = cube_root(ratio);
    ((1.0 - b) * root - (1.0 - a)) / sqrt(b * root * root + a)
}

/// The ratio with this deviate; `None` if there is none.
fn ratio_at(z: f64, moments: &Moments) -> Option<f64> {
    let (a, b) = moments.ninths();
    let (p, q) = (1.0 - a, 1.0 - b);
    let leading = q * q - z * z * b;
    let inside = a * q * q + b * p * p - a * b * z * z;
    if leading <= 0.0 || inside < 0.0 {
        return None;
    }
    let root = (p * q + z * sqrt(inside)) / leading;
    Some(if root > 0.0 { root * root * root } else { 0.0 })
}

/// ∛x, to 1e-14; 0 for x ≤ 0.
fn cube_root(x: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    let mut root = exp(ln(x) / 3.0);
    for _ in 0..2 {
        root -= (root - x / (root * root)) / 3.0;
    }
    root
}

#[cfg(feature = "defmt")]
impl<M: FeatureMap> defmt::Format for TwoSampleTest<'_, M> {
    fn format(&self, f: defmt::Formatter<'_>) {
        defmt::write!(f, "{}, blocks of {}", self.streams, self.block);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cube_roots_are_right() {
        let mut x = 1e-12_f64;
        while x < 1e12 {
            assert!((cube_root(x) / x.cbrt() - 1.0).abs() < 1e-14, "{x}");
            x *= 1.7;
        }
        assert!(cube_root(0.0) == 0.0 && cube_root(-1.0) == 0.0);
    }

    #[test]
    fn thresholds_and_deviates_are_inverse() {
        for (degrees, known) in [(1.0, 8.0), (2.5, 40.0), (7.0, 1e6)] {
            let moments = Moments { trace: 1.0, degrees, known };
            for z in [-1.0, 0.0, 0.5, 1.6, 2.3] {
                if let Some(ratio) = ratio_at(z, &moments).filter(|ratio| *ratio > 0.0) {
                    assert!((deviate(ratio, &moments) - z).abs() < 1e-9, "{degrees} {z}");
                }
            }
        }
        // Too few degrees for a deviate this large.
        assert!(ratio_at(4.0, &Moments { trace: 1.0, degrees: 1.0, known: 2.0 }).is_none());
    }
}
