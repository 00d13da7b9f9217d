//! The FastMMD paper's efficiency test: the core against the oracle's estimators, on one thread
//! each.
//!
//! Beside it: mean embeddings against numpy ([`features`]), and the stack of drawing ([`stack`]).
//!
//! Only times of one run are compared, as ratios. Each is the shortest of three, in processor time
//! of this thread where the system provides it. Drawing a map, which is done once for any number of
//! samples, is not included.

pub mod chart;
pub(crate) mod clock;
mod core_times;
pub mod features;
pub mod stack;

use std::cell::Cell;

use fastmmd_reference::error::Refused;
use fastmmd_reference::generate::Generator;
use fastmmd_reference::kernel::gaussian;
use fastmmd_reference::points::{Points, Weighted};
use fastmmd_reference::population::{Normal, gaussian_mmd2};
use fastmmd_reference::tolerance;
use fastmmd_reference::{b_test, exact, linear, real};

pub use core_times::{DIMENSIONS, FREQUENCIES_BY_DIMENSION, FREQUENCIES_BY_SAMPLES};

/// Channels of the chart over the number of samples.
pub const DIMENSION: usize = 16;
/// Samples in each set of the paper's chart over the number of channels.
pub const SAMPLES: usize = 10_000;
/// Largest number of samples for which exact MMD is timed. Beyond, its time is extrapolated by the
/// square of the number.
const MOST_EXACT: usize = 20_000;
/// The same for samples of many channels.
const MOST_EXACT_LONG: usize = 1_000;
/// Number of samples for which the dense map of many channels is timed; beyond, its time is
/// extrapolated by the number.
const MOST_DENSE: usize = 200;

/// An estimate and its time.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Timed {
    value: f64,
    seconds: f64,
}

/// MMD_u² by each estimator, for the samples that it was timed with.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Values {
    /// Over all pairs.
    pub exact: f64,
    /// The B-test with blocks of √N.
    pub b_test: f64,
    /// MMD-linear.
    pub linear: f64,
    /// The core with a dense map.
    pub fourier: f64,
    /// The core with Fastfood.
    pub fastfood: f64,
}

/// Time of each estimator at one point of a chart, in seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Times {
    /// Samples in each set, or channels.
    pub at: usize,
    /// MMD² over all pairs.
    pub exact: f64,
    /// The B-test with blocks of √N.
    pub b_test: f64,
    /// MMD-linear.
    pub linear: f64,
    /// The core with a dense map.
    pub fourier: f64,
    /// The core with Fastfood.
    pub fastfood: f64,
    /// Their results.
    pub values: Values,
}

/// The paper's numbers of samples: 10³ to 10⁵.
pub const COUNTS: [usize; 5] = [1_000, 3_162, 10_000, 31_623, 100_000];

/// Times for each number of samples in each set, at 16 channels and 128 frequencies.
///
/// # Errors
/// [`Refused::Empty`] or [`Refused::TooFewSamples`] for a number below two.
pub fn over_samples(counts: &[usize]) -> Result<Vec<Times>, Refused> {
    let mut times = Vec::new();
    for &count in counts {
        let (p, q) = sets(DIMENSION, count)?;
        let core = core_times::over_samples(&p, &q)?;
        times.push(by_reference(count, (&p, &q), MOST_EXACT, core)?);
    }
    Ok(times)
}

/// Times for each number of channels, with 8192 frequencies.
///
/// # Errors
/// [`Refused::Ragged`] for a number that is none of [`DIMENSIONS`], [`Refused::Empty`] or
/// [`Refused::TooFewSamples`] below two samples in each set.
pub fn over_dimensions(dimensions: &[usize], samples: usize) -> Result<Vec<Times>, Refused> {
    let mut times = Vec::new();
    for &dimension in dimensions {
        let (p, q) = sets(dimension, samples)?;
        let core = core_times::over_dimensions(&p, &q, MOST_DENSE)?;
        times.push(by_reference(dimension, (&p, &q), MOST_EXACT_LONG, core)?);
    }
    Ok(times)
}

/// The shift of each channel of the second set.
const SHIFT: f64 = 0.1;

/// MMD² of the distributions that the sets of [`over_samples`] are drawn from.
#[must_use]
pub fn population() -> f64 {
    let p = Normal::standard(DIMENSION);
    let q = Normal { mean: vec![SHIFT; DIMENSION], ..p.clone() };
    gaussian_mmd2(&p, &q, real(DIMENSION).sqrt())
}

/// Number of kernel values that exact MMD, the B-test and MMD-linear compute for `count` samples in
/// each set.
///
/// # Errors
/// [`Refused::Empty`] or [`Refused::TooFewSamples`] below four samples.
pub fn kernel_values(count: usize) -> Result<[f64; 3], Refused> {
    let set = Points::new(1, vec![0.0; count])?;
    let taken = Cell::new(0);
    let counted = |_: &[f64], _: &[f64]| {
        taken.set(taken.get() + 1);
        1.0
    };
    let whole = Weighted::even(set.clone());
    exact::unbiased(&whole, &whole, counted)?;
    let pairs = taken.replace(0);
    b_test::mmd2(&set, &set, b_test::usual_block(count), counted)?;
    let blocks = taken.replace(0);
    linear::mmd2(&set, &set, counted)?;
    Ok([pairs, blocks, taken.get()].map(real))
}

