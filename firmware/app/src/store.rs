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
//! With a key (feature `secure`), the version of the layout is 2 instead of 1, and a [seal](crate::seal) of the header's
//! first 28 bytes and the state follows the header. A state without it is not loaded, nor one whose
//! sequence number is older than the board's own [`Ratchet`] says. That is one step behind the newest, so
//! that the other slot can still be used when the newest is damaged.
//!
//! Saving goes [step by step](Store::step), so that samples can be taken meanwhile.

mod chip;
mod layout;
mod lock;

use embedded_hal::i2c::I2c;
use fastmmd::state::checksum;

use crate::fault::{Device, Fault, FaultKind};
#[cfg(feature = "secure")]
use crate::seal::{Key, SEAL_BYTES};

use chip::{Chip, Patience, chip, header, newest_header, read};
pub use layout::MAX_STATE_BYTES;
use layout::{HEADER_BYTES, HEADERS, Header, PAGE_BYTES, SPARES, Slot, Spares};
use layout::{header_page, newer, page_of};
use lock::Lock;
#[cfg(feature = "secure")]
pub use lock::Ratchet;

/// What is written to a header page.
#[cfg(feature = "secure")]
type HeaderPage = [u8; HEADER_BYTES + SEAL_BYTES];
#[cfg(not(feature = "secure"))]
type HeaderPage = [u8; HEADER_BYTES];

/// Number of times a page is written before it is taken for worn out.
const WRITES: u8 = 2;

/// Two slots in a 24x256 EEPROM.
#[derive(Debug)]
pub struct Store {
    /// The newest state that [`load`](Self::load) found or that was saved.
    newest: Option<Newest>,
    /// Which pages the spare ones of each slot stand for.
    spares: [Spares; 2],
    looked: bool,
    /// Whether states that are not this board's may be written over.
    forgives: bool,
    /// The sequence number after which the next one comes, if there is no complete state: that of the
    /// newest header, whatever follows it.
    last: Option<u32>,
    save: Option<Save>,
    lock: Lock,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Newest {
    slot: Slot,
    sequence: u32,
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
            forgives: false,
            last: None,
            save: None,
            lock: Lock::NONE,
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
    /// [`FaultKind::Forged`], [`FaultKind::Replayed`] or [`FaultKind::Damaged`] if there are only such.
    pub fn load<B: I2c>(&mut self, bus: &mut B, room: &mut [u8]) -> Result<Option<Loaded>, Fault> {
        self.looked = false;
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
        self.last = first.map(|header| header.sequence);
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
        let is_strange = matches!(newer, Some(FaultKind::Forged | FaultKind::Replayed));
        self.looked = found.is_some() || self.forgives || !is_strange;
        match found {
            None => newer.map_or(Ok(None), |kind| Err(Fault::new(Device::Store, kind))),
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

    /// From now on, states that are not this board's may be written over.
    pub const fn forgive(&mut self) {
        self.forgives = true;
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
    /// A [`Fault`] of the bus, if what the chip holds could not be read, [`FaultKind::TooLong`]
    /// beyond [`MAX_STATE_BYTES`], or [`FaultKind::Forged`] or [`FaultKind::Replayed`] if the chip holds only
    /// such, until they are [forgiven](Self::forgive).
    pub fn begin<B: I2c>(&mut self, bus: &mut B, state: &[u8]) -> Result<(), Fault> {
        self.save = None;
        let length = u32::try_from(state.len()).map_err(|_| TOO_LONG)?;
        if state.len() > MAX_STATE_BYTES {
            return Err(TOO_LONG);
        }
        if !self.looked {
            // Find the newest slot first, or the only good one may be overwritten.
            let loaded = self.load(bus, &mut []);
            if !self.looked {
                loaded?;
            }
        }
        let slot = self.newest.map_or(Slot::First, |newest| newest.slot.other());
        let floor = self.lock.floor();
        let last = self.last.filter(|last| newer(*last, floor)).unwrap_or(floor);
        let sequence = self.newest.map_or(last, |newest| newest.sequence).wrapping_add(1);
        let [first, second] = self.spares;
        let spares = if slot == Slot::First { first } else { second };
        let version = self.lock.version();
        let header = Header { version, sequence, length, checksum: checksum(0, state), spares };
        self.save = Some(Save {
            slot,
            header,
            content: self.lock.page(&header, state),
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
                self.lock.raise(sequence);
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
                save.content = self.lock.page(&save.header, state);
            }
            save.compares = false;
        }
        self.save = Some(save);
        Ok(Step::Continue)
    }

    /// Reads a state; what is wrong with it, if anything.
    fn read<B: I2c>(
        &self,
        chip: &mut Chip<'_, B>,
        slot: Slot,
        header: &Header,
        room: Option<&mut [u8]>,
    ) -> Result<Option<FaultKind>, Fault> {
        #[cfg(feature = "secure")]
        if let Some(key) = self.lock.key {
            return self.lock.read(key, chip, (slot, header), room);
        }
        let sum = read(chip, slot, header, room, |_| {})?;
        Ok((sum != Some(header.checksum)).then_some(FaultKind::Damaged))
    }
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

#[cfg(test)]
mod tests;
