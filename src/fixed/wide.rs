//! Wide numbers in 32 bits, for squares.

use crate::state::{plain, plain_states};

use super::number::dither;

plain! {
    /// A number of up to 55 bits in 32: its upper 24 bits, and how many are below them.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(crate) struct Wide {
        bits: u32,
    }
}
plain_states!(Wide = Wide { bits: 0 });

impl Wide {
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "shifted to 24 bits")]
    pub(super) fn of(number: u64) -> Self {
        let below = (64 - number.leading_zeros()).saturating_sub(24);
        Self { bits: ((number >> below) as u32) | (below << 24) }
    }

    #[inline]
    pub(super) fn get(self) -> u64 {
        u64::from(self.bits & 0x00ff_ffff) << ((self.bits >> 24) & 31)
    }
}

/// x·s·2⁻³² for a wide number, rounded as [`shared`](super::number::shared) does.
pub(super) fn wide_share(x: u64, share: u32) -> u64 {
    let (dither, share) = (u64::from(dither(share)) << 16, u64::from(share));
    let below = (x & 0xffff_ffff).wrapping_mul(share).wrapping_add(dither) >> 32;
    (x >> 32).wrapping_mul(share).wrapping_add(below)
}
