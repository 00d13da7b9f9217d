//! `device`: talks to a board over its serial line, or over a socket.

mod say;
#[cfg(test)]
mod tests;
mod told;

use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::Subcommand;
use drift_app::fault::Fault as BoardFault;
use drift_app::frame::{self, Call, Decoder, Frame};
use drift_app::message::{
    Command, Lock, MAX_PIECE, MAX_STATE_PIECE, Message, Origin, Piece, Refusal, Report,
};
use drift_app::seal::{Key, SEALED, Sealed};
use fastmmd::features::Recipe;
use fastmmd::state::Kind;
use fastmmd::{Alarm, Stage};
use serde_json::{Value, json};

use crate::fault::Fault;
use crate::files;
use crate::progress::Progress;
use say::{say_alarm, say_report, say_value};
use told::{News, Told};

/// What to do with a device.
#[derive(Subcommand)]
pub(crate) enum Action {
    /// Say what device it is: versions, board, channels, map.
    Identify,
    /// Say how it stands, and the last alarms with their age.
    Status,
    /// Print reports, alarms and faults as they come.
    Watch {
        /// Periods of the device's sample timer between two reports; 0 asks it once a second.
        #[arg(long, default_value_t = 0)]
        every: u32,
        /// End after this many reports.
        #[arg(long)]
        reports: Option<u64>,
        /// Acknowledge each alarm when it is printed, so that the device no longer repeats it.
        #[arg(long)]
        acknowledge: bool,
    },
    /// Acknowledge alarms: the device no longer repeats them. What differs stays open.
    Acknowledge {
        /// Only those up to this row.
        #[arg(long)]
        row: Option<u64>,
    },
    /// Read the detector's state into a file.
    Pull {
        /// The file.
        output: PathBuf,
    },
    /// Write a state, as `fastmmd export` or `pull` wrote it, to the device: it then monitors with what
    /// was learned elsewhere.
    Push {
        /// The file.
        file: PathBuf,
    },
    /// Forget what was learned, and learn again. Only while the sensor is healthy.
    Relearn,
    /// What differs now is nothing: it closes, and the same does not alarm again.
    Dismiss,
}

pub(crate) fn run(
    port: &str,
    key: Option<&Path>,
    action: &Action,
    as_json: bool,
) -> Result<bool, Fault> {
    let key = key.map(read_key).transpose()?;
    let mut device = Device::open(port, key)?;
    match action {
        Action::Identify => device.identify(as_json)?,
        Action::Status => return device.status(as_json),
        Action::Watch { every, reports, acknowledge } => {
            device.watch(*every, *reports, *acknowledge, as_json)?;
        }
        Action::Acknowledge { row } => say_report(&device.acknowledge(*row)?, as_json)?,
        Action::Pull { output } => {
            files::check_writable(output)?;
            files::write(output, &device.pull()?)?;
        }
        Action::Push { file } => {
            let said = device.push(&files::read(file)?)?;
            say_report(&said, as_json)?;
        }
        Action::Relearn => say_report(&device.report_of(&Command::Relearn)?, as_json)?,
        Action::Dismiss => say_report(&device.report_of(&Command::Dismiss)?, as_json)?,
    }
    Ok(false)
}

/// Time for an answer. A save to the EEPROM before it takes about a second.
const PATIENCE: Duration = Duration::from_secs(4);
/// Number of times a command is sent.
const ATTEMPTS: u32 = 3;
/// Number of times a state is read, if rows came between its pieces.
const READINGS: u32 = 5;
const BAUD: u32 = 115_200;

fn read_key(path: &Path) -> Result<Key, Fault> {
    let text = files::read(path)?;
    let text = str::from_utf8(&text).map(str::trim).ok();
    let key = text.and_then(Key::from_hex);
    key.ok_or_else(|| Fault::of(path.display(), "not a key of 64 hexadecimal digits"))
}

trait Line: Read + Write {}
impl<T: Read + Write> Line for T {}

/// The host's end of the link.
struct Device {
    port: String,
    line: Box<dyn Line>,
    decoder: Decoder,
    last: Call,
    key: Option<Key>,
    /// Nonce of the device, and the counter of the last sealed command; `None` if it may have restarted.
    challenge: Option<(u64, u32)>,
    /// Whether it has said that it started.
    started: bool,
    /// What came before an answer.
    events: Vec<Event>,
    /// What was printed of it.
    told: Told,
}

