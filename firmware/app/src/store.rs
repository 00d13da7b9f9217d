//! Saves the state in an EEPROM, so that it survives power cuts.
//!
//! Two slots are used in turn. A slot is a header page followed by the state:
//!
//! | bytes | header field |
//! |---|---|
//! | 0..4 | mark `FMSL` |
//! | 4..8 | version of this layout |
//! | 8..12 | sequence number |
//! | 12..16 | length of the state |
//! | 16..20 | CRC-32 of the state |
//! | 20..24 | CRC-32 of the header before it |
//!
//! Saving uses the slot that does *not* hold the newest state. It invalidates the header, writes
//! the state, reads it back, and only then writes the new header, which makes the slot the newest.
//! A power cut at any byte leaves the other slot untouched, and this one invalid or complete.

use eeprom24x::{Eeprom24x, Error as EepromError, SlaveAddr, addr_size, page_size, unique_serial};
use embedded_hal::i2c::{Error as BusError, ErrorKind, I2c};

use crate::CHECKSUM;
use crate::bytes::{checked, pieces};
use crate::fault::{Device, Fault, FaultKind};

const MAGIC: [u8; 4] = *b"FMSL";
const LAYOUT_VERSION: u32 = 1;
const HEADER_BYTES: usize = 24;
const PAGE_BYTES: usize = 64;
const PAGE: u32 = 64;
const SLOT: u32 = 16 * 1024;

/// Longest state that fits into a slot of the 32 KiB EEPROM, in bytes.
pub const MAX_STATE_BYTES: usize = 16 * 1024 - PAGE_BYTES;

/// Number of retries while a device does not acknowledge. An EEPROM does not for up to 5 ms while
/// it writes a page; at 400 kHz an unacknowledged address takes about 30 µs.
const PATIENCE: u32 = 500;

type Chip<'b, B> = Eeprom24x<&'b mut B, page_size::B64, addr_size::TwoBytes, unique_serial::No>;

/// Two slots in a 24x256 EEPROM.
#[derive(Debug)]
pub struct Store {
    address: SlaveAddr,
    /// The newest state that [`load`](Self::load) found or [`save`](Self::save) wrote.
    newest: Option<Newest>,
    looked: bool,
}

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
    const fn start(self) -> u32 {
        match self {
            Self::First => 0,
            Self::Second => SLOT,
        }
    }

    const fn other(self) -> Self {
        match self {
            Self::First => Self::Second,
            Self::Second => Self::First,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Header {
    sequence: u32,
    length: u32,
    checksum: u32,
}

impl Header {
    fn to_bytes(self) -> [u8; HEADER_BYTES] {
        let mut bytes = [0; HEADER_BYTES];
        let fields = [LAYOUT_VERSION, self.sequence, self.length, self.checksum];
        let fields = fields.iter().flat_map(|field| field.to_le_bytes());
        for (byte, new) in bytes.iter_mut().zip(MAGIC.into_iter().chain(fields)) {
            *byte = new;
        }
        if let Some((content, checksum)) = bytes.split_last_chunk_mut() {
            *checksum = CHECKSUM.checksum(content).to_le_bytes();
        }
        bytes
    }

    fn from_bytes(bytes: &[u8; HEADER_BYTES]) -> Option<Self> {
        let content = checked(bytes).ok()?;
        let (words, _) = content.as_chunks::<4>();
        let [magic, version, sequence, length, checksum] = *words.first_chunk()?;
        let known = magic == MAGIC && u32::from_le_bytes(version) == LAYOUT_VERSION;
        known.then_some(Self {
            sequence: u32::from_le_bytes(sequence),
            length: u32::from_le_bytes(length),
            checksum: u32::from_le_bytes(checksum),
        })
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
        Self { address: SlaveAddr::Default, newest: None, looked: false }
    }

    /// Reads the newest complete state into the front of `room` and returns its length, or `None`
    /// if there is none. `room` may be overwritten in any case.
    ///
    /// # Errors
    /// A [`Fault`] of the bus, or [`FaultKind::TooLong`] for a state longer than `room`.
    pub fn load<B: I2c>(&mut self, bus: &mut B, room: &mut [u8]) -> Result<Option<usize>, Fault> {
        let mut chip = self.chip(bus);
        let first = header(&mut chip, Slot::First)?.map(|header| (Slot::First, header));
        let second = header(&mut chip, Slot::Second)?.map(|header| (Slot::Second, header));
        let second_is_newer = match (first, second) {
            (Some((_, first)), Some((_, second))) => newer(second.sequence, first.sequence),
            _ => false,
        };
        let [newest, older] = if second_is_newer { [second, first] } else { [first, second] };
        // The older one is read only if the newest is not complete.
        let mut found = None;
        for (slot, header) in [newest, older].into_iter().flatten() {
            let length = usize::try_from(header.length).unwrap_or(usize::MAX);
            let fits = room.get_mut(..length);
            let loaded = fits.is_some().then_some(length);
            if read(&mut chip, slot, header.length, fits)? == Some(header.checksum) {
                found = Some((Newest { slot, sequence: header.sequence }, loaded));
                break;
            }
        }
        self.newest = found.map(|(newest, _)| newest);
        self.looked = true;
        match found {
            None => Ok(None),
            Some((_, None)) => Err(TOO_LONG),
            Some((_, length)) => Ok(length),
        }
    }

    /// Writes `state` as the newest. If this fails, the previous newest state remains.
    ///
    /// # Errors
    /// A [`Fault`] of the bus, [`FaultKind::TooLong`] beyond [`MAX_STATE_BYTES`], or
    /// [`FaultKind::NotWritten`] if it does not read back.
    pub fn save<B: I2c>(&mut self, bus: &mut B, state: &[u8]) -> Result<(), Fault> {
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
        let sequence = self.newest.map_or(1, |newest| newest.sequence.wrapping_add(1));
        let header = Header { sequence, length, checksum: CHECKSUM.checksum(state) };

        let mut chip = self.chip(bus);
        write(&mut chip, slot.start(), &[0; HEADER_BYTES])?;
        for (address, piece) in
            (slot.start() + PAGE..).step_by(PAGE_BYTES).zip(pieces::<PAGE_BYTES>(state))
        {
            write(&mut chip, address, piece)?;
        }
        write(&mut chip, slot.start(), &header.to_bytes())?;
        self.newest = Some(Newest { slot, sequence });
        Ok(())
    }

    fn chip<'b, B: I2c>(&self, bus: &'b mut B) -> Chip<'b, B> {
        Eeprom24x::new_24x256(bus, self.address)
    }
}

