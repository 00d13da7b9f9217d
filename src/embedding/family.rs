//! MMD² at several bandwidths from one projection.

use super::null::{Assumption, Reading};
use super::{Embedding, PLACES, Weight, mmd};
use crate::error::{Error, check_level};
use crate::features::kernel::{Kernel, Profile};
use crate::features::sincos::SinCos;
use crate::features::{FeatureMap, MAX_TURNS, PhaseOf, Sample, Scalar, ScalarOf};
use crate::numeric::{f64_of, rounded};
use crate::shape::{Fixed, Per};
use crate::state::checksum;

/// MMD² of one member of a [`KernelFamily`].
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub struct Member {
    /// The bandwidth σ, in units of the input.
    pub bandwidth: f32,
    /// MMD² with that bandwidth.
    pub squared: f32,
}

/// The two-sample statistic for N bandwidths of one kernel at once.
///
/// Phases are inversely proportional to the bandwidth, so the sample is projected once, and only
/// sine and cosine are computed N times. The member with the largest MMD² has the bandwidth at
/// which the two samples differ most. 32·N·L bytes and a little.
///
/// With a map of [`fixed`](crate::fixed), the bandwidths must be the map's own σ divided by a whole
/// number: σ, σ/2, σ/3 and so on, up to σ/256. Its phases are stored without their whole turns, so
/// only whole multiples of them can be computed.
///
/// ```
/// use fastmmd::{Fourier, KernelFamily};
///
/// let map = Fourier::<1, 64>::gaussian(1);
/// let mut family = KernelFamily::new(&map, [0.1, 1.0, 10.0])?;
/// for step in 0..100 {
///     let reading = step as f32 / 100.0;
///     family.push_p(&[reading])?;
///     family.push_q(&[reading + 1.0])?;
/// }
/// assert_eq!(family.maximum_unbiased()?.bandwidth, 1.0);
/// # Ok::<(), fastmmd::Error>(())
/// ```
#[derive(Debug)]
pub struct KernelFamily<'m, M: FeatureMap, const N: usize> {
    map: &'m M,
    bandwidths: [f32; N],
    p: [Embedding<M>; N],
    q: [Embedding<M>; N],
}

/// Refuses bandwidths that no kernel has, of any profile.
const fn check<const N: usize>(bandwidths: [f32; N]) -> Result<(), Error> {
    let mut rest = bandwidths.as_slice();
    while let [bandwidth, others @ ..] = rest {
        if let Err(error) = Kernel::new(Profile::Gaussian, *bandwidth) {
            return Err(error);
        }
        rest = others;
    }
    Ok(())
}

/// The fingerprint of a member: merging members of different bandwidths is then an error.
const fn member(fingerprint: u32, bandwidth: f32) -> u32 {
    let ([a, b, c, d], [e, f, g, h]) = (fingerprint.to_le_bytes(), bandwidth.to_le_bytes());
    checksum(0, &[b'f', b'a', b'm', b'i', b'l', b'y', a, b, c, d, e, f, g, h])
}

impl<'m, M, const N: usize, const L: usize> KernelFamily<'m, M, N>
where
    M: FeatureMap<Frequencies = Fixed<L>, Backend: SinCos>,
{
    pub(super) const fn constant(
        map: &'m M,
        bandwidths: [f32; N],
        (fingerprint, amplitude): (u32, f32),
    ) -> Result<Self, Error> {
        const { assert!(N >= 1, "a family must have at least 1 bandwidth") };
        if let Err(error) = check(bandwidths) {
            return Err(error);
        }
        let mut p = [const { Embedding::constant(0, 1.0) }; N];
        let mut q = [const { Embedding::constant(0, 1.0) }; N];
        let (mut ps, mut qs, mut rest): (&mut [_], &mut [_], &[_]) = (&mut p, &mut q, &bandwidths);
        while let ([first, others @ ..], [second, more @ ..], [bandwidth, left @ ..]) =
            (ps, qs, rest)
        {
            let fingerprint = member(fingerprint, *bandwidth);
            *first = Embedding::constant(fingerprint, amplitude);
            *second = Embedding::constant(fingerprint, amplitude);
            (ps, qs, rest) = (others, more, left);
        }
        Ok(Self { map, bandwidths, p, q })
    }
}

