//! The detectors that are compiled in.

#[cfg(not(feature = "inject-panic"))]
use fastmmd::monitor::{All, Cyclic};
#[cfg(not(feature = "inject-panic"))]
use fastmmd::{Fourier, fixed};

use crate::slot::{Numbers, Shape};

/// Declares the shapes: a name in C, the map, its channels, and the legs. A linker keeps those that a
/// program names.
macro_rules! shapes {
    ($($(#[$about:meta])* $name:ident: $map:ty, $channels:literal, $legs:ty;)*) => {
        $(
            $(#[$about])*
            // SAFETY: no other symbol of a program has this name, which begins with the library's.
            #[unsafe(no_mangle)]
            pub static $name: Shape = Shape::of::<$map, $channels, $legs>();
        )*

        /// Every shape with its name, for the header.
        #[cfg(not(target_os = "none"))]
        pub static SHAPES: &[(&str, &Shape)] = &[$((stringify!($name), &$name),)*];
    };
}

// The control of the check for panics has none, so that it is compiled quickly.
#[cfg(not(feature = "inject-panic"))]
shapes! {
    /// One channel of float.
    fastmmd_f32_1: Fourier<1, 32>, 1, All;
    /// Two channels of float.
    fastmmd_f32_2: Fourier<2, 32>, 2, All;
    /// Three channels of float.
    fastmmd_f32_3: Fourier<3, 32>, 3, All;
    /// Four channels of float.
    fastmmd_f32_4: Fourier<4, 32>, 4, All;
    /// Six channels of float.
    fastmmd_f32_6: Fourier<6, 32>, 6, All;
    /// One channel of float, with a known cycle.
    fastmmd_f32_1_cycle: Fourier<1, 32>, 1, Cyclic<32>;
    /// Three channels of float, with a known cycle.
    fastmmd_f32_3_cycle: Fourier<3, 32>, 3, Cyclic<32>;
    /// One channel of int16_t.
    fastmmd_i16_1: fixed::Fourier<1, 32>, 1, All;
    /// Two channels of int16_t.
    fastmmd_i16_2: fixed::Fourier<2, 32>, 2, All;
    /// Three channels of int16_t.
    fastmmd_i16_3: fixed::Fourier<3, 32>, 3, All;
    /// Four channels of int16_t.
    fastmmd_i16_4: fixed::Fourier<4, 32>, 4, All;
    /// Six channels of int16_t.
    fastmmd_i16_6: fixed::Fourier<6, 32>, 6, All;
    /// One channel of int16_t, with a known cycle.
    fastmmd_i16_1_cycle: fixed::Fourier<1, 32>, 1, Cyclic<32>;
    /// Three channels of int16_t, with a known cycle.
    fastmmd_i16_3_cycle: fixed::Fourier<3, 32>, 3, Cyclic<32>;
}

impl Shape {
    /// The type of its readings in C, for the header.
    #[must_use]
    pub const fn numbers(&self) -> &'static str {
        match self.numbers {
            Numbers::Float => "float",
            Numbers::Integer => "int16_t",
        }
    }
}
