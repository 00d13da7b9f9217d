//! Baselines for the detector: CUSUM of values, of what an autoregression leaves, and of its
//! square, for each channel; and NEWMA.

use fastmmd::features::sincos::{Point, Polynomial, SinCos};
use fastmmd::{FeatureMap, Fourier};

use super::devices::granted;
use fastmmd_reference::{real, single};

/// A method that processes rows one by one and returns a statistic.
pub trait Method: Clone + Send + Sync {
    /// Takes all rows that are known to be healthy.
    fn learn(&mut self, rows: &[Vec<f32>]);

    /// Takes a row and returns the statistic: larger is more suspicious. Alarms are raised above a
    /// threshold that is the same for all devices.
    fn push(&mut self, row: &[f32]) -> f64;
}

/// Deviations taken off each step: best for shifts of half a deviation.
const ALLOWANCE: f64 = 0.25;
/// Order of the autoregression.
const ORDER: usize = 4;
/// Squared residuals are cut at so many times their mean.
const SQUARE_CUT: f64 = 9.0;

/// Mean and deviation of what was learned.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Scale {
    mean: f64,
    deviation: f64,
}

impl Scale {
    fn of(values: &[f64]) -> Self {
        let count = real(values.len().max(1));
        let mean = values.iter().sum::<f64>() / count;
        let squares = values.iter().map(|x| (x - mean).powi(2)).sum::<f64>();
        Self { mean, deviation: (squares / count).sqrt().max(1e-9) }
    }

    fn standardised(self, value: f64) -> f64 {
        (value - self.mean) / self.deviation
    }
}

/// An autoregression of order 4 by the Yule-Walker equations.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Predictor {
    coefficients: [f64; ORDER],
    last: [f64; ORDER],
}

impl Predictor {
    /// Fitted to standardised values.
    fn of(values: &[f64]) -> Self {
        let covariance = |lag: usize| {
            let pairs = values.iter().zip(values.iter().skip(lag));
            pairs.map(|(a, b)| a * b).sum::<f64>() / real(values.len().max(1))
        };
        let covariances: [f64; ORDER + 1] = std::array::from_fn(covariance);
        // Levinson's recursion.
        let mut coefficients = [0.0; ORDER];
        let mut error = covariances[0].max(1e-12);
        for order in 0..ORDER {
            let predicted: f64 = (0..order).map(|k| coefficients[k] * covariances[order - k]).sum();
            let reflection = (covariances[order + 1] - predicted) / error;
            let before = coefficients;
            for k in 0..order {
                coefficients[k] = before[k] - reflection * before[order - 1 - k];
            }
            coefficients[order] = reflection;
            error *= (1.0 - reflection * reflection).max(1e-9);
        }
        Self { coefficients, last: [0.0; ORDER] }
    }

    /// What the past does not predict.
    fn residual(&mut self, value: f64) -> f64 {
        let expected: f64 = self.coefficients.iter().zip(&self.last).map(|(a, x)| a * x).sum();
        self.last.rotate_right(1);
        self.last[0] = value;
        value - expected
    }
}

/// What a CUSUM adds up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Summed {
    /// Values.
    Values,
    /// Residuals of an autoregression.
    Residuals,
    /// Their squares.
    Squares,
}

