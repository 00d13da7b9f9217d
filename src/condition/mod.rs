//! Conditioning: turns rows as the sensor gives them into standardised vectors.
//!
//! [`Scale`] puts each channel in units of its own spread, [`MedianDistance`] tells how far apart
//! two typical rows are, a [`View`] says what of a row is looked at, and [`Delay`] joins it with the
//! rows before. A [`Detector`](crate::Detector) does all of this by itself.

mod conditioning;
mod delay;
mod innovation;
mod median;
mod outlier;
mod predictor;
mod scale;
mod standard;
mod stuck;
mod view;

pub(crate) use conditioning::{Conditioning, drawn_in};
pub use delay::{Delay, DelayOf};
pub(crate) use innovation::Update;
pub use median::{MedianDistance, MedianDistanceOf};
pub(crate) use outlier::Gate;
pub(crate) use predictor::Predictor;
pub(crate) use scale::check_row;
pub use scale::{MAX_DEVIATIONS, MAX_READING, Scale, ScaleOf};
pub(crate) use standard::{Correction, Standard};
pub(crate) use stuck::{Runs, Stillness};
pub use view::{Innovation, InnovationOf, Raw, RawOf, View, ViewKind};
pub(crate) use view::{Kept, Shaped};