impl<'m, M: FeatureMap, const N: usize> KernelFamily<'m, M, N> {
    /// Empty streams for these bandwidths, in units of the input. The map's own bandwidth does not
    /// matter. For a constant, see [`Fourier::family`](crate::Fourier::family).
    ///
    /// A family without bandwidths does not compile. `cargo build` reports it; `cargo check` does so
    /// only for a constant, because it does not evaluate generic functions.
    ///
    /// # Errors
    /// [`Error::NonFinite`] or [`Error::OutOfRange`] for a bad bandwidth, as in
    /// [`Kernel::new`](crate::Kernel::new), and in integers for one that is no whole part of the
    /// map's.
    pub fn new(map: &'m M, bandwidths: [f32; N]) -> Result<Self, Error> {
        const { assert!(N >= 1, "a family must have at least 1 bandwidth") };
        check(bandwidths)?;
        let own = map.recipe().kernel.bandwidth();
        bandwidths
            .iter()
            .try_for_each(|bandwidth| ScalarOf::<M>::factor(own, *bandwidth).map(drop))?;
        let (fingerprint, amplitude) = (map.fingerprint(), map.recipe().kernel.amplitude());
        let empty = |bandwidth: f32| {
            Embedding::empty(member(fingerprint, bandwidth), amplitude, &map.dims())
        };
        Ok(Self { map, bandwidths, p: bandwidths.map(empty), q: bandwidths.map(empty) })
    }

