//! What a channel says of a change: how large it is, of what kind, and since when.

use crate::condition::Standardise;
use crate::numeric::{Number, Rate, Real, larger, ln_f32};

use super::super::decision::TELLING;
use super::super::legs::Found;
use super::super::legs::choice::{Legs, Slot};
use super::super::legs::wander::Steadiness;
use super::super::verdict::Leg;
use super::{
    ARMED, CUSUM, Channel, DOUBT, DOWN, DOWNS, JUMP, JUMPS, Kind, LEVEL, LEVELS, MISSING, RANGE,
    RECENT, STATISTICS, STEP_CUT, STEP_PEAK, STUCK, SUMMED, SpreadLeg, UP, UPS,
};

/// How far predictions lag behind a level that goes on rising, as a part of how far it is off.
const BEHIND: Rate = Rate::of(0.5);
/// The deviation of a residual over that of the difference of two.
const PER_DIFFERENCE: Rate = Rate::of(core::f32::consts::FRAC_1_SQRT_2);
/// Half the square of the largest step between residuals.
const MOST_SQUARE: f32 = 0.5 * STEP_CUT * STEP_CUT;

impl<L: Legs, N: Number> Channel<L, N> {
    /// The present size of a kind of change, by which one that grows is told from one that lasts, and
    /// the least that is meaningful.
    pub(in crate::monitor) fn size(&self, kind: Kind, found: &Found<N>) -> (N, N) {
        self.shift(kind).map_or((found.excess, N::of(2.0)), |size| (size, N::of(0.5)))
    }

    /// The shift of a level as it is now, in deviations.
    fn shift(&self, kind: Kind) -> Option<N> {
        self.level.carried().filter(|_| kind == Kind::Level).map(|level| level.cusum.size.size())
    }

    /// The same as `f32`.
    pub(in crate::monitor) fn size_now(&self, kind: Kind) -> Option<f32> {
        self.shift(kind).map(Real::value)
    }

    /// By how much smaller residuals would be if their spread were as it was while learning: at most
    /// 1.
    pub(in crate::monitor) fn rougher(&self) -> N {
        let (square, usual) = (self.square.get(), self.usual_square.get());
        if square <= usual { N::of(1.0) } else { usual.over(square).root() }
    }

    /// What is left of the size of the last residual, and of the one `before`, beside noise or a jump
    /// that is open: both go out of range by themselves, and should hide nothing that goes farther.
    /// `None` if neither is open.
    #[inline(never)]
    pub(super) fn beyond_what_is_open(&self, before: N) -> Option<N> {
        let one = N::of(1.0);
        let rougher = if self.is_of(Kind::Spread) { self.rougher() } else { one };
        let jumped = self.is_of(Kind::Jump);
        if rougher >= one && !jumped {
            return None;
        }
        let size = self.residual.size();
        // After a jump all residuals may be far out, each about as far as the last.
        let size = if jumped { (size - before.size()).part(PER_DIFFERENCE) } else { size };
        // Steps are clipped, so that their square says less of the noise the larger it is. By how far
        // it is from the most it can be, noise is told too wide rather than too narrow.
        let left = |square: N| (N::of(MOST_SQUARE) - square).or_more(N::ZERO);
        let usual = left(self.usual_square.get()).or_more(one);
        let part = left(self.square.get()).over(usual).or_less(one);
        Some(size.or_more(N::ZERO).times(rougher).times(part))
    }

    /// Log-likelihoods that the level is off, and that the spread is; none for a channel that has
    /// never moved.
    pub(in crate::monitor) fn evidence(&self) -> (f32, f32) {
        if !self.standard.moves() {
            return (0.0, 0.0);
        }
        let (square, usual) = (self.square.get().value(), self.usual_square.get().value());
        let ratio = larger(square / larger(usual, 1e-9), 1e-3);
        let spread = 12.0 * (ratio - 1.0 - ln_f32(ratio));
        (self.steady_level().map_or(0.0, |level| level.cusum.evidence()), spread)
    }

    /// Rows since a change of this kind seems to have begun, by the window that found it.
    pub(in crate::monitor) fn rows_since(&self, kind: Kind, window: u32) -> u32 {
        let means = self.predictor.long_means();
        let level = self.steady_level().map_or(window, |level| level.rows_since(means));
        match kind {
            Kind::Level => self.noted_onset().unwrap_or_else(|| {
                self.rows_since_step().filter(|age| level > SUMMED && *age < level).unwrap_or(level)
            }),
            Kind::Jump => level.min(window),
            Kind::Spread => self.spread.carried().map_or(window, |spread| {
                let (rising, falling) = (spread.rising, spread.falling);
                if rising.sum.0 > falling.sum.0 { rising.rows } else { falling.rows }
            }),
            Kind::Range => self.range.recent_peak().1.min(RECENT),
        }
    }

