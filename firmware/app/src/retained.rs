//! A copy of the state in RAM that survives a reset, and the rows since.
//!
//! ```text
//! allowance │ mark, length │ state, as the detector saves it │ row, check │ row, check │ …
//! ```
//!
//! To save the state costs several times as much as to process a row. So it is saved only when the
//! room behind it is full of rows; after a reset, the rows are processed again, which gives the same
//! state bit for bit.
//!
//! Rows that were lost stand between them as their number, so that the detector is told of them again.
//!
//! A reading that is a whole number of the sensor's [steps](crate::Sensor::STEPS) takes two bytes. If
//! another one is in a row, all of it takes four each.
//!
//! The check of a row depends on the state and on all rows before it, so rows of an earlier state, or
//! one that was being written when the reset came, do not match: what follows them is not taken. By
//! chance, one in 21,845 does.
//!
//! The mark also says whether the EEPROM is [held](Retained::is_held), and the allowance how many more
//! commands may wear it: a reset must not make either be forgotten.
//!
//! The same RAM is the buffer between the detector and the EEPROM, so that the firmware needs memory
//! for one copy of the state, not two. The price: a reset while a state is written over the one before, some
//! milliseconds once in as many rows as there is room for, leaves neither. Then the EEPROM's is taken; a board
//! without one learns anew.

use crate::fault::{Device, Fault, FaultKind};
use crate::sensor::nearest;

const MAGIC: [u8; 4] = *b"KEEP";

/// Instead, of a state that must not be written over what the EEPROM may hold.
const HELD_MAGIC: [u8; 4] = *b"HOLD";

const ALLOWANCE_BYTES: usize = 4;

/// Bytes before the state: the allowance, a mark and the length.
pub const HEADER_BYTES: usize = ALLOWANCE_BYTES + 8;

/// The allowance as it is kept. What the RAM holds by chance is none.
const fn allowance_bytes(left: u8) -> [u8; ALLOWANCE_BYTES] {
    [left, !left, left ^ 0x5A, left ^ 0xC3]
}

const CHECK_BYTES: usize = 2;

/// Stands for a reading that is missing; detectors take no such number.
const MISSING: f32 = f32::NAN;

/// The same for one in steps.
const MISSING_STEPS: i16 = i16::MIN;

/// The checks of rows in steps begin with another number than those of others.
const IN_STEPS: u32 = 0x5354_4550;

/// Those of lost rows with yet another.
const LOST: u32 = 0x4C4F_5354;

/// Bytes that a number of lost rows takes.
const LOST_BYTES: usize = 4 + CHECK_BYTES;

/// What is kept since the state.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Kept<const C: usize> {
    /// A row.
    Row([Option<f32>; C]),
    /// So many rows that never were one.
    Lost(u32),
}

/// Bytes of memory for a state of `saved` bytes and up to `rows` rows of `channels` channels, in the
/// sensor's steps; of others there is room for about half as many.
#[must_use]
pub const fn memory_bytes(saved: usize, rows: usize, channels: usize) -> usize {
    HEADER_BYTES + saved + rows * (2 * channels + CHECK_BYTES)
}

/// A reading as a number of steps, if it is one exactly.
fn in_steps(reading: Option<f32>, step: f32) -> Option<i16> {
    let Some(reading) = reading else { return Some(MISSING_STEPS) };
    let steps = nearest(reading / step)?;
    let same = (f32::from(steps) * step).to_bits() == reading.to_bits();
    (same && steps != MISSING_STEPS).then_some(steps)
}

/// A number that depends on all bits of both, cheaper than a CRC. The upper half of the product is the
/// better one, and the check is the lower half of the last number.
#[inline(always)]
const fn mixed(sum: u32, word: u32) -> u32 {
    (sum ^ word).wrapping_mul(0x9E37_79B1).rotate_left(16)
}

/// The check of a row.
#[inline(always)]
const fn check(sum: u32) -> [u8; CHECK_BYTES] {
    let [low, high, ..] = sum.to_le_bytes();
    [low, high]
}

/// RAM that the start-up code does not initialise, with a short header, the detector's state and the
/// rows since.
///
/// The header only locates the state; the state's own checksum tells whether it is complete.
#[derive(Debug)]
pub struct Retained<'a> {
    allowance: &'a mut [u8],
    header: &'a mut [u8],
    room: &'a mut [u8],
    rows: &'a mut [u8],
    /// Bytes of `rows` in use.
    used: usize,
    /// Checksum of the state and the rows in use.
    sum: u32,
    /// Whether states are marked as held.
    held: bool,
}

