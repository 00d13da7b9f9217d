//! The app: sensor, detector, store and link together.

pub(crate) mod allowance;
mod commands;
mod history;
mod keeping;

use embedded_hal::i2c::I2c;
use fastmmd::monitor::{Alarm, Monitor, Verdict};

use crate::clock::{Clock, Ticker};
use crate::fault::{Device, Fault, FaultKind};
use crate::frame::Call;
use crate::guard::Guard;
use crate::link::{ByteLink, Link, Received};
use crate::log;
use crate::message::{Message, Origin, Refusal, Report, Start, flags};
use crate::retained::Retained;
use crate::sensor::Sensor;
use crate::store::Store;
use allowance::{Allowance, REFILL_PERIODS};
use history::History;

/// How often the app saves its state, retries and reports.
#[derive(Debug, Clone, Copy)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Config {
    /// While learning, writes the state to the EEPROM every this many samples; 0: only when done. After
    /// fifteen times, once for each 4096 periods: learning that is begun again and again must not wear it out.
    pub store_every_learning: u32,
    /// While monitoring, writes the state to the EEPROM every this many samples; 0: never. After a
    /// power cut, the device then continues from the end of learning.
    pub store_every_monitoring: u32,
    /// Number of attempts to read the sensor for each sample.
    pub attempts: u8,
    /// Sends a report every this many periods of the sample timer, whether samples come or not; 0:
    /// only when asked.
    pub report_every: u32,
}

impl Config {
    /// For a sensor with 10 to 100 samples per second. While the board learns 8192 samples, each page
    /// of the EEPROM is written at most ten times: one with an endurance of a million writes lasts for
    /// 100,000 runs of learning.
    pub const DEFAULT: Self =
        Self { store_every_learning: 512, store_every_monitoring: 0, attempts: 3, report_every: 0 };
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

/// What the app says about the board it runs on.
#[derive(Debug, Clone, Copy)]
pub struct Board {
    /// Its name; the first sixteen bytes are sent.
    pub name: &'static str,
    /// Samples per 1000 seconds that it takes by itself; 0: none.
    pub millihertz: u32,
    /// Why it started.
    pub start: Start,
}

/// The parts of an app, given by the board.
pub struct Parts<'a, B, L, S, M: Monitor> {
    /// The board.
    pub board: &'a Board,
    /// The bus with sensor and EEPROM.
    pub bus: B,
    /// The serial line.
    pub line: L,
    /// The sensor.
    pub sensor: S,
    /// A new detector. Borrowed from `main`, which never returns: the detector is most of the app's
    /// memory, and moving it would take as much stack again.
    pub monitor: &'a mut M,
    /// The settings of this build.
    pub settings: &'a M::Config,
    /// The EEPROM, if the board has one.
    pub store: Option<Store>,
    /// Who may command the board.
    pub guard: Guard,
    /// RAM that survives a reset, of
    /// [`retained::memory_bytes`](crate::retained::memory_bytes).
    pub memory: &'a mut [u8],
}

/// After more starts than this, none of which ran for long, the board only talks.
const MAX_TRIES: u8 = 5;

/// A state of which no piece came for so many periods is given up: hosts send a piece that is not answered
/// again after some seconds, and until then no row is kept.
pub(crate) const PIECE_PERIODS: u16 = 1024;

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
pub struct App<'a, B, L, S, M: Monitor<Row = [f32; C], Partial = [Option<f32>; C]>, const C: usize>
{
    board: &'a Board,
    bus: Wired<B>,
    link: Link<L>,
    guard: Guard,
    sensor: S,
    monitor: &'a mut M,
    /// The settings of this build; a restored state may have others.
    settings: &'a M::Config,
    store: Option<Store>,
    /// Copies of the retained state that are still to be written to the store.
    copies: u8,
    /// Samples in the retained state that was last copied.
    kept: u64,
    /// Bytes of a state that is being written over the link, in the place of the retained one.
    incoming: Option<usize>,
    retained: Retained<'a>,
    config: Config,
    flags: u16,
    sensor_fault: Option<Fault>,
    store_fault: Option<Fault>,
    /// The last command that changed something, or was to.
    last: Option<Call>,
    /// Why that one was refused.
    refused: Option<Refusal>,
    /// Whether that command is answered when the copies are written.
    pending: bool,
    alarms: History,
    /// Periods of the sample timer since the start.
    periods: u64,
    since_report: u32,
    missed: u32,
    /// Rows that were lost, of which the detector has not been told.
    lost: u32,
    /// How often the EEPROM may still be written.
    left: Allowance,
    /// Periods since there was one more.
    since_refill: u32,
    /// Periods since an EEPROM that could not be read was tried.
    since_look: u16,
    /// Periods since a piece of a state came over the link.
    since_piece: u16,
}

