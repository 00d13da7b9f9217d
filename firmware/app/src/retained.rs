//! A copy of the state in RAM that survives a reset.
//!
//! The same RAM is the buffer between the detector and the EEPROM, so that the firmware needs
//! memory for one copy of the state, not two.

use crate::fault::{Device, Fault, FaultKind};

const MAGIC: [u8; 4] = *b"KEEP";

/// Bytes before the state: a mark and the length.
pub const HEADER_BYTES: usize = 8;

/// RAM that the start-up code does not initialise, with a short header and the detector's state.
///
/// The header only locates the state; the state's own checksum tells whether it is complete.
#[derive(Debug)]
pub struct Retained<'a> {
    header: &'a mut [u8],
    room: &'a mut [u8],
}

impl<'a> Retained<'a> {
    /// Uses `memory` with any content. If it is shorter than the header, it never holds a state.
    #[must_use]
    pub fn new(memory: &'a mut [u8]) -> Self {
        match memory.split_at_mut_checked(HEADER_BYTES) {
            Some((header, room)) => Self { header, room },
            None => Self { header: &mut [], room: &mut [] },
        }
    }

    /// The bytes of the state, if the header is valid.
    #[must_use]
    pub fn state(&self) -> Option<&[u8]> {
        let (magic, length) = self.header.split_first_chunk::<4>()?;
        let length = usize::try_from(u32::from_le_bytes(*length.first_chunk()?)).ok()?;
        if *magic != MAGIC {
            return None;
        }
        self.room.get(..length)
    }

    /// Replaces the state: `write` fills the buffer and returns the length.
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
        for (byte, new) in self.header.iter_mut().zip(MAGIC.iter().chain(&short.to_le_bytes())) {
            *byte = *new;
        }
        Ok(())
    }

    /// Drops the state.
    pub fn forget(&mut self) {
        self.header.fill(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holds_what_was_written_until_forgotten() {
        let mut memory = [0xA5; 40];
        let mut retained = Retained::new(&mut memory);
        assert_eq!(retained.state(), None);
        let written = retained.replace(|room| {
            room[..3].copy_from_slice(b"abc");
            Ok(3)
        });
        assert_eq!(written, Ok(()));
        let after_reset = Retained::new(&mut memory);
        assert_eq!(after_reset.state(), Some(&b"abc"[..]));
        let mut retained = Retained::new(&mut memory);
        retained.forget();
        assert_eq!(retained.state(), None);
    }

    #[test]
    fn refuses_lengths_beyond_its_room() {
        let mut memory = [0; 16];
        let mut retained = Retained::new(&mut memory);
        let too_long = Fault::new(Device::Detector, FaultKind::TooLong);
        assert_eq!(retained.replace(|_| Ok(9)), Err(too_long));
        assert_eq!(retained.state(), None);
        memory[..4].copy_from_slice(&MAGIC);
        memory[4..8].copy_from_slice(&u32::MAX.to_le_bytes());
        assert_eq!(Retained::new(&mut memory).state(), None);
        assert_eq!(Retained::new(&mut [0; 3]).state(), None);
    }
}
