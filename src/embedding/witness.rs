//! Where two distributions differ: the witness function and its slope.

use core::f32::consts::TAU;

use super::Embedding;
use crate::error::Error;
use crate::features::sincos::{Point, SinCos};
use crate::features::{FeatureMap, Sample};
use crate::numeric::f32_of;
use crate::shape::{Length, Per};

/// A slope for each channel of a map: `[f32; D]`.
type Gradient<M> = <<M as FeatureMap>::Inputs as Length>::Of<f32>;

/// The witness function f(x) = ⟨μ_P − μ_Q, φ(x)⟩ of two embeddings over one map: 8·L bytes.
///
/// f(x) = E k(x, p) − E k(x, q): above 0 where P, smoothed by the kernel, has more mass than Q,
/// and below 0 where it has less. Of all functions in the kernel's space it separates P and Q best,
/// and its mean over P minus its mean over Q is MMD_b².
///
/// ```
/// use fastmmd::{Embedding, Fourier, Witness};
///
/// let map = Fourier::<1, 64>::gaussian(1);
/// let mut before = Embedding::new(&map);
/// let mut after = Embedding::new(&map);
/// for step in 0..100 {
///     let noise = (step % 10) as f32 / 10.0;
///     before.add(&map, &[noise])?;
///     after.add(&map, &[noise + 3.0])?;
/// }
/// let witness = Witness::new(&map, &before, &after)?;
/// assert!(witness.at(&[0.5])? > 0.5 && witness.at(&[3.5])? < -0.5);
/// let [slope] = witness.gradient(&[2.0])?;
/// assert!(slope < 0.0);
/// # Ok::<(), fastmmd::Error>(())
/// ```
#[derive(Debug)]
pub struct Witness<'m, M: FeatureMap> {
    map: &'m M,
    /// K(0)/L·(μ_P − μ_Q) on each circle.
    difference: Per<M::Frequencies, Point>,
}

// Not derived: a copy borrows the same map, which need not be `Clone`.
impl<M: FeatureMap> Clone for Witness<'_, M> {
    fn clone(&self) -> Self {
        Self { map: self.map, difference: self.difference.clone() }
    }
}

impl<'m, M: FeatureMap<Backend: SinCos>> Witness<'m, M> {
    /// The witness of P against Q. O(L).
    ///
    /// # Errors
    /// [`Error::MapMismatch`] if one was not made with `map`, [`Error::Empty`] if one holds no
    /// sample.
    pub fn new(map: &'m M, p: &Embedding<M>, q: &Embedding<M>) -> Result<Self, Error> {
        p.check_map(map)?;
        q.check_map(map)?;
        let factor = p.amplitude() / f32_of(p.frequencies());
        let mut difference = Per::make(&map.dims(), || Point::ZERO);
        for ((point, p), q) in difference.iter_mut().zip(p.mean()?).zip(q.mean()?) {
            *point = Point { cos: factor * (p.cos - q.cos), sin: factor * (p.sin - q.sin) };
        }
        Ok(Self { map, difference })
    }

    /// f(x), within ±2·K(0). O(L), and the cost of the map.
    ///
    /// # Errors
    /// As [`Embedding::add`]: a sample that is not finite or too large.
    pub fn at(&self, sample: &Sample<M>) -> Result<f32, Error> {
        let mut differences = self.difference.iter();
        let mut value = 0.0;
        let mut items = self.difference.like(());
        self.map.project(sample, items.borrow_mut(), |(), phase| {
            if let Some(difference) = differences.next() {
                let point = M::Backend::point(phase);
                value += difference.cos * point.cos + difference.sin * point.sin;
            }
        })?;
        Ok(value)
    }

    /// ∇f(x), per unit of each channel: the direction in which f rises fastest. Costs one
    /// projection and its transpose, and 4·L bytes of stack.
    ///
    /// # Errors
    /// As [`at`](Self::at).
    pub fn gradient(&self, sample: &Sample<M>) -> Result<Gradient<M>, Error> {
        let mut differences = self.difference.iter();
        let mut slopes = self.difference.like(0.0);
        self.map.project(sample, slopes.borrow_mut(), |slope, phase| {
            if let Some(difference) = differences.next() {
                let point = M::Backend::point(phase);
                *slope = TAU * (difference.sin * point.cos - difference.cos * point.sin);
            }
        })?;
        Ok(self.map.weighted_frequencies(slopes.borrow()))
    }
}

#[cfg(feature = "defmt")]
impl<M: FeatureMap> defmt::Format for Witness<'_, M> {
    fn format(&self, f: defmt::Formatter<'_>) {
        defmt::write!(f, "witness over {} frequencies", self.difference.len());
    }
}
