//! Maps and embeddings as bytes: what was learned outlives the power.
//!
//! A record is little-endian: `FMMD`, format version, kind, backend, 0, total length (u32), the
//! map's [recipe](crate::map::Recipe) (32 bytes), the sums, and a CRC-32 over all before it. A
//! map is saved as its recipe, from which the same frequencies are drawn again. Records of this
//! version will be read by every later one.
//!
//! Reading wants the exact bytes of one record, as long as `save` said, and checks everything
//! before it changes anything: bytes that are foreign, torn, altered,
//! newer or of another shape give a typed error, and the state stays as it was.
//!
//! ```
//! use fastmmd::{Embedding, Fourier, Kernel, Sampling};
//!
//! let map = Fourier::<2, 32>::new(Kernel::GAUSSIAN, Sampling::Auto, 7)?;
//! let mut learned: Embedding<32> = Embedding::new(&map);
//! learned.add(&map, &[0.5, -0.5])?;
//!
//! let mut flash = [0; Embedding::<32>::SAVED_BYTES];
//! learned.save(&map, &mut flash)?;
//!
//! let mut after_reset: Embedding<32> = Embedding::new(&map);
//! after_reset.restore(&map, &flash)?;
//! assert_eq!(after_reset, learned);
//! # Ok::<(), fastmmd::Error>(())
//! ```

mod bytes;

pub(crate) use bytes::{Field, Reader, Writer, fields};

use crate::embedding::Embedding;
use crate::error::Error;
use crate::map::{CHECKSUM, FeatureMap, Recipe, Scalar};
use crate::sincos::Backend;
use crate::sums::{self, Sum};
use crate::two_sample::TwoSample;

const MAGIC: [u8; 4] = *b"FMMD";
const VERSION: u8 = 1;
const HEADER_BYTES: usize = 12;
const CHECKSUM_BYTES: usize = 4;
/// Length of a record without payload.
pub(crate) const FRAME_BYTES: usize = HEADER_BYTES + Recipe::BYTES + CHECKSUM_BYTES;
/// Total weight and sum of squared weights.
const WEIGHT_BYTES: usize = 8 + 16;
const SUM_BYTES: usize = 16;

/// What a record holds.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Map = 1,
    Embedding = 2,
    TwoSample = 3,
    /// 4 was that of detectors with fewer fields, before the first release.
    Detector = 5,
    Coupling = 6,
}

impl<const L: usize, B: Backend> Embedding<L, B> {
    fn put(&self, writer: &mut Writer<'_>) {
        self.weight.put(writer);
        self.squares.put(writer);
        for Sum { cos, sin } in self.sums.iter() {
            (cos << FINER).put(writer);
            (sin << FINER).put(writer);
        }
    }

    /// Reads weights and sums into an embedding like this one.
    fn take(&self, reader: &mut Reader<'_>) -> Result<Self, Error> {
        let mut embedding = Self::empty(self.fingerprint, self.kernel_scale);
        embedding.weight = Field::take(reader)?;
        embedding.squares = Field::take(reader)?;
        let mut next = || <i64 as Field>::take(reader).and_then(ours);
        for mut cell in embedding.sums.cells() {
            cell.set(Sum { cos: next()?, sin: next()? });
        }
        if embedding.is_consistent() { Ok(embedding) } else { Err(Error::Inconsistent) }
    }
}

/// Records have their sums, like weights, in units of 2⁻³⁰: this many places finer than ours.
const FINER: u32 = 30 - sums::PLACES;

/// A sum from a record, if it is one that is ever written.
fn ours(sum: i64) -> Result<i64, Error> {
    let coarse = sum >> FINER;
    if coarse << FINER == sum { Ok(coarse) } else { Err(Error::Inconsistent) }
}

/// Writes a record of `length` bytes whose payload `fill` puts; returns the length.
pub(crate) fn write(
    out: &mut [u8],
    length: usize,
    kind: Kind,
    backend: u8,
    recipe: &Recipe,
    fill: impl FnOnce(&mut Writer<'_>),
) -> Result<usize, Error> {
    let too_small = Error::BufferTooSmall { needed: length };
    let record = out.get_mut(..length).ok_or(too_small)?;
    let length_field = u32::try_from(length).map_err(|_| too_small)?;
    let body = length.saturating_sub(CHECKSUM_BYTES);
    let (body, checksum) = record.split_at_mut_checked(body).ok_or(too_small)?;
    let mut writer = Writer { rest: &mut *body };
    writer.put(MAGIC);
    writer.put([VERSION, kind as u8, backend, 0]);
    writer.put(length_field.to_le_bytes());
    writer.put(recipe.to_bytes());
    fill(&mut writer);
    let mut writer = Writer { rest: checksum };
    writer.put(CHECKSUM.checksum(body).to_le_bytes());
    Ok(length)
}

/// A record whose frame has been checked.
struct Record<'b> {
    kind: u8,
    backend: u8,
    recipe: Recipe,
    payload: Reader<'b>,
}

/// Checks the frame of a record: magic, version, length, checksum and recipe, in this order.
fn read(bytes: &[u8]) -> Result<Record<'_>, Error> {
    let mut header = Reader { rest: bytes };
    if header.take().map_err(|_| Error::NotAState)? != MAGIC {
        return Err(Error::NotAState);
    }
    let [version, kind, backend, zero] = header.take()?;
    match version {
        0 => return Err(Error::NotAState),
        VERSION => {}
        newer => return Err(Error::NewerVersion(newer)),
    }
    let length = u32::from_le_bytes(header.take()?);
    if usize::try_from(length) != Ok(bytes.len()) || bytes.len() < FRAME_BYTES {
        return Err(Error::WrongLength);
    }
    let (body, checksum) = bytes.split_last_chunk().ok_or(Error::WrongLength)?;
    if CHECKSUM.checksum(body) != u32::from_le_bytes(*checksum) {
        return Err(Error::ChecksumMismatch);
    }
    let payload = body.get(HEADER_BYTES..).ok_or(Error::WrongLength)?;
    let mut payload = Reader { rest: payload };
    let recipe = Recipe::from_bytes(&payload.take()?)?;
    let known = (Kind::Map as u8..=Kind::Coupling as u8).contains(&kind);
    let bare = kind != Kind::Map as u8 || (backend == 0 && payload.rest.is_empty());
    if zero != 0 || !known || !bare {
        return Err(Error::Inconsistent);
    }
    Ok(Record { kind, backend, recipe, payload })
}

