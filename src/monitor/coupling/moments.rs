//! Covariances of the random features of two groups of channels.

use core::ops::RangeInclusive;

use crate::error::Error;
use crate::numeric::f32_of;
use crate::shape::{Length, Per};
use crate::state::{Plain, Reader, Writer, plain_states, state};

/// A mean of features or of their products: features lie within ±√2, but for a coarse backend's
/// error.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Bounded<const SQUARE: bool>(pub(super) f32);

impl<const SQUARE: bool> Bounded<SQUARE> {
    const RANGE: RangeInclusive<f32> = if SQUARE { -2.25..=2.25 } else { -1.5..=1.5 };
}

impl<const SQUARE: bool> Plain for Bounded<SQUARE> {
    const BYTES: usize = f32::BYTES;

    fn write(self, writer: &mut Writer<'_>) {
        self.0.write(writer);
    }

    fn take(reader: &mut Reader<'_>) -> Result<Self, Error> {
        let value = f32::take(reader)?;
        if Self::RANGE.contains(&value) { Ok(Self(value)) } else { Err(Error::Inconsistent) }
    }
}

/// The mean of a feature.
type Feature = Bounded<false>;
/// The mean of a product of two features.
type Product = Bounded<true>;

plain_states!(Feature = Bounded(0.0), Product = Bounded(0.0));

state! {
    /// Means of the features of both groups and of their products, each new row blended in.
    #[derive(Debug, Clone, PartialEq)]
    pub(super) struct Moments<A: Length, B: Length> {
        pub(super) a: Per<A, Feature>,
        b: Per<B, Feature>,
        pub(super) products: Per<A, Per<B, Product>>,
    }
}

impl<A: Length, B: Length> Moments<A, B> {
    /// The covariances of all pairs of features, by rows.
    fn covariances(&self) -> impl Iterator<Item = f32> {
        let rows = self.products.iter().zip(self.a.iter());
        rows.flat_map(|(row, x)| row.iter().zip(self.b.iter()).map(move |(xy, y)| xy.0 - x.0 * y.0))
    }

    fn pairs(&self) -> f32 {
        f32_of(self.a.len().saturating_mul(self.b.len()))
    }

    /// HSIC of the rows, biased: mean over all pairs of features of their squared covariance.
    pub(super) fn squared_norm(&self) -> f32 {
        self.covariances().map(|c| c * c).sum::<f32>() / self.pairs()
    }
}

impl<A: Length, B: Length> Moments<A, B> {
    /// Moves all means towards the features of a row by the fraction `rate`.
    pub(super) fn blend(&mut self, a: &Per<A, f32>, b: &Per<B, f32>, rate: f32) {
        let features = self.a.iter_mut().zip(a.iter()).chain(self.b.iter_mut().zip(b.iter()));
        for (mean, x) in features {
            mean.0 += rate * (x - mean.0);
        }
        for (row, x) in self.products.iter_mut().zip(a.iter()) {
            for (mean, y) in row.iter_mut().zip(b.iter()) {
                mean.0 += rate * (x * y - mean.0);
            }
        }
    }

    /// Mean over all pairs of features of the squared difference of their covariances.
    pub(super) fn squared_distance(&self, other: &Self) -> f32 {
        let pairs = self.covariances().zip(other.covariances());
        pairs.map(|(c, d)| (c - d) * (c - d)).sum::<f32>() / self.pairs()
    }
}
