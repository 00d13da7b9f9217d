//! Plain values as little-endian bytes.

use crate::error::Error;
use crate::features::sincos::Point;

/// Fills a buffer from the front, which has to be exactly as long as what is put into it.
pub(crate) struct Writer<'b> {
    rest: &'b mut [u8],
    overflowed: bool,
}

impl<'b> Writer<'b> {
    pub(crate) fn new(buffer: &'b mut [u8]) -> Self {
        Self { rest: buffer, overflowed: false }
    }

    pub(crate) fn put<const N: usize>(&mut self, bytes: [u8; N]) {
        let rest = core::mem::take(&mut self.rest);
        match rest.split_first_chunk_mut() {
            Some((field, rest)) => {
                *field = bytes;
                self.rest = rest;
            }
            None => self.overflowed = true,
        }
    }

    /// Refuses a record that is not as long as its fields.
    pub(super) fn finish(self) -> Result<(), Error> {
        let full = self.rest.is_empty() && !self.overflowed;
        if full { Ok(()) } else { Err(Error::WrongLength) }
    }

    /// Leaves room of zeros.
    pub(crate) fn skip(&mut self, bytes: usize) {
        (0..bytes).for_each(|_| self.put([0]));
    }
}

/// Takes values from the front of a payload.
#[derive(Clone)]
pub(crate) struct Reader<'b> {
    pub(super) rest: &'b [u8],
    pub(super) version: u8,
}

impl<'b> Reader<'b> {
    /// Of bytes in the present version of the format.
    pub(crate) const fn new(rest: &'b [u8]) -> Self {
        Self { rest, version: super::VERSION }
    }

    pub(crate) fn take<const N: usize>(&mut self) -> Result<[u8; N], Error> {
        let (field, rest) = self.rest.split_first_chunk().ok_or(Error::WrongLength)?;
        self.rest = rest;
        Ok(*field)
    }

    /// Passes over room that was left.
    pub(crate) fn skip(&mut self, bytes: usize) -> Result<(), Error> {
        (0..bytes).try_for_each(|_| self.take::<1>().map(drop))
    }

    /// The format version of the record.
    pub(crate) fn version(&self) -> u8 {
        self.version
    }

    /// Refuses a record with bytes left over: it has another shape.
    pub(crate) fn finish(&self) -> Result<(), Error> {
        if self.rest.is_empty() { Ok(()) } else { Err(Error::WrongShape) }
    }
}

/// A value of a fixed number of bytes.
pub(crate) trait Plain: Copy {
    /// The number of bytes.
    const BYTES: usize;

    /// How many in records of this version.
    #[inline]
    fn bytes_in(_version: u8) -> usize {
        Self::BYTES
    }

    /// Writes the value.
    fn write(self, writer: &mut Writer<'_>);

    /// Reads a value. Bytes that are not a valid value are [`Error::Inconsistent`].
    fn take(reader: &mut Reader<'_>) -> Result<Self, Error>;
}

macro_rules! integers {
    ($($integer:ty),*) => {$(
        impl Plain for $integer {
            const BYTES: usize = size_of::<Self>();

            fn write(self, writer: &mut Writer<'_>) {
                writer.put(self.to_le_bytes());
            }

            fn take(reader: &mut Reader<'_>) -> Result<Self, Error> {
                Ok(Self::from_le_bytes(reader.take()?))
            }
        }
    )*};
}

integers!(u8, u16, u32, u64, u128, i64);

impl Plain for f32 {
    const BYTES: usize = size_of::<Self>();

    fn write(self, writer: &mut Writer<'_>) {
        writer.put(self.to_le_bytes());
    }

    fn take(reader: &mut Reader<'_>) -> Result<Self, Error> {
        let value = Self::from_le_bytes(reader.take()?);
        // No saved number is ever NaN or infinite.
        if value.is_finite() { Ok(value) } else { Err(Error::Inconsistent) }
    }
}

impl Plain for bool {
    const BYTES: usize = 1;

    fn write(self, writer: &mut Writer<'_>) {
        writer.put([u8::from(self)]);
    }

    fn take(reader: &mut Reader<'_>) -> Result<Self, Error> {
        match u8::take(reader)? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(Error::Inconsistent),
        }
    }
}

impl Plain for Point {
    const BYTES: usize = 2 * f32::BYTES;

    fn write(self, writer: &mut Writer<'_>) {
        self.cos.write(writer);
        self.sin.write(writer);
    }

    fn take(reader: &mut Reader<'_>) -> Result<Self, Error> {
        let point = Self { cos: f32::take(reader)?, sin: f32::take(reader)? };
        // A mean of points on the circle lies inside it, up to the error of a coarse backend.
        let inside = point.cos.abs() <= 1.01 && point.sin.abs() <= 1.01;
        if inside { Ok(point) } else { Err(Error::Inconsistent) }
    }
}

/// An optional value: a byte that says whether it is there, then its bytes, or as many zeros.
impl<T: Plain> Plain for Option<T> {
    const BYTES: usize = bool::BYTES + T::BYTES;

    #[inline]
    fn bytes_in(version: u8) -> usize {
        bool::BYTES + T::bytes_in(version)
    }

    fn write(self, writer: &mut Writer<'_>) {
        self.is_some().write(writer);
        match self {
            Some(value) => value.write(writer),
            None => writer.skip(T::BYTES),
        }
    }

