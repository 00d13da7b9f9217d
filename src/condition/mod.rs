//! Conditioning: turns readings as the sensor gives them into standardised values.
//!
//! [`Scale`] puts each channel in units of its own spread, [`MedianDistance`] tells how far apart
//! two typical rows are, and [`Delay`] joins a row with the rows before it: for embeddings. A
//! [`Detector`](crate::Detector) conditions each channel by itself: level and spread whatever the
//! first rows are like, a profile by phase where the signal has a cycle, what its own past predicts,
//! and how long a reading has not changed.

mod cycle;
mod delay;
mod median;
mod predictor;
mod scale;
mod standard;
mod stuck;

pub(crate) use cycle::{Phase, Profile};
pub use delay::{Delay, DelayOf};
pub use median::{MedianDistance, MedianDistanceOf};
pub(crate) use predictor::Predictor;
pub(crate) use scale::check_row;
pub use scale::{MAX_DEVIATIONS, MAX_READING, Scale, ScaleOf};
pub(crate) use standard::{Correction, Standard};
pub(crate) use stuck::{Runs, Stillness};
