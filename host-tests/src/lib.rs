//! The judge: FastMMD's statistics in `f64` with `std`, written independently of the core.
//!
//! Nothing here calls the core, except [`evaluate`], [`reproduce`] and [`speed`]. Where the core
//! subtracts mean points, the judge follows the paper's Algorithm 1 with amplitudes and phases;
//! where the core corrects a biased estimate, the judge counts pairs. It is meant to be read
//! against the paper, not to be fast.
//!
//! | module | what |
//! |---|---|
//! | [`points`] | samples and their weights |
//! | [`kernel`] | the five kernels as closures |
//! | [`exact`] | MMD² over all pairs, biased and unbiased, weighted |
//! | [`features`] | MMD² by Algorithm 1 for given frequencies |
//! | [`linear`], [`b_test`] | the estimators the paper compares with |
//! | [`null`] | thresholds and p-values of MMD² by six methods |
//! | [`bounds`] | the paper's theorems 3 and 4 |
//! | [`nystrom`], [`graph`] | MMD² by landmarks, on any type; a kernel on labelled graphs |
//! | [`circular`] | other distances and norms than those of MMD |
//! | [`hsic`], [`selection`] | dependence, and which channels carry it |
//! | [`matching`], [`mixture`] | weights by matched embeddings, solved over the [`simplex`] |
//! | [`population`] | MMD² of normal distributions in closed form |
//! | [`generate`], [`data`] | seeded numbers, and the paper's data from them |
//! | [`checksum`] | CRC-32 by table |
//! | [`evaluate`] | what the detector reaches, on simulated devices |
//! | [`published`] | the README's figures, held to what is measured |
//! | [`reproduce`], [`plot`] | the figures of the literature, as SVG |
//! | [`speed`] | the paper's efficiency test |
//! | [`tolerance`] | every limit that a test uses, with its reason |

#![forbid(unsafe_code)]

pub mod b_test;
pub mod bounds;
pub mod checksum;
pub mod circular;
pub mod data;
pub mod error;
pub mod evaluate;
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
pub mod plot;
pub mod points;
pub mod population;
pub mod published;
pub mod reproduce;
pub mod selection;
pub mod simplex;
pub mod speed;
pub mod tolerance;

pub use error::Refused;
pub use points::{Points, Weighted};

/// A count as a real number; exact, for no count here reaches 2³².
#[must_use]
pub fn real(count: usize) -> f64 {
    u32::try_from(count).map_or(f64::INFINITY, f64::from)
}

/// The nearest `f32`: what the core is given where the judge has an `f64`.
#[must_use]
#[expect(clippy::cast_possible_truncation, reason = "rounding to f32 is the purpose")]
pub fn single(value: f64) -> f32 {
    value as f32
}
