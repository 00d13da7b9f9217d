//! Level and spread of a channel by the phase of a cycle whose period is known.

use crate::numeric::{larger, sqrt_f32, u32_of};
use crate::state::{NonNegative, State, state};

use super::Correction;

/// A spread is not taken to be smaller than this part of the mean one: a bin that happened to be
/// quiet would make noise look large.
const LEAST_PART: f32 = 0.25;
/// Rows of a cycle for each bin from which levels are interpolated between bins. With fewer, the
/// phases in a bin are few and not spread over it.
const SMOOTH: f32 = 4.0;

state! {
    /// Where in its cycle a signal is, in units of 2⁻⁶⁴ turns, which wrap as angles do: 16 bytes.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub(crate) struct Phase {
        now: u64,
        step: u64,
    }
}

impl Phase {
    /// Goes on by so many rows of a cycle of `period`.
    #[inline]
    pub(crate) fn advance(&mut self, rows: u32, period: f32) {
        if self.step == 0 {
            self.step = step_of(period);
        }
        self.now = self.now.wrapping_add(self.step.wrapping_mul(u64::from(rows)));
    }

    /// The phase in units of 2⁻³² turns.
    #[inline]
    pub(crate) fn turns(&self) -> u32 {
        (self.now >> 32) as u32
    }
}

/// A row of a cycle of so many, in units of 2⁻⁶⁴ turns.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the cast saturates, and the step is positive"
)]
fn step_of(period: f32) -> u64 {
    (18_446_744_073_709_551_616.0 / f64::from(period)) as u64
}

state! {
    /// One of equal parts of a cycle.
    #[derive(Debug, Clone, Copy, PartialEq)]
    struct Bin {
        rows: u32,
        level: f32,
        /// Variance about the level while learning, 1/deviation after.
        spread: NonNegative,
    }
}

state! {
    /// Level and spread of a channel in each of N parts of its cycle: 12·N bytes.
    ///
    /// Learned by the mean and variance of the rows in each part, and then left alone. Between the
    /// middles of two parts the level is interpolated, unless the cycle has few rows.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub(crate) struct Profile<; const N> {
        bins: [Bin; N],
    }
}

impl<const N: usize> Profile<N> {
    /// The bin of a phase, and how far through it the phase is, from 0 to 1.
    fn place(phase: u32) -> (usize, f32) {
        let place = u64::from(phase) * u64::from(u32_of(N));
        #[expect(clippy::cast_precision_loss, reason = "a part of a bin need not be exact")]
        let through = (place & u64::from(u32::MAX)) as f32 / 4_294_967_296.0;
        ((place >> 32) as usize, through)
    }

    /// Takes a value of a healthy channel.
    pub(crate) fn learn(&mut self, phase: u32, value: f32) {
        let (place, _) = Self::place(phase);
        if let Some(bin) = self.bins.get_mut(place) {
            bin.rows = bin.rows.saturating_add(1);
            let rate = 1.0 / crate::numeric::row_count(bin.rows);
            let step = value - bin.level;
            bin.level += rate * step;
            bin.spread.0 += rate * (larger(step * (value - bin.level), 0.0) - bin.spread.0);
        }
    }

    /// Ends learning.
    pub(crate) fn freeze(&mut self) {
        let visited = || self.bins.iter().filter(|bin| bin.rows > 0);
        let rows = visited().map(|_| 1.0_f32).sum::<f32>();
        let usual = visited().map(|bin| bin.spread.0).sum::<f32>() / larger(rows, 1.0);
        let least = larger(LEAST_PART * LEAST_PART * usual, 1e-12);
        // A bin that no row fell into, in a cycle of few rows, is like the one before it.
        let mut before = visited().next_back().map_or(0.0, |bin| bin.level);
        for bin in &mut self.bins {
            let variance = if bin.rows > 0 { bin.spread.0 } else { usual };
            if bin.rows == 0 {
                bin.level = before;
            }
            before = bin.level;
            bin.spread.0 = if usual > 0.0 { 1.0 / sqrt_f32(larger(variance, least)) } else { 1.0 };
        }
    }

