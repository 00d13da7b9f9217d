//! Embeddings as bytes.

use super::significance::scatter_bytes;
use super::sums::{self, Sum};
use super::{Embedding, KernelFamily, TwoSample, TwoSampleTest};
use crate::error::Error;
use crate::features::FeatureMap;
use crate::features::sincos::Backend;
use crate::shape::Constant;
use crate::state::{
    FRAME_BYTES, Kind, Plain, Reader, State, VERSION, Writer, expect, plain, write,
};

plain! {
    /// What an embedding's record begins with.
    #[derive(Clone, Copy)]
    struct SavedWeights {
        weight: u64,
        squares: u128,
    }
}

plain! {
    /// What follows for each frequency.
    #[derive(Clone, Copy)]
    struct SavedSum {
        cos: Finer,
        sin: Finer,
    }
}

/// Records hold sums, like weights, in units of 2⁻³⁰: this many bits finer than in memory.
const FINER: u32 = 30 - sums::PLACES;

/// A sum in the unit of memory; records store it in the finer unit.
#[derive(Clone, Copy)]
struct Finer(i64);

impl Plain for Finer {
    const BYTES: usize = i64::BYTES;

    fn write(self, writer: &mut Writer<'_>) {
        (self.0 << FINER).write(writer);
    }

    /// Refuses a sum that is never written.
    fn take(reader: &mut Reader<'_>) -> Result<Self, Error> {
        let sum = i64::take(reader)?;
        let coarse = sum >> FINER;
        if coarse << FINER == sum { Ok(Self(coarse)) } else { Err(Error::Inconsistent) }
    }
}

/// Length of the sums of `frequencies` frequencies in a record, in bytes.
const fn payload_bytes(frequencies: usize) -> usize {
    SavedWeights::BYTES + SavedSum::BYTES * frequencies
}

impl<M: FeatureMap<Frequencies: Constant>> Embedding<M> {
    /// Length of a saved embedding, in bytes: 16·L + 72.
    pub const SAVED_BYTES: usize = FRAME_BYTES + payload_bytes(M::Frequencies::N);
}

impl<M: FeatureMap> Embedding<M> {
    /// Length of the saved embedding, in bytes: 16·L + 72.
    #[must_use]
    pub fn saved_bytes(&self) -> usize {
        FRAME_BYTES + self.payload_bytes()
    }

    fn payload_bytes(&self) -> usize {
        payload_bytes(self.frequencies())
    }

    /// Writes the embedding with the recipe of its map, and returns the number of bytes. O(L).
    ///
    /// # Errors
    /// [`Error::MapMismatch`] or [`Error::BufferTooSmall`].
    pub fn save(&self, map: &M, out: &mut [u8]) -> Result<usize, Error> {
        self.check_map(map)?;
        let (length, backend) = (self.payload_bytes(), M::Backend::CODE);
        write(out, length, Kind::Embedding, backend, map.recipe(), |writer| self.put(writer))
    }

    /// Replaces the embedding by a saved one of the same map and backend. O(L).
    ///
    /// # Errors
    /// Those of [`Recipe::restore`](crate::Recipe::restore), [`Error::WrongShape`] and
    /// [`Error::MapMismatch`]; the embedding is then as it was.
    pub fn restore(&mut self, map: &M, bytes: &[u8]) -> Result<(), Error> {
        self.check_map(map)?;
        let mut payload = expect(bytes, Kind::Embedding, map, self.payload_bytes())?;
        let embedding = self.taken(&mut payload)?;
        payload.finish()?;
        *self = embedding;
        Ok(())
    }

    fn put(&self, writer: &mut Writer<'_>) {
        SavedWeights { weight: self.weight, squares: self.squares }.write(writer);
        for Sum { cos, sin } in self.sums.iter() {
            SavedSum { cos: Finer(cos), sin: Finer(sin) }.write(writer);
        }
    }

    /// Reads weights and sums into an embedding like this one.
    fn taken(&self, reader: &mut Reader<'_>) -> Result<Self, Error> {
        let mut embedding = self.clone();
        let SavedWeights { weight, squares } = Plain::take(reader)?;
        (embedding.weight, embedding.squares) = (weight, squares);
        for mut cell in embedding.sums.cells() {
            let SavedSum { cos: Finer(cos), sin: Finer(sin) } = Plain::take(reader)?;
            cell.set(Sum { cos, sin });
        }
        if embedding.is_consistent() { Ok(embedding) } else { Err(Error::Inconsistent) }
    }
}

impl<M: FeatureMap<Frequencies: Constant>> TwoSample<'_, M> {
    /// Length of a saved pair of streams, in bytes: 32·L + 96.
    pub const SAVED_BYTES: usize = FRAME_BYTES + 2 * payload_bytes(M::Frequencies::N);
}

