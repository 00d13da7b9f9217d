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
//!   ├─ range        residuals beyond those learned, by their rate       per channel
//!   ├─ values       mean embedding of all values (MMD²)                 jointly
//!   ├─ innovations  mean embedding of all residuals (MMD²)              jointly
//!   └─ stuck, missing                                                   per channel
//!        │ each in nats beyond its share of the promise
//!        ▼
//!      causes       one alarm for each, amended, open for as long as it lasts
//! ```

mod cause;
mod channel;
mod config;
pub mod coupling;
mod decision;
mod detector;
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

pub use config::{Config, LEARNING_ROWS, MEAN_TIMES, NotANumber, Warning};
pub use detector::Detector;
pub use fleet::Difference;
pub use legs::choice::{All, Bins, Cycle, Cyclic, Lean, Legs, Off, On, Switch};
pub use legs::wander::Steadiness;
pub use quality::{ChannelQuality, Mute};
pub use saved::SavedLegs;
pub use verdict::{Alarm, Change, Leg, LegStatus, Open, Stage, Verdict};
pub use watch::{Monitor, Status};
