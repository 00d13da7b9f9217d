//! Commands to the device and messages from it, little-endian.
//!
//! The device answers every command with exactly one [`Message::Report`], [`Message::State`] or
//! [`Message::Nack`] that has the command's tag. [`Message::Alarm`], [`Message::Fault`] and
//! [`Message::Boot`] may come before the answer, or unasked with tag 0.
//!
//! If an answer is lost, the host sends the command again with the same tag. A command that changes
//! something ([`Command::changes_state`]) is then answered but not executed a second time. A lost
//! alarm is sent again with every [`Command::Status`] and every report that the device sends by
//! itself, until [`Command::Acknowledge`].
//!
//! Statuses and alarms have the fields of the core's types. Samples are the core's rows: numbered
//! from 0 in 64 bits, so that the number of the next one is the count so far.

use fastmmd::monitor::{Alarm, Change, Stage, Status};
use fastmmd::numbers;

use crate::fault::{Device, Fault, FaultKind};
use crate::frame::MAX_PAYLOAD;

/// Largest number of channels of a sample on the link.
pub const MAX_CHANNELS: usize = 8;

/// Largest number of bytes of the state in one answer.
pub const MAX_STATE_PIECE: usize = 64;

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
        let mut sample = Self { channels: u8::try_from(values.len()).ok()?, values: [0.0; 8] };
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

/// A command to the device.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Command {
    /// Read the sensor, process the sample, report.
    Step,
    /// Report.
    Status,
    /// Forget what was learned and learn again, with the settings of this build.
    Relearn,
    /// The alarms up to this row have arrived and need not be sent again.
    Acknowledge {
        /// [`Alarm::row`] of the last one.
        row: u64,
    },
    /// Restart, as with the reset button.
    Restart,
    /// Send a piece of the saved state.
    ReadState {
        /// Offset in bytes; 0 takes a new copy of the state.
        offset: u32,
        /// Number of bytes; at most [`MAX_STATE_PIECE`] are sent.
        length: u8,
    },
    /// Process this sample instead of one from the sensor.
    Push(Sample),
    /// Make bus transactions with a device fail.
    #[cfg(feature = "fault-injection")]
    FailBus {
        /// The device's address on the bus.
        address: u8,
        /// How many transactions fail.
        transactions: u16,
    },
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
}

numbers!(Refusal { Garbled = 1, Unknown = 2, Channels = 3 });

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
    pub flags: u8,
}

/// Bits of [`Report::flags`].
pub mod flags {
    /// The sensor is failing.
    pub const SENSOR_FAULT: u8 = 1;
    /// The last attempt to store what was learned failed.
    pub const STORE_FAULT: u8 = 1 << 1;
    /// The last sample was skipped.
    pub const SKIPPED: u8 = 1 << 2;
    /// The EEPROM holds the present state, or the state at the end of learning.
    pub const STORED: u8 = 1 << 3;
    /// The stated time between false alarms is uncertain: there were too few learning samples.
    pub const UNCERTAIN: u8 = 1 << 4;
    /// The queue of alarms was full: the oldest were dropped.
    pub const ALARMS_LOST: u8 = 1 << 5;
    /// Monitoring continues with the settings it was learned with, which are not this build's.
    /// [`Command::Relearn`](super::Command::Relearn) switches to this build's.
    pub const OTHER_SETTINGS: u8 = 1 << 6;
}

/// A message from the device.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Message<'a> {
    /// The state of the device, in short.
    Report(Report),
    /// Drift was found.
    Alarm(Alarm),
    /// A device has begun to fail, or fails in another way than before.
    Fault(Fault),
    /// A command was not executed.
    Nack(Refusal),
    /// A piece of the saved state.
    State {
        /// Length of the whole state, in bytes.
        total: u32,
        /// Offset of the piece, in bytes.
        offset: u32,
        /// The piece; empty beyond the end.
        bytes: &'a [u8],
    },
    /// The device has started.
    Boot {
        /// Where its state came from.
        origin: Origin,
        /// Number of channels.
        channels: u8,
    },
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
    fn put(&mut self, bytes: &[u8]) -> &mut Self {
        for (slot, byte) in self.bytes.iter_mut().skip(self.length).zip(bytes) {
            *slot = *byte;
            self.length += 1;
        }
        self
    }

    /// The bytes written so far.
    #[must_use]
    pub fn as_slice(&self) -> &[u8] {
        self.bytes.get(..self.length).unwrap_or_default()
    }
}

