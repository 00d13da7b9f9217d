//! Where every statistic stands.

use crate::condition::Runs;
use crate::features::FeatureMap;
use crate::features::sincos::SinCos;
use crate::numeric::row_count;

use super::channel::Channel;
use super::detector::Detector;
use super::legs::choice::{Legs, Slot};
use super::verdict::{Leg, LegStatus};

impl<M, L> Detector<'_, M, L>
where
    M: FeatureMap<Backend: SinCos>,
    L: Legs,
{
    /// Every statistic against its threshold, after the last row; nothing while learning. Those
    /// that cannot fire are left out. O(C + L).
    pub fn legs(&self) -> impl Iterator<Item = LegStatus> + '_ {
        let learned = self.state.stage.is_learned();
        let channels = self.state.channels.iter().enumerate().filter(move |_| learned);
        let channels = channels.flat_map(|(index, channel)| channel.legs(index));
        let plan = self.plan();
        let joint = [
            (self.state.values.carried(), Leg::Values),
            (self.state.innovations.carried(), Leg::Innovations),
        ];
        let wanders = self.state.channels.iter().any(Channel::wanders);
        let joint = joint.into_iter().filter_map(move |(joint, leg)| {
            let joint = joint.filter(|_| learned && !(wanders && leg == Leg::Values))?;
            let (window, statistic, threshold) = joint.status(&plan)?;
            Some(LegStatus { leg, channel: None, window, statistic, threshold })
        });
        channels.chain(joint)
    }

    /// The statistic that is nearest to its threshold, or farthest beyond it; `None` while
    /// learning. O(C + L).
    #[must_use]
    pub fn nearest(&self) -> Option<LegStatus> {
        self.legs().fold(None, |best: Option<LegStatus>, leg| {
            best.filter(|best| best.ratio() >= leg.ratio()).or(Some(leg))
        })
    }
}

impl<L: Legs> Channel<L> {
    fn legs(&self, index: usize) -> impl Iterator<Item = LegStatus> + '_ {
        let of = move |leg| {
            move |(window, statistic, threshold)| LegStatus {
                leg,
                channel: Some(index),
                window,
                statistic,
                threshold,
            }
        };
        let runs = [(&*self.stillness, Leg::Stuck), (&self.gaps, Leg::Missing)];
        let runs = runs.into_iter().filter(|(runs, _)| runs.limit > 0);
        let runs = runs.map(move |(runs, leg)| of(leg)(status_of(runs)));
        self.statuses().map(move |(leg, status)| of(leg)(status)).chain(runs)
    }
}

/// A run against the longest that is no alarm, over no window.
fn status_of(runs: &Runs) -> (u32, f32, f32) {
    (0, row_count(runs.run), row_count(runs.limit))
}
