//! The state of a device: exact sums, the map they are of, and the rows that were left out.
//!
//! As bytes, little-endian: `FMFL`, version (1), 0, channels (u16), rows skipped (u64), level and
//! deviation of each channel (f64), the core's record of an embedding, and a CRC-32 over all before
//! it. The record names its map, so that a state can be read without knowing the query it came from.

use std::cell::RefCell;
use std::sync::Arc;

use fastmmd::dynamic::{self, Map};
use fastmmd::monitor::{CYCLE_BINS, Cyclic, SavedLegs};
use fastmmd::state::{Kind, checksum};
use fastmmd::{Embedding, Error, MapKind, Recipe};

use crate::error::Cause;
use crate::map::{FleetMap, Scale, is_drawn};

const MAGIC: [u8; 4] = *b"FMFL";
const VERSION: u8 = 1;
const HEAD: usize = 16;

/// An embedding, with its map and what was skipped.
#[derive(Debug, Clone)]
pub struct State {
    map: Arc<FleetMap>,
    embedding: Embedding<Map>,
    skipped: u64,
}

impl PartialEq for State {
    fn eq(&self, other: &Self) -> bool {
        self.map.is_as(&other.map)
            && self.embedding == other.embedding
            && self.skipped == other.skipped
    }
}

impl State {
    /// An empty one.
    #[must_use]
    pub fn new(map: Arc<FleetMap>) -> Self {
        let embedding = Embedding::new(map.map());
        Self { map, embedding, skipped: 0 }
    }

    /// Its map.
    #[must_use]
    pub fn map(&self) -> &Arc<FleetMap> {
        &self.map
    }

    /// Its sums.
    #[must_use]
    pub fn embedding(&self) -> &Embedding<Map> {
        &self.embedding
    }

    /// Rows that were left out because a value was null.
    #[must_use]
    pub fn skipped(&self) -> u64 {
        self.skipped
    }

    /// Total weight: the number of rows, if all have weight 1.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "below 2³³ in units of 2⁻³⁰: 63 bits of 53")]
    pub fn count(&self) -> f64 {
        self.embedding.exact_weight() as f64 / f64::from(1_u32 << 30)
    }

    /// Bytes in memory, about.
    #[must_use]
    pub fn size(&self) -> usize {
        size_of::<Self>() + 16 * self.embedding.frequencies()
    }

    pub(crate) fn skip(&mut self, rows: u64) {
        self.skipped = self.skipped.saturating_add(rows);
    }

    /// Adds standardised rows of weight 1.
    pub(crate) fn add_many(&mut self, rows: &[f32]) -> Result<(), Error> {
        let samples = rows.chunks_exact(self.map.channels());
        self.embedding.add_many(self.map.map(), samples)
    }

    pub(crate) fn add_weighted(&mut self, row: &[f32], weight: f32) -> Result<(), Error> {
        self.embedding.add_weighted(self.map.map(), row, weight)
    }

    /// Adds all rows of another state: exact, in any order.
    ///
    /// # Errors
    /// [`Cause::OtherMap`], and [`Cause::Refused`] beyond 8·10⁹ rows; it is then as it was.
    pub fn merge(&mut self, other: &Self) -> Result<(), Cause> {
        if !self.map.is_as(&other.map) {
            return Err(self.map.unlike(&other.map));
        }
        self.embedding.merge(&other.embedding).map_err(Cause::Refused)?;
        self.skip(other.skipped);
        Ok(())
    }

    /// The bytes that [`of_bytes`](Self::of_bytes) reads: the same for the same rows in any order.
    ///
    /// # Errors
    /// [`Cause::Refused`] for more than 65,535 channels.
    pub fn to_bytes(&self) -> Result<Vec<u8>, Cause> {
        let record = self.embedding.saved_bytes();
        let channels = self.map.channels();
        let count = u16::try_from(channels).map_err(|_| Cause::Refused(Error::WrongShape))?;
        let mut bytes = Vec::with_capacity(HEAD + 16 * channels + record + 4);
        bytes.extend(MAGIC);
        bytes.extend([VERSION, 0]);
        bytes.extend(count.to_le_bytes());
        bytes.extend(self.skipped.to_le_bytes());
        for Scale { level, deviation } in self.map.scales() {
            bytes.extend(level.to_le_bytes());
            bytes.extend(deviation.to_le_bytes());
        }
        let head = bytes.len();
        bytes.resize(head + record, 0);
        self.embedding.save(self.map.map(), &mut bytes[head..]).map_err(Cause::Refused)?;
        bytes.extend(checksum(0, &bytes).to_le_bytes());
        Ok(bytes)
    }

    /// Reads a state. The map is drawn only if it is another than that of the last one this thread
    /// read.
    ///
    /// # Errors
    /// [`Cause::BadState`]; also for maps of more than 2²⁴ numbers, channels times frequencies.
    pub fn of_bytes(bytes: &[u8]) -> Result<Self, Cause> {
        Self::read(bytes).map_err(Cause::BadState)
    }

