//! Lengths known at run time.

use alloc::boxed::Box;
use alloc::vec::Vec;

use crate::shape::{Dims, Length, sealed};

macro_rules! lengths {
    ($($(#[$meta:meta])* $name:ident: $field:ident),* $(,)?) => {$(
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
        pub struct $name;

        impl sealed::Sealed for $name {}

        impl Length for $name {
            type Of<T> = Box<[T]>;
            type Slice<T> = [T];

            fn make<T>(dims: &Dims, item: impl FnMut() -> T) -> Box<[T]> {
                several(dims.$field, item)
            }

            fn like<T, U: Copy>(values: &Box<[T]>, item: U) -> Box<[U]> {
                several(values.len(), || item)
            }

            fn cloned<T: Clone>(values: &Box<[T]>) -> Box<[T]> {
                values.clone()
            }

            fn borrow<T>(values: &Box<[T]>) -> &[T] {
                values
            }

            fn borrow_mut<T>(values: &mut Box<[T]>) -> &mut [T] {
                values
            }
        }
    )*};
}

lengths! {
    /// Any number of inputs.
    Inputs: inputs,
    /// Any number of frequencies.
    Frequencies: frequencies,
}

fn several<T>(count: usize, item: impl FnMut() -> T) -> Box<[T]> {
    core::iter::repeat_with(item).take(count).collect::<Vec<T>>().into_boxed_slice()
}
