//! Rows outside what was learned, against how often they came while learning. One alone is no
//! alarm, however far out; a second one soon after is, and so are many far apart.

use crate::numeric::{Number, Rate, larger, ln_f32, row_count, smaller};
use crate::state::{NonNegative, state};

use super::{End, Found, Plan, share};

/// Residuals beyond this many deviations are far; their rate and how they cluster are learned.
const FAR: f32 = 3.0;
/// Rows within which far ones belong together.
const TOGETHER: u32 = 20;
/// No range is narrower, in deviations of the residual.
const NARROWEST: f32 = 4.0;
/// What the sum loses with each row, in nats.
const DECAY: f32 = 0.05;
/// The same while a change of the channel is open.
const OPEN_DECAY: f32 = 0.025;
/// How far below its threshold the sum stays for a single row, in nats.
const LONE: f32 = 0.5;
/// What the largest residual of late loses with each row, as a part of it.
const PEAK_DECAY: f32 = 0.002;
/// How much farther out than what was dismissed readings may be, in deviations of the residual.
const FARTHER: f32 = 2.0;
/// How far the sum may go beyond the threshold, in nats.
const CEILING: f32 = 2.5;
/// The same for the sum over rows far apart, which comes back slowly.
const OFTEN_CEILING: f32 = 1.0;
/// The range grows to this multiple of the learned one at the most.
const WIDEST: f32 = 3.0;
/// Healthy rows beyond the range that are expected in as many rows as learning had.
const EXPECTED: f32 = 2.0;
/// The cumulative sum of log-likelihoods looks for this multiple of that rate.
const OFTEN: f32 = 6.0;
/// ln(OFTEN): what each adds to the sum, in nats.
const LN_OFTEN: f32 = 1.791_759_5;
/// In as many rows as learning had, the sum loses (OFTEN − 1)·EXPECTED nats. It does so in this many
/// steps, because the loss of a single row is too small for integers.
const OFTEN_STEPS: u32 = 64;
#[expect(clippy::cast_precision_loss, reason = "a small number")]
const OFTEN_STEP: f32 = (OFTEN - 1.0) * EXPECTED / OFTEN_STEPS as f32;

state! {
    /// The range of a channel's residual, and a sum of log-likelihoods of rows beyond it.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub(crate) struct Range<N: Number> {
        /// Largest absolute residual: while learning, and of late.
        learned: NonNegative<N>,
        largest: NonNegative<N>,
        rows: u32,
        /// Rows beyond [`FAR`], and those of them that came within [`TOGETHER`] rows of another.
        far: u16,
        pairs: u16,
        /// While learning, rows left in which another one belongs to the last; after, rows since
        /// the peak.
        near: u32,
        /// The largest residual of late, less what it has lost since: where a level that is well
        /// predicted made a step.
        peak: NonNegative<N>,
        /// Rows beyond the range so far.
        beyond: u32,
        sum: NonNegative<N>,
        /// The sum over rows however far apart, and rows since it last lost a part of it.
        often: NonNegative<N>,
        often_rows: u32,
        /// ln of how rare a second one soon after is.
        together: NonNegative<N>,
        /// Exponent of the tail.
        exponent: NonNegative<N>,
        /// Farthest residual since the sum was last 0 while nothing was open.
        farthest: NonNegative<N>,
        /// ln of the mean time that this leg of this channel may have.
        open: NonNegative<N>,
    }
}

impl<N: Number> Range<N> {
    /// Takes the residual of a healthy row, in deviations.
    pub(crate) fn learn(&mut self, residual: N) {
        let size = residual.size();
        self.rows = self.rows.saturating_add(1);
        self.largest.0 = size.or_more(self.largest.0);
        let near = self.near > 0;
        self.near = self.near.saturating_sub(1);
        if size > N::of(FAR) {
            self.far = self.far.saturating_add(1);
            self.pairs = self.pairs.saturating_add(u16::from(near));
            self.near = TOGETHER;
        }
    }

    /// Ends learning.
    pub(crate) fn arm(&mut self, plan: &Plan) {
        self.open.0 = N::of(plan.ln_time_of(share::RANGE, 1, plan.channels));
        self.near = 0;
        let rows = row_count(self.rows.max(2));
        self.largest.0 = self.largest.0.or_more(N::of(NARROWEST));
        self.learned.0 = self.largest.0;
        let (far, pairs) = (f32::from(self.far) + 1.0, f32::from(self.pairs) + 1.0);
        let by_chance = smaller(row_count(TOGETHER) * far / rows, 1.0);
        let cluster = larger(pairs / (1.0 + f32::from(self.far) * by_chance), 1.0);
        self.together.0 = N::of(larger(ln_f32(rows / (40.0 * cluster)), 1.0));
        let exponent = (ln_f32(far) + 1.5) / (ln_f32(self.largest.0.value() / FAR) + 0.5);
        self.exponent.0 = N::of(smaller(larger(exponent, 1.0), 6.0));
    }

    /// The largest residual of late, and rows since.
    pub(crate) fn recent_peak(&self) -> (f32, u32) {
        (self.peak.0.value() * (1.0 + PEAK_DECAY * row_count(self.near)), self.near)
    }

