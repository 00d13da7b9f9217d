//! The legs that a detector stands on: each looks for one kind of change.
//!
//! Every statistic is compared with its own past ([`tail`]), and all of them by one number: how far
//! the promised mean time would have to be lengthened for the present value to be no alarm, in
//! nats. They share the promise.

pub(crate) mod charts;
pub(crate) mod choice;
pub(crate) mod cusum;
pub(crate) mod joint;
pub(crate) mod range;
pub(crate) mod tail;
pub(crate) mod wander;

use core::cell::Cell;

use crate::numeric::{Number, f32_of, larger, ln, ln_count, ln_f32, rounded, u32_of};

use choice::Legs;

use super::channel::ARMED;
use super::saved::SavedLegs;
use tail::{CALM_NATS, Design, Tail, memory_of};

/// No saved number in standardised units is larger: values are at most 10⁴ deviations. A forged state
/// with larger ones is refused, since later rows would make infinite numbers of them.
pub(crate) const LARGEST: f32 = 1e8;
/// The same for sums and quotients, which are larger, and which fewer numbers are computed from.
pub(crate) const DERIVED: f32 = 1e18;

/// A number of shares of the promise.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shares {
    count: f32,
    ln: f32,
}

impl Shares {
    const fn of(count: f32) -> Self {
        Self { count, ln: rounded(ln(count as f64)) }
    }

    fn ln(self) -> f32 {
        self.ln
    }
}

/// Shares of the promise that each leg has, of each channel and of all together.
pub(crate) mod share {
    use super::Shares;

    /// The cumulative sum of the level, and its long windows.
    pub(crate) const CUSUM: Shares = Shares::of(1.0);
    pub(crate) const LEVEL: Shares = Shares::of(1.0);
    pub(crate) const JUMP: Shares = Shares::of(1.5);
    /// The spread, up and down alike.
    pub(crate) const SPREAD: Shares = Shares::of(2.0);
    pub(crate) const RANGE: Shares = Shares::of(0.5);
    /// Each joint leg.
    pub(crate) const JOINT: Shares = Shares::of(0.5);
}

/// Legs alarm together, so that their shares may add up to more than the promise: by that factor.
const OVERLAP: f32 = 13.0 / 18.0;
/// Statistics of all channels together.
const JOINT: usize = 2;
/// The shortest window, in rows.
const SHORTEST: u32 = 4;
/// Up to this many times the learning rows, a promise needs no more evidence.
const SEEN: f32 = 2.0;
const LN_SEEN: f32 = rounded(ln(SEEN as f64));
/// How much more evidence a level needs beyond that, in nats for a nat of mean time.
pub(crate) const LEVEL_CAUTION: f32 = 1.5;
/// The same for the distribution of all channels.
pub(crate) const JOINT_CAUTION: f32 = 0.2;

/// What follows from the settings for all legs.
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    /// Rows of learning in all.
    pub(crate) learning_rows: u32,
    /// Rows of it from which thresholds are learned.
    pub(crate) collected: u32,
    /// Channels.
    pub(crate) channels: usize,
    /// ln of the promised mean time between false alarms, in rows.
    pub(crate) ln_time: f32,
    /// ln of the shares among which it is divided.
    pub(crate) ln_shares: f32,
    /// Rows of a cycle, if it is known; and where in it this row is, in units of 2⁻³² turns.
    pub(crate) period: Option<f32>,
    pub(crate) phase: u32,
    /// Statistics that may still go on to their next block on this row, once one has asked.
    pub(crate) turns: Cell<Option<usize>>,
}

impl Plan {
    /// ln of the mean time that each of `charts` statistics of each of `channels` may have, of a
    /// leg with these shares of the promise.
    pub(crate) fn ln_time_of(&self, shares: Shares, charts: usize, channels: usize) -> f32 {
        let parts = ln_count(u32_of(charts.saturating_mul(channels)));
        self.ln_time + self.ln_shares + (parts - shares.ln())
    }

