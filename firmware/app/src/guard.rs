//! Who may command the board: without the feature `secure`, anybody on the line.
//!
//! With it, commands that change something are executed only if they are [sealed](crate::seal) with the
//! board's key, or while the board's lock is open, a pin that somebody at the board sets. All others may
//! only read.
//!
//! A seal covers a nonce that the board draws anew at each start, so that commands of an earlier start are
//! refused, and a counter that grows from command to command, so that no command is executed twice.

use crate::message::{Command, Refusal};

#[cfg(feature = "secure")]
pub use keyed::Guard;
#[cfg(not(feature = "secure"))]
pub use open::Guard;

/// A frame that was let through.
#[derive(Debug, Clone, Copy)]
pub struct Passed<'a> {
    /// Its kind.
    pub kind: u8,
    /// The payload of the command.
    pub payload: &'a [u8],
    /// Whether it may change something.
    pub commands: bool,
}

impl Passed<'_> {
    /// The command, if it is one and allowed.
    ///
    /// # Errors
    /// [`Refusal::Unknown`] or [`Refusal::Locked`].
    pub fn command(&self) -> Result<Command, Refusal> {
        let command = Command::decode(self.kind, self.payload).ok_or(Refusal::Unknown)?;
        if self.commands || command.only_reads() { Ok(command) } else { Err(Refusal::Locked) }
    }
}

#[cfg(not(feature = "secure"))]
mod open {
    use super::Passed;
    use crate::frame::Frame;
    use crate::message::Refusal;

    /// Lets everything through.
    #[derive(Debug, Clone, Copy, Default)]
    pub struct Guard;

    impl Guard {
        /// The only one there is.
        #[must_use]
        pub const fn open() -> Self {
            Self
        }

        /// Lets a frame through.
        ///
        /// # Errors
        /// None.
        #[inline(always)]
        pub fn pass<'a>(&mut self, frame: &Frame<'a>) -> Result<Passed<'a>, Refusal> {
            Ok(Passed { kind: frame.kind, payload: frame.payload, commands: true })
        }
    }
}

#[cfg(feature = "secure")]
mod keyed {
    use super::Passed;
    use crate::frame::{Call, Frame};
    use crate::message::{Lock, Message, Refusal};
    use crate::seal::{Key, SEAL_BYTES, SEALED, Sealed, TRAILER_BYTES};

    /// Checks seals.
    #[derive(Debug, Clone, Default)]
    pub struct Guard {
        key: Option<&'static Key>,
        /// Another one at each start; `None` if the board could not draw one.
        nonce: Option<u64>,
        is_open: bool,
        /// The last sealed command that was let through.
        last: Option<Call>,
        counter: u32,
        refused: u32,
    }

    impl Guard {
        /// Checks seals of this key, and of this nonce, which no earlier start had: of a random number
        /// generator, of RAM that is not initialised, or of both, as the board can; `None` if it has
        /// neither. Without nonce or key only reading is allowed.
        #[must_use]
        pub const fn new(key: Option<&'static Key>, nonce: Option<u64>) -> Self {
            Self { key, nonce, is_open: false, last: None, counter: 0, refused: 0 }
        }

        /// Lets everything through, as if the lock at the board were open.
        #[must_use]
        pub const fn open() -> Self {
            let mut guard = Self::new(None, None);
            guard.set_open(true);
            guard
        }

        /// Says whether the lock at the board is open: then seals are not needed.
        pub const fn set_open(&mut self, is_open: bool) {
            self.is_open = is_open;
        }

        /// What a host needs to seal commands.
        #[must_use]
        pub fn challenge(&self) -> Message<'static> {
            let lock = match (self.is_open, self.key, self.nonce) {
                (true, ..) => Lock::Open,
                (false, Some(_), Some(_)) => Lock::Sealed,
                (false, ..) => Lock::ReadOnly,
            };
            let nonce = self.nonce.unwrap_or(0);
            Message::Challenge { lock, nonce, counter: self.counter, refused: self.refused }
        }

        /// Lets a frame through, without its seal.
        ///
        /// # Errors
        /// [`Refusal::Locked`], [`Refusal::Forged`] or [`Refusal::Replayed`] if its seal is not accepted.
        #[inline(never)]
        pub fn pass<'a>(&mut self, frame: &Frame<'a>) -> Result<Passed<'a>, Refusal> {
            let Frame { kind, call, payload } = *frame;
            // Of messages, too, which are no commands.
            if kind & SEALED == 0 || kind & 0x80 != 0 {
                if self.is_open {
                    // After a command without a seal, the last sealed one is not what the app did last.
                    self.last = None;
                }
                return Ok(Passed { kind, payload, commands: self.is_open });
            }
            let passed = self.unsealed(kind & !SEALED, call, payload);
            self.refused = self.refused.saturating_add(u32::from(passed.is_err()));
            passed
        }

        fn unsealed<'a>(
            &mut self,
            kind: u8,
            call: Call,
            payload: &'a [u8],
        ) -> Result<Passed<'a>, Refusal> {
            let (payload, counter, seal) = split(payload).ok_or(Refusal::Forged)?;
            let (Some(key), Some(nonce)) = (self.key, self.nonce) else {
                // With its lock open, a board without a key needs no seal, and takes any: a host may have
                // sealed the command before somebody opened the lock.
                let passed = Passed { kind, payload, commands: true };
                return if self.is_open { Ok(passed) } else { Err(Refusal::Locked) };
            };
            if !key.command(nonce, &Sealed { call, kind, counter, payload }).is(seal) {
                return Err(Refusal::Forged);
            }
            // The same command again: its answer was lost.
            let is_repeated = counter == self.counter && self.last == Some(call);
            if counter <= self.counter && !is_repeated {
                return Err(Refusal::Replayed);
            }
            self.counter = counter;
            self.last = Some(call);
            Ok(Passed { kind, payload, commands: true })
        }
    }

    /// Payload, counter and seal.
    fn split(payload: &[u8]) -> Option<(&[u8], u32, &[u8; SEAL_BYTES])> {
        let length = payload.len().checked_sub(TRAILER_BYTES)?;
        let (payload, trailer) = payload.split_at_checked(length)?;
        let (counter, seal) = trailer.split_first_chunk::<4>()?;
        Some((payload, u32::from_le_bytes(*counter), seal.first_chunk()?))
    }
}
