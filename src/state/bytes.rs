//! Plain values as little-endian bytes.

use core::marker::PhantomData;

use crate::error::Error;
use crate::features::sincos::Point;
use crate::numeric::Real;

/// Fills a buffer from the front, which has to be exactly as long as what is put into it.
#[doc(hidden)]
pub struct Writer<'b> {
    rest: &'b mut [u8],
    overflowed: bool,
}

impl<'b> Writer<'b> {
    pub(crate) fn new(buffer: &'b mut [u8]) -> Self {
        Self { rest: buffer, overflowed: false }
    }

    // In one place: it is called for every number of a state.
    #[inline(never)]
    pub(crate) fn put<const N: usize>(&mut self, bytes: [u8; N]) {
        // Asked first: the compiler then knows that nothing is left undone in between.
        if self.rest.len() < N {
            self.overflowed = true;
            return;
        }
        if let Some((field, rest)) = core::mem::take(&mut self.rest).split_first_chunk_mut() {
            *field = bytes;
            self.rest = rest;
        }
    }

    /// Refuses a record that is not as long as its fields.
    pub(super) fn finish(self) -> Result<(), Error> {
        let full = self.rest.is_empty() && !self.overflowed;
        if full { Ok(()) } else { Err(Error::WrongLength) }
    }

    /// Writes zeros as padding.
    pub(crate) fn skip(&mut self, bytes: usize) {
        (0..bytes).for_each(|_| self.put([0]));
    }
}

/// Takes values from the front of a payload.
#[derive(Clone)]
#[doc(hidden)]
pub struct Reader<'b> {
    rest: &'b [u8],
    version: u8,
    /// No number is larger.
    largest: f32,
    replaces: bool,
}

impl<'b> Reader<'b> {
    /// Of bytes in the present version of the format.
    pub(crate) const fn new(rest: &'b [u8]) -> Self {
        Self::of_version(rest, super::VERSION)
    }

    /// Of bytes in this version of the format.
    pub(super) const fn of_version(rest: &'b [u8], version: u8) -> Self {
        Self { rest, version, largest: f32::MAX, replaces: true }
    }

    /// The same bytes, to be checked only.
    pub(crate) fn to_check(&self) -> Self {
        Self { replaces: false, ..self.clone() }
    }

    /// Whether what is read takes the place of what there was.
    #[inline]
    pub(crate) fn replaces(&self) -> bool {
        self.replaces
    }

    /// Reads something whose numbers are this large at the most; those that are never negative, up to
    /// [`LARGEST_POWER`].
    pub(crate) fn within<T>(
        &mut self,
        largest: f32,
        reads: impl FnOnce(&mut Self) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let before = core::mem::replace(&mut self.largest, largest);
        let result = reads(self);
        self.largest = before;
        result
    }

    /// The bytes that are left.
    pub(super) const fn rest(&self) -> &'b [u8] {
        self.rest
    }

    pub(crate) fn take<const N: usize>(&mut self) -> Result<[u8; N], Error> {
        let (field, rest) = self.rest.split_first_chunk().ok_or(Error::WrongLength)?;
        self.rest = rest;
        Ok(*field)
    }

    /// Skips padding, which must be zeros.
    pub(crate) fn skip(&mut self, bytes: usize) -> Result<(), Error> {
        (0..bytes).try_for_each(|_| match self.take()? {
            [0] => Ok(()),
            _ => Err(Error::Inconsistent),
        })
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

/// The limit of numbers that are never negative, where other numbers have a smaller one: they may be
/// squares and sums of the others. One as large can still be multiplied by a small number.
const LARGEST_POWER: f32 = 1e37;

/// A value of a fixed number of bytes.
pub trait Plain: Copy {
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

            #[inline(always)]
            fn write(self, writer: &mut Writer<'_>) {
                writer.put(self.to_le_bytes());
            }

            fn take(reader: &mut Reader<'_>) -> Result<Self, Error> {
                Ok(Self::from_le_bytes(reader.take()?))
            }
        }
    )*};
}

integers!(u8, u16, u32, u64, u128, i16, i32, i64);

