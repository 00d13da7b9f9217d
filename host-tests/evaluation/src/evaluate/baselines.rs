//! Baselines for the detector: NEWMA, a CUSUM and a limit check for each channel, and a window test
//! that assumes independent rows.

use std::array;

use fastmmd::condition::ViewKind;
use fastmmd::dynamic::{self, Config, Detector, Map};
use fastmmd::features::sincos::{Point, Polynomial, SinCos};
use fastmmd::{FeatureMap, Fourier};

use super::devices::{FREQUENCIES, granted};
use fastmmd_reference::{real, single};

/// A method that processes rows one by one and returns a statistic.
pub trait Method<const C: usize>: Clone + Send + Sync {
    /// Takes a row that is known to be healthy.
    fn learn(&mut self, row: &[f32; C]);

    /// Takes a row and returns the statistic: larger is more suspicious. Alarms are raised above a
    /// threshold that is the same for all devices.
    fn push(&mut self, row: &[f32; C]) -> f32;
}

/// The detector under test: the largest statistic over its own threshold.
impl<const C: usize> Method<C> for Detector<'_> {
    fn learn(&mut self, row: &[f32; C]) {
        granted(Detector::push(self, row));
    }

    fn push(&mut self, row: &[f32; C]) -> f32 {
        granted(Detector::push(self, row));
        self.statistic() / self.threshold()
    }
}

/// A detector at default settings as a method.
#[must_use]
pub fn detector<'m>(map: &'m Map, channels: usize, config: &Config) -> Detector<'m> {
    granted(dynamic::detector(map, channels, ViewKind::Raw, config.clone()))
}

/// Number of rows from which baselines that compare whole rows learn level and spread.
const SCALING_ROWS: f32 = 256.0;

/// Level and spread of each channel.
#[derive(Debug, Clone)]
struct Spread<const C: usize> {
    rows: f32,
    means: [f32; C],
    squares: [f32; C],
}

impl<const C: usize> Spread<C> {
    fn new() -> Self {
        Self { rows: 0.0, means: [0.0; C], squares: [0.0; C] }
    }

    fn learn(&mut self, row: &[f32; C]) {
        self.rows += 1.0;
        for ((x, mean), square) in row.iter().zip(&mut self.means).zip(&mut self.squares) {
            let before = x - *mean;
            *mean += before / self.rows;
            *square += before * (x - *mean);
        }
    }

    fn standardised(&self, row: &[f32; C]) -> [f32; C] {
        array::from_fn(|j| {
            let variance = self.squares[j] / (self.rows - 1.0).max(1.0);
            (row[j] - self.means[j]) / variance.sqrt().max(1e-6)
        })
    }
}

/// NEWMA (Keriven, Garreau and Poli): the distance between two exponentially weighted means of
/// random features with different forgetting factors. D = kC compares vectors of the last k rows.
#[derive(Debug, Clone)]
pub struct Newma<'m, const C: usize, const D: usize, const L: usize> {
    map: &'m Fourier<D, L>,
    rates: (f32, f32),
    spread: Spread<C>,
    vector: [f32; D],
    fast: [Point; L],
    slow: [Point; L],
}

impl<'m, const C: usize, const D: usize, const L: usize> Newma<'m, C, D, L> {
    /// NEWMA for changes within a window of this many rows.
    #[must_use]
    pub fn new(map: &'m Fourier<D, L>, window: f64) -> Self {
        let nothing = [Point { cos: 0.0, sin: 0.0 }; L];
        let (fast, slow) = newma_rates(window);
        Self {
            map,
            rates: (single(fast), single(slow)),
            spread: Spread::new(),
            vector: [0.0; D],
            fast: nothing,
            slow: nothing,
        }
    }

    fn compare(&mut self, row: &[f32; C]) -> f32 {
        let values = self.spread.standardised(row);
        self.vector.rotate_right(C.min(D));
        for (slot, value) in self.vector.iter_mut().zip(values) {
            *slot = value;
        }
        let points = features(self.map, &self.vector);
        let (fast, slow) = self.rates;
        let mut sum = 0.0;
        for ((point, a), b) in points.iter().zip(&mut self.fast).zip(&mut self.slow) {
            for (mean, rate) in [(&mut *a, fast), (&mut *b, slow)] {
                mean.cos += rate * (point.cos - mean.cos);
                mean.sin += rate * (point.sin - mean.sin);
            }
            sum += (a.cos - b.cos).powi(2) + (a.sin - b.sin).powi(2);
        }
        sum
    }
}

