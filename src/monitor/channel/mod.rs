//! One channel: from its readings to the evidence of its legs.

mod end;
mod evidence;
mod merge;

use crate::condition::{FARTHEST, Gaps, MAX_READING, Predictor, Standardise, Stillness};
use crate::numeric::{Number, Rate, larger, u32_of};
use crate::state::{FromOne, State, state};

use super::accepted::Accepted;
use super::cause::Cause;
use super::legs::charts::{Charts, Score, Side, Window};
use super::legs::choice::{ByPhase, Carried, Cycle, Legs, Profiles, Slot};
use super::legs::cusum::{Cusum, Sum};
use super::legs::range::Range;
use super::legs::tail::CALM_NATS;
use super::legs::wander::{Steadiness, Wander};
use super::legs::{DERIVED, Found, LEVEL_CAUTION, Plan, share};
use super::verdict::{Change, Leg};

/// Values and residuals are clipped at this many deviations for charts.
const CUT: f32 = 8.0;
/// Residuals are clipped at this many deviations for jumps, so that one row alone is no jump.
const JUMP_CUT: f32 = 4.0;
/// Largest score of a residual's spread.
const SPREAD_CUT: f32 = 12.0;
/// Successive glitches that are kept out of the history that predictions are made from.
const GLITCHES: u8 = 3;
/// Evidence that the level of a channel that may wander needs beyond the threshold, in nats.
const DOUBT: f32 = 6.0;
/// Extra evidence that a spread needs, in nats, per nat of [memory](Charts::memory) and per nat of the
/// promise beyond what learning shows ([`Plan::unseen`]).
const MEMORY_DOUBT: f32 = 3.0;
/// Slack of the sums that date a change of spread, in deviations of its score.
const SPREAD_SLACK: f32 = 0.3;
/// 1/deviation of the two scores of a Gaussian residual. Only the sums that date a change use it, and
/// they need not be exact.
const PER_UP: Rate = Rate::of(0.75);
const PER_DOWN: f32 = 2.9;
/// Weight of a row in the means by which a change of spread is told from one of level.
const EVIDENCE: Rate = Rate::of_window(32);
/// The same in the mean while learning.
const USUAL: Rate = Rate::of(1.0 / 256.0);
const HALF: Rate = Rate::of(0.5);
/// A residual of this many deviations may be a step of the level.
const STEP_PEAK: f32 = 3.3;
/// Rows after which a step is dated better by its large residual than by a sum.
const SUMMED: u32 = 64;
/// Readings out of range within this many rows count as one event.
const RECENT: u32 = 20;
/// Steps between residuals are clipped at this many deviations: a step of the level makes two large
/// ones, and should not look like a spread.
const STEP_CUT: f32 = 4.0;
/// Least rows for which a reading may be the same, or missing.
const LEAST_RUN: u32 = 12;
/// Least mean time, in rows, for runs that come by chance: they are easily recognised.
const SURELY: f32 = 1e5;

const LEVEL: Score<2> = Score {
    side: Side::Both,
    windows: [Window::of(256), Window::of(1024)],
    largest: CUT,
    least: 0,
    caution: LEVEL_CAUTION,
    shares: share::LEVEL,
};
const JUMP: Score<3> = Score {
    side: Side::Both,
    windows: [Window::of(4), Window::of(16), Window::of(64)],
    largest: JUMP_CUT,
    least: 1,
    caution: 0.0,
    shares: share::JUMP,
};
const UP: Score<2> = Score {
    side: Side::Up,
    windows: [Window::of(16), Window::of(64)],
    largest: SPREAD_CUT,
    least: 1,
    caution: 0.0,
    shares: share::SPREAD,
};
const DOWN: Score<2> = Score { side: Side::Down, largest: 3.0, ..UP };

/// The places of a channel's statistics: the cumulative sum of the level, then the windows of each
/// score, and then those whose thresholds are not learned.
const CUSUM: usize = 0;
const LEVELS: usize = CUSUM + 1;
const JUMPS: usize = LEVELS + LEVEL.windows.len();
const UPS: usize = JUMPS + JUMP.windows.len();
const DOWNS: usize = UPS + UP.windows.len();
/// Statistics of a channel whose thresholds are learned.
pub(super) const ARMED: usize = DOWNS + DOWN.windows.len();
const RANGE: usize = ARMED;
const STUCK: usize = RANGE + 1;
const MISSING: usize = STUCK + 1;
/// Statistics of a channel.
pub(super) const STATISTICS: usize = MISSING + 1;

