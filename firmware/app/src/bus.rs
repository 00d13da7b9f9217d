//! The I²C bus, and one that fails when told to.

use embedded_hal::i2c::{
    Error, ErrorKind, ErrorType, I2c, NoAcknowledgeSource, Operation, SevenBitAddress,
};

/// An I²C bus that may be able to simulate faults.
pub trait Bus: I2c {
    /// Lets the next `transactions` with the device at `address` fail without an acknowledge.
    /// `false` if this bus cannot simulate faults.
    fn fail_next(&mut self, address: SevenBitAddress, transactions: u16) -> bool;
}

impl<B: Bus> Bus for &mut B {
    fn fail_next(&mut self, address: SevenBitAddress, transactions: u16) -> bool {
        B::fail_next(self, address, transactions)
    }
}

/// A bus as it is: the one for products.
#[derive(Debug)]
pub struct PlainBus<B>(pub B);

impl<B: I2c> ErrorType for PlainBus<B> {
    type Error = B::Error;
}

impl<B: I2c> I2c for PlainBus<B> {
    fn transaction(
        &mut self,
        address: SevenBitAddress,
        operations: &mut [Operation<'_>],
    ) -> Result<(), Self::Error> {
        self.0.transaction(address, operations)
    }
}

impl<B: I2c> Bus for PlainBus<B> {
    fn fail_next(&mut self, _: SevenBitAddress, _: u16) -> bool {
        false
    }
}

/// A bus that fails on demand, for tests: the emulator cannot take a device off its bus.
#[derive(Debug)]
pub struct FaultyBus<B> {
    inner: B,
    victim: SevenBitAddress,
    remaining: u16,
}

impl<B: I2c> FaultyBus<B> {
    /// Wraps a bus; nothing fails yet.
    pub const fn new(inner: B) -> Self {
        Self { inner, victim: 0, remaining: 0 }
    }

    /// The bus inside.
    pub fn inner(&mut self) -> &mut B {
        &mut self.inner
    }
}

/// An error of the bus, or a simulated one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultyError<E> {
    /// Of the bus itself.
    Real(E),
    /// Simulated: no acknowledge.
    Simulated,
}

impl<E: Error> Error for FaultyError<E> {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Real(error) => error.kind(),
            Self::Simulated => ErrorKind::NoAcknowledge(NoAcknowledgeSource::Address),
        }
    }
}

impl<B: I2c> ErrorType for FaultyBus<B> {
    type Error = FaultyError<B::Error>;
}

impl<B: I2c> I2c for FaultyBus<B> {
    fn transaction(
        &mut self,
        address: SevenBitAddress,
        operations: &mut [Operation<'_>],
    ) -> Result<(), Self::Error> {
        if address == self.victim && self.remaining > 0 {
            self.remaining -= 1;
            return Err(FaultyError::Simulated);
        }
        self.inner.transaction(address, operations).map_err(FaultyError::Real)
    }
}

impl<B: I2c> Bus for FaultyBus<B> {
    fn fail_next(&mut self, address: SevenBitAddress, transactions: u16) -> bool {
        self.victim = address;
        self.remaining = transactions;
        true
    }
}
