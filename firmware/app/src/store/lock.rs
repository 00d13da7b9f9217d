//! What keeps others from writing states: without the feature `secure`, nothing.

#[cfg(feature = "secure")]
pub(super) use keyed::Lock;
#[cfg(feature = "secure")]
pub use keyed::Ratchet;
#[cfg(not(feature = "secure"))]
pub(super) use open::Lock;

#[cfg(not(feature = "secure"))]
mod open {
    use crate::store::layout::{HEADER_BYTES, Header, LAYOUT_VERSION};

    /// States have no seal.
    #[derive(Debug, Clone, Copy)]
    pub(in crate::store) struct Lock;

    impl Lock {
        pub(in crate::store) const NONE: Self = Self;

        /// The version of the layout that is written.
        pub(in crate::store) const fn version(&self) -> u32 {
            LAYOUT_VERSION
        }

        /// The number before the first one.
        pub(in crate::store) const fn floor(&self) -> u32 {
            0
        }

        pub(in crate::store) const fn raise(&self, _: u32) {}

        /// What is written to a header page.
        pub(in crate::store) fn page(&self, header: &Header, _: &[u8]) -> [u8; HEADER_BYTES] {
            header.to_bytes()
        }
    }
}

#[cfg(feature = "secure")]
mod keyed {
    use embedded_hal::i2c::I2c;

    use crate::fault::{Fault, FaultKind};
    use crate::seal::{Key, SEAL_BYTES, Sealing};
    use crate::store::chip::{Chip, patiently, read};
    use crate::store::layout::{
        HEADER_BYTES, HEADERS, Header, LAYOUT_VERSION, SEALED_VERSION, Slot, newer,
    };

    /// A counter of the board that survives what the EEPROM does, and never goes back, such as a
    /// register with a battery: raises it to at least the number given and returns it; 0 only reads it.
    /// One that is lost reads 0.
    pub type Ratchet = fn(u32) -> u32;

    /// States are sealed with a key, and not older than a ratchet says.
    #[derive(Debug, Clone, Copy)]
    pub(in crate::store) struct Lock {
        pub(in crate::store) key: Option<&'static Key>,
        pub(in crate::store) ratchet: Option<Ratchet>,
    }

    impl Lock {
        pub(in crate::store) const NONE: Self = Self { key: None, ratchet: None };

        /// The version of the layout that is written.
        pub(in crate::store) const fn version(&self) -> u32 {
            if self.key.is_some() { SEALED_VERSION } else { LAYOUT_VERSION }
        }

        /// The number before the first one.
        pub(in crate::store) fn floor(&self) -> u32 {
            self.ratchet.map_or(0, |ratchet| ratchet(0))
        }

        pub(in crate::store) fn raise(&self, sequence: u32) {
            if let Some(ratchet) = self.ratchet {
                ratchet(sequence);
            }
        }

        /// What is written to a header page: the header, and its seal.
        #[inline(never)]
        pub(in crate::store) fn page(
            &self,
            header: &Header,
            state: &[u8],
        ) -> [u8; HEADER_BYTES + SEAL_BYTES] {
            let bytes = header.to_bytes();
            let seal = self.key.map(|key| {
                let mut sealing = begin_seal(key, &bytes);
                sealing.update(state);
                sealing.finish()
            });
            let mut page = [0; HEADER_BYTES + SEAL_BYTES];
            let bytes = bytes.into_iter().chain(seal.unwrap_or_default());
            for (slot, byte) in page.iter_mut().zip(bytes) {
                *slot = byte;
            }
            page
        }

        /// Reads a state that has to be sealed with `key`; what is wrong with it, if anything.
        #[inline(never)]
        pub(in crate::store) fn read<B: I2c>(
            &self,
            key: &Key,
            chip: &mut Chip<'_, B>,
            (slot, header): (Slot, &Header),
            room: Option<&mut [u8]>,
        ) -> Result<Option<FaultKind>, Fault> {
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
    fn begin_seal(key: &Key, header: &[u8; HEADER_BYTES]) -> Sealing {
        let mut sealing = key.state();
        sealing.update(header.get(..HEADER_BYTES - 4).unwrap_or_default());
        sealing
    }
}
