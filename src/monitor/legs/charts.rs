//! Exponentially weighted means of a bounded score against its learned mean.

use crate::numeric::{Number, Rate, larger, row_count, sqrt_f32};
use crate::state::{NonNegative, state};

use super::tail::{Design, Shape, Tail, while_learning};
use super::{Found, Plan, Shares};

/// Means over n rows whose variance falls as n^(SHORT − 1), or faster, have a short memory.
const SHORT: f32 = 0.2;

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

/// A length of windows.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Window {
    rows: u32,
    /// The weight of a row.
    rate: Rate,
}

impl Window {
    pub(crate) const fn of(rows: u32) -> Self {
        Self { rows, rate: Rate::of_window(rows) }
    }
}

/// What W charts watch: the same for all channels.
pub(crate) type Score<const W: usize> = ScoreOf<[Window; W]>;

/// The same for any number of them: what takes it is compiled once.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ScoreOf<W: ?Sized> {
    pub(crate) side: Side,
    /// Largest absolute value of the score.
    pub(crate) largest: f32,
    /// Windows that fit into learning fewer than twelve times are left out, except the first `least`.
    pub(crate) least: usize,
    /// How much more evidence it needs where the promise is far beyond what was learned from.
    pub(crate) caution: f32,
    /// Shares of the promise.
    pub(crate) shares: Shares,
    /// Ascending.
    pub(crate) windows: W,
}

/// Of any number of charts.
type AnyScore = ScoreOf<[Window]>;

impl AnyScore {
    /// How many of the windows are watched.
    fn watched(&self, learning_rows: u32) -> usize {
        let fits = |window: &&Window| window.rows.saturating_mul(12) <= learning_rows;
        self.windows.iter().take_while(fits).count().max(self.least)
    }
}

state! {
    /// One window.
    #[derive(Debug, Clone, Copy, PartialEq)]
    struct Chart<N: Number> {
        mean: N,
        tail: Tail<N>,
    }
}

state! {
    /// The windows of one score of one channel.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub(crate) struct Charts<N: Number; const W> {
        /// Mean and variance of the score while learning.
        pub(crate) mean: N,
        variance: NonNegative<N>,
        rows: u32,
        charts: [Chart<N>; W],
    }
}

/// As [`Charts::watch`], for any number of them.
#[inline(never)]
fn watch<N: Number>(
    charts: &mut [Chart<N>],
    known: &Known<N>,
    score: &AnyScore,
    value: N,
    (plan, adapts): (&Plan, bool),
    found: &mut Found<N>,
) {
    for (chart, &Window { rows: window, rate }) in charts.iter_mut().zip(&score.windows) {
        // A window that is left out gets rate 0 instead of `continue`: skipping costs about twenty
        // instructions more.
        let live = !chart.tail.is_mute();
        let rate = if live { rate } else { Rate::NONE };
        chart.mean += (value - chart.mean).part(rate);
        let root = counted(score.side, chart.mean - known.mean);
        found.take_in(&mut chart.tail, root, window);
        if adapts && live && chart.tail.follow(root) && plan.may_turn() {
            known.adapt(&mut chart.tail, score, window, plan);
        }
    }
}

/// As [`Charts::learn`], for any number of them; `share` is one part of all rows so far.
#[inline(never)]
fn learn<N: Number>(
    charts: &mut [Chart<N>],
    known: &Known<N>,
    score: &AnyScore,
    (value, share): (N, N::Share),
    (plan, collects): (&Plan, bool),
) {
    let watched = score.watched(plan.learning_rows);
    let windows = score.windows.iter().take(watched);
    for (chart, &Window { rows: window, rate }) in charts.iter_mut().zip(windows) {
        let step = value - chart.mean;
        // While 1/rows is more than 2/(window + 1).
        let few = known.rows.saturating_mul(2) < window.saturating_add(1);
        chart.mean += if few { step.share(share) } else { step.part(rate) };
        if !collects {
            continue;
        }
        let distance = counted(score.side, chart.mean - known.mean);
        let root = while_learning(distance, window, known.rows, share);
        let ends = root.is_some_and(|root| chart.tail.learn(root, Shape::Mean, window));
        if ends && plan.may_turn() {
            chart.tail.turn(Design::block_of(window, plan.collected));
        }
    }
}

/// As [`Charts::arm`], for any number of them.
#[inline(never)]
fn arm<N: Number>(
    charts: &mut [Chart<N>],
    known: &Known<N>,
    score: &AnyScore,
    place: usize,
    plan: &Plan,
) {
    if let (Some(chart), Some(window)) = (charts.get_mut(place), score.windows.get(place)) {
        if place < score.watched(plan.learning_rows) {
            chart.tail.fit(&known.design(score, window.rows, plan));
        } else {
            chart.tail.mute();
        }
    }
}

