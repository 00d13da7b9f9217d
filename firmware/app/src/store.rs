//! Saves the state in an EEPROM, so that it survives power cuts.
//!
//! Two slots are used in turn. A slot has four header pages, which are used in turn, too, then the
//! pages of the state, and spare pages at its end:
//!
//! | bytes | header field |
//! |---|---|
//! | 0..4 | mark `FMSL` |
//! | 4..8 | version of this layout |
//! | 8..12 | sequence number |
//! | 12..16 | length of the state |
//! | 16..20 | CRC-32 of the state |
//! | 20..28 | pages that the spare pages stand for, the last page of the slot first; 0: none |
//! | 28..32 | CRC-32 of the header before it |
//!
//! Saving uses the slot that does *not* hold the newest state. It writes the state, reads it back, and
//! only then writes a header, which makes the slot the newest. A power cut at any byte leaves the other
//! slot untouched, and this one with a header that does not match its state, or complete.
//!
//! A page that does not read back as written is written a second time, then replaced by a spare one, or
//! by the next header page. Pages that hold the right bytes already are not written: each page is
//! written at most once for each save to its slot, a header page once for every four.
//!
//! With a key (feature `secure`), the version of the layout is 3, and a [seal](crate::seal) of the header's
//! first 28 bytes and the state follows the header. A state without it is not loaded, nor one whose
//! sequence number is older than the board's own [`Ratchet`] says. That is one step behind the newest, so
//! that the other slot can still be used when the newest is damaged.
//!
//! Saving goes [step by step](Store::step), so that samples can be taken meanwhile.

use eeprom24x::{Eeprom24x, Error as EepromError, SlaveAddr, addr_size, page_size, unique_serial};
use embedded_hal::i2c::{Error as BusError, ErrorKind, I2c};
use fastmmd::state::checksum;

use crate::bytes::checked;
use crate::fault::{Device, Fault, FaultKind};
#[cfg(feature = "secure")]
use crate::seal::{Key, SEAL_BYTES, Sealing};

const MAGIC: [u8; 4] = *b"FMSL";
const LAYOUT_VERSION: u32 = 2;
/// With a seal.
#[cfg(feature = "secure")]
const SEALED_VERSION: u32 = 3;
const HEADER_BYTES: usize = 32;
const PAGE_BYTES: usize = 64;
const SLOT_PAGES: u8 = 255;
/// Header pages of a slot.
const HEADERS: u8 = 4;
/// Spare pages of a slot.
const SPARES: usize = 8;

#[cfg(feature = "secure")]
const KNOWN_VERSIONS: &[u32] = &[LAYOUT_VERSION, SEALED_VERSION];
#[cfg(not(feature = "secure"))]
const KNOWN_VERSIONS: &[u32] = &[LAYOUT_VERSION];

/// What is written to a header page.
#[cfg(feature = "secure")]
type HeaderPage = [u8; HEADER_BYTES + SEAL_BYTES];
#[cfg(not(feature = "secure"))]
type HeaderPage = [u8; HEADER_BYTES];

/// Longest state that fits into a slot of the 32 KiB EEPROM, in bytes.
pub const MAX_STATE_BYTES: usize = (256 - HEADERS as usize - SPARES) * PAGE_BYTES;

/// Number of retries while a device does not acknowledge. An EEPROM does not for up to 5 ms while
/// it writes a page; at 400 kHz an unacknowledged address takes about 30 µs.
const PATIENCE: u16 = 500;
/// Number of attempts at a transaction that fails in another way.
const ATTEMPTS: u8 = 5;
/// Number of times a page is written before it is taken for worn out.
const WRITES: u8 = 2;

type Chip<'b, B> = Eeprom24x<&'b mut B, page_size::B64, addr_size::TwoBytes, unique_serial::No>;

/// Two slots in a 24x256 EEPROM.
#[derive(Debug)]
pub struct Store {
    /// The newest state that [`load`](Self::load) found or that was saved.
    newest: Option<Newest>,
    /// Which pages the spare ones of each slot stand for.
    spares: [Spares; 2],
    looked: bool,
    save: Option<Save>,
    #[cfg(feature = "secure")]
    lock: Lock,
}

