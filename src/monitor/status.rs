//! Where every statistic stands.

use crate::features::FeatureMap;
use crate::features::sincos::Points;

use super::channel::STATISTICS;
use super::detector::Detector;
use super::legs::choice::Legs;
use super::verdict::LegStatus;

impl<M, L> Detector<'_, M, L>
where
    M: FeatureMap<Backend: Points>,
    L: Legs,
{
    /// Every statistic against its threshold, after the last row; nothing while learning. Those
    /// that cannot fire are left out. O(C + L).
    pub fn legs(&self) -> impl Iterator<Item = LegStatus> + '_ {
        let learned = self.state.stage.is_learned();
        let channels = self.state.channels.iter().enumerate().filter(move |_| learned);
        let plan = self.plan();
        let unseen = plan.unseen();
        let channels = channels.flat_map(move |(index, channel)| {
            let doubt = channel.spread_doubt(unseen);
            (0..STATISTICS).filter_map(move |place| {
                let (leg, (window, statistic, threshold)) = channel.statistic(place, doubt)?;
                Some(LegStatus { leg, channel: Some(index), window, statistic, threshold })
            })
        });
        let is_off = self.state.is_joint_off();
        let joint = self.state.joint_legs().into_iter().filter_map(move |(joint, leg)| {
            let joint = joint.filter(|_| learned && !is_off(leg))?;
            let (window, statistic, threshold) = joint.status(&plan)?;
            Some(LegStatus { leg, channel: None, window, statistic, threshold })
        });
        channels.chain(joint)
    }

    /// The statistic that is nearest to its threshold, or farthest beyond it; `None` while
    /// learning. O(C + L).
    #[must_use]
    pub fn nearest(&self) -> Option<LegStatus> {
        let mut best: Option<LegStatus> = None;
        self.legs().for_each(|leg| {
            if best.is_none_or(|best| best.ratio() < leg.ratio()) {
                best = Some(leg);
            }
        });
        best
    }
}
