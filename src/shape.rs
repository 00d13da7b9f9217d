//! Lengths: numbers of inputs and frequencies, known at compile time or, with `alloc`, at run time.
//!
//! The crate's code is generic over [`Length`]. On a microcontroller the length is [`Fixed`] and
//! values are arrays, at no cost. On a host the lengths of `dynamic` use boxed slices, for any
//! shape.

use core::fmt;

/// A number of inputs or frequencies. Sealed: implemented by [`Fixed`] and the lengths of `dynamic`.
pub trait Length: sealed::Sealed + Copy + Default + Eq + fmt::Debug + 'static {
    /// N owned values: `[T; N]`, or `Box<[T]>`.
    type Of<T>;

    /// N borrowed values: `[T; N]`, or `[T]`.
    type Slice<T>: ?Sized + AsRef<[T]> + AsMut<[T]>;

    #[doc(hidden)]
    fn make<T>(dims: &Dims, item: impl FnMut() -> T) -> Self::Of<T>;

    /// Copies of `item`, as many as there are `values`.
    #[doc(hidden)]
    fn like<T, U: Copy>(values: &Self::Of<T>, item: U) -> Self::Of<U>;

    #[doc(hidden)]
    fn cloned<T: Clone>(values: &Self::Of<T>) -> Self::Of<T>;

    #[doc(hidden)]
    fn borrow<T>(values: &Self::Of<T>) -> &Self::Slice<T>;

    #[doc(hidden)]
    fn borrow_mut<T>(values: &mut Self::Of<T>) -> &mut Self::Slice<T>;
}

/// A [`Length`] known at compile time.
pub trait Constant: Length {
    /// The number.
    const N: usize;
}

impl<const N: usize> Constant for Fixed<N> {
    const N: usize = N;
}

/// A length N known at compile time: values are arrays.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Fixed<const N: usize>;

impl<const N: usize> Length for Fixed<N> {
    type Of<T> = [T; N];
    type Slice<T> = [T; N];

    #[inline]
    fn make<T>(_dims: &Dims, mut item: impl FnMut() -> T) -> [T; N] {
        core::array::from_fn(|_| item())
    }

    #[inline(always)]
    fn like<T, U: Copy>(_values: &[T; N], item: U) -> [U; N] {
        [item; N]
    }

    #[inline]
    fn cloned<T: Clone>(values: &[T; N]) -> [T; N] {
        values.clone()
    }

    #[inline(always)]
    fn borrow<T>(values: &[T; N]) -> &[T; N] {
        values
    }

    #[inline(always)]
    fn borrow_mut<T>(values: &mut [T; N]) -> &mut [T; N] {
        values
    }
}

/// The lengths of one detector or embedding, where its type does not give them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[doc(hidden)]
pub struct Dims {
    pub(crate) inputs: usize,
    pub(crate) frequencies: usize,
}

/// One value for each input or frequency; the type says which.
pub(crate) struct Per<L: Length, T>(pub(crate) L::Of<T>);

impl<L: Length, T> Per<L, T> {
    pub(crate) fn make(dims: &Dims, item: impl FnMut() -> T) -> Self {
        Self(L::make(dims, item))
    }

    /// Copies of `item`, as many as there are values here.
    #[inline(always)]
    pub(crate) fn like<U: Copy>(&self, item: U) -> Per<L, U> {
        Per(L::like(&self.0, item))
    }

    #[inline(always)]
    pub(crate) fn borrow(&self) -> &L::Slice<T> {
        L::borrow(&self.0)
    }

    #[inline(always)]
    pub(crate) fn borrow_mut(&mut self) -> &mut L::Slice<T> {
        L::borrow_mut(&mut self.0)
    }
}

impl<L: Length, T> core::ops::Deref for Per<L, T> {
    type Target = [T];

    #[inline(always)]
    fn deref(&self) -> &[T] {
        L::borrow(&self.0).as_ref()
    }
}

impl<L: Length, T> core::ops::DerefMut for Per<L, T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [T] {
        L::borrow_mut(&mut self.0).as_mut()
    }
}

impl<L: Length, T: Clone> Clone for Per<L, T> {
    #[inline]
    fn clone(&self) -> Self {
        Self(L::cloned(&self.0))
    }
}

impl<const N: usize, T: Copy> Copy for Per<Fixed<N>, T> {}

impl<L: Length, T: PartialEq> PartialEq for Per<L, T> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<L: Length, T: fmt::Debug> fmt::Debug for Per<L, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

pub(crate) mod sealed {
    /// Prevents implementations of [`Length`](super::Length) outside this crate.
    pub trait Sealed {}
    impl<const N: usize> Sealed for super::Fixed<N> {}
}