/// The payload of a record of this kind, whatever its map.
pub(crate) fn payload(bytes: &[u8], kind: Kind) -> Result<Reader<'_>, Error> {
    let record = read(bytes)?;
    if record.kind == kind as u8 { Ok(record.payload) } else { Err(Error::WrongShape) }
}

/// Checks that a record is what a caller with this map and backend expects.
pub(crate) fn expect<'b, const D: usize, const L: usize, X: Scalar>(
    bytes: &'b [u8],
    kind: Kind,
    backend: u8,
    length: usize,
    map: &impl FeatureMap<D, L, X>,
) -> Result<Reader<'b>, Error> {
    let record = read(bytes)?;
    let recipe = map.recipe();
    if record.kind != kind as u8
        || record.backend != backend
        || record.recipe.dims != recipe.dims
        || record.recipe.features != recipe.features
        || bytes.len() != length
    {
        return Err(Error::WrongShape);
    }
    if record.recipe.fingerprint() != map.fingerprint() {
        return Err(Error::MapMismatch);
    }
    Ok(record.payload)
}

impl Recipe {
    /// Length of a saved recipe, in bytes.
    pub const SAVED_BYTES: usize = FRAME_BYTES;

    /// Writes the recipe as a record of its own, from which [`Recipe::restore`] and the map's
    /// `from_recipe` make the map again; returns the number of bytes.
    ///
    /// # Errors
    /// [`Error::BufferTooSmall`].
    pub fn save(&self, out: &mut [u8]) -> Result<usize, Error> {
        write(out, Self::SAVED_BYTES, Kind::Map, 0, self, |_| {})
    }

    /// Reads the recipe of any record: of a map, or of the map behind saved sums.
    ///
    /// # Errors
    /// [`Error::NotAState`], [`Error::NewerVersion`], [`Error::WrongLength`],
    /// [`Error::ChecksumMismatch`] or [`Error::Inconsistent`].
    pub fn restore(bytes: &[u8]) -> Result<Self, Error> {
        read(bytes).map(|record| record.recipe)
    }
}

impl<const L: usize, B: Backend> Embedding<L, B> {
    /// Length of a saved embedding, in bytes: 16·L + 72.
    pub const SAVED_BYTES: usize = FRAME_BYTES + WEIGHT_BYTES + SUM_BYTES * L;

    /// Writes the embedding, with the recipe of its map; returns the number of bytes.
    ///
    /// # Errors
    /// [`Error::MapMismatch`] or [`Error::BufferTooSmall`].
    pub fn save<const D: usize>(
        &self,
        map: &impl FeatureMap<D, L, B::Scalar>,
        out: &mut [u8],
    ) -> Result<usize, Error> {
        self.check_map(map)?;
        write(out, Self::SAVED_BYTES, Kind::Embedding, B::CODE, map.recipe(), |writer| {
            self.put(writer);
        })
    }

    /// Replaces the embedding by a saved one of the same map and backend.
    ///
    /// # Errors
    /// Those of [`Recipe::restore`], [`Error::WrongShape`] and [`Error::MapMismatch`]; the
    /// embedding is then as it was.
    pub fn restore<const D: usize>(
        &mut self,
        map: &impl FeatureMap<D, L, B::Scalar>,
        bytes: &[u8],
    ) -> Result<(), Error> {
        self.check_map(map)?;
        let mut payload = expect(bytes, Kind::Embedding, B::CODE, Self::SAVED_BYTES, map)?;
        *self = self.take(&mut payload)?;
        Ok(())
    }
}

impl<M: FeatureMap<D, L, B::Scalar>, const D: usize, const L: usize, B: Backend>
    TwoSample<'_, M, D, L, B>
{
    /// Length of a saved pair of streams, in bytes: 32·L + 96.
    pub const SAVED_BYTES: usize = FRAME_BYTES + 2 * (WEIGHT_BYTES + SUM_BYTES * L);

    /// Writes both embeddings, with the recipe of their map; returns the number of bytes.
    ///
    /// # Errors
    /// [`Error::BufferTooSmall`], or [`Error::MapMismatch`] if an embedding of another map was put
    /// in the place of one of the two.
    pub fn save(&self, out: &mut [u8]) -> Result<usize, Error> {
        self.p().check_map(self.map())?;
        self.q().check_map(self.map())?;
        let recipe = self.map().recipe();
        write(out, Self::SAVED_BYTES, Kind::TwoSample, B::CODE, recipe, |writer| {
            self.p().put(writer);
            self.q().put(writer);
        })
    }

    /// Replaces both embeddings by saved ones of the same map and backend.
    ///
    /// # Errors
    /// Those of [`Embedding::restore`]; both embeddings are then as they were.
    pub fn restore(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let mut payload = expect(bytes, Kind::TwoSample, B::CODE, Self::SAVED_BYTES, self.map())?;
        let p = self.p().take(&mut payload)?;
        let q = self.q().take(&mut payload)?;
        (*self.p_mut(), *self.q_mut()) = (p, q);
        Ok(())
    }
}
