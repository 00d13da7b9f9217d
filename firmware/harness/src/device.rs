//! The host's end of the link to the firmware.

use std::io::{BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::time::Instant;

use drift_app::fault::Fault;
use drift_app::frame::{self, Call, Decoder, Frame, MAX_RAW};
use drift_app::message::{Command, Message, Origin, Refusal, Report, Start};
use drift_app::seal::{Key, SEALED, Sealed};
use fastmmd::Alarm;

use crate::error::{Doing, Error};
use crate::machine::{Machine, PATIENCE, Setup};

/// A running board and the link to its firmware.
#[derive(Debug)]
pub struct Device {
    machine: Machine,
    writer: UnixStream,
    reader: BufReader<UnixStream>,
    decoder: Decoder,
    last: Call,
    seals: Option<Seals>,
    sent: Vec<u8>,
    start: Start,
}

/// What commands are sealed with.
#[derive(Debug)]
struct Seals {
    key: &'static Key,
    nonce: u64,
    counter: u32,
}

/// Before the first command.
const FIRST: Call = Call { session: 0x5EED, tag: 0 };

/// The message that closes a command.
#[derive(Debug, Clone, PartialEq)]
pub enum Closing {
    /// The state of the device, in short.
    Report(Report),
    /// A piece of the saved state: length of the whole in bytes, and the piece.
    State(u32, Vec<u8>),
    /// The command was refused.
    Nack(Refusal),
    /// Another answer, as it was sent: kind and payload.
    Other(u8, Vec<u8>),
}

/// Everything that a command led to.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// The message that closed it.
    pub closing: Closing,
    /// Alarms received before it.
    pub alarms: Vec<Alarm>,
    /// Amended alarms received before it.
    pub amended: Vec<Alarm>,
    /// Faults received before it.
    pub faults: Vec<Fault>,
}

impl Answer {
    /// The report that closed it.
    ///
    /// # Errors
    /// [`Error::Unexpected`] if it was closed by another message.
    pub fn report(&self) -> Result<Report, Error> {
        match &self.closing {
            Closing::Report(report) => Ok(*report),
            other => Err(Error::Unexpected(format!("{other:?} instead of a report"))),
        }
    }
}

/// A message without borrowed parts.
#[derive(Debug)]
enum Said {
    Closing(Call, Closing),
    Alarm(Alarm),
    Amended(Alarm),
    Fault(Fault),
    Boot(Origin, Start),
}

impl Device {
    /// Starts a board, and waits until the firmware says where its state came from.
    ///
    /// # Errors
    /// [`Error`] if QEMU or the firmware does not start.
    pub fn start(setup: &Setup<'_>) -> Result<(Self, Origin), Error> {
        let (machine, writer) = Machine::start(setup)?;
        let reader = BufReader::new(writer.try_clone().doing("sharing the line's socket")?);
        let mut device = Self {
            machine,
            writer,
            reader,
            decoder: Decoder::<MAX_RAW>::new(),
            last: FIRST,
            seals: None,
            sent: Vec::new(),
            start: Start::UNKNOWN,
        };
        let origin = device.booted()?;
        Ok((device, origin))
    }

    /// Pushes the reset button, and waits until the firmware says where its state came from.
    ///
    /// # Errors
    /// [`Error`] if it does not start again.
    pub fn reset(&mut self) -> Result<Origin, Error> {
        self.machine.reset()?;
        self.booted()
    }

    /// Why, and how often in a row, it said that it started.
    #[must_use]
    pub const fn last_start(&self) -> Start {
        self.start
    }

    /// Makes the firmware reset itself.
    ///
    /// # Errors
    /// [`Error`] if it does not start again.
    pub fn restart(&mut self) -> Result<Origin, Error> {
        self.ask(&Command::Restart)?;
        self.booted()
    }

    /// Cuts the power, and returns the log.
    ///
    /// # Errors
    /// [`Error::Ended`] if QEMU had ended before.
    pub fn cut_power(self) -> Result<Vec<String>, Error> {
        self.machine.cut_power()
    }

    /// The board, to set its sensors.
    pub const fn machine(&mut self) -> &mut Machine {
        &mut self.machine
    }

    /// Sends a command and waits for the message that closes it.
    ///
    /// # Errors
    /// [`Error`] if none comes.
    pub fn ask(&mut self, command: &Command) -> Result<Answer, Error> {
        let tag = self.send(command)?;
        self.answer(tag)
    }

    /// Sends a command without waiting; returns the tag to [wait for](Self::answer).
    ///
    /// # Errors
    /// [`Error`] if the line is broken.
    pub fn send(&mut self, command: &Command) -> Result<Call, Error> {
        // Tag 0 is for messages that the firmware sends unasked.
        self.last.tag = self.last.tag % 255 + 1;
        let (mut kind, payload) = command.encode();
        let mut payload = payload.as_slice().to_vec();
        if let Some(seals) = self.seals.as_mut().filter(|_| !command.only_reads()) {
            seals.counter += 1;
            let Seals { key, nonce, counter } = *seals;
            let sealed = Sealed { call: self.last, kind, counter, payload: &payload };
            let seal = key.command(nonce, &sealed).finish();
            payload.extend(counter.to_le_bytes());
            payload.extend(seal);
            kind |= SEALED;
        }
        self.sent.clear();
        let frame = Frame { kind, call: self.last, payload: &payload };
        let Ok(()) = frame::encode(&frame, |byte| {
            self.sent.push(byte);
            Ok::<(), std::convert::Infallible>(())
        });
        self.send_raw(&self.sent.clone())?;
        Ok(self.last)
    }