impl<const C: usize, const D: usize, const L: usize> Method<C> for Newma<'_, C, D, L> {
    fn learn(&mut self, row: &[f32; C]) {
        if self.spread.rows < SCALING_ROWS {
            self.spread.learn(row);
        } else {
            self.compare(row);
        }
    }

    fn push(&mut self, row: &[f32; C]) -> f32 {
        self.compare(row)
    }
}

/// The points of a vector of standardised values, with the median distance as bandwidth.
fn features<const D: usize, const L: usize>(map: &Fourier<D, L>, vector: &[f32; D]) -> [Point; L] {
    let dims = real(D);
    // The median of a chi-squared variable, after Wilson and Hilferty.
    let median = (2.0 * dims * (1.0 - 2.0 / (9.0 * dims)).powi(3)).sqrt();
    // Clamped: a row of a hundred deviations would be beyond the map's reach.
    let scaled = vector.map(|x| (x / single(median)).clamp(-30.0, 30.0));
    let mut points = [Point { cos: 0.0, sin: 0.0 }; L];
    granted(map.project(&scaled, &mut points, |point, turns| *point = Polynomial::point(turns)));
    points
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

/// Page's two-sided CUSUM of each channel with an allowance of ½: tuned for shifts by one standard
/// deviation.
#[derive(Debug, Clone)]
pub struct Cusum<const C: usize> {
    spread: Spread<C>,
    up: [f32; C],
    down: [f32; C],
}

impl<const C: usize> Cusum<C> {
    /// A new CUSUM.
    #[must_use]
    pub fn new() -> Self {
        Self { spread: Spread::new(), up: [0.0; C], down: [0.0; C] }
    }
}

impl<const C: usize> Default for Cusum<C> {
    fn default() -> Self {
        Self::new()
    }
}

impl<const C: usize> Method<C> for Cusum<C> {
    fn learn(&mut self, row: &[f32; C]) {
        self.spread.learn(row);
    }

    fn push(&mut self, row: &[f32; C]) -> f32 {
        let values = self.spread.standardised(row);
        let mut largest: f32 = 0.0;
        for ((x, up), down) in values.iter().zip(&mut self.up).zip(&mut self.down) {
            *up = (*up + x - 0.5).max(0.0);
            *down = (*down - x - 0.5).max(0.0);
            largest = largest.max(up.max(*down));
        }
        largest
    }
}

/// A limit on each channel's distance from its mean, exceeded three times in a row.
#[derive(Debug, Clone)]
pub struct Limits<const C: usize> {
    spread: Spread<C>,
    last: [[f32; C]; 2],
}

impl<const C: usize> Limits<C> {
    /// A new limit check.
    #[must_use]
    pub fn new() -> Self {
        Self { spread: Spread::new(), last: [[0.0; C]; 2] }
    }
}

impl<const C: usize> Default for Limits<C> {
    fn default() -> Self {
        Self::new()
    }
}

impl<const C: usize> Method<C> for Limits<C> {
    fn learn(&mut self, row: &[f32; C]) {
        self.spread.learn(row);
    }

    fn push(&mut self, row: &[f32; C]) -> f32 {
        let now = self.spread.standardised(row).map(f32::abs);
        let [first, second] = self.last;
        self.last = [second, now];
        let least = (0..C).map(|j| now[j].min(first[j]).min(second[j]));
        least.fold(0.0, f32::max)
    }
}

/// The textbook window test, which assumes independent rows: the same exponentially weighted window
/// of 64 rows, with the variance by the formula.
#[derive(Debug, Clone)]
pub struct IndependentTest<'m, const C: usize> {
    map: &'m Fourier<C, FREQUENCIES>,
    learned: Vec<[Point; FREQUENCIES]>,
    mean: [Point; FREQUENCIES],
    window: [Point; FREQUENCIES],
}

/// Length of its window.
const WINDOW: f64 = 64.0;
/// Distance in rows at which rows count as independent, for the pairs of the formula.
const APART: usize = 512;

