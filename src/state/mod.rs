//! Saved state: maps, embeddings and monitors as bytes, to survive a power cut.
//!
//! A record is little-endian: `FMMD`, format version, kind, backend, 0, total length (u32), the
//! map's [recipe](crate::features::Recipe) (32 bytes), a payload, and a CRC-32 over all before it.
//! A map is saved as its recipe, from which the same frequencies are drawn again. Every release
//! reads the records of all earlier ones: fields that an old record does not have get their
//! initial values.
//!
//! `restore` takes exactly the bytes that `save` wrote, and checks all of them before it changes
//! anything. Bytes that are not a record, incomplete, altered, newer or of another shape give a
//! typed error, and the state stays as it was.
//!
//! ```
//! use fastmmd::{Embedding, Fourier};
//!
//! static MAP: Fourier<2, 32> = Fourier::gaussian(7);
//! let mut learned = Embedding::new(&MAP);
//! learned.add(&MAP, &[0.5, -0.5])?;
//!
//! let mut flash = [0; Embedding::<Fourier<2, 32>>::SAVED_BYTES];
//! learned.save(&MAP, &mut flash)?;
//!
//! let mut after_reset = Embedding::new(&MAP);
//! after_reset.restore(&MAP, &flash)?;
//! assert_eq!(after_reset, learned);
//! # Ok::<(), fastmmd::Error>(())
//! ```

mod bytes;
mod checksum;
mod codes;
mod fields;

pub(crate) use bytes::{Begun, FromOne, NonNegative, Plain, Reader, Writer, plain};
pub use checksum::checksum;
pub(crate) use codes::{codes, codes_of_patterns};
pub(crate) use fields::{Initial, State, begin, plain_states, state};

use crate::error::Error;
use crate::features::sincos::Backend;
use crate::features::{FeatureMap, Recipe};

const MAGIC: [u8; 4] = *b"FMMD";
/// The newest version of the format, which is the one that is written.
pub(crate) const VERSION: u8 = 1;
const HEADER_BYTES: usize = 12;
const CHECKSUM_BYTES: usize = 4;
/// Length of a record without payload.
pub(crate) const FRAME_BYTES: usize = HEADER_BYTES + Recipe::BYTES + CHECKSUM_BYTES;

/// What a record holds.
///
/// ```
/// use fastmmd::state::Kind;
/// use fastmmd::{FeatureMap, Fourier, Recipe};
///
/// static MAP: Fourier<2, 32> = Fourier::gaussian(7);
/// let mut bytes = [0; Recipe::SAVED_BYTES];
/// MAP.recipe().save(&mut bytes)?;
/// assert_eq!(Kind::of(&bytes)?, Kind::Map);
/// # Ok::<(), fastmmd::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Kind {
    /// The recipe of a map.
    Map,
    /// An [`Embedding`](crate::Embedding).
    Embedding,
    /// A [`TwoSample`](crate::TwoSample).
    TwoSample,
    /// A [`Detector`](crate::Detector).
    Detector,
    /// A monitor of a [coupling](crate::monitor::coupling).
    Coupling,
    /// A [`TwoSampleTest`](crate::embedding::TwoSampleTest).
    TwoSampleTest,
    /// A [`KernelFamily`](crate::KernelFamily).
    Family,
    /// A [`Classifier`](crate::Classifier).
    Classifier,
}

impl Kind {
    /// Checks a record and returns its kind.
    ///
    /// # Errors
    /// As [`Recipe::restore`].
    pub fn of(bytes: &[u8]) -> Result<Self, Error> {
        read(bytes).map(|record| record.kind)
    }
}

codes!(Kind {
    Map = 1 "map",
    Embedding = 2 "embedding",
    TwoSample = 3 "two-sample",
    Detector = 4 "detector",
    Coupling = 5 "coupling",
    TwoSampleTest = 6 "two-sample-test",
    Family = 7 "family",
    Classifier = 8 "classifier",
});

/// Writes a record with a payload of `length` bytes, written by `fill`; returns the whole length.
pub(crate) fn write(
    out: &mut [u8],
    length: usize,
    kind: Kind,
    backend: u8,
    recipe: &Recipe,
    fill: impl FnOnce(&mut Writer<'_>),
) -> Result<usize, Error> {
    let length = FRAME_BYTES.saturating_add(length);
    let too_small = Error::BufferTooSmall { needed: length };
    let record = out.get_mut(..length).ok_or(too_small)?;
    let length_field = u32::try_from(length).map_err(|_| too_small)?;
    let body = length.saturating_sub(CHECKSUM_BYTES);
    let (body, sum) = record.split_at_mut_checked(body).ok_or(too_small)?;
    let mut writer = Writer::new(&mut *body);
    writer.put(MAGIC);
    writer.put([VERSION]);
    kind.write(&mut writer);
    writer.put([backend, 0]);
    writer.put(length_field.to_le_bytes());
    recipe.write(&mut writer);
    fill(&mut writer);
    writer.finish()?;
    let mut writer = Writer::new(sum);
    writer.put(checksum(0, body).to_le_bytes());
    Ok(length)
}

/// A record whose frame has been checked.
pub(crate) struct Record<'b> {
    kind: Kind,
    backend: u8,
    pub(crate) recipe: Recipe,
    payload: Reader<'b>,
}