    /// The bytes of the last command, as somebody on the line could have recorded them.
    #[must_use]
    pub fn recorded(&self) -> (Call, Vec<u8>) {
        (self.last, self.sent.clone())
    }

    /// Seals commands with this key from now on.
    ///
    /// # Errors
    /// [`Error`] if the board gives no challenge.
    pub fn seal_with(&mut self, key: &'static Key) -> Result<(), Error> {
        let Closing::Other(kind, payload) = self.ask(&Command::Challenge)?.closing else {
            return Err(Error::Silent("a challenge"));
        };
        let Some(Message::Challenge { nonce, counter, .. }) = Message::decode(kind, &payload)
        else {
            return Err(Error::Silent("a challenge"));
        };
        self.seals = Some(Seals { key, nonce, counter });
        Ok(())
    }

    /// Sends commands as they are from now on.
    pub fn do_not_seal(&mut self) {
        self.seals = None;
    }

    /// Sends raw bytes, such as noise.
    ///
    /// # Errors
    /// [`Error`] if the line is broken.
    pub fn send_raw(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let sent = self.writer.write_all(bytes).doing("writing to the board's line");
        self.machine.alive(sent)
    }

    /// Waits for the message that closes the command with this tag. Skips answers to others, such
    /// as noise.
    ///
    /// # Errors
    /// [`Error`] if none comes.
    pub fn answer(&mut self, tag: Call) -> Result<Answer, Error> {
        let (mut alarms, mut amended, mut faults) = (Vec::new(), Vec::new(), Vec::new());
        let deadline = Instant::now() + PATIENCE;
        loop {
            match self.listen(deadline)? {
                Said::Alarm(alarm) => alarms.push(alarm),
                Said::Amended(alarm) => amended.push(alarm),
                Said::Fault(fault) => faults.push(fault),
                Said::Closing(closed, closing) if closed == tag => {
                    return Ok(Answer { closing, alarms, amended, faults });
                }
                Said::Closing(..) => {}
                Said::Boot(origin, _) => {
                    let what = format!("the board restarted, from {origin:?}");
                    return Err(Error::Unexpected(what));
                }
            }
        }
    }

    /// The detector's whole state, piece by piece.
    ///
    /// # Errors
    /// [`Error`] if a piece is missing.
    pub fn read_state(&mut self) -> Result<Vec<u8>, Error> {
        self.state_from(0)
    }

    /// The state from this byte on. If that is not the first one, as it was last saved.
    ///
    /// # Errors
    /// [`Error`] if a piece is missing.
    pub fn state_from(&mut self, first: u32) -> Result<Vec<u8>, Error> {
        let mut state = Vec::new();
        loop {
            let offset = u32::try_from(state.len()).unwrap_or(u32::MAX).saturating_add(first);
            match self.ask(&Command::ReadState { offset, length: 64 })?.closing {
                Closing::State(_, piece) if piece.is_empty() => return Ok(state),
                Closing::State(_, piece) => state.extend(piece),
                other => return Err(Error::Unexpected(format!("{other:?} instead of state"))),
            }
        }
    }

    fn booted(&mut self) -> Result<Origin, Error> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            // A partial frame from before the reset ends at the first zero after it.
            if let Said::Boot(origin, start) = self.listen(deadline)? {
                self.start = start;
                self.machine.wake()?;
                return Ok(origin);
            }
        }
    }

    /// The next message. The deadline is needed because the timeout of the line does not apply
    /// while other messages keep coming.
    fn listen(&mut self, deadline: Instant) -> Result<Said, Error> {
        loop {
            if Instant::now() > deadline {
                return Err(Error::Silent("the expected message"));
            }
            let mut byte = [0];
            let read = self.reader.read_exact(&mut byte).doing("reading from the board's line");
            self.check(read)?;
            let Some(Ok(frame)) = self.decoder.push(byte[0]) else { continue };
            let tag = frame.call;
            let said = match Message::decode(frame.kind, frame.payload) {
                Some(Message::Report(report)) => Said::Closing(tag, Closing::Report(report)),
                Some(Message::Nack(refusal)) => Said::Closing(tag, Closing::Nack(refusal)),
                Some(Message::State { total, bytes, .. }) => {
                    Said::Closing(tag, Closing::State(total, bytes.to_vec()))
                }
                Some(Message::Alarm(alarm)) => Said::Alarm(alarm),
                Some(Message::Amended(alarm)) => Said::Amended(alarm),
                Some(Message::Fault(fault)) => Said::Fault(fault),
                Some(Message::Boot { origin, start, .. }) => Said::Boot(origin, start),
                Some(
                    Message::Identity { .. } | Message::Past { .. } | Message::Challenge { .. },
                ) => Said::Closing(tag, Closing::Other(frame.kind, frame.payload.to_vec())),
                None => {
                    let what = format!("a message of unknown kind {}", frame.kind);
                    return Err(Error::Unexpected(what));
                }
            };
            return Ok(said);
        }
    }

    /// If a read failed, checks whether QEMU has ended.
    fn check(&mut self, read: Result<(), Error>) -> Result<(), Error> {
        match read {
            Ok(()) => Ok(()),
            failed => self.machine.alive(failed),
        }
    }
}
