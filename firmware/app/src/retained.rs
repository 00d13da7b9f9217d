//! A copy of the state in RAM that survives a reset, and the rows since.
//!
//! ```text
//! allowance │ mark, length │ state, as the detector saves it │ row, check │ row, check │ …
//! ```
//!
//! or, where there is RAM for it,
//!
//! ```text
//! allowance │ mark, length │ state │ mark, length │ state │ row, check │ …
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
//! milliseconds once in as many rows as there is room for, leaves neither. Then the EEPROM's is taken. A board
//! without one would learn anew, and has memory [for two](memory_bytes_for_two), which are written in turn: the
//! last one and its rows are valid until the next is complete.

use core::sync::atomic::{Ordering, compiler_fence};

use crate::fault::{Device, Fault, FaultKind};
use crate::sensor::nearest;

const MAGIC: [u8; 4] = *b"KEEP";

/// Instead, of a state that must not be written over what the EEPROM may hold. Another one in a single byte: a
/// reset in the midst of changing the one into the other leaves one of them.
const HELD_MAGIC: [u8; 4] = *b"KEEH";

const ALLOWANCE_BYTES: usize = 4;

/// A mark and the length.
const MARK_BYTES: usize = 8;

/// Bytes before the state: the allowance, a mark and the length.
pub const HEADER_BYTES: usize = ALLOWANCE_BYTES + MARK_BYTES;

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

/// The same with two states, of which one is valid while the other is written.
#[must_use]
pub const fn memory_bytes_for_two(saved: usize, rows: usize, channels: usize) -> usize {
    MARK_BYTES + saved + memory_bytes(saved, rows, channels)
}

/// Writes these bytes in order, and after all that was written before: a reset leaves the first ones.
pub(crate) fn put(slots: &mut [u8], bytes: impl IntoIterator<Item = u8>) {
    for (slot, byte) in slots.iter_mut().zip(bytes) {
        #[cfg(test)]
        crate::testing::may_reset();
        compiler_fence(Ordering::SeqCst);
        *slot = byte;
    }
    compiler_fence(Ordering::SeqCst);
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

/// The bytes of the state in a place, mark and length and then room, if it is marked.
fn state_in(place: &[u8]) -> Option<&[u8]> {
    let (magic, rest) = place.split_first_chunk::<4>()?;
    let (length, room) = rest.split_first_chunk()?;
    let length = usize::try_from(u32::from_le_bytes(*length)).ok()?;
    if *magic != MAGIC && *magic != HELD_MAGIC {
        return None;
    }
    room.get(..length)
}

fn mark(place: &mut [u8], held: bool) {
    put(place, if held { HELD_MAGIC } else { MAGIC });
}

fn forget(place: &mut [u8]) {
    put(place, [0; MARK_BYTES]);
}

/// Where the state is in a place.
fn room_in(place: &mut [u8]) -> &mut [u8] {
    place.get_mut(MARK_BYTES..).unwrap_or_default()
}

/// RAM that the start-up code does not initialise, with a short header, the detector's state and the
/// rows since.
///
/// The header only locates the state; the state's own checksum tells whether it is complete.
#[derive(Debug)]
pub struct Retained<'a> {
    allowance: &'a mut [u8],
    /// A place for a state, or two. If there are two, one holds the state that the rows follow, and the next is
    /// written to the other, which is marked only between the completion of that and the end of the one before,
    /// which with its rows says the same.
    places: &'a mut [u8],
    /// Bytes of a place.
    length: usize,
    rows: &'a mut [u8],
    /// Bytes of `rows` in use.
    used: usize,
    /// Checksum of the state and the rows in use.
    sum: u32,
    /// Whether the state is in the second place.
    second: bool,
    /// Whether states are marked as held.
    held: bool,
}

