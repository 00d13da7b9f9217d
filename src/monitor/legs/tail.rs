//! How far a statistic strays while all is well, and so where its threshold lies.
//!
//! By the theory of extreme values: the maxima of the statistic's root over blocks of rows grow with
//! the logarithm of the block's length. Blocks of three lengths, taken while learning, give a line;
//! the threshold is where that line reaches the promised mean time.

use crate::numeric::{
    Maxima, Moments, Number, Rate, larger, ln_count, row_count, smaller, sqrt_f32,
};
use crate::state::{NonNegative, state};

use super::{End, LARGEST};

/// No block of the shortest level grows longer, in rows.
const LONGEST_BLOCK: u32 = 1 << 14;
/// The count of blocks stops here, and goes on from half of it: longer levels only need to know
/// whether it is even.
const MOST_BLOCKS: u16 = 1 << 15;
/// Levels of block lengths, each twice the one before.
const LEVELS: usize = 3;
/// Blocks that a level should have for its mean maximum to be trusted, and at least.
const ENOUGH: [u32; 3] = [16, 8, 4];
/// Blocks from which their spread and their growth are both trusted.
const ENOUGH_MAXIMA: f32 = 12.0;
/// Euler's constant: how far the mean of maxima lies above their mode, in scales.
const EULER: f32 = 0.577_215_7;
/// Thresholds are not lower than this part of what independent rows would need.
const LEAST: f32 = 0.8;
/// A statistic whose threshold lies beyond this part of its largest value is left out.
const FIRES: f32 = 0.95;
/// What was dismissed, and what comes again and again, raises a threshold to this part of it at the
/// most, so that neither silences the statistic.
const DISMISSED: f32 = 0.8;
/// The threshold of a statistic that is left out: no root reaches it.
const NEVER: f32 = 1e15;
/// What alarms that close by themselves may raise a threshold to, in units of the first one.
const CEILING: f32 = 2.0;
/// Each of them may raise that limit by this factor: what comes again and again is usual.
const AGAIN: f32 = 1.15;
/// What was dismissed while a window was filling with it may go on to rise by this factor at the most.
const STILL_RISING: f32 = 4.0;
/// Least rows that thresholds remember after learning.
const LEAST_MEMORY: u32 = 4000;
/// Where block maxima grow faster than is usual for the shape, by a ratio r that chance explains up to
/// c, the slope of the line is the usual one times min(r, 1 + SURE·(r − c)): little of a ratio just
/// above c counts, and all of a large one.
const SURE: f32 = 2.0;
/// Largest excess over the promise, in nats.
const FARTHEST_EXCESS: f32 = 3000.0;
/// ln(2).
const LN_2: f32 = core::f32::consts::LN_2;
/// The slope of a line through three levels, of weights 1, √½ and ½, at 0, ln 2 and 2·ln 2.
const THREE: [f32; LEVELS] = [-0.804_68, 0.166_65, 0.638_03];
/// How far below the promise, in nats of mean time, a statistic counts as calm.
pub(crate) const CALM_NATS: f32 = 3.0;

/// What a statistic is, and so what its tail is like while nothing better is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// The squared deviation of a mean: chi-squared with 1 degree of freedom.
    Mean,
    /// A squared distance in many dimensions.
    Distance,
    /// The square of a cumulative sum, whose tail is exponential.
    Sum,
}

/// What is known of a statistic beforehand.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Design {
    pub(crate) shape: Shape,
    /// Rows of a block of the shortest level.
    pub(crate) block: u32,
    /// Length of the window, in rows.
    pub(crate) window: u32,
    /// ln of the promised mean time of this statistic alone, in rows.
    pub(crate) ln_time: f32,
    /// Root of the statistic that independent rows have: of a mean its deviation, of a cumulative
    /// sum its scale. 0 where it is not known.
    pub(crate) unit: f32,
    /// The largest root that the statistic can have.
    pub(crate) reach: f32,
    /// Rows after which a block is forgotten, once learning is over.
    pub(crate) memory: u32,
    /// What the root is larger by after learning than it was while learning, because the learned mean has
    /// an error: [`Number::raise`]. Thresholds are raised by it, so that a row need not be corrected.
    pub(crate) raise: f32,
}

