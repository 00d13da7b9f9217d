//! Keeps a saved detector in NOR flash, such as a microcontroller's own: a choice where there is no
//! EEPROM.
//!
//! A record may be longer than a page, and an item of `sequential-storage` may not. So it is kept in
//! parts, in one of two places. All parts of the new record are written to the place that is not in use;
//! then one item, which is written whole or not at all, says that it now is. After a power cut at any
//! moment the record is the new one or the one before.
//!
//! Pages are used in turn, so all wear alike: a save of R bytes erases about R/`ERASE_SIZE` of them.

#![no_std]

mod kept;

pub use kept::Kept;

use embedded_storage_async::nor_flash::NorFlash;
use sequential_storage::cache::{Cache, Uncached};
use sequential_storage::map::{MapConfig, MapStorage};

pub use sequential_storage::Error;
pub use sequential_storage::map::MapConfigError;

use core::ops::Range;

/// Bytes of a part.
pub const PART: usize = 512;
/// Most bytes of a record.
pub const LONGEST: usize = PART * PARTS as usize;

/// Most parts of a record.
const PARTS: u8 = 64;
/// The item that says which place is in use: its number, and the record's length.
const IN_USE: u8 = 0xff;
/// A part with its key, in whole words.
const BUFFER: usize = PART + 32;

/// A record in a range of a flash.
pub struct FlashStore<F: NorFlash> {
    items: MapStorage<u8, F, Cache<Uncached, Uncached, Uncached, u8>>,
}

/// A place of a record.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    First,
    Second,
}

impl Place {
    const fn other(self) -> Self {
        match self {
            Self::First => Self::Second,
            Self::Second => Self::First,
        }
    }

    /// The key of a part.
    fn key(self, part: usize) -> u8 {
        // Below `PARTS`.
        let part = u8::try_from(part).unwrap_or(u8::MAX) % PARTS;
        match self {
            Self::First => part,
            Self::Second => part + PARTS,
        }
    }

    fn of(code: u8) -> Option<Self> {
        match code {
            0 => Some(Self::First),
            1 => Some(Self::Second),
            _ => None,
        }
    }
}

impl<F: NorFlash> FlashStore<F> {
    /// A store in a range of whole pages, which nothing else may use: three times as long as the record
    /// and two pages more.
    ///
    /// # Errors
    /// For a range that is not of whole pages, or of fewer than two.
    pub fn new(flash: F, range: Range<u32>) -> Result<Self, MapConfigError> {
        let config = MapConfig::try_new(range)?;
        Ok(Self { items: MapStorage::new(flash, config, Cache::new_uncached()) })
    }

    /// Which place is in use, and the length of what is there.
    async fn in_use(
        &mut self,
        buffer: &mut [u8],
    ) -> Result<Option<(Place, usize)>, Error<F::Error>> {
        let told = self.items.fetch_item::<[u8; 5]>(buffer, &IN_USE).await?;
        Ok(told.and_then(|[place, length @ ..]| {
            let length = usize::try_from(u32::from_le_bytes(length)).ok()?;
            Some((Place::of(place)?, length)).filter(|_| length <= LONGEST)
        }))
    }

    /// Keeps a record in place of the one before.
    ///
    /// # Errors
    /// [`Error::ItemTooBig`] for one longer than [`LONGEST`], or [`Error::FullStorage`] for one that the
    /// range has no room for; or those of the flash. The record before is then still there.
    pub async fn save(&mut self, record: &[u8]) -> Result<(), Error<F::Error>> {
        if record.len() > LONGEST {
            return Err(Error::ItemTooBig);
        }
        let mut buffer = [0; BUFFER];
        let before = self.in_use(&mut buffer).await?;
        let place = before.map_or(Place::First, |(place, _)| place.other());
        for (part, bytes) in record.chunks(PART).enumerate() {
            self.items.store_item(&mut buffer, &place.key(part), &bytes).await?;
        }
        let [a, b, c, d] = u32::try_from(record.len()).unwrap_or(u32::MAX).to_le_bytes();
        let code = if place == Place::First { 0 } else { 1 };
        self.items.store_item(&mut buffer, &IN_USE, &[code, a, b, c, d]).await
    }

    /// Reads the record to the front of `out`, and gives its length; `None` if there is none. What is
    /// read is checked by who takes it up: `Detector::restore`.
    ///
    /// # Errors
    /// [`Error::BufferTooSmall`], [`Error::Corrupted`] where a part is not as long as it was, or those of
    /// the flash.
    pub async fn load(&mut self, out: &mut [u8]) -> Result<Option<usize>, Error<F::Error>> {
        let mut buffer = [0; BUFFER];
        let Some((place, length)) = self.in_use(&mut buffer).await? else { return Ok(None) };
        let out = out.get_mut(..length).ok_or(Error::BufferTooSmall(length))?;
        for (part, bytes) in out.chunks_mut(PART).enumerate() {
            let stored = self.items.fetch_item::<&[u8]>(&mut buffer, &place.key(part)).await?;
            match stored {
                Some(stored) if stored.len() == bytes.len() => bytes.copy_from_slice(stored),
                _ => return Err(Error::Corrupted {}),
            }
        }
        Ok(Some(length))
    }

    /// The flash again.
    pub fn release(self) -> F {
        self.items.destroy().0
    }
}
