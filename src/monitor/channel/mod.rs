//! One channel: from its readings to the evidence of its legs.

mod end;
mod evidence;
mod merge;

use crate::condition::{Gaps, Predictor, Standard, Stillness};
use crate::numeric::{larger, smaller, sqrt_f32, within};
use crate::state::{FromOne, State, state};

use super::accepted::Accepted;
use super::cause::Cause;
use super::legs::charts::{Charts, Rate, Score, Side, rate};
use super::legs::choice::{ByPhase, Carried, Cycle, Legs, Profiles, Slot};
use super::legs::cusum::{Cusum, Sum};
use super::legs::range::Range;
use super::legs::wander::{Steadiness, Wander};
use super::legs::{Found, Plan, WARY_OF_LEVEL, WARY_OF_SPREAD, share};
use super::verdict::{Change, Leg};

/// Deviations at which values and residuals are cut for charts.
const CUT: f32 = 8.0;
/// Deviations at which residuals are cut for jumps: one row alone is none.
const JUMP_CUT: f32 = 4.0;
/// Deviations at which they are cut at all.
const FARTHEST: f32 = 1e4;
/// Largest score of a residual's spread.
const SPREAD_CUT: f32 = 12.0;
/// Glitches in a row that are not looked back at.
const GLITCHES: u8 = 3;
/// What a level needs beyond the promise where it may wander, in nats.
const DOUBT: f32 = 6.0;
/// Slack of the sums that tell since when a spread is off, in deviations of its score.
const SPREAD_SLACK: f32 = 0.3;
/// 1/deviation of the two scores of a Gaussian residual: only the sums that tell since when use
/// it, and they need not be exact.
const PER_UP: f32 = 0.75;
const PER_DOWN: f32 = 2.9;
/// Weight of a row in the means that tell a spread from a level.
const EVIDENCE_RATE: f32 = 2.0 / 33.0;
/// A residual of so many deviations may be a step of the level.
const STRIKE: f32 = 3.3;
/// Rows after which a step is better told by that than by a sum.
const SUMMED: u32 = 64;
/// Rows within which what was out of range belongs together.
const RECENT: u32 = 20;
/// Largest half square of a step between residuals there: a step of the level is two rows of it.
const STEP_CUT: f32 = 8.0;
/// Least rows for which a reading may be the same, or missing.
const LEAST_RUN: u32 = 12;
/// Least mean time, in rows, for runs that come by chance: they are easily told.
const SURELY: f32 = 1e5;
/// A movement of a channel that never moved counts as so many times its range, which it has not.
const MOVED: f32 = 1.5;

const LEVEL: Score = Score {
    side: Side::Both,
    windows: &[256, 1024],
    rates: &[Rate(rate(256)), Rate(rate(1024))],
    largest: CUT,
    least: 0,
    wary: WARY_OF_LEVEL,
    shares: share::LEVEL,
};
const JUMP: Score = Score {
    side: Side::Both,
    windows: &[4, 16, 64],
    rates: &[Rate(rate(4)), Rate(rate(16)), Rate(rate(64))],
    largest: JUMP_CUT,
    least: 1,
    wary: 0.0,
    shares: share::JUMP,
};
const UP: Score = Score {
    side: Side::Up,
    windows: &[16, 64],
    rates: &[Rate(rate(16)), Rate(rate(64))],
    largest: SPREAD_CUT,
    least: 1,
    wary: WARY_OF_SPREAD,
    shares: share::SPREAD,
};
const DOWN: Score = Score { side: Side::Down, largest: 3.0, ..UP };

/// Statistics of a channel.
pub(super) const STATISTICS: usize = 13;

state! {
    /// The level of a channel: a cumulative sum and long windows.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub(super) struct LevelLeg {
        pub(super) cusum: Cusum,
        charts: Charts<2>,
        /// Rows since the level began to be off, while it is.
        since: u32,
    }
}

state! {
    /// The spread of a channel's residual, up and down, and since when it is off.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub(super) struct SpreadLeg {
        up: Charts<2>,
        down: Charts<2>,
        rising: Sum,
        falling: Sum,
    }
}

/// Which evidence of a channel is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Level,
    Jump,
    Spread,
    Range,
}

impl Kind {
    pub(super) const ALL: [Self; 4] = [Self::Level, Self::Jump, Self::Spread, Self::Range];

