//! A Hilbert space embedding, figures 1 to 3: the witness function, the distribution of MMD², and the
//! witness of dependence.

use std::f64::consts::{FRAC_1_SQRT_2, SQRT_2, TAU};

use nalgebra::{DMatrix, DVector};

use super::{Effort, Failed, Figure, Tick, deviation, mean};
use crate::evaluate::devices::fleet;
use crate::plot::{Axis, Series};
use fastmmd_reference::cliques::DependenceWitness;
use fastmmd_reference::generate::Generator;
use fastmmd_reference::hsic::{ExactPairs, Pairs};
use fastmmd_reference::kernel::gaussian;
use fastmmd_reference::null::{self, Estimate, Gram, Pool};
use fastmmd_reference::{Refused, real, tolerance};

pub(super) const WITNESS_STEPS: u32 = 1;
pub(super) const NULL_STEPS: u32 = 2;
pub(super) const DEPENDENCE_STEPS: u32 = 1;

/// A number of the Laplace distribution with this deviation, by the inverse of its distribution.
pub(super) fn laplace(generator: &mut Generator, deviation: f64) -> f64 {
    let u = generator.uniform() - 0.5;
    -deviation * FRAC_1_SQRT_2 * u.signum() * (1.0 - 2.0 * u.abs()).ln()
}

fn normal_density(x: f64, deviation: f64) -> f64 {
    (-0.5 * (x / deviation).powi(2)).exp() / (deviation * TAU.sqrt())
}

fn laplace_density(x: f64) -> f64 {
    (-SQRT_2 * x.abs()).exp() * FRAC_1_SQRT_2
}

/// f(x) = ⟨μ_P − μ_Q, φ(x)⟩ by samples.
fn witness_at(x: f64, p: &[f64], q: &[f64], bandwidth: f64) -> f64 {
    let kernel = gaussian(bandwidth);
    let at = |set: &[f64]| set.iter().map(|y| kernel(&[x], &[*y])).sum::<f64>() / real(set.len());
    at(p) - at(q)
}

/// The same for the distributions themselves: by integrating densities in steps of 1/200.
fn witness_of_densities(x: f64, bandwidth: f64) -> f64 {
    let kernel = gaussian(bandwidth);
    let steps = (-2000..=2000).map(|step| f64::from(step) / 200.0);
    steps
        .map(|y| {
            let difference = normal_density(y, 1.0) - laplace_density(y);
            kernel(&[x], &[y]) * difference / 200.0
        })
        .sum()
}

pub(super) fn witness(effort: Effort, tick: Tick<'_>) -> Result<Figure, Failed> {
    const BANDWIDTH: f64 = 0.5;
    let samples = effort.pick(20_000, 20_000);
    let generator = &mut Generator::new(2007);
    let p: Vec<f64> = (0..samples).map(|_| generator.normal()).collect();
    let q: Vec<f64> = (0..samples).map(|_| laplace(generator, 1.0)).collect();
    let places: Vec<f64> = (-60..=60).map(|step| 0.1 * f64::from(step)).collect();
    let values = fleet(places.len(), |i| witness_at(places[i], &p, &q, BANDWIDTH));
    let largest = values.iter().map(|value| value.abs()).fold(0.0, f64::max);
    let mut figure = Figure::new(
        "A Hilbert space embedding, figure 1: the witness function",
        &format!(
            "Gaussian against Laplace, both with mean 0 and variance 1; {samples} samples each, \
             σ = {BANDWIDTH}. The witness is scaled for the plot as there: its largest value, \
             {largest:.4}, is drawn as 0.5."
        ),
    );
    let curve = |name: &str, f: &dyn Fn(f64) -> f64| {
        Series::line(name, places.iter().map(|&x| (x, f(x))).collect::<Vec<_>>())
    };
    let scaled = places.iter().copied().zip(values.iter().map(|value| 0.5 * value / largest));
    figure.plot(
        "embedding-1",
        "witness of Gaussian against Laplace",
        Axis::even("x"),
        Axis::even("density, and f scaled"),
        &[
            Series::line("f", scaled),
            curve("Gaussian", &|x| normal_density(x, 1.0)),
            curve("Laplace", &laplace_density),
        ],
    )?;
    let truth = places.iter().map(|&x| witness_of_densities(x, BANDWIDTH));
    let off = values.iter().zip(truth).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    figure.hold_below(tolerance::WITNESS, "largest difference", off);
    tick();
    Ok(figure)
}

