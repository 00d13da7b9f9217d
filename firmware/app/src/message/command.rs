//! Commands to the device.

#[cfg(feature = "fault-injection")]
use fastmmd::numbers;

#[cfg(feature = "fault-injection")]
use super::wire::code_parts;
use super::wire::{Fields, Part, Payload, messages};
#[cfg(feature = "secure")]
use crate::seal::TRAILER_BYTES;

/// Largest number of channels of a sample on the link.
pub const MAX_CHANNELS: usize = 8;

/// Largest number of bytes of the state in one answer.
pub const MAX_STATE_PIECE: usize = 64;

/// Largest number of bytes of the state in one command: fewer, since commands lie on the stack below the
/// detector's.
pub const MAX_PIECE: usize = 32;

/// Longest payload of a command, in bytes.
pub const MAX_COMMAND: usize = 8 + MAX_PIECE + TRAILER_BYTES;

/// Without seals.
#[cfg(not(feature = "secure"))]
const TRAILER_BYTES: usize = 0;

/// A sample given over the link.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sample {
    channels: u8,
    values: [f32; MAX_CHANNELS],
}

impl Sample {
    /// A sample of these values; `None` for more than [`MAX_CHANNELS`].
    #[must_use]
    pub fn new(values: &[f32]) -> Option<Self> {
        let channels = u8::try_from(values.len()).ok()?;
        let mut sample = Self { channels, values: [0.0; MAX_CHANNELS] };
        sample.values.get_mut(..values.len())?.copy_from_slice(values);
        Some(sample)
    }

    /// The values, if there are `C` of them.
    #[must_use]
    pub fn values<const C: usize>(&self) -> Option<[f32; C]> {
        if usize::from(self.channels) != C {
            return None;
        }
        self.values.first_chunk().copied()
    }
}

/// A piece of a saved state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Piece {
    length: u8,
    bytes: [u8; MAX_PIECE],
}

impl Piece {
    /// A piece of these bytes; `None` for none, or more than [`MAX_PIECE`].
    #[must_use]
    pub fn new(bytes: &[u8]) -> Option<Self> {
        let length = u8::try_from(bytes.len()).ok().filter(|length| *length > 0)?;
        let mut piece = Self { length, bytes: [0; MAX_PIECE] };
        // Not by `copy_from_slice`, whose panic would remain.
        for (slot, byte) in piece.bytes.get_mut(..bytes.len())?.iter_mut().zip(bytes) {
            *slot = *byte;
        }
        Some(piece)
    }

    /// Its bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        self.bytes.get(..usize::from(self.length)).unwrap_or_default()
    }
}

/// The rest of a payload.
impl Part<'_> for Sample {
    fn put(&self, payload: &mut Payload) {
        let values = self.values.iter().take(usize::from(self.channels));
        values.for_each(|value| value.put(payload));
    }

    fn take(fields: &mut Fields<'_>) -> Option<Self> {
        let mut sample = Self { channels: 0, values: [0.0; MAX_CHANNELS] };
        for value in &mut sample.values {
            if let Some(given) = Part::take(fields) {
                *value = given;
                sample.channels += 1;
            }
        }
        Some(sample)
    }
}

/// The rest of a payload.
impl Part<'_> for Piece {
    fn put(&self, payload: &mut Payload) {
        payload.put(self.bytes());
    }

    fn take(fields: &mut Fields<'_>) -> Option<Self> {
        Self::new(core::mem::take(&mut fields.0))
    }
}

