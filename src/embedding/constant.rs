//! Empty streams as constants, by methods of the map.
//!
//! `Embedding::new`, `TwoSample::new` and `KernelFamily::new` take any map, and ask it for its
//! fingerprint by a method of the trait [`FeatureMap`](crate::FeatureMap). Stable Rust cannot call
//! methods of a trait in a constant. It can call those that each map has of its own, so these are
//! the `const` form of the same constructors.

use super::{Embedding, KernelFamily, TwoSample};
use crate::error::Error;
use crate::features::sincos::SinCos;
use crate::features::{Fastfood, Fourier, Offset};
use crate::fixed;

/// Gives a map its constructors of empty streams.
macro_rules! streams {
    ($([$($generics:tt)*] $map:ty),* $(,)?) => {$(
        impl<$($generics)*> $map {
            /// An empty embedding over this map: [`Embedding::new`], also for a `const` or
            /// `static`.
            #[must_use]
            pub const fn embedding(&self) -> Embedding<Self> {
                let (fingerprint, amplitude) = self.identity();
                Embedding::constant(fingerprint, amplitude)
            }

            /// Two empty streams over this map: [`TwoSample::new`], also for a `const` or
            /// `static`.
            #[must_use]
            pub const fn two_sample(&self) -> TwoSample<'_, Self> {
                TwoSample::constant(self, self.embedding(), self.embedding())
            }
        }
    )*};
}

streams!(
    [const D: usize, const L: usize, B: SinCos] Fourier<D, L, B>,
    [const D: usize, const P: usize, const L: usize, B: SinCos] Fastfood<D, P, L, B>,
    [const D: usize, const L: usize, B: SinCos] Offset<D, L, B>,
    [const D: usize, const L: usize] fixed::Fourier<D, L>,
    [const D: usize, const P: usize, const L: usize] fixed::Fastfood<D, P, L>,
);

/// The same for families, which need `f32` samples.
macro_rules! families {
    ($([$($generics:tt)*] $map:ty),* $(,)?) => {$(
        impl<$($generics)*> $map {
            /// Empty streams at several bandwidths over this map: [`KernelFamily::new`], also for
            /// a `const` or `static`, where `cargo check` reports a family without bandwidths.
            ///
            /// ```
            /// use fastmmd::{Fourier, KernelFamily, checked};
            ///
            /// static MAP: Fourier<1, 64> = Fourier::gaussian(1);
            /// static EMPTY: KernelFamily<Fourier<1, 64>, 2> = checked!(MAP.family([0.1, 1.0]));
            /// ```
            ///
            /// # Errors
            /// As [`KernelFamily::new`].
            pub const fn family<const N: usize>(
                &self,
                bandwidths: [f32; N],
            ) -> Result<KernelFamily<'_, Self, N>, Error> {
                KernelFamily::constant(self, bandwidths, self.identity())
            }
        }
    )*};
}

families!(
    [const D: usize, const L: usize, B: SinCos] Fourier<D, L, B>,
    [const D: usize, const P: usize, const L: usize, B: SinCos] Fastfood<D, P, L, B>,
);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Kernel, Sampling, checked};

    static MAP: Fourier<2, 16> = checked!(Fourier::new(Kernel::MATERN32, Sampling::Auto, 3));
    static FAST: fixed::Fastfood<3, 4, 8> = fixed::Fastfood::gaussian(9);
    static ONE: Embedding<Fourier<2, 16>> = MAP.embedding();
    static TWO: TwoSample<fixed::Fastfood<3, 4, 8>> = FAST.two_sample();
    static SEVERAL: KernelFamily<Fourier<2, 16>, 3> = checked!(MAP.family([0.1, 1.0, 7.0]));

    #[test]
    fn a_constant_is_as_one_that_is_made() {
        assert_eq!(ONE, Embedding::new(&MAP));
        assert_eq!(ONE.amplitude().to_bits(), Embedding::new(&MAP).amplitude().to_bits());
        assert_eq!(*TWO.p(), Embedding::new(&FAST));
        let made = KernelFamily::new(&MAP, [0.1, 1.0, 7.0]).unwrap();
        assert_eq!((SEVERAL.p(), SEVERAL.q()), (made.p(), made.q()));
        let (made, constant) = (KernelFamily::new(&MAP, [f32::NAN]), MAP.family([f32::NAN]));
        assert_eq!(made.err(), constant.err());
    }
}
