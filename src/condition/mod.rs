//! Conditioning: turns readings as the sensor gives them into standardised values.
//!
//! For embeddings, call these first: [`Scale`] gives each channel in units of its own deviation;
//! [`MedianDistance`] measures how far apart two typical rows are, a good bandwidth; [`Delay`] joins
//! a row with the rows before it.
//! [`Decimate`] takes several rows as one, also before a detector.
//!
//! A [`Detector`](crate::Detector) needs none of them. For each channel it learns level and spread,
//! a profile by phase if the signal has a known cycle, and a linear prediction from the channel's
//! own past, whose error is the innovation. It also counts for how many rows a reading has not
//! changed or has been missing.

mod cycle;
mod decimate;
mod delay;
mod gaps;
mod median;
mod predictor;
mod reading;
mod scale;
mod standard;
mod stuck;

pub(crate) use cycle::{Phase, Profile};
pub use decimate::{Decimate, DecimateOf, Summand};
pub use delay::{Delay, DelayOf};
pub(crate) use gaps::Gaps;
pub use median::{MedianDistance, MedianDistanceOf};
pub(crate) use predictor::Predictor;
pub(crate) use reading::Reading;
pub(crate) use scale::check_row;
pub use scale::{MAX_DEVIATIONS, MAX_READING, Scale, ScaleOf};
pub(crate) use standard::{Correction, FARTHEST, FIRST_CUT, FloatStandard, Standardise, middle_of};
pub(crate) use stuck::{Overdue, Stillness};
