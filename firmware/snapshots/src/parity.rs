//! A fixed computation that prints every bit of its results. `cargo xtask parity` also compiles
//! this file for the host, and compares the outputs.

use core::fmt::Arguments;

use fastmmd::features::ScalarOf;
use fastmmd::monitor::Monitor;
use fastmmd::shape::Fixed;
use fastmmd::{
    Detector, Error, Fastfood, FeatureMap, Fourier, Kernel, Sampling, TwoSample, checked, fixed,
};

use golden::{
    GOLDEN_DETECTOR, GOLDEN_DETECTOR_CYCLIC, GOLDEN_DETECTOR_FIXED, GOLDEN_DETECTOR_FIXED_CYCLIC,
    GOLDEN_FASTFOOD, GOLDEN_FIXED_FASTFOOD, GOLDEN_FIXED_FOURIER, GOLDEN_ORTHOGONAL, GOLDEN_PERIOD,
    GOLDEN_QUASI, GOLDEN_SEED, Golden, GoldenDetector, GoldenNumber, golden_config,
    golden_detector, golden_of, golden_pair, golden_sample,
};

/// The input and the expected values, shared with the tests on the host.
#[allow(clippy::doc_markdown, reason = "its own workspace knows the symbols it names")]
mod golden {
    include!("../../../host-tests/tests/golden.rs");
    include!("../../../host-tests/tests/golden_run.rs");
}

// Computed by the compiler on the host. The board must draw the same ones itself.
static QUASI: Fourier<3, 64> =
    checked!(Fourier::new(Kernel::GAUSSIAN, Sampling::Quasi, GOLDEN_SEED));
static ORTHOGONAL: Fourier<16, 128> =
    checked!(Fourier::new(Kernel::GAUSSIAN, Sampling::Orthogonal, GOLDEN_SEED));
static STRUCTURED: Fastfood<16, 16, 128> = Fastfood::gaussian(GOLDEN_SEED);
static FIXED: fixed::Fourier<3, 64> =
    checked!(fixed::Fourier::new(Kernel::GAUSSIAN, Sampling::Quasi, GOLDEN_SEED));
static FIXED_STRUCTURED: fixed::Fastfood<16, 16, 128> = fixed::Fastfood::gaussian(GOLDEN_SEED);

