//! Derives the limits of the reproductions that no theory gives: measured with seeds that no report
//! and no other test uses, plus the stated margin. Takes minutes; run it when a method changes:
//! `cargo test --release -p fastmmd-tests calibration:: -- --ignored --nocapture`

use fastmmd_evaluation::reproduce::ensembles::{self, Change, ENSEMBLES};
use fastmmd_evaluation::reproduce::figure8::{self, HELD, METHODS};
use fastmmd_evaluation::reproduce::{Effort, embedding};
use fastmmd_reference::tolerance::{self, Tolerance};
use fastmmd_reference::{Refused, real};

/// Three standard deviations of the difference between a share measured in `here` trials and one in
/// `report` trials.
fn margin(share: f64, here: usize, report: usize) -> f64 {
    3.0 * (share * (1.0 - share) * (1.0 / real(here) + 1.0 / real(report))).sqrt()
}

/// The limit is the derived value, rounded to the lenient side.
fn derived(limit: Tolerance, least: f64) {
    println!("{}: {} from {least:.3}", limit.operation, limit.limit);
    tolerance::CALIBRATED.hold_below(limit.operation, least - limit.limit);
    assert!(limit.limit <= least, "{}: {} from {least}", limit.operation, limit.limit);
}

fn least(shares: &[f64]) -> f64 {
    shares.iter().copied().fold(f64::INFINITY, f64::min)
}

#[test]
#[ignore = "a calibration: a minute in release"]
fn powers_of_ensembles() -> Result<(), Refused> {
    let quick = [tolerance::ENSEMBLE_BLOBS_QUICK, tolerance::ENSEMBLE_SHAPE_QUICK];
    let full = [tolerance::ENSEMBLE_BLOBS, tolerance::ENSEMBLE_SHAPE];
    for (effort, here, limits) in [(Effort::Quick, 1000, quick), (Effort::Full, 400, full)] {
        let size = ensembles::size(effort);
        for (change, limit) in [Change::Blobs, Change::Shape].into_iter().zip(limits) {
            let calibrated = ensembles::Size { trials: here, ..size };
            let powers = ensembles::powers(change, calibrated, 7_100_000)?;
            println!("{effort:?}, {change:?}: {ENSEMBLES:?} {powers:.3?}");
            let power = least(&powers);
            derived(limit, power - margin(power, here, size.trials));
            let others = least(&powers[1..]) / powers[0];
            assert!(others > tolerance::ENSEMBLE_OVER_MMD.limit);
        }
    }
    Ok(())
}

#[test]
#[ignore = "a calibration: a minute in release"]
fn powers_of_figure_8() -> Result<(), Refused> {
    let quick = (Effort::Quick, 100, 24, tolerance::FIGURE8_POWER_QUICK);
    for (effort, here, report, limit) in [quick, (Effort::Full, 30, 30, tolerance::FIGURE8_POWER)] {
        let mut powers = [0.0; 6];
        for ratio in HELD {
            let shares = figure8::shares(50_000..50_000 + here, ratio, figure8::size(effort))?;
            for (power, share) in powers.iter_mut().zip(shares) {
                *power += share / real(HELD.len());
            }
        }
        println!("{effort:?}: {METHODS:?} {powers:.3?}");
        let power = least(&powers[..5]);
        let counts = [here, report].map(|count| count * HELD.len());
        derived(limit, power - margin(power, counts[0], counts[1]));
    }
    Ok(())
}

#[test]
#[ignore = "a calibration: a minute in release"]
fn frequencies_of_figure_8() -> Result<(), Refused> {
    let (quick, full) = (figure8::size_alone(Effort::Quick), figure8::size_alone(Effort::Full));
    let few = figure8::missed(50_100..50_500, 2, quick)?;
    derived(tolerance::FIGURE8_FEW, few - margin(few, 400, 24));
    let few = figure8::missed(50_100..50_300, 2, full)?;
    assert!(few - margin(few, 200, 100) > tolerance::FIGURE8_FEW.limit);
    let many = figure8::missed(50_100..50_500, 512, quick)?;
    println!("{many:.3} missed by 512 frequencies");
    // An upper limit: its difference from 1 is a lower one.
    let limit = tolerance::FIGURE8_TYPE_II_QUICK;
    let found = Tolerance { limit: 1.0 - limit.limit, ..limit };
    derived(found, 1.0 - many - margin(many, 400, 24));
    Ok(())
}

/// The limit is from theory; this checks that it is about three deviations and not five.
#[test]
#[ignore = "a validation: half a minute in release"]
fn skewness_of_figure_2() -> Result<(), Refused> {
    let mut squares = 0.0;
    for replication in 0..40 {
        let [measured, theory] = embedding::changed_skewness(600_000_000 + 10_000 * replication)?;
        tolerance::CHANGED_SKEWNESS.hold("fresh seeds", measured, theory);
        squares += (measured - theory).powi(2) / 40.0;
    }
    let deviations = tolerance::CHANGED_SKEWNESS.limit / squares.sqrt();
    println!("the limit is {deviations:.1} deviations of 40 replications");
    assert!((2.0..5.0).contains(&deviations));
    Ok(())
}
