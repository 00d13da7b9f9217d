//! FastMMD, section 3.3: power of other ensembles of circular discrepancy, compared with MMD.

use super::{Effort, Failed, Figure, Tick};
use crate::evaluate::devices::fleet;
use crate::evaluate::table::Table;
use fastmmd_reference::circular::{Distance, Ensemble, Norm};
use fastmmd_reference::features::Frequencies;
use fastmmd_reference::generate::Generator;
use fastmmd_reference::{Points, Refused, data, real, tolerance};

/// Seed of the report's first trial.
const SEED: u64 = 33_000;

/// No change, blobs, and shape.
pub(super) const STEPS: u32 = 3;

/// The ensembles, both distances with each norm; the first is MMD.
pub const ENSEMBLES: [&str; 6] =
    ["sine, L2: MMD", "sine, L1", "sine, L∞", "Mallows, L2", "Mallows, L1", "Mallows, L∞"];

const NORMS: [Norm; 3] = [Norm::L2, Norm::L1, Norm::Largest];

/// Level of all tests.
const LEVEL: f64 = 0.05;

/// The change between two sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// Nothing: blobs against blobs.
    None,
    /// The blobs' covariance: the ratio of its eigenvalues from 1 to 6.
    Blobs,
    /// A normal distribution to Laplace's with the same mean and variance.
    Shape,
}

/// The size of the experiment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    /// Pairs of sets.
    pub trials: usize,
    /// Samples in each set.
    pub samples: usize,
    /// Frequencies.
    pub bases: usize,
    /// Permutations for each threshold.
    pub shuffles: usize,
}

fn draw(change: Change, samples: usize, generator: &mut Generator) -> Result<[Points; 2], Refused> {
    let ratio = if change == Change::None { 1.0 } else { 6.0 };
    match change {
        Change::None | Change::Blobs => Ok([
            data::blobs(generator, samples, 10.0, 1.0)?,
            data::blobs(generator, samples, 10.0, ratio)?,
        ]),
        Change::Shape => {
            let p = (0..samples).map(|_| generator.normal()).collect();
            let q = (0..samples).map(|_| super::embedding::laplace(generator, 1.0)).collect();
            Ok([Points::new(1, p)?, Points::new(1, q)?])
        }
    }
}

/// Share of trials in which each of [`ENSEMBLES`] finds a difference at a level of 0.05. Trial i
/// has the seed `seed` + i.
///
/// # Errors
/// [`Refused::Empty`] for no samples or frequencies, [`Refused::BadParameter`] for no shuffles.
pub fn powers(change: Change, size: Size, seed: u64) -> Result<[f64; 6], Refused> {
    let trial = |index: usize| {
        let generator = &mut Generator::new(seed + u64::try_from(index).unwrap_or(0));
        let [p, q] = draw(change, size.samples, generator)?;
        let bandwidth = if change == Change::Shape { 0.5 } else { 1.0 };
        let frequencies = Frequencies::gaussian(generator, size.bases, p.dims(), bandwidth)?;
        let ensemble = Ensemble::new(&frequencies, &p, &q)?;
        let mut told = Vec::with_capacity(6);
        for distance in [Distance::Sine, Distance::Mallows] {
            let nulls = ensemble.nulls(distance, NORMS, size.shuffles, generator)?;
            for (null, norm) in nulls.iter().zip(NORMS) {
                let p_value = null.p_value(ensemble.discrepancy(distance, norm));
                told.push(f64::from(u8::from(p_value <= LEVEL)));
            }
        }
        Ok(told)
    };
    let mut sums = [0.0; 6];
    for told in fleet(size.trials, trial) {
        for (sum, told) in sums.iter_mut().zip(told?) {
            *sum += told / real(size.trials);
        }
    }
    Ok(sums)
}

/// The size of the report.
#[must_use]
pub fn size(effort: Effort) -> Size {
    let (trials, samples, bases) = effort.pick((100, 200, 32), (200, 600, 64));
    Size { trials, samples, bases, shuffles: 99 }
}

pub(super) fn run(effort: Effort, tick: Tick<'_>) -> Result<Figure, Failed> {
    let size = size(effort);
    let mut figure = Figure::new(
        "FastMMD, section 3.3: other ensembles of circular discrepancy",
        &format!(
            "Share of {} trials in which two sets of {} are told apart at a level of {LEVEL} by \
             {} permutations, with L = {}: on blobs of equal covariance (the type-I error), on \
             blobs with ε = 6, and on N(0, 1) against Laplace's distribution of the same mean and \
             variance.",
            size.trials, size.samples, size.shuffles, size.bases
        ),
    );
    let mut columns = Vec::new();
    for change in [Change::None, Change::Blobs, Change::Shape] {
        columns.push(powers(change, size, SEED)?);
        tick();
    }
    let mut table = Table::new(["ensemble", "no change", "blobs", "shape"]);
    for (index, name) in ENSEMBLES.iter().enumerate() {
        let cells = columns.iter().map(|column| format!("{:.2}", column[index]));
        table.line([(*name).to_owned()].into_iter().chain(cells));
    }
    figure.table(&table);
    for (name, share) in ENSEMBLES.iter().zip(columns[0]) {
        figure.hold_below(tolerance::FIGURE8_TYPE_I, name, share);
    }
    let floors = effort.pick(
        [tolerance::ENSEMBLE_BLOBS_QUICK, tolerance::ENSEMBLE_SHAPE_QUICK],
        [tolerance::ENSEMBLE_BLOBS, tolerance::ENSEMBLE_SHAPE],
    );
    for (floor, column) in floors.into_iter().zip(&columns[1..]) {
        for (name, power) in ENSEMBLES.iter().zip(column) {
            figure.hold_above(floor, name, *power);
        }
    }
    for (change, column) in ["blobs", "shape"].iter().zip(&columns[1..]) {
        for (name, power) in ENSEMBLES.iter().zip(column).skip(1) {
            let case = format!("{name}, {change}");
            figure.hold_above(tolerance::ENSEMBLE_OVER_MMD, &case, power / column[0]);
        }
    }
    let [_, sine_mean, sine_largest, _, mallows_mean, mallows_largest] = columns[1];
    let over = (sine_mean + mallows_mean) / (sine_largest + mallows_largest);
    figure.hold_below(tolerance::ENSEMBLE_FEW_CIRCLES, "both distances", over);
    Ok(figure)
}
