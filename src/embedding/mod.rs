//! The mean embedding of a stream: weighted sums of points on L circles.
//!
//! The sums are integers in units of 2⁻²⁴, so that adding is exact. A sum does not depend on the
//! order of the samples; the embeddings of two halves merge into the embedding of the whole, bit
//! for bit; a removed sample leaves no trace; and the mean of 10⁹ samples is as accurate as that of
//! 10³.
//!
//! [`mmd`] computes the maximum mean discrepancy of two embeddings. [`TwoSample`] compares two
//! streams, [`TwoSampleTest`] says whether they differ by more than chance, [`KernelFamily`]
//! compares at several bandwidths, and [`Alternative`] bounds how large a difference is. A [`Witness`]
//! shows where they differ, [`Regimes`] finds the nearest known condition, and a [`Classifier`] the
//! class, by weights learned on a host.

mod alternative;
mod batch;
mod classifier;
mod constant;
mod family;
pub mod mmd;
mod null;
mod regimes;
mod saved;
mod significance;
mod sums;
mod two_sample;
mod weight;
mod witness;

pub use alternative::{Alternative, Interval};
pub use classifier::{Class, Classifier};
pub use family::{KernelFamily, Member};
pub use null::Assumption;
pub use regimes::{Nearest, Regimes};
pub use significance::TwoSampleTest;
pub use two_sample::TwoSample;
pub use weight::{MAX_TOTAL_WEIGHT, MAX_WEIGHT, MIN_WEIGHT};
pub use witness::Witness;

use core::fmt;

use crate::error::{Error, Parameter};
use crate::features::sincos::{Backend, Point};
use crate::features::{FeatureMap, PhaseOf, Sample, Scalar, ScalarOf};
use crate::numeric::{compensated_sum, f32_of, f32_of_squares, f32_of_sum, f32_of_weight};
use crate::shape::{Dims, Fixed, Per};
use sums::{Sum, Sums};
use weight::{
    FULL, ONE, PLACES, SUM_UNIT, Weight, scaled, shrink, shrink_sum, shrink_wide, square,
};

/// Weighted sums of the points on L circles that a stream of samples maps to.
///
/// 16·L + about 40 bytes; L and the backend of sine and cosine are those of the map `M`.
///
/// ```
/// use fastmmd::{Embedding, Fourier};
///
/// let map = Fourier::<2, 32>::gaussian(1);
/// let mut morning = Embedding::new(&map);
/// let mut evening = Embedding::new(&map);
/// morning.add(&map, &[0.1, 0.7])?;
/// evening.add(&map, &[0.2, 0.6])?;
///
/// let mut day = morning.clone();
/// day.merge(&evening)?;
/// assert_eq!(day.weight(), 2.0);
/// // The kernel on sets: the mean of the kernel over all pairs.
/// assert!(morning.inner_product(&evening)? > 0.98);
/// # Ok::<(), fastmmd::Error>(())
/// ```
pub struct Embedding<M: FeatureMap> {
    fingerprint: u32,
    /// K(0) of the kernel.
    amplitude: f32,
    /// Total weight in units of 2⁻³⁰.
    weight: u64,
    /// Sum of the squared weights in units of 2⁻⁶⁰.
    squares: u128,
    sums: Sums<M::Frequencies>,
}

// Not derived: that would require the map to implement these traits too.
impl<M: FeatureMap> Clone for Embedding<M> {
    fn clone(&self) -> Self {
        Self { sums: self.sums.clone(), ..*self }
    }
}

impl<M: FeatureMap> PartialEq for Embedding<M> {
    fn eq(&self, other: &Self) -> bool {
        self.fingerprint == other.fingerprint
            && self.weight == other.weight
            && self.squares == other.squares
            && self.sums == other.sums
    }
}

impl<M: FeatureMap> fmt::Debug for Embedding<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Embedding")
            .field("weight", &self.weight())
            .field("sums", &self.sums)
            .finish_non_exhaustive()
    }
}

