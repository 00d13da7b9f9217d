//! FastMMD, section 3.3: power of other ensembles of circular discrepancy beside that of MMD.

use super::{Effort, Failed, Figure, Tick};
use crate::circular::{Distance, Ensemble, Norm};
use crate::evaluate::devices::fleet;
use crate::evaluate::table::Table;
use crate::features::Frequencies;
use crate::generate::Generator;
use crate::{Points, Refused, data, real, tolerance};

/// No change, blobs, and shape.
pub(super) const STEPS: u32 = 3;

/// The ensembles; the first is MMD.
const ENSEMBLES: [(&str, Distance, Norm); 6] = [
    ("sine, L2: MMD", Distance::Sine, Norm::L2),
    ("sine, L1", Distance::Sine, Norm::L1),
    ("sine, L∞", Distance::Sine, Norm::Largest),
    ("Mallows, L2", Distance::Mallows, Norm::L2),
    ("Mallows, L1", Distance::Mallows, Norm::L1),
    ("Mallows, L∞", Distance::Mallows, Norm::Largest),
];

/// What may change.
#[derive(Debug, Clone, Copy)]
enum Change {
    /// Nothing: blobs against blobs.
    None,
    /// The blobs' covariance.
    Blobs,
    /// A normal distribution to Laplace's with the same mean and variance.
    Shape,
}

fn draw(change: Change, samples: usize, generator: &mut Generator) -> Result<[Points; 2], Refused> {
    let ratio = if matches!(change, Change::None) { 1.0 } else { 6.0 };
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

/// Share of trials in which each ensemble tells the sets apart at a level of 0.05.
fn shares(
    change: Change,
    [trials, samples, bases, shuffles]: [usize; 4],
) -> Result<[f64; 6], Refused> {
    let trial = |index: usize| {
        let generator = &mut Generator::new(33_000 + u64::try_from(index).unwrap_or(0));
        let [p, q] = draw(change, samples, generator)?;
        let bandwidth = if matches!(change, Change::Shape) { 0.5 } else { 1.0 };
        let frequencies = Frequencies::gaussian(generator, bases, p.dims(), bandwidth)?;
        let ensemble = Ensemble::new(&frequencies, &p, &q)?;
        let mut told = [0.0; 6];
        for (told, (_, distance, norm)) in told.iter_mut().zip(ENSEMBLES) {
            let null = ensemble.null(distance, norm, shuffles, generator)?;
            let p_value = null.p_value(ensemble.discrepancy(distance, norm));
            *told = f64::from(u8::from(p_value <= 0.05));
        }
        Ok(told)
    };
    let mut sums = [0.0; 6];
    for told in fleet(trials, trial) {
        for (sum, told) in sums.iter_mut().zip(told?) {
            *sum += told / real(trials);
        }
    }
    Ok(sums)
}

pub(super) fn run(effort: Effort, tick: Tick<'_>) -> Result<Figure, Failed> {
    let (trials, samples, bases) = effort.pick((30, 80, 16), (100, 300, 32));
    let mut figure = Figure::new(
        "FastMMD, section 3.3: other ensembles of circular discrepancy",
        &format!(
            "Share of trials in which two sets of {samples} are told apart at a level of 0.05 by \
             99 permutations, with L = {bases}: on blobs of equal covariance (the type-I error, \
             100 trials), on blobs with ε = 6, and on N(0, 1) against Laplace's distribution of the \
             same mean and variance ({trials} trials each)."
        ),
    );
    let mut columns = Vec::new();
    for (change, trials) in [(Change::None, 100), (Change::Blobs, trials), (Change::Shape, trials)]
    {
        columns.push(shares(change, [trials, samples, bases, 99])?);
        tick();
    }
    let mut table = Table::new(["ensemble", "no change", "blobs", "shape"]);
    for (index, (name, _, _)) in ENSEMBLES.iter().enumerate() {
        let cells = columns.iter().map(|column| format!("{:.2}", column[index]));
        table.line([(*name).to_owned()].into_iter().chain(cells));
    }
    figure.table(&table);
    for (index, (name, _, _)) in ENSEMBLES.iter().enumerate() {
        figure.hold_below(tolerance::FIGURE8_TYPE_I, name, columns[0][index]);
    }
    Ok(figure)
}