/// An answer, without borrowed parts.
enum Answer {
    Report(Report),
    State {
        total: u32,
        offset: u32,
        bytes: Vec<u8>,
    },
    Identity {
        version: [u8; 3],
        channels: u8,
        millihertz: u32,
        uptime: u64,
        board: String,
        recipe: [u8; Recipe::BYTES],
    },
    Past {
        count: u8,
        ago: u64,
        alarm: Option<Alarm>,
    },
    Challenge {
        lock: Lock,
        nonce: u64,
        counter: u32,
        refused: u32,
    },
    Refused(Refusal),
}

/// What a device says by itself, or before an answer.
enum Event {
    Alarm(Alarm, bool),
    Fault(BoardFault),
    Boot(Origin, Value),
}

impl Device {
    /// Opens a serial port, `unix:PATH` or `tcp:HOST:PORT`.
    fn open(port: &str, key: Option<Key>) -> Result<Self, Fault> {
        let broken = |error: std::io::Error| Fault::of_io(port, &error);
        let short = Duration::from_millis(100);
        let line: Box<dyn Line> = if let Some(address) = port.strip_prefix("tcp:") {
            let stream = std::net::TcpStream::connect(address).map_err(broken)?;
            stream.set_read_timeout(Some(short)).map_err(broken)?;
            Box::new(stream)
        } else if let Some(path) = port.strip_prefix("unix:") {
            Self::open_socket(path, short).map_err(broken)?
        } else {
            let opened = serialport::new(port, BAUD).timeout(short).open();
            Box::new(opened.map_err(|error| Fault::of(port, error.description.to_lowercase()))?)
        };
        let last = Call { session: files::random(), tag: 0 };
        let (port, decoder, events) = (port.to_owned(), Decoder::new(), Vec::new());
        let told = Told::default();
        let (challenge, started) = (None, false);
        Ok(Self { port, line, decoder, last, key, challenge, started, events, told })
    }

    #[cfg(unix)]
    fn open_socket(path: &str, short: Duration) -> std::io::Result<Box<dyn Line>> {
        let stream = std::os::unix::net::UnixStream::connect(path)?;
        stream.set_read_timeout(Some(short))?;
        Ok(Box::new(stream))
    }

    #[cfg(not(unix))]
    fn open_socket(_: &str, _: Duration) -> std::io::Result<Box<dyn Line>> {
        Err(ErrorKind::Unsupported.into())
    }

    /// Sends a command until it is answered; sealed, if there is a key and it needs to be.
    fn ask(&mut self, command: &Command) -> Result<Answer, Fault> {
        let was_known = self.challenge.is_some();
        let answer = self.ask_once(command)?;
        // The device may have restarted since it told its nonce, and its word of that may be lost. A command
        // that is refused has not been executed.
        if was_known && matches!(answer, Answer::Refused(Refusal::Forged)) {
            self.challenge = None;
            return self.ask_once(command);
        }
        Ok(answer)
    }

    fn ask_once(&mut self, command: &Command) -> Result<Answer, Fault> {
        let (mut kind, payload) = command.encode();
        let mut payload = payload.as_slice().to_vec();
        if let Some(key) = self.key.clone().filter(|_| !command.only_reads()) {
            let (nonce, counter) = self.challenge()?;
            self.last.tag = self.last.tag % 255 + 1;
            let sealed = Sealed { call: self.last, kind, counter, payload: &payload };
            let seal = key.command(nonce, &sealed).finish();
            payload.extend(counter.to_le_bytes());
            payload.extend(seal);
            kind |= SEALED;
        } else {
            self.last.tag = self.last.tag % 255 + 1;
        }
        self.exchange(kind, &payload)
    }

