//! What a channel says of a change: how large it is, of what kind, and since when.

use crate::condition::Standardise;
use crate::numeric::{Number, Rate, Real, larger, ln_f32};

use super::super::decision::TELLING;
use super::super::legs::Found;
use super::super::legs::choice::{Legs, Slot};
use super::super::legs::wander::Steadiness;
use super::super::verdict::Leg;
use super::{Channel, DOUBT, DOWN, JUMP, Kind, LEVEL, RECENT, STATISTICS, STEP_PEAK, SUMMED, UP};

/// What predictions are behind by, where a level goes on rising, in parts of how far it is off.
const BEHIND: Rate = Rate::of(0.5);

impl<L: Legs, N: Number> Channel<L, N> {
    /// A size of a kind of change that tells one that grows from one that lasts, and the least
    /// that is meaningful.
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
                self.struck().filter(|age| level > SUMMED && *age < level).unwrap_or(level)
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

    /// Rows since a residual about as large as the step of the level must have made, if there was
    /// one: the past foretells all of a step but its first row.
    fn struck(&self) -> Option<u32> {
        let shift = self.shift(Kind::Level).unwrap_or(N::ZERO);
        let expected = self.predictor.in_deviations(shift).value();
        let (peak, age) = self.range.recent_peak();
        let is_step = expected > 3.0 && peak > larger(STEP_PEAK, 0.6 * expected);
        is_step.then_some(age)
    }

    /// The windows whose statistic cannot fire.
    pub(in crate::monitor) fn mute(
        &self,
        learning_rows: u32,
    ) -> impl Iterator<Item = (Leg, u32)> + '_ {
        let level = self.level.carried().map(|leg| leg.charts.mute(LEVEL, learning_rows));
        let jump = self.jump.carried().map(|charts| charts.mute(JUMP, learning_rows));
        let up = self.spread.carried().map(|leg| leg.up.mute(UP, learning_rows));
        let down = self.spread.carried().map(|leg| leg.down.mute(DOWN, learning_rows));
        let of = |leg| move |window| (leg, window);
        (level.into_iter().flatten().map(of(Leg::Level)))
            .chain(jump.into_iter().flatten().map(of(Leg::Jump)))
            .chain(up.into_iter().flatten().map(of(Leg::Spread)))
            .chain(down.into_iter().flatten().map(of(Leg::Spread)))
    }

    /// One of the [`STATISTICS`], by its place: its leg, the length of its window, and where it
    /// stands. By place, because a chain of iterators would take a kilobyte of code and of stack.
    pub(in crate::monitor) fn statistic(&self, place: usize) -> Option<(Leg, (u32, f32, f32))> {
        let level = || self.steady_level();
        let doubt = if self.steadiness == Steadiness::Doubtful { DOUBT } else { 0.0 };
        let spread = || self.spread.carried();
        let (leg, status) = match place {
            0 => (Leg::Level, level().map(|leg| leg.cusum.status(doubt))),
            1..=2 => {
                (Leg::Level, level().and_then(|leg| leg.charts.status(&LEVEL, place - 1, doubt)))
            }
            3..=5 => {
                (Leg::Jump, self.jump.carried().and_then(|leg| leg.status(&JUMP, place - 3, 0.0)))
            }
            6..=7 => (Leg::Spread, spread().and_then(|leg| leg.up.status(&UP, place - 6, 0.0))),
            8..=9 => (Leg::Spread, spread().and_then(|leg| leg.down.status(&DOWN, place - 8, 0.0))),
            10 => (Leg::Range, Some(self.range.status())),
            11 => (Leg::Stuck, self.stillness.status()),
            12 => (Leg::Missing, self.gaps.status()),
            STATISTICS.. => return None,
        };
        status.map(|status| (leg, status))
    }
}
