//! How much rows depend on earlier ones.

use fastmmd_reference::real;

/// Longest lag, as a part of the rows.
const LONGEST: usize = 4;
/// The sum over lags ends where the autocorrelation of two neighbours is below this, and below what
/// independent rows show by chance: so many of its deviations.
const NOTHING: f64 = 0.02;
const CHANCE: f64 = 2.0;

/// How the readings of a channel depend on earlier ones.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Dependence {
    /// The autocorrelation from row to row.
    pub next: f64,
    /// The integrated autocorrelation time τ = 1 + 2·Σρ(k), in rows: n rows are worth n/τ
    /// independent ones for a mean. At least 1.
    pub rows: f64,
}

impl Dependence {
    /// Of rows that do not depend on each other.
    pub const NONE: Self = Self { next: 0.0, rows: 1.0 };

    /// Of some readings; those missing are as the mean. The sum of ρ ends with the first pair of
    /// lags whose sum is about 0 (Geyer's initial positive sequence).
    #[must_use]
    pub fn of(values: &[f64]) -> Self {
        let present = || values.iter().filter(|value| value.is_finite());
        let mean = present().sum::<f64>() / real(present().count().max(1));
        let series: Vec<f64> =
            values.iter().map(|x| if x.is_finite() { x - mean } else { 0.0 }).collect();
        let power: f64 = series.iter().map(|x| x * x).sum();
        if power <= 0.0 {
            return Self::NONE;
        }
        let at = |lag: usize| {
            let pairs = series.iter().zip(series.iter().skip(lag));
            pairs.map(|(a, b)| a * b).sum::<f64>() / power
        };
        let nothing = NOTHING.max(CHANCE * (2.0 / real(series.len())).sqrt());
        let (mut sum, mut lag) = (1.0, 1);
        while lag + 1 < series.len() / LONGEST {
            let pair = at(lag) + at(lag + 1);
            if pair < nothing {
                break;
            }
            sum += 2.0 * pair;
            lag += 2;
        }
        Self { next: at(1), rows: f64::max(sum, 1.0) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fastmmd_reference::generate::Generator;

    #[test]
    fn the_time_of_a_process_is_that_of_the_theory() {
        for memory in [0.0, 0.5, 0.9] {
            let (mut random, mut last) = (Generator::new(3), 0.0);
            let values: Vec<f64> = (0..40_000)
                .map(|_| {
                    last = memory * last + random.normal();
                    last
                })
                .collect();
            let found = Dependence::of(&values);
            // Of an autoregressive process of first order: (1 + φ)/(1 − φ).
            let theory = (1.0 + memory) / (1.0 - memory);
            assert!((found.rows / theory - 1.0).abs() < 0.15, "{memory} {found:?}");
            assert!((found.next - memory).abs() < 0.02, "{memory} {found:?}");
        }
        // Few independent rows are not said to depend.
        let mut random = Generator::new(9);
        let times = (0..200).map(|_| {
            let values: Vec<f64> = (0..300).map(|_| random.normal()).collect();
            Dependence::of(&values).rows
        });
        assert!(times.filter(|rows| *rows >= 1.5).count() <= 4);
        assert_eq!(Dependence::of(&[7.0; 50]), Dependence::NONE);
    }
}
