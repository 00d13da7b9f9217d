//! Splitting of byte slices without panics at every optimisation level. With the standard library's
//! `chunks` and `split_last_chunk`, panics remain when optimised for size.

use crate::CHECKSUM;

/// The bytes before the CRC-32 at the end (little-endian), if it matches them.
pub(crate) fn checked(bytes: &[u8]) -> Result<&[u8], NotWhole> {
    let length = bytes.len().checked_sub(4).ok_or(NotWhole::Short)?;
    let (content, checksum) = bytes.split_at_checked(length).ok_or(NotWhole::Short)?;
    if CHECKSUM.checksum(content).to_le_bytes() == *checksum {
        Ok(content)
    } else {
        Err(NotWhole::Altered)
    }
}

/// Why bytes failed the check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NotWhole {
    /// Shorter than a checksum.
    Short,
    /// The checksum does not match.
    Altered,
}

/// Pieces of `N` bytes in order; the last may be shorter.
pub(crate) fn pieces<const N: usize>(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = bytes;
    core::iter::from_fn(move || {
        let (piece, more) = rest.split_at_checked(rest.len().min(N))?;
        rest = more;
        (!piece.is_empty()).then_some(piece)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    #[test]
    fn pieces_are_the_whole() {
        let bytes: Vec<u8> = (0..200).collect();
        for length in [0, 1, 63, 64, 65, 128, 200] {
            let ours: Vec<_> = pieces::<64>(&bytes[..length]).collect();
            let theirs: Vec<_> = bytes[..length].chunks(64).collect();
            assert_eq!(ours, theirs);
        }
    }

    #[test]
    fn only_whole_bytes_pass() {
        let mut bytes = b"content".to_vec();
        bytes.extend(CHECKSUM.checksum(&bytes).to_le_bytes());
        assert_eq!(checked(&bytes), Ok(&b"content"[..]));
        bytes[3] ^= 1;
        assert_eq!(checked(&bytes), Err(NotWhole::Altered));
        assert_eq!(checked(&bytes[..3]), Err(NotWhole::Short));
    }
}