/// Checks the frame of a record: magic, version, length, checksum and recipe, in this order.
pub(crate) fn read(bytes: &[u8]) -> Result<Record<'_>, Error> {
    read_up_to(VERSION, bytes)
}

/// The same for a reader that knows versions up to `newest`.
fn read_up_to(newest: u8, bytes: &[u8]) -> Result<Record<'_>, Error> {
    let mut header = Reader::of_version(bytes, 0);
    if header.take().map_err(|_| Error::NotAState)? != MAGIC {
        return Err(Error::NotAState);
    }
    let [version] = header.take()?;
    if version == 0 {
        return Err(Error::NotAState);
    }
    if version > newest {
        return Err(Error::NewerVersion(version));
    }
    let kind = Kind::take(&mut header);
    let [backend, zero] = header.take()?;
    let length = u32::from_le_bytes(header.take()?);
    if usize::try_from(length) != Ok(bytes.len()) || bytes.len() < FRAME_BYTES {
        return Err(Error::WrongLength);
    }
    let (body, sum) = bytes.split_last_chunk().ok_or(Error::WrongLength)?;
    if checksum(0, body) != u32::from_le_bytes(*sum) {
        return Err(Error::ChecksumMismatch);
    }
    let payload = body.get(HEADER_BYTES..).ok_or(Error::WrongLength)?;
    let mut payload = Reader::of_version(payload, version);
    let recipe = Recipe::take(&mut payload)?;
    let kind = kind?;
    let bare = kind != Kind::Map || (backend == 0 && payload.rest().is_empty());
    if zero != 0 || !bare {
        return Err(Error::Inconsistent);
    }
    Ok(Record { kind, backend, recipe, payload })
}

impl<'b> Record<'b> {
    /// The payload, if the record is of this kind; for any map.
    pub(crate) fn payload(self, kind: Kind) -> Result<Reader<'b>, Error> {
        if self.kind == kind { Ok(self.payload) } else { Err(Error::WrongShape) }
    }
}

/// The payload of a record of this kind over this map, `length` bytes long if it is of the newest
/// version.
pub(crate) fn expect<'b, M: FeatureMap>(
    bytes: &'b [u8],
    kind: Kind,
    map: &M,
    length: usize,
) -> Result<Reader<'b>, Error> {
    let record = read(bytes)?;
    let recipe = map.recipe();
    if record.kind != kind
        || record.backend != M::Backend::CODE
        || record.recipe.inputs != recipe.inputs
        || record.recipe.frequencies != recipe.frequencies
        || (record.payload.version() == VERSION && record.payload.rest().len() != length)
    {
        return Err(Error::WrongShape);
    }
    if record.recipe.fingerprint() != map.fingerprint() {
        return Err(Error::MapMismatch);
    }
    Ok(record.payload)
}

/// Replaces `state` by a saved one. The payload is read twice, first to check it and then in place,
/// so that no second state has to fit on the stack.
pub(crate) fn replace(state: &mut impl State, reader: &mut Reader<'_>) -> Result<(), Error> {
    let mut first = reader.to_check();
    state.read(&mut first)?;
    first.finish()?;
    state.read(reader)
}

impl Recipe {
    /// Length of a saved recipe, in bytes.
    pub const SAVED_BYTES: usize = FRAME_BYTES;

    /// Writes the recipe as a record of its own, and returns the number of bytes.
    /// [`Recipe::restore`] and the map's `from_recipe` draw the map again from it.
    ///
    /// # Errors
    /// [`Error::BufferTooSmall`].
    pub fn save(&self, out: &mut [u8]) -> Result<usize, Error> {
        write(out, 0, Kind::Map, 0, self, |_| {})
    }

    /// Reads the recipe of a record of any kind.
    ///
    /// # Errors
    /// [`Error::NotAState`], [`Error::NewerVersion`], [`Error::WrongLength`],
    /// [`Error::ChecksumMismatch`] or [`Error::Inconsistent`].
    pub fn restore(bytes: &[u8]) -> Result<Self, Error> {
        read(bytes).map(|record| record.recipe)
    }
}

/// Records of versions that are not written here.
#[cfg(test)]
pub(crate) mod versions {
    use super::*;
    use crate::features::Fourier;
    use std::vec::Vec;