/// The root of R of a window, from its distance to the mean of all `learned` rows so far, while it is
/// learned: it shares its rows with them, and is nearer to them by that: by √(1 − n/m) for a window of n
/// and m rows in all, of which `share` is one part. `None` before two windows.
#[inline]
pub(crate) fn while_learning<N: Number>(
    distance: N,
    window: u32,
    learned: u32,
    share: N::Share,
) -> Option<N> {
    (learned / 2 > window).then(|| {
        let x = N::shares(share, window);
        // 1/√(1 − x) up to a half, to 5e-4.
        let series = N::of(0.3125) + x.part(const { Rate::of(0.5) });
        let series = N::of(0.5) + x.times(N::of(0.375) + x.times(series));
        distance + distance.times(x.times(series))
    })
}

/// Rows that thresholds remember after learning from `learning_rows`.
pub(crate) fn memory_of(learning_rows: u32) -> u32 {
    learning_rows.max(LEAST_MEMORY)
}

impl Design {
    /// Rows of a block of the shortest level, if `rows` rows are learned from: two windows at
    /// least, and longer while the second level has [`ENOUGH`] blocks.
    pub(crate) fn block_of(window: u32, rows: u32) -> u32 {
        let mut block = window.saturating_mul(2).max(16);
        while block.saturating_mul(32) <= rows && block < LONGEST_BLOCK {
            block = block.saturating_mul(2);
        }
        block
    }
}

state! {
    /// What R does while all is well, and the threshold that follows: 72 bytes.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub(crate) struct Tail<N: Number> {
        /// Of R while learning.
        moments: N::Moments,
        rows: u32,
        /// The largest root of the present block, and rows left of it.
        largest: NonNegative<N>,
        left: u16,
        blocks: u16,
        /// Maxima of the root over blocks of three lengths.
        levels: [N::Maxima; LEVELS],
        /// The largest of the first half of the present block of each longer level.
        halves: [N; LEVELS - 1],
        /// The root beyond which it is an alarm; 0 while learning.
        open: NonNegative<N>,
        /// The root below which it is calm.
        calm: NonNegative<N>,
        /// Bounds of `open` before it is raised: what was dismissed, and what adapting may reach.
        floor: NonNegative,
        ceiling: NonNegative,
        /// The largest root since it passed the threshold; 0 if it has not.
        peak: NonNegative<N>,
    }
}

/// A line through block maxima: the root passes t once in exp(c + l) rows, where
/// t = x + β(l + q(0.82 + 0.15·max(l, 0)²)).
#[derive(Debug, Clone, Copy)]
struct Line {
    x: f32,
    beta: f32,
    c: f32,
    q: f32,
}

impl Line {
    /// The root that is passed once in exp(`ln_time`) rows.
    ///
    /// x and β are estimates from 1/q blocks. Their errors raise the mean rate of false alarms over many
    /// devices; the term with q raises the threshold against that.
    fn at(&self, ln_time: f32) -> f32 {
        let l = ln_time - self.c;
        let beyond = larger(l, 0.0);
        self.x + self.beta * (l + self.q * (0.82 + 0.15 * beyond * beyond))
    }
}

/// The exponent e for which the root of the statistic is of the order of 2^(−e), if rows are independent:
/// integers keep its moments scaled by it.
fn exponent_of(shape: Shape, window: u32) -> i32 {
    match shape {
        Shape::Mean => window.checked_ilog2().unwrap_or(0).cast_signed() / 2,
        Shape::Distance => 0,
        Shape::Sum => -3,
    }
}

impl<N: Number> Tail<N> {
    /// Takes the root of R of a healthy row while learning, for a window of `window` rows, and returns
    /// whether a block begins or has ended: [`turn`](Self::turn) is then due.
    #[inline]
    pub(crate) fn learn(&mut self, root: N, shape: Shape, window: u32) -> bool {
        self.rows = self.rows.saturating_add(1);
        self.moments.take_in(root, self.rows, exponent_of(shape, window));
        self.push(root)
    }

    /// Takes the root of R of a healthy row after learning, at most as the threshold. As
    /// [`learn`](Self::learn), but for [`adapt`](Self::adapt).
    #[inline]
    pub(crate) fn follow(&mut self, root: N) -> bool {
        self.push(root.or_less(self.open.0))
    }

    #[inline]
    fn push(&mut self, root: N) -> bool {
        self.largest.0 = root.or_more(self.largest.0);
        if self.left > 1 {
            self.left -= 1;
            return false;
        }
        true
    }

