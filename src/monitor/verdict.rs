//! What a detector answers.

use crate::state::codes;

/// What the detector is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Stage {
    /// Learning each channel's level and spread, and the bandwidth.
    Scaling,
    /// Learning the reference, and how much windows differ from it while all is well.
    Learning,
    /// Comparing windows with the reference.
    Monitoring,
    /// As monitoring, since an alarm that has not been answered.
    Drift,
}

codes!(Stage {
    Scaling = 0 "scaling",
    Learning = 1 "learning",
    Monitoring = 2 "monitoring",
    Drift = 3 "drift",
});

impl Stage {
    /// Whether scaling and learning are complete.
    #[must_use]
    pub const fn is_learned(self) -> bool {
        match self {
            Self::Scaling | Self::Learning => false,
            Self::Monitoring | Self::Drift => true,
        }
    }
}

/// The answer to one row: of a detector, or, with alarms `A` of its own, of another monitor.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Verdict<A = Alarm> {
    /// Still scaling or learning; `progress` goes from 0 to 1 over both.
    Learning {
        /// Part done of scaling and learning together.
        progress: f32,
    },
    /// Nothing differs from the reference by more than its threshold.
    Healthy,
    /// What is watched has changed: raised on one row, as often as the policy says.
    Alarm(A),
    /// An alarm was raised before, and it is not yet time for another.
    Drifting,
}

/// What an alarm says.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Alarm {
    /// The row it was raised on, counted from 0 over all rows pushed.
    pub row: u64,
    /// The row the change seems to have begun.
    pub since: u64,
    /// Length, in rows, of the window that fired.
    pub window: u32,
    /// The statistic of that window.
    pub score: f32,
    /// Its threshold.
    pub threshold: f32,
    /// The channel that changed most, counted from 0.
    pub channel: usize,
    /// What about it changed.
    pub change: Change,
}

impl Alarm {
    /// How far beyond the threshold, as a factor of at least 1.
    #[must_use]
    pub fn severity(&self) -> f32 {
        self.score / self.threshold
    }
}

/// What one window says.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub struct WindowStatus {
    /// Its length in rows.
    pub window: u32,
    /// How far it is from the reference.
    pub statistic: f32,
    /// Beyond which it alarms; 0 while learning.
    pub threshold: f32,
}

/// What about a channel changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Change {
    /// Its level.
    Level,
    /// Its spread.
    Spread,
    /// The shape of its distribution, or how channels or lags go together.
    Shape,
    /// It has stopped moving at all.
    Stuck,
}

codes!(Change {
    Level = 0 "level",
    Spread = 1 "spread",
    Shape = 2 "shape",
    Stuck = 3 "stuck",
});
