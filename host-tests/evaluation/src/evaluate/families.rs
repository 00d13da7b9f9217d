//! Simulated data of sensors, healthy and changed.

use fastmmd_reference::generate::Generator;
use fastmmd_reference::single;

/// A distribution of rows of any number of channels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Family {
    /// Independent N(0, 1).
    Gaussian,
    /// Independent exponentials with mean 1: skewed.
    Exponential,
    /// Independent, uniform from 0 to 1.
    Uniform,
    /// Independent, two modes at ±2 with deviation 0.6.
    Bimodal,
    /// N(0, 1) with correlation 0.7 between any two channels.
    Correlated,
    /// Independent first-order autoregressions with this coefficient and variance 1.
    Autoregressive(f64),
    /// p·N(0, I) + (1 − p)·N(0, 4I), for the row as a whole.
    Mixture(f64),
    /// Independent Laplace of density exp(−|x|/b)/2b, with this b: variance 2b².
    Laplace(f64),
    /// Independent, uniform from −4 to 4.
    Wide,
}

/// The families on which false alarms are measured: name and family.
pub const HEALTHY: [(&str, Family); 8] = [
    ("Gaussian", Family::Gaussian),
    ("exponential", Family::Exponential),
    ("uniform", Family::Uniform),
    ("bimodal", Family::Bimodal),
    ("correlated", Family::Correlated),
    ("AR(1) 0.5", Family::Autoregressive(0.5)),
    ("AR(1) 0.9", Family::Autoregressive(0.9)),
    ("AR(1) 0.95", Family::Autoregressive(0.95)),
];

/// Numbers of channels for which false alarms are measured.
pub const CHANNELS: [usize; 3] = [1, 3, 8];

impl Family {
    /// Mean of a channel.
    #[must_use]
    pub fn mean(self) -> f64 {
        match self {
            Self::Exponential => 1.0,
            Self::Uniform => 0.5,
            _ => 0.0,
        }
    }

    /// Standard deviation of a channel.
    #[must_use]
    pub fn deviation(self) -> f64 {
        match self {
            Self::Uniform => (1.0_f64 / 12.0).sqrt(),
            Self::Bimodal => (4.0_f64 + 0.36).sqrt(),
            Self::Mixture(p) => (p + 4.0 * (1.0 - p)).sqrt(),
            Self::Laplace(scale) => scale * std::f64::consts::SQRT_2,
            Self::Wide => 8.0 * (1.0_f64 / 12.0).sqrt(),
            _ => 1.0,
        }
    }
}

/// An endless stream of rows of one family.
#[derive(Debug, Clone)]
pub struct Source<const C: usize> {
    family: Family,
    numbers: Generator,
    last: Option<[f64; C]>,
}

impl<const C: usize> Source<C> {
    /// The stream of a family and a seed.
    #[must_use]
    pub fn new(family: Family, seed: u64) -> Self {
        Self { family, numbers: Generator::new(seed), last: None }
    }

    /// The next row, in `f64`.
    pub fn draw(&mut self) -> [f64; C] {
        let numbers = &mut self.numbers;
        let mut row = [0.0; C];
        match self.family {
            Family::Gaussian => row = row.map(|_| numbers.normal()),
            Family::Exponential => row = row.map(|_| exponential(numbers)),
            Family::Uniform => row = row.map(|_| numbers.uniform()),
            Family::Wide => row = row.map(|_| 8.0 * numbers.uniform() - 4.0),
            Family::Bimodal => {
                row = row.map(|_| {
                    let mode = if numbers.uniform() < 0.5 { -2.0 } else { 2.0 };
                    mode + 0.6 * numbers.normal()
                });
            }
            Family::Correlated => {
                let common = 0.7_f64.sqrt() * numbers.normal();
                row = row.map(|_| common + 0.3_f64.sqrt() * numbers.normal());
            }
            Family::Autoregressive(coefficient) => {
                row = match self.last {
                    None => row.map(|_| numbers.normal()),
                    Some(last) => {
                        let noise = (1.0 - coefficient * coefficient).sqrt();
                        last.map(|x| coefficient * x + noise * numbers.normal())
                    }
                };
            }
            Family::Mixture(p) => {
                let deviation = if numbers.uniform() < p { 1.0 } else { 2.0 };
                row = row.map(|_| deviation * numbers.normal());
            }
            Family::Laplace(scale) => {
                row = row.map(|_| {
                    let size = scale * exponential(numbers);
                    if numbers.uniform() < 0.5 { -size } else { size }
                });
            }
        }
        self.last = Some(row);
        row
    }

    /// The next row, in `f32`.
    pub fn row(&mut self) -> [f32; C] {
        self.draw().map(single)
    }
}

/// An exponential with mean 1.
pub fn exponential(numbers: &mut Generator) -> f64 {
    -(1.0 - numbers.uniform()).ln()
}

/// A separate seed for every section, cell and device.
#[must_use]
pub fn seed(section: u64, cell: usize, device: usize) -> u64 {
    let mut word = section << 48;
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
    use fastmmd_reference::real;

    #[test]
    fn means_and_deviations_are_as_stated() {
        let all = HEALTHY.iter().map(|(_, family)| *family);
        let changed = [Family::Mixture(0.3), Family::Laplace(2.0), Family::Wide];
        for family in all.chain(changed) {
            let mut source = Source::<2>::new(family, 1);
            let rows = 200_000;
            let (mut sum, mut squares) = (0.0, 0.0);
            for _ in 0..rows {
                let [_, x] = source.draw();
                sum += x - family.mean();
                squares += (x - family.mean()).powi(2);
            }
            let deviation = (squares / real(rows)).sqrt() / family.deviation();
            let mean = sum / real(rows) / family.deviation();
            assert!(mean.abs() < 0.06 && (deviation - 1.0).abs() < 0.03, "{family:?}");
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
