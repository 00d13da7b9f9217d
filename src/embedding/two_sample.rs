//! The two-sample statistic of two streams, available at any time.

use super::Embedding;
use super::mmd::{self, Circle};
use crate::error::Error;
use crate::features::{FeatureMap, Sample};

/// The streaming two-sample statistic: MMD² between two embeddings P and Q over one map. A little
/// over 32·L bytes.
///
/// ```
/// use fastmmd::{Fourier, Kernel, Profile, TwoSample};
///
/// let kernel = Kernel::new(Profile::Gaussian, 0.5)?;
/// let map = Fourier::<1, 64>::with_kernel(kernel, 1);
/// let mut test = TwoSample::new(&map);
/// for step in 0..100 {
///     let reading = (step % 10) as f32 / 10.0;
///     test.push_p(&[reading])?;
///     test.push_q(&[reading + 0.5])?;
/// }
/// assert!(test.mmd2_unbiased()? > 0.1);
/// # Ok::<(), fastmmd::Error>(())
/// ```
#[derive(Debug)]
pub struct TwoSample<'m, M: FeatureMap> {
    map: &'m M,
    p: Embedding<M>,
    q: Embedding<M>,
}

// Not derived: a copy borrows the same map, which need not be `Clone`.
impl<M: FeatureMap> Clone for TwoSample<'_, M> {
    fn clone(&self) -> Self {
        Self { map: self.map, p: self.p.clone(), q: self.q.clone() }
    }
}

impl<'m, M: FeatureMap> TwoSample<'m, M> {
    pub(super) const fn constant(map: &'m M, p: Embedding<M>, q: Embedding<M>) -> Self {
        Self { map, p, q }
    }

    /// Two empty streams over `map`. For a constant, see
    /// [`Fourier::two_sample`](crate::Fourier::two_sample).
    #[must_use]
    pub fn new(map: &'m M) -> Self {
        Self { map, p: Embedding::new(map), q: Embedding::new(map) }
    }

    /// Two streams from existing embeddings, for instance of two devices.
    ///
    /// # Errors
    /// [`Error::MapMismatch`] if one was not made with `map`.
    pub fn from_embeddings(map: &'m M, p: Embedding<M>, q: Embedding<M>) -> Result<Self, Error> {
        p.check_map(map)?;
        q.check_map(map)?;
        Ok(Self { map, p, q })
    }

    /// Adds a sample to P. O(L), and the cost of the map.
    ///
    /// # Errors
    /// As [`Embedding::add`].
    pub fn push_p(&mut self, sample: &Sample<M>) -> Result<(), Error> {
        self.p.add(self.map, sample)
    }

    /// Adds a sample to Q. O(L), and the cost of the map.
    ///
    /// # Errors
    /// As [`Embedding::add`].
    pub fn push_q(&mut self, sample: &Sample<M>) -> Result<(), Error> {
        self.q.add(self.map, sample)
    }

    /// Adds samples to P, as [`Embedding::add_many`] does.
    ///
    /// # Errors
    /// As there.
    pub fn push_p_many<'s>(
        &mut self,
        samples: impl IntoIterator<Item = &'s Sample<M>, IntoIter: Clone>,
    ) -> Result<(), Error>
    where
        Sample<M>: 's,
    {
        self.p.add_many(self.map, samples)
    }

    /// Adds a weighted sample to P. Cost as for [`push_p`](Self::push_p).
    ///
    /// # Errors
    /// As [`Embedding::add_weighted`].
    pub fn push_p_weighted(&mut self, sample: &Sample<M>, weight: f32) -> Result<(), Error> {
        self.p.add_weighted(self.map, sample, weight)
    }

    /// Adds samples to Q, as [`Embedding::add_many`] does.
    ///
    /// # Errors
    /// As there.
    pub fn push_q_many<'s>(
        &mut self,
        samples: impl IntoIterator<Item = &'s Sample<M>, IntoIter: Clone>,
    ) -> Result<(), Error>
    where
        Sample<M>: 's,
    {
        self.q.add_many(self.map, samples)
    }

    /// Adds a weighted sample to Q. Cost as for [`push_p`](Self::push_p).
    ///
    /// # Errors
    /// As [`Embedding::add_weighted`].
    pub fn push_q_weighted(&mut self, sample: &Sample<M>, weight: f32) -> Result<(), Error> {
        self.q.add_weighted(self.map, sample, weight)
    }

    /// MMD_b²: see [`mmd::squared_biased`]. O(L).
    ///
    /// # Errors
    /// [`Error::Empty`] before both streams have a sample.
    pub fn mmd2_biased(&self) -> Result<f32, Error> {
        mmd::squared_biased(&self.p, &self.q)
    }

    /// MMD_u²: see [`mmd::squared_unbiased`]. O(L).
    ///
    /// # Errors
    /// [`Error::Empty`] or [`Error::TooFewSamples`] before both streams have two samples.
    pub fn mmd2_unbiased(&self) -> Result<f32, Error> {
        mmd::squared_unbiased(&self.p, &self.q)
    }

    /// MMD_b, the square root of [`mmd2_biased`](Self::mmd2_biased). O(L).
    ///
    /// # Errors
    /// [`Error::Empty`] before both streams have a sample.
    pub fn mmd(&self) -> Result<f32, Error> {
        mmd::biased(&self.p, &self.q)
    }

    /// Both streams on each circle: see [`mmd::circles`]. O(L).
    ///
    /// # Errors
    /// [`Error::Empty`] before both streams have a sample.
    pub fn circles(&self) -> Result<impl Iterator<Item = Circle> + '_, Error> {
        mmd::circles(&self.p, &self.q)
    }

    /// The map that both streams share.
    #[must_use]
    pub fn map(&self) -> &'m M {
        self.map
    }

    /// The embedding of the first stream.
    #[must_use]
    pub fn p(&self) -> &Embedding<M> {
        &self.p
    }

    /// The embedding of the second stream.
    #[must_use]
    pub fn q(&self) -> &Embedding<M> {
        &self.q
    }

    /// The embedding of the first stream, to merge into, forget or reset.
    pub fn p_mut(&mut self) -> &mut Embedding<M> {
        &mut self.p
    }

    /// The embedding of the second stream, to merge into, forget or reset.
    pub fn q_mut(&mut self) -> &mut Embedding<M> {
        &mut self.q
    }

    /// Empties both streams.
    pub fn reset(&mut self) {
        self.p.reset();
        self.q.reset();
    }
}

#[cfg(feature = "defmt")]
impl<M: FeatureMap> defmt::Format for TwoSample<'_, M> {
    fn format(&self, f: defmt::Formatter<'_>) {
        defmt::write!(f, "P: {}, Q: {}", self.p, self.q);
    }
}
