//! What a detector answers.

use crate::state::{codes, codes_of_patterns, plain};

/// What a detector is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Stage {
    /// Learning what is healthy.
    Learning,
    /// Comparing rows with what was learned.
    Monitoring,
    /// As monitoring, while something differs.
    Drift,
}

codes!(Stage {
    Learning = 0 "learning",
    Monitoring = 1 "monitoring",
    Drift = 2 "drift",
});

impl Stage {
    /// Whether learning is complete.
    #[must_use]
    pub const fn is_learned(self) -> bool {
        match self {
            Self::Learning => false,
            Self::Monitoring | Self::Drift => true,
        }
    }
}

/// The answer to one row: of a detector, or, with alarms `A` of its own, of another monitor.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Verdict<A = Alarm> {
    /// Still learning; `progress` goes from 0 to 1.
    Learning {
        /// Part done.
        progress: f32,
    },
    /// Nothing differs from what was learned by more than the promise allows.
    Healthy,
    /// Something has changed: raised on one row for each cause.
    Alarm(A),
    /// The alarm of 32 rows before, told again because more rows show better what it is: its
    /// [`row`](Alarm::row) is the same, and its channel, change or beginning has mostly been
    /// corrected. At most once for an alarm. If another alarm came in between, it is told again even
    /// where nothing of it has changed, since the first is then not kept to compare with.
    Amended(A),
    /// Something that an alarm was raised for still differs.
    Drifting,
}

codes_of_patterns!(Verdict<A> {
    Self::Learning { .. } = 0 "learning",
    Self::Healthy = 1 "healthy",
    Self::Alarm(_) = 2 "alarm",
    Self::Amended(_) = 3 "amended",
    Self::Drifting = 4 "drifting",
});

plain! {
    /// What an alarm says.
    #[derive(Debug, Clone, Copy, PartialEq)]
    #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
    #[cfg_attr(feature = "defmt", derive(defmt::Format))]
    #[non_exhaustive]
    pub struct Alarm {
        /// The row it was raised on, counted from 0 over all rows pushed.
        pub row: u64,
        /// The row on which the change seems to have begun.
        pub since: u64,
        /// The channel that changed most, counted from 0.
        pub channel: usize,
        /// What about it changed.
        pub change: Change,
        /// Which leg found it.
        pub leg: Leg,
        /// Rows that the statistic looks back over.
        pub window: u32,
        /// The statistic, in the units of [`LegStatus::statistic`].
        pub score: f32,
        /// The threshold that it passed, in the same units.
        pub threshold: f32,
    }
}

impl Alarm {
    /// How far beyond the threshold, as a factor: 1 or more. It may be less for one of two alarms of
    /// the same row: the second is reported a row later, with the score that it has then.
    #[must_use]
    pub fn severity(&self) -> f32 {
        self.score / self.threshold
    }
}

/// Something that differs from what was learned, now.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub struct Open {
    /// Which leg sees it.
    pub leg: Leg,
    /// The channel; `None` for all channels together.
    pub channel: Option<usize>,
    /// Rows since an alarm was last raised for it; no more than 65,534 are counted.
    pub rows: u32,
    /// How large it is now. Of a level: its shift, in deviations. Of a run: its length over the
    /// longest that is no alarm. Of the others: the statistic over its threshold, as
    /// [`LegStatus::ratio`], of the window where that is largest. It may be below 1: what differs
    /// stays open until it has been well below its threshold for 100 rows.
    pub size: f32,
}

/// What an alarm stands on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Leg {
    /// The level of a channel against the learned one: a cumulative sum (CUSUM), and exponentially
    /// weighted means over 256 and 1024 rows, each if learning has twelve times as many rows: from
    /// 3072 and from 12,288 on, not counting those of a profile.
    Level,
    /// What a channel does beyond what its own past predicts (its innovation): exponentially
    /// weighted means over 4, 16 and 64 rows, the last if learning has 768 rows.
    Jump,
    /// The spread of the innovation, up and down: over 16 rows, and over 64 if learning has 768.
    Spread,
    /// Innovations farther out than those learned, more often than they came while learning.
    Range,
    /// The joint distribution of all channels: MMD² of an exponentially weighted window. It takes
    /// rows with a reading of every channel, so that a sensor that has died switches it off:
    /// [`Detector::mute`](super::Detector::mute) tells. While the level of some channel is off it
    /// differs for that reason, so that what else changes in it may raise no alarm.
    Values,
    /// The joint distribution of their innovations, likewise; hidden while a jump, the spread or the
    /// range of some channel is off.
    Innovations,
    /// A reading that does not change at all.
    Stuck,
    /// Readings that do not come.
    Missing,
}

codes!(Leg {
    Level = 0 "level",
    Jump = 1 "jump",
    Spread = 2 "spread",
    Range = 3 "range",
    Values = 4 "values",
    Innovations = 5 "innovations",
    Stuck = 6 "stuck",
    Missing = 7 "missing",
});

/// What about a channel changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Change {
    /// Its level.
    Level,
    /// Its spread, or that of what its past does not predict.
    Spread,
    /// The shape of its distribution, or how channels go together.
    Shape,
    /// Single readings far out of the ordinary, more often than was learned.
    Outliers,
    /// It has stopped moving at all.
    Stuck,
    /// Its readings do not come.
    Missing,
}

codes!(Change {
    Level = 0 "level",
    Spread = 1 "spread",
    Shape = 2 "shape",
    Outliers = 3 "outliers",
    Stuck = 4 "stuck",
    Missing = 5 "missing",
});

/// What one statistic says.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub struct LegStatus {
    /// Which leg it is of.
    pub leg: Leg,
    /// The channel; `None` for all channels together.
    pub channel: Option<usize>,
    /// Rows that it looks back over; 0 for a cumulative sum, which has no end.
    pub window: u32,
    /// The statistic. Of a mean: how far it is from the learned one, in deviations (for the spread,
    /// their square where it goes up, and their root where it goes down). Of a cumulative sum: the
    /// sum, in deviations. Of a joint leg: MMD times the root of the window's length. Of the range:
    /// a log-likelihood, in nats. Of a run: its length, in rows.
    pub statistic: f32,
    /// The threshold beyond which it is an alarm, in the same units.
    pub threshold: f32,
}

impl LegStatus {
    /// The statistic over its threshold.
    #[must_use]
    pub fn ratio(&self) -> f32 {
        self.statistic / self.threshold
    }
}
