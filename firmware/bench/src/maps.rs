//! The maps, drawn by the compiler once for all programs.
//!
//! The cost does not depend on the values of the frequencies; independent ones are drawn fastest.

#![allow(long_running_const_eval, reason = "32 channels at 256 frequencies take a moment")]

use fastmmd::{Fastfood, Fourier, Kernel, Sampling, checked};

/// For comparing samples of a 3-axis sensor.
pub static FOURIER_3_64: Fourier<3, 64> = Fourier::gaussian(1);

/// The default of a detector for a 3-axis sensor.
pub static FOURIER_3_32: Fourier<3, 32> = Fourier::additive(1);

/// Another shape, to check estimates that were made from the first.
pub static FOURIER_8_32: Fourier<8, 32> = Fourier::additive(1);

/// Maps of one backend.
macro_rules! backend {
    ($module:ident $backend:ident $($d:literal $l:literal $dense:ident $structured:ident)*) => {
        #[doc = concat!("With the backend `", stringify!($backend), "`.")]
        pub mod $module {
            use fastmmd::features::sincos::$backend;
            use fastmmd::{Fastfood, Fourier};
            $(
                #[doc = concat!($d, " channels, ", $l, " frequencies.")]
                pub static $dense: Fourier<$d, $l, $backend> = super::drawn::$dense.with_backend();
                #[doc = concat!($d, " channels, ", $l, " frequencies, whole blocks.")]
                pub static $structured: Fastfood<$d, $d, $l, $backend> =
                    super::drawn::$structured.with_backend();
            )*
        }
    };
}

macro_rules! maps {
    ($($d:literal $l:literal $dense:ident $structured:ident)*) => {
        mod drawn {
            use super::*;
            $(
                pub(super) const $dense: Fourier<$d, $l> =
                    checked!(Fourier::new(Kernel::GAUSSIAN, Sampling::Independent, 1));
                pub(super) const $structured: Fastfood<$d, $d, $l> = Fastfood::gaussian(1);
            )*
        }

        backend!(polynomial Polynomial $($d $l $dense $structured)*);
        backend!(quick Quick $($d $l $dense $structured)*);
        backend!(libm Libm $($d $l $dense $structured)*);
        backend!(micromath Micromath $($d $l $dense $structured)*);

        /// In integers.
        pub mod fixed {
            use fastmmd::fixed::{Fastfood, Fourier};
            use fastmmd::{Kernel, Sampling, checked};

            /// The default of a detector for a 3-axis sensor.
            pub static FOURIER_3_32: Fourier<3, 32> = Fourier::additive(1);

            /// Another shape, to check estimates that were made from the first.
            pub static FOURIER_8_32: Fourier<8, 32> = Fourier::additive(1);

            $(
                #[doc = concat!($d, " channels, ", $l, " frequencies.")]
                pub static $dense: Fourier<$d, $l> =
                    checked!(Fourier::new(Kernel::GAUSSIAN, Sampling::Independent, 1));
                #[doc = concat!($d, " channels, ", $l, " frequencies, whole blocks.")]
                pub static $structured: Fastfood<$d, $d, $l> =
                    Fastfood::gaussian(1);
            )*
        }
    };
}

maps! {
    4 64 FOURIER_4_64 FASTFOOD_4_64
    8 128 FOURIER_8_128 FASTFOOD_8_128
    16 128 FOURIER_16_128 FASTFOOD_16_128
    32 256 FOURIER_32_256 FASTFOOD_32_256
}
