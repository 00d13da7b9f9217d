//! Lengths known at run time.

use alloc::boxed::Box;
use alloc::vec::Vec;

use crate::features::sincos::Point;
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
            type Lane<T: Copy> = [T; LANE];
            type Lanes<T> = Box<[T]>;

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

            fn lane<T: Copy>(item: T) -> [T; LANE] {
                [item; LANE]
            }

            /// The same computation as for a length known at compile time, for four windows at
            /// once: one window in each lane of a vector register, without memory accesses in
            /// between.
            #[inline(always)]
            fn blend_and_measure(
                means: &mut [Point; LANE],
                rates: &[f32; LANE],
                sums: &mut [f32; LANE],
                point: &Point,
                reference: &Point,
            ) {
                let (point, reference) = (*point, *reference);
                let (mut cos, mut sin) = (means.map(|mean| mean.cos), means.map(|mean| mean.sin));
                for (cos, rate) in cos.iter_mut().zip(rates) {
                    *cos += rate * (point.cos - *cos);
                }
                for (sin, rate) in sin.iter_mut().zip(rates) {
                    *sin += rate * (point.sin - *sin);
                }
                for ((sum, cos), sin) in sums.iter_mut().zip(cos).zip(sin) {
                    *sum += Point { cos, sin }.squared_distance(&reference);
                }
                for ((mean, cos), sin) in means.iter_mut().zip(cos).zip(sin) {
                    *mean = Point { cos, sin };
                }
            }

            fn make_lanes<T>(dims: &Dims, item: impl FnMut() -> T) -> Box<[T]> {
                several(dims.$field.div_ceil(LANE), item)
            }

            fn cloned_lanes<T: Clone>(lanes: &Box<[T]>) -> Box<[T]> {
                lanes.clone()
            }
        }
    )*};
}

/// Windows that are updated in parallel: the number of lanes of common vector registers.
const LANE: usize = 4;

lengths! {
    /// Any number of channels.
    Channels: channels,
    /// Any number of inputs.
    Inputs: inputs,
    /// Any number of frequencies.
    Frequencies: frequencies,
    /// Any number of windows.
    Windows: windows,
}

fn several<T>(count: usize, item: impl FnMut() -> T) -> Box<[T]> {
    core::iter::repeat_with(item).take(count).collect::<Vec<T>>().into_boxed_slice()
}
