//! Conditioning: turns readings as the sensor gives them into standardised values.
//!
//! For embeddings: [`Scale`] puts each channel in units of its own deviation, [`MedianDistance`]
//! tells how far apart two typical rows are, which suits as a bandwidth, and [`Delay`] joins a row
//! with the rows before it.
//!
//! A [`Detector`](crate::Detector) has no need of these. It conditions each channel by itself: its
//! level and spread, even if the first rows hold glitches; a profile by phase, if the signal has a
//! known cycle; a linear prediction from its own past, whose error is the innovation; and for how
//! many rows a reading has not changed or not come.

mod cycle;
mod delay;
mod gaps;
mod median;
mod predictor;
mod scale;
mod standard;
mod stuck;

pub(crate) use cycle::{Phase, Profile};
pub use delay::{Delay, DelayOf};
pub(crate) use gaps::Gaps;
pub use median::{MedianDistance, MedianDistanceOf};
pub(crate) use predictor::Predictor;
pub(crate) use scale::check_row;
pub use scale::{MAX_DEVIATIONS, MAX_READING, Scale, ScaleOf};
pub(crate) use standard::{Correction, Standard};
pub(crate) use stuck::{Overdue, Stillness};
