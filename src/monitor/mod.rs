//! Drift detection: exponentially weighted windows against a reference, thresholds for a stated
//! mean time between false alarms (average run length), and verdicts.
//!
//! A [`Detector`] watches the distribution of rows; a [`coupling::Monitor`] how two groups of
//! channels go together. Both put their rows through one machine: the mean features of windows of
//! several lengths are compared with those of a reference, and each window's statistic with a
//! threshold learned from what it did while all was well.

mod attribution;
mod bank;
mod comparison;
mod config;
pub mod coupling;
mod decision;
mod detector;
mod fleet;
mod moments;
mod null;
mod saved;
mod settings;
mod verdict;
mod watch;

pub(crate) use bank::Circles;
pub use config::{
    Bandwidth, Calibration, Config, LoneOutliers, MEAN_TIMES, Policy, Reference, Warning,
};
pub use detector::Detector;
pub use fleet::Difference;
pub use saved::SavedShape;
pub use verdict::{Alarm, Change, Stage, Verdict, WindowStatus};
pub use watch::{Monitor, Status};
