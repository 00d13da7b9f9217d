//! `replay` of public recordings raises the alarms that the evaluation counts.
//!
//! Set `FASTMMD_NAB` and `FASTMMD_SKAB` to checkouts of numenta/NAB and waico/SKAB. Without them,
//! and without any beside the project, these tests print that they are skipped and pass.

mod common;

use std::path::{Path, PathBuf};

use common::fastmmd;
use fastmmd::condition::{Innovation, Raw};
use fastmmd::shape::Windows;
use fastmmd::{Config, Detector, Fourier, Verdict};
use fastmmd_evaluation::evaluate::recordings::{Recording, alarms};
use fastmmd_evaluation::evaluate::{nab, skab};

fn checkout(variable: &str, name: &str) -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data").join(name);
    let path = std::env::var_os(variable).map_or(beside, PathBuf::from);
    if path.is_dir() {
        return Some(path);
    }
    println!("skipped: no recordings in {variable}");
    None
}

fn replayed(file: &Path, options: &[&str]) -> Vec<usize> {
    let file = file.to_str().expect("UTF-8");
    let ran = fastmmd(&[&["replay", file, "--json", "--allow-constant"], options].concat());
    assert!(ran.code < 2, "{file} {ran:?}");
    assert_eq!(ran.code == 1, !ran.alarm_rows().is_empty());
    ran.alarm_rows()
}

#[test]
fn numenta() {
    let Some(checkout) = checkout("FASTMMD_NAB", "nab") else { return };
    let recordings = nab::read(&checkout).expect("a checkout");
    let mut all = 0;
    for recording in &recordings {
        let file = checkout.join("data").join(&recording.group).join(&recording.name);
        let learn = recording.learning.to_string();
        let expected = alarms(&nab::settings(), &recording.rows, recording.learning);
        assert_eq!(replayed(&file, &["--learn", &learn]), expected, "{}", recording.name);
        // The command's defaults are the settings of the evaluation.
        assert_eq!(replayed(&file, &[]), expected, "{}", recording.name);
        all += expected.len();
    }
    println!("{} files, {all} alarms", recordings.len());
    assert!(all > 0);
}

const SENSORS: &str = "--columns=2,3,4,5,6,7,8,9";

fn skab_files() -> Option<(PathBuf, Vec<Recording<8>>)> {
    let checkout = checkout("FASTMMD_SKAB", "skab")?;
    let benchmark = skab::read(&checkout).expect("a checkout");
    let all = benchmark.experiments.into_iter().chain([benchmark.healthy]).collect();
    Some((checkout.join("data"), all))
}

#[test]
fn skoltech() {
    let Some((data, recordings)) = skab_files() else { return };
    let mut all = 0;
    for recording in &recordings {
        let file = data.join(&recording.group).join(format!("{}.csv", recording.name));
        let expected = alarms(&skab::settings(7e3), &recording.rows, skab::LEARNING);
        let options = ["--learn=400", "--mean-time-between-false-alarms=7000"];
        let policy = ["--on-alarm=relearn", "--hold-off=50", SENSORS];
        assert_eq!(replayed(&file, &[options.as_slice(), &policy].concat()), expected);
        all += expected.len();
    }
    println!("{} files, {all} alarms", recordings.len());
    assert!(all > 0);
}

/// The settings of the emulated board's program for recordings; results must agree bit for bit.
#[test]
fn skoltech_as_on_the_board() {
    let Some((data, recordings)) = skab_files() else { return };
    let config: Config<Innovation<8>, Windows<3>> = Config {
        scaling_rows: 64,
        learning_rows: 320,
        ..Config::<Raw<8>>::rows(1000.0).with_windows([4, 16, 64]).with_view()
    };
    let map = Fourier::<8, 32>::gaussian(1);
    let mut all = 0;
    for recording in &recordings {
        let mut detector = Detector::new(&map, config).expect("valid settings");
        let alarmed = |(_, row): &(usize, &[f32; 8])| {
            matches!(detector.push(row).expect("finite"), Verdict::Alarm(_))
        };
        let rows = recording.rows.iter().enumerate().filter(alarmed);
        let expected: Vec<usize> = rows.map(|(row, _)| row).collect();
        let file = data.join(&recording.group).join(format!("{}.csv", recording.name));
        let shape = ["--features=32", "--windows=4,16,64", "--scaling=64", "--learn=384", SENSORS];
        let promise = ["--mean-time-between-false-alarms=1000", "--hold-off=256"];
        let fixed = ["--sigma=family", "--reference-memory=0", "--threshold-memory=0"];
        let rest = ["--view=innovation", "--lone-outliers=hold-back"];
        let options = [&shape[..], &promise, &fixed, &rest].concat();
        assert_eq!(replayed(&file, &options), expected, "{}", recording.name);
        all += expected.len();
    }
    println!("{} files, {all} alarms", recordings.len());
    assert!(all > 0);
}