const TOO_LONG: Fault = Fault::new(Device::Store, FaultKind::TooLong);
const NOT_WRITTEN: Fault = Fault::new(Device::Store, FaultKind::NotWritten);

/// Whether sequence number `a` comes after `b`, across the wrap from 2³² − 1 to 0.
const fn newer(a: u32, b: u32) -> bool {
    let ahead = a.wrapping_sub(b);
    ahead != 0 && ahead < 1 << 31
}

/// The header of a slot, if it is valid.
fn header<B: I2c>(chip: &mut Chip<'_, B>, slot: Slot) -> Result<Option<Header>, Fault> {
    let mut bytes = [0; HEADER_BYTES];
    patiently(|| chip.read_data(slot.start(), &mut bytes))?;
    Ok(Header::from_bytes(&bytes))
}

/// Reads a state of `length` bytes, stores it if `room` is given, and returns its checksum; `None`
/// if it is longer than a slot.
fn read<B: I2c>(
    chip: &mut Chip<'_, B>,
    slot: Slot,
    length: u32,
    mut room: Option<&mut [u8]>,
) -> Result<Option<u32>, Fault> {
    let length = usize::try_from(length).unwrap_or(usize::MAX);
    if length > MAX_STATE_BYTES {
        return Ok(None);
    }
    let mut digest = CHECKSUM.digest();
    let mut page = [0; PAGE_BYTES];
    let pages = (0..length).step_by(PAGE_BYTES);
    for (start, address) in pages.zip((slot.start() + PAGE..).step_by(PAGE_BYTES)) {
        let piece = page.get_mut(..PAGE_BYTES.min(length - start)).unwrap_or_default();
        patiently(|| chip.read_data(address, piece))?;
        digest.update(piece);
        let kept = room.as_mut().and_then(|room| room.get_mut(start..));
        for (kept, byte) in kept.into_iter().flatten().zip(&*piece) {
            *kept = *byte;
        }
    }
    Ok(Some(digest.finalize()))
}

/// Writes up to a page and reads it back.
fn write<B: I2c>(chip: &mut Chip<'_, B>, address: u32, bytes: &[u8]) -> Result<(), Fault> {
    patiently(|| chip.write_page(address, bytes))?;
    let mut page = [0; PAGE_BYTES];
    let back = page.get_mut(..bytes.len()).ok_or(TOO_LONG)?;
    patiently(|| chip.read_data(address, back))?;
    if back == bytes { Ok(()) } else { Err(NOT_WRITTEN) }
}