impl<M: FeatureMap<Frequencies = Fixed<L>>, const L: usize> Embedding<M> {
    /// An empty embedding of a map with this fingerprint and K(0).
    const fn constant(fingerprint: u32, amplitude: f32) -> Self {
        Self { fingerprint, amplitude, weight: 0, squares: 0, sums: Sums::EMPTY }
    }
}

impl<M: FeatureMap> Embedding<M> {
    /// An empty embedding for samples of `map`.
    ///
    /// Not a `const fn`: it asks the map for its fingerprint through a trait, which stable Rust
    /// cannot do in a constant, and which depends on the map's seed, not on its type. In a `const`
    /// or `static`, [`map.embedding()`](crate::Fourier::embedding) makes the same.
    #[must_use]
    pub fn new(map: &M) -> Self {
        Self::empty(map.fingerprint(), map.recipe().kernel.amplitude(), &map.dims())
    }

    fn empty(fingerprint: u32, amplitude: f32, dims: &Dims) -> Self {
        Self { fingerprint, amplitude, weight: 0, squares: 0, sums: Sums::new(dims) }
    }

    /// Adds a sample with weight 1. O(L), and the cost of the map.
    ///
    /// # Errors
    /// [`Error::NonFinite`] or [`Error::PhaseTooLarge`] for a bad sample, [`Error::MapMismatch`]
    /// for another map, [`Error::Full`] if the total weight would reach [`MAX_TOTAL_WEIGHT`].
    #[inline]
    pub fn add(&mut self, map: &M, sample: &Sample<M>) -> Result<(), Error> {
        self.check_map(map)?;
        let total = self.total_with(1 << PLACES)?;
        map.project(sample, self.sums.lower(), |sum, phase| {
            sum.add(M::Backend::units(phase));
        })?;
        self.sums.added(M::Backend::OFFSET);
        self.weight = total;
        self.squares = self.squares.wrapping_add(1 << (2 * PLACES));
        Ok(())
    }

    /// As [`add`](Self::add), and leaves the sample's points in `units`, as the backend gives them.
    fn add_seen(
        &mut self,
        map: &M,
        sample: &Sample<M>,
        units: &mut Per<M::Frequencies, [u32; 2]>,
    ) -> Result<(), Error> {
        self.check_map(map)?;
        let total = self.total_with(1 << PLACES)?;
        map.project(sample, units.borrow_mut(), |units, phase| *units = M::Backend::units(phase))?;
        for (sum, units) in self.sums.lower().as_mut().iter_mut().zip(units.iter()) {
            sum.add(*units);
        }
        self.sums.added(M::Backend::OFFSET);
        self.weight = total;
        self.squares = self.squares.wrapping_add(1 << (2 * PLACES));
        Ok(())
    }

    /// Adds a sample with a weight of 0, or from [`MIN_WEIGHT`] to [`MAX_WEIGHT`]. An integer weight
    /// k is exactly the same as adding the sample k times, except for the sum of squared weights; a
    /// weight of 0 changes nothing. Cost as for [`add`](Self::add).
    ///
    /// # Errors
    /// As [`add`](Self::add), and [`Error::NonFinite`] or [`Error::OutOfRange`] for the weight.
    pub fn add_weighted(&mut self, map: &M, sample: &Sample<M>, weight: f32) -> Result<(), Error> {
        self.check_map(map)?;
        let weight = Weight::new(weight)?;
        let total = self.total_with(weight.total)?;
        self.change(map, sample, |sum, phase| sum.plus(weighted::<M>(weight, phase)))?;
        self.weight = total;
        self.squares = self.squares.wrapping_add(weight.squared());
        Ok(())
    }