impl<'a> Retained<'a> {
    /// Uses `memory` with any content: room for a state of `saved` bytes, for another one if that fits, and the
    /// rest for rows. If it is too short, it never holds a state.
    #[must_use]
    pub fn new(memory: &'a mut [u8], saved: usize) -> Self {
        let (allowance, rest) = memory.split_at_mut_checked(ALLOWANCE_BYTES).unwrap_or_default();
        let length = MARK_BYTES + saved;
        let two = if rest.len() >= 2 * length { 2 * length } else { length };
        let (places, rows) = rest.split_at_mut_checked(two).unwrap_or_default();
        let (used, sum, second, held) = (0, 0, false, false);
        let mut retained = Self { allowance, places, length, rows, used, sum, second, held };
        retained.second = retained.has_two() && retained.state().is_none();
        retained.held = retained.place(retained.second).starts_with(&HELD_MAGIC);
        retained
    }

    fn has_two(&self) -> bool {
        self.places.len() > self.length
    }

    fn place(&self, second: bool) -> &[u8] {
        let start = if second { self.length } else { 0 };
        self.places.get(start..).and_then(|rest| rest.get(..self.length)).unwrap_or_default()
    }

    fn place_mut(&mut self, second: bool) -> &mut [u8] {
        let start = if second { self.length } else { 0 };
        let rest = self.places.get_mut(start..).unwrap_or_default();
        rest.get_mut(..self.length).unwrap_or_default()
    }

    /// Gives up the state that is here for the other one; returns whether there is one.
    pub fn fall_back(&mut self) -> bool {
        forget(self.place_mut(self.second));
        self.second = self.has_two() && !self.second;
        self.state().is_some()
    }

    /// How many more commands may wear the EEPROM, if that was kept before a reset.
    #[must_use]
    pub fn allowance(&self) -> Option<u8> {
        let left = *self.allowance.first()?;
        self.allowance.iter().eq(&allowance_bytes(left)).then_some(left)
    }

    /// Keeps that number.
    pub fn set_allowance(&mut self, left: u8) {
        put(self.allowance, allowance_bytes(left));
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
            mark(self.place_mut(self.second), held);
        }
    }

    /// The bytes of the state, if there is one; without the rows since.
    #[must_use]
    pub fn state(&self) -> Option<&[u8]> {
        state_in(self.place(self.second))
    }

    /// Where the next state is to be written. The last one is forgotten, if there is no other place.
    fn next(&mut self) -> &mut [u8] {
        let next = self.place_mut(self.has_two() && !self.second);
        forget(next);
        next
    }

    /// The place of the next state, to fill it piece by piece. That becomes the state by
    /// [`replace`](Self::replace) only; until then there is none, or with memory for two the last one.
    pub fn room(&mut self) -> &mut [u8] {
        room_in(self.next())
    }

    /// Replaces the state: `write` fills the buffer and returns the length. There are no rows then.
    ///
    /// # Errors
    /// Those of `write`, or [`FaultKind::TooLong`] for a length beyond the buffer. It then holds no
    /// state any more, or with memory for two the last one and its rows.
    pub fn replace(
        &mut self,
        write: impl FnOnce(&mut [u8]) -> Result<usize, Fault>,
    ) -> Result<(), Fault> {
        let held = self.held;
        let place = self.next();
        let room = room_in(place);
        let length = write(room)?;
        let short = u32::try_from(length).ok().filter(|_| length <= room.len());
        let short = short.ok_or(Fault::new(Device::Detector, FaultKind::TooLong))?;
        put(place.get_mut(MAGIC.len()..).unwrap_or_default(), short.to_le_bytes());
        mark(place, held);
        if self.has_two() {
            // From here on the new one alone is valid.
            forget(self.place_mut(self.second));
            self.second = !self.second;
        }
        self.begin(length);
        Ok(())
    }

    /// Begins the list of rows after a state of this length.
    fn begin(&mut self, length: usize) {
        let room = self.place(self.second).get(MARK_BYTES..).unwrap_or_default();
        let state = room.get(..length).unwrap_or_default();
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
        if self.has_two() {
            // Which of two it is has been chosen.
            forget(self.place_mut(!self.second));
        }
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
        self.next();
        forget(self.place_mut(self.second));
    }
}

#[cfg(test)]
mod tests;