/// A counter of the board that survives what the EEPROM does, and never goes back, such as a register with
/// a battery: raises it to at least the number given and returns it; 0 only reads it. One that is lost
/// reads 0.
#[cfg(feature = "secure")]
pub type Ratchet = fn(u32) -> u32;

/// What keeps others from writing states.
#[cfg(feature = "secure")]
#[derive(Debug, Clone, Copy, Default)]
struct Lock {
    key: Option<&'static Key>,
    ratchet: Option<Ratchet>,
}

type Spares = [u8; SPARES];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Newest {
    slot: Slot,
    sequence: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Slot {
    First,
    Second,
}

impl Slot {
    const fn other(self) -> Self {
        match self {
            Self::First => Self::Second,
            Self::Second => Self::First,
        }
    }

    /// The address of a page.
    const fn address(self, page: u8) -> u32 {
        let first = match self {
            Self::First => 0,
            Self::Second => 1 << 14,
        };
        first | (page as u32) << 6
    }
}

/// The page of a slot that holds a page of the state.
fn page_of(spares: &Spares, page: u8) -> u8 {
    let usual = HEADERS.saturating_add(page);
    // The last one: a spare page may have been replaced by a later one.
    let mut found = usual;
    for (stands, spare) in spares.iter().zip((0..=SLOT_PAGES).rev()) {
        if *stands == usual {
            found = spare;
        }
    }
    found
}

/// The header page that a sequence number uses first.
const fn header_page(sequence: u32) -> u8 {
    let [low, ..] = (sequence >> 1).to_le_bytes();
    low % HEADERS
}

/// A save that is going on.
#[derive(Debug, Clone, Copy)]
struct Save {
    slot: Slot,
    header: Header,
    content: HeaderPage,
    /// The next page of the state; beyond the last, the header.
    page: u8,
    header_page: u8,
    headers_tried: u8,
    /// How often the page was written.
    writes: u8,
    /// Whether the chip's content is compared next, not written.
    compares: bool,
    patience: Patience,
}

/// Transactions that failed one after the other.
#[derive(Debug, Clone, Copy, Default)]
struct Patience {
    unanswered: u16,
    failed: u8,
}

impl Patience {
    /// Counts one; the fault, if it was the last to be borne.
    fn bear<E: BusError>(&mut self, error: EepromError<E>) -> Result<(), Fault> {
        let EepromError::I2C(error) = error else { return Err(TOO_LONG) };
        if matches!(error.kind(), ErrorKind::NoAcknowledge(_)) {
            // It may be busy with a write.
            self.unanswered += 1;
        } else {
            self.failed += 1;
        }
        if self.unanswered >= PATIENCE || self.failed >= ATTEMPTS {
            return Err(Fault::of_bus(Device::Store, &error));
        }
        Ok(())
    }
}

/// What a [step](Store::step) came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// More steps are needed.
    Continue,
    /// The state is saved, or there was nothing to save.
    Done,
}

/// What [`load`](Store::load) found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Loaded {
    /// Length of the state in bytes.
    pub length: usize,
    /// Why a newer state, or what may have been one, is not it: [`FaultKind::Damaged`] or
    /// [`FaultKind::Forged`].
    pub newer: Option<FaultKind>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Header {
    version: u32,
    sequence: u32,
    length: u32,
    checksum: u32,
    spares: Spares,
}

impl Header {
    fn to_bytes(self) -> [u8; HEADER_BYTES] {
        let mut bytes = [0; HEADER_BYTES];
        let fields = [self.version, self.sequence, self.length, self.checksum];
        let fields = fields.iter().flat_map(|field| field.to_le_bytes());
        let fields = MAGIC.into_iter().chain(fields).chain(self.spares);
        for (byte, new) in bytes.iter_mut().zip(fields) {
            *byte = new;
        }
        if let Some((content, sum)) = bytes.split_last_chunk_mut() {
            *sum = checksum(0, content).to_le_bytes();
        }
        bytes
    }

