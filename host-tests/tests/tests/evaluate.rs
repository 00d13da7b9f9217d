//! The detector on a few simulated devices: bounds are kept, tables are unchanged, and the controls
//! break their bounds.

use std::fs;
use std::path::Path;

use fastmmd::monitor::LoneOutliers;
use fastmmd_evaluation::evaluate::attribution::{self, Score};
use fastmmd_evaluation::evaluate::families::Family;
use fastmmd_evaluation::evaluate::run_length::{self, Trial};
use fastmmd_evaluation::evaluate::{Draw, SECTIONS, Scope, robustness, window_test};
use fastmmd_reference::tolerance;

fn holds(name: &str) {
    let section = SECTIONS.iter().find(|section| section.name == name).expect("a section");
    let report = (section.run)(Scope::Quick, Draw::default());
    println!("{}", report.text);
    let broken = report.broken();
    assert!(broken.is_empty(), "{broken:#?}");
    let file = format!("../evaluation/tables/{name}{}.md", Scope::Quick.suffix());
    let kept = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(&file));
    // Line by line, to show the first that differs.
    let (kept, now) = (kept.unwrap_or_default(), report.text);
    let differs = kept.lines().zip(now.lines()).find(|(kept, now)| kept != now);
    assert!(
        kept == now,
        "{file} differs (kept, now): {differs:#?}; if it should: \
         cargo xtask evaluate --quick --overwrite"
    );
}

#[test]
fn memory() {
    holds("ram");
}

#[test]
fn p_values() {
    holds("type-i");
}

#[test]
fn run_lengths() {
    holds("run-length");
}

#[test]
fn outliers_and_stuck_channels() {
    holds("robustness");
}

#[test]
fn channel_kind_and_onset() {
    holds("attribution");
    let score = Score::of(&attribution::trials(Family::Gaussian, 50, 64));
    let (channel, kind) = (score.channel().1, score.kind().1);
    assert!(channel >= tolerance::ATTRIBUTED_CHANNEL.limit, "{channel}");
    assert!(kind >= tolerance::ATTRIBUTED_KIND.limit, "{kind}");
}

#[test]
fn delays_on_the_published_suite() {
    holds("delay-published");
}

#[test]
fn delays_by_change() {
    holds("delay");
}

#[test]
fn every_section_has_a_test_and_a_table() {
    let tests = include_str!("evaluate.rs");
    for section in SECTIONS {
        let call = ["holds(", &format!("{:?}", section.name), ")"].concat();
        assert!(tests.contains(&call), "{}", section.name);
        for scope in [Scope::Quick, Scope::Full] {
            let file = format!("../evaluation/tables/{}{}.md", section.name, scope.suffix());
            assert!(Path::new(env!("CARGO_MANIFEST_DIR")).join(&file).exists(), "{file}");
        }
    }
}

/// The control: a detector whose thresholds are 30 % too low has too many false alarms, and the
/// bound shows it.
#[test]
fn lowered_thresholds_break_the_run_length() {
    let trial = Trial {
        family: Family::Gaussian,
        channels: 3,
        promise: 1e3,
        learning_rows: 4096,
        devices: 40,
        factor: 0.7,
    };
    let lowered = run_length::measure(&trial, 1);
    assert!(!lowered.kept(), "{}", lowered.mean());
    let shortest = tolerance::RUN_LENGTH_SHORTEST;
    assert!(lowered.mean() < shortest.limit, "{}", lowered.mean());
    let honest = run_length::measure(&Trial { factor: 1.0, ..trial }, 1);
    assert!(honest.mean() >= shortest.limit, "{}", honest.mean());
    tolerance::RUN_LENGTH_LONGEST_AT_1000.hold_below("Gaussian, 3", honest.mean());
}

/// A time between false alarms ten times as long, with the learning rows it needs.
#[test]
fn a_longer_promise() {
    let trial = Trial {
        family: Family::Autoregressive(0.5),
        channels: 1,
        promise: 1e4,
        learning_rows: 16_384,
        devices: 40,
        factor: 1.0,
    };
    let lengths = run_length::measure(&trial, 2);
    assert!(lengths.mean() >= tolerance::RUN_LENGTH_SHORTEST.limit, "{}", lengths.mean());
    tolerance::RUN_LENGTH_LONGEST_AT_10000.hold_below("AR(1) 0.5, 1", lengths.mean());
}

/// Outliers that count like any row raise alarms; held back, they do not.
#[test]
fn outliers_alarm_unless_held_back() {
    let counted = robustness::measure(LoneOutliers::Count, 10);
    assert!(counted.caused() > 0, "{counted:?}");
    assert_eq!(counted.felt(), counted.trials * counted.felt.len(), "{counted:?}");
    let held = robustness::measure(LoneOutliers::HoldBack, 10);
    assert_eq!((held.caused(), held.felt()), (0, 0), "{held:?}");
}

/// A test for independent rows is right for such rows, and fails the bound for others.
#[test]
fn the_formula_for_independent_rows_fails_on_others() {
    let correlated = window_test::measure_independent(Family::Autoregressive(0.9), 20);
    assert!(!correlated.kept(), "{correlated:?}");
    let limit = tolerance::TYPE_I_AT_5.limit;
    assert!(correlated.ratio_at_5() > 1.0 + 10.0 * limit, "{correlated:?}");
    let independent = window_test::measure_independent(Family::Gaussian, 60);
    assert!(tolerance::TYPE_I_AT_5.admits(independent.ratio_at_5(), 1.0), "{independent:?}");
    assert!(tolerance::TYPE_I_AT_1.admits(independent.ratio_at_1(), 1.0), "{independent:?}");
}