    fn read(bytes: &[u8]) -> Result<Self, Error> {
        let (head, rest) = bytes.split_first_chunk::<HEAD>().ok_or(Error::NotAState)?;
        let [m0, m1, m2, m3, version, zero, c0, c1, skipped @ ..] = *head;
        if [m0, m1, m2, m3] != MAGIC || version == 0 {
            return Err(Error::NotAState);
        }
        if version > VERSION {
            return Err(Error::NewerVersion(version));
        }
        let (_, sum) = rest.split_last_chunk().ok_or(Error::WrongLength)?;
        if checksum(0, &bytes[..bytes.len() - sum.len()]) != u32::from_le_bytes(*sum) {
            return Err(Error::ChecksumMismatch);
        }
        let rest = &rest[..rest.len() - sum.len()];
        let channels = usize::from(u16::from_le_bytes([c0, c1]));
        let (scales, record) = rest.split_at_checked(16 * channels).ok_or(Error::WrongLength)?;
        if zero != 0 {
            return Err(Error::Inconsistent);
        }
        let map = known_map(scales, record)?;
        let mut state = Self::new(map);
        state.embedding.restore(state.map.map(), record)?;
        state.skipped = u64::from_le_bytes(skipped);
        Ok(state)
    }

    /// Reads what a device or the core saved: an embedding, as it is, or a detector, whose learned
    /// reference becomes the embedding and whose levels and deviations the scale. A state of these
    /// functions is taken as it is.
    ///
    /// # Errors
    /// [`Cause::BadState`]: also for other records, for detectors that have not learned, and for
    /// maps in integers, which cannot be drawn here.
    pub fn of_device(bytes: &[u8]) -> Result<Self, Cause> {
        if bytes.starts_with(&MAGIC) {
            return Self::of_bytes(bytes);
        }
        Self::read_device(bytes).map_err(Cause::BadState)
    }

    fn read_device(bytes: &[u8]) -> Result<Self, Error> {
        let kind = Kind::of(bytes)?;
        if kind != Kind::Embedding && kind != Kind::Detector {
            return Err(Error::WrongShape);
        }
        let recipe = Recipe::restore(bytes)?;
        // A detector has two numbers of four bytes for each frequency at least.
        let map = drawn(&recipe, bytes, if kind == Kind::Embedding { 16 } else { 8 })?;
        if kind == Kind::Embedding {
            let plain = vec![Scale::NONE; recipe.inputs as usize];
            let mut embedding = Embedding::new(&map);
            embedding.restore(&map, bytes)?;
            let map = FleetMap::new(map, plain).map_err(|_| Error::Inconsistent)?;
            return Ok(Self { map: Arc::new(map), embedding, skipped: 0 });
        }
        let legs = SavedLegs::restore(bytes)?;
        let (scales, embedding) = if legs == SavedLegs::of::<Cyclic<CYCLE_BINS>>() {
            learned(&dynamic::restored::<Cyclic<CYCLE_BINS>, _>(&map, bytes)?)?
        } else {
            learned(&dynamic::restored::<fastmmd::monitor::All, _>(&map, bytes)?)?
        };
        let map = FleetMap::new(map, scales).map_err(|_| Error::Inconsistent)?;
        Ok(Self { map: Arc::new(map), embedding, skipped: 0 })
    }
}

/// The scale and the reference of a detector. A channel that never moved has a deviation of 0: its
/// readings are then only shifted.
fn learned<L: fastmmd::monitor::Legs>(
    detector: &dynamic::Detector<'_, L>,
) -> Result<(Vec<Scale>, Embedding<Map>), Error> {
    let scale = |quality: fastmmd::monitor::ChannelQuality| Scale {
        level: f64::from(quality.level),
        deviation: if quality.deviation > 0.0 { f64::from(quality.deviation) } else { 1.0 },
    };
    Ok((detector.quality().map(scale).collect(), detector.embedding()?))
}

/// The map of a record with at least so many bytes a frequency. What the record cannot be of is
/// refused before memory is asked for.
fn drawn(recipe: &Recipe, record: &[u8], bytes: u64) -> Result<Map, Error> {
    if (record.len() as u64) < bytes * u64::from(recipe.frequencies) {
        return Err(Error::WrongLength);
    }
    let (inputs, frequencies) = (recipe.inputs as usize, recipe.frequencies as usize);
    if recipe.kind != MapKind::Fastfood && !is_drawn(inputs, frequencies) {
        return Err(Error::WrongShape);
    }
    Map::from_recipe(recipe)
}

/// The map of a state: of its scales and of its record's recipe.
fn known_map(scales: &[u8], record: &[u8]) -> Result<Arc<FleetMap>, Error> {
    /// Scales as bytes, and the record's recipe.
    type Known = (Vec<u8>, Recipe, Arc<FleetMap>);
    thread_local! {
        static LAST: RefCell<Option<Known>> = const { RefCell::new(None) };
    }
    let recipe = Recipe::restore(record)?;
    if scales.len() as u64 != 16 * u64::from(recipe.inputs) {
        return Err(Error::WrongLength);
    }
    LAST.with_borrow_mut(|last| {
        if let Some((known, of, map)) = last
            && known == scales
            && *of == recipe
        {
            return Ok(Arc::clone(map));
        }
        let pairs =
            scales.as_chunks::<8>().0.as_chunks::<2>().0.iter().map(|[level, deviation]| {
                let [level, deviation] = [level, deviation].map(|bytes| f64::from_le_bytes(*bytes));
                Scale { level, deviation }
            });
        let map = FleetMap::new(drawn(&recipe, record, 16)?, pairs.collect());
        let map = Arc::new(map.map_err(|_| Error::Inconsistent)?);
        *last = Some((scales.to_vec(), recipe, Arc::clone(&map)));
        Ok(map)
    })
}