    /// From one block to the next.
    pub(crate) fn turn(&mut self, block: u32) {
        self.end_block(block, u32::MAX, N::of(1.0));
    }

    /// From one block of `block` rows to the next after learning, with a new threshold where the longest
    /// level ends one too. Rare: a block has 16 rows at least, and hundreds by default.
    #[inline(never)]
    pub(crate) fn adapt(&mut self, block: u32, memory: u32, raise: N, design: impl Fn() -> Design) {
        if self.end_block(block, memory, raise) {
            self.fit(&design());
        }
    }

    #[inline(never)]
    fn end_block(&mut self, block: u32, memory: u32, raise: N) -> bool {
        // The first row begins the first block.
        let first = self.left == 0;
        let rows = u16::try_from(block).unwrap_or(u16::MAX);
        self.left = if first { rows.saturating_sub(1).max(1) } else { rows };
        if first {
            return false;
        }
        self.blocks = if self.blocks < MOST_BLOCKS { self.blocks + 1 } else { MOST_BLOCKS / 2 + 1 };
        let mut root = self.largest.0.over(raise).or_less(N::of(LARGEST));
        self.largest.0 = N::ZERO;
        let (mut count, mut length) = (self.blocks(), block);
        let mut ended = 0;
        let mut halves = self.halves.iter_mut();
        for level in &mut self.levels {
            level.take_in(root, count.min((memory / length.max(1)).max(4)));
            ended += 1;
            let Some(half) = halves.next() else { break };
            if count % 2 == 1 {
                *half = root;
                break;
            }
            root = root.or_more(*half);
            count /= 2;
            length = length.saturating_mul(2);
        }
        ended == LEVELS
    }

    /// Blocks so far, of the shortest level.
    fn blocks(&self) -> u32 {
        u32::from(self.blocks)
    }

    /// The line of the levels as they are.
    fn line(&self, design: &Design) -> Line {
        let [shortest, ..] = &self.levels;
        if self.blocks < 2 {
            let x = larger(shortest.mean(), self.largest.0.value());
            return Line { x, beta: 0.5 * x + 1e-6, c: ln_count(design.block), q: 0.5 };
        }
        let (mean, variance) = self.mean_and_variance(design.shape, design.window);
        let mean = larger(mean, 1e-20);
        let exponential = match design.shape {
            Shape::Mean => smaller(variance / mean, 2.0 * mean) * 0.9,
            Shape::Distance => {
                smaller(sqrt_f32(variance / mean * sqrt_f32(2.0 * variance)), 2.0 * mean) * 0.9
            }
            Shape::Sum => 0.0,
        };
        let usual_growth = match design.shape {
            Shape::Mean | Shape::Distance => 0.5 * exponential,
            Shape::Sum => sqrt_f32(mean),
        };
        let ln_block = ln_count(design.block) + EULER;
        let mut best: Option<(f32, Line)> = None;
        let mut before = None;
        for enough in ENOUGH {
            let level = self.level_with(enough);
            let blocks = self.blocks() >> level;
            let anchor = self.levels.get(level as usize).filter(|_| blocks >= 2);
            // With few blocks or many, levels are the same.
            let Some(anchor) = anchor.filter(|_| before.replace(level) != Some(level)) else {
                continue;
            };
            let (x, count) = (anchor.mean(), row_count(blocks));
            let spread = sqrt_f32(anchor.variance() * count / (count - 1.0)) * 0.779_7;
            let slope = self.slope(level);
            // The spread of few maxima, and how they grow over few lengths, scatter: the larger one.
            let few = smaller(larger((ENOUGH_MAXIMA - count) * 0.125, 0.0), 1.0);
            let seen = 0.5 * (spread + slope + few * (spread - slope).abs());
            let usual = match design.shape {
                Shape::Mean | Shape::Distance => usual_growth / larger(x, 1e-6),
                Shape::Sum => usual_growth,
            };
            // What blocks say, as far as it differs by more than chance from what is usual.
            let tolerance = 1.0 + 0.75 / sqrt_f32(count);
            let ratio = seen / larger(usual, 1e-20);
            let factor = if ratio > tolerance {
                smaller(ratio, 1.0 + SURE * (ratio - tolerance))
            } else if ratio * tolerance < 1.0 {
                larger(ratio * tolerance, 0.1)
            } else {
                1.0
            };
            let c = ln_block + LN_2 * row_count(level);
            let line = Line { x, beta: usual * factor, c, q: 1.0 / count };
            let threshold = line.at(design.ln_time);
            if best.is_none_or(|(other, _)| threshold < other) {
                best = Some((threshold, line));
            }
        }
        best.map_or(Line { x: 0.0, beta: 1e-6, c: 0.0, q: 0.0 }, |(_, line)| line)
    }

