//! Drift detection on a microcontroller. A detector says when the distribution of a sensor's
//! readings has changed, since when and on which channel. You state the mean time between false
//! alarms (the average run length). Memory is constant; there is no `std`, no allocation and no
//! panic.
//!
//! Each channel is watched by cumulative sums (CUSUM) and exponentially weighted means of its values
//! and of its innovations. All channels together are compared with what was learned by the squared
//! maximum mean discrepancy (MMD²): a distance between distributions that responds to changes of
//! level, spread and shape, and of the dependence between channels. A shift-invariant kernel is the
//! expectation of cos(ω'(x − y)) over its spectral distribution. With random Fourier features, MMD²
//! of two samples is therefore the mean, over L frequencies ω, of the squared distance between two
//! mean points on a circle (Zhao and Meng, *FastMMD*, 2015). A stream of any length is stored as L
//! pairs of sums.
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
//!   │ condition   each channel in units of its spread, minus its known cycle, minus what its past
//!   │             predicts
//!   ▼
//! standardised vector ──────────────────────────────────────────────┐
//!   │ features    L phases ω'x, and a point (cos, sin) for each:    │
//!   │             random Fourier features                           │
//!   ▼                                                               │
//! points on L circles                                               │
//!   ├─ embedding  exact sums of points: MMD², two samples, witness, │
//!   │             regimes                                           │
//!   ▼                                                               ▼
//! monitor         legs: windows of all channels together (MMD²), and of each channel's level,
//!                 jumps, spread and range, against what was learned; thresholds for one stated
//!                 average run length; an alarm for each cause, with channel, kind and onset
//! ```
//!
//! [`condition`] takes rows as the sensor gives them. A map of [`features`] is immutable and may
//! be a `static` in flash. An [`embedding`] sums the points. A [`monitor`] decides. [`fixed`] has maps
//! for integer samples; embeddings and detectors over them run in integers. `dynamic` is for shapes
//! known only at run time. [`state`] describes how learned values are saved.
//!
//! # Which type do I need?
//!
//! | to | use |
//! |---|---|
//! | detect drift of a sensor | [`Detector`], [`Config`] |
//! | measure how different two streams are | [`TwoSample`]; at several bandwidths [`KernelFamily`] |
//! | test whether two streams differ by more than chance | [`TwoSampleTest`]; with less memory [`TwoSample::threshold`] |
//! | sum streams on several devices and merge the sums | [`Embedding`] |
//! | see where two streams differ | [`Witness`] |
//! | find which known condition a machine is in | [`Regimes`]; by weights learned on a host [`Classifier`] |
//! | bound how large a difference is | [`embedding::Alternative`] |
//! | watch the dependence between two groups of channels | [`monitor::coupling`] |
//! | watch a signal with a known cycle | [`Config::with_period`] |
//! | carry fewer legs, for less RAM and time | [`monitor::Legs`] |
//! | take many fast rows as one | [`condition::Decimate`] |
//! | compare devices of one type, and merge what they learned | [`Detector::difference`], [`Detector::merge`] |
//! | choose frequencies | [`Fourier::additive`] for a detector; else [`Fourier`] up to about 8 channels, [`Fastfood`] above |
//!
//! # Which numbers?
//!
//! | core | path | sample |
//! |---|---|---|
//! | with FPU (Cortex-M4F, M7, M33), hosts | [`Fourier`], [`Fastfood`] | `[f32; D]` |
//! | without (Cortex-M0, M0+, M3, M23, most RISC-V) | [`fixed`], the same names in integers | `[i16; D]` |
//!
//! On a Cortex-M0 an integer sample takes a fraction of the instructions of an `f32` one; the
//! error of a point is up to 2e-4. A [`Detector`] over a map of [`fixed`] takes rows of `i16`, such as
//! the counts of an ADC, finds nearly the same, and computes in integers on most rows.
//!
//! # Rules
//!
//! * The type of the map gives the number of inputs and frequencies; all other shapes follow from
//!   it and are checked at compile time: in a `static` or constant by `cargo check`, in a `let` by
//!   `cargo build`. Tunables (bandwidth, weights, seeds) are values and are
//!   checked when given; in a `static`, with [`checked!`], when compiled.
//! * Maps are immutable and shared, in flash if `static`. Embeddings and monitors change; they are
//!   small and owned.
//! * A refused call returns a typed [`Error`] and leaves the state as it was.
//! * The sums of an embedding are exact: they do not depend on the order of samples, and merging
//!   and removing lose nothing. The windows of a monitor are exponentially weighted means, in the
//!   numbers of its map.
//! * The same input gives the same bits on every target.
//!
//! # Features
//!
//! None is on by default.
//!
//! | feature | adds |
//! |---|---|
//! | `alloc` | `dynamic`: shapes known only at run time |
//! | `serde` | `Serialize` and `Deserialize` for settings and verdicts |
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

// In the order in which data passes through them.
pub mod condition;
pub mod features;

pub mod embedding;

pub mod monitor;

// Any shape, for hosts.
#[cfg(feature = "alloc")]
pub mod dynamic;

// Used by all of the above.
pub mod error;
pub mod fixed;
mod numeric;
pub mod shape;
pub mod state;

pub use embedding::{
    Classifier, Embedding, KernelFamily, Regimes, TwoSample, TwoSampleTest, Witness,
};
pub use error::{Error, ErrorClass, Parameter};
pub use features::kernel::{Kernel, Profile};
pub use features::sampling::Sampling;
#[cfg(feature = "rand_core")]
pub use features::sampling::seed_from;
pub use features::{Fastfood, FeatureMap, Fourier, MapKind, Recipe};
pub use monitor::{Alarm, Change, Config, Detector, Stage, Verdict};