    /// Goes on as if all values had been measured as they will be; while it learns, or after.
    pub(crate) fn correct(&mut self, Correction { shift, factor }: Correction, frozen: bool) {
        if factor <= 0.0 {
            // Nothing was known before.
            self.reset();
            if frozen {
                self.freeze();
            }
            return;
        }
        let spread = if frozen { 1.0 / factor } else { factor * factor };
        for bin in &mut self.bins {
            bin.level = factor * (bin.level - shift);
            bin.spread.0 *= spread;
        }
    }

    /// A value less the level of its phase, in units of the spread there.
    #[inline]
    pub(crate) fn residual(&self, phase: u32, period: f32, value: f32) -> f32 {
        let (place, through) = Self::place(phase);
        let Some(bin) = self.bins.get(place) else { return value };
        let mut level = bin.level;
        if period >= SMOOTH * crate::numeric::f32_of(N) {
            let (last, away) = (N.wrapping_sub(1), through - 0.5);
            let next = if away < 0.0 {
                if place == 0 { last } else { place - 1 }
            } else if place == last {
                0
            } else {
                place + 1
            };
            if let Some(next) = self.bins.get(next) {
                level += away.abs() * (next.level - level);
            }
        }
        (value - level) * bin.spread.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::Initial;

    /// The largest residual of a noiseless signal by its profile, in units of its amplitude.
    fn left(period: f32, signal: impl Fn(f32) -> f32) -> f32 {
        let (mut phase, mut profile) = (Phase::INITIAL, Profile::<32>::INITIAL);
        let mut row = 0;
        let mut next = |phase: &mut Phase| {
            phase.advance(1, period);
            row += 1;
            signal((f64::from(row) / f64::from(period)).fract() as f32)
        };
        for _ in 0..20_000 {
            let value = next(&mut phase);
            profile.learn(phase.turns(), value);
        }
        profile.freeze();
        let spread = 1.0 / profile.bins[0].spread.0;
        let residual = |_| {
            let value = next(&mut phase);
            (profile.residual(phase.turns(), period, value) * spread).abs()
        };
        // The spread of one bin stands for all: only its order of magnitude matters here.
        (0..5000).map(residual).fold(0.0, f32::max)
    }

    #[test]
    #[cfg_attr(miri, ignore = "too slow when interpreted")]
    fn what_a_cycle_does_is_expected_of_it() {
        let sine = |turns: f32| (turns * core::f32::consts::TAU).sin();
        for period in [4.0, 24.0, 100.5, 500.0, 1885.0, 9000.25] {
            let left = left(period, sine);
            assert!(left < 0.12, "{period}: {left}");
        }
    }

    #[test]
    fn measured_anew_it_is_as_if_measured_so_from_the_start() {
        let correction = Correction { shift: 2.0, factor: 0.5 };
        let (mut early, mut late) = (Profile::<8>::INITIAL, Profile::<8>::INITIAL);
        let mut straight = Profile::<8>::INITIAL;
        for row in 0..800_u32 {
            let (phase, value) = (row.wrapping_mul(0x0123_4567), ((row * 7919) % 97) as f32);
            early.learn(phase, value);
            late.learn(phase, value);
            straight.learn(phase, correction.factor * (value - correction.shift));
        }
        early.correct(correction, false);
        early.freeze();
        late.freeze();
        late.correct(correction, true);
        straight.freeze();
        for other in [early, late] {
            for (a, b) in other.bins.iter().zip(&straight.bins) {
                assert!((a.level - b.level).abs() < 1e-3);
                assert!((a.spread.0 / b.spread.0 - 1.0).abs() < 1e-3);
            }
        }
    }

    #[test]
    fn a_channel_that_did_not_move_stays_as_it_is() {
        let mut profile = Profile::<8>::INITIAL;
        for row in 0..100_u32 {
            profile.learn(row << 26, 0.0);
        }
        profile.freeze();
        assert_eq!(profile.residual(1 << 30, 100.0, 3.0), 3.0);
        profile.correct(Correction { shift: 0.0, factor: 0.0 }, true);
        assert_eq!(profile.residual(1 << 30, 100.0, 3.0), 3.0);
    }
}