    fn from_bytes(bytes: &[u8; HEADER_BYTES]) -> Option<Self> {
        let content = checked(bytes).ok()?;
        let (words, _) = content.as_chunks::<4>();
        let [magic, version, sequence, length, checksum, first, second] = *words.first_chunk()?;
        let version = u32::from_le_bytes(version);
        let known = magic == MAGIC && KNOWN_VERSIONS.contains(&version);
        let [a, b, c, d] = first;
        let [e, f, g, h] = second;
        known.then_some(Self {
            version,
            sequence: u32::from_le_bytes(sequence),
            length: u32::from_le_bytes(length),
            checksum: u32::from_le_bytes(checksum),
            spares: [a, b, c, d, e, f, g, h],
        })
    }

    /// Number of pages of its state; `None` if it is longer than a slot.
    fn pages(&self) -> Option<u8> {
        let length =
            usize::try_from(self.length).ok().filter(|length| *length <= MAX_STATE_BYTES)?;
        u8::try_from(length.div_ceil(PAGE_BYTES)).ok()
    }
}

impl Default for Store {
    fn default() -> Self {
        Self::new()
    }
}

impl Store {
    /// A store in the EEPROM at address 0x50, the first of its kind.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            newest: None,
            spares: [[0; SPARES]; 2],
            looked: false,
            save: None,
            #[cfg(feature = "secure")]
            lock: Lock { key: None, ratchet: None },
        }
    }

    /// The same, whose states are sealed with this key, and are not older than the ratchet says. Without a
    /// key nothing is sealed.
    #[cfg(feature = "secure")]
    #[must_use]
    pub const fn sealed(key: Option<&'static Key>, ratchet: Option<Ratchet>) -> Self {
        Self { lock: Lock { key, ratchet }, ..Self::new() }
    }

    /// Reads the newest complete state into the front of `room`, or finds that there is none. `room`
    /// may be overwritten in any case.
    ///
    /// # Errors
    /// A [`Fault`] of the bus, [`FaultKind::TooLong`] for a state longer than `room`, or
    /// [`FaultKind::Forged`] or [`FaultKind::Replayed`] if there are only such.
    pub fn load<B: I2c>(&mut self, bus: &mut B, room: &mut [u8]) -> Result<Option<Loaded>, Fault> {
        let mut chip = chip(bus);
        let mut first = newest_header(&mut chip, Slot::First)?;
        let mut second = newest_header(&mut chip, Slot::Second)?;
        self.spares = [first, second].map(|found| found.map_or([0; SPARES], |it| it.spares));
        let second_is_newer = match (first, second) {
            (Some(first), Some(second)) => newer(second.sequence, first.sequence),
            (None, second) => second.is_some(),
            (Some(_), None) => false,
        };
        let mut slot = if second_is_newer { Slot::Second } else { Slot::First };
        if second_is_newer {
            core::mem::swap(&mut first, &mut second);
        }
        let (mut newer, mut found) = (None, None);
        // The older one is read only if the newest is not complete.
        for header in [first, second] {
            if let Some(header) = header {
                let length = usize::try_from(header.length).unwrap_or(usize::MAX);
                let fits = room.get_mut(..length);
                let loaded = fits.is_some().then_some(length);
                match self.read(&mut chip, slot, &header, fits)? {
                    None => {
                        found = Some((Newest { slot, sequence: header.sequence }, loaded));
                        break;
                    }
                    // Somebody's doing is said before what may be mere damage.
                    Some(FaultKind::Damaged) if newer.is_some() => {}
                    why => newer = why,
                }
            }
            slot = slot.other();
        }
        self.newest = found.map(|(newest, _)| newest);
        self.looked = true;
        match found {
            None => match newer {
                Some(kind @ (FaultKind::Forged | FaultKind::Replayed)) => {
                    Err(Fault::new(Device::Store, kind))
                }
                _ => Ok(None),
            },
            Some((_, None)) => Err(TOO_LONG),
            Some((Newest { slot, sequence }, Some(length))) => {
                // A newer state may have lost its header. The page for it holds an old one, or none.
                let next = header_page(sequence.wrapping_add(1));
                let (after, blank) = header(&mut chip, slot.other(), next)?;
                let lost = (after.is_none() && !blank).then_some(FaultKind::Damaged);
                Ok(Some(Loaded { length, newer: newer.or(lost) }))
            }
        }
    }

    /// Writes `state` as the newest, in one go. If this fails, the previous newest state remains.
    ///
    /// # Errors
    /// As [`begin`](Self::begin) and [`step`](Self::step).
    pub fn save<B: I2c>(&mut self, bus: &mut B, state: &[u8]) -> Result<(), Fault> {
        self.begin(bus, state)?;
        while self.step(bus, state)? == Step::Continue {}
        Ok(())
    }

    /// Begins to write `state`, which must stay as it is until [`step`](Self::step) says that it is
    /// done. Gives up another save that was going on.
    ///
    /// # Errors
    /// A [`Fault`] of the bus, if what the chip holds could not be read, or [`FaultKind::TooLong`]
    /// beyond [`MAX_STATE_BYTES`].
    pub fn begin<B: I2c>(&mut self, bus: &mut B, state: &[u8]) -> Result<(), Fault> {
        self.save = None;
        let length = u32::try_from(state.len()).map_err(|_| TOO_LONG)?;
        if state.len() > MAX_STATE_BYTES {
            return Err(TOO_LONG);
        }
        if !self.looked {
            // Find the newest slot first, or the only good one may be overwritten.
            self.load(bus, &mut []).or_else(|fault| match fault.kind {
                FaultKind::TooLong => Ok(None),
                _ => Err(fault),
            })?;
        }
        let slot = self.newest.map_or(Slot::First, |newest| newest.slot.other());
        let sequence = self.newest.map_or(self.floor(), |newest| newest.sequence);
        let sequence = sequence.wrapping_add(1);
        let [first, second] = self.spares;
        let spares = if slot == Slot::First { first } else { second };
        let version = self.version();
        let header = Header { version, sequence, length, checksum: checksum(0, state), spares };
        self.save = Some(Save {
            slot,
            header,
            content: self.header_page(&header, state),
            page: 0,
            header_page: header_page(sequence),
            headers_tried: 0,
            writes: 0,
            compares: true,
            patience: Patience::default(),
        });
        Ok(())
    }

    /// The sequence number of the newest state; 0 if none is known.
    #[must_use]
    pub fn sequence(&self) -> u32 {
        self.newest.map_or(0, |newest| newest.sequence)
    }

    /// Whether a save is going on.
    #[must_use]
    pub const fn is_saving(&self) -> bool {
        self.save.is_some()
    }

    /// Goes on with a save of `state`: one transaction, at most a page.
    ///
    /// # Errors
    /// A [`Fault`] of the bus, or [`FaultKind::NotWritten`] if it does not read back and there are no
    /// spare pages left. The save is then over, and the previous newest state remains.
    pub fn step<B: I2c>(&mut self, bus: &mut B, state: &[u8]) -> Result<Step, Fault> {
        let Some(mut save) = self.save.take() else { return Ok(Step::Done) };
        let pages = save.header.pages().ok_or(TOO_LONG)?;
        let (page, content) = if save.page < pages {
            let start = usize::from(save.page) * PAGE_BYTES;
            let rest = state.get(start..).unwrap_or_default();
            let piece = rest.get(..PAGE_BYTES.min(rest.len())).unwrap_or_default();
            (page_of(&save.header.spares, save.page), piece)
        } else {
            (save.header_page, &save.content[..])
        };
        let address = save.slot.address(page);
        let mut chip = chip(bus);
        let mut back = [0; PAGE_BYTES];
        let back = back.get_mut(..content.len()).ok_or(TOO_LONG)?;
        let done = if save.compares {
            chip.read_data(address, back)
        } else {
            chip.write_page(address, content)
        };
        if let Err(error) = done {
            save.patience.bear(error)?;
            self.save = Some(save);
            return Ok(Step::Continue);
        }
        save.patience = Patience::default();
        if !save.compares {
            save.writes += 1;
            save.compares = true;
        } else if *back == *content {
            if save.page >= pages {
                let Header { sequence, spares, .. } = save.header;
                self.newest = Some(Newest { slot: save.slot, sequence });
                self.raise(sequence);
                let [first, second] = &mut self.spares;
                *(if save.slot == Slot::First { first } else { second }) = spares;
                return Ok(Step::Done);
            }
            save.page += 1;
            save.writes = 0;
        } else {
            if save.writes >= WRITES {
                save.replace(pages)?;
                // It says which spare pages are used.
                save.content = self.header_page(&save.header, state);
            }
            save.compares = false;
        }
        self.save = Some(save);
        Ok(Step::Continue)
    }
}

