//! Has the distribution of a sensor's readings changed? The squared maximum mean discrepancy
//! (MMD²) of two streams, in constant memory, without `std`, allocation or panics.
//!
//! # How the data flows
//!
//! ```text
//! sample ─▶ scale, innovation, delay ─▶ map ─▶ L phases ─▶ points on L circles ─▶ embedding ─▶
//!                                       │                  │                      MMD² ─▶ threshold ─▶ verdict
//!                                       kernel, sampling   sincos backend
//! ```
//!
//! A shift-invariant kernel is the expectation of cos(ω'(x − y)) over its spectral distribution,
//! so MMD² of two samples is the mean, over L frequencies ω, of the squared distance between two
//! average points on a circle (Zhao and Meng, *FastMMD*, 2015). In the order of that path:
//!
//! * [`scale`], [`bandwidth`], [`innovation`] and [`delay`] condition the input;
//! * [`kernel`] and [`sampling`] choose frequencies, a [`map`] turns a sample into phases
//!   ([`hadamard`] inside);
//! * [`sincos`] turns phases into points, an [`embedding`] sums them;
//! * [`mmd`] compares two embeddings, [`two_sample`] two streams, [`family`] at several bandwidths,
//!   and a [`witness`] tells where they differ;
//! * [`fixed`] is the same from sample to MMD² in integers;
//! * a [`detector`] does all of it and decides; [`coupling`] watches how channels go together,
//!   [`regimes`] names the condition;
//! * [`state`] keeps all of it.
//!
//! # Which numbers
//!
//! | core | path | sample |
//! |---|---|---|
//! | with FPU (Cortex-M4F, M7, M33), hosts | the crate's own types | `[f32; D]` |
//! | without (Cortex-M0, M0+, M3, M23, most RISC-V) | [`fixed`], the same names in integers | `[i16; D]` |
//!
//! In integers a sample costs an M0 a fraction of the instructions, and a point is good to 2e-4.
//! The [`detector`] is for `f32` alone.
//!
//! # Rules
//!
//! * Shapes (channels D, frequencies L, Fastfood's block P) are const generics and checked when
//!   compiled; tunables (bandwidth, weights, seeds) are values and checked when given.
//! * What is given once is immutable and shared (maps, in flash if `static`); what changes is
//!   small and owned (embeddings).
//! * A refused call returns a typed [`Error`] and leaves the state as it was.
//! * The sums of an embedding are exact: order, merging and removal make no difference. The
//!   windows of a detector forget, in `f32`.
//! * The same input gives the same bits on every target.
//!
//! # Example
//!
//! ```
#![doc = include_str!("../examples/quickstart.rs")]
//! ```
//!
//! # Features
//!
//! | feature | default | adds |
//! |---|---|---|
//! | `rand_core` | yes | [`seed_from`]: a seed from any random generator |
//! | `libm` | no | the `sincos::Libm` backend |
//! | `micromath` | no | the `sincos::Micromath` backend |
//! | `defmt` | no | `defmt::Format` on the public types |

#![no_std]
#![forbid(unsafe_code)]
#![cfg_attr(
    test,
    allow(
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        clippy::cast_sign_loss,
        clippy::float_cmp,
        reason = "tests compare and convert numbers they know"
    )
)]

#[cfg(test)]
extern crate std;

// Conditioning of the input.
pub mod bandwidth;
pub mod delay;
pub mod innovation;
pub mod scale;

// Frequencies and phases.
pub mod hadamard;
pub mod kernel;
pub mod map;
pub mod sampling;

// Points and their sums.
pub mod embedding;
pub mod sincos;
mod sums;

// All of this in integers.
pub mod fixed;

// How much two streams differ.
pub mod family;
pub mod mmd;
pub mod two_sample;
pub mod witness;

// What follows from it.
pub mod coupling;
pub mod detector;
mod mean;
mod null;
pub mod regimes;

// For all of them.
mod codes;
pub mod error;
mod numeric;
pub mod state;

pub use detector::Detector;
pub use embedding::Embedding;
pub use error::{Error, Parameter};
pub use family::{KernelFamily, Member};
pub use kernel::{Kernel, Profile};
pub use map::{Fastfood, FeatureMap, Fourier, MapKind, Recipe, Scalar};
pub use mmd::Circle;
pub use regimes::{Nearest, Regimes};
pub use sampling::Sampling;
#[cfg(feature = "rand_core")]
pub use sampling::seed_from;
pub use sincos::{Backend, Point, SinCos};
pub use two_sample::TwoSample;
pub use witness::Witness;
