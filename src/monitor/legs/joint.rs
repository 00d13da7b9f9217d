//! All channels together: the mean embedding of windows against that of the learning rows.

use crate::error::Error;
use crate::features::FeatureMap;
use crate::features::sincos::{Point, SinCos};
use crate::numeric::{f32_of, larger, row_count, sqrt_f32};
use crate::shape::{Length, Per};
use crate::state::state;

use super::charts::rate;
use super::tail::{Design, Shape, Tail, after_learning, while_learning};
use super::{End, Found, Plan, share};

/// Longest window, in rows.
const LONGEST: u32 = 256;
/// Windows that learning should see.
const SEEN: u32 = 12;
/// Windows that it has to see.
const LEAST: u32 = 4;

state! {
    /// Two means of points on the circle of one frequency. Side by side, so that a row goes through
    /// them once.
    #[derive(Debug, Clone, Copy, PartialEq)]
    struct Circle {
        reference: Point,
        window: Point,
    }
}

impl Circle {
    fn squared_distance(&self) -> f32 {
        self.window.squared_distance(&self.reference)
    }
}

state! {
    /// A window over L frequencies: 16·L and 76 bytes.
    #[derive(Debug, Clone, PartialEq)]
    pub(crate) struct Joint<F: Length> {
        circles: Per<F, Circle>,
        rows: u32,
        tail: Tail,
    }
}

/// Length of the window, in rows: as long as learning sees twelve of it, and no more than 256.
fn window_of(plan: &Plan) -> u32 {
    (plan.learning_rows / SEEN).min(LONGEST)
}

impl<F: Length> Joint<F> {
    /// Takes in a vector by at least this rate, and gives MMD² of the window from the reference;
    /// where a row is learned from, at a rate of its own, the reference takes it in too.
    #[inline(never)]
    fn take_in<M: FeatureMap<Frequencies = F, Backend: SinCos>>(
        &mut self,
        map: &M,
        vector: &Per<M::Inputs, f32>,
        window: u32,
        learned: f32,
    ) -> Result<f32, Error> {
        let rate = larger(rate(window), learned);
        let mut sum = 0.0;
        map.project(vector.borrow(), self.circles.borrow_mut(), |circle, turns| {
            let point = M::Backend::point(turns);
            if learned > 0.0 {
                circle.reference.blend(point, learned);
            }
            circle.window.blend(point, rate);
            sum += circle.squared_distance();
        })?;
        Ok(sum / f32_of(self.circles.len()))
    }

    /// Takes a healthy row; where it `collects`, how far the window strays.
    pub(crate) fn learn<M: FeatureMap<Frequencies = F, Backend: SinCos>>(
        &mut self,
        map: &M,
        vector: &Per<M::Inputs, f32>,
        plan: &Plan,
        collects: bool,
    ) -> Result<(), Error> {
        self.rows = self.rows.saturating_add(1);
        let (count, window) = (row_count(self.rows), window_of(plan));
        let length = row_count(window);
        let distance = self.take_in(map, vector, window, 1.0 / count)?;
        let r = while_learning(length * distance, length, count);
        if r.filter(|_| collects).is_some_and(|r| self.tail.learn(r)) {
            self.tail.turn(Design::block_of(window, plan.collected));
        }
        Ok(())
    }

    fn design(plan: &Plan) -> Design {
        let window = window_of(plan);
        Design {
            shape: Shape::Distance,
            block: Design::block_of(window, plan.collected),
            window,
            ln_time: plan.ln_time_of(share::JOINT, 1, 1),
            unit: 0.0,
            // Two points are at most 2 apart.
            reach: 2.0 * sqrt_f32(row_count(window)),
            memory: plan.memory(),
        }
    }

    /// Ends learning.
    pub(crate) fn arm(&mut self, plan: &Plan) {
        self.tail.fit(&Self::design(plan));
        // Rows that lack a reading do not count: there may be too few of the others.
        if self.rows < LEAST * window_of(plan) {
            self.tail.mute();
        }
    }

    /// The window, if it cannot fire.
    pub(crate) fn mute(&self, plan: &Plan) -> Option<u32> {
        self.tail.is_mute().then(|| window_of(plan))
    }

    /// Takes a row.
    pub(crate) fn watch<M: FeatureMap<Frequencies = F, Backend: SinCos>>(
        &mut self,
        map: &M,
        vector: &Per<M::Inputs, f32>,
        plan: &Plan,
        adapts: bool,
    ) -> Result<Found, Error> {
        let window = window_of(plan);
        let (length, rows) = (row_count(window), row_count(self.rows.max(1)));
        let squared = length * self.take_in(map, vector, window, 0.0)?;
        let r = after_learning(squared, length, rows);
        let mut found = Found::CALM;
        found.take_in(&mut self.tail, r, window);
        if adapts && !self.tail.is_mute() && self.tail.follow(r) {
            self.tail.adapt(&Self::design(plan));
        }
        Ok(found)
    }

    /// The squared distance on each circle.
    pub(crate) fn by_frequency(&self) -> impl Iterator<Item = f32> + '_ {
        self.circles.iter().map(Circle::squared_distance)
    }

    /// Length of the window, where its statistic stands, and its threshold; `None` if it cannot
    /// fire.
    pub(crate) fn status(&self, plan: &Plan) -> Option<(u32, f32, f32)> {
        let window = window_of(plan);
        let (length, rows) = (row_count(window), row_count(self.rows.max(1)));
        let distance = self.by_frequency().sum::<f32>() / f32_of(self.circles.len());
        let r = after_learning(length * distance, length, rows);
        (!self.tail.is_mute()).then(|| (window, sqrt_f32(r), sqrt_f32(self.tail.open())))
    }

    /// Mean squared distance of two references, and what is expected of two of the same
    /// distribution: the variance of a window's mean, for as many rows as each has.
    pub(crate) fn difference(&self, other: &Self) -> (f32, f32) {
        let circles = self.circles.iter().zip(other.circles.iter());
        let sum = circles.map(|(a, b)| a.reference.squared_distance(&b.reference)).sum::<f32>();
        let usual = |joint: &Self| joint.tail.mean() / row_count(joint.rows.max(1));
        (sum / f32_of(self.circles.len()), usual(self) + usual(other))
    }

    /// Degrees of freedom of a squared distance from the reference: 2·mean²/variance.
    pub(crate) fn degrees(&self) -> f32 {
        self.tail.degrees()
    }

    /// Takes what another one learned for healthy too; `share` is its part of all rows.
    pub(crate) fn join(&mut self, other: &Self, share: f32, plan: &Plan) {
        let (squared, _) = self.difference(other);
        let apart = sqrt_f32(squared * row_count(window_of(plan)));
        self.tail.join(&other.tail, [share * apart, (1.0 - share) * apart]);
        for (circle, theirs) in self.circles.iter_mut().zip(other.circles.iter()) {
            circle.reference.blend(theirs.reference, share);
        }
        self.settle();
        self.rows = self.rows.saturating_add(other.rows);
    }

    /// A change is over. If somebody said so, the window begins anew.
    pub(crate) fn end(&mut self, plan: &Plan, end: End) {
        self.tail.end(&Self::design(plan), end);
        if !matches!(end, End::ByItself) {
            self.settle();
        }
    }

    /// The window begins anew, as if nothing had been off.
    pub(crate) fn settle(&mut self) {
        self.circles.iter_mut().for_each(|circle| circle.window = circle.reference);
    }
}