#[cfg(not(feature = "secure"))]
impl Store {
    const fn version(&self) -> u32 {
        LAYOUT_VERSION
    }

    /// The number before the first one.
    const fn floor(&self) -> u32 {
        0
    }

    const fn raise(&self, _: u32) {}

    fn header_page(&self, header: &Header, _: &[u8]) -> HeaderPage {
        header.to_bytes()
    }

    fn read<B: I2c>(
        &self,
        chip: &mut Chip<'_, B>,
        slot: Slot,
        header: &Header,
        room: Option<&mut [u8]>,
    ) -> Result<Option<FaultKind>, Fault> {
        let sum = read(chip, slot, header, room, |_| {})?;
        Ok((sum != Some(header.checksum)).then_some(FaultKind::Damaged))
    }
}

#[cfg(feature = "secure")]
impl Store {
    const fn version(&self) -> u32 {
        if self.lock.key.is_some() { SEALED_VERSION } else { LAYOUT_VERSION }
    }

    /// The number before the first one.
    fn floor(&self) -> u32 {
        self.lock.ratchet.map_or(0, |ratchet| ratchet(0))
    }

    fn raise(&self, sequence: u32) {
        if let Some(ratchet) = self.lock.ratchet {
            ratchet(sequence);
        }
    }

    /// The header, and its seal.
    #[inline(never)]
    fn header_page(&self, header: &Header, state: &[u8]) -> HeaderPage {
        let bytes = header.to_bytes();
        let seal = self.lock.key.map(|key| {
            let mut sealing = begin_seal(key, &bytes);
            sealing.update(state);
            sealing.finish()
        });
        let mut page = [0; HEADER_BYTES + SEAL_BYTES];
        for (slot, byte) in page.iter_mut().zip(bytes.into_iter().chain(seal.unwrap_or_default())) {
            *slot = byte;
        }
        page
    }