/// Repeats a transaction while the chip does not acknowledge: it may be busy with a write.
fn patiently<E: BusError>(
    mut attempt: impl FnMut() -> Result<(), EepromError<E>>,
) -> Result<(), Fault> {
    let mut tries = 0;
    loop {
        match attempt() {
            Ok(()) => return Ok(()),
            Err(EepromError::I2C(error)) => {
                let busy = matches!(error.kind(), ErrorKind::NoAcknowledge(_));
                tries += 1;
                if !busy || tries >= PATIENCE {
                    return Err(Fault::of_bus(Device::Store, &error));
                }
            }
            Err(EepromError::TooMuchData | EepromError::InvalidAddr) => return Err(TOO_LONG),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Noise, World};
    use std::vec;
    use std::vec::Vec;

    fn state(seed: u64, length: usize) -> Vec<u8> {
        let mut noise = Noise::new(seed);
        (0..length).map(|_| noise.byte()).collect()
    }

    fn loaded(world: &mut World) -> Option<Vec<u8>> {
        let mut room = vec![0; MAX_STATE_BYTES];
        let length = Store::new().load(world, &mut room).unwrap()?;
        room.truncate(length);
        Some(room)
    }

    #[test]
    fn empty_and_foreign_chips_hold_nothing() {
        let mut world = World::new();
        assert_eq!(loaded(&mut world), None);
        world.eeprom = state(9, 32768);
        assert_eq!(loaded(&mut world), None);
    }

    #[test]
    fn the_newest_of_many_comes_back_with_a_busy_chip() {
        let mut world = World::new();
        world.busy_after_write = 40;
        let mut store = Store::new();
        for length in [0, 1, 63, 64, 65, 5000, MAX_STATE_BYTES, 12] {
            let bytes = state(length as u64, length);
            store.save(&mut world, &bytes).unwrap();
            assert_eq!(loaded(&mut world), Some(bytes));
        }
        let too_long = vec![0; MAX_STATE_BYTES + 1];
        assert_eq!(store.save(&mut world, &too_long), Err(TOO_LONG));
    }

    #[test]
    fn sequence_numbers_wrap() {
        assert!(newer(1, 0) && newer(0, u32::MAX) && !newer(u32::MAX, 0) && !newer(4, 4));
        let mut world = World::new();
        let mut store = Store::new();
        store.newest = Some(Newest { slot: Slot::Second, sequence: u32::MAX - 2 });
        store.looked = true;
        for number in 0..6 {
            let bytes = state(number, 100);
            store.save(&mut world, &bytes).unwrap();
            assert_eq!(loaded(&mut world), Some(bytes));
        }
    }

    /// The EEPROM loses power after each possible byte of a save.
    #[test]
    fn a_power_cut_at_any_byte_leaves_the_older_or_the_newer_state() {
        let (older, newer) = (state(1, 700), state(2, 650));
        let mut before = World::new();
        let mut store = Store::new();
        store.save(&mut before, &state(0, 700)).unwrap();
        store.save(&mut before, &older).unwrap();
        let all = HEADER_BYTES + newer.len() + HEADER_BYTES;
        let mut newer_seen = 0;
        for written in 0..=all {
            let mut world = World::new();
            world.eeprom.clone_from(&before.eeprom);
            world.power = Some(written);
            // A new store, as after a restart, must find the right slot by itself.
            let saved = Store::new().save(&mut world, &newer);
            world.power = None;
            let found = loaded(&mut world).unwrap();
            if found == newer {
                newer_seen += 1;
            } else {
                assert_eq!(found, older, "cut after {written} bytes");
                assert!(saved.is_err(), "cut after {written} bytes");
            }
            // And the next save works.
            Store::new().save(&mut world, b"next").unwrap();
            assert_eq!(loaded(&mut world).unwrap(), b"next");
        }
        assert!((1..=3).contains(&newer_seen), "{newer_seen}");
    }

    /// If any one page is corrupted, the other slot is still good.
    #[test]
    fn a_rotten_page_costs_at_most_the_newest_state() {
        let (older, newer) = (state(1, 700), state(2, 650));
        let mut good = World::new();
        let mut store = Store::new();
        store.save(&mut good, &older).unwrap();
        store.save(&mut good, &newer).unwrap();
        for page in 0..512 {
            let mut world = World::new();
            world.eeprom.clone_from(&good.eeprom);
            for byte in &mut world.eeprom[page * 64..(page + 1) * 64] {
                *byte = !*byte;
            }
            let found = loaded(&mut world).unwrap();
            assert!(found == older || found == newer, "page {page}");
        }
    }

    #[test]
    fn a_write_protected_chip_is_noticed_and_keeps_its_state() {
        let mut world = World::new();
        let mut store = Store::new();
        store.save(&mut world, b"kept").unwrap();
        world.write_protected = true;
        assert_eq!(store.save(&mut world, b"lost"), Err(NOT_WRITTEN));
        assert_eq!(loaded(&mut world).unwrap(), b"kept");
        world.write_protected = false;
        store.save(&mut world, b"later").unwrap();
        assert_eq!(loaded(&mut world).unwrap(), b"later");
    }

    #[test]
    fn an_absent_chip_is_a_fault() {
        let mut world = World::new();
        world.power = Some(0);
        let absent = Fault::new(Device::Store, FaultKind::NoAcknowledge);
        assert_eq!(Store::new().load(&mut world, &mut [0; 8]), Err(absent));
        assert_eq!(Store::new().save(&mut world, b"lost"), Err(absent));
    }
}
