//! All channels together: the mean embedding of windows against that of the learning rows.

use crate::error::Error;
use crate::features::sincos::Points;
use crate::features::{FeatureMap, Scalar, ScalarOf};
use crate::numeric::{CircleMeans, Number, f32_of, row_count, sqrt_f32};
use crate::shape::{Length, Per};
use crate::state::state;

use super::tail::{Design, Shape, Tail, while_learning};
use super::{End, Found, JOINT_CAUTION, Plan, share};

/// Longest window, in rows.
const LONGEST: u32 = 256;
/// Windows that learning should see.
const SEEN: u32 = 12;
/// Windows that it has to see.
const LEAST: u32 = 4;

state! {
    /// A window over L frequencies: 16·L and 76 bytes.
    #[derive(Debug, Clone, PartialEq)]
    pub(crate) struct Joint<F: Length, N: Number> {
        circles: Per<F, N::Means>,
        rows: u32,
        tail: Tail<N>,
    }
}

/// Length of the window, in rows: as long as learning sees twelve of it, and no more than 256.
fn window_of(plan: &Plan) -> u32 {
    (plan.learning_rows / SEEN).min(LONGEST)
}

impl<F: Length, N: Number> Joint<F, N> {
    /// Takes in a vector, and gives the root of MMD² of the window from the reference, times the
    /// length of the window. The reference takes in its `share` of it, where it learns.
    #[inline(never)]
    fn take_in<M>(
        &mut self,
        map: &M,
        vector: &Per<M::Inputs, ScalarOf<M>>,
        window: u32,
        share: Option<N::Share>,
    ) -> Result<N, Error>
    where
        M: FeatureMap<Frequencies = F, Backend: Points>,
        ScalarOf<M>: Scalar<Number = N>,
    {
        let rate = N::rate_of_window(window);
        let mut sum = Default::default();
        map.project(vector.borrow(), self.circles.borrow_mut(), |means, phase| {
            sum += means.take_in(M::Backend::point_of(phase), rate, share);
        })?;
        Ok(N::root_of_distance(sum, self.circles.len(), window))
    }

    /// Takes a healthy row; where it `collects`, how far the window strays.
    pub(crate) fn learn<M>(
        &mut self,
        map: &M,
        vector: &Per<M::Inputs, ScalarOf<M>>,
        plan: &Plan,
        collects: bool,
    ) -> Result<(), Error>
    where
        M: FeatureMap<Frequencies = F, Backend: Points>,
        ScalarOf<M>: Scalar<Number = N>,
    {
        self.rows = self.rows.saturating_add(1);
        let (window, share) = (window_of(plan), N::share_of(self.rows));
        let distance = self.take_in(map, vector, window, Some(share))?;
        let root = while_learning(distance, window, self.rows, share).filter(|_| collects);
        let ends = root.is_some_and(|root| self.tail.learn(root, Shape::Distance, window));
        if ends && plan.may_turn() {
            self.tail.turn(Design::block_of(window, plan.collected));
        }
        Ok(())
    }

    fn design(&self, plan: &Plan) -> Design {
        Self::design_of(self.rows, plan)
    }

    fn design_of(rows: u32, plan: &Plan) -> Design {
        let window = window_of(plan);
        Design {
            shape: Shape::Distance,
            block: Design::block_of(window, plan.collected),
            window,
            ln_time: plan.ln_time_of(share::JOINT, 1, 1) + plan.extra_evidence(JOINT_CAUTION),
            unit: 0.0,
            // Two points are at most 2 apart.
            reach: 2.0 * sqrt_f32(row_count(window)),
            memory: plan.memory(),
            raise: N::raise(window, rows).value(),
        }
    }

    /// Ends learning.
    pub(crate) fn arm(&mut self, plan: &Plan) {
        let design = self.design(plan);
        self.tail.fit(&design);
        // Rows that lack a reading do not count: there may be too few of the others.
        if self.rows < LEAST * window_of(plan) {
            self.tail.mute();
        }
    }