    /// What an alarm says before more is known.
    pub(super) fn change(self) -> Change {
        match self {
            Self::Level | Self::Jump => Change::Level,
            Self::Spread => Change::Spread,
            Self::Range => Change::Outliers,
        }
    }

    pub(super) fn leg(self) -> Leg {
        match self {
            Self::Level => Leg::Level,
            Self::Jump => Leg::Jump,
            Self::Spread => Leg::Spread,
            Self::Range => Leg::Range,
        }
    }
}

state! {
    /// All that is known of one channel.
    #[derive(Debug, Clone, PartialEq)]
    pub(super) struct Channel<L: Legs> {
        pub(super) standard: Standard,
        profile: <L::Cycle as Profiles>::Of,
        predictor: Predictor,
        pub(super) stillness: Stillness,
        pub(super) gaps: Gaps,
        /// A level that was dismissed.
        accepted: Accepted,
        pub(super) wander: Wander,
        /// What the level is good for.
        pub(super) steadiness: Steadiness,
        pub(super) level: Carried<L::Level, LevelLeg>,
        jump: Carried<L::Jump, Charts<3>>,
        spread: Carried<L::Spread, SpreadLeg>,
        range: Range,
        /// Glitches in a row that were not looked back at; of a channel that never moved while
        /// learning, readings in a row that differ.
        pub(super) glitches: u8,
        /// Whether it was told of that the channel is stuck, and that it is missing.
        pub(super) runs_told: [bool; 2],
        /// The last value and residual, in deviations: what counts where a reading is missing.
        value: f32,
        residual: f32,
        /// Half the mean square of the steps between residuals over 16 rows, and that while
        /// learning: the spread, whatever the level does.
        square: FromOne,
        usual_square: FromOne,
        /// In the order of [`Kind::ALL`].
        causes: [Cause; 4],
    }
}

/// Where in learning a row is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Progress {
    /// Rows learned from so far.
    pub(super) row: u32,
    /// First row that is standardised.
    pub(super) scaled: u32,
    /// Rows of learning in all.
    pub(super) rows: u32,
}

impl Progress {
    /// Whether what is learned is put to use: an eighth, a quarter and a half of the way.
    pub(super) fn is_checkpoint(&self) -> bool {
        let row = self.row;
        row > self.scaled && (row == self.rows / 8 || row == self.rows / 4 || row == self.rows / 2)
    }

    /// Whether predictions are good enough for thresholds to be learned from this row on.
    pub(super) fn begins_to_collect(&self) -> bool {
        self.row == self.rows / 4
    }

    pub(super) fn collects(&self) -> bool {
        self.row >= self.rows / 4
    }
}

impl LevelLeg {
    fn watch(&mut self, value: f32, plan: &Plan, adapts: bool, found: &mut Found) {
        self.cusum.watch(value - self.charts.mean, plan, adapts, found);
        self.charts.watch(&LEVEL, value, plan, adapts, found);
        self.since = self.since.saturating_add(u32::from(self.since > 0));
    }

    /// Rows since the level began to be off: as they were when this was first noticed, and those
    /// since.
    fn rows_since(&self, means: (f32, f32)) -> u32 {
        if self.since > 0 {
            return self.since;
        }
        let mean = self.charts.mean;
        self.cusum.rows_since((means.0 - mean, means.1 - mean))
    }
}

impl<L: Legs> Channel<L> {
    /// Takes a reading while nothing is standardised yet.
    pub(super) fn begin(&mut self, reading: f32) {
        self.standard.learn(reading, self.predictor.spare());
    }

    /// Ends the rows from which readings are standardised.
    pub(super) fn end_scaling(&mut self) {
        self.standard.end_first(self.predictor.spare());
        self.standard.correct();
    }

    /// Takes a healthy reading of which only level and spread, and their profile, are learned.
    pub(super) fn learn_profile(&mut self, reading: f32, plan: &Plan) {
        self.standard.learn(reading, &mut []);
        let value = within(self.standard.standardised(reading), FARTHEST);
        self.profile.learn(plan.phase, value);
    }

    /// Puts the profile to use.
    pub(super) fn end_profile(&mut self) {
        self.measure_profile();
        self.profile.freeze();
    }

    /// Measures the profile by all that was learned so far.
    pub(super) fn measure_profile(&mut self) {
        if let Some(correction) = self.standard.correct() {
            self.profile.correct(correction, false);
        }
    }

