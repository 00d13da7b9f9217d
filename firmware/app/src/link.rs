//! The link: receives commands and sends messages, as frames over any byte link.

use crate::frame::{self, Call, Decoder, Frame, FrameError};
use crate::guard::Guard;
use crate::inbox::INBOX_BYTES;
use crate::message::{Command, MAX_COMMAND, Message, Refusal};

/// A serial line, byte by byte.
///
/// A trait of our own, since the boards' HALs implement different versions of the shared ones.
pub trait ByteLink {
    /// Why a byte could not be read or written.
    type Error;

    /// The next byte, or `None` if there is none yet. Never waits.
    ///
    /// # Errors
    /// Those of the line. The byte is lost; later reads are possible.
    fn read(&mut self) -> Result<Option<u8>, Self::Error>;

    /// Writes a byte; waits while the line is busy with the one before.
    ///
    /// # Errors
    /// Those of the line. The byte is lost; later writes are possible.
    fn write(&mut self, byte: u8) -> Result<(), Self::Error>;
}

impl<L: ByteLink> ByteLink for &mut L {
    type Error = L::Error;

    fn read(&mut self) -> Result<Option<u8>, Self::Error> {
        L::read(self)
    }

    fn write(&mut self, byte: u8) -> Result<(), Self::Error> {
        L::write(self, byte)
    }
}

/// The device's end of the link.
#[derive(Debug)]
pub struct Link<L> {
    line: L,
    decoder: Decoder<{ frame::raw_bytes(MAX_COMMAND) }>,
}

/// What was received.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Received {
    /// No byte is waiting.
    Nothing,
    /// Bytes were taken; no command is complete yet.
    Byte,
    /// A command with its tag.
    Command(Call, Command),
    /// Something that is not a command: its tag ([`Call::NONE`] if it has none) and the reason.
    Refused(Call, Refusal),
}

impl<L: ByteLink> Link<L> {
    /// A link over `line`.
    pub const fn new(line: L) -> Self {
        Self { line, decoder: Decoder::new() }
    }

    /// Takes the bytes that wait on the line, up to the end of a frame. Commands are those that `guard` lets
    /// through.
    ///
    /// Not one byte at a time: a board whose bus fails may need a period of its timer for each sample, and
    /// would take one byte in each.
    // Not inlined: commands are long, and their copies would be on the stack below all else.
    #[inline(never)]
    pub fn receive(&mut self, guard: &mut Guard) -> Received {
        let mut received = Received::Nothing;
        // Noise that does not end must not keep the board from its samples.
        for _ in 0..INBOX_BYTES {
            let byte = match self.line.read() {
                Ok(Some(byte)) => byte,
                Ok(None) => return received,
                // The checksum of the frame detects a lost byte.
                Err(_) => return Received::Byte,
            };
            received = match self.decoder.push(byte) {
                None => Received::Byte,
                Some(Ok(frame)) => match guard.pass(&frame).and_then(|passed| passed.command()) {
                    Ok(command) => return Received::Command(frame.call, command),
                    Err(refusal) => return Received::Refused(frame.call, refusal),
                },
                Some(Err(FrameError::Version)) => {
                    return Received::Refused(Call::NONE, Refusal::Unknown);
                }
                Some(Err(FrameError::Malformed | FrameError::Checksum)) => {
                    return Received::Refused(Call::NONE, Refusal::Garbled);
                }
            };
        }
        received
    }

    /// Sends a message. If the line fails, the rest of the frame is dropped; the host then asks
    /// again.
    pub fn send(&mut self, call: Call, message: &Message<'_>) {
        let (kind, payload) = message.encode();
        let frame = Frame { kind, call, payload: payload.as_slice() };
        let _ = frame::encode(&frame, |byte| self.line.write(byte));
    }

    /// The line.
    pub fn line(&mut self) -> &mut L {
        &mut self.line
    }
}