/// Page's two-sided CUSUM of each channel.
#[derive(Debug, Clone, PartialEq)]
pub struct Cusum {
    summed: Summed,
    channels: Vec<Chart>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Chart {
    values: Scale,
    predictor: Predictor,
    residuals: Scale,
    score: Scale,
    up: f64,
    down: f64,
}

impl Cusum {
    /// A new CUSUM.
    #[must_use]
    pub fn new(summed: Summed) -> Self {
        Self { summed, channels: Vec::new() }
    }
}

impl Chart {
    fn score(&mut self, summed: Summed, reading: f32) -> f64 {
        let value = self.values.standardised(f64::from(reading));
        if summed == Summed::Values {
            return value;
        }
        let residual = self.residuals.standardised(self.predictor.residual(value));
        if summed == Summed::Residuals { residual } else { (residual * residual).min(SQUARE_CUT) }
    }
}

impl Method for Cusum {
    fn learn(&mut self, rows: &[Vec<f32>]) {
        let channels = rows.first().map_or(0, Vec::len);
        for channel in 0..channels {
            let readings: Vec<f32> = rows.iter().map(|row| row[channel]).collect();
            let values: Vec<f64> = readings.iter().copied().map(f64::from).collect();
            let mut chart = Chart { values: Scale::of(&values), ..Chart::default() };
            let values: Vec<f64> = values.iter().map(|x| chart.values.standardised(*x)).collect();
            chart.predictor = Predictor::of(&values);
            let mut predictor = chart.predictor;
            let residuals: Vec<f64> = values.iter().map(|x| predictor.residual(*x)).collect();
            chart.residuals = Scale::of(&residuals);
            let mut learned = chart;
            let scores: Vec<f64> =
                readings.iter().map(|x| learned.score(self.summed, *x)).collect();
            chart.predictor = learned.predictor;
            chart.score = Scale::of(&scores);
            self.channels.push(chart);
        }
    }

    fn push(&mut self, row: &[f32]) -> f64 {
        let mut largest: f64 = 0.0;
        for (chart, reading) in self.channels.iter_mut().zip(row) {
            let score = chart.score(self.summed, *reading);
            let step = chart.score_scale().standardised(score);
            chart.up = (chart.up + step - ALLOWANCE).max(0.0);
            chart.down = (chart.down - step - ALLOWANCE).max(0.0);
            largest = largest.max(chart.up.max(chart.down));
        }
        largest
    }
}

impl Chart {
    fn score_scale(&self) -> Scale {
        self.score
    }
}

/// NEWMA (Keriven, Garreau and Poli): the distance between two exponentially weighted means of
/// random features with different forgetting factors.
#[derive(Debug, Clone)]
pub struct Newma<'m, const C: usize, const L: usize> {
    map: &'m Fourier<C, L>,
    rates: (f32, f32),
    scales: [Scale; C],
    fast: [Point; L],
    slow: [Point; L],
}

impl<'m, const C: usize, const L: usize> Newma<'m, C, L> {
    /// NEWMA for changes within a window of this many rows.
    #[must_use]
    pub fn new(map: &'m Fourier<C, L>, window: f64) -> Self {
        let nothing = [Point { cos: 0.0, sin: 0.0 }; L];
        let (fast, slow) = newma_rates(window);
        let scales = [Scale::default(); C];
        Self { map, rates: (single(fast), single(slow)), scales, fast: nothing, slow: nothing }
    }
}

impl<const C: usize, const L: usize> Method for Newma<'_, C, L> {
    fn learn(&mut self, rows: &[Vec<f32>]) {
        for (channel, scale) in self.scales.iter_mut().enumerate() {
            let values: Vec<f64> = rows.iter().map(|row| f64::from(row[channel])).collect();
            *scale = Scale::of(&values);
        }
        for row in rows {
            self.push(row);
        }
    }

    fn push(&mut self, row: &[f32]) -> f64 {
        let dims = real(C);
        // The median of a chi-squared variable, after Wilson and Hilferty.
        let median = (2.0 * dims * (1.0 - 2.0 / (9.0 * dims)).powi(3)).sqrt();
        let mut vector = [0.0; C];
        for ((x, reading), scale) in vector.iter_mut().zip(row).zip(self.scales) {
            // Clamped: a row of a hundred deviations would be beyond the map's reach.
            *x = single((scale.standardised(f64::from(*reading)) / median).clamp(-30.0, 30.0));
        }
        let mut points = [Point { cos: 0.0, sin: 0.0 }; L];
        granted(self.map.project(&vector, &mut points, |point, turns| {
            *point = Polynomial::point(turns);
        }));
        let (fast, slow) = self.rates;
        let mut sum = 0.0;
        for ((point, a), b) in points.iter().zip(&mut self.fast).zip(&mut self.slow) {
            for (mean, rate) in [(&mut *a, fast), (&mut *b, slow)] {
                mean.cos += rate * (point.cos - mean.cos);
                mean.sin += rate * (point.sin - mean.sin);
            }
            sum += (a.cos - b.cos).powi(2) + (a.sin - b.sin).powi(2);
        }
        f64::from(sum)
    }
}