    /// The map that all members share.
    #[must_use]
    pub fn map(&self) -> &'m M {
        self.map
    }

    /// Empties both streams of every member.
    pub fn reset(&mut self) {
        self.p.iter_mut().chain(&mut self.q).for_each(Embedding::reset);
    }

    /// Adds a sample to P. O(N·L), the cost of the map, and 4·L bytes of stack.
    ///
    /// # Errors
    /// As [`Embedding::add`]; [`Error::PhaseTooLarge`] if a phase is too large at the smallest
    /// bandwidth.
    pub fn push_p(&mut self, sample: &Sample<M>) -> Result<(), Error> {
        Self::push(self.map, &self.bandwidths, &mut self.p, sample)
    }

    /// Adds a sample to Q, as [`push_p`](Self::push_p).
    ///
    /// # Errors
    /// As [`push_p`](Self::push_p).
    pub fn push_q(&mut self, sample: &Sample<M>) -> Result<(), Error> {
        Self::push(self.map, &self.bandwidths, &mut self.q, sample)
    }

    /// Adds a weighted sample to P, as [`push_p`](Self::push_p).
    ///
    /// # Errors
    /// As [`push_p`](Self::push_p), and those of [`Embedding::add_weighted`] for the weight.
    pub fn push_p_weighted(&mut self, sample: &Sample<M>, weight: f32) -> Result<(), Error> {
        let weight = Weight::new(weight)?;
        Self::push_weighted(self.map, &self.bandwidths, &mut self.p, sample, weight)
    }

    /// Adds a weighted sample to Q, as [`push_p`](Self::push_p).
    ///
    /// # Errors
    /// As [`push_p_weighted`](Self::push_p_weighted).
    pub fn push_q_weighted(&mut self, sample: &Sample<M>, weight: f32) -> Result<(), Error> {
        let weight = Weight::new(weight)?;
        Self::push_weighted(self.map, &self.bandwidths, &mut self.q, sample, weight)
    }

    /// Multiplies the weight of all samples of P so far by `keep`, in every member:
    /// [`Embedding::forget`]. O(N·L).
    ///
    /// # Errors
    /// As [`Embedding::forget`].
    pub fn forget_p(&mut self, keep: f32) -> Result<(), Error> {
        self.p.iter_mut().try_for_each(|embedding| embedding.forget(keep))
    }

    /// The same for Q.
    ///
    /// # Errors
    /// As [`Embedding::forget`].
    pub fn forget_q(&mut self, keep: f32) -> Result<(), Error> {
        self.q.iter_mut().try_for_each(|embedding| embedding.forget(keep))
    }

    /// The phases of a sample, if every member accepts one of this total weight. All or none: nothing
    /// is added before that is known.
    fn phases(
        map: &M,
        bandwidths: &[f32; N],
        embeddings: &[Embedding<M>; N],
        sample: &Sample<M>,
        weight: u64,
    ) -> Result<Per<M::Frequencies, PhaseOf<M>>, Error> {
        let own = map.recipe().kernel.bandwidth();
        // The smallest bandwidth has the largest phases.
        let least = bandwidths.iter().copied().fold(f32::INFINITY, f32::min);
        let narrowest = ScalarOf::<M>::factor(own, least)?;
        let mut phases = Per::make(&map.dims(), PhaseOf::<M>::default);
        let mut largest = 0.0;
        map.project(sample, phases.borrow_mut(), |item, phase| {
            *item = phase;
            let turns = ScalarOf::<M>::turns(phase, narrowest);
            largest = if turns > largest { turns } else { largest };
        })?;
        if largest > MAX_TURNS {
            return Err(Error::PhaseTooLarge);
        }
        embeddings.iter().try_for_each(|embedding| embedding.check_room(weight))?;
        Ok(phases)
    }

    fn push(
        map: &M,
        bandwidths: &[f32; N],
        embeddings: &mut [Embedding<M>; N],
        sample: &Sample<M>,
    ) -> Result<(), Error> {
        let phases = Self::phases(map, bandwidths, embeddings, sample, 1 << PLACES)?;
        let own = map.recipe().kernel.bandwidth();
        for (embedding, bandwidth) in embeddings.iter_mut().zip(bandwidths) {
            embedding.add_phases(&phases, ScalarOf::<M>::factor(own, *bandwidth)?)?;
        }
        Ok(())
    }

    fn push_weighted(
        map: &M,
        bandwidths: &[f32; N],
        embeddings: &mut [Embedding<M>; N],
        sample: &Sample<M>,
        weight: Weight,
    ) -> Result<(), Error> {
        let phases = Self::phases(map, bandwidths, embeddings, sample, weight.total)?;
        let own = map.recipe().kernel.bandwidth();
        for (embedding, bandwidth) in embeddings.iter_mut().zip(bandwidths) {
            let factor = ScalarOf::<M>::factor(own, *bandwidth)?;
            embedding.add_phases_weighted(&phases, factor, weight)?;
        }
        Ok(())
    }

    /// MMD_b² of every member, in the order of the bandwidths given.
    ///
    /// # Errors
    /// [`Error::Empty`] before both streams have a sample.
    pub fn biased(&self) -> Result<[Member; N], Error> {
        self.each(mmd::squared_biased)
    }

    /// MMD_u² of every member, in the order of the bandwidths given.
    ///
    /// # Errors
    /// [`Error::Empty`] or [`Error::TooFewSamples`] before both streams have two samples.
    pub fn unbiased(&self) -> Result<[Member; N], Error> {
        self.each(mmd::squared_unbiased)
    }

    /// The member with the largest MMD_b².
    ///
    /// # Errors
    /// As [`biased`](Self::biased).
    pub fn maximum_biased(&self) -> Result<Member, Error> {
        self.biased().map(largest_of)
    }

    /// The member with the largest MMD_u².
    ///
    /// # Errors
    /// As [`unbiased`](Self::unbiased).
    pub fn maximum_unbiased(&self) -> Result<Member, Error> {
        self.unbiased().map(largest_of)
    }

    /// The value that the largest MMD_b², [`maximum_biased`](Self::maximum_biased), exceeds with a
    /// probability of at most `level` if both streams have one distribution and independent
    /// samples: the largest threshold of a member at `level`/N (see
    /// [`TwoSample::threshold`](super::TwoSample::threshold)). O(N·L).
    ///
    /// # Errors
    /// As [`TwoSample::threshold`](super::TwoSample::threshold).
    pub fn threshold(&self, assumption: Assumption, level: f32) -> Result<f32, Error> {
        check_level(level)?;
        let mut largest = 0.0_f64;
        for (p, q) in self.p.iter().zip(&self.q) {
            let own = Reading::of(p, q, assumption)?.threshold(assumption, level, f64_of(N));
            largest = if own > largest { own } else { largest };
        }
        Ok(rounded(largest))
    }

    /// The p-value of the whole family: N times the smallest p-value of a member (Bonferroni), an
    /// upper bound. Each member is compared with its own threshold, which detects more differences
    /// than comparing the largest MMD_b². O(N·L).
    ///
    /// # Errors
    /// As [`TwoSample::threshold`](super::TwoSample::threshold).
    pub fn p_value(&self, assumption: Assumption) -> Result<f32, Error> {
        let mut least = 1.0_f64;
        for (p, q) in self.p.iter().zip(&self.q) {
            let own = Reading::of(p, q, assumption)?.p_value(assumption, f64_of(N));
            least = if own < least { own } else { least };
        }
        Ok(rounded(least))
    }

    /// The bandwidths, in the order given.
    #[must_use]
    pub fn bandwidths(&self) -> &[f32; N] {
        &self.bandwidths
    }

    /// Replaces both streams.
    pub(super) fn replace(&mut self, p: [Embedding<M>; N], q: [Embedding<M>; N]) {
        (self.p, self.q) = (p, q);
    }

    /// The embeddings of the first stream, in the order of the bandwidths given.
    #[must_use]
    pub fn p(&self) -> &[Embedding<M>; N] {
        &self.p
    }

    /// The embeddings of the second stream, in the order of the bandwidths given.
    #[must_use]
    pub fn q(&self) -> &[Embedding<M>; N] {
        &self.q
    }

    fn each(
        &self,
        squared: impl Fn(&Embedding<M>, &Embedding<M>) -> Result<f32, Error>,
    ) -> Result<[Member; N], Error> {
        let mut members = self.bandwidths.map(|bandwidth| Member { bandwidth, squared: 0.0 });
        for ((member, p), q) in members.iter_mut().zip(&self.p).zip(&self.q) {
            member.squared = squared(p, q)?;
        }
        Ok(members)
    }
}