state! {
    /// The level of a channel: a cumulative sum and long windows.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub(super) struct LevelLeg<N: Number> {
        pub(super) cusum: Cusum<N>,
        charts: Charts<N, 2>,
        /// Rows since the level began to be off, while it is.
        since: u32,
    }
}

state! {
    /// The spread of a channel's residual, up and down, and since when it is off.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub(super) struct SpreadLeg<N: Number> {
        up: Charts<N, 2>,
        down: Charts<N, 2>,
        rising: Sum<N>,
        falling: Sum<N>,
    }
}

/// A kind of change of one channel, with its own cause.
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
    pub(super) struct Channel<L: Legs, N: Number> {
        /// In the units of the readings; a mean may be rounded to more than the largest of them.
        pub(super) standard: N::Standard => up to 2.0 * MAX_READING,
        profile: <L::Cycle as Profiles>::Of<N>,
        predictor: Predictor<N>,
        pub(super) stillness: Stillness<N> => up to MAX_READING,
        pub(super) gaps: Gaps<N>,
        /// A level that was dismissed.
        accepted: Accepted<N>,
        pub(super) wander: Wander<N>,
        /// Whether the level stays, may wander or wanders.
        pub(super) steadiness: Steadiness,
        pub(super) level: Carried<L::Level, LevelLeg<N>>,
        jump: Carried<L::Jump, Charts<N, 3>>,
        spread: Carried<L::Spread, SpreadLeg<N>>,
        range: Range<N>,
        /// Successive glitches kept out of the predictor; for a channel that never moved while
        /// learning, successive readings that differ from its level.
        pub(super) glitches: u8,
        /// Whether it was reported that the channel is stuck, and that it is missing.
        pub(super) runs_reported: [bool; 2],
        /// The last value and residual, in deviations: what counts where a reading is missing.
        value: N => up to DERIVED,
        residual: N => up to DERIVED,
        /// Half the mean square of the steps between residuals over 32 rows, and that while
        /// learning: the spread, whatever the level does.
        square: FromOne<N>,
        usual_square: FromOne<N>,
        /// In the order of [`Kind::ALL`].
        causes: [Cause<N>; 4] => up to f32::MAX,
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
    /// Whether what is learned of a channel is put to use: an eighth, a quarter and a half of the way.
    /// One channel after the other, because that takes as long as many rows.
    pub(super) fn is_checkpoint(&self, channel: usize) -> bool {
        let Some(row) = self.row.checked_sub(self.turn_of(channel)) else { return false };
        row > self.scaled && (row == self.rows / 8 || row == self.rows / 4 || row == self.rows / 2)
    }

    /// Whether predictions of a channel are good enough for thresholds to be learned from this row on.
    pub(super) fn begins_to_collect(&self, channel: usize) -> bool {
        self.row == self.rows / 4 + self.turn_of(channel)
    }

    /// Rows by which a channel's turn is delayed. Where there are many channels, the last ones share a
    /// row.
    fn turn_of(&self, channel: usize) -> u32 {
        u32_of(channel).min(self.rows / 32)
    }

    pub(super) fn collects(&self) -> bool {
        self.row >= self.rows / 4
    }
}

impl<N: Number> SpreadLeg<N> {
    /// Extra evidence that a spread needs, in nats, if it came and went while learning. `unseen`: as
    /// [`Plan::unseen`].
    #[inline(never)]
    fn doubt(&self, unseen: f32) -> N {
        if unseen <= 0.0 {
            return N::ZERO;
        }
        let memory = self.up.memory(&UP).or_more(self.down.memory(&DOWN));
        N::of(MEMORY_DOUBT * unseen).times(memory)
    }
}

impl<N: Number> LevelLeg<N> {
    fn watch(&mut self, value: N, plan: &Plan, adapts: bool, found: &mut Found<N>) {
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
        let mean = self.charts.mean.value();
        self.cusum.rows_since((means.0 - mean, means.1 - mean))
    }
}

impl<L: Legs, N: Number> Channel<L, N> {
    /// Takes a reading while nothing is standardised yet.
    pub(super) fn begin(&mut self, reading: N::Scalar) {
        self.standard.learn(reading, self.predictor.spare());
    }

    /// Ends the rows from which readings are standardised.
    pub(super) fn end_scaling(&mut self) {
        self.standard.end_first(self.predictor.spare());
        self.standard.correct();
    }

