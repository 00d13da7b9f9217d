//! FastMMD, section 4.5 and figure 8: type-II error on blobs with many kinds of threshold.

use std::ops::Range;

use super::{Effort, Failed, Figure, Tick, seconds, short};
use crate::evaluate::devices::fleet;
use crate::evaluate::table::Table;
use crate::plot::{Axis, Series};
use fastmmd_reference::features::Frequencies;
use fastmmd_reference::generate::Generator;
use fastmmd_reference::kernel::gaussian;
use fastmmd_reference::null::{self, Estimate, Features, Gram, Null, Pool};
use fastmmd_reference::{Points, Refused, data, real, tolerance};

/// Eleven ratios of eigenvalues, nine numbers of frequencies, and the times.
pub(super) const STEPS: u32 = 21;

/// Level of all tests.
const LEVEL: f64 = 0.05;

/// Number of frequencies of FastMMD in the comparison with exact thresholds.
const BASES: usize = 256;

/// Ratios of eigenvalues; 1 is no change at all.
const RATIOS: [f64; 11] = [1.0, 1.2, 1.4, 1.6, 1.8, 2.0, 2.2, 2.4, 2.6, 2.8, 3.0];

/// Numbers of frequencies for a ratio of 4.
const FREQUENCIES: [usize; 9] = [2, 4, 8, 16, 32, 64, 128, 256, 512];

/// The methods, in the order of results.
pub const METHODS: [&str; 6] =
    ["FastMMD + bootstrap", "bootstrap", "Pearson", "spectrum", "Gamma", "distribution-free"];

/// The size of the experiment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    /// Number of samples in each set.
    pub samples: usize,
    /// Number of shuffles for each threshold.
    pub shuffles: usize,
}

/// Every second sample.
fn half(points: &Points) -> Result<Points, Refused> {
    let rows = points.rows().step_by(2).flatten().copied().collect();
    Points::new(points.dims(), rows)
}

fn draw(generator: &mut Generator, samples: usize, ratio: f64) -> Result<[Points; 2], Refused> {
    let p = data::blobs(generator, samples, 10.0, 1.0)?;
    Ok([p, data::blobs(generator, samples, 10.0, ratio)?])
}

fn exceeds(statistic: f64, null: &Null) -> Result<bool, Refused> {
    Ok(statistic > null.threshold(LEVEL)?)
}

/// Whether FastMMD with a bootstrap finds a difference between the sets.
fn fastmmd(
    [p, q]: &[Points; 2],
    bases: usize,
    shuffles: usize,
    generator: &mut Generator,
) -> Result<bool, Refused> {
    let pool = Features::new(&Frequencies::gaussian(generator, bases, 2, 1.0)?, p, q)?;
    let null = null::permutation(&pool, Estimate::Biased, shuffles, generator)?;
    exceeds(pool.mmd2(Estimate::Biased)?, &null)
}

/// Whether each method finds a difference between two sets.
fn trial(seed: u64, ratio: f64, size: Size) -> Result<[bool; 6], Refused> {
    let generator = &mut Generator::new(seed);
    let sets = draw(generator, size.samples, ratio)?;
    let fast = fastmmd(&sets, BASES, size.shuffles, generator)?;
    let [p, q] = &sets;
    let exact = Gram::of_points(p, q, gaussian(1.0))?;
    // Cubic in the number of samples, so from every second one: the distribution is twice as wide.
    let part = Gram::of_points(&half(p)?, &half(q)?, gaussian(1.0))?;
    let estimate = Estimate::Biased;
    let statistic = exact.mmd2(estimate)?;
    Ok([
        fast,
        exceeds(statistic, &null::permutation(&exact, estimate, size.shuffles, generator)?)?,
        exceeds(statistic, &null::pearson(&part, estimate)?.scaled(0.5)?)?,
        exceeds(statistic, &null::spectrum(&part, estimate, 500, generator)?.scaled(0.5)?)?,
        exceeds(statistic, &null::gamma(&exact, estimate)?)?,
        exceeds(exact.mmd2(Estimate::Unbiased)?, &null::distribution_free(size.samples)?)?,
    ])
}

