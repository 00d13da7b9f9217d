//! The app: sensor, detector, store and link together.

use embedded_hal::i2c::I2c;
use fastmmd::monitor::{Alarm, Monitor, Verdict};
use heapless::Deque;

use crate::fault::{Device, Fault, FaultKind};
use crate::link::{ByteLink, Link, Received};
use crate::log;
use crate::message::{Command, MAX_STATE_PIECE, Message, Origin, Refusal, Report, flags};
use crate::retained::Retained;
use crate::sensor::Sensor;
use crate::store::Store;

/// How often the app saves its state, retries and reports.
#[derive(Debug, Clone, Copy)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Config {
    /// Copies the state to the RAM that survives a reset every this many samples; with 1, a reset
    /// loses nothing.
    pub retain_every: u32,
    /// While learning, writes the state to the EEPROM every this many samples; 0: only when done.
    pub store_every_learning: u32,
    /// While monitoring, writes the state to the EEPROM every this many samples; 0: never. After a
    /// power cut, the device then continues from the end of learning.
    pub store_every_monitoring: u32,
    /// Number of attempts to read the sensor for each sample.
    pub attempts: u8,
    /// Sends a report every this many samples that the board takes by itself; 0: only when asked.
    pub report_every: u32,
}

impl Config {
    /// For a sensor with 10 to 100 samples per second. An EEPROM with an endurance of a million
    /// writes lasts for more than 100,000 runs of learning.
    pub const DEFAULT: Self = Self {
        retain_every: 1,
        store_every_learning: 512,
        store_every_monitoring: 0,
        attempts: 3,
        report_every: 0,
    };
}

impl Default for Config {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// What the board should do after a [`poll`](App::poll).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Request {
    /// Nothing was waiting: the board may sleep until the next byte or timer event.
    Idle,
    /// Call `poll` again.
    Continue,
    /// A report was sent on request: the board may log its own values now.
    Reported,
    /// Reset the processor.
    Restart,
}

/// The parts of an app, given by the board.
#[derive(Debug)]
pub struct Parts<'a, B, L, S, M> {
    /// The bus with sensor and EEPROM.
    pub bus: B,
    /// The serial line.
    pub line: L,
    /// The sensor.
    pub sensor: S,
    /// A new detector. Borrowed from `main`, which never returns: the detector is most of the app's
    /// memory, and moving it would take as much stack again.
    pub monitor: &'a mut M,
    /// The EEPROM, if the board has one.
    pub store: Option<Store>,
    /// RAM that survives a reset: at least [`Monitor::saved_bytes`] +
    /// [`retained::HEADER_BYTES`](crate::retained::HEADER_BYTES) bytes.
    pub memory: &'a mut [u8],
}

/// Largest number of alarms that wait for an acknowledgement.
const MAX_PENDING: usize = 4;

/// The board's bus, as the app uses it.
#[cfg(not(feature = "fault-injection"))]
type Wired<B> = B;
/// The board's bus, as the app uses it: one that can be made to fail.
#[cfg(feature = "fault-injection")]
type Wired<B> = crate::bus::FaultyBus<B>;

#[cfg(not(feature = "fault-injection"))]
const fn wired<B>(bus: B) -> Wired<B> {
    bus
}

#[cfg(feature = "fault-injection")]
const fn wired<B>(bus: B) -> Wired<B> {
    Wired::new(bus)
}

/// The app: learns, monitors, raises alarms, saves its state and answers commands. The
/// [crate](crate) has a diagram.
#[derive(Debug)]
pub struct App<'a, B, L, S, M: Monitor<Row = [f32; C]>, const C: usize> {
    bus: Wired<B>,
    link: Link<L>,
    sensor: S,
    monitor: &'a mut M,
    /// The settings of this build; a restored state may have others.
    settings: M::Config,
    store: Option<Store>,
    retained: Retained<'a>,
    config: Config,
    flags: u8,
    sensor_fault: Option<Fault>,
    store_fault: Option<Fault>,
    last_tag: Option<u8>,
    /// Alarms raised and not yet acknowledged, oldest first.
    pending: Deque<Alarm, MAX_PENDING>,
}

