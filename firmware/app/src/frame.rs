//! Frames on a byte link that may lose, alter and insert bytes.
//!
//! A frame is `version, kind, session, tag, payload, CRC-32` (little-endian), encoded by COBS so that it
//! holds no zero byte, between zero bytes. The receiver can therefore resynchronise at any zero:
//! noise costs at most the frame it hits. The checksum accepts one wrong frame in 2³².

use fastmmd::state::checksum;

use crate::bytes::{NotWhole, checked};

/// Version of frames and messages; a frame of another version is refused.
pub const VERSION: u8 = 1;

/// Longest payload of a frame, in bytes.
pub const MAX_PAYLOAD: usize = 72;

const HEADER_BYTES: usize = 7;
const CHECKSUM_BYTES: usize = 4;
/// Longest frame, in bytes before it is encoded.
pub const MAX_RAW: usize = raw_bytes(MAX_PAYLOAD);

/// Length of a frame with a payload of so many bytes, before it is encoded.
#[must_use]
pub const fn raw_bytes(payload: usize) -> usize {
    HEADER_BYTES + payload + CHECKSUM_BYTES
}

// COBS splits runs of 254 bytes without a zero; frames are shorter, so no run is ever split.
const _: () = assert!(MAX_RAW < 254);

/// Which command a message belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Call {
    /// Drawn at random by the host each time it connects, so that its tags are not taken for those
    /// of another host, or of itself before.
    pub session: u32,
    /// Chosen by the sender of a command; two commands that follow each other have different ones.
    pub tag: u8,
}

impl Call {
    /// Of messages that the device sends unasked.
    pub const NONE: Self = Self { session: 0, tag: 0 };
}

/// A whole, checked frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Frame<'a> {
    /// What the payload means.
    pub kind: u8,
    /// Chosen by the sender of a command and repeated in the answer.
    pub call: Call,
    /// The content.
    pub payload: &'a [u8],
}

/// Why the bytes between two zeros are not a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum FrameError {
    /// Too short, too long, or not valid COBS.
    Malformed,
    /// The checksum is wrong.
    Checksum,
    /// A complete frame of another version.
    Version,
}

/// Passes the bytes of a frame to `send`, one by one. A payload beyond [`MAX_PAYLOAD`] is
/// truncated; messages are never that long.
///
/// # Errors
/// Those of `send`.
pub fn encode<E>(frame: &Frame<'_>, mut send: impl FnMut(u8) -> Result<(), E>) -> Result<(), E> {
    let mut raw = [0; MAX_RAW];
    let [a, b, c, d] = frame.call.session.to_le_bytes();
    let header = [VERSION, frame.kind, a, b, c, d, frame.call.tag];
    let content = header.iter().chain(frame.payload.iter().take(MAX_PAYLOAD));
    let mut length = 0;
    for (slot, byte) in raw.iter_mut().zip(content) {
        *slot = *byte;
        length += 1;
    }
    let sum = checksum(0, raw.get(..length).unwrap_or_default()).to_le_bytes();
    for (slot, byte) in raw.iter_mut().skip(length).zip(sum) {
        *slot = byte;
        length += 1;
    }
    // The zero before the frame ends any noise that the receiver took for the start of one.
    send(0)?;
    for run in raw.get(..length).unwrap_or_default().split(|byte| *byte == 0) {
        send(u8::try_from(run.len() + 1).unwrap_or(u8::MAX))?;
        for byte in run {
            send(*byte)?;
        }
    }
    send(0)
}

/// Finds frames in a stream of bytes, of up to `N` bytes each.
#[derive(Debug)]
pub struct Decoder<const N: usize = MAX_RAW> {
    raw: [u8; N],
    length: usize,
    /// Bytes left in the current run; at 0 the next byte is the length of a run.
    left: u8,
    started: bool,
    broken: bool,
}

impl<const N: usize> Default for Decoder<N> {
    fn default() -> Self {
        Self::new()
    }
}

impl<const N: usize> Decoder<N> {
    /// A decoder at the start of a stream.
    #[must_use]
    pub const fn new() -> Self {
        Self { raw: [0; N], length: 0, left: 0, started: false, broken: false }
    }

    /// Takes the next byte. A zero that ends a sequence of bytes gives a frame, or the reason why
    /// they are not one.
    pub fn push(&mut self, byte: u8) -> Option<Result<Frame<'_>, FrameError>> {
        if byte != 0 {
            self.take(byte);
            return None;
        }
        let (length, started) = (self.length, self.started);
        let even = !self.broken && self.left == 0;
        self.length = 0;
        self.left = 0;
        self.started = false;
        self.broken = false;
        if !started {
            return None;
        }
        Some(match self.raw.get(..length) {
            Some(raw) if even => check(raw),
            _ => Err(FrameError::Malformed),
        })
    }

    fn take(&mut self, byte: u8) {
        if self.left == 0 {
            // The zero between two runs; there is none after the last run.
            if self.started {
                self.store(0);
            }
            self.started = true;
            self.left = byte - 1;
        } else {
            self.left -= 1;
            self.store(byte);
        }
    }

    fn store(&mut self, byte: u8) {
        match self.raw.get_mut(self.length) {
            Some(slot) => {
                *slot = byte;
                self.length += 1;
            }
            None => self.broken = true,
        }
    }
}

