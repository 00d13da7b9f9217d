//! Seals: who holds the key may command the board, and only the board itself has saved what it loads.
//!
//! A seal is the first 16 bytes of HMAC-SHA-256 under the board's key. The first byte of what is sealed
//! says for what: 1 is a command, 2 is a saved state, so that one is never taken for the other. They are
//! compared in constant time.
//!
//! The compression function and the comparison are those of the crates `sha2` and `subtle`. What is around them, padding and
//! the two hashes of HMAC, is written here: in their `hmac`, panics remain when optimised for size. The
//! tests compare with it.

use sha2::compress256;
use subtle::ConstantTimeEq;

use crate::frame::Call;

/// Length of a key, in bytes.
pub const KEY_BYTES: usize = 32;

/// Length of a seal, in bytes.
pub const SEAL_BYTES: usize = 16;

/// Bytes that a sealed command has behind its payload: a counter and the seal.
pub const TRAILER_BYTES: usize = 4 + SEAL_BYTES;

/// Bit of the kind of a frame whose command is sealed.
pub const SEALED: u8 = 0x40;

const COMMAND: u8 = 1;
const STATE: u8 = 2;

/// A board's key.
#[derive(Clone)]
pub struct Key([u8; KEY_BYTES]);

impl core::fmt::Debug for Key {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("Key")
    }
}

impl Key {
    /// A key of these bytes, drawn at random.
    #[must_use]
    pub const fn new(bytes: [u8; KEY_BYTES]) -> Self {
        Self(bytes)
    }

    /// A key of 64 hexadecimal digits; `None` for any other text.
    #[must_use]
    pub const fn from_hex(text: &str) -> Option<Self> {
        let (pairs, rest) = text.as_bytes().as_chunks::<2>();
        let mut bytes = [0; KEY_BYTES];
        if pairs.len() != KEY_BYTES || !rest.is_empty() {
            return None;
        }
        let mut at = 0;
        // In a `const fn` there are neither iterators nor closures.
        while at < KEY_BYTES {
            let [high, low] = pairs[at];
            let (Some(high), Some(low)) = (digit(high), digit(low)) else { return None };
            bytes[at] = high << 4 | low;
            at += 1;
        }
        Some(Self(bytes))
    }

    /// The key of a build: that of the environment variable `FASTMMD_KEY`, as its text is given here.
    ///
    /// # Panics
    /// While compiling, if it is not a key.
    #[must_use]
    pub const fn of_build(text: Option<&str>) -> Option<Self> {
        match text {
            None => None,
            Some(text) => match Self::from_hex(text) {
                None => panic!("FASTMMD_KEY is not a key of 64 hexadecimal digits"),
                key => key,
            },
        }
    }

    fn begin(&self, purpose: u8) -> Sealing {
        let mut sealing = Sealing { inner: self.hash(0x36), outer: self.hash(0x5C) };
        sealing.update(&[purpose]);
        sealing
    }

    /// A hash that has taken the key, filled up to a block and masked.
    fn hash(&self, mask: u8) -> Hash {
        let mut hash = Hash::new();
        hash.update(&self.0.map(|byte| byte ^ mask));
        hash.update(&[mask; BLOCK_BYTES - KEY_BYTES]);
        hash
    }

    /// Begins the seal of a saved state, whose bytes follow.
    #[must_use]
    pub fn state(&self) -> Sealing {
        self.begin(STATE)
    }

    /// The seal of a command: of the board's nonce, then session, tag, kind and counter of the command, and
    /// its payload.
    #[must_use]
    pub fn command(&self, nonce: u64, sealed: &Sealed<'_>) -> Sealing {
        let mut sealing = self.begin(COMMAND);
        sealing.update(&nonce.to_le_bytes());
        sealing.update(&sealed.call.session.to_le_bytes());
        sealing.update(&[sealed.call.tag, sealed.kind]);
        sealing.update(&sealed.counter.to_le_bytes());
        sealing.update(sealed.payload);
        sealing
    }
}

/// The first 8 bytes of SHA-256 of both parts, one after the other, as a little-endian number.
#[must_use]
pub fn digest(first: &[u8], second: &[u8]) -> u64 {
    let mut hash = Hash::new();
    hash.update(first);
    hash.update(second);
    let [high, low, ..] = hash.finish().map(u32::swap_bytes);
    u64::from(high) | u64::from(low) << 32
}

/// What is sealed of a command.
#[derive(Debug, Clone, Copy)]
pub struct Sealed<'a> {
    /// Session and tag.
    pub call: Call,
    /// Its kind, without [`SEALED`].
    pub kind: u8,
    /// Greater than that of all sealed commands before it.
    pub counter: u32,
    /// The payload of the command itself.
    pub payload: &'a [u8],
}

/// A seal that is being made.
#[derive(Debug, Clone)]
pub struct Sealing {
    inner: Hash,
    outer: Hash,
}

impl Sealing {
    /// Takes the next bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        self.inner.update(bytes);
    }

    /// The seal.
    #[must_use]
    #[inline(never)]
    pub fn finish(self) -> [u8; SEAL_BYTES] {
        let Self { inner, mut outer } = self;
        for word in inner.finish() {
            outer.update(&word.to_be_bytes());
        }
        let mut seal = [0; SEAL_BYTES];
        let words = outer.finish().into_iter().flat_map(u32::to_be_bytes);
        for (slot, byte) in seal.iter_mut().zip(words) {
            *slot = byte;
        }
        seal
    }

    /// Whether this is the seal; takes the same time for any.
    #[must_use]
    pub fn is(self, seal: &[u8; SEAL_BYTES]) -> bool {
        self.finish().ct_eq(seal).into()
    }
}