/// Takes fields from the front of a payload.
struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (field, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*field)
    }

    fn byte(&mut self) -> Option<u8> {
        self.take().map(|[byte]| byte)
    }

    #[cfg(feature = "fault-injection")]
    fn short(&mut self) -> Option<u16> {
        self.take().map(u16::from_le_bytes)
    }

    fn word(&mut self) -> Option<u32> {
        self.take().map(u32::from_le_bytes)
    }

    fn long(&mut self) -> Option<u64> {
        self.take().map(u64::from_le_bytes)
    }

    fn float(&mut self) -> Option<f32> {
        self.take().map(f32::from_le_bytes)
    }

    fn rest(&mut self) -> &'a [u8] {
        core::mem::take(&mut self.0)
    }
}

impl Command {
    /// Whether executing it twice differs from executing it once.
    #[must_use]
    pub const fn changes_state(&self) -> bool {
        matches!(self, Self::Step | Self::Push(_) | Self::Relearn)
    }

    /// Kind and payload of its frame.
    #[must_use]
    pub fn encode(&self) -> (u8, Payload) {
        let mut payload = Payload::new();
        let kind = match self {
            Self::Step => 0x01,
            Self::Status => 0x02,
            Self::Relearn => 0x03,
            Self::Restart => 0x04,
            Self::ReadState { offset, length } => {
                payload.put(&offset.to_le_bytes()).put(&[*length]);
                0x05
            }
            Self::Push(sample) => {
                for value in sample.values.iter().take(usize::from(sample.channels)) {
                    payload.put(&value.to_le_bytes());
                }
                0x06
            }
            #[cfg(feature = "fault-injection")]
            Self::FailBus { address, transactions } => {
                payload.put(&[*address]).put(&transactions.to_le_bytes());
                0x07
            }
            Self::Acknowledge { row } => {
                payload.put(&row.to_le_bytes());
                0x08
            }
        };
        (kind, payload)
    }

    /// The command of a frame.
    #[must_use]
    pub fn decode(kind: u8, payload: &[u8]) -> Option<Self> {
        let mut fields = Fields(payload);
        let command = match kind {
            0x01 => Self::Step,
            0x02 => Self::Status,
            0x03 => Self::Relearn,
            0x04 => Self::Restart,
            0x05 => Self::ReadState { offset: fields.word()?, length: fields.byte()? },
            0x06 => {
                let mut values = [0.0; MAX_CHANNELS];
                let mut channels = 0;
                for value in &mut values {
                    if let Some(given) = fields.float() {
                        *value = given;
                        channels += 1;
                    }
                }
                Self::Push(Sample { channels, values })
            }
            #[cfg(feature = "fault-injection")]
            0x07 => Self::FailBus { address: fields.byte()?, transactions: fields.short()? },
            0x08 => Self::Acknowledge { row: fields.long()? },
            _ => return None,
        };
        fields.0.is_empty().then_some(command)
    }
}

impl<'a> Message<'a> {
    /// Kind and payload of its frame.
    #[must_use]
    pub fn encode(&self) -> (u8, Payload) {
        let mut payload = Payload::new();
        let kind = match self {
            Self::Report(report) => {
                report.put(&mut payload);
                0x81
            }
            Self::Alarm(alarm) => {
                put_alarm(alarm, &mut payload);
                0x82
            }
            Self::Fault(fault) => {
                payload.put(&[fault.device.code(), fault.kind.code()]);
                0x83
            }
            Self::Nack(refusal) => {
                payload.put(&[refusal.code()]);
                0x84
            }
            Self::State { total, offset, bytes } => {
                payload.put(&total.to_le_bytes()).put(&offset.to_le_bytes()).put(bytes);
                0x85
            }
            Self::Boot { origin, channels } => {
                payload.put(&[origin.code(), *channels]);
                0x86
            }
        };
        (kind, payload)
    }