    /// Removes a sample that was added with weight 1: exactly as if it had never been added. Cost
    /// as for [`add`](Self::add).
    ///
    /// Whether the sample was ever added is not checked. If it was not, the mean may leave the unit
    /// circle, and a state saved then is refused as inconsistent when restored.
    ///
    /// # Errors
    /// As [`add`](Self::add), and [`Error::NothingToRemove`] if the embedding weighs less.
    pub fn remove(&mut self, map: &M, sample: &Sample<M>) -> Result<(), Error> {
        self.remove_weighted(map, sample, 1.0)
    }

    /// Removes a sample that was added with this weight: exactly as if it had never been added.
    /// Cost as for [`add`](Self::add).
    ///
    /// # Errors
    /// As [`add_weighted`](Self::add_weighted), and [`Error::NothingToRemove`] if the embedding
    /// weighs less.
    pub fn remove_weighted(
        &mut self,
        map: &M,
        sample: &Sample<M>,
        weight: f32,
    ) -> Result<(), Error> {
        self.check_map(map)?;
        let weight = Weight::new(weight)?;
        let (Some(total), Some(squares)) =
            (self.weight.checked_sub(weight.total), self.squares.checked_sub(weight.squared()))
        else {
            return Err(Error::NothingToRemove);
        };
        self.change(map, sample, |sum, phase| sum.minus(weighted::<M>(weight, phase)))?;
        self.weight = total;
        self.squares = squares;
        self.settle();
        Ok(())
    }

