//! An I²C master in software. The boards' drivers wait for their controller without an end; here every
//! wait has one, and a bus that a device holds is freed before it is used.

use embedded_hal::digital::{InputPin, OutputPin};
use embedded_hal::i2c::{
    Error, ErrorKind, ErrorType, I2c, NoAcknowledgeSource, Operation, SevenBitAddress,
};

/// The two lines of a bus, open-drain: what is set high can still be held low by a device.
pub trait Lines {
    /// Releases the clock line, or pulls it low.
    fn set_clock(&mut self, high: bool);
    /// Releases the data line, or pulls it low.
    fn set_data(&mut self, high: bool);
    /// Whether the clock line is high.
    fn clock(&mut self) -> bool;
    /// Whether the data line is high.
    fn data(&mut self) -> bool;
    /// Waits for half a clock.
    fn wait(&mut self);
}

/// Two pins as the lines of a bus.
#[derive(Debug)]
pub struct Pins<C, D, W> {
    /// The clock line.
    pub clock: C,
    /// The data line.
    pub data: D,
    /// Waits for half a clock.
    pub wait: W,
}

/// A pin that fails counts as one that is held, which the master reports.
impl<C, D, W> Lines for Pins<C, D, W>
where
    C: InputPin + OutputPin,
    D: InputPin + OutputPin,
    W: FnMut(),
{
    fn set_clock(&mut self, high: bool) {
        let _ = self.clock.set_state(high.into());
    }

    fn set_data(&mut self, high: bool) {
        let _ = self.data.set_state(high.into());
    }

    fn clock(&mut self) -> bool {
        matches!(self.clock.is_high(), Ok(true))
    }

    fn data(&mut self) -> bool {
        matches!(self.data.is_high(), Ok(true))
    }

    fn wait(&mut self) {
        (self.wait)();
    }
}

/// Half clocks for which devices may hold the clock line in one transaction: 4 ms at 100 kHz, 1 ms at
/// 400 kHz. The sensors and the EEPROM here never do.
pub const MAX_STRETCH: u16 = 800;

/// The master of a bus.
///
/// A transaction of n bytes, addresses included, takes at most 20·n + [`MAX_STRETCH`] + 40 half clocks: 11 ms
/// for a page of the EEPROM at 100 kHz, and 7 ms if no device holds the clock line.
#[derive(Debug)]
pub struct Wire<P> {
    lines: P,
    /// Half clocks that devices may still hold the clock line for.
    patience: u16,
}

/// Why a transaction failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WireError {
    /// Nobody acknowledged an address or a byte.
    NoAcknowledge(NoAcknowledgeSource),
    /// A device holds the data line, also after nine clocks.
    DataHeld,
    /// A device holds the clock line for too long.
    ClockHeld,
}

impl Error for WireError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::NoAcknowledge(source) => ErrorKind::NoAcknowledge(*source),
            Self::DataHeld | Self::ClockHeld => ErrorKind::Bus,
        }
    }
}

impl<P: Lines> Wire<P> {
    /// A master over these lines. Frees the bus: a reset may have interrupted a device in the middle of a
    /// byte, without a sign of it on the data line.
    pub fn new(lines: P) -> Self {
        let mut wire = Self { lines, patience: MAX_STRETCH };
        // If a device still holds a line, transactions fail, and that is reported.
        let _ = wire.free();
        wire
    }

    /// The lines.
    pub const fn lines(&mut self) -> &mut P {
        &mut self.lines
    }

    /// A device that was interrupted in the middle of a byte holds the data line until it has sent the rest.
    /// Nine clocks make it do so; a stop condition follows.
    #[inline(never)]
    fn free(&mut self) -> Result<(), WireError> {
        self.lines.set_data(true);
        for _ in 0..9 {
            self.lower_clock();
            self.raise_clock()?;
        }
        self.lower_clock();
        self.stop()?;
        if self.lines.data() { Ok(()) } else { Err(WireError::DataHeld) }
    }

