//! Exponentially weighted means of a bounded score against its learned mean.

use core::hint::select_unpredictable;

use crate::numeric::{larger, row_count, sqrt_f32};
use crate::state::{NonNegative, state};

use super::tail::{Design, Shape, Tail, after_learning, while_learning};
use super::{Found, Plan};

/// Which way a score must go to count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    /// Either way.
    Both,
    /// Up.
    Up,
    /// Down.
    Down,
}

/// The [weight](rate) of a row in a window. Not a bare number: code that is not generic and goes
/// through a list of `f32` is compiled once for all programs that are optimised for size, and what
/// it goes through it with is then inlined nowhere, in maps neither.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rate(pub(crate) f32);

/// What a set of charts watches: the same for all channels.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Score {
    pub(crate) side: Side,
    /// Window lengths in rows, ascending.
    pub(crate) windows: &'static [u32],
    /// The [weight](rate) of a row in each.
    pub(crate) rates: &'static [Rate],
    /// Largest absolute value of the score.
    pub(crate) largest: f32,
    /// Windows of which fewer than twelve are learned from stay out of it, but for so many.
    pub(crate) least: usize,
    /// How much more evidence it needs where the promise is far beyond what was learned from.
    pub(crate) wary: f32,
    /// Shares of the promise.
    pub(crate) shares: f32,
}

impl Score {
    /// How many of the windows are watched.
    pub(crate) fn watched(&self, learning_rows: u32) -> usize {
        let fits = |window: &&u32| window.saturating_mul(12) <= learning_rows;
        self.windows.iter().take_while(fits).count().max(self.least)
    }
}

state! {
    /// One window.
    #[derive(Debug, Clone, Copy, PartialEq)]
    struct Chart {
        mean: f32,
        tail: Tail,
    }
}

state! {
    /// The windows of one score of one channel.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub(crate) struct Charts<; const N> {
        /// Mean and variance of the score while learning.
        pub(crate) mean: f32,
        variance: NonNegative,
        rows: u32,
        charts: [Chart; N],
    }
}

/// As [`Charts::watch`], for any number of them.
#[inline(never)]
fn watch(
    charts: &mut [Chart],
    known: &Known,
    score: &Score,
    value: f32,
    (plan, adapts): (&Plan, bool),
    found: &mut Found,
) {
    let windows = score.windows.iter().zip(score.rates);
    for (chart, (&window, rate)) in charts.iter_mut().zip(windows) {
        // One that is not watched, or cannot fire, stands still. Not skipped: a branch back to the
        // next chart makes the compiler search for it in a loop of its own, at twenty instructions.
        let live = !chart.tail.is_mute();
        let rate = if live { rate.0 } else { 0.0 };
        chart.mean += rate * (value - chart.mean);
        let r = known.statistic(score.side, chart.mean, window);
        found.take_in(&mut chart.tail, r, window);
        if adapts && live && chart.tail.follow(r) {
            chart.tail.adapt(&known.design(score, window, plan));
        }
    }
}

/// What is known of a score once learning is over.
#[derive(Clone, Copy)]
struct Known {
    mean: f32,
    variance: f32,
    rows: f32,
}

impl Known {
    /// R of a window whose mean this is: the square of its deviation from the learned mean, less
    /// what the error of that adds to it.
    fn statistic(&self, side: Side, mean: f32, window: u32) -> f32 {
        after_learning(squared(side, mean - self.mean), row_count(window), self.rows)
    }

    /// What is known of a window's statistic beforehand.
    fn design(&self, score: &Score, window: u32, plan: &Plan) -> Design {
        let reach = match score.side {
            Side::Both => score.largest - self.mean.abs(),
            Side::Up => score.largest - self.mean,
            Side::Down => self.mean,
        };
        let charts = score.watched(plan.learning_rows);
        Design {
            shape: Shape::Mean,
            block: Design::block_of(window, plan.collected),
            window,
            ln_time: plan.ln_time_of(score.shares, charts, plan.channels) + plan.doubt(score.wary),
            unit: sqrt_f32(self.variance / row_count(window)),
            reach: larger(reach, 1e-6),
            memory: plan.memory(),
        }
    }
}

impl<const N: usize> Charts<N> {
    /// Takes the score of a healthy row; where it `collects`, how far windows stray.
    pub(crate) fn learn(&mut self, score: &Score, value: f32, plan: &Plan, collects: bool) {
        self.rows = self.rows.saturating_add(1);
        let count = row_count(self.rows);
        let step = value - self.mean;
        self.mean += step / count;
        self.variance.0 += (larger(step * (value - self.mean), 0.0) - self.variance.0) / count;
        let mean = self.mean;
        for (chart, window) in self.watched(score, plan) {
            chart.mean += larger(rate(window), 1.0 / count) * (value - chart.mean);
            let length = row_count(window);
            let squared = squared(score.side, chart.mean - mean);
            let r = while_learning(squared, length, count).filter(|_| collects);
            if r.is_some_and(|r| chart.tail.learn(r)) {
                chart.tail.turn(Design::block_of(window, plan.collected));
            }
        }
    }

