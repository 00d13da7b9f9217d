//! Which side of the data the detector looks at.

use crate::innovation::{Innovation, Update};
use crate::state::{Field, Reader, Writer};

/// What is done to standardised values before they are compared.
///
/// Implemented by [`Raw`] and [`Innovation`]; either can be combined with delay vectors, by the
/// detector's dimension D being a multiple of its channels C.
pub trait View<const C: usize>: Kept + Clone {
    /// A view that has seen nothing.
    fn start() -> Self;

    /// The values to compare, from standardised ones.
    fn values(&self, standardised: &[f32; C]) -> [f32; C];

    /// Takes the standardised values, once what to do with them is known, as the past.
    fn advance(&mut self, standardised: &[f32; C], update: Update);
}

/// The standardised values as they are: for signals whose healthy values have a fixed
/// distribution, and for changes of level, spread and shape.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Raw;

impl<const C: usize> View<C> for Raw {
    fn start() -> Self {
        Self
    }

    fn values(&self, standardised: &[f32; C]) -> [f32; C] {
        *standardised
    }

    fn advance(&mut self, _standardised: &[f32; C], _update: Update) {}
}

impl<const C: usize, const TERMS: usize> View<C> for Innovation<C, TERMS> {
    fn start() -> Self {
        Self::new()
    }

    fn values(&self, standardised: &[f32; C]) -> [f32; C] {
        self.residuals(standardised)
    }

    fn advance(&mut self, standardised: &[f32; C], update: Update) {
        Self::advance(self, standardised, update);
    }
}

/// How a view is kept in a saved state. Sealed: the code of a view is part of the format.
pub trait Kept: sealed::Bytes {
    /// Tells views apart.
    const CODE: u8;
}

pub(crate) mod sealed {
    use crate::error::Error;
    use crate::state::{Field, Reader, Writer};

    /// A view as bytes.
    pub trait Bytes: Sized {
        #[doc(hidden)]
        const LENGTH: usize;
        #[doc(hidden)]
        #[allow(private_interfaces, reason = "sealed")]
        fn write(&self, writer: &mut Writer<'_>);
        #[doc(hidden)]
        #[allow(private_interfaces, reason = "sealed")]
        fn skim(reader: &mut Reader<'_>) -> Result<(), Error>;
        #[doc(hidden)]
        #[allow(private_interfaces, reason = "sealed")]
        fn overwrite(&mut self, reader: &mut Reader<'_>) -> Result<(), Error>;
    }

    impl<T: Field> Bytes for T {
        const LENGTH: usize = T::BYTES;
        #[allow(private_interfaces, reason = "sealed")]
        fn write(&self, writer: &mut Writer<'_>) {
            self.put(writer);
        }
        #[allow(private_interfaces, reason = "sealed")]
        fn skim(reader: &mut Reader<'_>) -> Result<(), Error> {
            T::check(reader)
        }
        #[allow(private_interfaces, reason = "sealed")]
        fn overwrite(&mut self, reader: &mut Reader<'_>) -> Result<(), Error> {
            self.read_into(reader)
        }
    }
}

impl Kept for Raw {
    const CODE: u8 = 0;
}

impl<const C: usize, const TERMS: usize> Kept for Innovation<C, TERMS> {
    const CODE: u8 = 1;
}

impl Field for Raw {
    const BYTES: usize = 0;

    fn put(&self, _writer: &mut Writer<'_>) {}

    fn take(_reader: &mut Reader<'_>) -> Result<Self, crate::Error> {
        Ok(Self)
    }
}
