//! Drift detection: changes of level, spread, shape, dynamics or single readings, slow or sudden,
//! on signals with cycles too, at one stated average run length.
//!
//! A [`Detector`] stands on several legs. A leg is a statistic, or a few, for one kind of change. It
//! is compared with what it did while learning, when all was well. All legs share one promise, the
//! mean time between false alarms (average run length).
//!
//! ```text
//! row of readings
//!   │ condition   each channel in units of its deviation: its value; and the value less what its
//!   │             own past predicts: its residual (innovation)
//!   ▼
//! values and residuals
//!   ├─ level        cumulative sums (CUSUM) and long means of values    per channel
//!   ├─ jump         short means of residuals                            per channel
//!   ├─ spread       short means of their size, up and down              per channel
//!   ├─ range        residuals beyond those learned, two or more         per channel
//!   ├─ values       mean embedding of all values (MMD²)                 jointly
//!   ├─ innovations  mean embedding of all residuals (MMD²)              jointly
//!   └─ stuck, missing                                                   per channel
//!        │ each as the logarithm, in nats, of how much longer the promised mean time would have to
//!        │ be for this to be no alarm
//!        ▼
//!      causes       one alarm for each, amended, open for as long as it lasts
//! ```
//!
//! All means are exponentially weighted: memory is constant, and no row is stored.
//!
//! [`coupling`] watches the dependence between two groups of channels. [`Monitor`] is what a program
//! around a detector needs of it.

mod accepted;
mod cause;
mod channel;
mod config;
pub mod coupling;
mod decision;
mod detector;
mod fixed_shape;
mod fleet;
mod legs;
mod quality;
mod saved;
mod status;
// Thousands of rows each: too slow when interpreted.
#[cfg(all(test, not(miri)))]
mod tests;
mod verdict;
mod watch;

pub use config::{
    CYCLE_BINS, Config, LEARNING_ROWS, LEAST_CYCLES, MEAN_TIMES, NotANumber, PERIODS, RELEARN_ROWS,
    Warning,
};
pub use detector::Detector;
pub use fixed_shape::FixedShape;
pub use fleet::Difference;
pub use legs::choice::{All, Bins, Cycle, Cyclic, Lean, Legs, Off, On, Switch};
pub use legs::wander::Steadiness;
pub use quality::{ChannelQuality, Mute};
pub use saved::SavedLegs;
pub use verdict::{Alarm, Change, Leg, LegStatus, Open, Stage, Verdict};
pub use watch::{Monitor, Status};