fn check(raw: &[u8]) -> Result<Frame<'_>, FrameError> {
    let content = checked(raw).map_err(|error| match error {
        NotWhole::Short => FrameError::Malformed,
        NotWhole::Altered => FrameError::Checksum,
    })?;
    let ([version, kind, a, b, c, d, tag], payload) =
        content.split_first_chunk::<HEADER_BYTES>().ok_or(FrameError::Malformed)?;
    if *version != VERSION {
        return Err(FrameError::Version);
    }
    let call = Call { session: u32::from_le_bytes([*a, *b, *c, *d]), tag: *tag };
    Ok(Frame { kind: *kind, call, payload })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Noise;
    use std::vec::Vec;

    fn bytes_of(frame: &Frame<'_>) -> Vec<u8> {
        let mut bytes = Vec::new();
        encode(frame, |byte| {
            bytes.push(byte);
            Ok::<(), ()>(())
        })
        .unwrap();
        bytes
    }

    #[test]
    fn every_length_comes_back() {
        let mut noise = Noise::new(1);
        for length in 0..=MAX_PAYLOAD {
            for zeros in [false, true] {
                let payload: Vec<u8> =
                    (0..length).map(|_| if zeros { 0 } else { noise.byte() }).collect();
                let frame = Frame {
                    kind: 7,
                    call: Call { session: 0x0100_FF00, tag: 0 },
                    payload: &payload,
                };
                let bytes = bytes_of(&frame);
                assert_eq!(bytes[1..bytes.len() - 1].iter().filter(|b| **b == 0).count(), 0);
                let mut decoder = Decoder::<MAX_RAW>::new();
                let (last, before) = bytes.split_last().unwrap();
                for byte in before {
                    assert_eq!(decoder.push(*byte), None);
                }
                assert_eq!(decoder.push(*last), Some(Ok(frame)));
            }
        }
    }

    #[test]
    fn a_million_random_bytes_make_no_frame() {
        let mut noise = Noise::new(2);
        let mut decoder = Decoder::<MAX_RAW>::new();
        let mut refused = 0;
        for _ in 0..1_000_000 {
            match decoder.push(noise.byte()) {
                Some(Ok(frame)) => panic!("noise taken for {frame:?}"),
                Some(Err(_)) => refused += 1,
                None => {}
            }
        }
        assert!(refused > 3000, "only {refused} stretches of noise were looked at");
    }

    #[test]
    fn frames_between_noise_all_arrive() {
        let mut noise = Noise::new(3);
        let mut decoder = Decoder::<MAX_RAW>::new();
        let mut arrived = 0_u32;
        for number in 0..20_000_u32 {
            for _ in 0..noise.below(50) {
                if let Some(Ok(frame)) = decoder.push(noise.byte()) {
                    panic!("noise taken for {frame:?}");
                }
            }
            let payload = number.to_le_bytes();
            let sent =
                Frame { kind: 1, call: Call { session: 0, tag: noise.byte() }, payload: &payload };
            for byte in bytes_of(&sent) {
                if let Some(Ok(frame)) = decoder.push(byte) {
                    assert_eq!(frame, sent);
                    arrived += 1;
                }
            }
        }
        assert_eq!(arrived, 20_000);
    }

    #[test]
    fn an_altered_or_lost_byte_costs_one_frame() {
        let mut noise = Noise::new(4);
        let mut decoder = Decoder::<MAX_RAW>::new();
        let payload = *b"\x00payload\x00";
        let sent = Frame { kind: 3, call: Call { session: 1, tag: 9 }, payload: &payload };
        for _ in 0..20_000 {
            let mut bytes = bytes_of(&sent);
            let at = noise.below(bytes.len());
            if noise.below(2) == 0 {
                bytes.remove(at);
            } else {
                bytes[at] ^= 1 << noise.below(8);
            }
            for byte in bytes {
                if let Some(Ok(frame)) = decoder.push(byte) {
                    // Only a delimiter can be hit without harm.
                    assert_eq!(frame, sent);
                }
            }
            let mut arrived = false;
            for byte in bytes_of(&sent) {
                arrived |= decoder.push(byte) == Some(Ok(sent));
            }
            assert!(arrived, "the frame after a hit one was lost");
        }
    }

    /// Bytes that would be a frame, but for what their runs say of them.
    #[test]
    fn a_run_that_is_cut_or_too_long_is_no_frame() {
        let bytes = bytes_of(&Frame { kind: 3, call: Call { session: 1, tag: 9 }, payload: b"ab" });
        let whole = |bytes: &[u8]| {
            let mut decoder = Decoder::<MAX_RAW>::new();
            bytes.iter().any(|byte| matches!(decoder.push(*byte), Some(Ok(_))))
        };
        assert!(whole(&bytes));
        // The length of the last run; its bytes end with the frame.
        let mut last = 1;
        while last + usize::from(bytes[last]) + 1 < bytes.len() {
            last += usize::from(bytes[last]);
        }
        let mut cut = bytes.clone();
        cut[last] += 1;
        assert!(!whole(&cut), "a byte less than the run says");
        // A decoder that is full with the frame, and one more byte.
        const RAW: usize = 7 + 2 + 4;
        let found = |bytes: &[u8]| {
            let mut decoder = Decoder::<RAW>::new();
            bytes.iter().find_map(|byte| decoder.push(*byte).map(|found| found.is_ok()))
        };
        assert_eq!(found(&bytes), Some(true));
        cut.insert(cut.len() - 1, 1);
        assert_eq!(found(&cut), Some(false), "a byte more than there is room for");
    }

    #[test]
    fn another_version_is_told_apart() {
        let mut raw = std::vec![VERSION + 1, 1, 1, 0, 0, 0, 0];
        raw.extend(checksum(0, &raw).to_le_bytes());
        assert_eq!(check(&raw), Err(FrameError::Version));
    }
}