/// Share of trials in which each of [`METHODS`] finds a difference between blobs whose covariance
/// has this ratio of eigenvalues and blobs of ratio 1. A trial's number is its seed.
///
/// # Errors
/// [`Refused::TooFewSamples`] below four samples, [`Refused::BadParameter`] for no shuffles.
pub fn shares(trials: Range<usize>, ratio: f64, size: Size) -> Result<[f64; 6], Refused> {
    let (first, count) = (trials.start, trials.len());
    let mut shares = [0.0; 6];
    for told in fleet(count, |index| trial(seed(first + index, ratio), ratio, size)) {
        for (share, told) in shares.iter_mut().zip(told?) {
            *share += f64::from(u8::from(told)) / real(count);
        }
    }
    Ok(shares)
}

/// Share of trials in which FastMMD with `bases` frequencies misses the ratio 4.
///
/// # Errors
/// As [`shares`], and [`Refused::Empty`] for no frequencies.
pub fn missed(trials: Range<usize>, bases: usize, size: Size) -> Result<f64, Refused> {
    let (first, count) = (trials.start, trials.len());
    let told = fleet(count, |index| {
        let generator = &mut Generator::new(seed(first + index, 4.0));
        let sets = draw(generator, size.samples, 4.0)?;
        fastmmd(&sets, bases, size.shuffles, generator)
    });
    let missed = told.into_iter().map(|told| told.map(|told| f64::from(u8::from(!told))));
    Ok(super::mean(&missed.collect::<Result<Vec<_>, Refused>>()?))
}

fn seed(index: usize, ratio: f64) -> u64 {
    // A different seed for every pair of trial and ratio.
    let place = ratio.to_bits().rotate_left(24).wrapping_mul(100_000);
    place.wrapping_add(u64::try_from(index).unwrap_or(0))
}

/// Seconds of each method from the samples to the threshold.
fn times(size: Size, bases: usize) -> Result<[f64; 5], Failed> {
    let generator = &mut Generator::new(8);
    let sets = draw(generator, size.samples, 2.0)?;
    let [p, q] = &sets;
    let gram = || Gram::of_points(p, q, gaussian(1.0));
    let estimate = Estimate::Biased;
    let mut other = Generator::new(9);
    Ok([
        seconds(2, || Ok(fastmmd(&sets, bases, size.shuffles, generator)?))?,
        seconds(2, || Ok(null::permutation(&gram()?, estimate, size.shuffles, &mut other)?))?,
        seconds(1, || Ok(null::pearson(&gram()?, estimate)?))?,
        seconds(1, || Ok(null::spectrum(&gram()?, estimate, 1000, &mut other)?))?,
        seconds(2, || Ok(null::gamma(&gram()?, estimate)?))?,
    ])
}

/// The size of the report where all methods are compared.
#[must_use]
pub fn size(effort: Effort) -> Size {
    effort.pick(Size { samples: 300, shuffles: 99 }, Size { samples: 1000, shuffles: 399 })
}

/// The size of the report for FastMMD alone, which is faster.
#[must_use]
pub fn size_alone(effort: Effort) -> Size {
    effort.pick(Size { samples: 500, shuffles: 199 }, Size { samples: 1000, shuffles: 399 })
}

/// The ratios for which power has a lower limit; no method finds much smaller ones.
pub const HELD: [f64; 3] = [2.6, 2.8, 3.0];

