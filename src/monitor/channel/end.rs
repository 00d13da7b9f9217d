//! When a change of a channel is over.

use crate::numeric::{Number, larger};
use crate::state::State;

use super::super::cause::Cause;
use super::super::decision::TELLING;
use super::super::legs::choice::{Legs, Slot};
use super::super::legs::tail::{Design, Tail};
use super::super::legs::{End, Plan};
use super::{CUT, Channel, DOWN, JUMP, Kind, LEVEL, UP};

/// Rows that the mean of a shift is worth at the most.
const MEANT: u32 = 32;
/// A shift that is less than this part of what it was is over.
const OVER: f32 = 0.7;
/// A residual of fewer deviations is not that of a reading far out.
const BACK: f32 = 3.0;

impl<L: Legs, N: Number> Channel<L, N> {
    /// A change is over: by itself, from which its thresholds learn once, or because it was
    /// dismissed.
    pub(in crate::monitor) fn end(&mut self, kind: Kind, plan: &Plan, end: End) {
        let change = |tail: &mut Tail<N>, design: &Design| tail.end(design, end);
        match kind {
            Kind::Level => {
                if let Some(level) = self.level.carried_mut() {
                    level.cusum.end(plan, end);
                    level.since = 0;
                    level.charts.each(&LEVEL, plan, change);
                }
            }
            Kind::Jump => {
                if let Some(jump) = self.jump.carried_mut() {
                    jump.each(&JUMP, plan, change);
                }
            }
            Kind::Spread => {
                if let Some(spread) = self.spread.carried_mut() {
                    spread.up.each(&UP, plan, change);
                    spread.down.each(&DOWN, plan, change);
                    // A later change begins after this one.
                    spread.rising.reset();
                    spread.falling.reset();
                }
            }
            Kind::Range => self.range.end(end),
        }
    }

    /// Dismisses what differs. Returns whether the level that explains it counts as healthy from now
    /// on: nothing else is then learned from it.
    pub(in crate::monitor) fn dismiss(&mut self, plan: &Plan) -> bool {
        self.stillness.dismiss();
        self.gaps.dismiss();
        if !self.causes.iter().any(Cause::is_open) {
            return false;
        }
        let shift = self.shift_to_accept();
        if let Some((shift, lasts)) = shift {
            let rows = self.steady_level().map_or(0, |level| level.cusum.rows());
            // Means are of clipped values.
            let known = match (shift.abs() > 0.9 * CUT, lasts) {
                (false, _) => rows.min(MEANT),
                (true, lasts) => u32::from(lasts),
            };
            self.accepted.accept(shift, known, lasts);
            if lasts && shift.abs() > CUT {
                // It is not known well yet, and its first rows were taken for glitches.
                self.predictor.restart();
            } else if lasts {
                self.predictor.lower(shift, rows);
            }
        }
        if shift.is_none() && self.is_of(Kind::Spread) {
            // Noise that was dismissed goes out of range by itself.
            self.range.end(End::Dismissed { rows: 0 });
        }
        for kind in Kind::ALL {
            if let Some(end) = self.cause_mut(kind).dismiss() {
                self.end(kind, plan, if shift.is_some() { End::Accepted } else { end });
            }
        }
        self.settle();
        shift.is_some()
    }

    /// The shift of the level, in standardised units, and whether it still lasts; `None` if something
    /// other than the level differs.
    fn shift_to_accept(&self) -> Option<(f32, bool)> {
        let cause = self.cause(Kind::Level);
        let peak = if cause.is_open() { cause.size() } else { 0.0 };
        let (now, before) = self.steady_level()?.cusum.shifts(peak);
        if now.abs() < OVER * before.abs() {
            return Some((before, false));
        }
        let (level, spread) = self.evidence();
        // Single readings move a mean too, but the last one is back where it was.
        let single = self.is_of(Kind::Range) && self.residual.value().abs() < BACK;
        let is_level = level > larger(TELLING, spread) && !single;
        // Means are of clipped values: beyond the clip, the last value is the better estimate.
        let value = self.value.value();
        let far = value.abs() > CUT && value * now > 0.0;
        let shift = if far { value } else { now };
        (is_level || cause.is_open()).then_some((shift, true))
    }

    /// Restarts all windows, as if nothing had been off.
    fn settle(&mut self) {
        if let Some(level) = self.level.carried_mut() {
            level.cusum.begin();
            level.charts.settle();
            level.since = 0;
        }
        if let Some(jump) = self.jump.carried_mut() {
            jump.settle();
        }
        if let Some(spread) = self.spread.carried_mut() {
            spread.up.settle();
            spread.down.settle();
            spread.rising.reset();
            spread.falling.reset();
        }
        self.range.end(End::Accepted);
        self.square = self.usual_square;
        self.residual = N::ZERO;
    }
}