/// MMD_u² of many pairs of sets.
fn instances(
    count: usize,
    seed: u64,
    draw: impl Fn(&mut Generator) -> [Vec<f64>; 2] + Sync,
) -> Result<Vec<f64>, Refused> {
    let one = |index: usize| {
        let [p, q] = draw(&mut Generator::new(seed + u64::try_from(index).unwrap_or(0)));
        pool(&p, &q)?.mmd2(Estimate::Unbiased)
    };
    fleet(count, one).into_iter().collect()
}

fn pool(p: &[f64], q: &[f64]) -> Result<Gram, Refused> {
    Gram::new(p, q, |x, y| gaussian(1.0)(&[*x], &[*y]))
}

fn skewness(values: &[f64]) -> f64 {
    let (centre, spread) = (mean(values), deviation(values));
    mean(&values.iter().map(|value| ((value - centre) / spread).powi(3)).collect::<Vec<_>>())
}

/// The Hoeffding decomposition of MMD_u² as a U-statistic over pairs z = (x, y) of two different
/// distributions, with h(z, z') = k(x, x') + k(y, y') − k(x, y') − k(y, x').
struct Parts {
    /// h₁(z) = E_z' h(z, z') − E h.
    single: Vec<f64>,
    /// h₂(z, z') = h − h₁(z) − h₁(z') − E h.
    double: DMatrix<f64>,
}

impl Parts {
    fn of(p: &[f64], q: &[f64]) -> Self {
        let k = |x: f64, y: f64| gaussian(1.0)(&[x], &[y]);
        let m = p.len().min(q.len());
        let h = |i: usize, j: usize| k(p[i], p[j]) + k(q[i], q[j]) - k(p[i], q[j]) - k(q[i], p[j]);
        let mut double = DMatrix::from_fn(m, m, h);
        double.fill_diagonal(0.0);
        let rows: Vec<f64> = double.column_sum().iter().map(|sum| sum / (real(m) - 1.0)).collect();
        let all = mean(&rows);
        let single: Vec<f64> = rows.iter().map(|row| row - all).collect();
        for (i, j) in (0..m).flat_map(|i| (0..m).map(move |j| (i, j))).filter(|(i, j)| i != j) {
            double[(i, j)] -= single[i] + single[j] + all;
        }
        Self { single, double }
    }

    /// Theorem 5: 2·√(E h₁²/m) for sets of m.
    fn deviation(&self, m: usize) -> f64 {
        2.0 * deviation(&self.single) / real(m).sqrt()
    }

    /// (E h₁³ + 3·E h₁(z)h₁(z')h₂(z, z'))/(√m·(E h₁²)^{3/2}): Edgeworth's first term.
    fn skewness(&self, m: usize) -> f64 {
        let count = real(self.single.len());
        let cube = mean(&self.single.iter().map(|h| h.powi(3)).collect::<Vec<_>>());
        let single = DVector::from_column_slice(&self.single);
        let crossed = single.dot(&(&self.double * &single)) / (count * (count - 1.0));
        (cube + 3.0 * crossed) / (real(m).sqrt() * deviation(&self.single).powi(3))
    }
}

/// Number of instances of MMD_u², also in the quick report: fewer are not enough for a skewness.
const INSTANCES: usize = 2000;

/// Number of samples in each set if there is a change.
const CHANGED: usize = 100;