    /// Takes a healthy reading, from which only level and spread, and their profile, are learned.
    pub(super) fn learn_profile(&mut self, reading: N::Scalar, plan: &Plan) {
        self.standard.learn(reading, &mut []);
        self.profile.learn(plan.phase, self.standard.standardised(reading));
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
    fn standardised(&self, reading: N::Scalar, plan: &Plan) -> N {
        let value = self.standard.standardised(reading);
        // Without a period there is no profile to go by.
        if let (true, Some(period)) = (<L::Cycle as Cycle>::BINS > 0, plan.period) {
            let value = self.profile.residual(plan.phase, period, value);
            return value.held(N::of(FARTHEST));
        }
        value
    }

    /// Puts to use what was learned. Returns whether the scale had to be changed: this channel's
    /// windows then restart.
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
    pub(super) fn learn(&mut self, reading: N::Scalar, plan: &Plan, progress: &Progress) {
        self.standard.learn(reading, &mut []);
        self.value = self.standardised(reading, plan);
        let error = self.value - self.predictor.expected();
        let before = self.residual;
        self.residual = self.predictor.in_deviations(error).held(N::of(FARTHEST));
        self.predictor.learn(self.value, error);
        let collects = progress.collects();
        let value = self.value.held(N::of(CUT));
        self.wander.learn(value, plan.learning_rows - progress.scaled.min(plan.learning_rows));
        if let Some(level) = self.level.carried_mut() {
            level.charts.learn(&LEVEL, value, plan, collects);
            let LevelLeg { cusum, charts, .. } = level;
            let (variance, row) = charts.learned();
            cusum.learn(value - charts.mean, variance, row, plan, collects);
        }
        if let Some(jump) = self.jump.carried_mut() {
            jump.learn(&JUMP, self.residual.held(N::of(JUMP_CUT)), plan, collects);
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
        self.usual_square.set(usual + (self.square.get() - usual).part(USUAL));
    }

    /// A row without a reading: its prediction takes its place in the predictor's history.
    pub(super) fn miss(&mut self) {
        let expected = self.predictor.substitute();
        self.predictor.advance(expected);
    }

    /// Restarts the predictor's history: earlier readings are no longer neighbours of the next.
    pub(super) fn restart(&mut self) {
        self.predictor.restart();
    }

    /// Takes in the step from the residual of the row `before`.
    fn weigh(&mut self, before: N) {
        let step = (self.residual - before).held(N::of(STEP_CUT));
        let half_square = step.times(step).part(HALF);
        let square = self.square.get();
        self.square.set(square + (half_square - square).part(EVIDENCE));
    }

    /// Ends learning for one of the [`ARMED`] statistics: together they would take as long as dozens of
    /// rows.
    pub(super) fn arm(&mut self, place: usize, plan: &Plan) {
        match place {
            CUSUM => {
                if let Some(level) = self.level.carried_mut() {
                    level.cusum.arm(plan, self.wander.error());
                }
            }
            LEVELS..JUMPS => {
                if let Some(level) = self.level.carried_mut() {
                    level.charts.arm(&LEVEL, place - LEVELS, plan);
                }
            }
            JUMPS..UPS => {
                if let Some(jump) = self.jump.carried_mut() {
                    jump.arm(&JUMP, place - JUMPS, plan);
                }
            }
            UPS..DOWNS => {
                if let Some(spread) = self.spread.carried_mut() {
                    spread.up.arm(&UP, place - UPS, plan);
                }
            }
            DOWNS..ARMED => {
                if let Some(spread) = self.spread.carried_mut() {
                    spread.down.arm(&DOWN, place - DOWNS, plan);
                }
            }
            ARMED.. => {}
        }
    }

    /// Ends learning, after `rows` rows, of rows beyond the range and of runs, which are counted to the
    /// end.
    pub(super) fn arm_runs(&mut self, plan: &Plan, rows: u32, mean_time: f32) {
        self.range.arm(plan);
        self.steadiness = self.wander.steadiness();
        let time = larger(mean_time, SURELY);
        // A channel that has never moved is not stuck.
        if self.standard.moves() {
            self.stillness.arm(rows, time, LEAST_RUN);
        }
        self.gaps.arm(rows, time, LEAST_RUN);
    }

    /// Whether the level will be found to wander, so that it says nothing, once learning ends.
    pub(super) fn will_wander(&self) -> bool {
        self.wander.steadiness() == Steadiness::Wandering
    }

    /// Whether the level says nothing.
    pub(super) fn wanders(&self) -> bool {
        self.steadiness == Steadiness::Wandering
    }

    /// The leg of the level, if it says something.
    fn steady_level(&self) -> Option<&LevelLeg<N>> {
        self.level.carried().filter(|_| !self.wanders())
    }

    /// Value and residual of the last row, cut for the joint legs.
    pub(super) fn joint(&self) -> (N::Scalar, N::Scalar) {
        (self.value.coordinate(), self.residual.coordinate())
    }

    /// The cause of changes of this kind.
    pub(super) fn cause(&self, kind: Kind) -> &Cause<N> {
        let [level, jump, spread, range] = &self.causes;
        match kind {
            Kind::Level => level,
            Kind::Jump => jump,
            Kind::Spread => spread,
            Kind::Range => range,
        }
    }

    pub(super) fn cause_mut(&mut self, kind: Kind) -> &mut Cause<N> {
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

    /// Whether a gap goes on that is no chance, dismissed or not. Where readings only come too rarely,
    /// there are rows with all of them.
    pub(super) fn is_missing(&self) -> bool {
        self.gaps.run() > LEAST_RUN
    }

    /// Takes a reading, and puts what each leg finds in `found`, in the order of [`Kind::ALL`], which
    /// holds [`Found::calm`] before.
    pub(super) fn watch(&mut self, reading: N::Scalar, plan: &Plan, found: &mut [Found<N>; 4]) {
        let [level_found, jump_found, spread_found, range_found] = found;
        let adapts = !self.is_open();
        if !self.standard.moves() {
            let differs = !self.standard.is_mean(reading);
            self.glitches = if differs { self.glitches.saturating_add(1) } else { 0 };
            let moved = if differs { self.range.movement() } else { N::ZERO };
            *range_found = self.range.watch(moved, moved.size(), adapts, plan);
            return;
        }
        let value = self.standardised(reading, plan);
        self.value = self.accepted.take(value);
        let expected = self.predictor.expected();
        let error = self.value - expected;
        let before = self.residual;
        self.residual = self.predictor.in_deviations(error).held(N::of(FARTHEST));
        let starting = self.predictor.is_starting();
        let skip = self.range.is_glitch(self.residual) && self.glitches < GLITCHES;
        self.glitches = if skip { self.glitches + 1 } else { 0 };
        self.predictor.advance(if skip { self.predictor.substitute() } else { self.value });
        let value = self.value.held(N::of(CUT));
        let wanders = self.wanders();
        let level = self.level.carried_mut().filter(|_| !wanders);
        if let Some(level) = level {
            level.watch(value, plan, adapts, level_found);
        }
        if self.steadiness == Steadiness::Doubtful {
            level_found.excess -= N::of(DOUBT);
        }
        if starting {
            return;
        }
        if let Some(jump) = self.jump.carried_mut() {
            jump.watch(&JUMP, self.residual.held(N::of(JUMP_CUT)), plan, adapts, jump_found);
        }
        if let Some(spread) = self.spread.carried_mut() {
            let (up, down) = scores(self.residual);
            let slack = N::of(SPREAD_SLACK);
            spread.rising.push((up - spread.up.mean).part(PER_UP) - slack);
            spread.falling.push((spread.down.mean - down).times(N::of(PER_DOWN)) - slack);
            spread.up.watch(&UP, up, plan, adapts, spread_found);
            spread.down.watch(&DOWN, down, plan, adapts, spread_found);
            // Rarely.
            if spread_found.excess > N::of(-CALM_NATS) {
                spread_found.excess -= spread.doubt(plan.unseen());
            }
        }
        self.weigh(before);
        let judged = if adapts { None } else { self.beyond_what_is_open(before) };
        let size = judged.unwrap_or(self.residual.size());
        *range_found = self.range.watch(self.residual, size, adapts, plan);
        // Readings that were counted before the noise or the jump was noticed belong to that.
        if judged.is_some() && !self.is_of(Kind::Range) && !self.range.is_beyond(size) {
            range_found.excess = N::of(-CALM_NATS);
        }
    }
}

/// The scores of a residual's spread: one that goes up with it and one that goes down.
#[inline]
fn scores<N: Number>(residual: N) -> (N, N) {
    let (size, cut) = (residual.size(), N::of(SPREAD_CUT));
    let near = size.or_less(cut);
    (near.times(near).or_less(cut), near.root())
}
