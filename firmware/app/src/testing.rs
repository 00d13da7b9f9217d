//! What the tests of several modules share.

use std::cell::Cell;
use std::collections::VecDeque;
use std::vec;
use std::vec::Vec;

use embedded_hal::i2c::{
    Error, ErrorKind, ErrorType, I2c, NoAcknowledgeSource, Operation, SevenBitAddress,
};

use fastmmd::monitor::{Alarm, Change, Leg};

use crate::link::ByteLink;

/// Reproducible random numbers (xorshift64*).
pub(crate) struct Noise(u64);

impl Noise {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    pub(crate) fn byte(&mut self) -> u8 {
        self.next().to_be_bytes()[0]
    }

    pub(crate) fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next() >> 33).unwrap() % limit
    }

    /// Roughly normal, mean 0, deviation 1.
    pub(crate) fn normal(&mut self) -> f32 {
        (0..12).map(|_| f32::from(self.byte()) / 255.0).sum::<f32>() - 6.0
    }
}

std::thread_local! {
    /// Bytes that may still be written to the RAM that a reset leaves alone; `None`: no limit.
    static BYTES_TO_RESET: Cell<Option<usize>> = const { Cell::new(None) };
}

/// What a reset is to the tests of this thread.
pub(crate) struct Reset;

/// Before each byte that is written to the RAM that a reset leaves alone: here the reset may come.
pub(crate) fn may_reset() {
    match BYTES_TO_RESET.get() {
        Some(0) => std::panic::resume_unwind(std::boxed::Box::new(Reset)),
        left => BYTES_TO_RESET.set(left.map(|left| left - 1)),
    }
}

/// Does something, with a reset after so many bytes of that RAM; returns whether it came.
pub(crate) fn with_reset(bytes: usize, work: impl FnOnce()) -> bool {
    BYTES_TO_RESET.set(Some(bytes));
    let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
    BYTES_TO_RESET.set(None);
    match ended {
        Ok(()) => false,
        Err(other) if other.is::<Reset>() => true,
        Err(other) => std::panic::resume_unwind(other),
    }
}

/// An alarm of channel 7, raised and begun on these rows. Only the core can make others: this one is
/// read from its bytes.
pub(crate) fn alarm(rows: [u64; 2], change: Change, leg: Leg) -> Alarm {
    let [row, since] = rows.map(u64::to_le_bytes);
    let (window, channel) = (64_u32.to_le_bytes(), 7_u32.to_le_bytes());
    let (score, threshold) = (1.0_f32.to_le_bytes(), 0.5_f32.to_le_bytes());
    let codes = [change.code(), leg.code()];
    let parts: [&[u8]; 7] = [&row, &since, &channel, &codes, &window, &score, &threshold];
    Alarm::from_bytes(parts.concat().as_slice().try_into().unwrap()).unwrap()
}

/// An I²C bus with a 32 KiB EEPROM at 0x50, a magnetometer at 0x1E and a thermometer at 0x48.
pub(crate) struct World {
    pub(crate) eeprom: Vec<u8>,
    pub(crate) pointer: usize,
    /// Bytes that the EEPROM accepts before it loses power; `None`: no limit.
    pub(crate) power: Option<usize>,
    pub(crate) write_protected: bool,
    /// Number of transactions with the EEPROM that fail, other than for want of an answer.
    pub(crate) bus_errors: u16,
    /// Transactions with the EEPROM.
    pub(crate) transactions: u32,
    /// Pages of the EEPROM that keep what they hold.
    pub(crate) stuck: Vec<usize>,
    /// How often each page was written.
    pub(crate) wear: Vec<u32>,
    /// What the magnetometer says while it sleeps; `None`: it is awake.
    pub(crate) asleep: Option<[i16; 3]>,
    /// Number of transactions that are not acknowledged after each write, as by a busy EEPROM.
    pub(crate) busy_after_write: u32,
    busy: u32,
    /// Whether both sensors are unplugged.
    pub(crate) unplugged: bool,
    pub(crate) field: [i16; 3],
    pub(crate) identity: [u8; 3],
    pub(crate) celsius: i8,
}

#[derive(Debug, PartialEq, Eq, Clone, Copy)]
pub(crate) enum Trouble {
    Silence,
    Collision,
}

