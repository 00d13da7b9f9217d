//! Cumulative sums (CUSUM; Page 1954): small lasting changes, and when they began.

use core::hint::select_unpredictable;

use crate::numeric::{Number, Rate, larger, row_count, smaller, sqrt_f32, whole};
use crate::state::{Begun, FromOne, NonNegative, state};

use super::tail::{Design, Shape, Tail};
use super::{DERIVED, End, Found, LEVEL_CAUTION, Plan, share};

/// Least rows of a block.
const BLOCK: u32 = 32;
/// A step is clipped at this many deviations.
const CUT: f32 = 4.0;
/// Deviations that are taken off each step.
const SLACK: f32 = 0.25;
/// So many errors of the learned mean are taken off too, but for what the slack covers.
const KNOWN: f32 = 6.0;
const TOLERATED: f32 = 0.3;
/// A sum does not grow beyond this multiple of its threshold, so that it can come back.
const CEILING: f32 = 4.0;
/// Rows over which the present size of a shift is averaged.
const SIZE_RATE: f32 = 2.0 / 33.0;
const SIZE: Rate = Rate::of(SIZE_RATE);
/// Weight of a row in the mean square of that.
const SQUARE: Rate = Rate::of(1.0 / 512.0);
/// A level that is off by fewer deviations than this beyond the slack, on average, must have been
/// rising.
const SLOW: f32 = 0.18;
/// Largest sum while no threshold is known.
const LARGEST: f32 = 4000.0;

state! {
    /// Sums of a score's steps away from a mean, one way, since they were last 0.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub(crate) struct Sum<N: Number> {
        pub(crate) sum: NonNegative<N>,
        /// Rows since it was 0.
        pub(crate) rows: u32,
    }
}

impl<N: Number> Sum<N> {
    /// Takes a step, in deviations.
    #[inline]
    pub(crate) fn push(&mut self, step: N) {
        self.sum.0 = (self.sum.0 + step).or_more(N::ZERO).or_less(N::of(LARGEST));
        let rows = self.rows.saturating_add(1);
        self.rows = select_unpredictable(self.sum.0 > N::ZERO, rows, 0);
    }
}

/// Taken off each step, in deviations.
type Slack<N> = Begun<{ SLACK.to_bits() }, N>;
/// A mean square as of means over about 32 independent rows.
type Square<N> = Begun<{ 0.05_f32.to_bits() }, N>;

state! {
    /// The level of a channel: sums up and down.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub(crate) struct Cusum<N: Number> {
        inverse_deviation: FromOne<N> => allowed |_, it: &FromOne<N>| it.is_inverse_deviation(),
        pub(crate) up: Sum<N>,
        pub(crate) down: Sum<N>,
        /// Present size of the shift: its mean over about 32 rows, in deviations.
        pub(crate) size: N => up to DERIVED,
        /// Mean square of that while learning.
        size_square: Square<N>,
        slack: Slack<N>,
        tail: Tail<N>,
    }
}

impl<N: Number> Cusum<N> {
    fn step(&mut self, step: N) {
        let deviation = step.times(self.inverse_deviation.get());
        let step = deviation.held(N::of(CUT));
        let slack = self.slack.get();
        self.up.push(step - slack);
        self.down.push(-step - slack);
        self.size += (deviation - self.size).part(SIZE);
    }

    /// The larger sum.
    fn statistic(&self) -> N {
        self.up.sum.0.or_more(self.down.sum.0)
    }

    /// Takes how far a healthy value is from the mean so far, and the variance so far; where it
    /// `collects`, how far sums go. The deviation is taken anew every 32 rows.
    pub(crate) fn learn(&mut self, step: N, variance: N, row: u32, plan: &Plan, collects: bool) {
        if row.is_multiple_of(32) {
            let deviation = variance.root().or_more(N::of(1e-4));
            self.inverse_deviation.set(N::of(1.0).over(deviation));
        }
        if row < 64 {
            return;
        }
        self.step(step);
        let square = self.size_square.get();
        self.size_square.set(square + (self.size.times(self.size) - square).part(SQUARE));
        let ends = collects && self.tail.learn(self.statistic(), Shape::Sum, BLOCK);
        if ends && plan.may_turn() {
            self.tail.turn(Design::block_of(BLOCK / 2, plan.collected));
        }
    }

    /// Restarts the sums: those from before the mean was known say nothing.
    pub(crate) fn begin(&mut self) {
        self.up = Sum { sum: NonNegative(N::ZERO), rows: 0 };
        self.down = self.up;
    }

    fn design(plan: &Plan) -> Design {
        Design {
            shape: Shape::Sum,
            block: Design::block_of(BLOCK / 2, plan.collected),
            window: BLOCK,
            ln_time: plan.ln_time_of(share::CUSUM, 1, plan.channels)
                + plan.extra_evidence(LEVEL_CAUTION),
            unit: 0.5 / SLACK,
            reach: f32::MAX,
            memory: plan.memory(),
            raise: 1.0,
        }
    }

    /// Ends learning. `error` is how well the mean is known, in standardised units: what it may be
    /// off by is no shift.
    pub(crate) fn arm(&mut self, plan: &Plan, error: f32) {
        let beyond = KNOWN * error * self.inverse_deviation.get().value() - TOLERATED;
        self.slack.set(N::of(SLACK + larger(beyond, 0.0)));
        let design = Self::design(plan);
        self.tail.fit(&design);
    }