    /// The device's nonce, and the counter of the next sealed command.
    fn challenge(&mut self) -> Result<(u64, u32), Fault> {
        let (nonce, last) = match self.challenge {
            Some(known) => known,
            None => match self.ask(&Command::Challenge)? {
                Answer::Challenge { nonce, counter, .. } => (nonce, counter),
                Answer::Refused(Refusal::Unknown) => {
                    return Err(Fault::of(
                        &self.port,
                        "the device knows no seals: leave out --key",
                    ));
                }
                Answer::Refused(refusal) => return Err(self.refused(refusal)),
                _ => return Err(self.confused()),
            },
        };
        let next = last.saturating_add(1);
        self.challenge = Some((nonce, next));
        Ok((nonce, next))
    }

    /// Sends a frame until it is answered.
    fn exchange(&mut self, kind: u8, payload: &[u8]) -> Result<Answer, Fault> {
        let mut bytes = Vec::new();
        let frame = Frame { kind, call: self.last, payload };
        let Ok(()) = frame::encode(&frame, |byte| {
            bytes.push(byte);
            Ok::<(), std::convert::Infallible>(())
        });
        for _ in 0..ATTEMPTS {
            // The device executes it once: it knows session and tag.
            let sent = self.line.write_all(&bytes).and_then(|()| self.line.flush());
            sent.map_err(|error| Fault::of_io(&self.port, &error))?;
            let deadline = Instant::now() + PATIENCE;
            while let Some((call, heard)) = self.hear(deadline)? {
                match heard {
                    Heard::Answer(answer) if call == self.last => return Ok(answer),
                    Heard::Answer(_) => {}
                    Heard::Event(event) => self.events.push(event),
                }
            }
        }
        Err(Fault::of(&self.port, "the device does not answer"))
    }

    /// The next message; `None` if there is none before the deadline.
    fn hear(&mut self, deadline: Instant) -> Result<Option<(Call, Heard)>, Fault> {
        while Instant::now() < deadline {
            let mut byte = [0];
            match self.line.read(&mut byte) {
                Ok(0) => return Err(Fault::of(&self.port, "the line was closed")),
                Ok(_) => {}
                Err(error)
                    if matches!(
                        error.kind(),
                        ErrorKind::TimedOut | ErrorKind::WouldBlock | ErrorKind::Interrupted
                    ) =>
                {
                    continue;
                }
                Err(error) => return Err(Fault::of_io(&self.port, &error)),
            }
            let Some(Ok(frame)) = self.decoder.push(byte[0]) else { continue };
            if let Some(message) = Message::decode(frame.kind, frame.payload) {
                if matches!(message, Message::Boot { .. }) {
                    // It has drawn another nonce.
                    (self.challenge, self.started) = (None, true);
                }
                return Ok(Some((frame.call, Heard::of(message))));
            }
        }
        Ok(None)
    }

    fn refused(&self, refusal: Refusal) -> Fault {
        let why = match refusal {
            Refusal::Garbled => "the line garbles what is sent",
            Refusal::Unknown => "the device does not know this command: another version",
            Refusal::Channels => "another number of channels",
            Refusal::Piece => "pieces were lost on the line; try again",
            Refusal::State => {
                "the state is not one of this device's detector: channels, map and legs must be the same"
            }
            Refusal::Safe => "the device restarted again and again and now only talks; reset it",
            Refusal::Locked if self.key.is_some() => {
                "the device has no key, or could not draw a nonce: it can only be read"
            }
            Refusal::Locked => "the device needs a key for this: --key FILE, or open its lock",
            Refusal::Forged => "not the key of this device, or it restarted meanwhile",
            Refusal::Replayed => "another host commands the device at the same time; try again",
            Refusal::TooOften => "too many commands that wear the device's EEPROM; try again later",
        };
        Fault::of(&self.port, why)
    }

    fn report_of(&mut self, command: &Command) -> Result<Report, Fault> {
        match self.ask(command)? {
            Answer::Report(report) => Ok(report),
            Answer::Refused(refusal) => Err(self.refused(refusal)),
            _ => Err(self.confused()),
        }
    }

    fn confused(&self) -> Fault {
        Fault::of(&self.port, "the device answered something else")
    }

