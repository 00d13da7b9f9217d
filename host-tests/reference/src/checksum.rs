//! CRC-32 (ISO-HDLC, as in Ethernet and zip) by table, independent of the core's.

/// The remainders of all bytes, for the reflected polynomial 0xEDB88320.
const TABLE: [u32; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut remainder = byte;
        let mut bit = 0;
        while bit < 8 {
            let carry = remainder & 1;
            remainder = (remainder >> 1) ^ (carry * 0xedb8_8320);
            bit += 1;
        }
        table[byte as usize] = remainder;
        byte += 1;
    }
    table
};

/// CRC-32 of `bytes`. O(n).
#[must_use]
pub fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |crc, byte| {
        let [low, ..] = crc.to_le_bytes();
        (crc >> 8) ^ TABLE[usize::from(low ^ byte)]
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn check_value_of_the_catalogue() {
        assert_eq!(super::crc32(b"123456789"), 0xcbf4_3926);
    }
}
