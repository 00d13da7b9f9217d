//! What survives resets and power cuts: the RAM that a reset leaves alone, and the EEPROM.

use embedded_hal::i2c::I2c;
use fastmmd::monitor::{Monitor, Verdict};

use super::App;
use crate::fault::{Device, Fault, FaultKind};
use crate::frame::Call;
use crate::link::ByteLink;
use crate::log;
use crate::message::{Message, Origin, flags};
use crate::retained::Kept;
use crate::sensor::Sensor;
use crate::store::Step;

/// An EEPROM that could not be read is tried again every this many periods of the sample timer.
const LOOK_EVERY: u16 = 32;

/// What was learned is written to both slots, so that damage to one does not lose it.
const COPIES: u8 = 2;

impl<B, L, S, M, const C: usize> App<'_, B, L, S, M, C>
where
    B: I2c,
    L: ByteLink,
    S: Sensor<C>,
    M: Monitor<Row = [f32; C], Partial = [Option<f32>; C]>,
{
    /// Looks for a state, and says where it came from.
    pub(super) fn take_up(&mut self) -> Origin {
        let restored = self.restore();
        if restored && !self.retained.is_held() {
            return Origin::Memory;
        }
        let loaded = self.load();
        if let Err(fault) = loaded {
            log::fault(fault);
            self.store_fault = Some(fault);
            self.flags |= flags::STORE_FAULT;
        }
        self.hold(loaded.is_err());
        match loaded {
            Ok(true) => Origin::Store,
            _ if restored => Origin::Memory,
            _ => Origin::Fresh,
        }
    }

    /// Says whether the EEPROM may hold a state that could not be read, also after a reset.
    pub(super) fn hold(&mut self, held: bool) {
        self.flags = if held { self.flags | flags::HELD } else { self.flags & !flags::HELD };
        self.retained.set_held(held);
    }

    /// Goes on from a state of this origin, and says so.
    pub(super) fn begin(&mut self, origin: Origin) {
        let status = self.monitor.status();
        log::started(origin, status.rows);
        let other_settings = self.monitor.config() != self.settings;
        if other_settings && !status.stage.is_learned() {
            self.relearn(Call::NONE);
        } else if other_settings {
            self.flags |= flags::OTHER_SETTINGS;
        }
        self.note_warnings();
        if let Some(alarm) = status.alarm
            && !self.alarms.amend(alarm)
        {
            // The host may not have received it before the restart.
            self.remember(alarm);
        }
        self.say_started(origin);
        if let Some(fault) = self.store_fault {
            self.link.send(Call::NONE, &Message::Fault(fault));
        }
        if other_settings {
            self.notify(Call::NONE, Fault::new(Device::Detector, FaultKind::OtherSettings));
        }
        // With no state in it, the RAM has no room for rows.
        if self.retained.state().is_none() {
            self.retain(Call::NONE);
        }
        if self.fell_back() && status.stage.is_learned() {
            // The good copy takes the place of the damaged one.
            self.keep(Call::NONE);
        }
    }

    pub(super) fn say_started(&mut self, origin: Origin) {
        let channels = u8::try_from(C).unwrap_or(u8::MAX);
        self.link.send(Call::NONE, &Message::Boot { origin, channels, start: self.board.start });
    }

    /// Restores a state from the RAM that survives a reset, and processes the rows since again; returns
    /// whether there was one.
    fn restore(&mut self) -> bool {
        let Self { retained, monitor, alarms, periods, flags, .. } = self;
        while retained.state().is_none_or(|state| monitor.restore(state).is_err()) {
            // Rows must not follow one that is none.
            if !retained.fall_back() {
                return false;
            }
        }
        retained.replay(S::STEPS, |kept| {
            let row = match kept {
                Kept::Row(row) => row,
                Kept::Lost(rows) => return monitor.skip(*rows),
            };
            // The host may not have received it before the restart.
            if let Ok(Verdict::Alarm(alarm) | Verdict::Amended(alarm)) = monitor.push_partial(row)
                && !alarms.amend(alarm)
                && alarms.remember(alarm, *periods)
            {
                *flags |= flags::ALARMS_LOST;
            }
        });
        true
    }

    /// Restores a state from the EEPROM; returns whether there was one.
    fn load(&mut self) -> Result<bool, Fault> {
        let Some(store) = &mut self.store else { return Ok(false) };
        if self.retained.state().is_some() {
            // What the RAM holds is given up only for a state that is there: a reset in between would lose it.
            match store.load(&mut self.bus, &mut []) {
                Ok(None) => return Ok(false),
                Err(fault) if fault.kind != FaultKind::TooLong => return Err(fault),
                _ => {}
            }
        }
        let mut found = None;
        let loaded = self.retained.replace(|room| {
            found = store.load(&mut self.bus, room)?;
            Ok(found.map_or(0, |found| found.length))
        });
        let result = match (loaded, found) {
            (Err(fault), _) => Err(fault),
            (Ok(()), None) => Ok(false),
            (Ok(()), Some(_)) if self.restore() => Ok(true),
            (Ok(()), Some(_)) => Err(Fault::new(Device::Store, FaultKind::Unreadable)),
        };
        if matches!(result, Ok(true)) {
            self.flags |= flags::STORED;
        } else {
            self.retained.forget();
        }
        if let (Ok(true), Some(kind)) = (result, found.and_then(|found| found.newer)) {
            let fault = Fault::new(Device::Store, kind);
            log::fault(fault);
            self.store_fault = Some(fault);
            self.flags |= flags::STORE_FAULT;
        }
        result
    }

    /// Tries again to read an EEPROM that could not be read. If there is a state in it, that takes the
    /// place of what was learned since the start; returns whether it did.
    pub(super) fn look_again(&mut self) -> bool {
        let held = self.flags & flags::HELD != 0 && self.incoming.is_none();
        // A state that this build cannot restore stays one, and so does one of somebody else.
        let unreadable = self.store_fault.is_some_and(|fault| {
            matches!(fault.kind, FaultKind::Unreadable | FaultKind::Forged | FaultKind::Replayed)
        });
        if !held || unreadable || self.since_look < LOOK_EVERY {
            return false;
        }
        self.since_look = 0;
        match self.load() {
            Ok(found) => {
                self.hold(false);
                if !self.fell_back() {
                    self.store_fault = None;
                    self.flags &= !flags::STORE_FAULT;
                }
                if found {
                    self.begin(Origin::Store);
                    return true;
                }
            }
            Err(fault) => self.store_fault = Some(fault),
        }
        // Reading may have used its place.
        if self.retained.state().is_none() {
            self.retain(Call::NONE);
        }
        false
    }

    /// Whether an older state is in force, since a newer one is damaged or not of this board.
    fn fell_back(&self) -> bool {
        self.flags & flags::HELD == 0
            && self
                .store_fault
                .is_some_and(|fault| matches!(fault.kind, FaultKind::Damaged | FaultKind::Forged))
    }

    /// Copies the state to the RAM that survives a reset.
    pub(super) fn retain(&mut self, call: Call) {
        // A save to the EEPROM needs the copy that is there.
        self.finish(call);
        self.snapshot(call);
    }

    /// Replaces the copy.
    // Not inlined: its stack would be below that of a save to the EEPROM.
    #[inline(never)]
    fn snapshot(&mut self, call: Call) {
        self.incoming = None;
        let monitor = &*self.monitor;
        let saved = self.retained.replace(|room| {
            monitor.save(room).map_err(|error| Fault::new(Device::Detector, error.into()))
        });
        if let Err(fault) = saved {
            self.notify(call, fault);
        }
    }

    /// Begins to copy the state to the EEPROM, unless that may hold one that could not be read.
    pub(super) fn keep(&mut self, call: Call) {
        self.retain(call);
        if self.store.is_some() && self.flags & flags::HELD == 0 {
            let status = self.monitor.status();
            self.kept = status.rows;
            self.copies = if status.stage.is_learned() { COPIES } else { 1 };
            self.begin_copy(call);
        }
    }

    fn begin_copy(&mut self, call: Call) {
        let (Some(store), Some(state)) = (&mut self.store, self.retained.state()) else {
            self.copies = 0;
            return;
        };
        if let Err(fault) = store.begin(&mut self.bus, state) {
            self.not_kept(call, fault);
        }
    }

    /// Goes on with a copy to the EEPROM: at most one page.
    pub(super) fn go_on(&mut self, call: Call) {
        let (Some(store), Some(state)) = (&mut self.store, self.retained.state()) else {
            self.copies = 0;
            return;
        };
        match store.step(&mut self.bus, state) {
            Ok(Step::Continue) => {}
            Ok(Step::Done) => {
                self.copies = self.copies.saturating_sub(1);
                if self.copies > 0 {
                    return self.begin_copy(call);
                }
                log::stored(self.kept, state.len());
                self.store_fault = None;
                self.flags = (self.flags & !flags::STORE_FAULT) | flags::STORED;
            }
            Err(fault) => self.not_kept(call, fault),
        }
    }

    /// Completes a copy to the EEPROM.
    #[inline(never)]
    pub(super) fn finish(&mut self, call: Call) {
        while self.copies > 0 {
            self.go_on(call);
        }
    }

    fn not_kept(&mut self, call: Call, fault: Fault) {
        self.copies = 0;
        self.flags |= flags::STORE_FAULT;
        if self.store_fault.replace(fault) != Some(fault) {
            self.notify(call, fault);
        }
    }
}
