//! A copy of the state in RAM that survives a reset, and the rows since.
//!
//! ```text
//! mark, length │ state, as the detector saves it │ row, check │ row, check │ …
//! ```
//!
//! To save the state costs several times as much as to process a row. So it is saved only when the
//! room behind it is full of rows; after a reset, the rows are processed again, which gives the same
//! state bit for bit.
//!
//! The check of a row depends on the state and on all rows before it, so rows of an earlier state, or
//! one that was being written when the reset came, do not match: what follows them is not taken. By
//! chance, one in 65,536 does.
//!
//! The same RAM is the buffer between the detector and the EEPROM, so that the firmware needs memory
//! for one copy of the state, not two.

use fastmmd::state::checksum;

use crate::fault::{Device, Fault, FaultKind};

const MAGIC: [u8; 4] = *b"KEEP";

/// Bytes before the state: a mark and the length.
pub const HEADER_BYTES: usize = 8;

const CHECK_BYTES: usize = 2;

/// Stands for a reading that is missing; detectors take no such number.
const MISSING: f32 = f32::NAN;

/// Bytes of memory for a state of `saved` bytes and up to `rows` rows of `channels` channels.
#[must_use]
pub const fn memory_bytes(saved: usize, rows: usize, channels: usize) -> usize {
    HEADER_BYTES + saved + rows * (4 * channels + CHECK_BYTES)
}

/// RAM that the start-up code does not initialise, with a short header, the detector's state and the
/// rows since.
///
/// The header only locates the state; the state's own checksum tells whether it is complete.
#[derive(Debug)]
pub struct Retained<'a> {
    header: &'a mut [u8],
    room: &'a mut [u8],
    rows: &'a mut [u8],
    /// Bytes of `rows` in use.
    used: usize,
    /// Checksum of the state and the rows in use.
    sum: u32,
}

impl<'a> Retained<'a> {
    /// Uses `memory` with any content: room for a state of `saved` bytes, and the rest for rows. If it
    /// is too short, it never holds a state.
    #[must_use]
    pub fn new(memory: &'a mut [u8], saved: usize) -> Self {
        let split = memory.split_at_mut_checked(HEADER_BYTES);
        let (header, rest) = split.unwrap_or_default();
        let (room, rows) = rest.split_at_mut_checked(saved).unwrap_or_default();
        Self { header, room, rows, used: 0, sum: 0 }
    }

    /// The bytes of the state, if the header is valid; without the rows since.
    #[must_use]
    pub fn state(&self) -> Option<&[u8]> {
        let (magic, length) = self.header.split_first_chunk::<4>()?;
        let length = usize::try_from(u32::from_le_bytes(*length.first_chunk()?)).ok()?;
        if *magic != MAGIC {
            return None;
        }
        self.room.get(..length)
    }

    /// The place of the state, to fill it piece by piece. It holds no state until
    /// [`replace`](Self::replace) says so.
    pub fn room(&mut self) -> &mut [u8] {
        self.forget();
        self.room
    }

    /// Replaces the state: `write` fills the buffer and returns the length. There are no rows then.
    ///
    /// # Errors
    /// Those of `write`, or [`FaultKind::TooLong`] for a length beyond the buffer. It then holds no
    /// state any more.
    pub fn replace(
        &mut self,
        write: impl FnOnce(&mut [u8]) -> Result<usize, Fault>,
    ) -> Result<(), Fault> {
        self.forget();
        let length = write(self.room)?;
        let short = u32::try_from(length).ok().filter(|_| length <= self.room.len());
        let short = short.ok_or(Fault::new(Device::Detector, FaultKind::TooLong))?;
        self.begin(length);
        for (byte, new) in self.header.iter_mut().zip(MAGIC.iter().chain(&short.to_le_bytes())) {
            *byte = *new;
        }
        Ok(())
    }

    /// Begins the list of rows after a state of this length.
    fn begin(&mut self, length: usize) {
        let state = self.room.get(..length).unwrap_or_default();
        // The record's own checksum stands for it.
        self.sum = state.last_chunk().map_or(0, |sum| u32::from_le_bytes(*sum));
        self.used = 0;
    }

    /// Adds a row to those since the state; returns whether there was room.
    #[must_use]
    pub fn append<const C: usize>(&mut self, row: &[Option<f32>; C]) -> bool {
        let end = self.used + 4 * C + CHECK_BYTES;
        let Some(place) = self.rows.get_mut(self.used..end) else { return false };
        let mut sum = self.sum;
        let mut rest = place.iter_mut();
        for value in row {
            let bytes = value.unwrap_or(MISSING).to_le_bytes();
            sum = checksum(sum, &bytes);
            for (byte, slot) in bytes.into_iter().zip(&mut rest) {
                *slot = byte;
            }
        }
        for (slot, byte) in rest.zip(sum.to_le_bytes()) {
            *slot = byte;
        }
        (self.sum, self.used) = (sum, end);
        true
    }

