//! Cumulative sums (CUSUM; Page 1954): small lasting changes, and when they began.

use core::hint::select_unpredictable;

use crate::numeric::{larger, row_count, smaller, sqrt_f32, whole, within};
use crate::state::{Begun, FromOne, NonNegative, plain_states, state};

use super::tail::{Design, Shape, Tail};
use super::{End, Found, Plan, WARY_OF_LEVEL, share};

/// Least rows of a block.
const BLOCK: u32 = 32;
/// Deviations a step is cut at.
const CUT: f32 = 4.0;
/// Deviations that are taken off each step.
const SLACK: f32 = 0.25;
/// So many errors of the learned mean are taken off too, but for what the slack covers.
const KNOWN: f32 = 6.0;
const TOLERATED: f32 = 0.3;
/// A sum does not grow beyond so many times its threshold, so that it can come back.
const CEILING: f32 = 4.0;
/// Rows over which the present size of a shift is averaged.
const SIZE_RATE: f32 = 2.0 / 33.0;
/// A level that is off by less than so many deviations beyond the slack, on average, must have been
/// rising.
const SLOW: f32 = 0.18;
/// Largest sum while no threshold is known.
const LARGEST: f32 = 4000.0;

state! {
    /// Sums of a score's steps away from a mean, one way, since they were last 0.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub(crate) struct Sum {
        pub(crate) sum: NonNegative,
        /// Rows since it was 0.
        pub(crate) rows: u32,
    }
}

impl Sum {
    /// Takes a step, in deviations.
    #[inline]
    pub(crate) fn push(&mut self, step: f32) {
        self.sum.0 = smaller(larger(self.sum.0 + step, 0.0), LARGEST);
        let rows = self.rows.saturating_add(1);
        self.rows = select_unpredictable(self.sum.0 > 0.0, rows, 0);
    }
}

/// Taken off each step, in deviations.
type Slack = Begun<{ SLACK.to_bits() }>;
/// A mean square as of means over about 32 independent rows.
type Square = Begun<{ 0.05_f32.to_bits() }>;
plain_states!(Slack = Slack::FIRST, Square = Square::FIRST);

state! {
    /// The level of a channel: sums up and down.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub(crate) struct Cusum {
        inverse_deviation: FromOne,
        pub(crate) up: Sum,
        pub(crate) down: Sum,
        /// Present size of the shift: its mean over about 32 rows, in deviations.
        pub(crate) size: f32,
        /// Mean square of that while learning.
        size_square: Square,
        slack: Slack,
        tail: Tail,
    }
}

impl Cusum {
    fn step(&mut self, step: f32) {
        let deviation = step * self.inverse_deviation.get();
        let step = within(deviation, CUT);
        let slack = self.slack.get();
        self.up.push(step - slack);
        self.down.push(-step - slack);
        self.size += SIZE_RATE * (deviation - self.size);
    }

    fn statistic(&self) -> f32 {
        let sum = larger(self.up.sum.0, self.down.sum.0);
        sum * sum
    }

    /// Takes how far a healthy value is from the mean so far, and the variance so far; where it
    /// `collects`, how far sums go. The deviation is taken anew every 32 rows.
    pub(crate) fn learn(
        &mut self,
        step: f32,
        variance: f32,
        row: u32,
        plan: &Plan,
        collects: bool,
    ) {
        if row.is_multiple_of(32) {
            self.inverse_deviation.set(1.0 / larger(sqrt_f32(variance), 1e-6));
        }
        if row < 64 {
            return;
        }
        self.step(step);
        let square = self.size_square.get();
        self.size_square.set(square + (self.size * self.size - square) / 512.0);
        if collects && self.tail.learn(self.statistic()) {
            self.tail.turn(Design::block_of(BLOCK / 2, plan.collected));
        }
    }

    /// Sums begin anew: those of before the mean was known say nothing.
    pub(crate) fn begin(&mut self) {
        self.up = Sum { sum: NonNegative(0.0), rows: 0 };
        self.down = self.up;
    }

    fn design(&self, plan: &Plan) -> Design {
        Design {
            shape: Shape::Sum,
            block: Design::block_of(BLOCK / 2, plan.collected),
            window: BLOCK,
            ln_time: plan.ln_time_of(share::CUSUM, 1, plan.channels) + plan.doubt(WARY_OF_LEVEL),
            unit: 0.5 / SLACK,
            reach: f32::MAX,
            memory: plan.memory(),
        }
    }