    /// Whether it moved for the first time too late to be measured.
    pub(super) fn moved_late(&self) -> bool {
        !self.standard.moves() && self.standard.learned().1 > 0.0
    }

    /// A reading in deviations, less what its phase explains.
    #[inline]
    fn standardised(&self, reading: f32, plan: &Plan) -> f32 {
        let value = within(self.standard.standardised(reading), FARTHEST);
        // Without a period there is no profile to go by.
        if <L::Cycle as Cycle>::BINS > 0 && plan.period > 0.0 {
            return within(self.profile.residual(plan.phase, plan.period, value), FARTHEST);
        }
        value
    }

    /// Puts to use what was learned; says whether the scale had to be changed, after which this
    /// channel's windows begin anew.
    pub(super) fn checkpoint(&mut self) -> bool {
        let correction = self.standard.correct();
        if let Some(correction) = correction {
            self.profile.correct(correction, true);
            self.predictor.reset();
            self.wander.correct(correction);
            self.level.reset();
            self.restart_residual();
        }
        self.predictor.solve();
        correction.is_some()
    }

    /// Forgets the residuals of predictions that were not good enough.
    pub(super) fn restart_residual(&mut self) {
        self.jump.reset();
        self.spread.reset();
        self.range.reset();
        if let Some(level) = self.level.carried_mut() {
            level.cusum.begin();
        }
    }

    /// Takes a healthy reading.
    pub(super) fn learn(&mut self, reading: f32, plan: &Plan, progress: &Progress) {
        self.standard.learn(reading, &mut []);
        self.value = self.standardised(reading, plan);
        let error = self.value - self.predictor.expected();
        let before = self.residual;
        self.residual = within(error * self.predictor.inverse_deviation(), FARTHEST);
        self.predictor.learn(self.value, error);
        let collects = progress.collects();
        let value = within(self.value, CUT);
        self.wander.learn(value, plan.learning_rows - progress.scaled.min(plan.learning_rows));
        if let Some(level) = self.level.carried_mut() {
            level.charts.learn(&LEVEL, value, plan, collects);
            let LevelLeg { cusum, charts, .. } = level;
            let (variance, row) = charts.learned();
            cusum.learn(value - charts.mean, variance, row, plan, collects);
        }
        if let Some(jump) = self.jump.carried_mut() {
            jump.learn(&JUMP, within(self.residual, JUMP_CUT), plan, collects);
        }
        if let Some(spread) = self.spread.carried_mut() {
            let (up, down) = scores(self.residual);
            spread.up.learn(&UP, up, plan, collects);
            spread.down.learn(&DOWN, down, plan, collects);
        }
        if collects {
            self.range.learn(self.residual);
        }
        self.weigh(before);
        let usual = self.usual_square.get();
        self.usual_square.set(usual + (self.square.get() - usual) / 256.0);
    }

    /// Goes on without a reading: what it was expected to be is looked back at.
    pub(super) fn miss(&mut self) {
        let expected = self.predictor.substitute();
        self.predictor.advance(expected);
    }

    /// Begins to look back anew: what was before is no longer next to what comes.
    pub(super) fn restart(&mut self) {
        self.predictor.restart();
    }

    /// Takes in the step from the residual of the row `before`.
    fn weigh(&mut self, before: f32) {
        let step = self.residual - before;
        let step = smaller(0.5 * step * step, STEP_CUT);
        let square = self.square.get();
        self.square.set(square + EVIDENCE_RATE * (step - square));
    }

    /// Ends learning, after `rows` rows.
    pub(super) fn arm(&mut self, plan: &Plan, rows: u32, mean_time: f32) {
        if let Some(level) = self.level.carried_mut() {
            level.cusum.arm(plan, self.wander.error());
            level.charts.arm(&LEVEL, plan);
        }
        if let Some(jump) = self.jump.carried_mut() {
            jump.arm(&JUMP, plan);
        }
        if let Some(spread) = self.spread.carried_mut() {
            spread.up.arm(&UP, plan);
            spread.down.arm(&DOWN, plan);
        }
        self.range.arm(plan);
        self.steadiness = self.wander.steadiness();
        let time = larger(mean_time, SURELY);
        // A channel that has never moved is not stuck.
        if self.standard.moves() {
            self.stillness.arm(rows, time, LEAST_RUN);
        }
        self.gaps.arm(rows, time, LEAST_RUN);
    }