    /// Reads a state; what is wrong with it, if anything.
    #[inline(never)]
    fn read<B: I2c>(
        &self,
        chip: &mut Chip<'_, B>,
        slot: Slot,
        header: &Header,
        room: Option<&mut [u8]>,
    ) -> Result<Option<FaultKind>, Fault> {
        let Some(key) = self.lock.key else {
            let sum = read(chip, slot, header, room, |_| {})?;
            return Ok((sum != Some(header.checksum)).then_some(FaultKind::Damaged));
        };
        let mut sealing = begin_seal(key, &header.to_bytes());
        let sum = read(chip, slot, header, room, |bytes| sealing.update(bytes))?;
        if sum != Some(header.checksum) {
            return Ok(Some(FaultKind::Damaged));
        }
        // The header may be in any of its pages.
        let mut is_sealed = false;
        for page in 0..HEADERS {
            let mut bytes = [0; HEADER_BYTES + SEAL_BYTES];
            patiently(|| chip.read_data(slot.address(page), &mut bytes))?;
            if let Some((front, seal)) = bytes.split_first_chunk::<HEADER_BYTES>()
                && Header::from_bytes(front) == Some(*header)
                && let Some(seal) = seal.first_chunk()
            {
                is_sealed |= sealing.clone().is(seal);
            }
        }
        if !is_sealed || header.version != SEALED_VERSION {
            return Ok(Some(FaultKind::Forged));
        }
        // The other slot is one step behind the newest.
        let is_old = newer(self.floor(), header.sequence.wrapping_add(1));
        Ok((is_old && self.floor() != 0).then_some(FaultKind::Replayed))
    }
}