fn largest_of<const N: usize>(members: [Member; N]) -> Member {
    let start = Member { bandwidth: 0.0, squared: f32::NEG_INFINITY };
    members.into_iter().fold(
        start,
        |best, member| {
            if member.squared > best.squared { member } else { best }
        },
    )
}

#[cfg(feature = "defmt")]
impl<M: FeatureMap, const N: usize> defmt::Format for KernelFamily<'_, M, N> {
    fn format(&self, f: defmt::Formatter<'_>) {
        defmt::write!(f, "bandwidths {}: P: {}, Q: {}", self.bandwidths, self.p, self.q);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Fourier;

    #[test]
    fn members_of_other_bandwidths_do_not_mix() {
        let map = Fourier::<1, 16>::gaussian(1);
        let mut narrow = KernelFamily::new(&map, [0.1, 1.0]).unwrap();
        let mut wide = KernelFamily::new(&map, [10.0, 1.0]).unwrap();
        narrow.push_p(&[0.5]).unwrap();
        wide.push_p(&[0.5]).unwrap();
        let [first, second] = narrow.p().clone();
        assert_eq!(first.clone().merge(&wide.p()[0]), Err(Error::MapMismatch));
        assert_eq!(first.clone().merge(&second), Err(Error::MapMismatch));
        assert_eq!(second.clone().merge(&wide.p()[1]), Ok(()));
    }
}
