//! Classifies a sample, or a window of samples, by weights that were learned on a host.

use core::fmt;
use core::marker::PhantomData;

use super::Embedding;
use super::sums::{Sum, UNIT};
use crate::error::{Error, Parameter};
use crate::features::sincos::{Backend, Point};
use crate::features::{FeatureMap, Sample};
use crate::numeric::f32_of_sum;
use crate::shape::{Constant, Length, Per};
use crate::state::{
    FRAME_BYTES, Kind, Plain, State, VERSION, expect, plain, plain_states, replace, state, write,
};

plain! {
    /// The weights of cos and sin at one frequency.
    #[derive(Debug, Clone, Copy, PartialEq)]
    struct Pair {
        cos: f32,
        sin: f32,
    }
}
plain_states!(Pair = Pair { cos: 0.0, sin: 0.0 });

state! {
    /// The linear function of one class.
    #[derive(Debug, Clone, PartialEq)]
    struct Scorer<F: Length> {
        bias: f32,
        weights: Per<F, Pair>,
    }
}

/// The class with the largest score.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub struct Class {
    /// Its index, from 0.
    pub index: usize,
    /// Its score.
    pub score: f32,
    /// Its score minus that of the second: 0 if both are equally likely.
    pub margin: f32,
}

/// N linear functions of the features of a map, one for each class: s(x) = b + Σ_k w_k'φ_k(x), with
/// φ_k(x) the point of a sample on the k-th circle. 8·N·L bytes and a little.
///
/// The weights are learned on a host, for instance by the linear support vector machine of
/// `fastmmd-reference` over the same map. Its decisions approach, as 1/√L, those of the machine with
/// the kernel k + B² and no bias of its own, where B scales what the bias costs: for a large B, those of
/// the machine with the kernel k and a free bias. On the device a decision costs one projection and N products. Since s is
/// linear in the features, its mean over a window is s of the window's [`Embedding`]:
/// [`of_embedding`](Self::of_embedding).
///
/// With N = 1, the sign of the score tells two classes apart ([`scores`](Self::scores)).
///
/// ```
/// use fastmmd::features::sincos::Point;
/// use fastmmd::{Classifier, Fourier};
///
/// // One frequency of a quarter turn per unit: cos is 1 at 0 and −1 at 2.
/// let map = Fourier::given([[0.25]], 1.0)?;
/// let (near, far) = ([Point { cos: 1.0, sin: 0.0 }], [Point { cos: -1.0, sin: 0.0 }]);
/// let classes = Classifier::new(&map, [&near, &far], [0.0, 0.0])?;
/// assert_eq!(classes.class(&map, &[0.1])?.index, 0);
/// assert_eq!(classes.class(&map, &[1.9])?.index, 1);
/// # Ok::<(), fastmmd::Error>(())
/// ```
pub struct Classifier<M: FeatureMap, const N: usize> {
    fingerprint: u32,
    scorers: [Scorer<M::Frequencies>; N],
    map: PhantomData<M>,
}

// Not derived: that would require the map to implement these traits too.
impl<M: FeatureMap, const N: usize> Clone for Classifier<M, N> {
    fn clone(&self) -> Self {
        Self { scorers: self.scorers.clone(), ..*self }
    }
}

impl<M: FeatureMap, const N: usize> fmt::Debug for Classifier<M, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Classifier").field("scorers", &self.scorers).finish_non_exhaustive()
    }
}

impl<M: FeatureMap, const N: usize> PartialEq for Classifier<M, N> {
    fn eq(&self, other: &Self) -> bool {
        self.fingerprint == other.fingerprint && self.scorers == other.scorers
    }
}

impl<M: FeatureMap, const N: usize> Classifier<M, N> {
    /// Classes with weights for each frequency of `map`, and a bias each. O(N·L).
    ///
    /// # Errors
    /// [`Error::WrongShape`] if there is not a weight for each frequency, [`Error::NonFinite`] for
    /// weights or biases that are not finite.
    pub fn new(map: &M, weights: [&[Point]; N], biases: [f32; N]) -> Result<Self, Error> {
        const { assert!(N >= 1, "a classifier must have at least 1 class") };
        let mut new = Self::empty(map);
        for ((scorer, weights), bias) in new.scorers.iter_mut().zip(weights).zip(biases) {
            if weights.len() != scorer.weights.len() {
                return Err(Error::WrongShape);
            }
            if !bias.is_finite() || weights.iter().any(|w| !w.cos.is_finite() || !w.sin.is_finite())
            {
                return Err(Error::NonFinite(Parameter::Weight));
            }
            scorer.bias = bias;
            for (own, weight) in scorer.weights.iter_mut().zip(weights) {
                *own = Pair { cos: weight.cos, sin: weight.sin };
            }
        }
        Ok(new)
    }

    /// Weights of 0: what a saved classifier is restored into.
    #[must_use]
    pub fn empty(map: &M) -> Self {
        const { assert!(N >= 1, "a classifier must have at least 1 class") };
        let dims = map.dims();
        let scorers = core::array::from_fn(|_| Scorer::make(&dims));
        Self { fingerprint: map.fingerprint(), scorers, map: PhantomData }
    }

    fn check_map(&self, map: &M) -> Result<(), Error> {
        if map.fingerprint() == self.fingerprint { Ok(()) } else { Err(Error::MapMismatch) }
    }

