//! A bus that fails on request, for tests: the emulator cannot remove a device from its bus.

use embedded_hal::i2c::{
    Error, ErrorKind, ErrorType, I2c, NoAcknowledgeSource, Operation, SevenBitAddress,
};

use crate::message::Failure;

/// An I²C bus that fails on demand.
#[derive(Debug)]
pub struct FaultyBus<B> {
    inner: B,
    victim: SevenBitAddress,
    remaining: u16,
    kind: Failure,
}

impl<B> FaultyBus<B> {
    /// Wraps a bus; nothing fails yet.
    pub const fn new(inner: B) -> Self {
        Self { inner, victim: 0, remaining: 0, kind: Failure::Bus }
    }

    /// The bus inside.
    pub const fn inner(&mut self) -> &mut B {
        &mut self.inner
    }

    /// What fails: the arguments of [`fail_next`](Self::fail_next), for as many transactions as are left.
    #[must_use]
    pub const fn failing(&self) -> (SevenBitAddress, u16, Failure) {
        (self.victim, self.remaining, self.kind)
    }

    /// Makes the next `transactions` with the device at `address` fail in this way.
    pub const fn fail_next(&mut self, address: SevenBitAddress, transactions: u16, kind: Failure) {
        self.kind = kind;
        self.victim = address;
        self.remaining = transactions;
    }
}

/// An error of the bus, or a simulated one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultyError<E> {
    /// An error of the bus itself.
    Real(E),
    /// A simulated one.
    Simulated(Failure),
}

impl<E: Error> Error for FaultyError<E> {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Real(error) => error.kind(),
            Self::Simulated(Failure::NoAcknowledge) => {
                ErrorKind::NoAcknowledge(NoAcknowledgeSource::Address)
            }
            Self::Simulated(Failure::Bus) => ErrorKind::Bus,
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
            return Err(FaultyError::Simulated(self.kind));
        }
        self.inner.transaction(address, operations).map_err(FaultyError::Real)
    }
}
