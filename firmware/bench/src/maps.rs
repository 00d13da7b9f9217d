//! The maps, drawn by the compiler once for all programs.
//!
//! Which frequencies they hold makes no difference to the cost; independent ones are drawn
//! fastest.

#![allow(long_running_const_eval, reason = "32 channels at 256 frequencies take a moment")]

use fastmmd::{Fastfood, Fourier, Kernel, Sampling};

const fn fourier<const D: usize, const L: usize>(sampling: Sampling) -> Fourier<D, L> {
    match Fourier::new(Kernel::GAUSSIAN, sampling, 1) {
        Ok(map) => map,
        Err(_) => panic!("refused when compiled"),
    }
}

const fn fastfood<const D: usize, const L: usize>() -> Fastfood<D, D, L> {
    match Fastfood::new(Kernel::GAUSSIAN, 1) {
        Ok(map) => map,
        Err(_) => panic!("refused when compiled"),
    }
}

/// The default of a 3-axis sensor.
pub static FOURIER_3_64: Fourier<3, 64> = fourier(Sampling::Quasi);

macro_rules! maps {
    ($($d:literal $l:literal $dense:ident $structured:ident)*) => {$(
        #[doc = concat!($d, " channels, ", $l, " frequencies.")]
        pub static $dense: Fourier<$d, $l> = fourier(Sampling::Independent);
        #[doc = concat!($d, " channels, ", $l, " frequencies, whole blocks.")]
        pub static $structured: Fastfood<$d, $d, $l> = fastfood();
    )*};
}

maps! {
    4 64 FOURIER_4_64 FASTFOOD_4_64
    8 128 FOURIER_8_128 FASTFOOD_8_128
    16 128 FOURIER_16_128 FASTFOOD_16_128
    32 256 FOURIER_32_256 FASTFOOD_32_256
}
