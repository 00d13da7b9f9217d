//! Two lines with the devices of a [`World`] on them, bit by bit, and all that can go wrong with them.

use std::vec::Vec;

use embedded_hal::i2c::{I2c, Operation, SevenBitAddress};

use super::Lines;
use crate::testing::World;

/// The lines.
pub(crate) struct Net {
    pub(crate) world: World,
    /// Clocks for which a device that was interrupted in the middle of a byte still holds the data line.
    pub(crate) data_held: u32,
    /// Half clocks for which a device still holds the clock line.
    pub(crate) clock_held: u64,
    /// Half clocks since the start.
    pub(crate) time: u64,
    /// What the master does: releases the line.
    clock: bool,
    data: bool,
    /// What the device does.
    answer: bool,
    /// The lines as they were.
    before: (bool, bool),
    phase: Phase,
    address: Option<u8>,
    written: Vec<u8>,
    to_send: Vec<u8>,
}

/// What the device that is addressed does next.
#[derive(Clone, Copy, PartialEq)]
enum Phase {
    Off,
    Take { byte: u8, bits: u32 },
    Acknowledges { reads: bool },
    Give { bits: u32 },
    Awaits { more: bool },
}

const FIRST: Phase = Phase::Take { byte: 0, bits: 0 };

impl Net {
    pub(crate) fn new(world: World) -> Self {
        Self {
            world,
            data_held: 0,
            clock_held: 0,
            time: 0,
            clock: true,
            data: true,
            answer: true,
            before: (true, true),
            phase: Phase::Off,
            address: None,
            written: Vec::new(),
            to_send: Vec::new(),
        }
    }

    fn levels(&self) -> (bool, bool) {
        let data = self.data && self.answer && self.data_held == 0;
        (self.clock && self.clock_held == 0, data)
    }

    /// The devices see what has changed, until nothing changes any more.
    fn settle(&mut self) {
        while self.levels() != self.before {
            let (clock, data) = self.levels();
            let (clock_before, data_before) = core::mem::replace(&mut self.before, (clock, data));
            match (clock_before, clock) {
                (true, true) if data_before != data => self.condition(data),
                (false, true) => self.rise(data),
                (true, false) => self.fall(),
                _ => {}
            }
        }
    }

    /// A start condition, or a stop condition.
    fn condition(&mut self, stops: bool) {
        let written = core::mem::take(&mut self.written);
        if let Some(address) = self.address.filter(|_| !written.is_empty()) {
            let _ = self.world.transaction(address, &mut [Operation::Write(&written)]);
        }
        (self.address, self.answer) = (None, true);
        self.phase = if stops { Phase::Off } else { FIRST };
    }

    fn rise(&mut self, data: bool) {
        self.data_held = self.data_held.saturating_sub(1);
        match &mut self.phase {
            Phase::Take { byte, bits } => {
                (*byte, *bits) = (*byte << 1 | u8::from(data), *bits + 1);
            }
            Phase::Awaits { more } => *more = !data,
            _ => {}
        }
    }

    fn fall(&mut self) {
        self.phase = match self.phase {
            Phase::Take { byte, bits: 8 } => match self.taken(byte) {
                Some(reads) => {
                    self.answer = false;
                    Phase::Acknowledges { reads }
                }
                None => Phase::Off,
            },
            Phase::Acknowledges { reads: false } => {
                self.answer = true;
                FIRST
            }
            Phase::Acknowledges { reads: true } | Phase::Awaits { more: true } => self.give(0),
            Phase::Give { bits: 8 } => {
                self.answer = true;
                self.to_send.rotate_left(1);
                Phase::Awaits { more: false }
            }
            Phase::Give { bits } => self.give(bits),
            Phase::Awaits { more: false } => Phase::Off,
            phase => phase,
        };
    }

    fn give(&mut self, bits: u32) -> Phase {
        self.answer = self.to_send[0] << bits & 0x80 != 0;
        Phase::Give { bits: bits + 1 }
    }

    /// A byte is there. `None` if nobody acknowledges it, else whether the master reads next.
    fn taken(&mut self, byte: u8) -> Option<bool> {
        if self.address.is_some() {
            self.written.push(byte);
            return Some(false);
        }
        let (address, reads): (SevenBitAddress, bool) = (byte >> 1, byte & 1 != 0);
        let present = [0x1E, 0x48, 0x50].contains(&address);
        self.world.transaction(address, &mut []).ok().filter(|()| present)?;
        self.address = Some(address);
        if reads {
            self.to_send.resize(64, 0);
            self.world.transaction(address, &mut [Operation::Read(&mut self.to_send)]).ok()?;
        }
        Some(reads)
    }
}

impl Lines for Net {
    fn set_clock(&mut self, high: bool) {
        self.clock = high;
        self.settle();
    }

    fn set_data(&mut self, high: bool) {
        self.data = high;
        self.settle();
    }

    fn clock(&mut self) -> bool {
        self.levels().0
    }

    fn data(&mut self) -> bool {
        self.levels().1
    }

    fn wait(&mut self) {
        self.time += 1;
        self.clock_held = self.clock_held.saturating_sub(1);
        self.settle();
    }
}
