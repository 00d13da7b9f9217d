//! Transactions with the EEPROM, repeated where that helps.

use eeprom24x::{Eeprom24x, Error as EepromError, SlaveAddr, addr_size, page_size, unique_serial};
use embedded_hal::i2c::{Error as BusError, ErrorKind, I2c};
use fastmmd::state::checksum;

use super::TOO_LONG;
use super::layout::{HEADER_BYTES, HEADERS, Header, PAGE_BYTES, Slot, newer, page_of};
use crate::fault::{Device, Fault};

/// Number of retries while a device does not acknowledge. An EEPROM does not for up to 5 ms while
/// it writes a page; at 400 kHz an unacknowledged address takes about 30 µs.
const PATIENCE: u16 = 500;
/// Number of attempts at a transaction that fails in another way.
const ATTEMPTS: u8 = 5;

pub(super) type Chip<'b, B> =
    Eeprom24x<&'b mut B, page_size::B64, addr_size::TwoBytes, unique_serial::No>;

/// Transactions that failed one after the other.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Patience {
    unanswered: u16,
    failed: u8,
}

impl Patience {
    /// Counts one; the fault, if it was the last to be borne.
    pub(super) fn bear<E: BusError>(&mut self, error: EepromError<E>) -> Result<(), Fault> {
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

pub(super) fn chip<B: I2c>(bus: &mut B) -> Chip<'_, B> {
    Eeprom24x::new_24x256(bus, SlaveAddr::Default)
}

/// A header, if it is valid, and whether its page was never written.
pub(super) fn header<B: I2c>(
    chip: &mut Chip<'_, B>,
    slot: Slot,
    page: u8,
) -> Result<(Option<Header>, bool), Fault> {
    let mut bytes = [0; HEADER_BYTES];
    patiently(|| chip.read_data(slot.address(page), &mut bytes))?;
    Ok((Header::from_bytes(&bytes), bytes.iter().all(|byte| *byte == 0xFF)))
}

/// The newest header of a slot.
pub(super) fn newest_header<B: I2c>(
    chip: &mut Chip<'_, B>,
    slot: Slot,
) -> Result<Option<Header>, Fault> {
    let mut newest: Option<Header> = None;
    for page in 0..HEADERS {
        let (found, _) = header(chip, slot, page)?;
        let is_newer = |found: &Header| newest.is_none_or(|it| newer(found.sequence, it.sequence));
        newest = found.filter(is_newer).or(newest);
    }
    Ok(newest)
}

/// Reads the state of a header, stores it if `room` is given, passes it to `each`, and returns its
/// checksum; `None` if it is longer than a slot.
pub(super) fn read<B: I2c>(
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
pub(super) fn patiently<E: BusError>(
    mut attempt: impl FnMut() -> Result<(), EepromError<E>>,
) -> Result<(), Fault> {
    let mut patience = Patience::default();
    while let Err(error) = attempt() {
        patience.bear(error)?;
    }
    Ok(())
}