messages! {
    /// A command to the device.
    pub enum Command {
        /// Read the sensor, process the sample, report.
        0x01 = Step,
        /// Report.
        0x02 = Status,
        /// Forget what was learned and learn again, with the settings of this build.
        0x03 = Relearn,
        /// Restart, as with the reset button.
        0x04 = Restart,
        /// Send a piece of the saved state.
        0x05 = ReadState {
            /// Offset in bytes; 0 takes a new copy of the state.
            offset: u32,
            /// Number of bytes; at most [`MAX_STATE_PIECE`] are sent.
            length: u8,
        },
        /// Process this sample instead of one from the sensor.
        0x06 = Push(sample: Sample),
        /// Make bus transactions with a device fail.
        #[cfg(feature = "fault-injection")]
        0x07 = FailBus {
            /// The device's address on the bus.
            address: u8,
            /// How many transactions fail.
            transactions: u16,
            /// How they fail.
            kind: Failure,
        },
        /// The alarms up to this row have arrived and need not be sent again.
        0x08 = Acknowledge {
            /// [`Alarm::row`] of the last one.
            row: u64,
        },
        /// What differs now is nothing: it closes, and the same does not alarm again.
        0x09 = Dismiss,
        /// Say what device this is: [`Message::Identity`](super::Message::Identity).
        0x0A = Identify,
        /// Take a piece of a saved state, in order from offset 0. Answered by
        /// [`Message::State`](super::Message::State) with the next offset; the last piece by
        /// [`Message::Report`](super::Message::Report), once the state is taken up and stored.
        0x0B = WriteState {
            /// Length of the whole state, in bytes.
            total: u32,
            /// Offset of the piece, in bytes.
            offset: u32,
            /// The piece.
            piece: Piece,
        },
        /// Set what may be set, until the next restart.
        0x0C = Configure {
            /// Periods of the sample timer between two reports; 0: only when asked.
            report_every: u32,
        },
        /// Tell one of the last alarms: [`Message::Past`](super::Message::Past).
        0x0D = History {
            /// Which one: 0 is the oldest.
            index: u8,
        },
        /// Say what is needed to seal commands: [`Message::Challenge`](super::Message::Challenge).
        #[cfg(feature = "secure")]
        0x0E = Challenge,
    }
}

impl Command {
    /// Whether anybody on the line may ask for it, also where commands have to be sealed.
    #[must_use]
    pub const fn only_reads(&self) -> bool {
        match self {
            Self::Status | Self::ReadState { .. } | Self::Identify | Self::History { .. } => true,
            Self::Step
            | Self::Push(_)
            | Self::Relearn
            | Self::Dismiss
            | Self::WriteState { .. }
            | Self::Configure { .. }
            | Self::Restart
            | Self::Acknowledge { .. } => false,
            #[cfg(feature = "secure")]
            Self::Challenge => true,
            #[cfg(feature = "fault-injection")]
            Self::FailBus { .. } => true,
        }
    }

    /// Whether it makes the EEPROM be written, which wears it.
    #[must_use]
    pub const fn wears(&self) -> bool {
        matches!(self, Self::Relearn | Self::Dismiss | Self::WriteState { offset: 0, .. })
    }

    /// Whether it changes something, so that it is not executed again when it is repeated.
    #[must_use]
    pub const fn changes_state(&self) -> bool {
        match self {
            Self::Step
            | Self::Push(_)
            | Self::Relearn
            | Self::Dismiss
            | Self::WriteState { .. }
            | Self::Configure { .. } => true,
            Self::Status
            | Self::Restart
            | Self::ReadState { .. }
            | Self::Acknowledge { .. }
            | Self::Identify
            | Self::History { .. } => false,
            #[cfg(feature = "secure")]
            Self::Challenge => false,
            #[cfg(feature = "fault-injection")]
            Self::FailBus { .. } => false,
        }
    }
}

/// How transactions on the bus are made to fail, for tests.
#[cfg(feature = "fault-injection")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failure {
    /// Nobody answers.
    NoAcknowledge,
    /// Another error of the bus.
    Bus,
}

#[cfg(feature = "fault-injection")]
numbers!(Failure { NoAcknowledge = 1, Bus = 2 });

#[cfg(feature = "fault-injection")]
code_parts!(Failure);