impl<'m, const C: usize> IndependentTest<'m, C> {
    /// A new test.
    #[must_use]
    pub fn new(map: &'m Fourier<C, FREQUENCIES>) -> Self {
        let nothing = [Point { cos: 0.0, sin: 0.0 }; FREQUENCIES];
        Self { map, learned: Vec::new(), mean: nothing, window: nothing }
    }

    /// Takes a row of the reference, with unit spread.
    pub fn learn(&mut self, row: &[f32; C]) {
        let points = features(self.map, row);
        self.learned.push(points);
        blend(&mut self.mean, &points, 1.0 / single(real(self.learned.len())));
    }

    /// Takes a row of the window.
    pub fn push(&mut self, row: &[f32; C]) {
        let points = features(self.map, row);
        blend(&mut self.window, &points, single(2.0 / (WINDOW + 1.0)));
    }

    /// The variance of a row, and the mean square of the inner product of two: t1 and t2.
    #[must_use]
    pub fn moments(&self) -> (f64, f64) {
        let rows = real(self.learned.len());
        let one = inner(&self.mean, &self.mean, None);
        let pairs = self.learned.iter().zip(self.learned.iter().skip(APART));
        let squares: f64 = pairs.clone().map(|(a, b)| inner(a, b, Some(&self.mean)).powi(2)).sum();
        (rows / (rows - 1.0) * (1.0 - one), squares / real(pairs.count()))
    }

    /// The normal score of the window's distance: beyond 1.645 in one of twenty healthy windows,
    /// if rows were independent.
    #[must_use]
    pub fn score(&self, (t1, t2): (f64, f64)) -> f64 {
        let mut difference = self.window;
        blend(&mut difference, &self.mean, 2.0);
        // window + 2(mean − window) = 2·mean − window; its distance from the mean is the same.
        let distance = inner(&difference, &difference, Some(&self.mean));
        let expected = t1 * (1.0 / WINDOW + 1.0 / real(self.learned.len()));
        let a = 2.0 / (9.0 * (t1 * t1 / t2));
        ((distance / expected).cbrt() - (1.0 - a)) / a.sqrt()
    }
}

fn blend<const L: usize>(mean: &mut [Point; L], points: &[Point; L], rate: f32) {
    for (mean, point) in mean.iter_mut().zip(points) {
        mean.cos += rate * (point.cos - mean.cos);
        mean.sin += rate * (point.sin - mean.sin);
    }
}

/// The inner product of two embeddings, after a third is subtracted from both.
fn inner<const L: usize>(a: &[Point; L], b: &[Point; L], centre: Option<&[Point; L]>) -> f64 {
    let mut sum = 0.0;
    for (k, (a, b)) in a.iter().zip(b).enumerate() {
        let (cos, sin) = centre.map_or((0.0, 0.0), |points| (points[k].cos, points[k].sin));
        sum += f64::from((a.cos - cos) * (b.cos - cos) + (a.sin - sin) * (b.sin - sin));
    }
    sum / real(L)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_lie_on_both_sides_of_the_window() {
        for window in [20.0, 50.0, 250.0] {
            let (fast, slow) = newma_rates(window);
            let centre = 1.0 / (window + 1.0);
            assert!(slow < centre && centre < fast && fast < 0.3, "{window}: {fast} {slow}");
            let weight = |rate: f64| rate * (1.0 - rate).powf(window);
            assert!((weight(fast) / weight(slow) - 1.0).abs() < 1e-6);
        }
    }

    #[test]
    fn cusum_and_limits_notice_a_large_shift() {
        let (mut cusum, mut limits) = (Cusum::<1>::new(), Limits::<1>::new());
        for row in 0..1000 {
            let x = [if row % 2 == 0 { 1.0 } else { -1.0 }];
            cusum.learn(&x);
            limits.learn(&x);
        }
        let healthy = (cusum.push(&[1.0]), limits.push(&[1.0]));
        let shifted = (0..4).map(|_| (cusum.push(&[5.0]), limits.push(&[5.0]))).last();
        let shifted = shifted.expect("four rows");
        assert!(shifted.0 > 10.0 * healthy.0 && shifted.1 > 3.0 * healthy.1);
    }
}