    fn take(reader: &mut Reader<'_>) -> Result<Self, Error> {
        if bool::take(reader)? {
            return T::take(reader).map(Some);
        }
        reader.skip(T::bytes_in(reader.version()))?;
        Ok(None)
    }
}

/// Declares how a small struct or a choice is written: its parts in the order given. A field
/// `= initial => since N` is one that records before version N do not have. Room for numbers that
/// was smaller before version N is `[u32; 2, 1 before N]`, the latest change first.
macro_rules! plain {
    (struct $name:ty {
        $(
            $field:ident: $kind:ty
                $(= $initial:expr => since $version:literal $(of $newest:literal)?)?
        ),* $(,)?
    }) => {
        const _: () = {
            $($($crate::state::begin!(version $version $(, $newest)?);)?)*
        };

        impl $crate::state::Plain for $name {
            const BYTES: usize = 0 $(+ <$kind as $crate::state::Plain>::BYTES)*;

            #[inline]
            fn bytes_in(version: u8) -> usize {
                0 $(+ if $crate::state::begin!(present version $(, $version)?) {
                    <$kind as $crate::state::Plain>::bytes_in(version)
                } else {
                    0
                })*
            }

            fn write(self, writer: &mut $crate::state::Writer<'_>) {
                $(<$kind as $crate::state::Plain>::write(self.$field, writer);)*
            }

            fn take(reader: &mut $crate::state::Reader<'_>) -> Result<Self, $crate::Error> {
                Ok(Self {
                    $($field: $crate::state::begin!(take reader, $kind $(, $initial, $version)?)),*
                })
            }
        }
    };
    // The same with a name for each variant.
    (enum $name:ty [$number:ty; $n:literal] {
        $(
            $code:literal = $variant:ident $(($($v:ident),*))? $({$($f:ident),*})? $text:literal
        ),* $(,)?
    }) => {
        $crate::state::plain!(enum $name [$number; $n] {
            $($code = $variant $(($($v),*))? $({$($f),*})?),*
        });

        impl $name {
            /// The names of all variants.
            pub const NAMES: [&'static str; [$($code),*].len()] = [$($text),*];

            /// Its name, in lower case.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant { .. } => $text,)*
                }
            }

            /// The variant with this [`name`](Self::name), if there is one. It takes as many of
            /// the numbers as it has, from the front.
            #[must_use]
            pub fn from_name(name: &str, numbers: [$number; $n]) -> Option<Self> {
                let mut _room = numbers.into_iter();
                match name {
                    $($text => {
                        $($(let $v = _room.next().unwrap_or_default();)*)?
                        $($(let $f = _room.next().unwrap_or_default();)*)?
                        Some(Self::$variant $(($($v),*))? $({$($f),*})?)
                    })*
                    _ => None,
                }
            }
        }
    };
    // A code and space for N numbers; each variant uses as many as it has, from the front.
    (enum $name:ty [
        $number:ty; $n:literal
        $(, $fewer:literal before $version:literal $(of $newest:literal)?)*
    ] {
        $($code:literal = $variant:ident $(($($v:ident),*))? $({$($f:ident),*})?),* $(,)?
    }) => {
        const _: () = {
            let _room = $n;
            $(
                $crate::state::begin!(version $version $(, $newest)?);
                assert!($fewer < _room, "the latest change comes first");
                let _room = $fewer;
            )*
        };

        impl $name {
            /// Numbers that records of this version have room for.
            fn room_in(_version: u8) -> usize {
                let room = $n;
                $(let room = if _version < $version { $fewer } else { room };)*
                room
            }
        }

        impl $crate::state::Plain for $name {
            const BYTES: usize = 1 + $n * <$number as $crate::state::Plain>::BYTES;

            #[inline]
            fn bytes_in(version: u8) -> usize {
                1 + Self::room_in(version) * <$number as $crate::state::Plain>::BYTES
            }

            fn write(self, writer: &mut $crate::state::Writer<'_>) {
                let mut numbers: [$number; $n] = [Default::default(); $n];
                let _room = numbers.iter_mut();
                let code: u8 = match self {
                    $(Self::$variant $(($($v),*))? $({$($f),*})? => {
                        let mut _room = _room;
                        $($(if let Some(place) = _room.next() { *place = $v; })*)?
                        $($(if let Some(place) = _room.next() { *place = $f; })*)?
                        $code
                    })*
                };
                writer.put([code]);
                for number in numbers {
                    $crate::state::Plain::write(number, writer);
                }
            }

            fn take(reader: &mut $crate::state::Reader<'_>) -> Result<Self, $crate::Error> {
                let code = <u8 as $crate::state::Plain>::take(reader)?;
                let mut numbers: [$number; $n] = [Default::default(); $n];
                let room = Self::room_in(reader.version());
                for number in numbers.iter_mut().take(room) {
                    *number = $crate::state::Plain::take(reader)?;
                }
                let mut _room = numbers.into_iter();
                match code {
                    $($code => {
                        $($(let $v = _room.next().unwrap_or_default();)*)?
                        $($(let $f = _room.next().unwrap_or_default();)*)?
                        Ok(Self::$variant $(($($v),*))? $({$($f),*})?)
                    })*
                    _ => Err($crate::Error::Inconsistent),
                }
            }
        }
    };
}
pub(crate) use plain;

/// A number that is never negative.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub(crate) struct NonNegative(pub(crate) f32);

impl Plain for NonNegative {
    const BYTES: usize = f32::BYTES;

    fn write(self, writer: &mut Writer<'_>) {
        self.0.write(writer);
    }

    fn take(reader: &mut Reader<'_>) -> Result<Self, Error> {
        let value = f32::take(reader)?;
        if value >= 0.0 { Ok(Self(value)) } else { Err(Error::Inconsistent) }
    }
}