    /// What a level or a distribution needs more: how far it wanders over times much longer than
    /// learning was is not known from learning. In nats.
    pub(crate) fn extra_evidence(&self, caution: f32) -> f32 {
        caution * larger(self.ln_time - (LN_SEEN + ln_count(self.learning_rows)), 0.0)
    }

    /// How far the promise is beyond what learning shows of slow changes, in nats: ln(e·T/m) for a
    /// promise T and m learning rows, and at least 0.
    #[inline(never)]
    pub(crate) fn unseen(&self) -> f32 {
        larger(self.ln_time + 1.0 - ln_count(self.learning_rows), 0.0)
    }

    /// Whether the statistic that asks may go on to its next block on this row. Few may, so that no row
    /// takes much longer than others; those that wait have one block that is a little longer.
    pub(crate) fn may_turn(&self) -> bool {
        let left = self.turns.get().unwrap_or_else(|| self.most_turns());
        self.turns.set(Some(left.saturating_sub(1)));
        left > 0
    }

    /// Twice as many as come on average if all blocks are as short as the shortest, and one.
    #[inline(never)]
    fn most_turns(&self) -> usize {
        let statistics = self.channels.saturating_mul(ARMED).saturating_add(JOINT);
        let shortest = Design::block_of(SHORTEST, self.collected).max(1);
        statistics.saturating_mul(2) / shortest as usize + 1
    }

    /// Rows that thresholds remember after learning.
    pub(crate) fn memory(&self) -> u32 {
        memory_of(self.learning_rows)
    }
}

/// ln of the shares among which the legs `L` divide the promise: those that are not carried, and
/// those that say nothing where the levels of some of the channels wander, leave theirs to the
/// others.
pub(crate) fn ln_shares<L: Legs>(wanderers: usize, channels: usize) -> f32 {
    // All of them: a new leg does not compile until it has a share.
    let SavedLegs { level, jump, spread, values, innovations, bins: _ } = SavedLegs::of::<L>();
    let of = |on: bool, shares: f32| if on { shares } else { 0.0 };
    let steady = 1.0 - f32_of(wanderers) / f32_of(channels.max(1));
    let shares = share::RANGE.count
        + steady * of(level, share::CUSUM.count + share::LEVEL.count)
        + of(jump, share::JUMP.count)
        + of(spread, 2.0 * share::SPREAD.count)
        + of(values && wanderers == 0, share::JOINT.count)
        + of(innovations, share::JOINT.count);
    ln_f32(OVERLAP * shares)
}

/// How a drift ended.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum End {
    /// The data are as they were.
    ByItself,
    /// It was dismissed: a change as large is no alarm from now on.
    Dismissed {
        /// Rows since its alarm.
        rows: u32,
    },
    /// It was dismissed, and the level that explains it counts as healthy.
    Accepted,
}

/// What a leg says of a row.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Found<N> {
    /// How far beyond its promise, in nats of mean time.
    pub(crate) excess: N,
    /// Root of the statistic, and of its threshold.
    pub(crate) statistic: N,
    pub(crate) threshold: N,
    /// Length of the window, in rows.
    pub(crate) window: u32,
}

impl<N: Number> Found<N> {
    /// Nothing.
    #[inline(always)]
    pub(crate) fn calm() -> Self {
        Self { excess: N::of(-CALM_NATS), statistic: N::ZERO, threshold: N::ZERO, window: 0 }
    }

    /// Takes in a statistic by its root, if it is farther beyond its promise.
    #[inline]
    pub(crate) fn take_in(&mut self, tail: &mut Tail<N>, root: N, window: u32) {
        // Nearly always.
        if tail.is_calm(root) {
            return;
        }
        let excess = tail.excess(root);
        if excess > self.excess {
            *self = Self { excess, statistic: root, threshold: tail.open(), window };
        }
    }

    /// How far beyond its promise it would be, were its root smaller by this factor.
    pub(crate) fn excess_of_part(&self, factor: N) -> N {
        let beyond = self.statistic - self.threshold;
        if beyond <= N::ZERO {
            return self.excess;
        }
        self.excess.times((factor.times(self.statistic) - self.threshold).over(beyond))
    }
}
