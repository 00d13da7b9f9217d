//! The I²C controller of the board: two lines driven by software.

use embedded_hal::i2c::{
    Error, ErrorKind, ErrorType, I2c, NoAcknowledgeSource, Operation, SevenBitAddress,
};

/// The controller of QEMU's `bus=i2c` devices.
const BASE: usize = 0x4002_A000;
const SET_OR_READ: *mut u32 = BASE as *mut u32;
const CLEAR: *mut u32 = (BASE + 4) as *mut u32;
const CLOCK: u32 = 1;
const DATA: u32 = 1 << 1;

/// The bus master. There are no delays between the edges: the emulated lines settle at once.
#[derive(Debug)]
pub struct Sbcon(());

/// Nobody acknowledged an address or a byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoAcknowledge(NoAcknowledgeSource);

impl Error for NoAcknowledge {
    fn kind(&self) -> ErrorKind {
        ErrorKind::NoAcknowledge(self.0)
    }
}

impl Sbcon {
    /// The only one: [`Board::take`](crate::Board::take) makes it once.
    pub(crate) fn new() -> Self {
        let mut bus = Self(());
        // A reset may have interrupted a byte: nine clocks and a stop condition free the devices.
        for _ in 0..9 {
            bus.read_bit();
        }
        bus.stop();
        bus
    }

    fn raise(&mut self, lines: u32) {
        // SAFETY: a register of the board, used by this driver only.
        unsafe { SET_OR_READ.write_volatile(lines) };
    }

    fn lower(&mut self, lines: u32) {
        // SAFETY: as above.
        unsafe { CLEAR.write_volatile(lines) };
    }

    fn data(&self) -> bool {
        // SAFETY: as above.
        unsafe { SET_OR_READ.read_volatile() & DATA != 0 }
    }

    fn start(&mut self) {
        self.raise(DATA);
        self.raise(CLOCK);
        self.lower(DATA);
        self.lower(CLOCK);
    }

    fn stop(&mut self) {
        self.lower(DATA);
        self.raise(CLOCK);
        self.raise(DATA);
    }

    fn write_bit(&mut self, bit: bool) {
        if bit {
            self.raise(DATA);
        } else {
            self.lower(DATA);
        }
        self.raise(CLOCK);
        self.lower(CLOCK);
    }

    fn read_bit(&mut self) -> bool {
        self.raise(DATA);
        self.raise(CLOCK);
        let bit = self.data();
        self.lower(CLOCK);
        bit
    }

    fn write_byte(&mut self, byte: u8, source: NoAcknowledgeSource) -> Result<(), NoAcknowledge> {
        for position in (0..8).rev() {
            self.write_bit(byte >> position & 1 != 0);
        }
        if self.read_bit() { Err(NoAcknowledge(source)) } else { Ok(()) }
    }

    fn read_byte(&mut self, last: bool) -> u8 {
        let mut byte = 0;
        // The data line is released once for all bits: each access is slow in the emulator.
        self.raise(DATA);
        for _ in 0..8 {
            self.raise(CLOCK);
            byte = byte << 1 | u8::from(self.data());
            self.lower(CLOCK);
        }
        self.write_bit(last);
        byte
    }

    fn operations(
        &mut self,
        address: SevenBitAddress,
        operations: &mut [Operation<'_>],
    ) -> Result<(), NoAcknowledge> {
        let mut reading = None;
        let mut rest = operations.iter_mut().peekable();
        while let Some(operation) = rest.next() {
            let reads = matches!(operation, Operation::Read(_));
            // Operations of one direction follow each other without a new start.
            if reading != Some(reads) {
                self.start();
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
                        *byte = self.read_byte(into.peek().is_none() && !read_on);
                    }
                }
            }
        }
        Ok(())
    }
}

impl ErrorType for Sbcon {
    type Error = NoAcknowledge;
}

impl I2c for Sbcon {
    fn transaction(
        &mut self,
        address: SevenBitAddress,
        operations: &mut [Operation<'_>],
    ) -> Result<(), Self::Error> {
        let result = self.operations(address, operations);
        self.stop();
        result
    }
}
