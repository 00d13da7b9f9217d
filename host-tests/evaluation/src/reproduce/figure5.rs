//! FastMMD, figure 5: the error of MMD² on blobs as frequencies are added.

use fastmmd::dynamic;
use fastmmd::{Kernel, Sampling, TwoSample};

use super::{Effort, Failed, Figure, Tick, short};
use crate::evaluate::devices::fleet;
use crate::evaluate::table::Table;
use crate::plot::{Axis, Series};
use fastmmd_reference::bounds::Region;
use fastmmd_reference::generate::Generator;
use fastmmd_reference::kernel::gaussian;
use fastmmd_reference::{Refused, Weighted, data, exact, real, tolerance};

/// Fastfood's block. In a block of 4 or 8, many frequencies in a plane are mirror images of others;
/// for blobs, which are symmetric, these are the same frequency twice.
pub const BLOCK: usize = 16;

/// The numbers of frequencies.
pub const FREQUENCIES: [usize; 7] = [16, 32, 64, 128, 256, 512, 1024];

/// Columns of the figure: two kinds of map at seven sizes, and the data.
pub(super) const STEPS: u32 = 15;

/// One pair of sets and its exact MMD².
#[derive(Debug, Clone)]
pub struct Pair {
    p: Vec<[f32; 2]>,
    q: Vec<[f32; 2]>,
    biased: f64,
    unbiased: f64,
}

/// Pairs of blobs 10 apart, the second with eigenvalues 4 and 1; σ = 1.
///
/// # Errors
/// [`Refused::TooFewSamples`] below two samples.
pub fn blobs(pairs: usize, samples: usize) -> Result<Vec<Pair>, Refused> {
    let mut generator = Generator::new(2015);
    let mut pair = || {
        let p = data::blobs(&mut generator, samples, 10.0, 1.0)?;
        let q = data::blobs(&mut generator, samples, 10.0, 4.0)?;
        let (p32, q32) = (p.arrays()?, q.arrays()?);
        let (p, q) = (Weighted::even(p), Weighted::even(q));
        Ok(Pair {
            p: p32,
            q: q32,
            biased: exact::biased(&p, &q, gaussian(1.0))?,
            unbiased: exact::unbiased(&p, &q, gaussian(1.0))?,
        })
    };
    (0..pairs).map(|_| pair()).collect()
}

/// Which map draws the frequencies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Map {
    /// Independent frequencies.
    Fourier,
    /// Structured ones.
    Fastfood,
}

/// For each of [`FREQUENCIES`]: the mean relative error of MMD_b² and of MMD_u², and the mean
/// absolute error of MMD_b².
pub type Errors = [[f64; 3]; 7];

/// Measures the errors of a map over many seeds.
///
/// # Errors
/// Those of the core; none are expected.
pub fn errors(
    pairs: &[Pair],
    trials: usize,
    map: Map,
    tick: Tick<'_>,
) -> Result<Errors, fastmmd::Error> {
    let mut errors = [[0.0; 3]; 7];
    for (errors, frequencies) in errors.iter_mut().zip(FREQUENCIES) {
        *errors = at(frequencies, pairs, trials, map, tick)?;
    }
    Ok(errors)
}

fn at(
    frequencies: usize,
    pairs: &[Pair],
    trials: usize,
    map: Map,
    tick: Tick<'_>,
) -> Result<[f64; 3], fastmmd::Error> {
    let errors = fleet(trials, |trial| {
        let pair = &pairs[trial % pairs.len()];
        let seed = u64::try_from(trial).unwrap_or(0);
        let kernel = Kernel::GAUSSIAN;
        let map = match map {
            Map::Fourier => {
                dynamic::Map::fourier(kernel, Sampling::Independent, seed, 2, frequencies)
            }
            Map::Fastfood => dynamic::Map::fastfood(kernel, seed, 2, BLOCK, frequencies),
        };
        error(pair, &map?)
    });
    let mut means = [0.0; 3];
    for error in errors {
        for (mean, error) in means.iter_mut().zip(error?) {
            *mean += error / real(trials);
        }
    }
    tick();
    Ok(means)
}

fn error(pair: &Pair, map: &dynamic::Map) -> Result<[f64; 3], fastmmd::Error> {
    let mut test = TwoSample::new(map);
    for (p, q) in pair.p.iter().zip(&pair.q) {
        test.push_p(p)?;
        test.push_q(q)?;
    }
    let biased = f64::from(test.mmd2_biased()?);
    let unbiased = f64::from(test.mmd2_unbiased()?);
    let off = (biased - pair.biased).abs();
    Ok([off / pair.biased, (unbiased / pair.unbiased - 1.0).abs(), off])
}

