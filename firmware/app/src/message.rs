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

mod command;
mod report;
#[cfg(test)]
mod tests;
mod wire;

#[cfg(feature = "fault-injection")]
pub use command::Failure;
pub use command::{Command, MAX_CHANNELS, MAX_COMMAND, MAX_PIECE, MAX_STATE_PIECE, Piece, Sample};
#[cfg(feature = "secure")]
pub use report::Lock;
pub use report::{Cause, Message, Origin, Refusal, Report, Start, flags};
pub use wire::Payload;
