//! The detector on a few simulated devices: bounds are kept, tables are unchanged, and the controls
//! break their bounds.

use std::fs;
use std::path::Path;

use fastmmd_evaluation::evaluate::attribution::{self, Score};
use fastmmd_evaluation::evaluate::detection::{self, Change, Process};
use fastmmd_evaluation::evaluate::promise::{self, Plan};
use fastmmd_evaluation::evaluate::robustness::{self, Fault, Start};
use fastmmd_evaluation::evaluate::signals::Kind;
use fastmmd_evaluation::evaluate::{Draw, Report, SECTIONS, Scope, masking, slow_drift};
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

/// More learning never makes it worse: the time between false alarms is not shorter than wanted, and
/// more is wanted from as many learning rows as the promise has on.
#[test]
fn more_learning_keeps_the_promise_as_well() {
    for (cell, kind) in [Kind::White, Kind::StudentT].into_iter().enumerate() {
        for learning in [4096, 16_384, 65_536] {
            let plan = Plan { promise: 1e4, told: 1e4, learning, devices: 12 };
            let kept = promise::measure(&plan, kind, 1, 7000 + cell);
            let [least, _] = plan.wanted();
            println!("{kind:?}, {learning} rows: {:.2} of at least {least}", kept.pooled);
            assert!(kept.pooled >= least, "{kind:?}, {learning} rows: {kept:?}");
        }
    }
}

#[test]
fn what_is_found() {
    holds("detection");
}

#[test]
fn ramps() {
    holds("slow-drift");
}

#[test]
fn the_promise() {
    holds("promise");
}

#[test]
fn false_alarms_before_a_change() {
    holds("masking");
}

#[test]
fn outliers_and_dead_channels() {
    holds("robustness");
}

#[test]
fn channel_kind_and_onset() {
    holds("attribution");
}

#[test]
fn delays_on_the_published_suite() {
    holds("delay-published");
}

#[test]
fn integers_beside_floats() {
    holds("integers");
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

/// The control: a detector that is told a fifth of the promise has too many false alarms.
#[test]
fn a_broken_promise_is_noticed() {
    let honest = Plan { promise: 1e3, told: 1e3, learning: 4096, devices: 30 };
    let short = Plan { told: 200.0, ..honest };
    let kept = promise::measure(&short, Kind::White, 1, 1);
    assert!(kept.pooled < tolerance::PROMISE_SHORTEST.limit, "{kept:?}");
    assert!(!kept.is_as_wanted(&short));
    let long = Plan { told: 2e4, ..honest };
    let kept = promise::measure(&long, Kind::White, 1, 1);
    assert!(kept.pooled > tolerance::PROMISE_LONGEST.limit, "{kept:?}");
    assert!(!kept.is_as_wanted(&long));
    let kept = promise::measure(&honest, Kind::White, 1, 1);
    assert!(kept.is_as_wanted(&honest), "{kept:?}");
}

/// The control: what does not change is not found, nor is anything at a promise of ages.
#[test]
fn nothing_is_not_found() {
    let nothing = detection::found(Process::White, Change::Mean(0.0), 1e4, 10, 1);
    assert!(nothing.share() < tolerance::DETECTION_FOUND_SMALL.limit, "{nothing:?}");
    let deaf = detection::found(Process::White, Change::Mean(0.5), 1e15, 10, 1);
    let found = detection::found(Process::White, Change::Mean(0.5), 1e4, 10, 1);
    assert!(found.share() >= tolerance::DETECTION_FOUND.limit, "{found:?}");
    assert!(deaf.median() > detection::wanted_delay(found.median()), "{deaf:?}");
    assert!(detection::wanted_delay(10.0) < 31.0 && detection::wanted_delay(1000.0) > 1499.0);
}

/// The control: without a ramp none is found.
#[test]
fn no_ramp_is_not_found() {
    let found = |height| {
        (0..4).filter(move |seed| slow_drift::attempt(Kind::White, height, 3000, *seed).is_found())
    };
    assert_eq!((found(0.0).count(), found(3.0).count()), (0, 4));
}

/// The control: without a step the bound of masking is broken.
#[test]
fn no_step_is_not_told_of() {
    let told = masking::share(0.0, true, 1, 20);
    assert!(told < tolerance::MASKED_FOUND.limit, "{told}");
}

/// The control: no outlier causes nothing, and no fault is not found.
#[test]
fn no_outlier_and_no_fault() {
    let caused = robustness::outliers(Kind::White, 0.0, true, 8, 1);
    assert_eq!(caused.to_bits(), 0, "{caused}");
    let found = robustness::faults(Start::Clean, Fault::Nothing, 100, 20, 1);
    let count = found.iter().flatten().count();
    assert!(count <= 2, "{found:?}");
    let found = robustness::faults(Start::Clean, Fault::Step, 100, 20, 1);
    assert_eq!(found.iter().flatten().count(), 20);
}

/// The control: always the first channel and its level is not what is wanted.
#[test]
fn blind_attribution_is_not_enough() {
    let score = Score::of(&attribution::trials((Kind::White, 1.0), 50, 72));
    let unmet = |score: &Score| {
        let mut report = Report::new("", "");
        score.want(&mut report);
        report.unmet()
    };
    assert_eq!((unmet(&score), unmet(&score.blind())), (0, 2), "{score:?}");
}