/// Sets of `count` samples of Laplace distributions of deviation 1 and 3√2.
fn laplaces(generator: &mut Generator, count: usize) -> [Vec<f64>; 2] {
    [1.0, 3.0 * SQRT_2].map(|s| (0..count).map(|_| laplace(generator, s)).collect())
}

/// The measured skewness of MMD_u² with a change, for a seed of at least 1, and that of theory,
/// estimated from one pair of sets of 1000 samples.
///
/// # Errors
/// None are expected.
pub fn changed_skewness(seed: u64) -> Result<[f64; 2], Refused> {
    let changed = instances(INSTANCES, seed, |generator| laplaces(generator, CHANGED))?;
    let [p, q] = laplaces(&mut Generator::new(seed - 1), 1000);
    Ok([skewness(&changed), Parts::of(&p, &q).skewness(CHANGED)])
}

pub(super) fn distributions(_: Effort, tick: Tick<'_>) -> Result<Figure, Failed> {
    let count = INSTANCES;
    let normals = |generator: &mut Generator| {
        [(); 2].map(|()| (0..50).map(|_| generator.normal()).collect::<Vec<f64>>())
    };
    let unchanged = instances(count, 1_000_000, normals)?;
    tick();
    let changed = instances(count, 2_000_000, |generator| laplaces(generator, CHANGED))?;
    tick();
    let mut figure = Figure::new(
        "A Hilbert space embedding, figure 2: the distribution of MMD²",
        &format!(
            "{count} instances of MMD_u², σ = 1. Without a change: 50 samples of N(0, 1) in each \
             set, beside draws of theorem 5's sum over the spectrum of another such pool. With a \
             change: 100 samples of Laplace distributions of deviation 1 and 3√2, beside the normal \
             distribution of the same mean and deviation; theorem 5's own deviation is held to the \
             measured one below."
        ),
    );
    let generator = &mut Generator::new(1);
    let [p, q] = normals(generator);
    let spectrum = null::spectrum(&pool(&p, &q)?, Estimate::Unbiased, 5000, generator)?;
    // The density is the decrease of p-values over a step.
    let low = unchanged.iter().copied().fold(f64::INFINITY, f64::min);
    let high = unchanged.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let step = (high - low) / 40.0;
    let density = (0..40).map(|i| {
        let from = low + step * f64::from(i);
        (from + 0.5 * step, (spectrum.p_value(from) - spectrum.p_value(from + step)) / step)
    });
    let axis = Axis::even("MMD_u²");
    let series = [Series::histogram("measured", &unchanged, 40), Series::line("spectrum", density)];
    figure.plot(
        "embedding-2-same",
        "MMD² without a change",
        axis,
        Axis::even("density"),
        &series,
    )?;

    let (centre, spread) = (mean(&changed), deviation(&changed));
    let bell = (-80..=80).map(|step| {
        let x = 0.05 * f64::from(step) * spread;
        (centre + x, normal_density(x, spread))
    });
    let series = [
        Series::histogram("measured", &changed, 40),
        Series::line("normal of the same mean and deviation", bell),
    ];
    figure.plot("embedding-2-other", "MMD² with a change", axis, Axis::even("density"), &series)?;

    let error = deviation(&unchanged) / real(count).sqrt();
    figure.hold_below(tolerance::NULL_MEAN, "mean over its error", mean(&unchanged).abs() / error);
    figure.hold_above(tolerance::NULL_SKEWNESS, "skewness", skewness(&unchanged));
    let mut sorted = unchanged;
    sorted.sort_unstable_by(f64::total_cmp);
    let quantile = sorted[count * 95 / 100];
    let off = (spectrum.threshold(0.05)? / quantile - 1.0).abs();
    figure.hold_below(tolerance::NULL_THRESHOLD, "off by a share of", off);
    let [p, q] = laplaces(generator, 1000);
    let theory = Parts::of(&p, &q).skewness(CHANGED);
    let off = (skewness(&changed) - theory).abs();
    figure.hold_below(tolerance::CHANGED_SKEWNESS, &format!("from {theory:.2}"), off);
    let [p, q] = laplaces(generator, CHANGED);
    let off = (Parts::of(&p, &q).deviation(CHANGED) / spread - 1.0).abs();
    figure.hold_below(tolerance::CHANGED_DEVIATION, "off by a share of", off);
    Ok(figure)
}

