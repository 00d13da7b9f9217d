//! The app: sensor, engine, store and link together.

use heapless::Deque;

use crate::bus::Bus;
use crate::engine::{Alarm, Engine, EngineError, Outcome};
use crate::fault::{Device, Fault, FaultKind};
use crate::link::{ByteLink, Link, Received};
use crate::log;
use crate::message::{Command, MAX_STATE_PIECE, Message, Origin, Refusal, Report, flags};
use crate::retained::Retained;
use crate::sensor::{Sensor, Watched};
use crate::store::Store;

/// How often things are kept and tried.
#[derive(Debug, Clone, Copy)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Config {
    /// The state goes to the RAM that outlives a reset every so many samples: 1 loses nothing.
    pub retain_every: u32,
    /// While learning, the state goes to the EEPROM every so many samples; 0: only when done.
    pub store_every_learning: u32,
    /// While monitoring, the state goes to the EEPROM every so many samples; 0: never, which
    /// after a power cut means to go on from the moment learning was complete.
    pub store_every_monitoring: u32,
    /// Attempts at each reading of the sensor.
    pub attempts: u8,
    /// So many equal readings in a row are a fault; 0: never.
    pub stuck_after: u32,
    /// A report every so many samples that the board takes by itself; 0: only when asked.
    pub report_every: u32,
}

impl Config {
    /// For a sensor of some 10 to 100 readings a second. An EEPROM good for a million writes
    /// lasts for more than a hundred thousand times learning.
    pub const DEFAULT: Self = Self {
        retain_every: 1,
        store_every_learning: 512,
        store_every_monitoring: 0,
        attempts: 3,
        stuck_after: 64,
        report_every: 0,
    };
}

impl Default for Config {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// What the board is to do after a [`poll`](App::poll).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Request {
    /// Nothing was waiting: sleep, if you like, until the line or a timer has something.
    Idle,
    /// Call again.
    Continue,
    /// A report was asked for: a good moment to log what only the board knows.
    Reported,
    /// Reset the processor.
    Restart,
}

/// The parts of an app, as the board hands them over.
#[derive(Debug)]
pub struct Parts<'a, B, L, S, E> {
    /// The bus with sensor and EEPROM.
    pub bus: B,
    /// The serial line.
    pub line: L,
    /// The sensor.
    pub sensor: S,
    /// The engine, as new. Best where it was made, in the `main` that never ends: it is most of
    /// the app's memory, and moving it would take as much stack again.
    pub engine: &'a mut E,
    /// The EEPROM, if the board has one.
    pub store: Option<Store>,
    /// RAM that outlives a reset: at least the engine's longest state and
    /// [`retained::HEADER_BYTES`](crate::retained::HEADER_BYTES).
    pub memory: &'a mut [u8],
}

/// Alarms that wait until the other end says it has them.
const MAX_PENDING: usize = 4;

/// Learns, monitors, alarms, keeps and answers. See the [crate](crate) for a picture.
#[derive(Debug)]
pub struct App<'a, B, L, S, E: Engine<C>, const C: usize> {
    bus: B,
    link: Link<L>,
    sensor: Watched<S, C>,
    engine: &'a mut E,
    /// The engine's as new: what was kept may have others.
    settings: E::Settings,
    store: Option<Store>,
    retained: Retained<'a>,
    config: Config,
    flags: u8,
    sensor_fault: Option<Fault>,
    store_fault: Option<Fault>,
    last_tag: Option<u8>,
    /// Raised and not acknowledged, oldest first.
    pending: Deque<Alarm, MAX_PENDING>,
}