    /// The longest level of at least `blocks` blocks, or the shortest of all.
    fn level_with(&self, blocks: u32) -> u32 {
        if self.blocks() >> 2 >= blocks { 2 } else { u32::from(self.blocks() >> 1 >= blocks) }
    }

    /// How the mean maximum grows with the logarithm of the block length, about a level: a line
    /// through the levels from the one below on, each by the root of its number of blocks, which is
    /// halved from level to level.
    fn slope(&self, level: u32) -> f32 {
        let [short, middle, long] = self.levels.map(|level| level.mean());
        let slope = match (level.saturating_sub(1), self.blocks()) {
            (0, 12..) => THREE[0] * short + THREE[1] * middle + THREE[2] * long,
            (0, 6..) => (middle - short) * (1.0 / LN_2),
            (0, _) => 0.0,
            _ => (long - middle) * (1.0 / LN_2),
        };
        larger(slope, 0.0)
    }

    /// Sets the threshold by what was seen.
    #[inline(never)]
    pub(crate) fn fit(&mut self, design: &Design) {
        let mut line = self.line(design);
        let mut least_open = 0.0;
        if design.unit > 0.0 {
            let (least, slope) = least(design);
            (line.beta, least_open) = (larger(line.beta, slope), least);
        }
        let reached = line.at(design.ln_time);
        let gap = larger(reached - line.at(design.ln_time - CALM_NATS), 0.0);
        let mut open = larger(reached, least_open);
        if self.ceiling.0 <= 0.0 {
            self.ceiling.0 = CEILING * open;
        }
        open = larger(smaller(open, self.ceiling.0), self.floor.0);
        let calm = larger(open - gap, 0.5 * open);
        if design.raise * open > FIRES * design.reach {
            // It could hardly ever fire: it is out, and the report says so.
            return self.mute();
        }
        // Never 0, which says that there is no threshold yet.
        let open = N::of(design.raise * open).or_more(N::LEAST);
        (self.open.0, self.calm.0) = (open, N::of(design.raise * calm).or_less(open));
    }

    /// A drift is over.
    pub(crate) fn end(&mut self, design: &Design, end: End) {
        match end {
            End::ByItself => self.closed(design),
            End::Dismissed { rows } => self.dismissed(design, rows),
            End::Accepted => self.peak.0 = N::ZERO,
        }
    }

    /// An alarm has closed by itself: if this was why it was raised, a block had its maximum at
    /// the threshold. That is all that is learned from it, however far R went.
    fn closed(&mut self, design: &Design) {
        if self.peak.0 <= N::ZERO {
            return;
        }
        let root = self.open.0.value() / design.raise;
        if root >= 0.999 * self.ceiling.0 {
            let most = larger(self.ceiling.0, DISMISSED * design.reach / design.raise);
            self.ceiling.0 = smaller(AGAIN * self.ceiling.0, most);
        }
        // The maximum of the present block is of rows before the alarm, which belong to it.
        (self.peak.0, self.largest.0) = (N::ZERO, N::ZERO);
        let (mut length, blocks) = (design.block, self.blocks());
        for (place, level) in (0..).zip(&mut self.levels) {
            let count = (blocks >> place).saturating_add(1);
            if count > 2 {
                level.take_in(N::of(root), count.min((design.memory / length.max(1)).max(4)));
            }
            length = length.saturating_mul(2);
        }
        self.fit(design);
    }

    /// An alarm was dismissed: if this was why it was raised, R as large is no alarm from now on.
    fn dismissed(&mut self, design: &Design, rows: u32) {
        if self.peak.0 <= N::ZERO {
            return;
        }
        // A window that was still filling goes on to rise, if what was dismissed lasts.
        let filled = 2.0 * row_count(rows.saturating_add(1)) / row_count(design.window.max(1));
        let whole = smaller(1.0 + 1.0 / filled, STILL_RISING);
        let passed = smaller(1.1 * whole * self.peak.0.value(), DISMISSED * design.reach);
        self.floor.0 = larger(passed / design.raise, self.floor.0);
        self.peak.0 = N::ZERO;
        self.ceiling.0 = larger(self.ceiling.0, self.floor.0);
        self.fit(design);
    }