impl Plain for f32 {
    const BYTES: usize = size_of::<Self>();

    #[inline(always)]
    fn write(self, writer: &mut Writer<'_>) {
        writer.put(self.to_le_bytes());
    }

    fn take(reader: &mut Reader<'_>) -> Result<Self, Error> {
        let value = Self::from_le_bytes(reader.take()?);
        // No saved number is ever NaN or infinite.
        if value.abs() <= reader.largest { Ok(value) } else { Err(Error::Inconsistent) }
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
        // In one go: most of a state are points.
        let ([a, b, c, d], [e, f, g, h]) = (self.cos.to_le_bytes(), self.sin.to_le_bytes());
        writer.put([a, b, c, d, e, f, g, h]);
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

/// Declares a small struct, which is written field by field in the order given. A field
/// `= initial => since N` is one that records before version N do not have.
macro_rules! plain {
    (
        $(#[$meta:meta])*
        $vis:vis struct $name:ident {
            $(
                $(#[$field_meta:meta])*
                $field_vis:vis $field:ident: $kind:ty
                    $(= $initial:expr => since $version:literal $(of $newest:literal)?)?
            ),* $(,)?
        }
    ) => {
        const _: () = {
            $($($crate::state::begin!(version $version $(, $newest)?);)?)*
        };

        $(#[$meta])*
        $vis struct $name {
            $($(#[$field_meta])* $field_vis $field: $kind,)*
        }

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
}
pub(crate) use plain;

/// A number that is never negative.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[doc(hidden)]
pub struct NonNegative<N = f32>(pub(crate) N);

/// A number that is never negative, and whose initial value has these bits in `f32`.
///
/// In memory the initial value is all zeros. A `static` of zeros is only cleared at start-up; any
/// other would also need flash to be copied from.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Begun<const BITS: u32, N = f32>(u32, PhantomData<N>);

impl<const BITS: u32, N> Begun<BITS, N> {
    pub(crate) const FIRST: Self = Self(0, PhantomData);
}

impl<const BITS: u32, N: Real> Begun<BITS, N> {
    #[inline(always)]
    fn first() -> u32 {
        N::of(f32::from_bits(BITS)).bits()
    }

    #[inline(always)]
    pub(crate) fn get(self) -> N {
        N::from_bits(self.0 ^ Self::first())
    }

    #[inline(always)]
    pub(crate) fn set(&mut self, value: N) {
        self.0 = value.bits() ^ Self::first();
    }
}

impl<const BITS: u32, N: Real> core::fmt::Debug for Begun<BITS, N> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        self.get().fmt(f)
    }
}

impl<const BITS: u32, N: Real> Plain for Begun<BITS, N> {
    const BYTES: usize = N::BYTES;

    fn write(self, writer: &mut Writer<'_>) {
        self.get().write(writer);
    }

    fn take(reader: &mut Reader<'_>) -> Result<Self, Error> {
        let NonNegative(value) = NonNegative::<N>::take(reader)?;
        let mut begun = Self::FIRST;
        begun.set(value);
        Ok(begun)
    }
}

impl<N: Real> FromOne<N> {
    /// Whether this can be the inverse of a deviation in standardised units, of which none is less than
    /// 10⁻⁴. A larger one, of a forged record, would make sums infinite.
    pub(crate) fn is_inverse_deviation(&self) -> bool {
        self.get().value() < 32_768.0
    }
}

/// A number that is at first 1.
pub(crate) type FromOne<N = f32> = Begun<{ 1.0_f32.to_bits() }, N>;

impl<N: Real> Plain for NonNegative<N> {
    const BYTES: usize = N::BYTES;

    fn write(self, writer: &mut Writer<'_>) {
        self.0.write(writer);
    }

    fn take(reader: &mut Reader<'_>) -> Result<Self, Error> {
        let largest = if reader.largest < LARGEST_POWER { LARGEST_POWER } else { reader.largest };
        let value = reader.within(largest, N::take)?;
        if value >= N::ZERO { Ok(Self(value)) } else { Err(Error::Inconsistent) }
    }
}
