//! How good the learning rows were, and for what.

use crate::condition::Standardise;
use crate::features::FeatureMap;
use crate::features::sincos::Points;

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
    /// Deviation in use, likewise; 0 for a channel that has not moved while learning. Of such a
    /// channel only movements are watched: one that lasts for two rows, or that comes again soon,
    /// is an alarm.
    pub deviation: f32,
    /// Part of the learning rows whose reading was the same as the one before, from 0 to 1.
    pub ties: f32,
    /// Part of the learning rows without a reading, from 0 to 1.
    pub missing: f32,
    /// How far the second half of the learning rows lies above the first, in the units of the
    /// readings, if the level rose evenly.
    pub rise: f32,
    /// Whether the level stays, by the means of 16 blocks of the learning rows.
    pub steadiness: Steadiness,
    /// The effective number of learning rows: as many independent ones would give the level as
    /// accurately. Far fewer than there were if the signal is autocorrelated. At most 2²²; 0 for a
    /// channel that has not moved.
    pub independent_rows: f32,
    /// The longest promise that learning from this channel supports, in rows: that of
    /// [`Config::supported_mean_time`](super::Config::supported_mean_time), less where the rows
    /// are worth fewer than twenty independent ones. Where it is below the start of
    /// [`MEAN_TIMES`](super::MEAN_TIMES), they support no promise that can be stated.
    pub supported_mean_time: f32,
}

/// Independent rows from which on a level is known well enough for any promise.
const WELL_KNOWN: f32 = 20.0;

/// A statistic that cannot fire: its threshold, with the extra evidence that a doubtful level or a
/// spread that comes and goes needs, would lie beyond the largest value it can have, or hardly below.
/// The promise is too long for so short a window, or the signal too autocorrelated. Or it is a joint
/// leg: that of values is off where the level of a channel wanders
/// ([`ChannelQuality::steadiness`]), and both are while a gap of more than 12 rows goes on in a channel,
/// dismissed or not. Rows that lack a reading are not compared jointly: a sensor that has died leaves
/// the other channels nothing but their own legs.
///
/// Windows that learning was too short for, as [`Leg`] says, are not watched at all, and not listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub struct Mute {
    /// Which leg.
    pub leg: Leg,
    /// Of which channel; `None` for all channels together.
    pub channel: Option<usize>,
    /// Length of the window, in rows.
    pub window: u32,
}

impl<M, L> Detector<'_, M, L>
where
    M: FeatureMap<Backend: Points>,
    L: Legs,
{
    /// What is known of each channel; of what was learned so far while learning goes on.
    pub fn quality(&self) -> impl Iterator<Item = ChannelQuality> + '_ {
        let rows = self.state.learned;
        let supported = self.config.supported_mean_time();
        self.state.channels.iter().map(move |channel| {
            let (level, deviation) = channel.standard.in_use();
            // One that has not moved is not measured: its level is its reading.
            let level = if deviation > 0.0 { level } else { channel.standard.learned().0 };
            let error = channel.wander.error();
            let independent_rows =
                if deviation > 0.0 { (1.0 / (error * error)).min(4_194_304.0) } else { 0.0 };
            ChannelQuality {
                level,
                deviation,
                ties: channel.stillness.part_of(rows),
                missing: channel.gaps.part_of(rows),
                rise: channel.wander.rise() * deviation,
                steadiness: channel.steadiness,
                independent_rows,
                supported_mean_time: if deviation > 0.0 {
                    supported * (independent_rows / WELL_KNOWN).min(1.0)
                } else {
                    supported
                },
            }
        })
    }

    /// The statistics that cannot fire, as things stand after the last row.
    pub fn mute(&self) -> impl Iterator<Item = Mute> + '_ {
        let plan = self.plan();
        let (rows, unseen) = (plan.learning_rows, plan.unseen());
        let channels = self.state.channels.iter().enumerate().flat_map(move |(index, channel)| {
            let channel = channel.mute(rows, unseen).map(move |(leg, window)| (leg, window, index));
            channel.map(|(leg, window, index)| Mute { leg, channel: Some(index), window })
        });
        let learned = self.state.stage.is_learned();
        let is_off = self.state.is_joint_off();
        let joint = self.state.joint_legs().into_iter().filter_map(move |(joint, leg)| {
            let window = joint.filter(|_| learned)?.mute(&plan, is_off(leg))?;
            Some(Mute { leg, channel: None, window })
        });
        channels.chain(joint)
    }
}
