//! Drift detection on a microcontroller: has the distribution of a sensor's readings changed,
//! since when, on which channel, at a false-alarm rate (average run length) that you state? In
//! constant memory, without `std`, allocation or panics.
//!
//! Streams are compared by the squared maximum mean discrepancy (MMD²), a distance between
//! distributions that sees level, spread, shape and how channels go together alike. A
//! shift-invariant kernel is the expectation of cos(ω'(x − y)) over its spectral distribution, so
//! with random Fourier features MMD² of two samples is the mean, over L frequencies ω, of the
//! squared distance between two average points on a circle (Zhao and Meng, *FastMMD*, 2015). A
//! stream of any length is then L pairs of sums.
//!
//! # Example
//!
//! ```
#![doc = include_str!("../examples/quickstart.rs")]
//! ```
//!
//! # How the data flows
//!
//! ```text
//! row of readings
//!   │ condition   each channel in units of its spread; innovations; the last rows as one vector
//!   ▼
//! standardised vector
//!   │ features    L phases ω'x, and a point (cos, sin) for each: random Fourier features
//!   ▼
//! points on L circles
//!   ├─ embedding  exact sums of points: MMD², two samples, witness, regimes
//!   │
//!   └─ monitor    exponentially weighted windows against a reference, thresholds that keep a
//!                 promise, alarms that say since when, which channel and how
//! ```
//!
//! The modules stand in this order. [`condition`] takes rows as the sensor gives them, a map of
//! [`features`] is immutable and may be a `static` in flash, an [`embedding`] sums its points, and
//! a [`monitor`] decides. [`fixed`] is the way from a sample to MMD² in integers, `dynamic` all
//! of it for shapes that are known only when the program runs, and [`state`] says how what was
//! learned is kept.
//!
//! # Which type do I need?
//!
//! | to | use |
//! |---|---|
//! | be told when a sensor drifts | [`Detector`], [`Config`] |
//! | ask how different two streams are | [`TwoSample`], at several bandwidths [`KernelFamily`] |
//! | sum streams on several devices and join them | [`Embedding`] |
//! | see where two streams differ | [`Witness`] |
//! | name the condition a machine is in | [`Regimes`] |
//! | watch whether two groups of channels go together | [`monitor::coupling`] |
//! | choose frequencies | [`Fourier`] up to about 8 channels, [`Fastfood`] above |
//!
//! # Which numbers?
//!
//! | core | path | sample |
//! |---|---|---|
//! | with FPU (Cortex-M4F, M7, M33), hosts | [`Fourier`], [`Fastfood`] | `[f32; D]` |
//! | without (Cortex-M0, M0+, M3, M23, most RISC-V) | [`fixed`], the same names in integers | `[i16; D]` |
//!
//! In integers a sample costs an M0 a fraction of the instructions, and a point is good to 2e-4.
//! The [`Detector`] is for `f32` alone.
//!
//! # Rules
//!
//! * Each number is said once: the map says how many inputs and frequencies there are, and all
//!   else follows from its type. Shapes are checked when compiled; tunables (bandwidth, weights,
//!   seeds) are values and checked when given.
//! * What is given once is immutable and shared (maps, in flash if `static`); what changes is
//!   small and owned (embeddings, monitors).
//! * A refused call returns a typed [`Error`] and leaves the state as it was.
//! * The sums of an embedding are exact: order, merging and removal make no difference. The
//!   windows of a monitor forget, in `f32`.
//! * The same input gives the same bits on every target.
//!
//! # Features
//!
//! None is on by default.
//!
//! | feature | adds |
//! |---|---|
//! | `alloc` | `dynamic`: shapes that are known only when the program runs |
//! | `serde` | `Serialize` and `Deserialize` of settings and verdicts |
//! | `rand_core` | `seed_from`: a seed from any random generator |
//! | `libm` | the `sincos::Libm` backend |
//! | `micromath` | the `sincos::Micromath` backend |
//! | `defmt` | `defmt::Format` on the public types |

#![no_std]
#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]
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

#[cfg(feature = "alloc")]
extern crate alloc;
#[cfg(test)]
extern crate std;

// In the order of the data's path.
pub mod condition;
pub mod features;

pub mod embedding;

pub mod monitor;

pub mod drift;

// All of it for any shape, on a host.
#[cfg(feature = "alloc")]
pub mod dynamic;

// For all of them.
pub mod error;
pub mod fixed;
mod numeric;
pub mod shape;
pub mod state;

pub use embedding::{Embedding, KernelFamily, Regimes, TwoSample, Witness};
pub use error::{Error, Parameter};
pub use features::kernel::{Kernel, Profile};
pub use features::sampling::Sampling;
#[cfg(feature = "rand_core")]
pub use features::sampling::seed_from;
pub use features::{Fastfood, FeatureMap, Fourier, MapKind, Recipe};
pub use monitor::{Alarm, Change, Config, Detector, Stage, Verdict};