/// Least squares of log₂ error over log₂ L.
#[must_use]
pub fn slope(errors: &Errors, kind: usize) -> f64 {
    // log₂ L − 7 is −3 … 3, whose squares sum to 28.
    let places = [-3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0];
    errors.iter().zip(places).map(|(e, x): (_, f64)| x * e[kind].log2() / 28.0).sum()
}

/// Adds a table of the measured error of MMD_b² and the bounds of theorems 3 and 4.
fn show_bounds(figure: &mut Figure, dense: &Errors, fast: &Errors) -> Result<(), Failed> {
    /// Probability that a bound fails.
    const FAILURE: f64 = 0.05;
    /// Larger than any distance between ten thousand samples of the blobs.
    const DIAMETER: f64 = 75.0;
    let region = Region::new(2, DIAMETER, 1.0)?;
    figure.say(&format!(
        "The same as absolute errors of MMD_b², beside the bounds of theorems 3 and 4 for d = 2, a \
         diameter of {DIAMETER} and σ = 1. Both are conservative: they are for all sets of this \
         diameter at once, with a probability of 95 %, and no MMD² is above 2. *Promised* is the \
         error given L. Theorem 4 is for a single block of L rows. As printed it depends on the unit \
         of measurement; its proof gives another form, which is beside it, and — where the \
         proof's assumptions fail. *Needed* is the L, or the rows of the block, for which the \
         theorem, or what is printed of it, says the measured error."
    ));
    let mut table = Table::new([
        "L",
        "Fourier, measured",
        "theorem 3, promised",
        "theorem 3, needed",
        "Fastfood, measured",
        "theorem 4, promised",
        "as printed, promised",
        "as printed, needed",
    ]);
    for (index, l) in FREQUENCIES.into_iter().enumerate() {
        let measured = [dense[index][2], fast[index][2]];
        let block = region.printed_block_needed(measured[1], FAILURE)?;
        let promised = match region.fastfood_guarantee(l, FAILURE) {
            Err(Refused::NotProven { .. }) => "—".to_owned(),
            other => short(other?),
        };
        table.line([
            l.to_string(),
            short(measured[0]),
            short(region.guarantee(l, FAILURE)?),
            short(region.frequencies_needed(measured[0], FAILURE)?),
            short(measured[1]),
            promised,
            short(region.printed_guarantee(l, FAILURE)?),
            block.map_or("above 2³¹".to_owned(), |rows| rows.to_string()),
        ]);
    }
    figure.table(&table);
    Ok(())
}

pub(super) fn run(effort: Effort, tick: Tick<'_>) -> Result<Figure, Failed> {
    let (count, samples, trials) = effort.pick((8, 300, 100), (40, 1000, 1000));
    let pairs = blobs(count, samples)?;
    tick();
    let dense = errors(&pairs, trials, Map::Fourier, tick)?;
    let fast = errors(&pairs, trials, Map::Fastfood, tick)?;
    let mut figure = Figure::new(
        "FastMMD, figure 5: error of MMD² on blobs",
        &format!("Mean relative error over {trials} seeds, {samples} samples in each set, σ = 1."),
    );
    let mut table = Table::new([
        "L",
        "Fourier, biased",
        "Fourier, unbiased",
        "Fastfood, biased",
        "Fastfood, unbiased",
    ]);
    for (index, l) in FREQUENCIES.into_iter().enumerate() {
        let cells = [dense[index][0], dense[index][1], fast[index][0], fast[index][1]];
        table.line([l.to_string()].into_iter().chain(cells.map(short)));
    }
    figure.table(&table);
    show_bounds(&mut figure, &dense, &fast)?;
    let column = |errors: &Errors, kind: usize| {
        FREQUENCIES.map(real).into_iter().zip(errors.map(|error| error[kind])).collect::<Vec<_>>()
    };
    for (kind, name) in ["biased", "unbiased"].into_iter().enumerate() {
        let law = FREQUENCIES.map(|l| (real(l), dense[0][kind] * (16.0 / real(l)).sqrt()));
        figure.plot(
            &format!("fastmmd-5-{name}"),
            &format!("error of MMD² on blobs, {name}"),
            Axis::log("L, frequencies"),
            Axis::log("mean relative error"),
            &[
                Series::dots("Fourier", column(&dense, kind)),
                Series::dots("Fastfood", column(&fast, kind)),
                Series::line("1/√L", law),
            ],
        )?;
    }
    for (name, errors) in [("Fourier", dense), ("Fastfood", fast)] {
        // The limits at L = 1024 are for sets of 1000.
        if effort == Effort::Full {
            figure.hold_below(tolerance::FIGURE5_BIASED, name, errors[6][0]);
            figure.hold_below(tolerance::FIGURE5_UNBIASED, name, errors[6][1]);
        }
        figure.hold_below(tolerance::FIGURE5_FALL, name, errors[6][0] / errors[2][0]);
    }
    Ok(figure)
}