impl<M: FeatureMap> TwoSample<'_, M> {
    /// Length of the saved pair of streams, in bytes: 32·L + 96.
    #[must_use]
    pub fn saved_bytes(&self) -> usize {
        FRAME_BYTES + self.payload_bytes()
    }

    fn payload_bytes(&self) -> usize {
        2 * self.p().payload_bytes()
    }

    /// Writes both embeddings with the recipe of their map, and returns the number of bytes. O(L).
    ///
    /// # Errors
    /// [`Error::BufferTooSmall`], or [`Error::MapMismatch`] if one of the two was replaced by an
    /// embedding of another map.
    pub fn save(&self, out: &mut [u8]) -> Result<usize, Error> {
        self.p().check_map(self.map())?;
        self.q().check_map(self.map())?;
        let (length, recipe) = (self.payload_bytes(), self.map().recipe());
        write(out, length, Kind::TwoSample, M::Backend::CODE, recipe, |writer| {
            self.p().put(writer);
            self.q().put(writer);
        })
    }

    /// Replaces both embeddings by saved ones of the same map and backend. O(L).
    ///
    /// # Errors
    /// Those of [`Embedding::restore`]; both embeddings are then as they were.
    pub fn restore(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let mut payload = expect(bytes, Kind::TwoSample, self.map(), self.payload_bytes())?;
        let p = self.p().taken(&mut payload)?;
        let q = self.q().taken(&mut payload)?;
        payload.finish()?;
        (*self.p_mut(), *self.q_mut()) = (p, q);
        Ok(())
    }
}

impl<M: FeatureMap<Frequencies: Constant>> TwoSampleTest<'_, M> {
    /// Length of a saved test, in bytes: 80·L + 156.
    pub const SAVED_BYTES: usize = FRAME_BYTES
        + u32::BYTES
        + 2 * (payload_bytes(M::Frequencies::N) + scatter_bytes(M::Frequencies::N));
}

impl<M: FeatureMap> TwoSampleTest<'_, M> {
    /// Length of the saved test, in bytes: 80·L + 156.
    #[must_use]
    pub fn saved_bytes(&self) -> usize {
        FRAME_BYTES + self.payload_bytes()
    }

    fn payload_bytes(&self) -> usize {
        u32::BYTES + self.streams().payload_bytes() + self.scatter.bytes(VERSION)
    }

    /// Writes the test with the recipe of its map, and returns the number of bytes. O(L).
    ///
    /// # Errors
    /// [`Error::BufferTooSmall`].
    pub fn save(&self, out: &mut [u8]) -> Result<usize, Error> {
        let streams = self.streams();
        let (length, recipe) = (self.payload_bytes(), streams.map().recipe());
        write(out, length, Kind::TwoSampleTest, M::Backend::CODE, recipe, |writer| {
            self.block().write(writer);
            streams.p().put(writer);
            streams.q().put(writer);
            self.scatter.put(writer);
        })
    }

    /// Replaces the test by a saved one of the same map, backend and block. O(L).
    ///
    /// # Errors
    /// Those of [`Embedding::restore`], and [`Error::WrongShape`] for another block; the test is
    /// then as it was.
    pub fn restore(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let map = self.streams().map();
        let mut payload = expect(bytes, Kind::TwoSampleTest, map, self.payload_bytes())?;
        let block = u32::take(&mut payload)?;
        if block != self.block() {
            return Err(Error::WrongShape);
        }
        let p = self.streams().p().taken(&mut payload)?;
        let q = self.streams().q().taken(&mut payload)?;
        let mut scatter = self.scatter.clone();
        scatter.read(&mut payload)?;
        payload.finish()?;
        if !scatter.iter().all(|scatter| scatter.is_consistent(block)) {
            return Err(Error::Inconsistent);
        }
        (*self.streams_mut().p_mut(), *self.streams_mut().q_mut()) = (p, q);
        self.scatter = scatter;
        Ok(())
    }
}

/// Length of the streams of a family in a record, in bytes.
const fn family_bytes(members: usize, frequencies: usize) -> usize {
    members * (f32::BYTES + 2 * payload_bytes(frequencies))
}

impl<M: FeatureMap<Frequencies: Constant>, const N: usize> KernelFamily<'_, M, N> {
    /// Length of a saved family, in bytes: N·(32·L + 52) + 48.
    pub const SAVED_BYTES: usize = FRAME_BYTES + family_bytes(N, M::Frequencies::N);
}

impl<M: FeatureMap, const N: usize> KernelFamily<'_, M, N> {
    /// Length of the saved family, in bytes: N·(32·L + 52) + 48.
    #[must_use]
    pub fn saved_bytes(&self) -> usize {
        FRAME_BYTES + self.payload_bytes()
    }

    fn payload_bytes(&self) -> usize {
        family_bytes(N, self.map().dims().frequencies)
    }

    /// Writes the bandwidths and both streams of every member with the recipe of their map, and
    /// returns the number of bytes. O(N·L).
    ///
    /// # Errors
    /// [`Error::BufferTooSmall`].
    pub fn save(&self, out: &mut [u8]) -> Result<usize, Error> {
        let (length, recipe) = (self.payload_bytes(), self.map().recipe());
        write(out, length, Kind::Family, M::Backend::CODE, recipe, |writer| {
            self.bandwidths().iter().for_each(|bandwidth| bandwidth.write(writer));
            self.p().iter().chain(self.q()).for_each(|embedding| embedding.put(writer));
        })
    }

    /// Replaces both streams of every member by saved ones of the same map, backend and bandwidths.
    /// O(N·L).
    ///
    /// # Errors
    /// Those of [`Embedding::restore`], and [`Error::MapMismatch`] for other bandwidths; the family
    /// is then as it was.
    pub fn restore(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let mut payload = expect(bytes, Kind::Family, self.map(), self.payload_bytes())?;
        for own in self.bandwidths() {
            if f32::take(&mut payload)?.to_bits() != own.to_bits() {
                return Err(Error::MapMismatch);
            }
        }
        let (mut p, mut q) = (self.p().clone(), self.q().clone());
        for embedding in p.iter_mut().chain(&mut q) {
            *embedding = embedding.taken(&mut payload)?;
        }
        payload.finish()?;
        self.replace(p, q);
        Ok(())
    }
}
