//! `replay` of public recordings raises the alarms of the detector with its shape in its type, bit
//! for bit, with the settings of the core and by default.
//!
//! Set `FASTMMD_NAB` and `FASTMMD_SKAB` to checkouts of numenta/NAB and waico/SKAB. Without them,
//! and without any beside the project, these tests print that they are skipped and pass.

use std::fs;
use std::path::{Path, PathBuf};

use crate::common::fastmmd;
use fastmmd::monitor::{Alarm, NotANumber};
use fastmmd::{Config, Detector, Fourier, Verdict};
use serde_json::{Value, json};

/// Learning rows of the recordings of SKAB.
const LEARNING: u32 = 400;

/// The files of a checkout, in all its folders.
fn files(variable: &str, name: &str) -> Vec<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data").join(name);
    let data = std::env::var_os(variable).map_or(beside, PathBuf::from).join("data");
    if !data.is_dir() {
        println!("skipped: no recordings in {variable}");
        return Vec::new();
    }
    let entries = |path: &Path| -> Vec<PathBuf> {
        let entries = fs::read_dir(path).expect("a directory");
        entries.map(|entry| entry.expect("an entry").path()).collect()
    };
    let folders = entries(&data).into_iter().filter(|path| path.is_dir());
    let csv = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "csv");
    let mut files: Vec<PathBuf> = folders.flat_map(|path| entries(&path)).filter(csv).collect();
    files.sort();
    files
}

/// The first columns after the time.
fn rows<const C: usize>(file: &Path) -> Vec<[f32; C]> {
    let text = fs::read_to_string(file).expect("a recording");
    let separator = if text.contains(';') { ';' } else { ',' };
    let row = |line: &str| {
        let mut cells = line.split(separator).skip(1);
        std::array::from_fn(|_| cells.next().and_then(|cell| cell.parse().ok()).expect("a number"))
    };
    text.lines().skip(1).map(row).collect()
}

/// What is said of the rows by a detector over a map in its type.
fn said<const C: usize>(rows: &[[f32; C]], config: Config) -> Vec<Value> {
    let map = Fourier::<C, 32>::additive(1);
    let mut detector = Detector::new(&map, config).expect("valid settings");
    let told = |alarm: Alarm, event: &str| {
        let since = alarm.since;
        json!([event, alarm.row, since, alarm.channel, alarm.change.name(), alarm.leg.name()])
    };
    let verdict = |row| match detector.push(row).expect("finite") {
        Verdict::Alarm(alarm) => Some(told(alarm, "alarm")),
        Verdict::Amended(alarm) => Some(told(alarm, "amended")),
        Verdict::Learning { .. } | Verdict::Healthy | Verdict::Drifting => None,
    };
    rows.iter().filter_map(verdict).collect()
}

/// The same by the command.
fn replayed(file: &Path, options: &[&str]) -> Vec<Value> {
    let file = file.to_str().expect("UTF-8");
    let ran = fastmmd(&[&["replay", file, "--json"], options].concat());
    assert!(ran.code < 2, "{file} {ran:?}");
    let summary = ran.json().pop().expect("a summary");
    assert_eq!(summary["drift"], ran.code == 1);
    let mut lines = ran.json();
    lines.pop();
    let names = ["event", "row", "since_row", "channel", "change", "leg"];
    lines.iter().map(|line| Value::from_iter(names.map(|name| line[name].clone()))).collect()
}

fn settings(learning_rows: u32, mean_time: f32) -> Config {
    let not_a_number = NotANumber::Missing;
    Config { learning_rows, not_a_number, ..Config::rows(mean_time) }
}

#[test]
fn numenta() {
    let mut all = 0;
    for file in files("FASTMMD_NAB", "nab") {
        let rows = rows::<1>(&file);
        // The defaults: 15 % of the rows, or 768 or half of a short log.
        let part = (rows.len() * 15 / 100).max(768.min(rows.len() / 2)).min(4096);
        let learn = u32::try_from(part).expect("few");
        let supported = settings(learn, 1e4).supported_mean_time();
        // Two digits.
        let digit = if supported < 1e3 { 10.0 } else { 100.0 };
        let promise = if supported < 1e4 { digit * (supported / digit).floor() } else { 1e4 };
        let expected = said(&rows, settings(learn, promise));
        assert_eq!(replayed(&file, &[]), expected, "{}", file.display());
        all += expected.len();
    }
    println!("{all} alarms");
}

#[test]
fn skoltech() {
    let mut all = 0;
    for file in files("FASTMMD_SKAB", "skab") {
        let expected = said(&rows::<8>(&file), settings(LEARNING, 7e3));
        let learn = format!("--learn={LEARNING}");
        let options = [&learn, "--mtbfa=7000", "--columns=2,3,4,5,6,7,8,9"];
        assert_eq!(replayed(&file, &options), expected, "{}", file.display());
        all += expected.len();
    }
    println!("{all} alarms");
}
