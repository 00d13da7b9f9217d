//! Messages from the device.

use fastmmd::features::Recipe;
use fastmmd::monitor::{Alarm, Status};
use fastmmd::numbers;

use super::wire::{Fields, Part, Payload, code_parts, messages, struct_parts};
use crate::fault::Fault;

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
    /// The board is in its safe state, in which it only talks.
    /// [`Command::Restart`](super::Command::Restart) ends that.
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

/// Declares bits with their names, and the list of both.
macro_rules! bits {
    ($($(#[$about:meta])* $name:ident = $bit:literal $text:literal;)*) => {
        $(
            $(#[$about])*
            pub const $name: u16 = 1 << $bit;
        )*

        /// Every flag with its name.
        pub const ALL: [(u16, &str); [$($bit),*].len()] = [$(($name, $text)),*];
    };
}

/// Bits of [`Report::flags`].
pub mod flags {
    bits! {
        /// The sensor is failing.
        SENSOR_FAULT = 0 "sensor fault";
        /// The last attempt to store or to read what was learned failed.
        STORE_FAULT = 1 "store fault";
        /// The last sample was skipped.
        SKIPPED = 2 "last sample skipped";
        /// The EEPROM holds the present state, or the state at the end of learning.
        STORED = 3 "stored";
        /// The stated time between false alarms is uncertain: there were too few learning samples.
        UNCERTAIN = 4 "too few learning samples";
        /// The queue of alarms was full: the oldest were dropped.
        ALARMS_LOST = 5 "alarms lost";
        /// Monitoring continues with the settings it was learned with, which are not this build's.
        /// [`Command::Relearn`](crate::message::Command::Relearn) switches to this build's.
        OTHER_SETTINGS = 6 "other settings";
        /// The EEPROM may hold a state that could not be read, so nothing is written to it.
        /// [`Command::Relearn`](crate::message::Command::Relearn) ends that.
        HELD = 7 "store not written to";
        /// The board started again and again, and now only talks: see
        /// [`Start::tries`](super::Start::tries).
        SAFE = 8 "only talks";
    }

    /// The names of those that are set.
    pub fn names(given: u16) -> impl Iterator<Item = &'static str> {
        ALL.into_iter().filter_map(move |(flag, name)| (given & flag != 0).then_some(name))
    }
}

code_parts!(Refusal, Origin, Cause);
#[cfg(feature = "secure")]
code_parts!(Lock);

struct_parts! {
    Report { pending, flags, missed, status }
    Start { cause, detail, tries }
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
            recipe: [u8; Recipe::BYTES],
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