    /// Whether what a leg finds follows from a level that is off, and was reported: a level that goes
    /// on rising leaves its predictions behind, by much less than it rose.
    pub(in crate::monitor) fn follows(&self, kind: Kind, found: &Found<N>) -> bool {
        let shift = self.shift(Kind::Level).unwrap_or(N::ZERO);
        self.is_of(Kind::Level)
            && match kind {
                Kind::Jump => found.statistic < self.predictor.in_deviations(shift).part(BEHIND),
                Kind::Spread => self.evidence().1 < TELLING,
                Kind::Level | Kind::Range => false,
            }
    }

    /// Notes when a level began to be off, once that is known as well as it will be: later it
    /// would look like something else.
    pub(in crate::monitor) fn note_onset(&mut self) {
        if self.cause(Kind::Level).is_settled() && self.noted_onset().is_none() {
            let rows = self.rows_since(Kind::Level, 1).max(1);
            if let Some(level) = self.level.carried_mut() {
                level.since = rows;
            }
        }
    }

    /// Rows since the level began to be off, as they were noted.
    fn noted_onset(&self) -> Option<u32> {
        self.level.carried().map(|level| level.since).filter(|rows| *rows > 0)
    }

    /// Rows since the step of the level, if a recent residual is large enough to be it. The predictor
    /// adapts to a step at once, so only its first row has a large residual.
    fn rows_since_step(&self) -> Option<u32> {
        let shift = self.shift(Kind::Level).unwrap_or(N::ZERO);
        let expected = self.predictor.in_deviations(shift).value();
        let (peak, age) = self.range.recent_peak();
        let is_step = expected > 3.0 && peak > larger(STEP_PEAK, 0.6 * expected);
        is_step.then_some(age)
    }

    /// The windows whose statistic cannot fire. `unseen`: as
    /// [`Plan::unseen`](super::Plan::unseen).
    pub(in crate::monitor) fn mute(
        &self,
        rows: u32,
        unseen: f32,
    ) -> impl Iterator<Item = (Leg, u32)> + '_ {
        let (of_level, of_spread) = (self.level_doubt(), self.spread_doubt(unseen));
        let level = self.level.carried().map(|leg| leg.charts.mute(&LEVEL, rows, of_level));
        let jump = self.jump.carried().map(|charts| charts.mute(&JUMP, rows, 0.0));
        let up = self.spread.carried().map(|leg| leg.up.mute(&UP, rows, of_spread));
        let down = self.spread.carried().map(|leg| leg.down.mute(&DOWN, rows, of_spread));
        let of = |leg| move |window| (leg, window);
        (level.into_iter().flatten().map(of(Leg::Level)))
            .chain(jump.into_iter().flatten().map(of(Leg::Jump)))
            .chain(up.into_iter().flatten().map(of(Leg::Spread)))
            .chain(down.into_iter().flatten().map(of(Leg::Spread)))
    }

    /// Extra evidence that a level needs, in nats.
    fn level_doubt(&self) -> f32 {
        if self.steadiness == Steadiness::Doubtful { DOUBT } else { 0.0 }
    }

    /// Extra evidence that a spread needs, in nats. `unseen`: as [`Plan::unseen`](super::Plan::unseen).
    pub(in crate::monitor) fn spread_doubt(&self, unseen: f32) -> f32 {
        self.spread.carried().map_or(0.0, |leg| leg.doubt(unseen).value())
    }

    /// One of the [`STATISTICS`], by its place: its leg, the length of its window, and where it
    /// stands. `spread_doubt`: see
    /// [`spread_doubt`](Self::spread_doubt). By place, because a chain of iterators would take a
    /// kilobyte of code and of stack.
    pub(in crate::monitor) fn statistic(
        &self,
        place: usize,
        spread_doubt: f32,
    ) -> Option<(Leg, (u32, f32, f32))> {
        let level = || self.steady_level();
        let doubt = self.level_doubt();
        let spread = || self.spread.carried();
        let (leg, status) = match place {
            CUSUM => (Leg::Level, level().map(|leg| leg.cusum.status(doubt))),
            LEVELS..JUMPS => (
                Leg::Level,
                level().and_then(|leg| leg.charts.status(&LEVEL, place - LEVELS, doubt)),
            ),
            JUMPS..UPS => (
                Leg::Jump,
                self.jump.carried().and_then(|leg| leg.status(&JUMP, place - JUMPS, 0.0)),
            ),
            UPS..DOWNS => {
                let status = |leg: &SpreadLeg<N>| leg.up.status(&UP, place - UPS, spread_doubt);
                (Leg::Spread, spread().and_then(status))
            }
            DOWNS..ARMED => {
                let status =
                    |leg: &SpreadLeg<N>| leg.down.status(&DOWN, place - DOWNS, spread_doubt);
                (Leg::Spread, spread().and_then(status))
            }
            RANGE => (Leg::Range, Some(self.range.status())),
            STUCK => (Leg::Stuck, self.stillness.status()),
            MISSING => (Leg::Missing, self.gaps.status()),
            STATISTICS.. => return None,
        };
        status.map(|status| (leg, status))
    }
}