/// The rates Λ > λ that NEWMA's authors advise for changes within `window` rows: on the curve
/// Λ(1 − Λ)^w = λ(1 − λ)^w, halfway from where their error bound is least to 1/(w + 1).
#[must_use]
pub fn newma_rates(window: f64) -> (f64, f64) {
    let centre = 1.0 / (window + 1.0);
    let weight = |rate: f64| rate * (1.0 - rate).powf(window);
    // The other rate with the same weight, below the centre, by bisection.
    let partner = |fast: f64| {
        let (mut low, mut high) = (0.0, centre);
        for _ in 0..100 {
            let middle = f64::midpoint(low, high);
            if weight(middle) < weight(fast) { low = middle } else { high = middle }
        }
        f64::midpoint(low, high)
    };
    let bound = |fast: f64| {
        let slow = partner(fast);
        let (kept, lost) = ((1.0 - slow).powf(window), (1.0 - fast).powf(window));
        ((fast + slow).sqrt() + kept * kept - lost * lost) / (kept - lost)
    };
    let mut best = (f64::INFINITY, centre);
    for step in 0..1000 {
        let from = (1.001 * centre).ln();
        let fast = (from + (-0.01 - from) * real(step) / 999.0).exp();
        if bound(fast) < best.0 {
            best = (bound(fast), fast);
        }
    }
    let fast = f64::midpoint(best.1, centre);
    (fast, partner(fast))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluate::signals::{Kind, Signal};
    use fastmmd_reference::tolerance;

    #[test]
    fn rates_lie_on_both_sides_of_the_window() {
        for window in [20.0, 50.0, 250.0] {
            let (fast, slow) = newma_rates(window);
            let centre = 1.0 / (window + 1.0);
            assert!(slow < centre && centre < fast, "{window}: {fast} {slow}");
            tolerance::NEWMA_FAST.hold_below("fast", fast);
            let weight = |rate: f64| rate * (1.0 - rate).powf(window);
            tolerance::NEWMA_RATES.hold("weights", weight(fast) / weight(slow), 1.0);
        }
    }

    #[test]
    fn the_autoregression_is_found() {
        let mut signal = Signal::new(Kind::Autoregressive(0.9), 1);
        let values: Vec<f64> = (0..20_000).map(|_| signal.draw()).collect();
        let predictor = Predictor::of(&values);
        let [first, rest @ ..] = predictor.coefficients;
        tolerance::AUTOREGRESSION.hold("the first", first, 0.9);
        for other in rest {
            tolerance::AUTOREGRESSION.hold("another", other, 0.0);
        }
    }

    #[test]
    fn each_cusum_notices_what_it_is_for() {
        for (summed, change) in [
            (Summed::Values, [1.0_f32, 1.0]),
            (Summed::Residuals, [1.0, 1.0]),
            (Summed::Squares, [0.0, 2.0]),
        ] {
            let mut signal = Signal::new(Kind::White, 2);
            let mut method = Cusum::new(summed);
            let rows: Vec<Vec<f32>> = (0..2000).map(|_| vec![signal.reading()]).collect();
            method.learn(&rows);
            let mut most = |shift: f32, factor: f32| {
                let rows = (0..200).map(|_| method.push(&[shift + factor * signal.reading()]));
                rows.fold(0.0, f64::max)
            };
            let healthy = most(0.0, 1.0);
            let [shift, factor] = change;
            let moved = most(shift, factor);
            tolerance::CUSUM_NOTICES.hold_below(&format!("{summed:?}"), healthy / moved);
        }
    }
}