/// What is known of a score once learning is over.
#[derive(Clone, Copy)]
struct Known<N> {
    mean: N,
    variance: N,
    rows: u32,
}

impl<N: Number> Known<N> {
    /// From one block of a window's statistic to the next.
    #[inline(never)]
    fn adapt(&self, tail: &mut Tail<N>, score: &AnyScore, window: u32, plan: &Plan) {
        let block = Design::block_of(window, plan.collected);
        let raise = N::raise(window, self.rows);
        tail.adapt(block, plan.memory(), raise, || self.design(score, window, plan));
    }

    /// The largest root that a window's statistic can have.
    fn reach(&self, score: &AnyScore) -> f32 {
        let mean = self.mean.value();
        let reach = match score.side {
            Side::Both => score.largest - mean.abs(),
            Side::Up => score.largest - mean,
            Side::Down => mean,
        };
        larger(reach, 1e-6)
    }

    /// What is known of a window's statistic beforehand.
    #[inline(never)]
    fn design(&self, score: &AnyScore, window: u32, plan: &Plan) -> Design {
        let charts = score.watched(plan.learning_rows);
        Design {
            shape: Shape::Mean,
            block: Design::block_of(window, plan.collected),
            window,
            ln_time: plan.ln_time_of(score.shares, charts, plan.channels)
                + plan.extra_evidence(score.caution),
            unit: sqrt_f32(self.variance.value() / row_count(window)),
            reach: self.reach(score),
            memory: plan.memory(),
            raise: N::raise(window, self.rows).value(),
        }
    }
}

impl<N: Number, const W: usize> Charts<N, W> {
    /// Takes the score of a healthy row; where it `collects`, how far windows stray.
    pub(crate) fn learn(&mut self, score: &Score<W>, value: N, plan: &Plan, collects: bool) {
        self.rows = self.rows.saturating_add(1);
        let share = N::share_of(self.rows);
        let step = value - self.mean;
        self.mean += step.share(share);
        let square = step.times(value - self.mean).or_more(N::ZERO);
        self.variance.0 += (square - self.variance.0).share(share);
        let known = self.known();
        learn(&mut self.charts, &known, score, (value, share), (plan, collects));
    }

    fn known(&self) -> Known<N> {
        Known { mean: self.mean, variance: self.variance.0, rows: self.rows }
    }

    /// Ends learning of one of the windows.
    pub(crate) fn arm(&mut self, score: &Score<W>, place: usize, plan: &Plan) {
        let known = self.known();
        arm(&mut self.charts, &known, score, place, plan);
    }

    /// Takes the score of a row. The window that is farthest beyond its promise replaces what was
    /// `found`, if it is farther. Where it `adapts`, thresholds learn from the row.
    pub(crate) fn watch(
        &mut self,
        score: &Score<W>,
        value: N,
        plan: &Plan,
        adapts: bool,
        found: &mut Found<N>,
    ) {
        let known = self.known();
        watch(&mut self.charts, &known, score, value, (plan, adapts), found);
    }

    /// Does something with the threshold of each window.
    pub(crate) fn each(
        &mut self,
        score: &Score<W>,
        plan: &Plan,
        mut change: impl FnMut(&mut Tail<N>, &Design),
    ) {
        let (known, score): (_, &AnyScore) = (self.known(), score);
        let watched = score.watched(plan.learning_rows);
        for (chart, window) in self.charts.iter_mut().zip(&score.windows).take(watched) {
            change(&mut chart.tail, &known.design(score, window.rows, plan));
        }
    }

