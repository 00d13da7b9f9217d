//! Fields as little-endian bytes.

use crate::error::Error;
use crate::sincos::Point;

/// Fills a buffer from the front; the caller has made sure that it is long enough.
pub(crate) struct Writer<'b> {
    pub(super) rest: &'b mut [u8],
}

impl Writer<'_> {
    pub(crate) fn put<const N: usize>(&mut self, bytes: [u8; N]) {
        let rest = core::mem::take(&mut self.rest);
        if let Some((field, rest)) = rest.split_first_chunk_mut() {
            *field = bytes;
            self.rest = rest;
        }
    }
}

/// Takes fields from the front of a payload.
#[derive(Clone)]
pub(crate) struct Reader<'b> {
    pub(super) rest: &'b [u8],
}

impl Reader<'_> {
    pub(crate) fn take<const N: usize>(&mut self) -> Result<[u8; N], Error> {
        let (field, rest) = self.rest.split_first_chunk().ok_or(Error::WrongLength)?;
        self.rest = rest;
        Ok(*field)
    }
}

/// A value that is kept as a fixed number of bytes.
pub(crate) trait Field: Sized {
    /// How many.
    const BYTES: usize;

    /// Writes the value.
    fn put(&self, writer: &mut Writer<'_>);

    /// Reads a value; what no value of its kind could be is [`Error::Inconsistent`].
    fn take(reader: &mut Reader<'_>) -> Result<Self, Error>;

    /// Reads over a value, refusing what [`take`](Self::take) would; larger values do so piece by
    /// piece, to need little stack.
    fn check(reader: &mut Reader<'_>) -> Result<(), Error> {
        Self::take(reader).map(drop)
    }

    /// Reads a value in place, piece by piece likewise.
    fn read_into(&mut self, reader: &mut Reader<'_>) -> Result<(), Error> {
        *self = Self::take(reader)?;
        Ok(())
    }
}

macro_rules! integer_fields {
    ($($integer:ty),*) => {$(
        impl Field for $integer {
            const BYTES: usize = size_of::<Self>();

            fn put(&self, writer: &mut Writer<'_>) {
                writer.put(self.to_le_bytes());
            }

            fn take(reader: &mut Reader<'_>) -> Result<Self, Error> {
                Ok(Self::from_le_bytes(reader.take()?))
            }
        }
    )*};
}

integer_fields!(u8, u32, u64, u128, i64);

impl Field for f32 {
    const BYTES: usize = size_of::<Self>();

    fn put(&self, writer: &mut Writer<'_>) {
        writer.put(self.to_le_bytes());
    }

    fn take(reader: &mut Reader<'_>) -> Result<Self, Error> {
        let value = Self::from_le_bytes(reader.take()?);
        // Nothing we keep is ever NaN or infinite.
        if value.is_finite() { Ok(value) } else { Err(Error::Inconsistent) }
    }
}

impl<T: Field + Copy, const N: usize> Field for [T; N] {
    const BYTES: usize = N * T::BYTES;

    fn put(&self, writer: &mut Writer<'_>) {
        for item in self {
            item.put(writer);
        }
    }

    fn take(reader: &mut Reader<'_>) -> Result<Self, Error> {
        const { assert!(N >= 1, "an array of fields has at least one") };
        let mut items = [T::take(reader)?; N];
        for item in items.iter_mut().skip(1) {
            *item = T::take(reader)?;
        }
        Ok(items)
    }

    fn check(reader: &mut Reader<'_>) -> Result<(), Error> {
        (0..N).try_for_each(|_| T::check(reader))
    }

    fn read_into(&mut self, reader: &mut Reader<'_>) -> Result<(), Error> {
        self.iter_mut().try_for_each(|item| item.read_into(reader))
    }
}

/// A value that may be missing: a byte that says so, and room for it in any case.
impl<T: Field> Field for Option<T> {
    const BYTES: usize = 1 + T::BYTES;

    fn put(&self, writer: &mut Writer<'_>) {
        u8::from(self.is_some()).put(writer);
        match self {
            Some(value) => value.put(writer),
            None => (0..T::BYTES).for_each(|_| writer.put([0])),
        }
    }

    fn take(reader: &mut Reader<'_>) -> Result<Self, Error> {
        match u8::take(reader)? {
            0 => skip::<T>(reader).map(|()| None),
            1 => T::take(reader).map(Some),
            _ => Err(Error::Inconsistent),
        }
    }

    fn check(reader: &mut Reader<'_>) -> Result<(), Error> {
        match u8::take(reader)? {
            1 => T::check(reader),
            0 => skip::<T>(reader),
            _ => Err(Error::Inconsistent),
        }
    }

    /// In place only over a value that is there already.
    fn read_into(&mut self, reader: &mut Reader<'_>) -> Result<(), Error> {
        match (u8::take(reader)?, &mut *self) {
            (0, _) => {
                *self = None;
                skip::<T>(reader)
            }
            (1, Some(value)) => value.read_into(reader),
            (1, None) => insert(self, reader),
            _ => Err(Error::Inconsistent),
        }
    }
}

/// Reads over the room for a value that is missing.
fn skip<T: Field>(reader: &mut Reader<'_>) -> Result<(), Error> {
    (0..T::BYTES).try_for_each(|_| reader.take::<1>().map(drop))
}

/// Apart, for its stack is needed only here.
#[inline(never)]
fn insert<T: Field>(empty: &mut Option<T>, reader: &mut Reader<'_>) -> Result<(), Error> {
    *empty = Some(T::take(reader)?);
    Ok(())
}

/// Makes a struct a field: its own fields in the order given.
macro_rules! fields {
    ($name:ident $(<$(const $length:ident),*>)? { $($field:ident: $kind:ty),* $(,)? }) => {
        impl $(<$(const $length: usize),*>)? $crate::state::Field for $name $(<$($length),*>)? {
            const BYTES: usize = 0 $(+ <$kind as $crate::state::Field>::BYTES)*;

            fn put(&self, writer: &mut $crate::state::Writer<'_>) {
                $($crate::state::Field::put(&self.$field, writer);)*
            }

            fn take(reader: &mut $crate::state::Reader<'_>) -> Result<Self, $crate::Error> {
                Ok(Self { $($field: $crate::state::Field::take(reader)?),* })
            }

            fn check(reader: &mut $crate::state::Reader<'_>) -> Result<(), $crate::Error> {
                $(<$kind as $crate::state::Field>::check(reader)?;)*
                Ok(())
            }

            fn read_into(
                &mut self,
                reader: &mut $crate::state::Reader<'_>,
            ) -> Result<(), $crate::Error> {
                $($crate::state::Field::read_into(&mut self.$field, reader)?;)*
                Ok(())
            }
        }
    };
}
pub(crate) use fields;

impl Field for Point {
    const BYTES: usize = 2 * f32::BYTES;

    fn put(&self, writer: &mut Writer<'_>) {
        self.cos.put(writer);
        self.sin.put(writer);
    }

    fn take(reader: &mut Reader<'_>) -> Result<Self, Error> {
        let point = Self { cos: f32::take(reader)?, sin: f32::take(reader)? };
        // A mean of points on the circle lies inside it, but for a coarse backend's error.
        let inside = point.cos.abs() <= 1.01 && point.sin.abs() <= 1.01;
        if inside { Ok(point) } else { Err(Error::Inconsistent) }
    }
}