    /// Multiplies the weight of all samples so far by `keep`, 0 < `keep` ≤ 1. Called before each
    /// [`add`](Self::add), it gives an exponentially weighted mean over about 1/(1 − `keep`)
    /// samples. O(L).
    ///
    /// # Errors
    /// [`Error::NonFinite`] or [`Error::OutOfRange`] for `keep`.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "0 < keep ≤ 1 has been checked"
    )]
    pub fn forget(&mut self, keep: f32) -> Result<(), Error> {
        if !keep.is_finite() {
            return Err(Error::NonFinite(Parameter::Keep));
        }
        if !(keep > 0.0 && keep <= 1.0) {
            return Err(Error::OutOfRange(Parameter::Keep));
        }
        // In units of 2⁻³²: exact for factors from 2⁻⁸.
        let factor = (keep * 4_294_967_296.0) as u64;
        for mut cell in self.sums.cells() {
            let Sum { cos, sin } = cell.sum();
            cell.set(Sum { cos: shrink_sum(cos, factor), sin: shrink_sum(sin, factor) });
        }
        self.weight = shrink(self.weight, factor);
        self.squares = shrink_wide(shrink_wide(self.squares, factor), factor);
        self.settle();
        Ok(())
    }

    /// Adds all samples of another embedding. The result is exactly the embedding of both streams.
    /// O(L).
    ///
    /// # Errors
    /// [`Error::MapMismatch`] or [`Error::Full`].
    pub fn merge(&mut self, other: &Self) -> Result<(), Error> {
        self.check_same(other)?;
        let total = self.total_with(other.weight)?;
        for (mut cell, more) in self.sums.cells().zip(other.sums.iter()) {
            cell.set(cell.sum().plus(more));
        }
        self.weight = total;
        self.squares = self.squares.saturating_add(other.squares);
        Ok(())
    }

    /// Forgets all samples.
    pub fn reset(&mut self) {
        (self.weight, self.squares) = (0, 0);
        self.sums.reset();
    }

    /// Total weight Σa: the number of samples, if all have weight 1.
    #[must_use]
    pub fn weight(&self) -> f32 {
        f32_of_weight(self.weight) / ONE
    }

    /// Total weight in units of 2⁻³⁰, exact.
    #[must_use]
    pub fn exact_weight(&self) -> u64 {
        self.weight
    }

    /// The exact sums Σ a φ_k(x), of cos and of sin, in order of k and in units of 2⁻²⁴: what a
    /// database can store, add up and compare without this crate.
    pub fn exact_sums(&self) -> impl Iterator<Item = [i64; 2]> + '_ {
        self.sums.iter().map(|Sum { cos, sin }| [cos, sin])
    }

    /// The embedding of `rows` samples of weight 1 whose mean points are known in `f32`: the sums
    /// are rounded.
    #[expect(clippy::cast_possible_truncation, reason = "below 2³² rows of points in the circle")]
    pub(crate) fn of_means(map: &M, rows: u32, means: impl Iterator<Item = [f32; 2]>) -> Self {
        let mut embedding = Self::new(map);
        let unit = f64::from(rows) * f64::from(1_u32 << sums::PLACES);
        for (mut cell, mean) in embedding.sums.cells().zip(means) {
            let [cos, sin] = mean.map(|mean| (f64::from(mean) * unit) as i64);
            cell.set(Sum { cos, sin });
        }
        embedding.weight = u64::from(rows) << PLACES;
        embedding.squares = u128::from(rows) << (2 * PLACES);
        embedding
    }

    /// Σa²/(Σa)²: the inverse of the effective number of samples; 1/n for n equal weights.
    ///
    /// # Errors
    /// [`Error::Empty`].
    pub fn concentration(&self) -> Result<f32, Error> {
        if self.weight == 0 {
            return Err(Error::Empty);
        }
        let weight = f32_of_weight(self.weight);
        Ok(f32_of_squares(self.squares) / weight / weight)
    }

    /// The mean points μ_k = Σ a φ_k(x) / Σ a in order of k.
    ///
    /// # Errors
    /// [`Error::Empty`].
    pub fn mean(&self) -> Result<impl Iterator<Item = Point> + '_, Error> {
        if self.weight == 0 {
            return Err(Error::Empty);
        }
        let weight = f32_of_weight(self.weight) / SUM_UNIT;
        Ok(self.sums.iter().map(move |sum| Point {
            cos: f32_of_sum(sum.cos) / weight,
            sin: f32_of_sum(sum.sin) / weight,
        }))
    }

    /// ‖μ‖² = K(0)/L·Σ|μ_k|²: the mean of the kernel over all pairs of samples, including the pair
    /// of each sample with itself. O(L).
    ///
    /// # Errors
    /// [`Error::Empty`].
    pub fn squared_norm(&self) -> Result<f32, Error> {
        let sum = compensated_sum(self.mean()?.map(|p| p.cos * p.cos + p.sin * p.sin));
        Ok(self.gain() * sum / f32_of(self.sums.count()))
    }

    /// ⟨μ₁, μ₂⟩: the mean of the kernel over all pairs of one sample from each embedding. It is
    /// itself a kernel, on sets of samples. O(L).
    ///
    /// # Errors
    /// [`Error::Empty`] or [`Error::MapMismatch`].
    pub fn inner_product(&self, other: &Self) -> Result<f32, Error> {
        self.check_same(other)?;
        let pairs = self.mean()?.zip(other.mean()?);
        let sum = compensated_sum(pairs.map(|(p, q)| p.cos * q.cos + p.sin * q.sin));
        Ok(self.gain() * sum / f32_of(self.sums.count()))
    }

    /// What the mean of products of points is multiplied by to give the kernel.
    fn gain(&self) -> f32 {
        M::Backend::GAIN * self.amplitude
    }

    /// K(0) of the kernel behind the map.
    #[must_use]
    pub fn amplitude(&self) -> f32 {
        self.amplitude
    }

    /// Number of frequencies L.
    #[must_use]
    pub fn frequencies(&self) -> usize {
        self.sums.count()
    }

    /// Replaces each sum by the result of `change`, called with the sum and the sample's phase.
    fn change(
        &mut self,
        map: &M,
        sample: &Sample<M>,
        mut change: impl FnMut(Sum, PhaseOf<M>) -> Sum,
    ) -> Result<(), Error> {
        let mut items = self.sums.like(());
        let mut cells = self.sums.cells();
        map.project(sample, items.borrow_mut(), |(), phase| {
            // There is one sum for each phase.
            if let Some(mut cell) = cells.next() {
                cell.set(change(cell.sum(), phase));
            }
        })
    }

    /// Restores 0 < Σa² ≤ (Σa)², or empties the embedding: rounding in [`forget`](Self::forget) can
    /// violate this when little weight is left.
    fn settle(&mut self) {
        if self.weight == 0 {
            self.reset();
        } else {
            self.squares = self.squares.min(square(self.weight)).max(1);
        }
    }

    /// Whether the sums are possible for these weights. Not every inconsistency can be seen.
    fn is_consistent(&self) -> bool {
        // A coarse backend may put a point slightly outside the circle, and so may rounding.
        let limit = self.weight.saturating_add(self.weight >> 8) >> (PLACES - sums::PLACES);
        let limit = limit.saturating_add(1);
        self.weight < FULL
            && (self.weight == 0) == (self.squares == 0)
            && self.squares <= square(self.weight)
            && self
                .sums
                .iter()
                .all(|s| s.cos.unsigned_abs() <= limit && s.sin.unsigned_abs() <= limit)
    }

    fn check_map(&self, map: &M) -> Result<(), Error> {
        if map.fingerprint() == self.fingerprint { Ok(()) } else { Err(Error::MapMismatch) }
    }

    fn check_same(&self, other: &Self) -> Result<(), Error> {
        if other.fingerprint == self.fingerprint { Ok(()) } else { Err(Error::MapMismatch) }
    }

    /// Whether one more sample of this total weight can be added.
    fn check_room(&self, weight: u64) -> Result<(), Error> {
        self.total_with(weight).map(drop)
    }

    fn total_with(&self, weight: u64) -> Result<u64, Error> {
        match self.weight.checked_add(weight) {
            Some(total) if total < FULL => Ok(total),
            _ => Err(Error::Full),
        }
    }
}