    fn lower_clock(&mut self) {
        self.lines.set_clock(false);
        self.lines.wait();
    }

    /// Releases the clock line and waits until it is high.
    fn raise_clock(&mut self) -> Result<(), WireError> {
        self.lines.set_clock(true);
        self.lines.wait();
        while !self.lines.clock() {
            self.patience = self.patience.checked_sub(1).ok_or(WireError::ClockHeld)?;
            self.lines.wait();
        }
        Ok(())
    }

    /// A start condition, also in the middle of a transaction.
    fn start(&mut self) -> Result<(), WireError> {
        self.lines.set_data(true);
        self.raise_clock()?;
        self.lines.set_data(false);
        self.lines.wait();
        self.lower_clock();
        Ok(())
    }

    /// A stop condition, with the clock line low before.
    fn stop(&mut self) -> Result<(), WireError> {
        self.lines.set_data(false);
        let raised = self.raise_clock();
        self.lines.set_data(true);
        self.lines.wait();
        raised
    }

    fn write_bit(&mut self, bit: bool) -> Result<(), WireError> {
        self.lines.set_data(bit);
        self.raise_clock()?;
        // A device that holds it would get other bits than these.
        let held = bit && !self.lines.data();
        self.lower_clock();
        if held { Err(WireError::DataHeld) } else { Ok(()) }
    }

    /// Reads a bit, with the data line released.
    fn read_bit(&mut self) -> Result<bool, WireError> {
        self.raise_clock()?;
        let bit = self.lines.data();
        self.lower_clock();
        Ok(bit)
    }

    fn write_byte(&mut self, byte: u8, source: NoAcknowledgeSource) -> Result<(), WireError> {
        for position in (0..8).rev() {
            self.write_bit(byte >> position & 1 != 0)?;
        }
        self.lines.set_data(true);
        if self.read_bit()? { Err(WireError::NoAcknowledge(source)) } else { Ok(()) }
    }

    fn read_byte(&mut self, last: bool) -> Result<u8, WireError> {
        let mut byte = 0;
        // Released once for all bits.
        self.lines.set_data(true);
        for _ in 0..8 {
            byte = byte << 1 | u8::from(self.read_bit()?);
        }
        self.write_bit(last)?;
        Ok(byte)
    }

    fn operations(
        &mut self,
        address: SevenBitAddress,
        operations: &mut [Operation<'_>],
    ) -> Result<(), WireError> {
        let mut reading = None;
        let mut rest = operations.iter_mut().peekable();
        while let Some(operation) = rest.next() {
            let reads = matches!(operation, Operation::Read(_));
            // Operations of one direction follow each other without a new start.
            if reading != Some(reads) {
                self.start()?;
                self.write_byte(address << 1 | u8::from(reads), NoAcknowledgeSource::Address)?;
                reading = Some(reads);
            }
            match operation {
                Operation::Write(bytes) => {
                    for byte in bytes.iter() {
                        self.write_byte(*byte, NoAcknowledgeSource::Data)?;
                    }
                }
                Operation::Read(into) => {
                    let read_on = matches!(rest.peek(), Some(Operation::Read(_)));
                    let mut into = into.iter_mut().peekable();
                    while let Some(byte) = into.next() {
                        *byte = self.read_byte(into.peek().is_none() && !read_on)?;
                    }
                }
            }
        }
        Ok(())
    }
}

impl<P: Lines> ErrorType for Wire<P> {
    type Error = WireError;
}

impl<P: Lines> I2c for Wire<P> {
    fn transaction(
        &mut self,
        address: SevenBitAddress,
        operations: &mut [Operation<'_>],
    ) -> Result<(), WireError> {
        self.patience = MAX_STRETCH;
        if !self.lines.data() {
            self.free()?;
        }
        let result = self.operations(address, operations);
        // What failed first is told.
        result.and(self.stop())
    }
}

#[cfg(test)]
pub(crate) mod net;
#[cfg(test)]
mod tests;
