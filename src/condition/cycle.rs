//! Level and spread of a channel by the phase of a cycle whose period is known.

use crate::numeric::{Number, larger, smaller, sqrt_f32, u32_of, within};
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
    /// Goes on by `rows` rows of a cycle of `period`.
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

/// One row of a cycle of `period` rows, in units of 2⁻⁶⁴ turns.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the cast saturates, and the step is positive"
)]
fn step_of(period: f32) -> u64 {
    (18_446_744_073_709_551_616.0 / f64::from(period)) as u64
}

/// A variance is of values of 10⁴ deviations at the most, and no deviation is less than the inverse of this.
const LARGEST_SPREAD: f32 = 1e9;
/// In deviations.
const LARGEST_LEVEL: f32 = 1e8;

state! {
    /// One of equal parts of a cycle.
    #[derive(Debug, Clone, Copy, PartialEq)]
    struct Bin<N: Number> {
        rows: u32,
        level: N,
        /// Variance about the level while learning, 1/deviation after.
        spread: NonNegative<N> => allowed |_, it: &NonNegative<N>| it.0.value() <= LARGEST_SPREAD,
    }
}

state! {
    /// Level and spread of a channel in each of N parts of its cycle: 12·N bytes.
    ///
    /// Learned by the mean and variance of the rows in each part, and then left alone. Between the
    /// middles of two parts the level is interpolated, unless the cycle has few rows.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub(crate) struct Profile<N: Number; const B> {
        bins: [Bin<N>; B],
    }
}

impl<N: Number, const B: usize> Profile<N, B> {
    /// The bin of a phase, and how far through it the phase is, in units of 2⁻³².
    #[expect(clippy::cast_possible_truncation, reason = "the lower half")]
    fn place(phase: u32) -> (usize, u32) {
        let place = u64::from(phase) * u64::from(u32_of(B));
        ((place >> 32) as usize, place as u32)
    }

    /// Takes a value of a healthy channel.
    pub(crate) fn learn(&mut self, phase: u32, value: N) {
        let (place, _) = Self::place(phase);
        if let Some(bin) = self.bins.get_mut(place) {
            bin.rows = bin.rows.saturating_add(1);
            let share = N::share_of(bin.rows);
            let step = value - bin.level;
            bin.level += step.share(share);
            let square = step.times(value - bin.level).or_more(N::ZERO);
            bin.spread.0 += (square - bin.spread.0).share(share);
        }
    }

    /// Ends learning.
    pub(crate) fn freeze(&mut self) {
        let visited = || self.bins.iter().filter(|bin| bin.rows > 0);
        let rows = visited().map(|_| 1.0_f32).sum::<f32>();
        let usual = visited().map(|bin| bin.spread.0.value()).sum::<f32>() / larger(rows, 1.0);
        let least = larger(LEAST_PART * LEAST_PART * usual, 1e-12);
        // A bin that no row fell into, in a cycle of few rows, is like the one before it.
        let mut before = visited().next_back().map_or(N::ZERO, |bin| bin.level);
        for bin in &mut self.bins {
            let variance = if bin.rows > 0 { bin.spread.0.value() } else { usual };
            if bin.rows == 0 {
                bin.level = before;
            }
            before = bin.level;
            let spread = if usual > 0.0 { 1.0 / sqrt_f32(larger(variance, least)) } else { 1.0 };
            bin.spread.0 = N::of(spread);
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
            // Only those of a forged state are beyond.
            let level = within(factor * (bin.level.value() - shift), LARGEST_LEVEL);
            bin.level = N::of(level);
            bin.spread.0 = N::of(smaller(bin.spread.0.value() * spread, LARGEST_SPREAD));
        }
    }

    /// A value less the level of its phase, in units of the spread there.
    #[inline]
    pub(crate) fn residual(&self, phase: u32, period: f32, value: N) -> N {
        let (place, through) = Self::place(phase);
        let Some(bin) = self.bins.get(place) else { return value };
        let mut level = bin.level;
        // As bits, positive numbers have the same order.
        if period.to_bits() >= const { SMOOTH * crate::numeric::f32_of(B) }.to_bits() {
            let last = B.wrapping_sub(1);
            // How far from the middle of the bin, in units of 2⁻³² bins; and the bin on that side.
            let (away, next) = if through < 1 << 31 {
                ((1 << 31) - through, if place == 0 { last } else { place - 1 })
            } else {
                (through - (1 << 31), if place == last { 0 } else { place + 1 })
            };
            if let Some(next) = self.bins.get(next) {
                level += N::fraction(away).times(next.level - level);
            }
        }
        (value - level).times(bin.spread.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::Initial;

    /// The largest residual of a noiseless signal by its profile, in units of its amplitude.
    fn left(period: f32, signal: impl Fn(f32) -> f32) -> f32 {
        let (mut phase, mut profile) = (Phase::INITIAL, Profile::<f32, 32>::INITIAL);
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
        let (mut early, mut late) = (Profile::<f32, 8>::INITIAL, Profile::<f32, 8>::INITIAL);
        let mut straight = Profile::<f32, 8>::INITIAL;
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
        let mut profile = Profile::<f32, 8>::INITIAL;
        for row in 0..100_u32 {
            profile.learn(row << 26, 0.0);
        }
        profile.freeze();
        assert_eq!(profile.residual(1 << 30, 100.0, 3.0), 3.0);
        profile.correct(Correction { shift: 0.0, factor: 0.0 }, true);
        assert_eq!(profile.residual(1 << 30, 100.0, 3.0), 3.0);
    }
}
