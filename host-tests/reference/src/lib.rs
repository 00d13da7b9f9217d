//! Kernel statistics in `f64` with `std`: a toolbox, and the oracle of fastmmd's tests.
//!
//! It computes the maximum mean discrepancy (MMD) of two samples and its significance, dependence
//! between channels, feature selection, and weights that make one sample match another. What cannot
//! be computed is [`Refused`], with the reason.
//!
//! It is independent of the `fastmmd` crate and uses other formulae where possible: the crate
//! subtracts mean points, this follows the paper's Algorithm 1 with amplitudes and phases; the
//! crate corrects a biased estimate, this counts pairs. It is written to be compared with the
//! papers, not for speed.
//!
//! | module | what |
//! |---|---|
//! | [`points`] | samples and their weights |
//! | [`kernel`] | the five kernels as closures |
//! | [`exact`] | MMD² over all pairs, biased and unbiased, weighted |
//! | [`features`] | MMD² by Algorithm 1 for given frequencies |
//! | [`linear`], [`b_test`] | the estimators the paper compares with |
//! | [`null`] | thresholds and p-values of MMD² by eight methods |
//! | [`bounds`] | the paper's theorems 3 and 4 |
//! | [`nystrom`], [`graph`] | MMD² by landmarks, on any type; a kernel on labelled graphs |
//! | [`circular`] | other distances and norms than those of MMD |
//! | [`hsic`], [`selection`] | dependence, and selection of channels |
//! | [`matching`], [`mixture`] | weights by matched embeddings, solved over the [`simplex`] |
//! | [`svm`] | support vector machines, with a kernel and over features |
//! | [`population`] | MMD² of normal distributions in closed form |
//! | [`generate`], [`data`] | seeded numbers, and the paper's data from them |
//! | [`checksum`] | CRC-32 by table |
//! | [`error`] | errors |
//! | [`tolerance`] | every limit that a test of the project uses, with its reason |
//!
//! # Example
//!
//! Do two samples have the same distribution?
//!
//! ```
//! use fastmmd_reference::generate::Generator;
//! use fastmmd_reference::kernel::gaussian;
//! use fastmmd_reference::null::{self, Estimate, Gram, Pool};
//! use fastmmd_reference::{Points, Refused};
//!
//! # fn main() -> Result<(), Refused> {
//! let generator = &mut Generator::new(1);
//! // 100 samples of two channels each; the second set is shifted by one standard deviation.
//! let mut sample = |mean: f64| {
//!     Points::new(2, (0..200).map(|_| mean + generator.normal()).collect())
//! };
//! let (p, q) = (sample(0.0)?, sample(1.0)?);
//!
//! let pool = Gram::of_points(&p, &q, gaussian(1.0))?;
//! let mmd2 = pool.mmd2(Estimate::Unbiased)?;
//! let chance = null::permutation(&pool, Estimate::Unbiased, 199, generator)?;
//! assert!(mmd2 > chance.threshold(0.05)?);
//! assert!(chance.p_value(mmd2) < 0.01);
//! # Ok(())
//! # }
//! ```
//!
//! More in `examples`: thresholds, dependence, graphs, reweighting.

#![forbid(unsafe_code)]

pub mod b_test;
pub mod bounds;
pub mod checksum;
pub mod circular;
pub mod cliques;
pub mod data;
pub mod discrete;
pub mod error;
pub mod exact;
pub mod features;
pub mod generate;
pub mod graph;
pub mod hsic;
pub mod kernel;
pub mod linear;
pub mod matching;
pub mod mixture;
pub mod null;
pub mod nystrom;
pub mod points;
pub mod population;
pub mod scores;
pub mod selection;
pub mod simplex;
pub mod svm;
pub mod tolerance;

pub use error::Refused;
pub use points::{Points, Weighted};

/// A count as a real number; exact, since no count here reaches 2³².
#[must_use]
pub fn real(count: usize) -> f64 {
    u32::try_from(count).map_or(f64::INFINITY, f64::from)
}

/// The nearest `f32`: the core's input for an `f64` value of the oracle.
#[must_use]
#[expect(clippy::cast_possible_truncation, reason = "rounding to f32 is the purpose")]
pub fn single(value: f64) -> f32 {
    value as f32
}