    /// Whether it will be found that the level says nothing, once learning ends.
    pub(super) fn will_wander(&self) -> bool {
        self.wander.steadiness() == Steadiness::Wandering
    }

    /// Whether the level says nothing.
    pub(super) fn wanders(&self) -> bool {
        self.steadiness == Steadiness::Wandering
    }

    /// The leg of the level, if it says something.
    fn steady_level(&self) -> Option<&LevelLeg> {
        self.level.carried().filter(|_| !self.wanders())
    }

    /// Value and residual of the last row, cut for the joint legs.
    pub(super) fn joint(&self) -> (f32, f32) {
        (within(self.value, 30.0), within(self.residual, 30.0))
    }

    /// The cause of changes of this kind.
    pub(super) fn cause(&self, kind: Kind) -> &Cause {
        let [level, jump, spread, range] = &self.causes;
        match kind {
            Kind::Level => level,
            Kind::Jump => jump,
            Kind::Spread => spread,
            Kind::Range => range,
        }
    }

    pub(super) fn cause_mut(&mut self, kind: Kind) -> &mut Cause {
        let [level, jump, spread, range] = &mut self.causes;
        match kind {
            Kind::Level => level,
            Kind::Jump => jump,
            Kind::Spread => spread,
            Kind::Range => range,
        }
    }

    /// Whether a change of this kind is going on.
    pub(super) fn is_of(&self, kind: Kind) -> bool {
        self.cause(kind).is_open()
    }

    /// Whether some change of the channel is going on: nothing is then learned from it.
    pub(super) fn is_open(&self) -> bool {
        self.causes.iter().any(Cause::is_open) || self.is_stuck() || self.gaps.is_overdue()
    }

    /// Whether its reading has not changed for too long.
    pub(super) fn is_stuck(&self) -> bool {
        self.stillness.is_too_long()
    }

    /// Takes a reading, and tells what each leg finds, in the order of [`Kind::ALL`], in place of
    /// [`Found::CALM`].
    pub(super) fn watch(&mut self, reading: f32, plan: &Plan, found: &mut [Found; 4]) {
        let [level_found, jump_found, spread_found, range_found] = found;
        let adapts = !self.is_open();
        if !self.standard.moves() {
            let (level, _) = self.standard.learned();
            let differs = reading.to_bits() != level.to_bits();
            self.glitches = if differs { self.glitches.saturating_add(1) } else { 0 };
            let moved = if differs { MOVED * self.range.largest() } else { 0.0 };
            *range_found = self.range.watch(moved, adapts, plan);
            return;
        }
        let value = self.standardised(reading, plan);
        self.value = self.accepted.take(value);
        let expected = self.predictor.expected();
        let error = self.value - expected;
        let before = self.residual;
        self.residual = within(error * self.predictor.inverse_deviation(), FARTHEST);
        let starting = self.predictor.is_starting();
        let skip = self.range.is_glitch(self.residual) && self.glitches < GLITCHES;
        self.glitches = if skip { self.glitches + 1 } else { 0 };
        self.predictor.advance(if skip { self.predictor.substitute() } else { self.value });
        let value = within(self.value, CUT);
        let wanders = self.wanders();
        let level = self.level.carried_mut().filter(|_| !wanders);
        if let Some(level) = level {
            level.watch(value, plan, adapts, level_found);
        }
        if self.steadiness == Steadiness::Doubtful {
            level_found.excess -= DOUBT;
        }
        if starting {
            return;
        }
        if let Some(jump) = self.jump.carried_mut() {
            jump.watch(&JUMP, within(self.residual, JUMP_CUT), plan, adapts, jump_found);
        }
        if let Some(spread) = self.spread.carried_mut() {
            let (up, down) = scores(self.residual);
            spread.rising.push((up - spread.up.mean) * PER_UP - SPREAD_SLACK);
            spread.falling.push((spread.down.mean - down) * PER_DOWN - SPREAD_SLACK);
            spread.up.watch(&UP, up, plan, adapts, spread_found);
            spread.down.watch(&DOWN, down, plan, adapts, spread_found);
        }
        self.weigh(before);
        *range_found = self.range.watch(self.residual, adapts, plan);
    }
}

/// The scores of a residual's spread: one that goes up with it and one that goes down.
fn scores(residual: f32) -> (f32, f32) {
    let size = residual.abs();
    (smaller(size * size, SPREAD_CUT), sqrt_f32(smaller(size, SPREAD_CUT)))
}
