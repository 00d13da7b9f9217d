//! One declaration from which a struct gets its initial value, reset, saving and restoring.

use core::marker::PhantomData;

use crate::error::Error;
use crate::features::sincos::Point;
use crate::shape::{Dims, Fixed, Length, Per};

use crate::numeric::Real;

use super::bytes::{Begun, NonNegative, Reader, Writer};

/// A value that changes from row to row and is saved across power cuts. It can be created, reset in
/// place, written, and checked or read.
///
/// Structs get it from [`state!`], which uses the same order of fields for all of these.
pub trait State {
    /// A new value, with these lengths where the type does not give them.
    #[cfg_attr(not(feature = "alloc"), allow(dead_code, reason = "lengths are in the types"))]
    fn make(dims: &Dims) -> Self;

    /// Resets to a new value in place, so that no second copy has to fit on the stack.
    fn reset(&mut self);

    /// Length as bytes in records of this version.
    fn bytes(&self, version: u8) -> usize;

    /// Writes the value.
    fn put(&self, writer: &mut Writer<'_>);

    /// Reads a saved value of the same lengths, and refuses bytes that are not a valid one. In place, if
    /// the reader [replaces](Reader::replaces); else nothing is changed. One function for both: a record
    /// is checked whole before it is taken, and on a microcontroller that code counts.
    fn read(&mut self, reader: &mut Reader<'_>) -> Result<(), Error>;
}

/// A [`State`] whose lengths are all in its type.
pub trait Initial: State + Sized {
    /// A new value.
    const INITIAL: Self;
    /// Saved length, in bytes.
    const SAVED: usize;
}

/// Declares a struct and makes it a [`State`]. Each field has an initial value, or is a state
/// itself. `=> since N` marks a field that records before version N do not have; restored from
/// those, it gets its initial value. `=> allowed F` is for a plain value that depends on lengths of the
/// state: a record is refused unless `F(&own, &value)`, with `own` the state to be replaced. `=> up to X`
/// refuses numbers that are larger: see [`Reader::within`].
///
/// A version that is not written yet does not compile; in tests, `=> since 2 of 2` takes 2 for the
/// newest.
macro_rules! state {
    (
        $(#[$meta:meta])*
        $vis:vis struct $name:ident $(<$($g:ident: $bound:path),* $(; $(const $n:ident),*)?>)? {
            $(
                $(#[$field_meta:meta])*
                $field_vis:vis $field:ident: $kind:ty $(= $initial:expr)?
                    $(=> since $version:literal $(of $newest:literal)?)?
                    $(=> allowed $allowed:expr)? $(=> up to $largest:expr)?
            ),* $(,)?
        }
    ) => {
        const _: () = {
            $($($crate::state::begin!(version $version $(, $newest)?);)?)*
        };

        $(#[$meta])*
        $vis struct $name $(<$($g: $bound,)* $($(const $n: usize),*)?>)? {
            $($(#[$field_meta])* $field_vis $field: $kind,)*
        }

        impl $(<$($g: $bound,)* $($(const $n: usize),*)?>)? $crate::state::State
            for $name $(<$($g,)* $($($n),*)?>)?
        {
            fn make(_dims: &$crate::shape::Dims) -> Self {
                Self { $($field: $crate::state::begin!(make _dims, $kind $(, $initial)?)),* }
            }

            fn reset(&mut self) {
                $($crate::state::begin!(reset self.$field, $kind $(, $initial)?);)*
            }

            #[inline]
            fn bytes(&self, _version: u8) -> usize {
                0 $(+ if $crate::state::begin!(present _version $(, $version)?) {
                    $crate::state::State::bytes(&self.$field, _version)
                } else {
                    0
                })*
            }

            fn put(&self, _writer: &mut $crate::state::Writer<'_>) {
                $($crate::state::State::put(&self.$field, _writer);)*
            }

            fn read(&mut self, _reader: &mut $crate::state::Reader<'_>) -> Result<(), $crate::Error> {
                $(if $crate::state::begin!(present _reader.version() $(, $version)?) {
                    $crate::state::begin!(read self, $field, $kind, _reader $(, $allowed)? $(; $largest)?);
                } else if _reader.replaces() {
                    $crate::state::begin!(reset self.$field, $kind $(, $initial)?);
                })*
                Ok(())
            }
        }

        impl $(<$($g: $bound,)* $($(const $n: usize),*)?>)? $crate::state::Initial
            for $name $(<$($g,)* $($($n),*)?>)?
        where
            $($kind: $crate::state::Initial),*
        {
            const INITIAL: Self = Self::initial();
            const SAVED: usize = 0 $(+ <$kind as $crate::state::Initial>::SAVED)*;
        }

        #[allow(dead_code, reason = "most are made as parts of others")]
        #[allow(private_bounds, private_interfaces, reason = "not called from outside")]
        impl $(<$($g: $bound,)* $($(const $n: usize),*)?>)? $name $(<$($g,)* $($($n),*)?>)?
        where
            $($kind: $crate::state::Initial),*
        {
            /// A new value. Built field by field: zeros are then filled in, not copied from flash.
            #[inline(always)]
            pub(crate) const fn initial() -> Self {
                Self { $($field: const { $crate::state::begin!(constant $kind $(, $initial)?) }),* }
            }
        }
    };
}
pub(crate) use state;

/// The parts of the declarations that depend on whether a field says what it begins with and since
/// when it is there.
macro_rules! begin {
    (version $version:literal) => {
        assert!($version <= $crate::state::VERSION, "no record is of that version yet")
    };
    // Tests have declarations of versions that are not written yet.
    (version $version:literal, $newest:literal) => {
        assert!(cfg!(test) && $version <= $newest, "no record is of that version yet")
    };
    (make $dims:expr, $kind:ty) => {
        <$kind as $crate::state::State>::make($dims)
    };
    (make $dims:expr, $kind:ty, $initial:expr) => {
        $initial
    };
    (reset $field:expr, $kind:ty) => {
        $crate::state::State::reset(&mut $field)
    };
    (reset $field:expr, $kind:ty, $initial:expr) => {
        $field = $initial
    };
    (read $own:expr, $field:ident, $kind:ty, $reader:expr) => {
        $crate::state::State::read(&mut $own.$field, $reader)?
    };
    (read $own:expr, $field:ident, $kind:ty, $reader:expr, $allowed:expr) => {
        let value = <$kind as $crate::state::Plain>::take($reader)?;
        if !$allowed(&*$own, &value) {
            return Err($crate::Error::Inconsistent);
        }
        if $reader.replaces() {
            $own.$field = value;
        }
    };
    (read $own:expr, $field:ident, $kind:ty, $reader:expr; $largest:expr) => {
        $reader.within($largest, |reader| $crate::state::State::read(&mut $own.$field, reader))?
    };
    (constant $kind:ty) => {
        <$kind as $crate::state::Initial>::INITIAL
    };
    (constant $kind:ty, $initial:expr) => {
        $initial
    };
    (present $record:expr) => {
        true
    };
    (present $record:expr, $version:literal) => {
        $record >= $version
    };
    (take $reader:expr, $kind:ty $(, $initial:expr)?) => {
        <$kind as $crate::state::Plain>::take($reader)?
    };
    (take $reader:expr, $kind:ty, $initial:expr, $version:literal) => {
        if $crate::state::begin!(present $reader.version(), $version) {
            $crate::state::begin!(take $reader, $kind)
        } else {
            $initial
        }
    };
}
pub(crate) use begin;

/// Makes plain values states, with the initial value 0 or the one declared.
macro_rules! plain_states {
    (generic [$($generics:tt)*] $plain:ty = $initial:expr) => {
        impl<$($generics)*> $crate::state::State for $plain {
            #[inline]
            fn make(_dims: &$crate::shape::Dims) -> Self {
                $initial
            }

            #[inline]
            fn reset(&mut self) {
                *self = $initial;
            }

            #[inline]
            fn bytes(&self, version: u8) -> usize {
                <Self as $crate::state::Plain>::bytes_in(version)
            }

            #[inline]
            fn put(&self, writer: &mut $crate::state::Writer<'_>) {
                $crate::state::Plain::write(*self, writer);
            }

            #[inline]
            fn read(&mut self, reader: &mut $crate::state::Reader<'_>) -> Result<(), $crate::Error> {
                let value = $crate::state::Plain::take(reader)?;
                if reader.replaces() {
                    *self = value;
                }
                Ok(())
            }
        }

        impl<$($generics)*> $crate::state::Initial for $plain {
            const INITIAL: Self = $initial;
            const SAVED: usize = <Self as $crate::state::Plain>::BYTES;
        }
    };
    ($($plain:ty = $initial:expr),* $(,)?) => {$(
        $crate::state::plain_states!(generic [] $plain = $initial);
    )*};
}
pub(crate) use plain_states;

plain_states!(
    u8 = 0,
    u16 = 0,
    u32 = 0,
    u64 = 0,
    f32 = 0.0,
    bool = false,
    i16 = 0,
    i32 = 0,
    i64 = 0,
    Point = Point::ZERO,
);
plain_states!(generic [N: Real] NonNegative<N> = NonNegative(N::ZERO));
plain_states!(generic [const BITS: u32, N: Real] Begun<BITS, N> = Begun::FIRST);

impl<T> State for PhantomData<T> {
    fn make(_dims: &Dims) -> Self {
        PhantomData
    }

    fn reset(&mut self) {}

    fn bytes(&self, _version: u8) -> usize {
        0
    }

    fn put(&self, _writer: &mut Writer<'_>) {}

    fn read(&mut self, _reader: &mut Reader<'_>) -> Result<(), Error> {
        Ok(())
    }
}

impl<T> Initial for PhantomData<T> {
    const INITIAL: Self = PhantomData;
    const SAVED: usize = 0;
}

/// Makes a sequence a state: that of its items, one after the other. The caller says how to make one.
macro_rules! sequence {
    ([$($generics:tt)*] $kind:ty: |$dims:ident| $make:expr) => {
        impl<$($generics)*> State for $kind {
            fn make($dims: &Dims) -> Self {
                $make
            }

            fn reset(&mut self) {
                self.iter_mut().for_each(T::reset);
            }

            #[inline]
            fn bytes(&self, version: u8) -> usize {
                self.iter().map(|item| item.bytes(version)).sum()
            }

            fn put(&self, writer: &mut Writer<'_>) {
                for item in self.iter() {
                    item.put(writer);
                }
            }

            fn read(&mut self, reader: &mut Reader<'_>) -> Result<(), Error> {
                self.iter_mut().try_for_each(|item| item.read(reader))
            }
        }
    };
}

sequence!([L: Length, T: State] Per<L, T>: |dims| Self::make(dims, || T::make(dims)));
sequence!([T: State, const N: usize] [T; N]: |dims| core::array::from_fn(|_| T::make(dims)));

impl<const N: usize, T: Initial> Initial for Per<Fixed<N>, T> {
    const INITIAL: Self = Self([T::INITIAL; N]);
    const SAVED: usize = N * T::SAVED;
}

impl<T: Initial, const N: usize> Initial for [T; N] {
    const INITIAL: Self = [T::INITIAL; N];
    const SAVED: usize = N * T::SAVED;
}