use Trouble::Silence;

impl Error for Trouble {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Silence => ErrorKind::NoAcknowledge(NoAcknowledgeSource::Address),
            Self::Collision => ErrorKind::ArbitrationLoss,
        }
    }
}

impl World {
    pub(crate) fn new() -> Self {
        Self {
            eeprom: vec![0xFF; 32768],
            pointer: 0,
            power: None,
            write_protected: false,
            bus_errors: 0,
            transactions: 0,
            stuck: Vec::new(),
            wear: vec![0; 512],
            asleep: None,
            busy_after_write: 0,
            busy: 0,
            unplugged: false,
            field: [1, 2, 3],
            identity: *b"H43",
            celsius: 21,
        }
    }

    fn write_eeprom(&mut self, bytes: &[u8]) -> Result<(), Trouble> {
        let [high, low, data @ ..] = bytes else { return Err(Silence) };
        self.pointer = usize::from(u16::from_be_bytes([*high, *low]));
        if !data.is_empty() {
            self.wear[self.pointer / 64] += 1;
        }
        for byte in data {
            match &mut self.power {
                Some(0) => return Err(Silence),
                Some(left) => *left -= 1,
                None => {}
            }
            if !self.write_protected && !self.stuck.contains(&(self.pointer / 64)) {
                self.eeprom[self.pointer] = *byte;
            }
            // As in the real part, the address wraps within the page.
            self.pointer = (self.pointer & !63) | ((self.pointer + 1) & 63);
        }
        if !data.is_empty() {
            self.busy = self.busy_after_write;
        }
        Ok(())
    }

    fn register(&self, device: SevenBitAddress, register: usize) -> u8 {
        let [x, y, z] = self.asleep.unwrap_or(self.field).map(i16::to_be_bytes);
        match (device, register) {
            (0x48, 0) => self.celsius.to_be_bytes()[0],
            (0x48, _) => 0,
            (_, 3) => x[0],
            (_, 4) => x[1],
            (_, 5) => z[0],
            (_, 6) => z[1],
            (_, 7) => y[0],
            (_, 8) => y[1],
            (_, 10..=12) => self.identity[register - 10],
            _ => 0,
        }
    }
}

impl ErrorType for World {
    type Error = Trouble;
}

impl I2c for World {
    fn transaction(
        &mut self,
        address: SevenBitAddress,
        operations: &mut [Operation<'_>],
    ) -> Result<(), Trouble> {
        if address == 0x50 {
            self.transactions += 1;
            if self.bus_errors > 0 {
                self.bus_errors -= 1;
                return Err(Trouble::Collision);
            }
            if self.power == Some(0) {
                return Err(Silence);
            }
            if self.busy > 0 {
                self.busy -= 1;
                return Err(Silence);
            }
        }
        if self.unplugged && address != 0x50 {
            return Err(Silence);
        }
        for operation in operations {
            match (address, operation) {
                (0x50, Operation::Write(bytes)) => self.write_eeprom(bytes)?,
                (0x50, Operation::Read(into)) => {
                    for byte in into.iter_mut() {
                        *byte = self.eeprom[self.pointer];
                        self.pointer = (self.pointer + 1) % self.eeprom.len();
                    }
                }
                (0x1E | 0x48, Operation::Write(bytes)) => {
                    self.pointer = bytes.first().copied().map_or(0, usize::from);
                    if address == 0x1E && **bytes == [2, 0] {
                        self.asleep = None;
                    }
                }
                (0x1E | 0x48, Operation::Read(into)) => {
                    for (offset, byte) in into.iter_mut().enumerate() {
                        *byte = self.register(address, self.pointer + offset);
                    }
                }
                _ => return Err(Silence),
            }
        }
        Ok(())
    }
}

/// A link between two queues.
#[derive(Default)]
pub(crate) struct Pipe {
    pub(crate) incoming: VecDeque<u8>,
    pub(crate) outgoing: Vec<u8>,
}

impl ByteLink for Pipe {
    type Error = ();

    fn read(&mut self) -> Result<Option<u8>, ()> {
        Ok(self.incoming.pop_front())
    }

    fn write(&mut self, byte: u8) -> Result<(), ()> {
        self.outgoing.push(byte);
        Ok(())
    }
}