    /// Passes the rows since the state to `process`, in order, and counts on from the last.
    pub fn replay<const C: usize>(&mut self, mut process: impl FnMut(&[Option<f32>; C])) {
        self.begin(self.state().map_or(0, <[u8]>::len));
        loop {
            let end = self.used + 4 * C + CHECK_BYTES;
            let Some(place) = self.rows.get(self.used..end) else { return };
            let (words, check) = place.split_at_checked(4 * C).unwrap_or_default();
            let sum = checksum(self.sum, words);
            if !sum.to_le_bytes().starts_with(check) {
                return;
            }
            let mut row = [None; C];
            let (words, _) = words.as_chunks::<4>();
            for (value, bytes) in row.iter_mut().zip(words) {
                *value = Some(f32::from_le_bytes(*bytes)).filter(|value| !value.is_nan());
            }
            process(&row);
            (self.sum, self.used) = (sum, end);
        }
    }

    /// Drops the state.
    pub fn forget(&mut self) {
        self.header.fill(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    const SAVED: usize = 24;
    const ROWS: usize = 5;

    fn memory() -> [u8; memory_bytes(SAVED, ROWS, 2)] {
        [0xA5; memory_bytes(SAVED, ROWS, 2)]
    }

    fn write(retained: &mut Retained<'_>, bytes: &[u8]) {
        let written = retained.replace(|room| {
            room[..bytes.len()].copy_from_slice(bytes);
            Ok(bytes.len())
        });
        assert_eq!(written, Ok(()));
    }

    type Row = [Option<f32>; 2];

    fn rows(memory: &mut [u8]) -> Vec<Row> {
        let mut found = Vec::new();
        Retained::new(memory, SAVED).replay(|row| found.push(*row));
        found
    }

    #[test]
    fn holds_what_was_written_until_forgotten() {
        let mut memory = memory();
        let mut retained = Retained::new(&mut memory, SAVED);
        assert_eq!(retained.state(), None);
        write(&mut retained, b"abcdef");
        let after_reset = Retained::new(&mut memory, SAVED);
        assert_eq!(after_reset.state(), Some(&b"abcdef"[..]));
        let mut retained = Retained::new(&mut memory, SAVED);
        retained.forget();
        assert_eq!(retained.state(), None);
    }

    #[test]
    fn rows_come_back_in_order_and_more_follow() {
        let mut memory = memory();
        let mut retained = Retained::new(&mut memory, SAVED);
        write(&mut retained, b"abcdef");
        let expected: Vec<Row> =
            (0..5_u8).map(|n| [Some(f32::from(n)), (n != 2).then_some(-0.5)]).collect();
        for (number, row) in expected.iter().enumerate() {
            assert!(retained.append(row));
            // Each time as after a reset.
            assert_eq!(rows(&mut memory), expected[..=number]);
            retained = Retained::new(&mut memory, SAVED);
            retained.replay::<2>(|_| {});
        }
        assert!(!retained.append(&[Some(9.0); 2]), "there is room for five");
        write(&mut retained, b"ghijkl");
        assert_eq!(rows(&mut memory), [[None; 2]; 0], "those of the state before");
    }

    /// A reset in the midst of any byte.
    #[test]
    fn a_torn_row_and_all_behind_it_are_left_out() {
        let mut whole = memory();
        let mut retained = Retained::new(&mut whole, SAVED);
        write(&mut retained, b"abcdef");
        for number in 0..3_u8 {
            assert!(retained.append(&[Some(f32::from(number) + 0.1), Some(3.5)]));
        }
        let first = HEADER_BYTES + SAVED;
        for byte in first..first + 30 {
            let mut torn = whole;
            torn[byte] ^= 0x10;
            assert_eq!(rows(&mut torn).len(), (byte - first) / 10, "byte {byte}");
        }
    }

    #[test]
    fn refuses_lengths_beyond_its_room() {
        let mut memory = [0; 16];
        let mut retained = Retained::new(&mut memory, 8);
        let too_long = Fault::new(Device::Detector, FaultKind::TooLong);
        assert_eq!(retained.replace(|_| Ok(9)), Err(too_long));
        assert_eq!(retained.state(), None);
        memory[..4].copy_from_slice(&MAGIC);
        memory[4..8].copy_from_slice(&u32::MAX.to_le_bytes());
        assert_eq!(Retained::new(&mut memory, 8).state(), None);
        assert_eq!(Retained::new(&mut [0; 3], 8).state(), None);
        assert_eq!(Retained::new(&mut [0; 12], 8).state(), None);
    }
}