/// The seal of a header, without its checksum, and of the state that follows.
#[cfg(feature = "secure")]
fn begin_seal(key: &Key, header: &[u8; HEADER_BYTES]) -> Sealing {
    let mut sealing = key.state();
    sealing.update(header.get(..HEADER_BYTES - 4).unwrap_or_default());
    sealing
}

impl Save {
    /// Uses another page instead of the present one, which is worn out.
    fn replace(&mut self, pages: u8) -> Result<(), Fault> {
        self.writes = 0;
        if self.page < pages {
            let free = self.header.spares.iter_mut().find(|spare| **spare == 0);
            *free.ok_or(NOT_WRITTEN)? = HEADERS.saturating_add(self.page);
        } else {
            self.headers_tried += 1;
            self.header_page = (self.header_page + 1) % HEADERS;
            if self.headers_tried >= HEADERS {
                return Err(NOT_WRITTEN);
            }
        }
        Ok(())
    }
}

const TOO_LONG: Fault = Fault::new(Device::Store, FaultKind::TooLong);
const NOT_WRITTEN: Fault = Fault::new(Device::Store, FaultKind::NotWritten);

fn chip<B: I2c>(bus: &mut B) -> Chip<'_, B> {
    Eeprom24x::new_24x256(bus, SlaveAddr::Default)
}

/// Whether sequence number `a` comes after `b`, across the wrap from 2³² − 1 to 0.
const fn newer(a: u32, b: u32) -> bool {
    let ahead = a.wrapping_sub(b);
    ahead != 0 && ahead < 1 << 31
}

/// A header, if it is valid, and whether its page was never written.
fn header<B: I2c>(
    chip: &mut Chip<'_, B>,
    slot: Slot,
    page: u8,
) -> Result<(Option<Header>, bool), Fault> {
    let mut bytes = [0; HEADER_BYTES];
    patiently(|| chip.read_data(slot.address(page), &mut bytes))?;
    Ok((Header::from_bytes(&bytes), bytes.iter().all(|byte| *byte == 0xFF)))
}

/// The newest header of a slot.
fn newest_header<B: I2c>(chip: &mut Chip<'_, B>, slot: Slot) -> Result<Option<Header>, Fault> {
    let mut newest: Option<Header> = None;
    for page in 0..HEADERS {
        let (found, _) = header(chip, slot, page)?;
        let is_newer = |found: &Header| newest.is_none_or(|it| newer(found.sequence, it.sequence));
        newest = found.filter(is_newer).or(newest);
    }
    Ok(newest)
}

/// Reads the state of a header, stores it if `room` is given, passes it to `each`, and returns its checksum; `None` if it is
/// longer than a slot.
fn read<B: I2c>(
    chip: &mut Chip<'_, B>,
    slot: Slot,
    header: &Header,
    mut room: Option<&mut [u8]>,
    mut each: impl FnMut(&[u8]),
) -> Result<Option<u32>, Fault> {
    let Some(pages) = header.pages() else { return Ok(None) };
    let mut left = usize::try_from(header.length).unwrap_or(0);
    let mut sum = 0;
    let mut bytes = [0; PAGE_BYTES];
    for page in 0..pages {
        let piece = bytes.get_mut(..PAGE_BYTES.min(left)).unwrap_or_default();
        let address = slot.address(page_of(&header.spares, page));
        patiently(|| chip.read_data(address, piece))?;
        sum = checksum(sum, piece);
        each(piece);
        left -= piece.len();
        let kept = room.as_mut().and_then(|room| room.get_mut(usize::from(page) * PAGE_BYTES..));
        for (kept, byte) in kept.into_iter().flatten().zip(&*piece) {
            *kept = *byte;
        }
    }
    Ok(Some(sum))
}

/// Repeats a transaction while the chip does not acknowledge, for it may be busy with a write, and a few
/// times after another failure.
fn patiently<E: BusError>(
    mut attempt: impl FnMut() -> Result<(), EepromError<E>>,
) -> Result<(), Fault> {
    let mut patience = Patience::default();
    while let Err(error) = attempt() {
        patience.bear(error)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
