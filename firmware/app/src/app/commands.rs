//! What commands do.

use embedded_hal::i2c::I2c;
use fastmmd::monitor::Monitor;

use super::{App, Request};
use crate::fault::{Device, Fault};
use crate::frame::Call;
use crate::link::ByteLink;
use crate::log;
use crate::message::{Command, MAX_STATE_PIECE, Message, Piece, Refusal, flags};
use crate::sensor::Sensor;

impl<B, L, S, M, const C: usize> App<'_, B, L, S, M, C>
where
    B: I2c,
    L: ByteLink,
    S: Sensor<C>,
    M: Monitor<Row = [f32; C], Partial = [Option<f32>; C]>,
{
    pub(super) fn execute(&mut self, call: Call, command: &Command) -> Request {
        let touches = command.changes_state() && !matches!(command, Command::Configure { .. });
        if self.is_safe() && (touches || matches!(command, Command::ReadState { .. })) {
            return self.refuse(call, Refusal::Safe);
        }
        if command.changes_state() {
            if self.last == Some(call) {
                // A repeated command: its answer was lost, not the command itself.
                self.answer_again(call, command);
                return Request::Continue;
            }
            // Also if it is refused: the same frame must not be executed later.
            (self.last, self.refused) = (Some(call), None);
            if command.wears() {
                let Some(left) = self.left.command() else {
                    return self.refuse(call, Refusal::TooOften);
                };
                self.allow(left);
            }
        }
        if self.board.millihertz == 0 && matches!(command, Command::Step | Command::Push(_)) {
            // On other boards, samples by command are no time, nor a way to more commands.
            self.refill(1);
        }
        match *command {
            Command::Step => self.step(call, 1),
            Command::Push(ref sample) => match sample.values() {
                Some(values) => {
                    self.pass_time(1);
                    // Who sends samples keeps their time: those that the sensor did not give are not missing.
                    self.lost = 0;
                    if let Err(fault) = self.process(call, &values.map(Some)) {
                        self.flags |= flags::SKIPPED;
                        self.notify(call, fault);
                    }
                }
                None => return self.refuse(call, Refusal::Channels),
            },
            Command::Status => {
                self.remind(call);
                self.report(call);
                return Request::Reported;
            }
            Command::Relearn => {
                self.relearn(call);
                // Otherwise a power cut would bring back the state that is to be forgotten.
                return self.keep_now(call);
            }
            Command::Dismiss => {
                log::dismissed(self.monitor.status().open);
                self.monitor.dismiss();
                // Otherwise a power cut would bring back what was dismissed.
                return self.keep_now(call);
            }
            Command::Acknowledge { row } => {
                self.alarms.acknowledge(row);
                self.flags &= !flags::ALARMS_LOST;
            }
            Command::Restart => {
                self.report(call);
                return Request::Restart;
            }
            Command::ReadState { offset, length } => {
                self.send_state(call, offset, length);
                return Request::Continue;
            }
            Command::WriteState { total, offset, ref piece } => {
                return self.take_piece(call, total, offset, piece);
            }
            Command::Configure { report_every } => {
                self.config.report_every = report_every;
                self.since_report = 0;
            }
            Command::Identify => {
                self.identify(call);
                return Request::Continue;
            }
            Command::History { index } => {
                self.tell(call, index);
                return Request::Continue;
            }
            #[cfg(feature = "secure")]
            Command::Challenge => {
                let challenge = self.guard.challenge();
                self.link.send(call, &challenge);
                return Request::Continue;
            }
            #[cfg(feature = "fault-injection")]
            Command::FailBus { address, transactions, kind } => {
                self.bus.fail_next(address, transactions, kind);
            }
        }
        self.report(call);
        Request::Continue
    }

    /// Tells one of the last alarms.
    #[inline(never)]
    fn tell(&mut self, call: Call, index: u8) {
        let told = self.alarms.get(usize::from(index));
        let count = u8::try_from(self.alarms.len()).unwrap_or(u8::MAX);
        let ago = told.map_or(0, |told| self.periods.wrapping_sub(told.at));
        let alarm = told.map(|told| told.alarm);
        self.link.send(call, &Message::Past { index, count, ago, alarm });
    }

    #[inline(never)]
    fn answer_again(&mut self, call: Call, command: &Command) {
        if let Some(refusal) = self.refused {
            self.link.send(call, &Message::Nack(refusal));
        } else if let (Command::WriteState { total, .. }, Some(received)) = (command, self.incoming)
        {
            self.expect_piece(call, *total, received);
        } else {
            self.report(call);
        }
    }

    #[inline(never)]
    fn refuse(&mut self, call: Call, refusal: Refusal) -> Request {
        if self.last == Some(call) {
            self.refused = Some(refusal);
        }
        self.link.send(call, &Message::Nack(refusal));
        Request::Continue
    }

    /// Learns again with the settings of this build.
    #[inline(never)]
    pub(super) fn relearn(&mut self, call: Call) {
        if let Err(error) = self.monitor.relearn_with(self.settings.clone()) {
            return self.notify(call, Fault::new(Device::Detector, error.into()));
        }
        self.alarms.clear();
        self.flags &= !(flags::STORED | flags::OTHER_SETTINGS);
        self.note_warnings();
    }

    /// Copies the state to the EEPROM; the command is answered when that is done. Who commands it may forget
    /// what could not be read.
    #[inline(never)]
    fn keep_now(&mut self, call: Call) -> Request {
        self.hold(false);
        if let Some(store) = &mut self.store {
            store.forgive();
        }
        self.keep(call);
        // It is the last command that changes something, and no other is taken before the answer.
        self.pending = true;
        Request::Continue
    }

    #[inline(never)]
    fn send_state(&mut self, call: Call, offset: u32, length: u8) {
        if offset == 0 || self.retained.state().is_none() {
            self.retain(call);
        }
        let state = self.retained.state().unwrap_or_default();
        let rest = usize::try_from(offset).ok().and_then(|offset| state.get(offset..));
        let rest = rest.unwrap_or_default();
        let length = usize::from(length).min(MAX_STATE_PIECE).min(rest.len());
        let total = u32::try_from(state.len()).unwrap_or(u32::MAX);
        let bytes = rest.get(..length).unwrap_or_default();
        self.link.send(call, &Message::State { total, offset, bytes });
    }

    /// Takes a piece of a state into the place of the retained one. With the last, the whole is checked
    /// and taken up, or refused; until then the detector goes on as it was, and a power cut brings back
    /// what the EEPROM holds.
    // Not inlined, as all that needs stack and is not on the way to the detector.
    #[inline(never)]
    fn take_piece(&mut self, call: Call, total: u32, offset: u32, piece: &Piece) -> Request {
        if usize::try_from(total) != Ok(self.monitor.saved_bytes()) {
            return self.refuse(call, Refusal::State);
        }
        if offset == 0 {
            self.incoming = Some(0);
        }
        self.since_piece = 0;
        let (start, whole) = (usize::try_from(offset), usize::try_from(total));
        let (Some(received), Ok(start), Ok(whole)) = (self.incoming, start, whole) else {
            return self.refuse(call, Refusal::Piece);
        };
        let end = start.saturating_add(piece.bytes().len());
        let room = self.retained.room().get_mut(start..end);
        let Some(room) = room.filter(|_| start == received && end <= whole) else {
            // The next snapshot ends the transfer.
            self.retain(call);
            return self.refuse(call, Refusal::Piece);
        };
        for (slot, byte) in room.iter_mut().zip(piece.bytes()) {
            *slot = *byte;
        }
        self.incoming = Some(end);
        if end < whole {
            self.expect_piece(call, total, end);
            return Request::Continue;
        }
        let state = self.retained.room().get(..whole).unwrap_or_default();
        if self.monitor.restore(state).is_err() {
            self.retain(call);
            return self.refuse(call, Refusal::State);
        }
        self.alarms.clear();
        self.flags &= !(flags::STORED | flags::OTHER_SETTINGS);
        if self.monitor.config() != self.settings {
            self.flags |= flags::OTHER_SETTINGS;
        }
        self.note_warnings();
        self.keep_now(call)
    }

    /// Says how much of a state has arrived.
    fn expect_piece(&mut self, call: Call, total: u32, received: usize) {
        let offset = u32::try_from(received).unwrap_or(u32::MAX);
        self.link.send(call, &Message::State { total, offset, bytes: &[] });
    }

    #[inline(never)]
    fn identify(&mut self, call: Call) {
        let mut board = [0; 16];
        for (slot, byte) in board.iter_mut().zip(self.board.name.bytes()) {
            *slot = byte;
        }
        self.link.send(
            call,
            &Message::Identity {
                version: VERSION,
                channels: u8::try_from(C).unwrap_or(u8::MAX),
                millihertz: self.board.millihertz,
                uptime: self.periods,
                board,
                recipe: self.monitor.recipe().to_bytes(),
            },
        );
    }
}

/// Of this package: major, minor and patch.
const VERSION: [u8; 3] = [
    number(env!("CARGO_PKG_VERSION_MAJOR")),
    number(env!("CARGO_PKG_VERSION_MINOR")),
    number(env!("CARGO_PKG_VERSION_PATCH")),
];

const fn number(digits: &str) -> u8 {
    match u8::from_str_radix(digits, 10) {
        Ok(number) => number,
        Err(_) => u8::MAX,
    }
}