    /// Ends learning. `error` is how well the mean is known, in standardised units: what it may be
    /// off by is no shift.
    pub(crate) fn arm(&mut self, plan: &Plan, error: f32) {
        let beyond = KNOWN * error * self.inverse_deviation.get() - TOLERATED;
        self.slack.set(SLACK + larger(beyond, 0.0));
        let design = self.design(plan);
        self.tail.fit(&design);
    }

    /// Takes how far a value is from the learned mean, and tells how far the sum is beyond its
    /// promise, if it is farther than what was `found`.
    pub(crate) fn watch(&mut self, step: f32, plan: &Plan, adapts: bool, found: &mut Found) {
        self.step(step);
        if self.statistic() > CEILING * CEILING * larger(self.tail.open(), 1.0) {
            let top = CEILING * sqrt_f32(larger(self.tail.open(), 1.0));
            for sum in [&mut self.up, &mut self.down] {
                sum.sum.0 = smaller(sum.sum.0, top);
            }
        }
        let (r, window) = (self.statistic(), self.up.rows.max(self.down.rows));
        found.take_in(&mut self.tail, r, window);
        if adapts && self.tail.follow(r) {
            let design = self.design(plan);
            self.tail.adapt(&design);
        }
    }

    /// A drift of the level is over.
    pub(crate) fn end(&mut self, plan: &Plan, end: End) {
        let design = self.design(plan);
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
                self.size = 0.0;
            }
        }
    }

    /// Where the larger sum stands, and its threshold so many nats beyond the promise, over no
    /// window.
    pub(crate) fn status(&self, beyond: f32) -> (u32, f32, f32) {
        (0, sqrt_f32(self.statistic()), self.tail.root_beyond(beyond))
    }

    /// Takes what another channel learned for healthy too: the mean of both is so far `away` from
    /// that of each, in standardised units, which is no shift.
    pub(crate) fn join(&mut self, other: &Self, [own, theirs]: [f32; 2]) {
        let inverse = (self.inverse_deviation.get(), other.inverse_deviation.get());
        let of_own = self.slack.get() + own * inverse.0;
        let of_other = other.slack.get() + theirs * inverse.1;
        self.slack.set(larger(of_own, of_other));
        self.tail.join(&other.tail, [0.0; 2]);
        self.inverse_deviation.set(smaller(inverse.0, inverse.1));
        self.begin();
    }

    /// How far the level is off, as a log-likelihood: its mean over 32 rows against how far such
    /// means strayed while learning.
    pub(crate) fn evidence(&self) -> f32 {
        0.5 * self.size * self.size / larger(self.size_square.get(), 1e-4)
    }

    /// How far the level is off, on average over the last rows since it began to be; and how far it
    /// was, if its largest size was `peak`. In the units of values.
    pub(crate) fn shifts(&self, peak: f32) -> (f32, f32) {
        let rows = self.larger_sum().rows.clamp(1, 128);
        let left = (0..rows).fold(1.0, |left, _| left * (1.0 - SIZE_RATE));
        let peak = if self.up.sum.0 > self.down.sum.0 { peak } else { -peak };
        let inverse = self.inverse_deviation.get();
        (self.size / ((1.0 - left) * inverse), peak / inverse)
    }

    /// Rows since the larger sum was 0.
    pub(crate) fn rows(&self) -> u32 {
        self.larger_sum().rows
    }

    /// The sum that is larger.
    fn larger_sum(&self) -> Sum {
        if self.up.sum.0 > self.down.sum.0 { self.up } else { self.down }
    }

    /// Rows since the level began to be off, by the n rows since the sum S was last 0, and the
    /// means over 128 and 512 rows less the learned one.
    ///
    /// A step is told from a ramp by its present size: beyond the slack k it is S/n, and that of a
    /// ramp is twice as much. A ramp whose sum is S after n rows rises by 2S/n² a row, so it took
    /// k·n²/2S rows to reach the slack. It took t rows in all if the two means are as r·(t − 64) and
    /// r·(t − 256·(1 − exp(−t/256))).
    pub(crate) fn rows_since(&self, means: (f32, f32)) -> u32 {
        let Sum { sum, rows } = self.larger_sum();
        let (count, sum) = (row_count(rows), larger(sum.0, 0.5));
        let slack = self.slack.get();
        let beyond = (self.size.abs() - slack) * count / sum;
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