    fn identify(&mut self, as_json: bool) -> Result<(), Fault> {
        let answer = self.ask(&Command::Identify)?;
        let Answer::Identity { version: [a, b, c], channels, millihertz, uptime, board, recipe } =
            answer
        else {
            return Err(self.confused());
        };
        let (commands, refused) = match self.ask(&Command::Challenge)? {
            Answer::Challenge { lock: Lock::ReadOnly, refused, .. } => ("none: no key", refused),
            Answer::Challenge { lock: Lock::Sealed, refused, .. } => ("sealed", refused),
            Answer::Challenge { lock: Lock::Open, refused, .. } => ("the lock is open", refused),
            // Without keys and locks there is nothing to ask.
            Answer::Refused(_) => ("from anybody", 0),
            _ => return Err(self.confused()),
        };
        // Of a device with kinds of maps that this program does not know, nothing is said of it.
        let recipe = Recipe::from_bytes(&recipe).ok();
        let value = json!({
            "board": board,
            "version": format!("{a}.{b}.{c}"),
            "link_version": frame::VERSION,
            "channels": channels,
            "samples_per_second": f64::from(millihertz) / 1000.0,
            "periods_since_start": uptime,
            "map": recipe.map(|recipe| recipe.kind.name()),
            "map_inputs": recipe.map(|recipe| recipe.inputs),
            "map_frequencies": recipe.map(|recipe| recipe.frequencies),
            "map_seed": recipe.map(|recipe| recipe.seed),
            "commands": commands,
            "refused_commands": refused,
        });
        say_value(&value, as_json)
    }

    /// Returns whether it drifts.
    fn status(&mut self, as_json: bool) -> Result<bool, Fault> {
        let report = self.report_of(&Command::Status)?;
        say_report(&report, as_json)?;
        // Alarms are told with their age below.
        self.events.retain(|event| matches!(event, Event::Fault(_)));
        self.say_events(as_json)?;
        let mut index = 0;
        while let Answer::Past { count, ago, alarm: Some(alarm) } =
            self.ask(&Command::History { index })?
        {
            say_alarm(&alarm, "past", Some(ago), as_json)?;
            index += 1;
            if index >= count {
                break;
            }
        }
        Ok(report.status.stage == Stage::Drift)
    }

    fn watch(
        &mut self,
        every: u32,
        reports: Option<u64>,
        acknowledge: bool,
        as_json: bool,
    ) -> Result<(), Fault> {
        let mut told = 0;
        self.started = true;
        while reports.is_none_or(|most| told < most) {
            // What is configured holds until the next start.
            if every > 0 && std::mem::take(&mut self.started) {
                self.report_of(&Command::Configure { report_every: every })?;
            }
            if every == 0 {
                let report = self.report_of(&Command::Status)?;
                self.say_events(as_json)?;
                self.say_watched(&report, as_json)?;
                told += 1;
            }
            let deadline = Instant::now() + Duration::from_secs(1);
            while let Some((_, heard)) = self.hear(deadline)? {
                match heard {
                    Heard::Answer(Answer::Report(report)) => {
                        self.say_watched(&report, as_json)?;
                        told += 1;
                        if reports.is_some_and(|most| told >= most) {
                            break;
                        }
                    }
                    Heard::Answer(_) => {}
                    Heard::Event(event) => {
                        self.events.push(event);
                        self.say_events(as_json)?;
                    }
                }
            }
            if acknowledge && let Some(row) = self.told.next_acknowledged() {
                self.report_of(&Command::Acknowledge { row })?;
            }
        }
        Ok(())
    }

    /// Acknowledges the alarms up to this row, or all that wait.
    fn acknowledge(&mut self, row: Option<u64>) -> Result<Report, Fault> {
        // The device repeats those that wait before it reports.
        let report = self.report_of(&Command::Status)?;
        let waiting = self.events.iter().filter_map(|event| match event {
            Event::Alarm(alarm, _) => Some(alarm.row),
            Event::Fault(_) | Event::Boot(..) => None,
        });
        match row.or(waiting.max()) {
            Some(row) => self.report_of(&Command::Acknowledge { row }),
            None => Ok(report),
        }
    }

    fn say_watched(&mut self, report: &Report, as_json: bool) -> Result<(), Fault> {
        self.told.report(report);
        say_report(report, as_json)
    }

