//! Commands to the device and messages from it, little-endian.
//!
//! Every command is closed by exactly one [`Message::Report`], [`Message::State`] or
//! [`Message::Nack`] with its tag; [`Message::Alarm`], [`Message::Fault`] and [`Message::Boot`]
//! may come before it, or unasked with tag 0. A command that changes something
//! ([`Command::changes_state`]) and bears the tag of the one executed before is not executed
//! again, only answered: so an answer lost on the line may be asked for once more. An alarm lost
//! on the line comes again with every [`Command::Status`] and every report that the device sends
//! by itself, until [`Command::Acknowledge`].
//!
//! Statuses and alarms are the core's own, field by field. Samples are its rows: counted in 64
//! bits over all that were ever taken, and numbered from 0, so that the number of the next one is
//! how many there were.

use fastmmd::monitor::{Alarm, Change, Stage, Status};
use fastmmd::numbers;

use crate::fault::{Device, Fault, FaultKind};
use crate::frame::MAX_PAYLOAD;

/// Most channels that a sample on the link can have.
pub const MAX_CHANNELS: usize = 8;

/// Most bytes of state in one answer.
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

/// What the device is asked to do.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Command {
    /// Read the sensor, process the sample, report.
    Step,
    /// Report.
    Status,
    /// Forget what was learned and learn anew, under the settings of this build.
    Relearn,
    /// The alarms up to this row have arrived and need not come again.
    Acknowledge {
        /// [`Alarm::row`] of the last one.
        row: u64,
    },
    /// Start again, as after a push of the reset button.
    Restart,
    /// Send a piece of the saved state.
    ReadState {
        /// From which byte on; 0 takes a new copy of the state.
        offset: u32,
        /// How many bytes; at most [`MAX_STATE_PIECE`] are sent.
        length: u8,
    },
    /// Process this sample instead of one from the sensor.
    Push(Sample),
    /// Let bus transactions with a device fail.
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
    /// Not a whole frame with a right checksum; the tag is 0.
    Garbled,
    /// A whole frame of another version or kind, or of a wrong length.
    Unknown,
    /// A sample with another number of channels.
    Channels,
}

numbers!(Refusal { Garbled = 1, Unknown = 2, Channels = 3 });

/// From where the state came when the device started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Origin {
    /// Nothing was kept: it begins to learn.
    Fresh,
    /// From RAM, after a reset.
    Memory,
    /// From the EEPROM, after the power was gone.
    Store,
}

numbers!(Origin { Fresh = 0, Memory = 1, Store = 2 });

/// How things stand.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Report {
    /// How the detector stands.
    pub status: Status,
    /// Alarms that nobody has acknowledged yet.
    pub pending: u8,
    /// A union of [`flags`].
    pub flags: u8,
}

/// Bits of [`Report::flags`].
pub mod flags {
    /// The sensor fails at present.
    pub const SENSOR_FAULT: u8 = 1;
    /// The last attempt to store what was learned failed.
    pub const STORE_FAULT: u8 = 1 << 1;
    /// The last sample was left out.
    pub const SKIPPED: u8 = 1 << 2;
    /// The state as it is now, or as it was when learned, is in the EEPROM.
    pub const STORED: u8 = 1 << 3;
    /// The settings promise more than so little learning can keep for certain.
    pub const UNCERTAIN: u8 = 1 << 4;
    /// More alarms waited than there was room for: the oldest are gone.
    pub const ALARMS_LOST: u8 = 1 << 5;
    /// Monitoring goes on under the settings it was learned with, which are not this build's;
    /// [`Command::Relearn`](super::Command::Relearn) takes up this build's.
    pub const OTHER_SETTINGS: u8 = 1 << 6;
}

/// What the device says.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Message<'a> {
    /// How things stand.
    Report(Report),
    /// Drift was found.
    Alarm(Alarm),
    /// Something fails, or fails in another way than before.
    Fault(Fault),
    /// A command was not executed.
    Nack(Refusal),
    /// A piece of the saved state.
    State {
        /// Length of the whole state.
        total: u32,
        /// Where the piece begins.
        offset: u32,
        /// The piece; empty beyond the end.
        bytes: &'a [u8],
    },
    /// The device has started.
    Boot {
        /// From where its state came.
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

    // Called for every field of every message: once in flash is enough.
    #[inline(never)]
    fn put(&mut self, bytes: &[u8]) -> &mut Self {
        for (slot, byte) in self.bytes.iter_mut().skip(self.length).zip(bytes) {
            *slot = *byte;
            self.length += 1;
        }
        self
    }

    /// What was written.
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
    /// Whether executing it twice is not the same as once.
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
