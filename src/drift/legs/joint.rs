//! All channels together: the mean embedding of windows against that of the learning rows.

use crate::features::sincos::Point;
use crate::monitor::Circles;
use crate::numeric::{larger, row_count};
use crate::shape::{Fixed, Length, Per};
use crate::state::state;

use super::charts::{Score, Side, rate};
use super::tail::{Design, Shape, Tail};
use super::{Found, Plan};

/// Windows, as those of a score.
pub(crate) const WINDOWS: Score =
    Score { side: Side::Both, windows: &[64, 256], largest: 2.0, least: 1 };

state! {
    /// Two windows over L frequencies: 24·L and some 160 bytes.
    #[derive(Debug, Clone, PartialEq)]
    pub(crate) struct Joint<F: Length> {
        reference: Per<F, Point>,
        windows: Circles<F, Fixed<2>>,
        rows: u32,
        tails: [Tail; 2],
    }
}

impl<F: Length> Joint<F> {
    /// A point for each frequency, to be filled.
    pub(crate) fn points(&self) -> Per<F, Point> {
        self.reference.like(Point::ZERO)
    }

    /// MMD² of each window from the reference, in units of what independent rows would have, but
    /// for the variance.
    fn statistics(&mut self, points: &Per<F, Point>, least: f32) -> [f32; 2] {
        let mut rates = [0.0; 2];
        for (rate_of, window) in rates.iter_mut().zip(WINDOWS.windows) {
            *rate_of = larger(rate(*window), least);
        }
        let Per(distances) =
            self.windows.blend_and_measure(&Per(rates), points, &self.reference);
        distances
    }

    /// Takes the points of a healthy row; from `collects` on, how far windows stray.
    pub(crate) fn learn(&mut self, points: &Per<F, Point>, plan: &Plan, collects: bool) {
        self.rows = self.rows.saturating_add(1);
        let count = row_count(self.rows);
        for (mean, point) in self.reference.iter_mut().zip(points.iter()) {
            mean.blend(*point, 1.0 / count);
        }
        let distances = self.statistics(points, 1.0 / count);
        let watched = WINDOWS.watched(plan.learning_rows);
        let windows = WINDOWS.windows.iter().zip(distances).take(watched);
        for (tail, (window, distance)) in self.tails.iter_mut().zip(windows) {
            let length = row_count(*window);
            if collects && count > 2.0 * length {
                let r = length * distance / (1.0 - length / count);
                if tail.learn(r) {
                    tail.turn(Design::block_of(*window, plan.collected));
                }
            }
        }
    }

    fn design(window: u32, plan: &Plan) -> Design {
        Design {
            shape: Shape::Distance,
            block: Design::block_of(window, plan.collected),
            window,
            ln_time: plan.ln_time_of(WINDOWS.watched(plan.learning_rows), 1),
            unit: 0.0,
            // Points of two means are at most 2 apart.
            reach: 2.0 * crate::numeric::sqrt_f32(row_count(window)),
            memory: plan.memory(),
        }
    }

    /// Ends learning.
    pub(crate) fn arm(&mut self, plan: &Plan) {
        self.each(plan, |tail, design| tail.fit(design));
    }

    /// Takes the points of a row.
    pub(crate) fn watch(&mut self, points: &Per<F, Point>, plan: &Plan, adapts: bool) -> Found {
        let distances = self.statistics(points, 0.0);
        let rows = row_count(self.rows.max(1));
        let mut found = Found::CALM;
        let windows = WINDOWS.windows.iter().zip(distances).take(WINDOWS.watched(plan.learning_rows));
        for (tail, (window, distance)) in self.tails.iter_mut().zip(windows) {
            let length = row_count(*window);
            let r = length * distance * (rows / (rows + length));
            found.take_in(tail, r, *window);
            if adapts && tail.follow(r) {
                tail.adapt(&Self::design(*window, plan));
            }
        }
        found
    }

    /// The squared distance of the longest window on each circle.
    pub(crate) fn by_frequency(&self) -> impl Iterator<Item = f32> + '_ {
        let longest = WINDOWS.windows.len() - 1;
        let circles = self.windows.of(longest).zip(self.reference.iter());
        circles.map(|(mean, reference)| mean.squared_distance(reference))
    }

    /// Does something with the threshold of each window.
    pub(crate) fn each(&mut self, plan: &Plan, mut change: impl FnMut(&mut Tail, &Design)) {
        let watched = WINDOWS.watched(plan.learning_rows);
        for (tail, window) in self.tails.iter_mut().zip(WINDOWS.windows).take(watched) {
            change(tail, &Self::design(*window, plan));
        }
    }
}