    /// The message of a frame.
    #[must_use]
    pub fn decode(kind: u8, payload: &'a [u8]) -> Option<Self> {
        let mut fields = Fields(payload);
        let message = match kind {
            0x81 => Self::Report(Report::take(&mut fields)?),
            0x82 => Self::Alarm(take_alarm(&mut fields)?),
            0x83 => Self::Fault(Fault {
                device: Device::from_code(fields.byte()?)?,
                kind: FaultKind::from_code(fields.byte()?)?,
            }),
            0x84 => Self::Nack(Refusal::from_code(fields.byte()?)?),
            0x85 => {
                Self::State { total: fields.word()?, offset: fields.word()?, bytes: fields.rest() }
            }
            0x86 => {
                Self::Boot { origin: Origin::from_code(fields.byte()?)?, channels: fields.byte()? }
            }
            _ => return None,
        };
        fields.0.is_empty().then_some(message)
    }
}

impl Report {
    fn put(&self, payload: &mut Payload) {
        let Status { stage, rows, progress, statistic, threshold, alarm } = &self.status;
        payload
            .put(&[self.pending, self.flags, stage.code()])
            .put(&rows.to_le_bytes())
            .put(&progress.to_le_bytes())
            .put(&statistic.to_le_bytes())
            .put(&threshold.to_le_bytes());
        if let Some(alarm) = alarm {
            put_alarm(alarm, payload);
        }
    }

    fn take(fields: &mut Fields<'_>) -> Option<Self> {
        let [pending, flags, stage] = fields.take()?;
        let status = Status {
            stage: Stage::from_code(stage)?,
            rows: fields.long()?,
            progress: fields.float()?,
            statistic: fields.float()?,
            threshold: fields.float()?,
            alarm: if fields.0.is_empty() { None } else { Some(take_alarm(fields)?) },
        };
        Some(Self { status, pending, flags })
    }
}

fn put_alarm(alarm: &Alarm, payload: &mut Payload) {
    let Alarm { row, since, window, score, threshold, channel, change } = *alarm;
    payload
        .put(&row.to_le_bytes())
        .put(&since.to_le_bytes())
        .put(&window.to_le_bytes())
        .put(&score.to_le_bytes())
        .put(&threshold.to_le_bytes())
        .put(&u32::try_from(channel).unwrap_or(u32::MAX).to_le_bytes())
        .put(&[change.code()]);
}

fn take_alarm(fields: &mut Fields<'_>) -> Option<Alarm> {
    Some(Alarm {
        row: fields.long()?,
        since: fields.long()?,
        window: fields.word()?,
        score: fields.float()?,
        threshold: fields.float()?,
        channel: usize::try_from(fields.word()?).ok()?,
        change: Change::from_code(fields.byte()?)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Noise;
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
            Command::FailBus { address: 0x1E, transactions: 300 },
            Command::Acknowledge { row: u64::MAX - 1 },
        ];
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
        assert_eq!(Sample::new(&[0.0; 9]), None);
    }

    #[test]
    fn messages_come_back() {
        let alarm = |change| Alarm {
            row: 1 << 40,
            since: (1 << 40) - 100,
            window: 64,
            score: 3.5,
            threshold: 2.5,
            channel: 7,
            change,
        };
        let report = |stage, alarm| {
            let (rows, progress) = (u64::MAX - 3, 0.125);
            let status = Status { stage, rows, progress, statistic: 0.25, threshold: 0.5, alarm };
            Message::Report(Report { status, pending: 2, flags: flags::SKIPPED })
        };
        let bytes: Vec<u8> = (0..64).collect();
        let mut messages = std::vec![
            Message::Fault(Fault::new(Device::Thermometer, FaultKind::Bus)),
            Message::Nack(Refusal::Channels),
            Message::State { total: 5000, offset: 64, bytes: &bytes },
            Message::Boot { origin: Origin::Store, channels: 4 },
        ];
        messages.extend(Stage::ALL.map(|stage| report(stage, None)));
        messages.extend(Change::ALL.map(|change| Message::Alarm(alarm(change))));
        messages.extend(Change::ALL.map(|change| report(Stage::Drift, Some(alarm(change)))));
        for message in messages {
            let (kind, payload) = message.encode();
            assert_eq!(Message::decode(kind, payload.as_slice()), Some(message));
        }
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