impl<'a, B, L, S, E, const C: usize> App<'a, B, L, S, E, C>
where
    B: Bus,
    L: ByteLink,
    S: Sensor<C, B>,
    E: Engine<C>,
{
    /// Starts: takes up the state from RAM, else from the EEPROM, else begins to learn, and says
    /// so over the link.
    ///
    /// A state may have been kept under other settings than those of `parts.engine`, as before an
    /// update. That is reported, and then: learning begins again under the new settings, for
    /// nothing is lost by it that was not about to be learned; but what has been learned stays in
    /// force under its own settings until [`Command::Relearn`]. Only whoever sends that can know
    /// that the sensor is healthy now; taken for granted, a drift would become the new normal.
    pub fn start(parts: Parts<'a, B, L, S, E>, config: Config) -> Self {
        let mut app = Self {
            bus: parts.bus,
            link: Link::new(parts.line),
            sensor: Watched::new(parts.sensor, config.attempts, config.stuck_after),
            settings: parts.engine.settings(),
            engine: parts.engine,
            store: parts.store,
            retained: Retained::new(parts.memory),
            config,
            flags: 0,
            sensor_fault: None,
            store_fault: None,
            last_tag: None,
            pending: Deque::new(),
        };
        let origin = app.take_up();
        log::started(origin, app.engine.count());
        let other_settings = app.engine.settings() != app.settings;
        if other_settings && !app.engine.phase().is_learned() {
            app.relearn(0);
        } else if other_settings {
            app.flags |= flags::OTHER_SETTINGS;
        }
        app.note_warning();
        if let Some(alarm) = app.engine.alarm() {
            // Perhaps nobody has heard of it before the start.
            app.enqueue(alarm);
        }
        let channels = u8::try_from(C).unwrap_or(u8::MAX);
        app.link.send(0, &Message::Boot { origin, channels });
        if let Some(fault) = app.store_fault {
            app.link.send(0, &Message::Fault(fault));
        }
        if other_settings {
            app.notify(0, Fault::new(Device::Engine, FaultKind::OtherSettings));
        }
        app
    }

    /// Learns anew under the settings of this build.
    fn relearn(&mut self, tag: u8) {
        if let Err(error) = self.engine.relearn(self.settings) {
            return self.notify(tag, Fault::new(Device::Engine, error.into()));
        }
        self.pending.clear();
        self.flags &= !(flags::STORED | flags::OTHER_SETTINGS);
        self.note_warning();
    }

    /// Whether the settings in force can be trusted to keep their promise.
    fn note_warning(&mut self) {
        self.flags &= !flags::UNCERTAIN;
        if let Some(warning) = self.engine.warning() {
            log::uncertain(warning);
            self.flags |= flags::UNCERTAIN;
        }
    }

    fn take_up(&mut self) -> Origin {
        if let Some(state) = self.retained.state()
            && self.engine.restore(state).is_ok()
        {
            return Origin::Memory;
        }
        match self.load() {
            Ok(true) => Origin::Store,
            Ok(false) => Origin::Fresh,
            Err(fault) => {
                log::fault(fault);
                self.store_fault = Some(fault);
                self.flags |= flags::STORE_FAULT;
                Origin::Fresh
            }
        }
    }

    /// Whether a state was found in the EEPROM and taken up.
    fn load(&mut self) -> Result<bool, Fault> {
        let Some(store) = &mut self.store else { return Ok(false) };
        let mut found = false;
        let loaded = self.retained.replace::<LoadError>(|room| {
            let length = store.load(&mut self.bus, room)?;
            found = length.is_some();
            Ok(length.unwrap_or(0))
        });
        let result = match (loaded, self.retained.state()) {
            (Err(LoadError(fault)), _) => Err(fault),
            (Ok(_), Some(state)) if found => match self.engine.restore(state) {
                Ok(()) => Ok(true),
                Err(_) => Err(Fault::new(Device::Store, FaultKind::Unreadable)),
            },
            (Ok(_), _) => Ok(false),
        };
        if matches!(result, Ok(true)) {
            self.flags |= flags::STORED;
        } else {
            self.retained.forget();
        }
        result
    }

    /// Takes at most one byte from the link, and executes the command that it completes.
    pub fn poll(&mut self) -> Request {
        match self.link.receive() {
            Received::Nothing => Request::Idle,
            Received::Byte => Request::Continue,
            Received::Refused(tag, refusal) => {
                self.link.send(tag, &Message::Nack(refusal));
                Request::Continue
            }
            Received::Command(tag, command) => self.execute(tag, &command),
        }
    }

    /// Reads the sensor and processes the sample, for boards that keep time themselves.
    pub fn sample(&mut self) {
        self.step(0);
        let every = self.config.report_every;
        if is_due(self.engine.count(), every) {
            self.repeat_alarms(0);
            self.report(0);
        }
    }

    /// The engine, to look at.
    pub const fn engine(&self) -> &E {
        self.engine
    }

    /// The bus, to look at or to disturb.
    pub const fn bus(&mut self) -> &mut B {
        &mut self.bus
    }

    /// The serial line.
    pub fn line(&mut self) -> &mut L {
        self.link.line()
    }

    fn execute(&mut self, tag: u8, command: &Command) -> Request {
        if command.changes_state() {
            if self.last_tag == Some(tag) {
                // The answer was lost, not the command.
                self.report(tag);
                return Request::Continue;
            }
            self.last_tag = Some(tag);
        }
        match *command {
            Command::Step => self.step(tag),
            Command::Push(sample) => match sample.values() {
                Some(values) => self.process(tag, &values),
                None => return self.refuse(tag, Refusal::Channels),
            },
            Command::Status => {
                self.repeat_alarms(tag);
                self.report(tag);
                return Request::Reported;
            }
            Command::Relearn => {
                self.relearn(tag);
                self.retain(tag);
                // Else a power cut would bring back what is to be forgotten.
                self.keep(tag);
            }
            Command::Acknowledge { sample } => {
                while self.pending.front().is_some_and(|alarm| alarm.sample <= sample) {
                    self.pending.pop_front();
                }
                self.flags &= !flags::ALARMS_LOST;
            }
            Command::Restart => {
                self.report(tag);
                return Request::Restart;
            }
            Command::ReadState { offset, length } => {
                self.send_state(tag, offset, length);
                return Request::Continue;
            }
            Command::FailBus { address, transactions } => {
                if !self.bus.fail_next(address, transactions) {
                    return self.refuse(tag, Refusal::Unsupported);
                }
            }
        }
        self.report(tag);
        Request::Continue
    }

    fn refuse(&mut self, tag: u8, refusal: Refusal) -> Request {
        self.link.send(tag, &Message::Nack(refusal));
        Request::Continue
    }

    fn step(&mut self, tag: u8) {
        match self.sensor.read(&mut self.bus) {
            Ok(sample) => {
                if self.sensor_fault.take().is_some() {
                    log::recovered();
                }
                self.flags &= !flags::SENSOR_FAULT;
                self.process(tag, &sample);
            }
            Err(fault) => {
                self.flags |= flags::SENSOR_FAULT | flags::SKIPPED;
                // Said once, not for each sample that is missing.
                if self.sensor_fault.replace(fault) != Some(fault) {
                    self.notify(tag, fault);
                }
            }
        }
    }

    fn process(&mut self, tag: u8, sample: &[f32; C]) {
        let outcome = match self.engine.push(sample) {
            Ok(outcome) => outcome,
            Err(error) => {
                self.flags |= flags::SKIPPED;
                self.notify(tag, Fault::new(Device::Sample, error.into()));
                return;
            }
        };
        self.flags &= !flags::SKIPPED;
        let count = self.engine.count();
        if is_due(count, self.config.retain_every) {
            self.retain(tag);
        }
        match outcome {
            Outcome::Quiet => {}
            Outcome::Learned => log::learned(count),
            Outcome::Drift(alarm) => {
                log::alarm(&alarm);
                self.enqueue(alarm);
                self.link.send(tag, &Message::Alarm(alarm));
            }
        }
        let every = if self.engine.phase().is_learned() {
            self.config.store_every_monitoring
        } else {
            self.config.store_every_learning
        };
        if outcome == Outcome::Learned || is_due(count, every) {
            self.retain(tag);
            self.keep(tag);
        }
    }

    /// Keeps an alarm until it is acknowledged; if there is no room, the oldest one goes.
    fn enqueue(&mut self, alarm: Alarm) {
        if self.pending.is_full() {
            self.pending.pop_front();
            self.flags |= flags::ALARMS_LOST;
        }
        // There is room now.
        let _ = self.pending.push_back(alarm);
    }

    fn repeat_alarms(&mut self, tag: u8) {
        for alarm in &self.pending {
            self.link.send(tag, &Message::Alarm(*alarm));
        }
    }

    /// Copies the state to the RAM that outlives a reset.
    fn retain(&mut self, tag: u8) {
        let engine = &*self.engine;
        if let Err(error) = self.retained.replace::<EngineError>(|room| engine.save(room)) {
            self.notify(tag, Fault::new(Device::Engine, error.into()));
        }
    }

    /// Copies the retained state to the EEPROM.
    fn keep(&mut self, tag: u8) {
        let (Some(store), Some(state)) = (&mut self.store, self.retained.state()) else { return };
        match store.save(&mut self.bus, state) {
            Ok(()) => {
                log::stored(self.engine.count(), state.len());
                self.store_fault = None;
                self.flags = (self.flags & !flags::STORE_FAULT) | flags::STORED;
            }
            Err(fault) => {
                self.flags |= flags::STORE_FAULT;
                if self.store_fault.replace(fault) != Some(fault) {
                    self.notify(tag, fault);
                }
            }
        }
    }

    fn notify(&mut self, tag: u8, fault: Fault) {
        log::fault(fault);
        self.link.send(tag, &Message::Fault(fault));
    }

    fn report(&mut self, tag: u8) {
        let (channel, kind) = Report::of_alarm(self.engine.alarm());
        let report = Report {
            count: self.engine.count(),
            phase: self.engine.phase(),
            statistic: self.engine.statistic(),
            threshold: self.engine.threshold(),
            channel,
            kind,
            pending: u8::try_from(self.pending.len()).unwrap_or(u8::MAX),
            flags: self.flags,
        };
        self.link.send(tag, &Message::Report(report));
    }

    fn send_state(&mut self, tag: u8, offset: u32, length: u8) {
        if offset == 0 || self.retained.state().is_none() {
            self.retain(tag);
        }
        let state = self.retained.state().unwrap_or_default();
        let rest = usize::try_from(offset).ok().and_then(|offset| state.get(offset..));
        let rest = rest.unwrap_or_default();
        let length = usize::from(length).min(MAX_STATE_PIECE).min(rest.len());
        let total = u32::try_from(state.len()).unwrap_or(u32::MAX);
        let bytes = rest.get(..length).unwrap_or_default();
        self.link.send(tag, &Message::State { total, offset, bytes });
    }
}

/// Whether something that happens every so many samples (0: never) happens now.
const fn is_due(count: u32, every: u32) -> bool {
    match count.checked_rem(every) {
        Some(rest) => rest == 0,
        None => false,
    }
}

/// Lets the store write straight into the retained memory.
struct LoadError(Fault);

impl From<Fault> for LoadError {
    fn from(fault: Fault) -> Self {
        Self(fault)
    }
}

impl From<EngineError> for LoadError {
    fn from(error: EngineError) -> Self {
        Self(Fault::new(Device::Store, error.into()))
    }
}
