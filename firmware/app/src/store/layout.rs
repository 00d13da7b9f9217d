//! What is where in the EEPROM.

use fastmmd::state::checksum;

use crate::bytes::checked;

const MAGIC: [u8; 4] = *b"FMSL";
pub(super) const LAYOUT_VERSION: u32 = 1;
/// With a seal.
#[cfg(feature = "secure")]
pub(super) const SEALED_VERSION: u32 = 2;
pub(super) const HEADER_BYTES: usize = 32;
pub(super) const PAGE_BYTES: usize = 64;
pub(super) const SLOT_PAGES: u8 = 255;
/// Header pages of a slot.
pub(super) const HEADERS: u8 = 4;
/// Spare pages of a slot.
pub(super) const SPARES: usize = 8;

#[cfg(feature = "secure")]
const KNOWN_VERSIONS: &[u32] = &[LAYOUT_VERSION, SEALED_VERSION];
#[cfg(not(feature = "secure"))]
const KNOWN_VERSIONS: &[u32] = &[LAYOUT_VERSION];

/// Longest state that fits into a slot of the 32 KiB EEPROM, in bytes.
pub const MAX_STATE_BYTES: usize = (256 - HEADERS as usize - SPARES) * PAGE_BYTES;

pub(super) type Spares = [u8; SPARES];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Slot {
    First,
    Second,
}

impl Slot {
    pub(super) const fn other(self) -> Self {
        match self {
            Self::First => Self::Second,
            Self::Second => Self::First,
        }
    }

    /// The address of a page.
    pub(super) const fn address(self, page: u8) -> u32 {
        let first = match self {
            Self::First => 0,
            Self::Second => 1 << 14,
        };
        first | (page as u32) << 6
    }
}

/// The page of a slot that holds a page of the state.
pub(super) fn page_of(spares: &Spares, page: u8) -> u8 {
    let usual = HEADERS.saturating_add(page);
    // The last one: a spare page may have been replaced by a later one.
    let mut found = usual;
    for (stands, spare) in spares.iter().zip((0..=SLOT_PAGES).rev()) {
        if *stands == usual {
            found = spare;
        }
    }
    found
}

/// The header page that a sequence number uses first.
pub(super) const fn header_page(sequence: u32) -> u8 {
    let [low, ..] = (sequence >> 1).to_le_bytes();
    low % HEADERS
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) version: u32,
    pub(super) sequence: u32,
    pub(super) length: u32,
    pub(super) checksum: u32,
    pub(super) spares: Spares,
}

impl Header {
    pub(super) fn to_bytes(self) -> [u8; HEADER_BYTES] {
        let mut bytes = [0; HEADER_BYTES];
        let fields = [self.version, self.sequence, self.length, self.checksum];
        let fields = fields.iter().flat_map(|field| field.to_le_bytes());
        let fields = MAGIC.into_iter().chain(fields).chain(self.spares);
        for (byte, new) in bytes.iter_mut().zip(fields) {
            *byte = new;
        }
        if let Some((content, sum)) = bytes.split_last_chunk_mut() {
            *sum = checksum(0, content).to_le_bytes();
        }
        bytes
    }

    pub(super) fn from_bytes(bytes: &[u8; HEADER_BYTES]) -> Option<Self> {
        let content = checked(bytes).ok()?;
        let (words, _) = content.as_chunks::<4>();
        let [magic, version, sequence, length, checksum, first, second] = *words.first_chunk()?;
        let version = u32::from_le_bytes(version);
        let known = magic == MAGIC && KNOWN_VERSIONS.contains(&version);
        let [a, b, c, d] = first;
        let [e, f, g, h] = second;
        known.then_some(Self {
            version,
            sequence: u32::from_le_bytes(sequence),
            length: u32::from_le_bytes(length),
            checksum: u32::from_le_bytes(checksum),
            spares: [a, b, c, d, e, f, g, h],
        })
    }

    /// Number of pages of its state; `None` if it is longer than a slot.
    pub(super) fn pages(&self) -> Option<u8> {
        let length =
            usize::try_from(self.length).ok().filter(|length| *length <= MAX_STATE_BYTES)?;
        u8::try_from(length.div_ceil(PAGE_BYTES)).ok()
    }
}

/// Whether sequence number `a` comes after `b`, across the wrap from 2³² − 1 to 0.
pub(super) const fn newer(a: u32, b: u32) -> bool {
    let ahead = a.wrapping_sub(b);
    ahead != 0 && ahead < 1 << 31
}