const BLOCK_BYTES: usize = 64;

/// SHA-256 of what it has taken.
#[derive(Debug, Clone)]
struct Hash {
    words: [u32; 8],
    block: [u8; BLOCK_BYTES],
    /// Bytes taken.
    length: u32,
}

impl Hash {
    const fn new() -> Self {
        // The standard's: the fractional parts of the square roots of the first eight primes.
        let words = [
            0x6A09_E667,
            0xBB67_AE85,
            0x3C6E_F372,
            0xA54F_F53A,
            0x510E_527F,
            0x9B05_688C,
            0x1F83_D9AB,
            0x5BE0_CD19,
        ];
        Self { words, block: [0; BLOCK_BYTES], length: 0 }
    }

    // Not inlined: called in several places.
    #[inline(never)]
    fn update(&mut self, bytes: &[u8]) {
        for byte in bytes {
            let at = self.length as usize % BLOCK_BYTES;
            if let Some(slot) = self.block.get_mut(at) {
                *slot = *byte;
            }
            // States and commands are far shorter than 2³² bytes.
            self.length = self.length.wrapping_add(1);
            if at == BLOCK_BYTES - 1 {
                self.compress();
            }
        }
    }

    #[inline(never)]
    fn compress(&mut self) {
        compress256(&mut self.words, &[self.block.into()]);
    }

    /// The hash: after a bit of one, zeros up to the end of a block, and there the length in bits.
    fn finish(mut self) -> [u32; 8] {
        let bits = u64::from(self.length) * 8;
        self.update(&[0x80]);
        while self.length as usize % BLOCK_BYTES != BLOCK_BYTES - 8 {
            self.update(&[0]);
        }
        self.update(&bits.to_be_bytes());
        self.words
    }
}

const fn digit(text: u8) -> Option<u8> {
    match text {
        b'0'..=b'9' => Some(text - b'0'),
        b'a'..=b'f' => Some(text - b'a' + 10),
        b'A'..=b'F' => Some(text - b'A' + 10),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key() -> Key {
        let text = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1F";
        Key::from_hex(text).unwrap()
    }

    #[test]
    fn keys_are_64_hexadecimal_digits() {
        let Key(bytes) = key();
        assert!(bytes.iter().zip(0..).all(|(byte, number)| *byte == number));
        let digits = "0".repeat(63);
        for wrong in [digits.clone(), digits.clone() + "g", digits.clone() + "00", "é".repeat(32)]
        {
            assert!(Key::from_hex(&wrong).is_none(), "{wrong}");
        }
        assert!(Key::of_build(None).is_none() && Key::of_build(Some(&(digits + "1"))).is_some());
    }

    /// Made by Python's `hmac`: of the text, under the key 00 01 … 1f.
    #[test]
    fn seals_are_those_of_another_implementation() {
        let mut sealing = key().state();
        sealing.update(b"a saved ");
        sealing.update(b"state");
        let expected = STATE_SEAL;
        assert!(sealing.clone().is(&expected));
        assert_eq!(sealing.clone().finish(), expected);
        for bit in 0..128 {
            let mut altered = expected;
            altered[bit / 8] ^= 1 << (bit % 8);
            assert!(!sealing.clone().is(&altered), "bit {bit}");
        }
    }

    const STATE_SEAL: [u8; SEAL_BYTES] = [
        0x1c, 0x73, 0x56, 0x77, 0x90, 0xb3, 0x9e, 0x3b, 0xbf, 0x09, 0x78, 0x01, 0xd4, 0xfc, 0x66,
        0xd0,
    ];

    /// All lengths around the ends of blocks.
    #[test]
    fn seals_are_those_of_the_hmac_crate() {
        use hmac::Mac;
        let text: std::vec::Vec<u8> = (0..300_u16).map(|it| it.to_le_bytes()[0] ^ 0x5A).collect();
        for length in 0..text.len() {
            let mut theirs = hmac::Hmac::<sha2::Sha256>::new_from_slice(&key().0).unwrap();
            theirs.update(&[STATE]);
            theirs.update(&text[..length]);
            let mut ours = key().state();
            let (first, rest) = text[..length].split_at(length / 3);
            ours.update(first);
            ours.update(rest);
            assert_eq!(ours.finish(), theirs.finalize().into_bytes()[..SEAL_BYTES], "{length}");
        }
    }

    /// The standard's example for the text `abc`.
    #[test]
    fn a_digest_is_the_front_of_the_hash() {
        assert_eq!(
            digest(b"a", b"bc").to_le_bytes(),
            [0xBA, 0x78, 0x16, 0xBF, 0x8F, 0x01, 0xCF, 0xEA]
        );
    }

    #[test]
    fn every_part_of_a_command_is_sealed() {
        let call = Call { session: 0x0403_0201, tag: 7 };
        let sealed = Sealed { call, kind: 3, counter: 9, payload: b"xy" };
        let seal = key().command(5, &sealed).finish();
        let other = Call { session: 0x0403_0202, tag: 7 };
        let later = Call { tag: 8, ..call };
        let altered = [
            (6, sealed),
            (5, Sealed { call: other, ..sealed }),
            (5, Sealed { call: later, ..sealed }),
            (5, Sealed { kind: 4, ..sealed }),
            (5, Sealed { counter: 10, ..sealed }),
            (5, Sealed { payload: b"xz", ..sealed }),
            (5, Sealed { payload: b"x", ..sealed }),
        ];
        assert!(key().command(5, &sealed).is(&seal));
        for (nonce, sealed) in altered {
            assert!(!key().command(nonce, &sealed).is(&seal), "{sealed:?}");
        }
        assert!(!Key::new([1; 32]).command(5, &sealed).is(&seal));
    }
}
