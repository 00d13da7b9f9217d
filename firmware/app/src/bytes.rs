//! Splitting of byte slices without panics at every optimisation level. With the standard library's
//! `split_last_chunk`, panics remain when optimised for size.

use fastmmd::state::checksum;

/// The bytes before the CRC-32 at the end (little-endian), if it matches them.
pub(crate) fn checked(bytes: &[u8]) -> Result<&[u8], NotWhole> {
    let length = bytes.len().checked_sub(4).ok_or(NotWhole::Short)?;
    let (content, sum) = bytes.split_at_checked(length).ok_or(NotWhole::Short)?;
    if checksum(0, content).to_le_bytes() == *sum { Ok(content) } else { Err(NotWhole::Altered) }
}

/// Why bytes failed the check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NotWhole {
    /// Shorter than a checksum.
    Short,
    /// The checksum does not match.
    Altered,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_bytes_pass() {
        let mut bytes = b"content".to_vec();
        bytes.extend(checksum(0, &bytes).to_le_bytes());
        assert_eq!(checked(&bytes), Ok(&b"content"[..]));
        bytes[3] ^= 1;
        assert_eq!(checked(&bytes), Err(NotWhole::Altered));
        assert_eq!(checked(&bytes[..3]), Err(NotWhole::Short));
    }
}