impl<'a> Retained<'a> {
    /// Uses `memory` with any content: room for a state of `saved` bytes, and the rest for rows. If it
    /// is too short, it never holds a state.
    #[must_use]
    pub fn new(memory: &'a mut [u8], saved: usize) -> Self {
        let split = memory.split_at_mut_checked(HEADER_BYTES);
        let (header, rest) = split.unwrap_or_default();
        let (allowance, header) = header.split_at_mut_checked(ALLOWANCE_BYTES).unwrap_or_default();
        let (room, rows) = rest.split_at_mut_checked(saved).unwrap_or_default();
        let held = header.starts_with(&HELD_MAGIC);
        Self { allowance, header, room, rows, used: 0, sum: 0, held }
    }

    /// How many more commands may wear the EEPROM, if that was kept before a reset.
    #[must_use]
    pub fn allowance(&self) -> Option<u8> {
        let left = *self.allowance.first()?;
        self.allowance.iter().eq(&allowance_bytes(left)).then_some(left)
    }

    /// Keeps that number.
    pub fn set_allowance(&mut self, left: u8) {
        for (byte, new) in self.allowance.iter_mut().zip(allowance_bytes(left)) {
            *byte = new;
        }
    }

    /// Whether the state was, or will be, kept while the EEPROM may hold one that could not be read.
    #[must_use]
    pub const fn is_held(&self) -> bool {
        self.held
    }

    /// Says so of the state that is here, and of all that follow.
    pub fn set_held(&mut self, held: bool) {
        self.held = held;
        if self.state().is_some() {
            self.mark();
        }
    }

    fn mark(&mut self) {
        let magic = if self.held { HELD_MAGIC } else { MAGIC };
        for (byte, new) in self.header.iter_mut().zip(magic) {
            *byte = new;
        }
    }