    /// The window, if it cannot fire, or is `off`.
    pub(crate) fn mute(&self, plan: &Plan, off: bool) -> Option<u32> {
        (off || self.tail.is_mute()).then(|| window_of(plan))
    }

    /// Takes a row.
    pub(crate) fn watch<M>(
        &mut self,
        map: &M,
        vector: &Per<M::Inputs, ScalarOf<M>>,
        plan: &Plan,
        adapts: bool,
    ) -> Result<Found<N>, Error>
    where
        M: FeatureMap<Frequencies = F, Backend: Points>,
        ScalarOf<M>: Scalar<Number = N>,
    {
        let window = window_of(plan);
        let root = self.take_in(map, vector, window, None)?;
        let mut found = Found::calm();
        found.take_in(&mut self.tail, root, window);
        if adapts && !self.tail.is_mute() && self.tail.follow(root) && plan.may_turn() {
            let (block, rows) = (Design::block_of(window, plan.collected), self.rows);
            let design = || Self::design_of(rows, plan);
            self.tail.adapt(block, plan.memory(), N::raise(window, rows), design);
        }
        Ok(found)
    }

    /// The squared distance on each circle.
    pub(crate) fn by_frequency(&self) -> impl Iterator<Item = f32> + '_ {
        self.circles.iter().map(CircleMeans::distance)
    }

    /// Length of the window, where its statistic stands, and its threshold; `None` if it cannot
    /// fire.
    pub(crate) fn status(&self, plan: &Plan) -> Option<(u32, f32, f32)> {
        let window = window_of(plan);
        let distance = self.by_frequency().sum::<f32>() / f32_of(self.circles.len());
        let root = sqrt_f32(row_count(window) * distance);
        (!self.tail.is_mute()).then(|| (window, root, self.tail.open().value()))
    }

    /// The rows that the reference stands on, and its mean points in order of frequency.
    pub(crate) fn reference(&self) -> (u32, impl Iterator<Item = [f32; 2]> + '_) {
        (self.rows, self.circles.iter().map(CircleMeans::reference))
    }

    /// Mean squared distance of two references, and what is expected of two of the same
    /// distribution: the variance of a window's mean, for as many rows as each has.
    pub(crate) fn difference(&self, other: &Self, plan: &Plan) -> (f32, f32) {
        let circles = self.circles.iter().zip(other.circles.iter());
        let sum = circles.map(|(a, b)| a.reference_distance(b)).sum::<f32>();
        let window = window_of(plan);
        let usual =
            |joint: &Self| joint.tail.mean(Shape::Distance, window) / row_count(joint.rows.max(1));
        (sum / f32_of(self.circles.len()), usual(self) + usual(other))
    }

    /// Degrees of freedom of a squared distance from the reference: 2·mean²/variance.
    pub(crate) fn degrees(&self, plan: &Plan) -> f32 {
        self.tail.degrees(Shape::Distance, window_of(plan))
    }

    /// Takes what another one learned for healthy too; `share` is its part of all rows.
    pub(crate) fn join(&mut self, other: &Self, share: f32, plan: &Plan) {
        let (squared, _) = self.difference(other, plan);
        let apart = sqrt_f32(squared * row_count(window_of(plan)));
        self.tail.join(&other.tail, [share * apart, (1.0 - share) * apart]);
        for (circle, theirs) in self.circles.iter_mut().zip(other.circles.iter()) {
            circle.blend(theirs, share);
        }
        self.settle();
        self.rows = self.rows.saturating_add(other.rows);
    }

    /// A change is over. If it was dismissed, the window restarts.
    pub(crate) fn end(&mut self, plan: &Plan, end: End) {
        let design = self.design(plan);
        self.tail.end(&design, end);
        if !matches!(end, End::ByItself) {
            self.settle();
        }
    }

    /// Restarts the window, as if nothing had been off.
    pub(crate) fn settle(&mut self) {
        self.circles.iter_mut().for_each(CircleMeans::settle);
    }
}