impl<'a, B, L, S, M, const C: usize> App<'a, B, L, S, M, C>
where
    B: I2c,
    L: ByteLink,
    S: Sensor<C>,
    M: Monitor<Row = [f32; C]>,
{
    /// Starts the app: restores the state from RAM, else from the EEPROM, else begins to learn.
    /// Sends [`Message::Boot`].
    ///
    /// After an update, a saved state may have other settings than `parts.monitor`; this is
    /// reported as a fault. If the state was still learning, learning starts again with the new
    /// settings. If it had learned, it stays in force with its own settings until
    /// [`Command::Relearn`]: only the sender of that command can know that the sensor is healthy
    /// now. Learning again without being told could make a drift the new normal.
    pub fn start(parts: Parts<'a, B, L, S, M>, config: Config) -> Self {
        let mut app = Self {
            bus: wired(parts.bus),
            link: Link::new(parts.line),
            sensor: parts.sensor,
            settings: parts.monitor.config().clone(),
            monitor: parts.monitor,
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
        let status = app.monitor.status();
        log::started(origin, status.rows);
        let other_settings = *app.monitor.config() != app.settings;
        if other_settings && !status.stage.is_learned() {
            app.relearn(0);
        } else if other_settings {
            app.flags |= flags::OTHER_SETTINGS;
        }
        app.note_warnings();
        if let Some(alarm) = status.alarm {
            // The host may not have received it before the restart.
            app.enqueue(alarm);
        }
        let channels = u8::try_from(C).unwrap_or(u8::MAX);
        app.link.send(0, &Message::Boot { origin, channels });
        if let Some(fault) = app.store_fault {
            app.link.send(0, &Message::Fault(fault));
        }
        if other_settings {
            app.notify(0, Fault::new(Device::Detector, FaultKind::OtherSettings));
        }
        app
    }

    /// Learns again with the settings of this build.
    fn relearn(&mut self, tag: u8) {
        if let Err(error) = self.monitor.relearn_with(self.settings.clone()) {
            return self.notify(tag, Fault::new(Device::Detector, error.into()));
        }
        self.pending.clear();
        self.flags &= !(flags::STORED | flags::OTHER_SETTINGS);
        self.note_warnings();
    }

    /// Sets the flag for settings whose false-alarm rate is uncertain.
    fn note_warnings(&mut self) {
        self.flags &= !flags::UNCERTAIN;
        for warning in self.monitor.warnings() {
            log::uncertain(warning);
            self.flags |= flags::UNCERTAIN;
        }
    }

    fn take_up(&mut self) -> Origin {
        if self.restore() {
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

    /// Restores a state from the RAM that survives a reset; returns whether there was one.
    fn restore(&mut self) -> bool {
        self.retained.state().is_some_and(|state| self.monitor.restore(state).is_ok())
    }

    /// Restores a state from the EEPROM; returns whether there was one.
    fn load(&mut self) -> Result<bool, Fault> {
        let Some(store) = &mut self.store else { return Ok(false) };
        let mut found = false;
        let loaded = self.retained.replace(|room| {
            let length = store.load(&mut self.bus, room)?;
            found = length.is_some();
            Ok(length.unwrap_or(0))
        });
        let result = match loaded {
            Err(fault) => Err(fault),
            Ok(()) if !found => Ok(false),
            Ok(()) if self.restore() => Ok(true),
            Ok(()) => Err(Fault::new(Device::Store, FaultKind::Unreadable)),
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
        if is_due(self.monitor.status().rows, self.config.report_every) {
            self.repeat_alarms(0);
            self.report(0);
        }
    }

    /// The detector.
    pub const fn monitor(&self) -> &M {
        self.monitor
    }

    /// The bus, to inspect it or to inject faults.
    #[cfg(feature = "fault-injection")]
    pub const fn bus(&mut self) -> &mut Wired<B> {
        &mut self.bus
    }

    /// The serial line.
    pub fn line(&mut self) -> &mut L {
        self.link.line()
    }

    fn execute(&mut self, tag: u8, command: &Command) -> Request {
        if command.changes_state() {
            if self.last_tag == Some(tag) {
                // A repeated command: its answer was lost, not the command itself.
                self.report(tag);
                return Request::Continue;
            }
            self.last_tag = Some(tag);
        }
        match *command {
            Command::Step => self.step(tag),
            Command::Push(sample) => match sample.values() {
                Some(values) => {
                    if let Err(fault) = self.process(tag, &values) {
                        self.flags |= flags::SKIPPED;
                        self.notify(tag, fault);
                    }
                }
                None => {
                    self.link.send(tag, &Message::Nack(Refusal::Channels));
                    return Request::Continue;
                }
            },
            Command::Status => {
                self.repeat_alarms(tag);
                self.report(tag);
                return Request::Reported;
            }
            Command::Relearn => {
                self.relearn(tag);
                self.retain(tag);
                // Otherwise a power cut would bring back the state that is to be forgotten.
                self.keep(tag);
            }
            Command::Dismiss => {
                log::dismissed(self.monitor.status().open);
                self.monitor.dismiss();
                self.retain(tag);
                // Otherwise a power cut would bring back what was dismissed.
                self.keep(tag);
            }
            Command::Acknowledge { row } => {
                while self.pending.front().is_some_and(|alarm| alarm.row <= row) {
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
            #[cfg(feature = "fault-injection")]
            Command::FailBus { address, transactions } => {
                self.bus.fail_next(address, transactions);
            }
        }
        self.report(tag);
        Request::Continue
    }

    fn step(&mut self, tag: u8) {
        let reading = self.sensor.insist(&mut self.bus, self.config.attempts);
        match reading.and_then(|sample| self.process(tag, &sample)) {
            Ok(()) => {
                if self.sensor_fault.take().is_some() {
                    log::recovered();
                }
                self.flags &= !flags::SENSOR_FAULT;
            }
            Err(fault) => {
                self.flags |= flags::SENSOR_FAULT | flags::SKIPPED;
                // Reported once, not for each missing sample.
                if self.sensor_fault.replace(fault) != Some(fault) {
                    self.notify(tag, fault);
                }
            }
        }
    }

    /// Passes a sample to the detector and sends its verdict. The detector itself refuses samples
    /// that are not finite or out of range.
    fn process(&mut self, tag: u8, sample: &[f32; C]) -> Result<(), Fault> {
        let verdict = self.monitor.push(sample);
        let verdict = verdict.map_err(|error| Fault::new(Device::Sample, error.into()))?;
        self.flags &= !flags::SKIPPED;
        let status = self.monitor.status();
        let (rows, learned) = (status.rows, status.stage.is_learned());
        let has_just_learned = learned && matches!(verdict, Verdict::Learning { .. });
        let store_every = if learned {
            self.config.store_every_monitoring
        } else {
            self.config.store_every_learning
        };
        let keeps = has_just_learned || is_due(rows, store_every);
        if keeps || is_due(rows, self.config.retain_every) {
            self.retain(tag);
        }
        match verdict {
            Verdict::Learning { .. } if has_just_learned => log::learned(rows),
            Verdict::Learning { .. } | Verdict::Healthy | Verdict::Drifting => {}
            Verdict::Alarm(alarm) => {
                log::alarm(&alarm);
                self.enqueue(alarm);
                self.link.send(tag, &Message::Alarm(alarm));
            }
            Verdict::Amended(alarm) => {
                log::amended(&alarm);
                // An acknowledged one is not there any more: its row has arrived.
                for pending in self.pending.iter_mut().filter(|one| one.row == alarm.row) {
                    *pending = alarm;
                }
                self.link.send(tag, &Message::Amended(alarm));
            }
        }
        if keeps {
            self.keep(tag);
        }
        Ok(())
    }

    /// Keeps an alarm until it is acknowledged; if the queue is full, drops the oldest one.
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

    /// Copies the state to the RAM that survives a reset.
    fn retain(&mut self, tag: u8) {
        let monitor = &*self.monitor;
        let saved = self.retained.replace(|room| {
            monitor.save(room).map_err(|error| Fault::new(Device::Detector, error.into()))
        });
        if let Err(fault) = saved {
            self.notify(tag, fault);
        }
    }

    /// Copies the retained state to the EEPROM.
    fn keep(&mut self, tag: u8) {
        let (Some(store), Some(state)) = (&mut self.store, self.retained.state()) else { return };
        match store.save(&mut self.bus, state) {
            Ok(()) => {
                log::stored(self.monitor.status().rows, state.len());
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
        let report = Report {
            status: self.monitor.status(),
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

/// Whether something that happens every `every` samples (0: never) is due.
///
/// Uses the low 32 bits, since a 64-bit division takes 900 bytes of flash. Where they wrap, every
/// 2³² samples, one interval is shorter.
fn is_due(rows: u64, every: u32) -> bool {
    #[expect(clippy::cast_possible_truncation, reason = "as said")]
    let low = rows as u32;
    low.checked_rem(every) == Some(0)
}