    /// What counts as the residual when a channel that stood still while learning moves: it has no
    /// deviation to measure by.
    pub(crate) fn movement(&self) -> N {
        self.largest.0 + self.largest.0.part(const { Rate::of(0.5) })
    }

    /// Whether a residual is twice as far as any that was learned from: a glitch, not something
    /// to look back at.
    #[inline]
    pub(crate) fn is_glitch(&self, residual: N) -> bool {
        residual.size() > self.learned.0 + self.learned.0
    }

    /// Whether a residual of this size is out of range.
    #[inline]
    pub(crate) fn is_beyond(&self, size: N) -> bool {
        size > self.largest.0
    }

    /// Takes a residual and the size by which it is judged, which is at most its own: beside an open
    /// change it counts for less. Returns how far the sum is beyond its promise, in nats.
    #[inline]
    pub(crate) fn watch(&mut self, residual: N, size: N, adapts: bool, plan: &Plan) -> Found<N> {
        self.rows = self.rows.saturating_add(1);
        // While it is open it is over only when none has come for long.
        let decay = if adapts { N::of(DECAY) } else { N::of(OPEN_DECAY) };
        self.sum.0 = (self.sum.0 - decay).or_more(N::ZERO);
        if adapts && self.sum.0 <= N::ZERO {
            self.farthest.0 = N::ZERO;
        }
        let whole = residual.size();
        self.peak.0 -= self.peak.0.part(const { Rate::of(PEAK_DECAY) });
        self.near = self.near.saturating_add(1);
        if whole > self.peak.0 {
            (self.peak.0, self.near) = (whole, 0);
        }
        if self.is_beyond(whole) {
            self.farthest.0 = whole.or_more(self.farthest.0);
            if self.is_beyond(size) {
                self.take_in(size, adapts);
            }
        }
        let mut sum = self.sum.0;
        if self.often.0 > N::ZERO {
            // A part of what each adds for every row without one, by their number.
            self.often_rows = self.often_rows.saturating_add(1);
            sum = sum.or_more(self.weigh_often(plan));
        }
        Found { excess: sum - self.open.0, statistic: sum, threshold: self.open.0, window: 1 }
    }

    /// The sum over rows however far apart, after its loss.
    fn weigh_often(&mut self, plan: &Plan) -> N {
        let rows = self.rows_of_a_step(plan);
        if self.often_rows >= rows {
            self.often_rows = 0;
            self.often.0 = (self.often.0 - N::of(OFTEN_STEP)).or_more(N::ZERO);
        }
        self.often.0
    }

    /// Rows in which the sum over rows however far apart loses [`OFTEN_STEP`].
    fn rows_of_a_step(&self, plan: &Plan) -> u32 {
        (plan.collected / OFTEN_STEPS).max(1)
    }

    #[inline(never)]
    fn take_in(&mut self, size: N, adapts: bool) {
        let ratio = size.over(self.largest.0).or_more(N::of(1.0));
        let lone = self.sum.0 <= N::ZERO;
        let rare = if lone {
            N::ln_ratio(self.rows, self.beyond.saturating_add(1))
        } else {
            self.together.0
        };
        // However far out, one reading alone is no alarm.
        let top = self.open.0 + if lone { N::of(-LONE) } else { N::of(CEILING) };
        let sum = self.sum.0 + self.exponent.0.times(ratio.ln()) + rare;
        self.sum.0 = sum.or_less(top).or_more(N::ZERO);
        self.often.0 = (self.often.0 + N::of(LN_OFTEN)).or_less(self.open.0 + N::of(OFTEN_CEILING));
        if adapts {
            self.beyond = self.beyond.saturating_add(1);
            let widest = N::of(WIDEST).times(self.learned.0).or_more(self.largest.0);
            let wider = self.largest.0.times(ratio.or_less(N::of(1.2)));
            self.largest.0 = wider.or_less(widest);
        }
    }

    /// The larger sum of log-likelihoods against its threshold, in nats, over no window.
    pub(crate) fn status(&self) -> (u32, f32, f32) {
        (0, self.sum.0.or_more(self.often.0).value(), self.open.0.value())
    }

    /// Takes the wider range of both, and what makes a row beyond it count for less.
    pub(crate) fn join(&mut self, other: &Self) {
        self.learned.0 = self.learned.0.or_more(other.learned.0);
        self.largest.0 = self.largest.0.or_more(other.largest.0);
        self.together.0 = self.together.0.or_less(other.together.0);
        self.exponent.0 = self.exponent.0.or_less(other.exponent.0);
        self.end(End::Accepted);
    }

    /// A drift is over. Dismissed, rows as far out as those that were seen, and a little farther, are
    /// inside the range.
    pub(crate) fn end(&mut self, end: End) {
        self.sum.0 = N::ZERO;
        if !matches!(end, End::ByItself) {
            self.often.0 = N::ZERO;
        }
        if matches!(end, End::Dismissed { .. }) {
            self.largest.0 = self.largest.0.or_more(self.farthest.0 + N::of(FARTHER));
            let half = self.largest.0.part(const { Rate::of(0.5) });
            self.learned.0 = self.learned.0.or_more(half);
        }
        self.farthest.0 = N::ZERO;
    }
}
