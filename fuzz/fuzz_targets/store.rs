//! Takes arbitrary bytes for what the EEPROM holds: loading gives a state or none, and what is saved then
//! is there.

#![no_main]

use drift_app::store::{MAX_STATE_BYTES, Store};
use embedded_hal::i2c::{ErrorKind, ErrorType, I2c, Operation};
use fastmmd::state::checksum;
use libfuzzer_sys::fuzz_target;

const BYTES: usize = 32 * 1024;
const SLOT: usize = BYTES / 2;
const PAGE: usize = 64;

/// An EEPROM on a bus of its own.
struct Chip {
    content: Vec<u8>,
    pointer: usize,
}

impl ErrorType for Chip {
    type Error = ErrorKind;
}

impl I2c for Chip {
    fn transaction(&mut self, _: u8, operations: &mut [Operation<'_>]) -> Result<(), ErrorKind> {
        for operation in operations {
            match operation {
                Operation::Write([high, low, data @ ..]) => {
                    self.pointer = usize::from(u16::from_be_bytes([*high, *low])) % BYTES;
                    for byte in data {
                        self.content[self.pointer] = *byte;
                        self.pointer = (self.pointer + 1) % BYTES;
                    }
                }
                Operation::Write(_) => return Err(ErrorKind::Other),
                Operation::Read(into) => {
                    for byte in into.iter_mut() {
                        *byte = self.content[self.pointer];
                        self.pointer = (self.pointer + 1) % BYTES;
                    }
                }
            }
        }
        Ok(())
    }
}

fuzz_target!(|bytes: &[u8]| {
    let mut content = vec![0xFF; BYTES];
    // A header page and a page of the state in turn, so that short inputs reach both slots.
    for (number, piece) in bytes.chunks(PAGE).enumerate().take(16) {
        let (slot, page) = (SLOT * (number / 2 % 2), [number / 4 % 4, 4 + number / 4][number % 2]);
        let at = slot + PAGE * page;
        content[at..at + piece.len()].copy_from_slice(piece);
        if number % 2 == 0 {
            // The mark, and a checksum that fits.
            content[at..at + 4].copy_from_slice(b"FMSL");
            let sum = checksum(0, &content[at..at + 28]);
            content[at + 28..at + 32].copy_from_slice(&sum.to_le_bytes());
        }
    }
    let mut chip = Chip { content, pointer: 0 };
    let mut room = vec![0; MAX_STATE_BYTES];
    let mut store = Store::new();
    if let Ok(Some(found)) = store.load(&mut chip, &mut room) {
        assert!(found.length <= MAX_STATE_BYTES);
    }
    // Spare pages may be said to be used up: then it is refused.
    if store.save(&mut chip, b"a new state").is_ok() {
        let mut again = Store::new();
        let found = again.load(&mut chip, &mut room);
        // A forged header with a later number may stand in its way.
        if again.sequence() == store.sequence() {
            assert!(found.is_ok_and(|found| found.is_some_and(|found| found.length == 11)));
            assert_eq!(&room[..11], b"a new state");
        }
    }
});
