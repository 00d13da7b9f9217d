//! Commands to the device and messages from it, little-endian.
//!
//! The device answers every command with exactly one [`Message::Report`], [`Message::State`] or
//! [`Message::Nack`] that has the command's tag. [`Message::Alarm`], [`Message::Amended`],
//! [`Message::Fault`] and [`Message::Boot`] may come before the answer, or unasked with tag 0.
//!
//! If an answer is lost, the host sends the command again with the same session and tag. A command
//! that changes something ([`Command::changes_state`]) is then answered but not executed a second time. A lost
//! alarm is sent again, as it was amended, with every [`Command::Status`] and every report that the
//! device sends by itself, until [`Command::Acknowledge`].
//!
//! Statuses and alarms have the fields of the core's types. Samples are the core's rows: numbered
//! from 0 in 64 bits, so that the number of the next one is the count so far.

use fastmmd::monitor::{Alarm, Stage, Status};
use fastmmd::numbers;

use crate::fault::{Device, Fault, FaultKind};
use crate::frame::MAX_PAYLOAD;

/// Declares messages: each with the kind of its frame and its parts in the order of the payload.
macro_rules! messages {
    (
        $(#[$meta:meta])*
        pub enum $name:ident $(<$life:lifetime>)? {
            $(
                $(#[doc = $about:literal])*
                $(#[cfg($condition:meta)])?
                $code:literal = $variant:ident
                    $(($part:ident: $part_type:ty))?
                    $({ $($(#[$field_about:meta])* $field:ident: $field_type:ty),* $(,)? })?
            ),* $(,)?
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq)]
        pub enum $name $(<$life>)? {
            $(
                $(#[doc = $about])*
                $(#[cfg($condition)])?
                $variant $(($part_type))? $({ $($(#[$field_about])* $field: $field_type),* })?
            ),*
        }

        impl $(<$life>)? $name $(<$life>)? {
            /// Kind and payload of its frame.
            #[must_use]
            pub fn encode(&self) -> (u8, Payload) {
                let mut payload = Payload::new();
                let kind = match self {
                    $(
                        $(#[cfg($condition)])?
                        Self::$variant $(($part))? $({ $($field),* })? => {
                            $($part.put(&mut payload);)?
                            $($($field.put(&mut payload);)*)?
                            $code
                        }
                    )*
                };
                (kind, payload)
            }

            /// What a frame of this kind and payload says; `None` if nothing.
            #[must_use]
            pub fn decode(kind: u8, payload: &$($life)? [u8]) -> Option<Self> {
                let mut fields = Fields(payload);
                let message = match kind {
                    $(
                        $(#[cfg($condition)])?
                        $code => Self::$variant
                            $((<$part_type as Part<'_>>::take(&mut fields)?))?
                            $({ $($field: Part::take(&mut fields)?),* })?,
                    )*
                    _ => return None,
                };
                fields.0.is_empty().then_some(message)
            }
        }
    };
}

/// Largest number of channels of a sample on the link.
pub const MAX_CHANNELS: usize = 8;

/// Largest number of bytes of the state in one answer.
pub const MAX_STATE_PIECE: usize = 64;

/// Largest number of bytes of the state in one command: fewer, since commands lie on the stack below the
/// detector's.
pub const MAX_PIECE: usize = 32;

/// Longest payload of a command, in bytes.
pub const MAX_COMMAND: usize = 8 + MAX_PIECE + TRAILER_BYTES;

#[cfg(feature = "secure")]
use crate::seal::TRAILER_BYTES;
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
        /// Say what device this is: [`Message::Identity`].
        0x0A = Identify,
        /// Take a piece of a saved state, in order from offset 0. Answered by [`Message::State`] with
        /// the next offset; the last piece by [`Message::Report`], once the state is taken up and
        /// stored.
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
        /// Tell one of the last alarms: [`Message::Past`].
        0x0D = History {
            /// Which one: 0 is the oldest.
            index: u8,
        },
        /// Say what is needed to seal commands: [`Message::Challenge`].
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

/// Why a command was not executed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// Not a complete frame with a correct checksum; the tag is 0.
    Garbled,
    /// A complete frame of an unknown version or kind, or of a wrong length.
    Unknown,
    /// A sample with another number of channels.
    Channels,
    /// A piece of a state that does not follow the one before, or does not fit. Begin again at 0.
    Piece,
    /// All pieces have come, but they are not a state of this detector. Nothing has changed.
    State,
    /// The board is in its safe state, in which it only talks. [`Command::Restart`] ends that.
    Safe,
    /// It would change something, and is not sealed; or the board has no key.
    Locked,
    /// Its seal is not one of this key, this start of the board and this command.
    Forged,
    /// A sealed command whose counter is not greater than that of the one before.
    Replayed,
    /// Too many commands that write to the EEPROM. Later ones are executed again.
    TooOften,
}

numbers!(Refusal {
    Garbled = 1,
    Unknown = 2,
    Channels = 3,
    Piece = 4,
    State = 5,
    Safe = 6,
    Locked = 7,
    Forged = 8,
    Replayed = 9,
    TooOften = 10,
});

/// What commands that change something need.
#[cfg(feature = "secure")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lock {
    /// The board has no key, or could not draw a nonce: it can only be read.
    ReadOnly,
    /// A seal.
    Sealed,
    /// Nothing: somebody at the board has opened its lock.
    Open,
}

#[cfg(feature = "secure")]
numbers!(Lock { ReadOnly = 0, Sealed = 1, Open = 2 });

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

/// Why the board started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Cause {
    /// Not known.
    Unknown,
    /// The power came on.
    Power,
    /// The reset pin.
    Pin,
    /// The watchdog: something hung.
    Watchdog,
    /// The program asked for it.
    Software,
    /// A fault of the processor.
    Fault,
    /// A panic.
    Panic,
}

numbers!(Cause {
    Unknown = 0,
    Power = 1,
    Pin = 2,
    Watchdog = 3,
    Software = 4,
    Fault = 5,
    Panic = 6,
});

/// Why and how often the board started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Start {
    /// Why.
    pub cause: Cause,
    /// For [`Cause::Fault`] the address of the instruction, for [`Cause::Panic`] the line; else 0.
    pub detail: u32,
    /// Starts one after the other, none of which ran for long.
    pub tries: u8,
}

impl Start {
    /// For boards that do not know.
    pub const UNKNOWN: Self = Self { cause: Cause::Unknown, detail: 0, tries: 1 };
}

/// Where the state came from when the device started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Origin {
    /// Nothing was saved: it begins to learn.
    Fresh,
    /// From RAM, after a reset.
    Memory,
    /// From the EEPROM, after a power cut.
    Store,
}

numbers!(Origin { Fresh = 0, Memory = 1, Store = 2 });

/// The state of the device, in short.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Report {
    /// The status of the detector.
    pub status: Status,
    /// Number of alarms not yet acknowledged.
    pub pending: u8,
    /// A union of [`flags`].
    pub flags: u16,
    /// Samples that were due since the start and not taken: the board was busy, or the sensor failed.
    pub missed: u32,
}

/// Bits of [`Report::flags`].
pub mod flags {
    /// The sensor is failing.
    pub const SENSOR_FAULT: u16 = 1;
    /// The last attempt to store what was learned failed.
    pub const STORE_FAULT: u16 = 1 << 1;
    /// The last sample was skipped.
    pub const SKIPPED: u16 = 1 << 2;
    /// The EEPROM holds the present state, or the state at the end of learning.
    pub const STORED: u16 = 1 << 3;
    /// The stated time between false alarms is uncertain: there were too few learning samples.
    pub const UNCERTAIN: u16 = 1 << 4;
    /// The queue of alarms was full: the oldest were dropped.
    pub const ALARMS_LOST: u16 = 1 << 5;
    /// Monitoring continues with the settings it was learned with, which are not this build's.
    /// [`Command::Relearn`](super::Command::Relearn) switches to this build's.
    pub const OTHER_SETTINGS: u16 = 1 << 6;
    /// The EEPROM may hold a state that could not be read, so nothing is written to it.
    /// [`Command::Relearn`](super::Command::Relearn) ends that.
    pub const HELD: u16 = 1 << 7;
    /// The board started again and again, and now only talks: see [`Start::tries`](super::Start::tries).
    pub const SAFE: u16 = 1 << 8;
}

messages! {
    /// A message from the device.
    pub enum Message<'a> {
        /// The state of the device, in short.
        0x81 = Report(report: Report),
        /// Something has changed.
        0x82 = Alarm(alarm: Alarm),
        /// A device has begun to fail, or fails in another way than before.
        0x83 = Fault(fault: Fault),
        /// A command was not executed.
        0x84 = Nack(refusal: Refusal),
        /// A piece of the saved state.
        0x85 = State {
            /// Length of the whole state, in bytes.
            total: u32,
            /// Offset of the piece, in bytes.
            offset: u32,
            /// The piece; empty beyond the end.
            bytes: &'a [u8],
        },
        /// The device has started.
        0x86 = Boot {
            /// Where its state came from.
            origin: Origin,
            /// Number of channels.
            channels: u8,
            /// Why it started.
            start: Start,
        },
        /// An alarm that was sent before, with what is known now: same row, and another channel,
        /// change or beginning.
        0x87 = Amended(alarm: Alarm),
        /// What device this is.
        0x88 = Identity {
            /// Version of the app: major, minor, patch.
            version: [u8; 3],
            /// Number of channels.
            channels: u8,
            /// Samples per 1000 seconds that it takes by itself; 0: none.
            millihertz: u32,
            /// Periods of the sample timer since the start.
            uptime: u64,
            /// Name of the board, in UTF-8, filled with zeros.
            board: [u8; 16],
            /// Recipe of the detector's map, as in a saved state.
            recipe: [u8; 32],
        },
        /// One of the last alarms.
        0x89 = Past {
            /// Which one: 0 is the oldest.
            index: u8,
            /// How many there are.
            count: u8,
            /// Periods of the sample timer since it was raised.
            ago: u64,
            /// The alarm, as it was amended; none beyond the last.
            alarm: Option<Alarm>,
        },
        /// What is needed to seal commands.
        #[cfg(feature = "secure")]
        0x8A = Challenge {
            /// What commands need.
            lock: Lock,
            /// Drawn by the board at its start.
            nonce: u64,
            /// Of the last sealed command: the next one needs a greater one.
            counter: u32,
            /// Sealed commands that were refused since the start.
            refused: u32,
        },
    }
}

/// A payload being written.
#[derive(Debug)]
pub struct Payload {
    bytes: [u8; MAX_PAYLOAD],
    length: usize,
}

impl Payload {
    const fn new() -> Self {
        Self { bytes: [0; MAX_PAYLOAD], length: 0 }
    }

    // Called for every field of every message; not inlined, to save flash.
    #[inline(never)]
    fn put(&mut self, bytes: &[u8]) {
        for (slot, byte) in self.bytes.iter_mut().skip(self.length).zip(bytes) {
            *slot = *byte;
            self.length += 1;
        }
    }

    /// The bytes written so far.
    #[must_use]
    pub fn as_slice(&self) -> &[u8] {
        self.bytes.get(..self.length).unwrap_or_default()
    }
}

/// Takes fields from the front of a payload.
struct Fields<'a>(&'a [u8]);

impl Fields<'_> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (field, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*field)
    }
}

/// A part of a payload.
trait Part<'a>: Sized {
    fn put(&self, payload: &mut Payload);

    fn take(fields: &mut Fields<'a>) -> Option<Self>;
}

/// Numbers, little-endian.
macro_rules! number_parts {
    ($($number:ty),*) => {$(
        impl Part<'_> for $number {
            fn put(&self, payload: &mut Payload) {
                payload.put(&self.to_le_bytes());
            }

            fn take(fields: &mut Fields<'_>) -> Option<Self> {
                fields.take().map(Self::from_le_bytes)
            }
        }
    )*};
}

number_parts!(u8, u16, u32, u64, f32);

/// Enums, as their codes.
macro_rules! code_parts {
    ($($name:ty),*) => {$(
        impl Part<'_> for $name {
            fn put(&self, payload: &mut Payload) {
                self.code().put(payload);
            }

            fn take(fields: &mut Fields<'_>) -> Option<Self> {
                Self::from_code(Part::take(fields)?)
            }
        }
    )*};
}

code_parts!(Stage, Refusal, Origin, Device, FaultKind, Cause);
#[cfg(feature = "fault-injection")]
code_parts!(Failure);
#[cfg(feature = "secure")]
code_parts!(Lock);

impl<const N: usize> Part<'_> for [u8; N] {
    fn put(&self, payload: &mut Payload) {
        payload.put(self);
    }

    fn take(fields: &mut Fields<'_>) -> Option<Self> {
        fields.take()
    }
}

/// Structs, as their fields in this order.
macro_rules! struct_parts {
    ($($name:ident { $($field:ident),* $(,)? })*) => {$(
        impl Part<'_> for $name {
            fn put(&self, payload: &mut Payload) {
                let Self { $($field),* } = self;
                $($field.put(payload);)*
            }

            fn take(fields: &mut Fields<'_>) -> Option<Self> {
                Some(Self { $($field: Part::take(fields)?),* })
            }
        }
    )*};
}

struct_parts! {
    Fault { device, kind }
    Report { pending, flags, missed, status }
    Start { cause, detail, tries }
    Status { stage, rows, progress, statistic, threshold, open, alarm }
}

/// As in a saved state of the core.
impl Part<'_> for Alarm {
    fn put(&self, payload: &mut Payload) {
        payload.put(&self.to_bytes());
    }

    fn take(fields: &mut Fields<'_>) -> Option<Self> {
        Self::from_bytes(&fields.take()?).ok()
    }
}

/// At the end of a payload; nothing for none.
impl Part<'_> for Option<Alarm> {
    fn put(&self, payload: &mut Payload) {
        if let Some(alarm) = self {
            alarm.put(payload);
        }
    }

    fn take(fields: &mut Fields<'_>) -> Option<Self> {
        if fields.0.is_empty() { Some(None) } else { Part::take(fields).map(Some) }
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

/// The rest of a payload.
impl<'a> Part<'a> for &'a [u8] {
    fn put(&self, payload: &mut Payload) {
        payload.put(self);
    }

    fn take(fields: &mut Fields<'a>) -> Option<Self> {
        Some(core::mem::take(&mut fields.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::{self, Call, Frame};
    use crate::seal::{Key, SEALED, Sealed};
    use crate::testing::{Noise, alarm};
    use fastmmd::Change;
    use fastmmd::monitor::Leg;
    use std::vec::Vec;

    #[test]
    fn commands_come_back() {
        let values = [1.5, -2.0, f32::MAX, 0.0, 1e-30, 6.0, 7.0, 8.0];
        let mut commands = std::vec![
            Command::Step,
            Command::Status,
            Command::Relearn,
            Command::Restart,
            Command::ReadState { offset: 70_000, length: 64 },
            Command::FailBus { address: 0x1E, transactions: 300, kind: Failure::Bus },
            Command::Acknowledge { row: u64::MAX - 1 },
            Command::Dismiss,
            Command::Identify,
            Command::Configure { report_every: 70_000 },
            Command::History { index: 3 },
        ];
        let piece = Piece::new(&[3; MAX_PIECE]).unwrap();
        let whole = Command::WriteState { total: 6396, offset: 64, piece };
        let (kind, payload) = whole.encode();
        assert_eq!(Command::decode(kind, payload.as_slice()), Some(whole));
        assert_eq!((Piece::new(&[]), Piece::new(&[0; MAX_PIECE + 1])), (None, None));
        for channels in 0..=MAX_CHANNELS {
            commands.push(Command::Push(Sample::new(&values[..channels]).unwrap()));
        }
        for command in commands {
            let (kind, payload) = command.encode();
            assert_eq!(Command::decode(kind, payload.as_slice()), Some(command));
            let mut longer = payload.as_slice().to_vec();
            longer.push(0);
            assert_eq!(Command::decode(kind, &longer), None);
        }
        assert_eq!(Sample::new(&[0.0; MAX_CHANNELS + 1]), None);
    }

    #[test]
    fn messages_come_back() {
        let alarm = |change| alarm([1 << 40, (1 << 40) - 100], change, Leg::Jump);
        let report = |stage, alarm| {
            let (rows, progress, open) = (u64::MAX - 3, 0.125, 70_000);
            let (statistic, threshold) = (0.25, 0.5);
            let status = Status { stage, rows, progress, statistic, threshold, open, alarm };
            Message::Report(Report { status, pending: 2, flags: flags::SKIPPED, missed: 1 << 20 })
        };
        let start = Start { cause: Cause::Panic, detail: 0x0102_0304, tries: 2 };
        let identity = Message::Identity {
            version: [1, 2, 3],
            channels: 4,
            millihertz: 10_000,
            uptime: 1 << 33,
            board: *b"a board         ",
            recipe: [7; 32],
        };
        let bytes: Vec<u8> = (0..64).collect();
        let mut messages = std::vec![
            Message::Fault(Fault::new(Device::Thermometer, FaultKind::Bus)),
            Message::Nack(Refusal::Channels),
            Message::State { total: 5000, offset: 64, bytes: &bytes },
            Message::Boot { origin: Origin::Store, channels: 4, start },
            Message::Past { index: 1, count: 2, ago: 1 << 40, alarm: None },
            Message::Past { index: 0, count: 2, ago: 7, alarm: Some(alarm(Change::Level)) },
            identity,
        ];
        messages.extend(Stage::ALL.map(|stage| report(stage, None)));
        messages.extend(Change::ALL.map(|change| Message::Alarm(alarm(change))));
        messages.extend(Change::ALL.map(|change| Message::Amended(alarm(change))));
        messages.extend(Change::ALL.map(|change| report(Stage::Drift, Some(alarm(change)))));
        for message in messages {
            let (kind, payload) = message.encode();
            assert_eq!(Message::decode(kind, payload.as_slice()), Some(message));
        }
    }

    /// The bytes on the link: a change needs a new [`VERSION`](crate::frame::VERSION).
    #[test]
    fn messages_are_these_bytes() {
        let command = Command::ReadState { offset: 0x0102_0304, length: 5 };
        let (kind, payload) = command.encode();
        assert_eq!((kind, payload.as_slice()), (0x05, &[4, 3, 2, 1, 5][..]));
        let told = [
            &[8, 7, 6, 5, 4, 3, 2, 1, 9, 0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, 2, 5][..],
            &[64, 0, 0, 0, 0, 0, 0x80, 0x3f, 0, 0, 0, 0x3f],
        ]
        .concat();
        let alarm = alarm([0x0102_0304_0506_0708, 9], Change::Shape, Leg::Innovations);
        let (kind, payload) = Message::Alarm(alarm).encode();
        assert_eq!((kind, payload.as_slice()), (0x82, &told[..]));
        let (kind, payload) = Message::Amended(alarm).encode();
        assert_eq!((kind, payload.as_slice()), (0x87, &told[..]));
        let start = Start { cause: Cause::Panic, detail: 0x0102_0304, tries: 2 };
        let status = Status {
            stage: Stage::Drift,
            rows: 10,
            progress: 1.0,
            statistic: 0.5,
            threshold: 2.0,
            open: 3,
            alarm: Some(alarm),
        };
        let (kind, payload) =
            Message::Report(Report { status, pending: 1, flags: 8, missed: 5 }).encode();
        let front = [
            &[1, 8, 0, 5, 0, 0, 0, 2, 10, 0, 0, 0, 0, 0, 0, 0][..],
            &[0, 0, 0x80, 0x3f, 0, 0, 0, 0x3f, 0, 0, 0, 0x40, 3, 0, 0, 0],
        ];
        assert_eq!((kind, payload.as_slice()), (0x81, &[front.concat(), told].concat()[..]));
        let (kind, payload) = Message::Boot { origin: Origin::Store, channels: 4, start }.encode();
        assert_eq!((kind, payload.as_slice()), (0x86, &[2, 4, 6, 4, 3, 2, 1, 2][..]));
    }

    /// The vectors of the document, which were made by other code.
    #[test]
    fn frames_are_those_of_the_document() {
        let call = Call { session: 0x0403_0201, tag: 7 };
        let hex = |kind: u8, payload: &Payload| {
            let mut text = std::string::String::new();
            frame::encode(&Frame { kind, call, payload: payload.as_slice() }, |byte| {
                text.push_str(&std::format!("{byte:02x}"));
                Ok::<(), ()>(())
            })
            .unwrap();
            text
        };
        let piece = Piece::new(&[0xAA, 0xBB]).unwrap();
        let nonce = 0x0102_0304_0506_0708;
        let challenge = Message::Challenge { lock: Lock::Sealed, nonce, counter: 9, refused: 2 };
        let commands = [
            ("status", Command::Status),
            ("read state 0x01020304 5", Command::ReadState { offset: 0x0102_0304, length: 5 }),
            ("acknowledge 4294967296", Command::Acknowledge { row: 1 << 32 }),
            ("write state 6396 32 aabb", Command::WriteState { total: 6396, offset: 32, piece }),
            ("configure 10", Command::Configure { report_every: 10 }),
            ("history 1", Command::History { index: 1 }),
            ("challenge", Command::Challenge),
        ];
        let messages = [
            ("refused channels", Message::Nack(Refusal::Channels)),
            ("fault store damaged", Message::Fault(Fault::new(Device::Store, FaultKind::Damaged))),
            ("refused replayed", Message::Nack(Refusal::Replayed)),
            ("fault store forged", Message::Fault(Fault::new(Device::Store, FaultKind::Forged))),
            ("challenge sealed 0x0102030405060708 9 2", challenge),
        ];
        let sealed = [
            ("sealed relearn 10", Command::Relearn, 10),
            ("sealed configure 10 11", Command::Configure { report_every: 10 }, 11),
        ];
        let ours = commands.map(|(name, command)| (name, command.encode()));
        let ours = ours.into_iter().chain(messages.map(|(name, message)| (name, message.encode())));
        let seal = |(name, command, counter): (&'static str, Command, u32)| {
            let (kind, payload) = command.encode();
            let key = Key::new(core::array::from_fn(|at| u8::try_from(at).unwrap()));
            let sealed = Sealed { call, kind, counter, payload: payload.as_slice() };
            let seal = key.command(nonce, &sealed).finish();
            let mut whole = Payload::new();
            for part in [payload.as_slice(), &counter.to_le_bytes(), &seal] {
                whole.put(part);
            }
            (name, (kind | SEALED, whole))
        };
        let ours = ours.chain(sealed.map(seal));
        let document = include_str!("../../LINK.md");
        let mut compared = 0;
        for (name, (kind, payload)) in ours {
            let line = std::format!("\n{name}: {}\n", hex(kind, &payload));
            assert!(document.contains(&line), "{line}");
            compared += 1;
        }
        let vectors =
            document.split("```text").nth(1).unwrap().lines().filter(|it| it.contains(": "));
        assert_eq!(vectors.count(), compared);
    }

    #[test]
    fn every_code_comes_back() {
        for device in Device::ALL {
            assert_eq!(Device::from_code(device.code()), Some(device));
        }
        for kind in FaultKind::ALL {
            assert_eq!(FaultKind::from_code(kind.code()), Some(kind));
        }
        for refusal in Refusal::ALL {
            assert_eq!(Refusal::from_code(refusal.code()), Some(refusal));
        }
        for origin in Origin::ALL {
            assert_eq!(Origin::from_code(origin.code()), Some(origin));
        }
    }

    #[test]
    fn any_payload_is_a_message_or_none() {
        let mut noise = Noise::new(5);
        for _ in 0..100_000 {
            let payload: Vec<u8> =
                (0..noise.below(MAX_PAYLOAD + 1)).map(|_| noise.byte()).collect();
            let kind = noise.byte();
            let _ = Command::decode(kind, &payload);
            let _ = Message::decode(kind, &payload);
        }
    }
}