    /// Takes how far a value is from the learned mean. The sum replaces what was `found`, if it is
    /// farther beyond its promise.
    pub(crate) fn watch(&mut self, step: N, plan: &Plan, adapts: bool, found: &mut Found<N>) {
        self.step(step);
        let mut root = self.statistic();
        // Nearly never: what is not beyond its threshold is not beyond its ceiling.
        if root > self.tail.open() {
            root = self.hold_down();
        }
        let window = self.up.rows.max(self.down.rows);
        found.take_in(&mut self.tail, root, window);
        if adapts && self.tail.follow(root) && plan.may_turn() {
            let block = Design::block_of(BLOCK / 2, plan.collected);
            self.tail.adapt(block, plan.memory(), N::of(1.0), || Self::design(plan));
        }
    }

    /// Holds the sums at their ceiling, and gives the larger one.
    fn hold_down(&mut self) -> N {
        let top = N::of(CEILING).times(self.tail.open().or_more(N::of(1.0)));
        for sum in [&mut self.up, &mut self.down] {
            sum.sum.0 = sum.sum.0.or_less(top);
        }
        self.statistic()
    }

    /// A drift of the level is over.
    pub(crate) fn end(&mut self, plan: &Plan, end: End) {
        let design = Self::design(plan);
        match end {
            // What is left of the sum is of the drift, and would be learned from.
            End::ByItself => {
                self.tail.end(&design, end);
                self.begin();
            }
            // Values are measured from the level that was dismissed: the threshold of a sum that
            // grows for as long as it is off would not do.
            End::Dismissed { .. } | End::Accepted => {
                self.tail.end(&design, End::Accepted);
                self.begin();
                self.size = N::ZERO;
            }
        }
    }

    /// Where the larger sum stands, and its threshold `beyond` nats above the promise, over no
    /// window.
    pub(crate) fn status(&self, beyond: f32) -> (u32, f32, f32) {
        (0, self.statistic().value(), self.tail.root_beyond(beyond))
    }

    /// Takes what another channel learned for healthy too: the mean of both is so far `away` from
    /// that of each, in standardised units, which is no shift.
    pub(crate) fn join(&mut self, other: &Self, [own, theirs]: [f32; 2]) {
        let inverse = (self.inverse_deviation.get(), other.inverse_deviation.get());
        let of_own = self.slack.get() + N::of(own * inverse.0.value());
        let of_other = other.slack.get() + N::of(theirs * inverse.1.value());
        self.slack.set(of_own.or_more(of_other));
        self.tail.join(&other.tail, [0.0; 2]);
        self.inverse_deviation.set(inverse.0.or_less(inverse.1));
        self.begin();
    }

    /// How far the level is off, as a log-likelihood: its mean over 32 rows against how far such
    /// means strayed while learning.
    pub(crate) fn evidence(&self) -> f32 {
        let size = self.size.value();
        0.5 * size * size / larger(self.size_square.get().value(), 1e-4)
    }

    /// How far the level is off, on average over the last rows since it began to be; and how far it
    /// was, if its largest size was `peak`. In the units of values.
    pub(crate) fn shifts(&self, peak: f32) -> (f32, f32) {
        let rows = self.larger_sum().rows.clamp(1, 128);
        let left = (0..rows).fold(1.0, |left, _| left * (1.0 - SIZE_RATE));
        let peak = if self.up.sum.0 > self.down.sum.0 { peak } else { -peak };
        let inverse = self.inverse_deviation.get().value();
        (self.size.value() / ((1.0 - left) * inverse), peak / inverse)
    }

    /// Rows since the larger sum was 0.
    pub(crate) fn rows(&self) -> u32 {
        self.larger_sum().rows
    }

    /// The sum that is larger.
    fn larger_sum(&self) -> Sum<N> {
        if self.up.sum.0 > self.down.sum.0 { self.up } else { self.down }
    }

    /// Rows since the level began to be off, by the n rows since the sum S was last 0, and the
    /// means over 128 and 512 rows less the learned one.
    ///
    /// A step differs from a ramp by its present size: beyond the slack k it is S/n, and that of a
    /// ramp is twice as much. A ramp whose sum is S after n rows rises by 2S/n² a row, so it took
    /// k·n²/2S rows to reach the slack. It took t rows in all if the two means are as r·(t − 64) and
    /// r·(t − 256·(1 − exp(−t/256))).
    pub(crate) fn rows_since(&self, means: (f32, f32)) -> u32 {
        let Sum { sum, rows } = self.larger_sum();
        let (count, sum) = (row_count(rows), larger(sum.0.value(), 0.5));
        let slack = self.slack.get().value();
        let beyond = (self.size.value().abs() - slack) * count / sum;
        let ramp =
            if sum < SLOW * count { 1.0 } else { smaller(larger(2.0 * beyond - 2.2, 0.0), 1.0) };
        let by_sum = count + smaller(slack * count * count / (2.0 * sum), 2.0 * count);
        let part = means.1 / means.0;
        let by_means = if part > 0.25 && part < 0.95 {
            let x = (part - 0.25) / (1.0 - part);
            256.0 * x * (1.2 + 1.5 / (1.0 + x))
        } else {
            by_sum
        };
        let by_means = smaller(larger(by_means, 0.5 * count), 4.0 * by_sum);
        let whole_ramp = larger(sqrt_f32(by_sum * by_means), count);
        whole(count + ramp * (whole_ramp - count))
    }
}