/// 200 pairs around a circle, x and y uncorrelated; σ = 0.2 as in the paper.
pub(super) fn dependence(_: Effort, tick: Tick<'_>) -> Result<Figure, Failed> {
    const COUNT: usize = 200;
    let generator = &mut Generator::new(2003);
    let (mut x, mut y) = (Vec::new(), Vec::new());
    for _ in 0..COUNT {
        let angle = TAU * generator.uniform();
        x.push(angle.cos() + 0.1 * generator.normal());
        y.push(angle.sin() + 0.1 * generator.normal());
    }
    let kernel = |a: &f64, b: &f64| gaussian(0.2)(&[*a], &[*b]);
    let witness = DependenceWitness::new(&x, &y, kernel, kernel)?;
    let places: Vec<f64> = (-30..=30).map(|step| 0.05 * f64::from(step)).collect();
    let mut field = Vec::new();
    for &a in &places {
        for &b in &places {
            field.push((a, b, witness.at(&a, &b)?));
        }
    }
    let largest = field.iter().map(|(_, _, f)| f.abs()).fold(0.0, f64::max);
    let beyond = |sign: f64| -> Vec<(f64, f64)> {
        let chosen = field.iter().filter(|(_, _, f)| sign * f > 0.3 * largest);
        chosen.map(|(a, b, _)| (*a, *b)).collect()
    };
    let mut figure = Figure::new(
        "A Hilbert space embedding, figure 3: where pairs depend on each other",
        &format!(
            "{COUNT} pairs around a circle, σ = 0.2. The witness f(x, y) is large where pairs are more \
             frequent than for independent x and y, and below 0 where they are less; drawn as places \
             beyond three tenths of its largest value, instead of contours."
        ),
    );
    let sample = x.iter().copied().zip(y.iter().copied());
    figure.plot(
        "embedding-3",
        "witness of dependence",
        Axis::even("x"),
        Axis::even("y"),
        &[
            Series::dots("f above 0", beyond(1.0)),
            Series::dots("f below 0", beyond(-1.0)),
            Series::dots("pairs", sample),
        ],
    )?;
    // Its mean over the pairs minus that over all combinations is HSIC.
    let (mut paired, mut all) = (0.0, 0.0);
    for (i, a) in x.iter().enumerate() {
        for (j, b) in y.iter().enumerate() {
            let value = witness.at(a, b)?;
            all += value / (real(COUNT) * real(COUNT));
            paired += if i == j { value / real(COUNT) } else { 0.0 };
        }
    }
    let hsic = ExactPairs::new(&x, &y, kernel, kernel)?;
    let off = (paired - all - hsic.hsic()?).abs();
    figure.hold_below(tolerance::REFERENCE_IDENTITY, "difference of means from HSIC", off);
    // On the circle f is above 0, and at its centre and outside it is not.
    let mut inside = 0.0;
    for step in 0..100 {
        let angle = TAU * f64::from(step) / 100.0;
        inside += f64::from(u8::from(witness.at(&angle.cos(), &angle.sin())? > 0.0)) / 100.0;
    }
    figure.hold_above(tolerance::DEPENDENCE_ON_CIRCLE, "share of the circle", inside);
    figure.hold_above(tolerance::DEPENDENCE_OFF_CIRCLE, "at the corner", -witness.at(&1.0, &1.0)?);
    tick();
    Ok(figure)
}