    /// The windows that are watched and cannot fire, if they have to be `beyond` nats above the
    /// promise.
    pub(crate) fn mute(
        &self,
        score: &'static Score<W>,
        learning_rows: u32,
        beyond: f32,
    ) -> impl Iterator<Item = u32> + '_ {
        let any: &AnyScore = score;
        let (watched, reach) = (any.watched(learning_rows), self.known().reach(any));
        let windows = self.charts.iter().zip(&score.windows).take(watched);
        let mute = windows.filter(move |(chart, _)| !chart.tail.fires(beyond, reach));
        mute.map(|(_, window)| window.rows)
    }

    /// The length of a window that can fire, where its statistic stands, and its threshold `beyond`
    /// nats above the promise.
    pub(crate) fn status(
        &self,
        score: &Score<W>,
        place: usize,
        beyond: f32,
    ) -> Option<(u32, f32, f32)> {
        let (chart, window) = (self.charts.get(place)?, score.windows.get(place)?.rows);
        let root = counted(score.side, chart.mean - self.mean).value();
        let status = (window, root, chart.tail.root_beyond(beyond));
        chart.tail.fires(beyond, self.known().reach(score)).then_some(status)
    }

    /// Variance of the mean over the shortest window while learning, times its length.
    pub(crate) fn first_variance(&self, score: &Score<W>) -> f32 {
        let first = self.charts.first().zip(score.windows.first());
        first.map_or(0.0, |(chart, window)| {
            chart.tail.mean(Shape::Mean, window.rows) * row_count(window.rows)
        })
    }

    /// How much more the mean over the longest window varied while learning than it would have with a
    /// short memory, judged by the next shorter window or else by single rows: ln of the ratio of
    /// variances beyond chance, 0 at least. Independent rows have none; a score that comes and goes over
    /// times as long as the window has a long one.
    #[inline(never)]
    pub(crate) fn memory(&self, score: &Score<W>) -> N {
        let mut memory = N::ZERO;
        let (mut length, mut variance) = (1, self.variance.0);
        for (chart, &Window { rows: window, .. }) in self.charts.iter().zip(&score.windows) {
            let varied = chart.tail.mean_times(Shape::Mean, window, window);
            // Of one that is not watched nothing was learned.
            if variance > N::ZERO && varied > N::ZERO {
                // The deviation of the logarithm of a variance, by the number of windows in learning.
                let chance = N::ratio(2 * window, self.rows.max(1)).root();
                let short = N::ln_ratio(window, length).part(const { Rate::of(SHORT) });
                memory = varied.over(variance).ln() - short - chance;
                (length, variance) = (window, varied);
            }
        }
        memory.or_more(N::ZERO)
    }

    /// Restarts the windows, as if nothing had been off.
    pub(crate) fn settle(&mut self) {
        let mean = self.mean;
        self.charts.iter_mut().for_each(|chart| chart.mean = mean);
    }

    /// Counts as healthy what other charts learned, too; `share` is their part of all rows. Returns
    /// how far the mean of both is from the mean of each.
    pub(crate) fn join(&mut self, other: &Self, share: f32) -> [f32; 2] {
        let apart = other.mean.value() - self.mean.value();
        let away = [share * apart.abs(), (1.0 - share) * apart.abs()];
        for (chart, theirs) in self.charts.iter_mut().zip(&other.charts) {
            chart.tail.join(&theirs.tail, away);
        }
        self.mean += N::of(share * apart);
        self.settle();
        self.variance.0 = N::of(
            (1.0 - share) * self.variance.0.value()
                + share * other.variance.0.value()
                + share * (1.0 - share) * apart * apart,
        );
        away
    }

    /// Variance of the score while learning, and rows learned from.
    pub(crate) fn learned(&self) -> (N, u32) {
        (self.variance.0, self.rows)
    }
}

/// How far a deviation goes the way that counts.
#[inline]
fn counted<N: Number>(side: Side, deviation: N) -> N {
    match side {
        Side::Both => deviation.size(),
        Side::Up => deviation.or_more(N::ZERO),
        Side::Down => (-deviation).or_more(N::ZERO),
    }
}

// Thousands of rows: too slow when interpreted.
#[cfg(all(test, not(miri)))]
mod tests {
    use core::cell::Cell;

    use rand_core::{Rng, SeedableRng};
    use rand_xorshift::XorShiftRng;

    use super::super::share;
    use super::*;
    use crate::state::Initial;

    const SCORE: Score<2> = Score {
        side: Side::Up,
        windows: [Window::of(16), Window::of(64)],
        largest: 12.0,
        least: 1,
        caution: 0.0,
        shares: share::SPREAD,
    };

    /// The memory of scores that are `times` as large in every other run of `run` rows.
    fn memory(rows: u32, run: u32, times: f32) -> f32 {
        let plan = Plan {
            learning_rows: rows,
            collected: rows,
            channels: 1,
            ln_time: 0.0,
            ln_shares: 0.0,
            period: None,
            phase: 0,
            turns: Cell::new(None),
        };
        let mut charts = Charts::<f32, 2>::INITIAL;
        let mut rng = XorShiftRng::seed_from_u64(3);
        for row in 0..rows {
            let uniform = rng.next_u32() as f32 / u32::MAX as f32;
            let size = if (row / run).is_multiple_of(2) { 1.0 } else { times };
            charts.learn(&SCORE, size * uniform, &plan, true);
        }
        charts.memory(&SCORE)
    }

    #[test]
    fn a_score_that_comes_and_goes_has_a_long_memory() {
        // Of two windows, and of one alone.
        for rows in [16_384, 512] {
            assert!(memory(rows, 1, 1.0) < 0.1, "{rows} independent rows");
            // One that is over within the shortest window has a short one.
            assert!(memory(rows, 2, 3.0) < 0.1, "{rows} rows, in short runs");
            assert!(memory(rows, 128, 3.0) > 0.3, "{rows} rows, in long runs");
        }
    }
}
