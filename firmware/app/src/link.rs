//! The link: frames of commands in, frames of messages out, over any byte link.

use crate::frame::{self, Decoder, Frame, FrameError};
use crate::message::{Command, Message, Refusal};

/// A serial line, byte by byte.
///
/// Our own, since the boards' HALs do not agree on a version of any shared one.
pub trait ByteLink {
    /// Why a byte could not be read or written.
    type Error;

    /// The next byte, or `None` if there is none yet. Never waits.
    ///
    /// # Errors
    /// The line's; the byte is lost, reading on is possible.
    fn read(&mut self) -> Result<Option<u8>, Self::Error>;

    /// Writes a byte; waits while the line is busy with the one before.
    ///
    /// # Errors
    /// The line's; the byte is lost, writing on is possible.
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
    decoder: Decoder,
}

/// What arrived.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Received {
    /// No byte is waiting.
    Nothing,
    /// A byte was taken; no command is complete yet.
    Byte,
    /// A command with its tag.
    Command(u8, Command),
    /// Something that is no command: its tag, if it has one, and why.
    Refused(u8, Refusal),
}

impl<L: ByteLink> Link<L> {
    /// A link over `line`.
    pub const fn new(line: L) -> Self {
        Self { line, decoder: Decoder::new() }
    }

    /// Takes at most one byte from the line.
    pub fn receive(&mut self) -> Received {
        let byte = match self.line.read() {
            Ok(Some(byte)) => byte,
            Ok(None) => return Received::Nothing,
            // A lost byte is seen by the checksum of the frame it belonged to.
            Err(_) => return Received::Byte,
        };
        match self.decoder.push(byte) {
            None => Received::Byte,
            Some(Ok(frame)) => match Command::decode(frame.kind, frame.payload) {
                Some(command) => Received::Command(frame.tag, command),
                None => Received::Refused(frame.tag, Refusal::Unknown),
            },
            Some(Err(FrameError::Version)) => Received::Refused(0, Refusal::Unknown),
            Some(Err(FrameError::Malformed | FrameError::Checksum)) => {
                Received::Refused(0, Refusal::Garbled)
            }
        }
    }

    /// Sends a message. If the line fails, the rest of the frame is dropped: whoever asked asks
    /// again.
    pub fn send(&mut self, tag: u8, message: &Message<'_>) {
        let (kind, payload) = message.encode();
        let frame = Frame { kind, tag, payload: payload.as_slice() };
        let _ = frame::encode(&frame, |byte| self.line.write(byte));
    }

    /// The line.
    pub fn line(&mut self) -> &mut L {
        &mut self.line
    }
}
