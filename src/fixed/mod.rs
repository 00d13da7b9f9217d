//! Random Fourier features, embeddings and the detector in integers, for cores without floating-point
//! hardware.
//!
//! ```text
//! sample, 16 bits ─▶ map ─▶ L phases, 32 bits, wrapping ─▶ table ─▶ exact sums
//! ```
//!
//! A phase is a `u32` in units of 2⁻³² turns, so that whole turns overflow and drop out. Adding a
//! sample uses no floating point. Computing MMD² does, as it is done rarely.
//!
//! | | `f32` | `fixed` |
//! |---|---|---|
//! | for | cores with FPU (M4F, M7, M33), hosts | cores without (M0, M0+, M3, M23, RISC-V without F) |
//! | sample | `[f32; D]`, any unit, any range | `[i16; D]`, units of 2⁻¹¹, from −16 to 16 |
//! | bandwidth σ | 10⁻¹² to 10¹² | [`BANDWIDTHS`] |
//! | error of a point | 1e-6, growing with the phase | 2e-4 for every phase |
//! | `Fourier`, `Fastfood`, `Embedding`, `TwoSample` | yes | yes, with the same names and methods |
//! | [`mmd`](crate::embedding::mmd), saved state, merging | yes | yes, the same |
//! | `TwoSampleTest`, `Regimes` | yes | yes |
//! | `KernelFamily` | any bandwidths | whole parts of the map's: σ, σ/2, σ/3, … |
//! | [`Detector`](crate::Detector) | rows of `f32` | rows of `i16`: [below](#the-detector) |
//! | `Witness`, couplings, given frequencies | yes | no |
//!
//! An [`Embedding`](crate::Embedding) over one of these maps is the crate's own, with the backend
//! [`Table`]. The same samples give the same bits on every target. A state saved by one path is
//! refused by the other with [`Error::WrongShape`].
//!
//! # Samples
//!
//! A sample is in steps of 2⁻¹¹ = 1/[`ONE`] of the unit of the kernel's bandwidth: with
//! `Kernel::GAUSSIAN`, σ is 2048 steps. The best unit is the standard deviation of each channel: a
//! [`Scale`] converts the raw counts of an ADC to it. [`sample`] converts `f32` values. Both
//! saturate at ±16. Every `i16` is a valid sample, and none overflows.
//!
//! ```
//! use fastmmd::{TwoSample, fixed};
//!
//! let map = fixed::Fourier::<2, 64>::gaussian(1);
//! // A 12-bit ADC: means and deviations in counts.
//! let scale = fixed::Scale::new([2048.0, 1000.0], [100.0, 25.0])?;
//! let mut test = TwoSample::new(&map);
//! for step in 0..200 {
//!     let wave = step * 37 % 101 - 50;
//!     test.push_p(&scale.sample(&[2048 + 2 * wave, 1000 + wave]))?;
//!     test.push_q(&scale.sample(&[2148 + 2 * wave, 1000 + wave]))?; // channel 0 moved
//! }
//! assert!(test.mmd2_unbiased()? > 0.2);
//! # Ok::<(), fastmmd::Error>(())
//! ```

//!
//! # The detector
//!
//! A [`Detector`](crate::Detector) over one of these maps takes rows of `i16` as the sensor gives them,
//! and standardises them itself. Configuration, verdicts, saving and restoring are the same.
//!
//! ```
//! use fastmmd::{Config, Detector, Verdict, fixed};
//!
//! static MAP: fixed::Fourier<2, 32> = fixed::Fourier::additive(1);
//! let mut detector = Detector::new(&MAP, Config::rows(1e4))?;
//! let verdict = detector.push(&[2048, 517])?; // counts of an ADC
//! assert!(matches!(verdict, Verdict::Learning { .. }));
//! # Ok::<(), fastmmd::Error>(())
//! ```
//!
//! Most rows need no floating point at all. It is used when a threshold is set: for one statistic at a time,
//! after every fourth of its blocks of rows; three times for each channel while learning; when learning
//! ends; and for an alarm. Of healthy rows of three channels one in 23 does, with about 230 operations
//! (`cargo xtask parity` counts them, and fails beyond one in twenty).

mod circle;
mod fastfood;
mod fourier;
mod maxima;
mod number;
mod scale;
mod standard;
mod table;
mod wide;

pub use fastfood::Fastfood;
pub use fourier::Fourier;
pub(crate) use number::root_of_units;
pub use scale::{MAX_COUNTS, Scale, sample};
pub use table::Table;

use crate::error::{Error, Parameter};
use crate::features::Scalar;
use crate::features::kernel::Kernel;
use crate::numeric::{f32_of, row_count, sqrt_f32, whole};

/// The value 1 of a sample's channel: 2¹¹ steps.
pub const ONE: i16 = 2048;

/// The bandwidths that an integer map can have, in the unit of the samples: from 32 steps to 16
/// times the range. For smaller ones the steps of a sample are too coarse, for larger ones the
/// units of a phase.
pub const BANDWIDTHS: core::ops::RangeInclusive<f32> = 0.015_625..=256.0;

/// Phase units in a turn per unit of input, for each step of a sample: 2³²/2¹¹.
const PHASE_PER_TURN_AND_STEP: f64 = 2_097_152.0;

/// Most whole parts of a map's bandwidth that a member of a family can have.
const MOST_PARTS: f32 = 256.0;

impl Scalar for i16 {
    type Phase = u32;
    type Number = number::Q16;
    type Factor = u32;

    /// Phases have wrapped: only whole multiples of them are those of another bandwidth.
    fn factor(own: f32, bandwidth: f32) -> Result<u32, Error> {
        let parts = own / bandwidth;
        let rounded = whole(parts + 0.5);
        let off = (parts - row_count(rounded)).abs();
        if parts <= MOST_PARTS && rounded >= 1 && off <= 1e-5 * parts {
            Ok(rounded)
        } else {
            Err(Error::OutOfRange(Parameter::Bandwidth))
        }
    }

    #[inline]
    fn scaled(phase: u32, factor: u32) -> u32 {
        phase.wrapping_mul(factor)
    }

    #[inline]
    fn turns(_phase: u32, _factor: u32) -> f32 {
        0.0
    }
}

const fn check_bandwidth(kernel: &Kernel) -> Result<(), Error> {
    let bandwidth = kernel.bandwidth();
    if bandwidth < *BANDWIDTHS.start() || bandwidth > *BANDWIDTHS.end() {
        Err(Error::OutOfRange(Parameter::Bandwidth))
    } else {
        Ok(())
    }
}

/// ‖x‖₂ of the largest sample of D channels.
fn reach(channels: usize) -> f32 {
    16.0 * sqrt_f32(f32_of(channels))
}