/// Two sets of normal samples, the second slightly shifted.
fn sets(dimension: usize, count: usize) -> Result<(Points, Points), Refused> {
    let mut generator = Generator::new(1);
    let mut set = |mean: f64| {
        let values = (0..count * dimension).map(|_| generator.normal() + mean).collect();
        Points::new(dimension, values).map(|points| points.scaled(1.0))
    };
    Ok((set(0.0)?, set(SHIFT)?))
}

/// The first `count` samples.
fn first(points: &Points, count: usize) -> Result<Points, Refused> {
    let values = points.rows().take(count).flatten().copied().collect();
    Points::new(points.dims(), values)
}

fn by_reference(
    at: usize,
    (p, q): (&Points, &Points),
    most_exact: usize,
    [fourier, fastfood]: [Timed; 2],
) -> Result<Times, Refused> {
    let kernel = gaussian(real(p.dims()).sqrt());
    let count = p.len();
    let few = count.min(most_exact);
    let (few_p, few_q) = (Weighted::even(first(p, few)?), Weighted::even(first(q, few)?));
    let (exact, exact_time) = clock::least_of_three(|| exact::unbiased(&few_p, &few_q, kernel));
    let block = b_test::usual_block(count);
    let (b_test, b_test_time) = clock::least_of_three(|| b_test::mmd2(p, q, block, kernel));
    let (linear, linear_time) = clock::least_of_three(|| linear::mmd2(p, q, kernel));
    let growth = real(count) / real(few);
    Ok(Times {
        at,
        exact: exact_time * growth * growth,
        b_test: b_test_time,
        linear: linear_time,
        fourier: fourier.seconds,
        fastfood: fastfood.seconds,
        values: Values {
            exact: exact?,
            b_test: b_test?,
            linear: linear?,
            fourier: fourier.value,
            fastfood: fastfood.value,
        },
    })
}

/// The power of `at` with which a time grows, from the first point to the last.
#[must_use]
pub fn growth(times: &[Times], time: impl Fn(&Times) -> f64) -> f64 {
    match (times.first(), times.last()) {
        (Some(first), Some(last)) => {
            (time(last) / time(first)).ln() / (real(last.at) / real(first.at)).ln()
        }
        _ => f64::NAN,
    }
}

/// The limits for the core, with the measured values, and whether they are kept.
#[must_use]
pub fn promises(over_samples: &[Times], over_dimensions: &[Times]) -> Vec<(String, bool)> {
    let ratio = |time: fn(&Times) -> f64| {
        over_samples.last().map_or(f64::NAN, |most| time(most) / most.fastfood)
    };
    let at_least = |promise: tolerance::Tolerance, found: f64| {
        let text = format!("{}: {found:.0}, at least {:.0}", promise.operation, promise.limit);
        (text, found >= promise.limit)
    };
    let by_samples = growth(over_samples, |t| t.fastfood);
    let by_channels = growth(over_dimensions, |t| t.fastfood);
    let linear = tolerance::SPEED_LINEAR;
    let logarithmic = tolerance::SPEED_LOGARITHMIC;
    vec![
        at_least(tolerance::SPEED_OVER_EXACT, ratio(|t| t.exact)),
        at_least(tolerance::SPEED_OVER_B_TEST, ratio(|t| t.b_test)),
        (
            format!("{}: {by_samples:.2}, 1 ± {}", linear.operation, linear.limit),
            linear.admits(by_samples, 1.0),
        ),
        (
            format!("{}: {by_channels:.2}, up to {}", logarithmic.operation, logarithmic.limit),
            by_channels <= logarithmic.limit,
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Times that follow the expected powers, but `factor` times as long for Fastfood at the last
    /// point.
    fn times(places: [usize; 2], power: f64, factor: f64) -> Vec<Times> {
        let at = |at: usize, factor: f64| Times {
            at,
            exact: 4e3 * real(at),
            b_test: 20.0 * real(at),
            linear: real(at),
            fourier: real(at),
            fastfood: factor * real(at).powf(power),
            values: Values { exact: 0.0, b_test: 0.0, linear: 0.0, fourier: 0.0, fastfood: 0.0 },
        };
        vec![at(places[0], 1.0), at(places[1], factor)]
    }

    #[test]
    fn broken_promises_are_noticed() {
        let kept = |samples: &[Times], dimensions: &[Times]| -> Vec<bool> {
            promises(samples, dimensions).into_iter().map(|(_, kept)| kept).collect()
        };
        let (samples, channels) = ([1_000, 100_000], [8, 1024]);
        let (fast, flat) = (times(samples, 1.0, 1.0), times(channels, 0.2, 1.0));
        assert_eq!(kept(&fast, &flat), [true; 4]);
        assert_eq!(kept(&times(samples, 1.0, 3.0), &flat), [false, false, false, true]);
        assert_eq!(kept(&fast, &times(channels, 1.0, 1.0)), [true, true, true, false]);
        assert_eq!(kept(&[], &[]), [false; 4]);
    }

    #[test]
    fn both_charts_are_drawn() {
        let svg = chart::svg(&times([1_000, 100_000], 1.0, 1.0), &times([8, 1024], 0.2, 1.0));
        let svg = svg.expect("there are times");
        assert!(svg.starts_with("<svg") && svg.matches("Fastfood").count() >= 2);
        assert!(chart::svg(&[], &[]).is_err());
    }
}
