//! Proof that the core cannot panic or allocate: calls every public function with inputs that the
//! compiler cannot know.
//!
//! The panic handler calls an undefined function, so this program links only if the compiler
//! removed every panic. It has no allocator, so it links only if neither the core nor its
//! dependencies need one. It is linked, not run: `cargo xtask no-panic` and `cargo xtask no-alloc`.

#![no_std]
#![no_main]

mod conditioning;
mod detectors;
mod fixed;
mod handlers;
mod maps;
mod statistics;

use core::hint::black_box;

use fastmmd::features::sincos::SinCos;
use fastmmd::shape::Fixed;
use fastmmd::{FeatureMap, Parameter};

/// The entry point under the linker's default name: no start-up code is needed to link.
// SAFETY: no other symbol of the program has this name.
#[unsafe(no_mangle)]
pub extern "C" fn _start() -> ! {
    maps::values();
    detectors::codes();
    detectors::settings();
    conditioning::all::<1>();
    conditioning::all::<3>();
    conditioning::delay::<1, 16>();
    conditioning::delay::<3, 12>();
    // Every backend with one map of each kind, and one backend with every shape.
    maps::dense::<3, 64>(|map| {
        exercise(map);
        maps::dense_backends(map);
    });
    maps::offset::<1, 16>();
    maps::offset::<3, 64>();
    maps::structured::<16, 16, 128>(|map| {
        exercise(map);
        maps::structured_backends(map);
    });
    dense::<1, 1>();
    dense::<8, 100>();
    dense::<16, 128>();
    structured::<1, 4, 4>();
    structured::<12, 16, 48>();
    structured::<64, 64, 256>();
    fixed::all();
    loop {
        core::hint::spin_loop();
    }
}

fn dense<const D: usize, const L: usize>() {
    maps::dense::<D, L>(statistics::all);
}

fn structured<const D: usize, const P: usize, const L: usize>() {
    maps::structured::<D, P, L>(statistics::all);
}

/// Everything that can be done with a map.
fn exercise<M, const D: usize, const L: usize>(map: &M)
where
    M: FeatureMap<Inputs = Fixed<D>, Frequencies = Fixed<L>, Backend: SinCos>,
{
    maps::interface(map);
    statistics::all(map);
    detectors::all(map);
}

/// A sample the compiler cannot see.
fn sample<X: Copy + Default, const D: usize>() -> [X; D] {
    black_box([X::default(); D])
}

/// A number the compiler cannot see.
fn number() -> f32 {
    black_box(1.0)
}

/// An error that the compiler cannot know, for its text.
fn refusal() -> fastmmd::Error {
    black_box(fastmmd::Error::NonFinite(Parameter::Channel(1)))
}