    /// The score of every class for a sample. O(N·L), the cost of the map, and 8·L bytes of stack.
    ///
    /// # Errors
    /// [`Error::MapMismatch`], and as [`Embedding::add`] for a bad sample.
    pub fn scores(&self, map: &M, sample: &Sample<M>) -> Result<[f32; N], Error> {
        self.check_map(map)?;
        let mut points = Per::<M::Frequencies, Point>::make(&map.dims(), || Point::ZERO);
        map.project(sample, points.borrow_mut(), |point, phase| {
            let Sum { cos, sin } = Sum::of(M::Backend::units(phase), M::Backend::OFFSET);
            *point = Point { cos: UNIT * f32_of_sum(cos), sin: UNIT * f32_of_sum(sin) };
        })?;
        Ok(self.scores_of(|| points.iter().copied()))
    }

    /// The mean score of every class over the samples of an embedding. O(N·L).
    ///
    /// # Errors
    /// [`Error::MapMismatch`] or [`Error::Empty`].
    pub fn of_embedding(&self, embedding: &Embedding<M>) -> Result<[f32; N], Error> {
        if embedding.fingerprint != self.fingerprint {
            return Err(Error::MapMismatch);
        }
        embedding.mean().map(drop)?;
        Ok(self.scores_of(|| embedding.mean().into_iter().flatten()))
    }

    fn scores_of<I: Iterator<Item = Point>>(&self, points: impl Fn() -> I) -> [f32; N] {
        self.scorers.each_ref().map(|scorer| {
            let products = scorer.weights.iter().zip(points());
            scorer.bias + products.map(|(w, p)| w.cos * p.cos + w.sin * p.sin).sum::<f32>()
        })
    }

    /// The class with the largest score for a sample; the first of equal ones. Cost as for
    /// [`scores`](Self::scores). For N = 1, its margin is infinite.
    ///
    /// # Errors
    /// As [`scores`](Self::scores).
    pub fn class(&self, map: &M, sample: &Sample<M>) -> Result<Class, Error> {
        self.scores(map, sample).map(|scores| largest(&scores))
    }

    /// The class with the largest mean score over the samples of an embedding. O(N·L).
    ///
    /// # Errors
    /// As [`of_embedding`](Self::of_embedding).
    pub fn class_of_embedding(&self, embedding: &Embedding<M>) -> Result<Class, Error> {
        self.of_embedding(embedding).map(|scores| largest(&scores))
    }

    /// Length of the saved classifier, in bytes: N·(8·L + 4) + 48.
    #[must_use]
    pub fn saved_bytes(&self) -> usize {
        FRAME_BYTES + self.scorers.bytes(VERSION)
    }

    /// Writes the weights with the recipe of their map, and returns the number of bytes. O(N·L).
    ///
    /// # Errors
    /// [`Error::MapMismatch`] or [`Error::BufferTooSmall`].
    pub fn save(&self, map: &M, out: &mut [u8]) -> Result<usize, Error> {
        self.check_map(map)?;
        let (length, backend) = (self.scorers.bytes(VERSION), M::Backend::CODE);
        let recipe = map.recipe();
        write(out, length, Kind::Classifier, backend, recipe, |writer| self.scorers.put(writer))
    }

    /// Replaces the weights by saved ones of the same map and backend. O(N·L).
    ///
    /// # Errors
    /// Those of [`Embedding::restore`]; the classifier is then as it was.
    pub fn restore(&mut self, map: &M, bytes: &[u8]) -> Result<(), Error> {
        self.check_map(map)?;
        let length = self.scorers.bytes(VERSION);
        let mut payload = expect(bytes, Kind::Classifier, map, length)?;
        replace(&mut self.scorers, &mut payload)
    }
}

impl<M: FeatureMap<Frequencies: Constant>, const N: usize> Classifier<M, N> {
    /// Length of a saved classifier, in bytes: N·(8·L + 4) + 48.
    pub const SAVED_BYTES: usize = FRAME_BYTES + N * (f32::BYTES + Pair::BYTES * M::Frequencies::N);
}

fn largest<const N: usize>(scores: &[f32; N]) -> Class {
    let none = Class { index: 0, score: f32::NEG_INFINITY, margin: f32::INFINITY };
    scores.iter().enumerate().fold(none, |best, (index, &score)| {
        if score > best.score {
            let margin = score - best.score;
            Class { index, score, margin }
        } else {
            let margin = best.score - score;
            Class { margin: if margin < best.margin { margin } else { best.margin }, ..best }
        }
    })
}

#[cfg(feature = "defmt")]
impl<M: FeatureMap, const N: usize> defmt::Format for Classifier<M, N> {
    fn format(&self, f: defmt::Formatter<'_>) {
        defmt::write!(f, "classifier of {} classes", N);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_score_wins_by_its_margin() {
        assert_eq!(largest(&[1.0, 3.0, 2.5]), Class { index: 1, score: 3.0, margin: 0.5 });
        assert_eq!(largest(&[2.0, 2.0]), Class { index: 0, score: 2.0, margin: 0.0 });
        assert_eq!(largest(&[-1.0]).index, 0);
        assert_eq!(largest(&[3.0, 1.0, 2.0]).margin, 1.0);
    }
}
