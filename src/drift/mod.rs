//! Drift of any kind: slow or sudden, of level, spread, shape, dynamics or single readings, on
//! signals with cycles too, at one promised rate of false alarms.
//!
//! A [`Detector`] stands on several legs, each of which looks for one kind of change. Every
//! statistic is compared with what it did while all was well, and all share one promise.
//!
//! ```text
//! row of readings
//!   │ condition   each channel in units of its spread; what its own past predicts
//!   ▼
//! values and residuals
//!   ├─ level        cumulative sums and long means of values            per channel
//!   ├─ jump         short means of residuals                            per channel
//!   ├─ spread       short means of their size, up and down              per channel
//!   ├─ range        residuals beyond those learned, two or more         per channel
//!   ├─ values       mean embedding of all values (MMD²)                 jointly
//!   ├─ innovations  mean embedding of all residuals (MMD²)              jointly
//!   └─ stuck, missing                                                   per channel
//!        │ each in nats beyond its share of the promise
//!        ▼
//!      causes       one alarm for what began together, amended, open for as long as it lasts
//! ```

mod cause;
mod channel;
mod config;
mod decision;
mod detector;
mod legs;
mod quality;
mod saved;
// Thousands of rows each: too slow when interpreted.
#[cfg(all(test, not(miri)))]
mod tests;
mod verdict;

pub use config::{Config, LEARNING_ROWS, MEAN_TIMES, NotANumber};
pub use detector::Detector;
pub use legs::choice::{All, Legs, Off, On, Switch};
pub use legs::wander::Steadiness;
pub use quality::{ChannelQuality, Mute};
pub use verdict::{Alarm, Change, Leg, Open, Stage, Verdict};