    /// A record that says it is of this version, with a payload of `length` bytes.
    pub(crate) fn record(
        version: u8,
        length: usize,
        fill: impl FnOnce(&mut Writer<'_>),
    ) -> Vec<u8> {
        let mut bytes = std::vec![0; FRAME_BYTES + length];
        let map = Fourier::<1, 4>::gaussian(1);
        write(&mut bytes, length, Kind::Detector, 0, map.recipe(), fill).unwrap();
        let (body, sum) = bytes.split_last_chunk_mut().unwrap();
        body[MAGIC.len()] = version;
        *sum = checksum(0, body).to_le_bytes();
        bytes
    }

    /// The payload, as a reader whose newest version is `newest` takes it.
    pub(crate) fn payload(newest: u8, bytes: &[u8]) -> Result<Reader<'_>, Error> {
        read_up_to(newest, bytes)?.payload(Kind::Detector)
    }
}

#[cfg(test)]
mod tests {
    use super::versions::{payload, record};
    use super::*;
    use crate::shape::Dims;

    plain! {
        #[derive(Debug, Clone, Copy, PartialEq)]
        struct OldNote {
            row: u32,
            level: f32,
        }
    }
    plain_states!(OldNote = OldNote { row: 0, level: 0.0 }, Option<OldNote> = None);

    plain! {
        #[derive(Debug, Clone, Copy, PartialEq)]
        struct NewNote {
            row: u32,
            // Added in version 2, in this one place.
            channel: u8 = 3 => since 2 of 2,
            level: f32,
        }
    }
    plain_states!(NewNote = NewNote { row: 0, channel: 0, level: 0.0 }, Option<NewNote> = None);

    state! {
        #[derive(Debug, PartialEq)]
        struct Old {
            count: u32 = 5,
            first: Option<OldNote> = None,
            last: Option<OldNote> = None,
            level: f32,
        }
    }

    state! {
        #[derive(Debug, PartialEq)]
        struct New {
            count: u32 = 5,
            /// Added in version 2; this is the only line that says so.
            limit: u32 = 7 => since 2 of 2,
            first: Option<NewNote> = None,
            last: Option<NewNote> = None,
            level: f32,
        }
    }

    fn saved(version: u8, state: &impl State) -> std::vec::Vec<u8> {
        record(version, state.bytes(version), |writer| state.put(writer))
    }

    fn old() -> Old {
        let first = Some(OldNote { row: 8, level: 1.5 });
        Old { count: 1, first, level: 0.5, ..Old::make(&Dims::default()) }
    }

    fn new() -> New {
        let note = NewNote { row: 8, channel: 6, level: 1.5 };
        let fresh = New::make(&Dims::default());
        New { count: 1, limit: 2, first: Some(note), level: 0.5, ..fresh }
    }

    #[test]
    fn an_older_record_is_read_and_its_missing_fields_begin_as_new() {
        let bytes = saved(1, &old());
        let mut read = New { count: 9, limit: 9, level: 9.0, ..new() };
        replace(&mut read, &mut payload(2, &bytes).unwrap()).unwrap();
        let first = Some(NewNote { row: 8, channel: 3, level: 1.5 });
        assert_eq!(read, New { limit: 7, first, ..new() });
    }

    #[test]
    fn a_newer_record_is_refused_and_one_of_this_version_is_whole() {
        let newer = saved(VERSION + 1, &new());
        assert!(matches!(read(&newer), Err(Error::NewerVersion(version)) if version > VERSION));
        let bytes = saved(2, &new());
        assert!(matches!(payload(1, &bytes), Err(Error::NewerVersion(2))));
        let mut read = New::make(&Dims::default());
        replace(&mut read, &mut payload(2, &bytes).unwrap()).unwrap();
        assert_eq!(read, new());
        // What is longer than its fields changes nothing.
        let longer = record(2, new().bytes(2) + 1, |writer| {
            new().put(writer);
            writer.skip(1);
        });
        let older = record(1, new().bytes(1) + 1, |writer| {
            old().put(writer);
            writer.skip(1);
        });
        for bytes in [longer, older] {
            let refused = replace(&mut read, &mut payload(2, &bytes).unwrap());
            assert_eq!(refused, Err(Error::WrongShape));
            assert_eq!(read, new());
        }
    }

    #[test]
    fn a_record_that_is_not_as_long_as_its_fields_is_not_written() {
        let map = crate::Fourier::<1, 4>::gaussian(1);
        let written = |length| {
            let fill = |writer: &mut Writer<'_>| new().put(writer);
            write(&mut [0; 200], length, Kind::Detector, 0, map.recipe(), fill)
        };
        let length = new().bytes(2);
        assert_eq!(written(length), Ok(FRAME_BYTES + length));
        assert_eq!(written(length - 1), Err(Error::WrongLength));
        assert_eq!(written(length + 1), Err(Error::WrongLength));
    }
}
