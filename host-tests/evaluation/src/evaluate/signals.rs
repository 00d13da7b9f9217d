//! Healthy signals of one channel.

use std::f64::consts::TAU;

use fastmmd_reference::generate::Generator;
use fastmmd_reference::single;

/// Rows of a day of [`Kind::Day`].
const DAY: f64 = 1440.0;
/// Rows of a day of [`Kind::DayWeek`], a row every five minutes.
const SHORT_DAY: f64 = 288.0;

/// What a signal is like.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Kind {
    /// Independent N(0, 1).
    White,
    /// First-order autoregression with this coefficient and variance 1.
    Autoregressive(f64),
    /// A sine of amplitude 1 with this period in rows, and noise of this deviation.
    Sine(f64, f64),
    /// A day of 1440 rows: a bump whose noise grows with it.
    Day,
    /// A random walk.
    Walk,
    /// Student's t with 3 degrees of freedom.
    StudentT,
    /// GARCH(1, 1): volatility that comes and goes.
    Garch,
    /// Noise that is four times as large for 25 rows, once in 500.
    Bursts,
    /// An autoregression of .9 and deviation .7, rounded to whole numbers.
    Quantised,
    /// 0, but in one of 30 rows an exponential number.
    Sparse,
    /// A day of 288 rows, of which every sixth and seventh is quieter, and noise.
    DayWeek,
    /// Two levels, two deviations apart, switching every 400 rows on average.
    Telegraph,
}

/// An endless healthy signal.
#[derive(Debug, Clone)]
pub struct Signal {
    kind: Kind,
    numbers: Generator,
    /// Rows so far, from a random place in the cycle on.
    row: f64,
    /// What the last row left behind: the state of an autoregression, level or volatility.
    last: f64,
    /// Whether a burst or the other regime is on.
    on: bool,
    /// Factor on the noise.
    noise: f64,
}

impl Signal {
    /// The signal of a kind and a seed.
    #[must_use]
    pub fn new(kind: Kind, seed: u64) -> Self {
        let mut numbers = Generator::new(seed);
        let row = (10_080.0 * numbers.uniform()).floor();
        let last = match kind {
            Kind::Garch => 1.0,
            Kind::Walk => 0.0,
            _ => numbers.normal(),
        };
        let on = kind == Kind::Telegraph && numbers.uniform() < 0.5;
        Self { kind, numbers, row, last, on, noise: 1.0 }
    }

    /// Multiplies the noise from now on: of white noise, an autoregression and a sine.
    pub fn scale_noise(&mut self, factor: f64) {
        self.noise = factor;
    }

    /// The next value.
    pub fn draw(&mut self) -> f64 {
        let Self { kind, numbers, row, last, on, noise: factor } = self;
        *row += 1.0;
        match *kind {
            Kind::White => *factor * numbers.normal(),
            Kind::Autoregressive(coefficient) => {
                autoregression(last, coefficient, *factor, numbers)
            }
            Kind::Sine(period, noise) => {
                (TAU * *row / period).sin() + *factor * noise * numbers.normal()
            }
            Kind::Day => {
                let level = (TAU * *row / DAY).sin().max(0.0);
                4.0 * level + (0.3 + level) * numbers.normal()
            }
            Kind::Walk => {
                *last += numbers.normal();
                *last
            }
            Kind::StudentT => {
                let squares: f64 = (0..3).map(|_| numbers.normal().powi(2)).sum();
                numbers.normal() / (squares / 3.0).sqrt()
            }
            Kind::Garch => {
                let value = last.sqrt() * numbers.normal();
                *last = 0.05 + 0.1 * value * value + 0.85 * *last;
                value
            }
            Kind::Bursts => {
                let chance = if *on { 1.0 / 25.0 } else { 1.0 / 475.0 };
                *on ^= numbers.uniform() < chance;
                if *on { 4.0 * numbers.normal() } else { numbers.normal() }
            }
            Kind::Quantised => (0.7 * autoregression(last, 0.9, 1.0, numbers)).round(),
            Kind::Sparse if numbers.uniform() < 1.0 / 30.0 => exponential(numbers),
            Kind::Sparse => 0.0,
            Kind::DayWeek => {
                let days = *row / SHORT_DAY;
                let scale = if days % 7.0 < 5.0 { 1.0 } else { 0.4 };
                scale * (1.0 - (TAU * days).cos()) + 0.2 * numbers.normal()
            }
            Kind::Telegraph => {
                *on ^= numbers.uniform() < 1.0 / 400.0;
                2.0 * f64::from(u8::from(*on)) + numbers.normal()
            }
        }
    }