    /// Prints what the device said beside its answers, as far as that is new: it repeats what still
    /// holds.
    fn say_events(&mut self, as_json: bool) -> Result<(), Fault> {
        for event in self.events.drain(..) {
            match event {
                Event::Alarm(alarm, amended) => match self.told.alarm(&alarm) {
                    News::New if !amended => say_alarm(&alarm, "alarm", None, as_json)?,
                    News::New | News::Changed => say_alarm(&alarm, "amended", None, as_json)?,
                    News::Known => {}
                },
                Event::Fault(fault) => {
                    if self.told.fault(fault) {
                        say_value(
                            &json!({ "event": "fault", "fault": fault.to_string() }),
                            as_json,
                        )?;
                    }
                }
                Event::Boot(origin, start) => {
                    self.told.started(origin);
                    say_value(&start, as_json)?;
                }
            }
        }
        Ok(())
    }

    /// The whole state. The device may take rows between two pieces: then it is read again.
    fn pull(&mut self) -> Result<Vec<u8>, Fault> {
        let mut progress = Progress::on_terminal();
        for _ in 0..READINGS {
            let mut state = Vec::new();
            loop {
                let offset = u32::try_from(state.len()).unwrap_or(u32::MAX);
                let length = u8::try_from(MAX_STATE_PIECE).unwrap_or(u8::MAX);
                match self.ask(&Command::ReadState { offset, length })? {
                    Answer::State { bytes, .. } if bytes.is_empty() => break,
                    Answer::State { total, bytes, .. } => {
                        state.extend(bytes);
                        progress.show((state.len() as u64, Some(u64::from(total))));
                    }
                    Answer::Refused(refusal) => return Err(self.refused(refusal)),
                    _ => return Err(self.confused()),
                }
            }
            if Kind::of(&state).is_ok() {
                return Ok(state);
            }
        }
        Err(Fault::of(&self.port, "the state changed while it was read"))
    }

    fn push(&mut self, state: &[u8]) -> Result<Report, Fault> {
        let total = u32::try_from(state.len()).unwrap_or(u32::MAX);
        let mut progress = Progress::on_terminal();
        let mut offset = 0_u32;
        for bytes in state.chunks(MAX_PIECE) {
            let Some(piece) = Piece::new(bytes) else { return Err(self.confused()) };
            match self.ask(&Command::WriteState { total, offset, piece })? {
                Answer::State { offset: next, .. } => offset = next,
                Answer::Report(report) => return Ok(report),
                Answer::Refused(refusal) => return Err(self.refused(refusal)),
                _ => return Err(self.confused()),
            }
            progress.show((u64::from(offset), Some(u64::from(total))));
        }
        Err(Fault::of(&self.port, "the device expects more than the file has"))
    }
}

enum Heard {
    Answer(Answer),
    Event(Event),
}

impl Heard {
    fn of(message: Message<'_>) -> Self {
        match message {
            Message::Report(report) => Self::Answer(Answer::Report(report)),
            Message::State { total, offset, bytes } => {
                Self::Answer(Answer::State { total, offset, bytes: bytes.to_vec() })
            }
            Message::Nack(refusal) => Self::Answer(Answer::Refused(refusal)),
            Message::Identity { version, channels, millihertz, uptime, board, recipe } => {
                let board = String::from_utf8_lossy(&board).trim_end_matches('\0').to_owned();
                Self::Answer(Answer::Identity {
                    version,
                    channels,
                    millihertz,
                    uptime,
                    board,
                    recipe,
                })
            }
            Message::Past { count, ago, alarm, .. } => {
                Self::Answer(Answer::Past { count, ago, alarm })
            }
            Message::Challenge { lock, nonce, counter, refused } => {
                Self::Answer(Answer::Challenge { lock, nonce, counter, refused })
            }
            Message::Alarm(alarm) => Self::Event(Event::Alarm(alarm, false)),
            Message::Amended(alarm) => Self::Event(Event::Alarm(alarm, true)),
            Message::Fault(fault) => Self::Event(Event::Fault(fault)),
            Message::Boot { origin, start, .. } => {
                let value = json!({
                    "event": "started",
                    "from": format!("{origin:?}").to_lowercase(),
                    "cause": format!("{:?}", start.cause).to_lowercase(),
                    "detail": start.detail,
                    "tries": start.tries,
                });
                Self::Event(Event::Boot(origin, value))
            }
        }
    }
}