    /// The bytes of the state, if the header is valid; without the rows since.
    #[must_use]
    pub fn state(&self) -> Option<&[u8]> {
        let (magic, length) = self.header.split_first_chunk::<4>()?;
        let length = usize::try_from(u32::from_le_bytes(*length.first_chunk()?)).ok()?;
        if *magic != MAGIC && *magic != HELD_MAGIC {
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
        for (byte, new) in self.header.iter_mut().skip(MAGIC.len()).zip(short.to_le_bytes()) {
            *byte = new;
        }
        self.mark();
        Ok(())
    }

    /// Begins the list of rows after a state of this length.
    fn begin(&mut self, length: usize) {
        let state = self.room.get(..length).unwrap_or_default();
        // The record's own checksum stands for it.
        self.sum = state.last_chunk().map_or(0, |sum| u32::from_le_bytes(*sum));
        self.used = 0;
    }

    /// Adds a row to those since the state; returns whether there was room. `steps` are those of
    /// [`Sensor::STEPS`](crate::Sensor::STEPS).
    #[must_use]
    pub fn append<const C: usize>(
        &mut self,
        row: &[Option<f32>; C],
        steps: Option<[f32; C]>,
    ) -> bool {
        match steps.and_then(|steps| self.append_steps(row, &steps)) {
            Some(added) => added,
            None => self.append_whole(row),
        }
    }

    /// Adds a row in steps, if all its readings are such.
    fn append_steps<const C: usize>(
        &mut self,
        row: &[Option<f32>; C],
        steps: &[f32; C],
    ) -> Option<bool> {
        let end = self.used + 2 * C + CHECK_BYTES;
        // If there is no room, there is none for a longer row.
        let Some(place) = self.rows.get_mut(self.used..end) else { return Some(false) };
        let mut sum = self.sum ^ IN_STEPS;
        for ((word, reading), step) in place.as_chunks_mut().0.iter_mut().zip(row).zip(steps) {
            *word = in_steps(*reading, *step)?.to_le_bytes();
            sum = mixed(sum, u32::from(u16::from_le_bytes(*word)));
        }
        // Not by `last_chunk_mut`, whose panic would remain when optimised for size.
        *place.get_mut(2 * C..)?.first_chunk_mut()? = check(sum);
        (self.sum, self.used) = (sum, end);
        Some(true)
    }

    fn append_whole<const C: usize>(&mut self, row: &[Option<f32>; C]) -> bool {
        let end = self.used + 4 * C + CHECK_BYTES;
        let Some(place) = self.rows.get_mut(self.used..end) else { return false };
        let mut sum = self.sum;
        for (word, reading) in place.as_chunks_mut().0.iter_mut().zip(row) {
            *word = reading.unwrap_or(MISSING).to_le_bytes();
            sum = mixed(sum, u32::from_le_bytes(*word));
        }
        if let Some(last) = place.get_mut(4 * C..).and_then(|last| last.first_chunk_mut()) {
            *last = check(sum);
        }
        (self.sum, self.used) = (sum, end);
        true
    }

    /// Adds a number of lost rows; returns whether there was room.
    #[must_use]
    pub fn append_lost(&mut self, rows: u32) -> bool {
        let end = self.used + LOST_BYTES;
        let Some(place) = self.rows.get_mut(self.used..end) else { return false };
        let sum = mixed(self.sum ^ LOST, rows);
        for (slot, byte) in place.iter_mut().zip(rows.to_le_bytes().into_iter().chain(check(sum))) {
            *slot = byte;
        }
        (self.sum, self.used) = (sum, end);
        true
    }

    /// Takes a number of lost rows, if its check matches.
    fn take_lost(&mut self) -> Option<u32> {
        let end = self.used + LOST_BYTES;
        let rows = u32::from_le_bytes(*self.rows.get(self.used..end)?.first_chunk()?);
        self.pass(mixed(self.sum ^ LOST, rows), end).then_some(rows)
    }

    /// Takes the next row in steps, if its check matches.
    fn take_steps<const C: usize>(&mut self, steps: &[f32; C]) -> Option<[Option<f32>; C]> {
        let end = self.used + 2 * C + CHECK_BYTES;
        let place = self.rows.get(self.used..end)?;
        let mut sum = self.sum ^ IN_STEPS;
        let mut row = [None; C];
        for ((reading, word), step) in row.iter_mut().zip(place.as_chunks().0).zip(steps) {
            sum = mixed(sum, u32::from(u16::from_le_bytes(*word)));
            let number = i16::from_le_bytes(*word);
            *reading = (number != MISSING_STEPS).then(|| f32::from(number) * step);
        }
        self.pass(sum, end).then_some(row)
    }

    /// The same for one that is not in steps.
    fn take_whole<const C: usize>(&mut self) -> Option<[Option<f32>; C]> {
        let end = self.used + 4 * C + CHECK_BYTES;
        let place = self.rows.get(self.used..end)?;
        let mut sum = self.sum;
        let mut row = [None; C];
        for (reading, word) in row.iter_mut().zip(place.as_chunks().0) {
            sum = mixed(sum, u32::from_le_bytes(*word));
            *reading = Some(f32::from_le_bytes(*word)).filter(|reading| !reading.is_nan());
        }
        self.pass(sum, end).then_some(row)
    }

    /// Counts on from a row that ends here, if its check is that of `sum`.
    fn pass(&mut self, sum: u32, end: usize) -> bool {
        let last = self.rows.get(end.saturating_sub(CHECK_BYTES)..end);
        let matches = last.is_some_and(|last| last.iter().eq(&check(sum)));
        if matches {
            (self.sum, self.used) = (sum, end);
        }
        matches
    }

    /// Passes what was kept since the state to `process`, in order, and counts on from the last. `steps`
    /// as for [`append`](Self::append).
    pub fn replay<const C: usize>(
        &mut self,
        steps: Option<[f32; C]>,
        mut process: impl FnMut(&Kept<C>),
    ) {
        self.begin(self.state().map_or(0, <[u8]>::len));
        loop {
            let in_steps = steps.and_then(|steps| self.take_steps(&steps));
            let row = in_steps.or_else(|| self.take_whole()).map(Kept::Row);
            let Some(kept) = row.or_else(|| self.take_lost().map(Kept::Lost)) else { return };
            process(&kept);
        }
    }

    /// Forgets the state.
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

    const STEPS: Option<[f32; 2]> = Some([100.0 / 1100.0, 0.5]);

    fn rows(memory: &mut [u8]) -> Vec<Row> {
        let mut found = Vec::new();
        Retained::new(memory, SAVED).replay(STEPS, |kept| match kept {
            Kept::Row(row) => found.push(*row),
            Kept::Lost(rows) => panic!("{rows} lost rows"),
        });
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

    /// Rows in steps, with a missing reading; one that is not, in their midst; and each kind alone.
    #[test]
    fn rows_come_back_in_order_and_more_follow() {
        let step = |number: i16| Some(f32::from(number) * (100.0 / 1100.0));
        let stepped: Vec<Row> =
            [4, -2000, 0, i16::MAX, -i16::MAX].map(|it| [step(it), Some(-20.5)]).to_vec();
        let mut mixed = stepped[..3].to_vec();
        mixed[0][1] = None;
        mixed[1] = [Some(0.1), Some(-0.0)];
        let others = [[Some(0.1), None], [Some(f32::MAX), Some(16_384.0)], [step(1), Some(0.25)]];
        for (expected, left) in [(&stepped[..], 0), (&mixed, 8), (&others, 0)] {
            let mut memory = memory();
            let mut retained = Retained::new(&mut memory, SAVED);
            write(&mut retained, b"abcdef");
            for (number, row) in expected.iter().enumerate() {
                assert!(retained.append(row, STEPS));
                // Each time as after a reset.
                assert_eq!(rows(&mut memory), expected[..=number]);
                retained = Retained::new(&mut memory, SAVED);
                retained.replay::<2>(STEPS, |_| {});
            }
            assert_eq!(retained.rows.len() - retained.used, left, "{expected:?}");
            while retained.append(&[step(3), Some(1.0)], STEPS) {}
            write(&mut retained, b"ghijkl");
            assert_eq!(rows(&mut memory), [[None; 2]; 0], "those of the state before");
        }
    }

    /// A reset in the midst of any byte.
    #[test]
    fn a_torn_row_and_all_behind_it_are_left_out() {
        for (value, length) in [(0.1, 10), (0.0, 6)] {
            let mut whole = memory();
            let mut retained = Retained::new(&mut whole, SAVED);
            write(&mut retained, b"abcdef");
            for number in 0..3_u8 {
                assert!(retained.append(&[Some(value), Some(f32::from(number))], STEPS));
            }
            let first = HEADER_BYTES + SAVED;
            for byte in first..first + 3 * length {
                for bit in 0..8 {
                    let mut torn = whole;
                    torn[byte] ^= 1 << bit;
                    assert_eq!(rows(&mut torn).len(), (byte - first) / length, "byte {byte}");
                }
            }
        }
    }

    /// Between rows, in order; a damaged number ends what is taken, as a damaged row does.
    #[test]
    fn lost_rows_come_back_between_the_others() {
        let (row, other) = ([Some(0.1), None], [Some(0.0), Some(2.5)]);
        let mut memory = memory();
        let mut retained = Retained::new(&mut memory, SAVED);
        write(&mut retained, b"abcdef");
        assert!(retained.append(&other, STEPS) && retained.append_lost(7));
        assert!(retained.append(&row, STEPS) && retained.append_lost(u32::MAX));
        assert!(!retained.append_lost(1), "no room");
        let expected = [Kept::Row(other), Kept::Lost(7), Kept::Row(row), Kept::Lost(u32::MAX)];
        let kept = |memory: &mut [u8]| {
            let mut kept = Vec::new();
            Retained::new(memory, SAVED).replay(STEPS, |it| kept.push(*it));
            kept
        };
        assert_eq!(kept(&mut memory), expected);
        for byte in 6..12 {
            let mut torn = memory;
            torn[HEADER_BYTES + SAVED + byte] ^= 8;
            assert_eq!(kept(&mut torn), expected[..1], "byte {byte}");
        }
    }

    /// What the RAM holds by chance is not taken for rows.
    #[test]
    fn noise_is_no_row() {
        let mut noise = crate::testing::Noise::new(1);
        let mut taken = 0;
        for _ in 0..20_000 {
            let mut memory = memory();
            memory.iter_mut().for_each(|byte| *byte = noise.byte());
            write(&mut Retained::new(&mut memory, SAVED), b"abcdef");
            Retained::new(&mut memory, SAVED).replay::<2>(STEPS, |_| taken += 1);
        }
        // Three checks of one in 65,536 each: 0.9 expected.
        assert!(taken <= 6, "{taken}");
    }

    #[test]
    fn a_hold_and_the_allowance_survive_a_reset_and_chance_makes_neither() {
        let mut noise = crate::testing::Noise::new(2);
        for _ in 0..20_000 {
            let mut memory = memory();
            memory.iter_mut().for_each(|byte| *byte = noise.byte());
            let retained = Retained::new(&mut memory, SAVED);
            assert_eq!((retained.allowance(), retained.is_held()), (None, false));
        }
        let mut memory = memory();
        for (held, left) in [(true, 0), (false, 255), (true, 8)] {
            let mut retained = Retained::new(&mut memory, SAVED);
            write(&mut retained, b"abcdef");
            retained.set_allowance(left);
            retained.set_held(held);
            let mut retained = Retained::new(&mut memory, SAVED);
            assert_eq!((retained.allowance(), retained.is_held()), (Some(left), held));
            assert_eq!(retained.state(), Some(&b"abcdef"[..]));
            write(&mut retained, b"ghijkl");
            retained.forget();
            write(&mut retained, b"ghijkl");
            let retained = Retained::new(&mut memory, SAVED);
            assert_eq!((retained.allowance(), retained.is_held()), (Some(left), held));
        }
    }

    #[test]
    fn refuses_lengths_beyond_its_room() {
        let mut memory = [0; 20];
        let mut retained = Retained::new(&mut memory, 8);
        let too_long = Fault::new(Device::Detector, FaultKind::TooLong);
        assert_eq!(retained.replace(|_| Ok(9)), Err(too_long));
        assert_eq!(retained.state(), None);
        memory[4..8].copy_from_slice(&MAGIC);
        memory[8..12].copy_from_slice(&u32::MAX.to_le_bytes());
        assert_eq!(Retained::new(&mut memory, 8).state(), None);
        assert_eq!(Retained::new(&mut [0; 3], 8).state(), None);
        assert_eq!(Retained::new(&mut [0; 12], 8).state(), None);
    }
}