    /// The next value as a reading.
    pub fn reading(&mut self) -> f32 {
        single(self.draw())
    }
}

fn autoregression(last: &mut f64, a: f64, factor: f64, numbers: &mut Generator) -> f64 {
    *last = a * *last + factor * (1.0 - a * a).sqrt() * numbers.normal();
    *last
}

/// An exponential with mean 1.
pub fn exponential(numbers: &mut Generator) -> f64 {
    -(1.0 - numbers.uniform()).ln()
}

/// A signal of each of `channels`, all of one kind.
#[must_use]
pub fn signals(kind: Kind, channels: usize, seed: u64) -> Vec<Signal> {
    (0..channels).map(|channel| Signal::new(kind, self::seed(seed, channel, 0))).collect()
}

/// A row of them.
pub fn row(signals: &mut [Signal]) -> Vec<f32> {
    signals.iter_mut().map(Signal::reading).collect()
}

/// A separate seed for every section, cell and device.
#[must_use]
pub fn seed(section: u64, cell: usize, device: usize) -> u64 {
    let mut word = section << 48 ^ section >> 16;
    for part in [cell, device] {
        word = word.wrapping_add(u64::try_from(part).unwrap_or(0)).wrapping_add(1);
        // SplitMix64: neighbouring numbers give unrelated seeds.
        word = word.wrapping_add(0x9e37_79b9_7f4a_7c15);
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^= word >> 31;
    }
    word
}

#[cfg(test)]
mod tests {
    use super::*;
    use fastmmd_reference::{real, tolerance};

    fn moments(kind: Kind) -> (f64, f64) {
        let mut signal = Signal::new(kind, 1);
        let rows = 400_000;
        let (mut sum, mut squares) = (0.0, 0.0);
        for _ in 0..rows {
            let x = signal.draw();
            sum += x;
            squares += x * x;
        }
        let mean = sum / real(rows);
        (mean, (squares / real(rows) - mean * mean).sqrt())
    }

    #[test]
    fn levels_and_spreads_are_as_stated() {
        for (kind, mean, deviation) in [
            (Kind::White, 0.0, 1.0),
            (Kind::Autoregressive(0.9), 0.0, 1.0),
            (Kind::Sine(500.0, 0.3), 0.0, 0.59_f64.sqrt()),
            (Kind::Garch, 0.0, 1.0),
            // One row in twenty has sixteen times the variance.
            (Kind::Bursts, 0.0, 1.75_f64.sqrt()),
            (Kind::Quantised, 0.0, (0.49_f64 + 1.0 / 12.0).sqrt()),
            (Kind::Sparse, 1.0 / 30.0, (2.0_f64 / 30.0 - 1.0 / 900.0).sqrt()),
            (Kind::Telegraph, 1.0, 2.0_f64.sqrt()),
        ] {
            let (mean_found, deviation_found) = moments(kind);
            let case = format!("{kind:?}");
            tolerance::SIGNAL_LEVEL.hold(&case, mean_found, mean);
            tolerance::SIGNAL_SPREAD.hold(&case, deviation_found / deviation, 1.0);
        }
    }

    #[test]
    fn seeds_differ() {
        let mut seeds: Vec<u64> = (0..10)
            .flat_map(|cell| (0..100).flat_map(move |d| (1..4).map(move |s| seed(s, cell, d))))
            .collect();
        seeds.sort_unstable();
        seeds.dedup();
        assert_eq!(seeds.len(), 3000);
    }
}
