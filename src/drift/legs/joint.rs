//! All channels together: the mean embedding of windows against that of the learning rows.

use crate::error::Error;
use crate::features::FeatureMap;
use crate::features::sincos::{Point, SinCos};
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
        let mut points = self.reference.like(Point::ZERO);
        map.project(vector.borrow(), points.borrow_mut(), |point, turns| {
            *point = M::Backend::point(turns);
        })?;
        if learned > 0.0 {
            for (mean, point) in self.reference.iter_mut().zip(points.iter()) {
                mean.blend(*point, learned);
            }
        }
        let rates = Per([larger(rate(window), learned)]);
        let Per([distance]) = self.window.blend_and_measure(&rates, &points, &self.reference);
        Ok(distance)
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
        if collects && count > 2.0 * length {
            let r = length * distance / (1.0 - length / count);
            if self.tail.learn(r) {
                self.tail.turn(Design::block_of(window, plan.collected));
            }
        }
        Ok(())
    }

    fn design(plan: &Plan) -> Design {
        let window = window_of(plan);
        Design {
            shape: Shape::Distance,
            block: Design::block_of(window, plan.collected),
            window,
            ln_time: plan.ln_time_of(0.5, 1, 1),
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
        let r = length * self.take_in(map, vector, window, 0.0)? * (rows / (rows + length));
        let mut found = Found::CALM;
        found.take_in(&mut self.tail, r, window);
        if adapts && self.tail.follow(r) {
            self.tail.adapt(&Self::design(plan));
        }
        Ok(found)
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