    fn watched(&mut self, score: &Score, plan: &Plan) -> impl Iterator<Item = (&mut Chart, u32)> {
        let count = score.watched(plan.learning_rows);
        self.charts.iter_mut().zip(score.windows.iter().copied()).take(count)
    }

    fn known(&self) -> Known {
        let rows = row_count(self.rows.max(1));
        Known { mean: self.mean, variance: self.variance.0, rows }
    }

    /// Ends learning.
    pub(crate) fn arm(&mut self, score: &Score, plan: &Plan) {
        let watched = score.watched(plan.learning_rows);
        self.charts.iter_mut().skip(watched).for_each(|chart| chart.tail.mute());
        self.each(score, plan, |tail, design| tail.fit(design));
    }

    /// Takes the score of a row, and tells of the window that is farthest beyond its promise, if
    /// it is farther than what was `found`. Where it `adapts`, thresholds learn from the row.
    pub(crate) fn watch(
        &mut self,
        score: &Score,
        value: f32,
        plan: &Plan,
        adapts: bool,
        found: &mut Found,
    ) {
        let known = self.known();
        watch(&mut self.charts, &known, score, value, (plan, adapts), found);
    }

    /// Does something with the threshold of each window.
    pub(crate) fn each(
        &mut self,
        score: &Score,
        plan: &Plan,
        mut change: impl FnMut(&mut Tail, &Design),
    ) {
        let known = self.known();
        for (chart, window) in self.watched(score, plan) {
            change(&mut chart.tail, &known.design(score, window, plan));
        }
    }

    /// The windows that cannot fire.
    pub(crate) fn mute(&self, score: Score, learning_rows: u32) -> impl Iterator<Item = u32> + '_ {
        let watched = score.watched(learning_rows);
        let windows = self.charts.iter().zip(score.windows).take(watched);
        windows.filter(|(chart, _)| chart.tail.is_mute()).map(|(_, window)| *window)
    }

    /// The length of a window that can fire, where its statistic stands, and its threshold so many
    /// nats beyond the promise.
    pub(crate) fn status(
        &self,
        score: &Score,
        place: usize,
        beyond: f32,
    ) -> Option<(u32, f32, f32)> {
        let (chart, window) = (self.charts.get(place)?, *score.windows.get(place)?);
        let r = self.known().statistic(score.side, chart.mean, window);
        let status = (window, sqrt_f32(r), chart.tail.root_beyond(beyond));
        (!chart.tail.is_mute()).then_some(status)
    }

    /// Variance of the mean over the shortest window while learning, times its length.
    pub(crate) fn first_variance(&self, score: &Score) -> f32 {
        let first = self.charts.iter().zip(score.windows).next();
        first.map_or(0.0, |(chart, window)| chart.tail.mean() * row_count(*window))
    }

    /// Windows begin anew, as if nothing had been off.
    pub(crate) fn settle(&mut self) {
        let mean = self.mean;
        self.charts.iter_mut().for_each(|chart| chart.mean = mean);
    }

    /// Takes what other charts learned for healthy too; `share` is their part of all rows. Tells
    /// how far the mean of both is from the mean of each.
    pub(crate) fn join(&mut self, other: &Self, share: f32) -> [f32; 2] {
        let apart = other.mean - self.mean;
        let away = [share * apart.abs(), (1.0 - share) * apart.abs()];
        for (chart, theirs) in self.charts.iter_mut().zip(&other.charts) {
            chart.tail.join(&theirs.tail, away);
        }
        self.mean += share * apart;
        self.settle();
        self.variance.0 = (1.0 - share) * self.variance.0
            + share * other.variance.0
            + share * (1.0 - share) * apart * apart;
        away
    }

    /// Variance of the score while learning, and rows learned from.
    pub(crate) fn learned(&self) -> (f32, u32) {
        (self.variance.0, self.rows)
    }
}

/// The weight of a row in an exponentially weighted mean of the same variance as that of `window`
/// rows.
pub(crate) const fn rate(window: u32) -> f32 {
    2.0 / (row_count(window) + 1.0)
}

/// The square of a deviation that counts.
#[inline]
fn squared(side: Side, deviation: f32) -> f32 {
    let counted = match side {
        Side::Both => deviation,
        Side::Up => select_unpredictable(deviation > 0.0, deviation, 0.0),
        Side::Down => select_unpredictable(deviation < 0.0, deviation, 0.0),
    };
    counted * counted
}
