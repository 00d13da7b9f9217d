//! The structures that cross the boundary. None has padding.

use core::marker::PhantomData;

use fastmmd::Config;
use fastmmd::monitor::{self, ChannelQuality, NotANumber};

use crate::codes::{
    FASTMMD_ERROR_NOT_A_NUMBER, FASTMMD_ERROR_SETTINGS, FASTMMD_NAN_MISSING, FASTMMD_NAN_REFUSED,
    channel_number,
};

/// What a user states. Set by fastmmd_defaults, then changed.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Settings {
    /// Length of this structure, in bytes: tells a version of the library from another.
    pub bytes: u32,
    /// The promise: mean time between false alarms, in rows, from 1e2 to 1e15.
    pub mean_time_between_false_alarms: f32,
    /// Rows to learn from, all of which should be healthy: 256 to 4194304. By default 4096.
    pub learning_rows: u32,
    /// What a reading that is not a number means: FASTMMD_NAN_REFUSED (the default) or
    /// FASTMMD_NAN_MISSING.
    pub not_a_number: i32,
    /// Length of a known cycle, in rows, from 4 to 1048576, at most a quarter of learning_rows; for
    /// shapes with a cycle alone. 0, the default: none.
    pub period: f32,
    /// Rows after which a lasting drift is learned as healthy. 0, the default: never.
    pub relearn_after: u32,
}

/// A length of a structure, which C counts in 32 bits.
const fn bytes_of<T>() -> u32 {
    assert!(size_of::<T>() < 256);
    #[expect(clippy::cast_possible_truncation, reason = "just compared")]
    let bytes = size_of::<T>() as u32;
    bytes
}

impl Settings {
    const BYTES: u32 = bytes_of::<Self>();

    /// The core's defaults.
    pub(crate) fn defaults(mean_time: f32) -> Self {
        Self::of(&Config::rows(mean_time))
    }

    /// Those of a detector.
    pub(crate) fn of<L>(config: &Config<L>) -> Self {
        // All of them: a new one does not compile until C has it.
        let &Config {
            mean_time_between_false_alarms,
            learning_rows,
            not_a_number,
            period,
            relearn_after,
            legs: PhantomData,
        } = config;
        Self {
            bytes: Self::BYTES,
            mean_time_between_false_alarms,
            learning_rows,
            not_a_number: match not_a_number {
                NotANumber::Refused => FASTMMD_NAN_REFUSED,
                NotANumber::Missing => FASTMMD_NAN_MISSING,
            },
            period: period.unwrap_or(0.0),
            relearn_after: relearn_after.unwrap_or(0),
        }
    }

    /// As the core takes them; it checks the numbers.
    pub(crate) fn config(&self) -> Result<Config, i32> {
        if self.bytes != Self::BYTES {
            return Err(FASTMMD_ERROR_SETTINGS);
        }
        let not_a_number = match self.not_a_number {
            FASTMMD_NAN_REFUSED => NotANumber::Refused,
            FASTMMD_NAN_MISSING => NotANumber::Missing,
            _ => return Err(FASTMMD_ERROR_NOT_A_NUMBER),
        };
        Ok(Config {
            mean_time_between_false_alarms: self.mean_time_between_false_alarms,
            learning_rows: self.learning_rows,
            not_a_number,
            period: (self.period != 0.0).then_some(self.period),
            relearn_after: (self.relearn_after != 0).then_some(self.relearn_after),
            legs: PhantomData,
        })
    }
}

/// What an alarm says.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Alarm {
    /// The row it was raised on, counted from 0 over all rows pushed.
    pub row: u64,
    /// The row on which the change seems to have begun.
    pub since: u64,
    /// The channel that changed most, counted from 0.
    pub channel: u32,
    /// What about it changed: FASTMMD_CHANGE_....
    pub change: i32,
    /// Which leg found it: FASTMMD_LEG_....
    pub leg: i32,
    /// Rows that the statistic looks back over.
    pub window: u32,
    /// The statistic. How far it is beyond the threshold: score / threshold.
    pub score: f32,
    /// The threshold that it passed, in the same units.
    pub threshold: f32,
}

impl From<&monitor::Alarm> for Alarm {
    fn from(alarm: &monitor::Alarm) -> Self {
        Self {
            row: alarm.row,
            since: alarm.since,
            channel: channel_number(alarm.channel),
            change: alarm.change.code().into(),
            leg: alarm.leg.code().into(),
            window: alarm.window,
            score: alarm.score,
            threshold: alarm.threshold,
        }
    }
}

/// How a detector stands after the last row.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Status {
    /// Rows pushed in all, also before learning anew: the number of the next one.
    pub rows: u64,
    /// What it is doing: FASTMMD_STAGE_....
    pub stage: i32,
    /// Part done of learning, from 0 to 1.
    pub progress: f32,
    /// The statistic nearest to its threshold, or farthest beyond; 0 while learning.
    pub statistic: f32,
    /// Its threshold; 0 while learning.
    pub threshold: f32,
    /// How many things differ from what was learned, now.
    pub open: u32,
    /// Always 0.
    pub reserved: u32,
}

impl From<&monitor::Status> for Status {
    fn from(status: &monitor::Status) -> Self {
        Self {
            rows: status.rows,
            stage: status.stage.code().into(),
            progress: status.progress,
            statistic: status.statistic,
            threshold: status.threshold,
            open: status.open,
            reserved: 0,
        }
    }
}

/// What is known of a channel after learning, or so far.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Quality {
    /// Level in use, in the units of the readings.
    pub level: f32,
    /// Deviation in use, likewise; 0 for a channel that has not moved while learning.
    pub deviation: f32,
    /// Part of the learning rows whose reading was the same as the one before, from 0 to 1.
    pub ties: f32,
    /// Part of the learning rows without a reading, from 0 to 1.
    pub missing: f32,
    /// How far the second half of the learning rows lies above the first, in the units of the
    /// readings.
    pub rise: f32,
    /// Whether the level stays: FASTMMD_STEADY, FASTMMD_DOUBTFUL or FASTMMD_WANDERING.
    pub steadiness: i32,
    /// So many independent rows would tell the level as well.
    pub independent_rows: f32,
    /// The longest mean time between false alarms that learning from this channel supports, in rows.
    /// Below 100, the shortest that can be stated, it supports none.
    pub supported_mean_time: f32,
}

impl From<&ChannelQuality> for Quality {
    fn from(quality: &ChannelQuality) -> Self {
        Self {
            level: quality.level,
            deviation: quality.deviation,
            ties: quality.ties,
            missing: quality.missing,
            rise: quality.rise,
            steadiness: quality.steadiness.code().into(),
            independent_rows: quality.independent_rows,
            supported_mean_time: quality.supported_mean_time,
        }
    }
}