    /// Mean and variance of R while learning.
    fn mean_and_variance(&self, shape: Shape, window: u32) -> (f32, f32) {
        let (mean, square) = self.moments.means(self.rows, exponent_of(shape, window));
        (mean, larger(square - mean * mean, 1e-20))
    }

    /// Mean of R while learning.
    pub(crate) fn mean(&self, shape: Shape, window: u32) -> f32 {
        self.mean_and_variance(shape, window).0
    }

    /// The same times a count.
    pub(crate) fn mean_times(&self, shape: Shape, window: u32, count: u32) -> N {
        self.moments.mean_times(exponent_of(shape, window), count)
    }

    /// Degrees of freedom of R while learning: 2·mean²/variance, and at least 1.
    pub(crate) fn degrees(&self, shape: Shape, window: u32) -> f32 {
        let (mean, variance) = self.mean_and_variance(shape, window);
        larger(2.0 * mean * mean / variance, 1.0)
    }

    /// Takes what another tail learned for healthy too. Roots are lengths, so those measured from
    /// a reference that is so far `away` are at most longer by that.
    pub(crate) fn join(&mut self, other: &Self, [own, theirs]: [f32; 2]) {
        let farther = |a: N, b: N| larger(a.value() + own, b.value() + theirs);
        let open = farther(self.open.0, other.open.0);
        let calm = smaller(farther(self.calm.0, other.calm.0), open);
        // What is learned from now on may not go below: it is of this device alone.
        self.floor.0 = larger(open, larger(self.floor.0, other.floor.0));
        self.ceiling.0 = larger(larger(self.ceiling.0, other.ceiling.0), open);
        (self.open.0, self.calm.0) = (N::of(open), N::of(calm));
        self.peak.0 = N::ZERO;
    }

    /// The root of R that is `nats` nats beyond the promise.
    pub(crate) fn root_beyond(&self, nats: f32) -> f32 {
        let (open, calm) = (self.open.0.value(), self.calm.0.value());
        open + nats / CALM_NATS * (open - calm)
    }

    /// The root of R beyond which it is an alarm; 0 while learning.
    #[inline]
    pub(crate) fn open(&self) -> N {
        self.open.0
    }

    /// Leaves it out for good: no drift of its own can be open any more.
    pub(crate) fn mute(&mut self) {
        (self.open.0, self.calm.0, self.peak.0) = (N::of(NEVER), N::of(NEVER), N::ZERO);
    }

    /// Whether R cannot pass its threshold.
    #[inline]
    pub(crate) fn is_mute(&self) -> bool {
        self.open.0 >= N::of(NEVER)
    }

    /// Whether R, which is `reach` at the most, can be `nats` nats beyond the promise.
    pub(crate) fn fires(&self, nats: f32, reach: f32) -> bool {
        !self.is_mute() && self.root_beyond(nats) <= FIRES * reach
    }

    /// Whether R is [`CALM_NATS`] or more below its threshold.
    #[inline]
    pub(crate) fn is_calm(&self, root: N) -> bool {
        root <= self.calm.0
    }

    /// How far R is beyond the promise, in nats of mean time: 0 at the threshold, −3 and less
    /// where it is calm.
    #[inline(never)]
    pub(crate) fn excess(&mut self, root: N) -> N {
        let (open, calm) = (self.open.0, self.calm.0);
        if root <= calm {
            return N::of(-CALM_NATS);
        }
        if root > open {
            self.peak.0 = root.or_more(self.peak.0);
        }
        N::of(CALM_NATS).times(
            (root - open).over((open - calm).or_more(N::of(1e-6))).held(N::of(FARTHEST_EXCESS)),
        )
    }
}

/// Least root and slope of a threshold: most of what independent rows would need.
fn least(design: &Design) -> (f32, f32) {
    let unit = LEAST * design.unit;
    match design.shape {
        Shape::Mean | Shape::Distance => {
            let windows = larger(design.ln_time - ln_count(design.window), 1.0);
            let root = sqrt_f32(2.0 * windows);
            (unit * root, unit / root)
        }
        Shape::Sum => (unit * design.ln_time, unit),
    }
}