impl<M: FeatureMap> Embedding<M> {
    /// Adds a sample of weight 1 by its phases, each times `factor`.
    fn add_phases(
        &mut self,
        phases: &Per<M::Frequencies, PhaseOf<M>>,
        factor: FactorOf<M>,
    ) -> Result<(), Error> {
        self.weight = self.total_with(1 << PLACES)?;
        self.squares = self.squares.wrapping_add(1 << (2 * PLACES));
        for (sum, phase) in self.sums.lower().as_mut().iter_mut().zip(phases.iter()) {
            sum.add(M::Backend::units(ScalarOf::<M>::scaled(*phase, factor)));
        }
        self.sums.added(M::Backend::OFFSET);
        Ok(())
    }

    /// The same with a weight.
    fn add_phases_weighted(
        &mut self,
        phases: &Per<M::Frequencies, PhaseOf<M>>,
        factor: FactorOf<M>,
        weight: Weight,
    ) -> Result<(), Error> {
        self.weight = self.total_with(weight.total)?;
        self.squares = self.squares.wrapping_add(weight.squared());
        for (mut cell, phase) in self.sums.cells().zip(phases.iter()) {
            let added = weighted::<M>(weight, ScalarOf::<M>::scaled(*phase, factor));
            cell.set(cell.sum().plus(added));
        }
        Ok(())
    }
}

/// What phases of a map are multiplied by for another bandwidth.
type FactorOf<M> = <ScalarOf<M> as Scalar>::Factor;

/// What one weighted sample adds to the sums.
#[inline]
fn weighted<M: FeatureMap>(weight: Weight, phase: PhaseOf<M>) -> Sum {
    let Sum { cos, sin } = Sum::of(M::Backend::units(phase), M::Backend::OFFSET);
    let share = |value: i64| scaled(value, weight.mantissa, weight.shift);
    Sum { cos: share(cos), sin: share(sin) }
}

#[cfg(feature = "defmt")]
impl<M: FeatureMap> defmt::Format for Embedding<M> {
    fn format(&self, f: defmt::Formatter<'_>) {
        let (count, weight) = (self.sums.count(), self.weight());
        defmt::write!(f, "Embedding of {} frequencies, weight {}", count, weight);
    }
}
