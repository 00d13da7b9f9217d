//! Bytes from the serial line, between the interrupt that takes them in and the app.

use core::sync::atomic::{AtomicU8, AtomicU16, Ordering};

/// Room for the longest command, and for what comes behind it while a page of the EEPROM is written.
pub const INBOX_BYTES: usize = 128;

/// A queue of up to [`INBOX_BYTES`] bytes with one writer, an interrupt, and one reader, the app. So no byte
/// is lost while a row is processed or a page is written. Loads and stores only: the smallest processors
/// have no other atomic instructions.
#[derive(Debug)]
pub struct Inbox {
    bytes: [AtomicU8; INBOX_BYTES],
    /// Bytes put in and taken out so far, modulo 2¹⁶, which is a multiple of the room.
    put: AtomicU16,
    taken: AtomicU16,
}

impl Inbox {
    /// An empty one.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            bytes: [const { AtomicU8::new(0) }; INBOX_BYTES],
            put: AtomicU16::new(0),
            taken: AtomicU16::new(0),
        }
    }

    fn place(&self, count: u16) -> Option<&AtomicU8> {
        self.bytes.get(usize::from(count) % INBOX_BYTES)
    }

    /// Puts a byte in: for the interrupt alone. If there is no room it is dropped, and the checksum of its
    /// frame tells.
    pub fn put(&self, byte: u8) {
        let count = self.put.load(Ordering::Relaxed);
        let waiting = count.wrapping_sub(self.taken.load(Ordering::Acquire));
        if usize::from(waiting) < INBOX_BYTES
            && let Some(place) = self.place(count)
        {
            place.store(byte, Ordering::Relaxed);
            // The byte is there before it is counted.
            self.put.store(count.wrapping_add(1), Ordering::Release);
        }
    }

    /// Takes the oldest byte out: for the app alone.
    pub fn take(&self) -> Option<u8> {
        let count = self.taken.load(Ordering::Relaxed);
        if count == self.put.load(Ordering::Acquire) {
            return None;
        }
        let byte = self.place(count)?.load(Ordering::Relaxed);
        self.taken.store(count.wrapping_add(1), Ordering::Release);
        Some(byte)
    }
}

impl Default for Inbox {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame;
    use crate::message::MAX_COMMAND;
    use std::collections::VecDeque;

    // A whole command fits, encoded and with both zeros, and half of another.
    const _: () = assert!(INBOX_BYTES * 2 > 3 * (frame::raw_bytes(MAX_COMMAND) + 3));

    #[test]
    fn bytes_come_out_in_order_and_only_what_has_no_room_is_lost() {
        let (inbox, mut model) = (Inbox::new(), VecDeque::new());
        let mut noise = crate::testing::Noise::new(9);
        let (mut full, mut empty) = (0, 0);
        // More than twice the range of the counts.
        for _ in 0..200_000 {
            // By turns it fills and empties.
            if noise.below(3) > usize::from(model.len() > INBOX_BYTES / 2) {
                let byte = noise.byte();
                inbox.put(byte);
                if model.len() < INBOX_BYTES {
                    model.push_back(byte);
                } else {
                    full += 1;
                }
            } else {
                empty += u32::from(model.is_empty());
                assert_eq!(inbox.take(), model.pop_front());
            }
            if noise.below(1000) == 0 {
                let burst = if noise.below(2) == 0 { 0 } else { INBOX_BYTES };
                while model.len() > burst {
                    assert_eq!(inbox.take(), model.pop_front());
                }
                while model.len() < burst {
                    inbox.put(7);
                    model.push_back(7);
                }
            }
        }
        assert!(full > 100 && empty > 10, "{full} {empty}");
    }

    /// Two threads, as an interrupt and the app are.
    #[test]
    fn a_writer_and_a_reader_at_once_lose_nothing() {
        let inbox = Inbox::new();
        let total = 20_000_u32;
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for number in 0..total {
                    while inbox
                        .put
                        .load(Ordering::Relaxed)
                        .wrapping_sub(inbox.taken.load(Ordering::Relaxed))
                        >= u16::try_from(INBOX_BYTES).unwrap()
                    {
                        std::thread::yield_now();
                    }
                    inbox.put(number.to_le_bytes()[0]);
                }
            });
            for number in 0..total {
                let byte = loop {
                    match inbox.take() {
                        Some(byte) => break byte,
                        None => std::thread::yield_now(),
                    }
                };
                assert_eq!(byte, number.to_le_bytes()[0]);
            }
        });
    }
}