impl<'a, B, L, S, M, const C: usize> App<'a, B, L, S, M, C>
where
    B: I2c,
    L: ByteLink,
    S: Sensor<C>,
    M: Monitor<Row = [f32; C], Partial = [Option<f32>; C]>,
{
    /// An app of these parts, to be [started](Self::start). Two steps, so that it is made where it stays
    /// and is on the stack once.
    #[inline(always)]
    pub fn new(parts: Parts<'a, B, L, S, M>, config: Config) -> Self {
        let saved = parts.monitor.saved_bytes();
        let retained = Retained::new(parts.memory, saved);
        // A restart must not be a way to more of them.
        let left = Allowance::of(retained.allowance());
        Self {
            board: parts.board,
            bus: wired(parts.bus),
            link: Link::new(parts.line),
            guard: parts.guard,
            sensor: parts.sensor,
            settings: parts.settings,
            monitor: parts.monitor,
            store: parts.store,
            copies: 0,
            kept: 0,
            incoming: None,
            retained,
            config,
            flags: 0,
            sensor_fault: None,
            store_fault: None,
            last: None,
            refused: None,
            pending: false,
            alarms: History::default(),
            periods: 0,
            since_report: 0,
            missed: 0,
            lost: 0,
            left,
            since_refill: 0,
            since_look: 0,
            since_piece: 0,
        }
    }

    /// Starts the app: restores the state from RAM, else from the EEPROM, else begins to learn.
    /// Sends [`Message::Boot`].
    ///
    /// If the board has started again and again, the app touches neither bus nor memory: it reports, and
    /// refuses what would ([`flags::SAFE`]).
    ///
    /// An EEPROM that cannot be read is not written to, and is tried again and again: what was
    /// learned may be in it. When it can be read, its state is taken up.
    ///
    /// After an update, a saved state may have other settings than [`Parts::monitor`]; this is
    /// reported as a fault. If the state was still learning, learning starts again with the new
    /// settings. If it had learned, it stays in force with its own settings until
    /// [`Command::Relearn`]: only the sender of that command can know that the sensor is healthy
    /// now. Learning again without being told could make a drift the new normal.
    ///
    /// [`Command::Relearn`]: crate::Command::Relearn
    #[inline(never)]
    pub fn start(&mut self) {
        if self.board.start.tries > MAX_TRIES {
            // Whatever makes it restart, what was learned stays where it is.
            self.flags = flags::SAFE;
            self.say_started(Origin::Fresh);
        } else {
            let origin = self.take_up();
            self.begin(origin);
        }
    }

    /// Goes on with a save to the EEPROM by one transaction. If there is none, takes the bytes that wait on
    /// the link, up to the end of a command, and executes that: commands wait until a save is done, and those
    /// that make one are answered then.
    pub fn poll(&mut self) -> Request {
        if self.copies > 0 {
            self.go_on(self.asked());
            return Request::Continue;
        }
        if self.pending {
            let call = self.asked();
            self.pending = false;
            self.report(call);
            return Request::Continue;
        }
        match self.link.receive(&mut self.guard) {
            Received::Nothing => Request::Idle,
            Received::Byte => Request::Continue,
            Received::Refused(call, refusal) => {
                self.link.send(call, &Message::Nack(refusal));
                Request::Continue
            }
            Received::Command(call, ref command) => self.execute(call, command),
        }
    }

    /// The command that is answered when the copies are written, if there is one.
    fn asked(&self) -> Call {
        self.last.filter(|_| self.pending).unwrap_or(Call::NONE)
    }

    /// One turn of the main loop of boards that keep time themselves: takes a sample if one is due,
    /// then [`poll`](Self::poll)s.
    pub fn turn<K: Clock>(&mut self, ticker: &mut Ticker<K>) -> Request {
        match ticker.elapsed() {
            0 => {}
            periods => self.sample(periods),
        }
        self.poll()
    }

    /// Reads the sensor and processes the sample, this many periods of the sample timer after the last
    /// one: all but one were missed.
    pub fn sample(&mut self, periods: u32) {
        self.refill(periods);
        if self.is_safe() {
            self.pass_time(periods);
            self.missed = self.missed.saturating_add(periods);
        } else {
            self.step(Call::NONE, periods);
        }
        self.since_report = self.since_report.saturating_add(periods);
        if self.config.report_every > 0 && self.since_report >= self.config.report_every {
            self.since_report = 0;
            self.remind(Call::NONE);
            self.report(Call::NONE);
        }
    }

    /// Whether it only talks, because it started again and again.
    pub(crate) const fn is_safe(&self) -> bool {
        self.flags & flags::SAFE != 0
    }

    /// Who may command the board.
    pub const fn guard(&mut self) -> &mut Guard {
        &mut self.guard
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

    /// Sets the flag for settings whose false-alarm rate is uncertain.
    fn note_warnings(&mut self) {
        self.flags &= !flags::UNCERTAIN;
        for warning in self.monitor.warnings() {
            log::uncertain(warning);
            self.flags |= flags::UNCERTAIN;
        }
    }

    /// Counts periods of the sample timer towards what may be written to the EEPROM.
    fn refill(&mut self, periods: u32) {
        self.since_refill = self.since_refill.saturating_add(periods);
        if self.since_refill >= REFILL_PERIODS {
            self.since_refill = 0;
            self.allow(self.left.refilled());
        }
    }

    /// Counts periods of the sample timer, or of samples by command.
    fn pass_time(&mut self, periods: u32) {
        self.periods = self.periods.wrapping_add(u64::from(periods));
        let short = u16::try_from(periods).unwrap_or(u16::MAX);
        self.since_look = self.since_look.saturating_add(short);
        self.since_piece = self.since_piece.saturating_add(short);
        if self.incoming.is_some() && self.since_piece >= PIECE_PERIODS {
            // Rows are kept again, and an EEPROM that could not be read is tried again.
            self.retain(Call::NONE);
            self.notify(Call::NONE, Fault::new(Device::Detector, FaultKind::Abandoned));
        }
    }

    /// Sets how often the EEPROM may still be written.
    fn allow(&mut self, left: Allowance) {
        self.left = left;
        self.retained.set_allowance(left.byte());
    }

    /// Whether the EEPROM may be written in the midst of learning; counts it.
    fn may_save(&mut self) -> bool {
        let left = self.left.save();
        self.allow(left.unwrap_or(self.left));
        left.is_some()
    }

    /// Counts samples that were due and are not to be had.
    fn miss(&mut self, samples: u32) {
        self.missed = self.missed.saturating_add(samples);
        self.lost = self.lost.saturating_add(samples);
    }

    fn step(&mut self, call: Call, periods: u32) {
        self.pass_time(periods);
        self.miss(periods.saturating_sub(1));
        let (row, failed) = self.sensor.readings(&mut self.bus, self.config.attempts);
        // A sensor that fails costs its channels, not the row.
        let skipped = match failed {
            Some(fault) if row.iter().all(Option::is_none) => Some(fault),
            _ => self.process(call, &row).err(),
        };
        if skipped.is_some() {
            self.miss(1);
            self.flags |= flags::SKIPPED;
            // Otherwise done with the row.
            self.look_again();
        }
        match failed.or(skipped) {
            None => {
                if self.sensor_fault.take().is_some() {
                    log::recovered();
                }
                self.flags &= !flags::SENSOR_FAULT;
            }
            Some(fault) => {
                self.flags |= flags::SENSOR_FAULT;
                // Not for each missing reading, but again with each report.
                if self.sensor_fault.replace(fault) != Some(fault) {
                    self.notify(call, fault);
                }
            }
        }
    }

    /// Passes a sample to the detector and sends its verdict. The detector itself refuses samples
    /// that are not finite or out of range.
    // Called in two places.
    #[inline(never)]
    fn process(&mut self, call: Call, row: &[Option<f32>; C]) -> Result<(), Fault> {
        if self.lost > 0 {
            self.skip(call);
        }
        match &self.monitor.push_partial(row) {
            Ok(verdict) => self.conclude(call, row, verdict),
            Err(error) => return Err(Fault::new(Device::Sample, (*error).into())),
        }
        Ok(())
    }

    /// Tells the detector how many rows were lost. All at once: what it predicts begins anew after many.
    #[inline(never)]
    fn skip(&mut self, call: Call) {
        let rows = core::mem::take(&mut self.lost);
        self.monitor.skip(rows);
        if self.incoming.is_none() && !self.retained.append_lost(rows) {
            self.retain(call);
        }
    }

    /// Keeps a sample that was processed, and sends its verdict.
    // Not inlined: its stack would be below that of the detector, the deepest of all.
    #[inline(never)]
    fn conclude(&mut self, call: Call, row: &[Option<f32>; C], verdict: &Verdict) {
        self.flags &= !flags::SKIPPED;
        let status = self.monitor.status();
        let (rows, learned) = (status.rows, status.stage.is_learned());
        let has_just_learned = learned && matches!(verdict, Verdict::Learning { .. });
        let store_every = if learned {
            self.config.store_every_monitoring
        } else {
            self.config.store_every_learning
        };
        // What a host is writing takes the place of what is being learned.
        let is_due = self.incoming.is_none() && is_due(rows, store_every);
        let keeps = has_just_learned || is_due && (learned || self.may_save());
        if !keeps && self.incoming.is_none() && !self.retained.append(row, S::STEPS) {
            self.retain(call);
        }
        match *verdict {
            Verdict::Learning { .. } if has_just_learned => log::learned(rows),
            Verdict::Learning { .. } | Verdict::Healthy | Verdict::Drifting => {}
            Verdict::Alarm(alarm) => {
                log::alarm(&alarm);
                self.remember(alarm);
                self.link.send(call, &Message::Alarm(alarm));
            }
            Verdict::Amended(alarm) => {
                log::amended(&alarm);
                self.alarms.amend(alarm);
                self.link.send(call, &Message::Amended(alarm));
            }
        }
        if !self.look_again() && keeps {
            self.keep(call);
        }
    }

    fn remember(&mut self, alarm: Alarm) {
        if self.alarms.remember(alarm, self.periods) {
            self.flags |= flags::ALARMS_LOST;
        }
    }

    /// Sends what still holds: alarms that are not acknowledged, and faults.
    #[inline(never)]
    fn remind(&mut self, call: Call) {
        for alarm in self.alarms.waiting() {
            self.link.send(call, &Message::Alarm(*alarm));
        }
        for fault in [self.sensor_fault, self.store_fault].into_iter().flatten() {
            self.link.send(call, &Message::Fault(fault));
        }
    }

    #[inline(never)]
    fn notify(&mut self, call: Call, fault: Fault) {
        log::fault(fault);
        self.link.send(call, &Message::Fault(fault));
    }

    #[inline(never)]
    fn report(&mut self, call: Call) {
        let report = Report {
            status: self.monitor.status(),
            pending: u8::try_from(self.alarms.waiting().count()).unwrap_or(u8::MAX),
            flags: self.flags,
            missed: self.missed,
        };
        self.link.send(call, &Message::Report(report));
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
