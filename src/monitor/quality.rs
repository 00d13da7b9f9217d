//! What learning was good for.

use crate::features::FeatureMap;
use crate::features::sincos::SinCos;

use super::detector::Detector;
use super::legs::choice::Legs;
use super::legs::wander::Steadiness;
use super::verdict::Leg;

/// What is known of a channel after learning.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub struct ChannelQuality {
    /// Level in use, in the units of the readings.
    pub level: f32,
    /// Deviation in use, likewise; 0 for a channel that has not moved while learning. Any movement
    /// of such a channel counts as out of range, and nothing else of it is watched.
    pub deviation: f32,
    /// Part of the learning rows whose reading was the same as the one before, from 0 to 1.
    pub ties: f32,
    /// Part of the learning rows without a reading, from 0 to 1.
    pub missing: f32,
    /// Whether the level stays, by the means of 16 blocks of the learning rows.
    pub steadiness: Steadiness,
    /// As how many independent rows the learning rows tell the level, at most 2²².
    pub independent_rows: f32,
}

/// A statistic that cannot fire: its threshold would lie beyond what it can reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub struct Mute {
    /// Which leg.
    pub leg: Leg,
    /// Of which channel.
    pub channel: usize,
    /// Length of the window, in rows.
    pub window: u32,
}

impl<M, L> Detector<'_, M, L>
where
    M: FeatureMap<Backend: SinCos>,
    L: Legs,
{
    /// What is known of each channel; of what was learned so far while learning goes on.
    pub fn quality(&self) -> impl Iterator<Item = ChannelQuality> + '_ {
        let rows = self.state.learned;
        self.state.channels.iter().map(move |channel| {
            let (level, deviation) = channel.standard.in_use();
            // One that has not moved is not measured: its level is its reading.
            let level = if deviation > 0.0 { level } else { channel.standard.learned().0 };
            let error = channel.wander.error();
            ChannelQuality {
                level,
                deviation,
                ties: channel.stillness.part_of(rows),
                missing: channel.gaps.part_of(rows),
                steadiness: channel.steadiness,
                independent_rows: (1.0 / (error * error)).min(4_194_304.0),
            }
        })
    }

    /// The statistics that cannot fire.
    pub fn mute(&self) -> impl Iterator<Item = Mute> + '_ {
        let rows = self.plan().learning_rows;
        self.state.channels.iter().enumerate().flat_map(move |(index, channel)| {
            channel.mute(rows).map(move |(leg, window)| Mute { leg, channel: index, window })
        })
    }
}