pub(super) fn run(effort: Effort, tick: Tick<'_>) -> Result<Figure, Failed> {
    let (size, alone) = (size(effort), size_alone(effort));
    // More trials where a share itself has a limit.
    let trials = |ratio: f64| if ratio > 1.0 { effort.pick(24, 30) } else { 100 };
    let mut figure = Figure::new(
        "FastMMD, section 4.5 and figure 8: type-II error",
        &format!(
            "Blobs with {} samples in each set, σ = 1, level {LEVEL}, {} shuffles, {} trials for \
             each ratio of eigenvalues and 100 without a change (ratio 1: that line is the type-I \
             error). FastMMD has {BASES} frequencies. Bootstrap here is by permutation, as the \
             paper's shuffles are. Pearson and spectrum are estimated from every second sample, \
             which makes the spectrum's threshold a little too high. As frequencies are added, with \
             ε = 4, there are {} samples and {} shuffles.",
            size.samples,
            size.shuffles,
            trials(2.0),
            alone.samples,
            alone.shuffles,
        ),
    );
    let headings: [&str; 7] = std::array::from_fn(|i| if i == 0 { "ε" } else { METHODS[i - 1] });
    let mut table = Table::new(headings);
    let mut rows = Vec::new();
    for ratio in RATIOS {
        let told = shares(0..trials(ratio), ratio, size)?;
        let errors = if ratio > 1.0 { told.map(|share| 1.0 - share) } else { told };
        table.line([short(ratio)].into_iter().chain(errors.map(|error| format!("{error:.2}"))));
        rows.push((ratio, errors));
        tick();
    }
    figure.table(&table);
    let series: Vec<Series> = METHODS
        .iter()
        .enumerate()
        .map(|(column, name)| {
            let changed = rows.iter().filter(|row| row.0 > 1.0);
            Series::dots(name, changed.map(|(ratio, errors)| (*ratio, errors[column])))
        })
        .collect();
    let errors = Axis::even("type-II error");
    let epsilon = Axis::even("ε, ratio of the eigenvalues");
    figure.plot("fastmmd-8-ratio", "type-II error on blobs", epsilon, errors, &series)?;

    let mut by_frequencies = Vec::new();
    for bases in FREQUENCIES {
        let missed = missed(0..effort.pick(24, 100), bases, alone)?;
        by_frequencies.push((real(bases), missed));
        tick();
    }
    let one = [Series::dots("FastMMD + bootstrap", by_frequencies.iter().copied())];
    let frequencies = Axis::log("L, frequencies");
    figure.plot("fastmmd-8-frequencies", "type-II error, ε = 4", frequencies, errors, &one)?;

    let (clock, bases) = effort.pick(
        (Size { samples: 500, shuffles: 500 }, 64),
        (Size { samples: 1000, shuffles: 1000 }, BASES),
    );
    let times = times(clock, bases)?;
    tick();
    figure.say(&format!(
        "Running time over that of FastMMD + bootstrap ({} samples in each set, {} shuffles, L = \
         {bases}): the paper has 19.7, 8.4, 7.4 and 0.16.",
        clock.samples, clock.shuffles
    ));
    let mut table = Table::new(["", "bootstrap", "Pearson", "spectrum", "Gamma"]);
    let over = times[1..].iter().map(|time| short(time / times[0]));
    table.line(["time".to_owned()].into_iter().chain(over));
    figure.table(&table);

    for (name, error) in METHODS.iter().zip(rows[0].1) {
        figure.hold_below(tolerance::FIGURE8_TYPE_I, name, error);
    }
    let changed = &rows[1..];
    let lost: f64 = changed.iter().map(|(_, errors)| errors[0] - errors[1]).sum();
    let lost = lost / real(changed.len());
    figure.hold_below(tolerance::FIGURE8_LOST, "FastMMD less exact", lost);
    figure.hold_below(tolerance::FIGURE8_TIME, "FastMMD over exact", times[0] / times[1]);
    let held = |column: usize| {
        let rows = changed.iter().filter(|(ratio, _)| HELD.contains(ratio));
        1.0 - super::mean(&rows.map(|(_, errors)| errors[column]).collect::<Vec<_>>())
    };
    let floor = effort.pick(tolerance::FIGURE8_POWER_QUICK, tolerance::FIGURE8_POWER);
    // All except the distribution-free bound, which has no power at this size.
    for (column, name) in METHODS.iter().enumerate().take(5) {
        figure.hold_above(floor, name, held(column));
    }
    figure.hold_below(tolerance::FIGURE8_FREE, METHODS[5], held(5));
    figure.hold_above(tolerance::FIGURE8_FEW, "L = 2", by_frequencies[0].1);
    let most = effort.pick(tolerance::FIGURE8_TYPE_II_QUICK, tolerance::FIGURE8_TYPE_II);
    figure.hold_below(most, "L = 512", by_frequencies[8].1);
    Ok(figure)
}