/// Passes every line of the report to `print`.
pub fn report(mut print: impl FnMut(Arguments<'_>)) {
    print(format_args!("Fourier<3, 64> quasi-random"));
    let drawn = is_drawn(&QUASI, || Fourier::new(Kernel::GAUSSIAN, Sampling::Quasi, GOLDEN_SEED));
    map(&QUASI, drawn, GOLDEN_QUASI, &mut print);
    print(format_args!("Fourier<16, 128> orthogonal"));
    let drawn =
        is_drawn(&ORTHOGONAL, || Fourier::new(Kernel::GAUSSIAN, Sampling::Orthogonal, GOLDEN_SEED));
    map(&ORTHOGONAL, drawn, GOLDEN_ORTHOGONAL, &mut print);
    print(format_args!("Fastfood<16, 16, 128>"));
    let drawn = is_drawn(&STRUCTURED, || Fastfood::new(Kernel::GAUSSIAN, GOLDEN_SEED));
    map(&STRUCTURED, drawn, GOLDEN_FASTFOOD, &mut print);
    print(format_args!("fixed::Fourier<3, 64> quasi-random"));
    let drawn =
        is_drawn(&FIXED, || fixed::Fourier::new(Kernel::GAUSSIAN, Sampling::Quasi, GOLDEN_SEED));
    map(&FIXED, drawn, GOLDEN_FIXED_FOURIER, &mut print);
    print(format_args!("fixed::Fastfood<16, 16, 128>"));
    let drawn = is_drawn(&FIXED_STRUCTURED, || fixed::Fastfood::new(Kernel::GAUSSIAN, GOLDEN_SEED));
    map(&FIXED_STRUCTURED, drawn, GOLDEN_FIXED_FASTFOOD, &mut print);
    detector("all legs", || Detector::new(&QUASI, golden_config()), GOLDEN_DETECTOR, &mut print);
    let cyclic = || Detector::new(&QUASI, golden_config().with_period(GOLDEN_PERIOD));
    detector("all legs and a cycle", cyclic, GOLDEN_DETECTOR_CYCLIC, &mut print);
    let integers = || Detector::new(&FIXED, golden_config());
    detector("in integers", integers, GOLDEN_DETECTOR_FIXED, &mut print);
    let cyclic = || Detector::new(&FIXED, golden_config().with_period(GOLDEN_PERIOD));
    detector("in integers, and a cycle", cyclic, GOLDEN_DETECTOR_FIXED_CYCLIC, &mut print);
}

/// The detector over the golden stream with a change in it.
#[inline(never)]
fn detector<X: GoldenNumber, M: Monitor<Row = [X; 3]>>(
    legs: &str,
    new: impl FnOnce() -> Result<M, Error>,
    pinned: GoldenDetector,
    print: &mut impl FnMut(Arguments<'_>),
) {
    print(format_args!("Detector over Fourier<3, 64>, {legs}"));
    match new().and_then(|mut detector| golden_detector(&mut detector)) {
        Ok(found) => {
            let GoldenDetector { record, verdicts, alarms, amended, first, score } = found;
            let [row, since, channel] = first;
            print(format_args!("  checksum {record:08x}, verdicts {verdicts:08x}"));
            print(format_args!(
                "  alarms {alarms}, {amended} amended, the first on row {row} since {since}, channel {channel}, \
                 score {score:08x}"
            ));
            print(format_args!("    the golden values: {}", found == pinned));
        }
        Err(error) => print(format_args!("  {error}")),
    }
}

/// Whether drawing at run time gives the same map. Not inlined, so that its stack is freed.
#[inline(never)]
fn is_drawn<M: PartialEq>(known: &M, draw: impl FnOnce() -> Result<M, Error>) -> bool {
    draw().as_ref() == Ok(known)
}

fn map<M: FeatureMap<Inputs = Fixed<D>>, const D: usize>(
    map: &M,
    drawn_alike: bool,
    pinned: Golden,
    print: &mut impl FnMut(Arguments<'_>),
) where
    ScalarOf<M>: GoldenNumber,
{
    print(format_args!("  drawn as when compiled: {drawn_alike}"));
    match (golden_pair(map, golden_sample), weighted(map)) {
        (Ok(plain), Ok(weighted)) => {
            line("as they come", plain, print);
            print(format_args!("    the golden values: {}", plain == pinned));
            line("weighted, forgotten, some removed", weighted, print);
        }
        (Err(error), _) | (_, Err(error)) => print(format_args!("  {error}")),
    }
}

fn line(name: &str, found: Golden, print: &mut impl FnMut(Arguments<'_>)) {
    let Golden { record, biased, unbiased } = found;
    print(format_args!(
        "  {name}: checksum {record:08x}, MMD² biased {biased:08x}, unbiased {unbiased:08x}"
    ));
}

/// A part of the golden streams, with every other operation that changes a sum.
fn weighted<M: FeatureMap<Inputs = Fixed<D>>, const D: usize>(map: &M) -> Result<Golden, Error>
where
    ScalarOf<M>: GoldenNumber,
{
    let mut test = TwoSample::new(map);
    for step in 0..100_u8 {
        let index = u32::from(step);
        let weight = 0.375 + f32::from(step);
        test.push_p_weighted(&golden_sample(index, false), weight)?;
        test.push_q_weighted(&golden_sample(index, true), weight)?;
        test.q_mut().forget(0.96875)?;
    }
    test.p_mut().remove(map, &golden_sample(7, false))?;
    golden_of(&test)
}
