//! The maps, drawn by the compiler once for all programs.
//!
//! Which frequencies they hold makes no difference to the cost; independent ones are drawn
//! fastest.

#![allow(long_running_const_eval, reason = "32 channels at 256 frequencies take a moment")]

use fastmmd::{Fastfood, Fourier, Kernel, Sampling, fixed};

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

const fn fixed_fourier<const D: usize, const L: usize>() -> fixed::Fourier<D, L> {
    match fixed::Fourier::new(Kernel::GAUSSIAN, Sampling::Independent, 1) {
        Ok(map) => map,
        Err(_) => panic!("refused when compiled"),
    }
}

const fn fixed_fastfood<const D: usize, const L: usize>() -> fixed::Fastfood<D, D, L> {
    match fixed::Fastfood::new(Kernel::GAUSSIAN, 1) {
        Ok(map) => map,
        Err(_) => panic!("refused when compiled"),
    }
}

/// The default of a 3-axis sensor.
pub static FOURIER_3_64: Fourier<3, 64> = fourier(Sampling::Quasi);

/// The default for what a channel does beyond what its past predicts.
pub static FOURIER_3_16: Fourier<3, 16> = fourier(Sampling::Quasi);

/// Another shape of detectors, by which estimates from the first are held to account.
pub static FOURIER_8_32: Fourier<8, 32> = fourier(Sampling::Independent);

macro_rules! maps {
    ($($d:literal $l:literal $dense:ident $structured:ident
       $fixed_dense:ident $fixed_structured:ident)*) => {$(
        #[doc = concat!($d, " channels, ", $l, " frequencies.")]
        pub static $dense: Fourier<$d, $l> = fourier(Sampling::Independent);
        #[doc = concat!($d, " channels, ", $l, " frequencies, whole blocks.")]
        pub static $structured: Fastfood<$d, $d, $l> = fastfood();
        #[doc = concat!($d, " channels, ", $l, " frequencies, in integers.")]
        pub static $fixed_dense: fixed::Fourier<$d, $l> = fixed_fourier();
        #[doc = concat!($d, " channels, ", $l, " frequencies, whole blocks, in integers.")]
        pub static $fixed_structured: fixed::Fastfood<$d, $d, $l> = fixed_fastfood();
    )*};
}

maps! {
    4 64 FOURIER_4_64 FASTFOOD_4_64 FIXED_FOURIER_4_64 FIXED_FASTFOOD_4_64
    8 128 FOURIER_8_128 FASTFOOD_8_128 FIXED_FOURIER_8_128 FIXED_FASTFOOD_8_128
    16 128 FOURIER_16_128 FASTFOOD_16_128 FIXED_FOURIER_16_128 FIXED_FASTFOOD_16_128
    32 256 FOURIER_32_256 FASTFOOD_32_256 FIXED_FOURIER_32_256 FIXED_FASTFOOD_32_256
}
