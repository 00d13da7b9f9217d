//! All channels together: the mean embedding of windows against that of the learning rows.

use crate::features::sincos::Point;
use crate::monitor::Circles;
use crate::numeric::{larger, row_count, sqrt_f32};
use crate::shape::{Fixed, Length, Per};
use crate::state::state;

use super::charts::rate;
use super::tail::{Design, Shape, Tail};
use super::{End, Found, Plan};

/// Longest window, in rows.
const LONGEST: u32 = 256;
/// Windows that learning should see.
const SEEN: u32 = 12;

state! {
    /// A window over L frequencies: 16·L and 84 bytes.
    #[derive(Debug, Clone, PartialEq)]
    pub(crate) struct Joint<F: Length> {
        reference: Per<F, Point>,
        window: Circles<F, Fixed<1>>,
        rows: u32,
        tail: Tail,
    }
}

/// Length of the window, in rows: as long as learning sees twelve of it, and no more than 256.
fn window_of(plan: &Plan) -> u32 {
    (plan.learning_rows / SEEN).min(LONGEST)
}

impl<F: Length> Joint<F> {
    /// A point for each frequency, to be filled.
    pub(crate) fn points(&self) -> Per<F, Point> {
        self.reference.like(Point::ZERO)
    }

    /// MMD² of the window from the reference, once it has taken in a row by at least this rate.
    fn distance(&mut self, points: &Per<F, Point>, window: u32, least: f32) -> f32 {
        let rates = Per([larger(rate(window), least)]);
        let Per([distance]) = self.window.blend_and_measure(&rates, points, &self.reference);
        distance
    }

    /// Takes the points of a healthy row; where it `collects`, how far the window strays.
    pub(crate) fn learn(&mut self, points: &Per<F, Point>, plan: &Plan, collects: bool) {
        self.rows = self.rows.saturating_add(1);
        let count = row_count(self.rows);
        for (mean, point) in self.reference.iter_mut().zip(points.iter()) {
            mean.blend(*point, 1.0 / count);
        }
        let window = window_of(plan);
        let length = row_count(window);
        let distance = self.distance(points, window, 1.0 / count);
        if collects && count > 2.0 * length {
            let r = length * distance / (1.0 - length / count);
            if self.tail.learn(r) {
                self.tail.turn(Design::block_of(window, plan.collected));
            }
        }
    }

    fn design(plan: &Plan) -> Design {
        let window = window_of(plan);
        Design {
            shape: Shape::Distance,
            block: Design::block_of(window, plan.collected),
            window,
            ln_time: plan.ln_time_of(1, 1),
            unit: 0.0,
            // Two points are at most 2 apart.
            reach: 2.0 * sqrt_f32(row_count(window)),
            memory: plan.memory(),
        }
    }

    /// Ends learning.
    pub(crate) fn arm(&mut self, plan: &Plan) {
        self.tail.fit(&Self::design(plan));
    }

    /// Takes the points of a row.
    pub(crate) fn watch(&mut self, points: &Per<F, Point>, plan: &Plan, adapts: bool) -> Found {
        let window = window_of(plan);
        let (length, rows) = (row_count(window), row_count(self.rows.max(1)));
        let r = length * self.distance(points, window, 0.0) * (rows / (rows + length));
        let mut found = Found::CALM;
        found.take_in(&mut self.tail, r, window);
        if adapts && self.tail.follow(r) {
            self.tail.adapt(&Self::design(plan));
        }
        found
    }

    /// The squared distance on each circle.
    pub(crate) fn by_frequency(&self) -> impl Iterator<Item = f32> + '_ {
        let circles = self.window.of(0).zip(self.reference.iter());
        circles.map(|(mean, reference)| mean.squared_distance(reference))
    }

    /// A change is over.
    pub(crate) fn end(&mut self, plan: &Plan, end: End) {
        self.tail.end(&Self::design(plan), end);
    }
}
