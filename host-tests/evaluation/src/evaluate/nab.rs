//! The Numenta Anomaly Benchmark, with rules that do not depend on the labels.
//!
//! The detector learns from the first 15 % of each file, at least 768 rows, with the same settings.
//! Alarms are single rows at least 100 rows apart.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use fastmmd::dynamic::Config;
use fastmmd::monitor::{LoneOutliers, Policy};

use super::recordings::{
    DRAWS, PROMISE, Recording, Score, Unreadable, cropped, every, mean, number, preset,
    random_alarm, table,
};
use super::table::Table;
use super::{Check, Report};
use fastmmd_reference::generate::Generator;
use fastmmd_reference::{real, tolerance};

/// Smallest number of rows between alarms.
pub const HOLD_OFF: u32 = 100;
/// Numbers of rows dropped from the start of every file, to see how much depends on chance.
pub const CROPS: [usize; 4] = [0, 13, 29, 47];
/// Windows in the half that the bounds are for.
const WINDOWS_OF_HALF: usize = 61;

/// A labelled file: windows by their first and last timestamp.
type Labels = BTreeMap<String, Vec<[String; 2]>>;

/// Reads a checkout.
///
/// # Errors
/// If a file is missing or has another format.
pub fn read(directory: &Path) -> Result<Vec<Recording<1>>, Unreadable> {
    let path = directory.join("labels/combined_windows.json");
    let text = fs::read_to_string(&path).map_err(|error| {
        Unreadable::new(&path, format!("{error}; is this a checkout of numenta/NAB?"))
    })?;
    let labels: Labels =
        serde_json::from_str(&text).map_err(|error| Unreadable::new(&path, error))?;
    labels.iter().map(|(name, windows)| read_file(directory, name, windows)).collect()
}

fn read_file(
    directory: &Path,
    name: &str,
    windows: &[[String; 2]],
) -> Result<Recording<1>, Unreadable> {
    let path = directory.join("data").join(name);
    let lines = table(&path, b',')?;
    let refused = |why: String| Unreadable::new(&path, why);
    let Some((headings, lines)) = lines.split_first() else {
        return Err(refused("empty".to_owned()));
    };
    if headings != &["timestamp", "value"] {
        return Err(refused(format!("columns {headings:?} instead of timestamp,value")));
    }
    let rows: Result<Vec<_>, Unreadable> =
        lines.iter().map(|line| Ok([number(&path, &line[1])?])).collect();
    let rows = rows?;
    let learning = learning_rows(lines.len());
    if lines.len() <= learning {
        return Err(refused(format!("only {} rows", lines.len())));
    }
    // Timestamps of one format can be sorted as text; labels have microseconds, data have not.
    let second = |timestamp: &str| timestamp.chars().take(19).collect::<String>();
    let times: Vec<String> = lines.iter().map(|line| second(&line[0])).collect();
    let mut events = Vec::new();
    for [from, to] in windows {
        let first = times.iter().position(|time| *time >= second(from));
        let last = times.iter().rposition(|time| *time <= second(to));
        match (first, last) {
            (Some(first), Some(last)) if first <= last => events.push(first..=last),
            _ => return Err(refused(format!("no rows from {from} to {to}"))),
        }
    }
    let (group, name) = name.split_once('/').unwrap_or(("", name));
    Ok(Recording { group: group.to_owned(), name: name.to_owned(), rows, learning, events })
}

/// Number of learning rows of a file of `rows` rows.
#[must_use]
pub fn learning_rows(rows: usize) -> usize {
    (rows * 15 / 100).max(768)
}

/// Number of windows that end after learning: the others cannot be caught.
#[must_use]
pub fn within_reach(recording: &Recording<1>) -> usize {
    recording.events.iter().filter(|event| *event.end() >= recording.learning).count()
}

/// The score of settings on all files without their first `crop` rows.
#[must_use]
pub fn score(config: &Config, recordings: &[Recording<1>], crop: usize) -> Score {
    let of = |recording| Score::of(&cropped(config, recording, crop), &recording.events);
    recordings.iter().map(of).sum()
}

/// The settings for every file.
#[must_use]
pub fn settings() -> Config {
    Config { policy: Policy::OncePerChange(HOLD_OFF), ..preset(PROMISE) }
}

/// Random alarms, as many as `count`, averaged: windows caught and false alarms.
fn blind(recordings: &[Recording<1>], count: usize) -> [String; 2] {
    let mut numbers = Generator::new(1);
    let draw = |_| -> Score {
        let mut alarms = vec![Vec::new(); recordings.len()];
        for _ in 0..count {
            let (file, row) = random_alarm(recordings, &mut numbers);
            alarms[file].push(row);
        }
        let files = recordings.iter().zip(&alarms);
        files.map(|(recording, alarms)| Score::of(alarms, &recording.events)).sum()
    };
    let scores: Vec<Score> = (0..DRAWS).map(draw).collect();
    [
        mean(scores.iter().map(|score| score.caught)),
        mean(scores.iter().map(|score| score.false_alarms)),
    ]
}

/// Measures. The recorded table and the bounds are for one half of the files; also returns whether
/// this is that half.
///
/// # Errors
/// Those of [`read`].
pub fn run(directory: &Path) -> Result<(Report, bool), Unreadable> {
    let recordings = read(directory)?;
    let windows: usize = recordings.iter().map(|recording| recording.events.len()).sum();
    let reach: usize = recordings.iter().map(within_reach).sum();
    let half = windows == WINDOWS_OF_HALF;
    let mut report = Report::new(
        "Numenta Anomaly Benchmark",
        &format!(
            "{} files, {windows} windows, of which {reach} do not end before learning does. \
             `Config::innovation({PROMISE})`, the same for every file; learned from the first 15 % \
             and at least 768 rows. An alarm is one row; alarms are at least {HOLD_OFF} rows \
             apart; one in a window catches it, one outside all windows is false. The settings of \
             the preset, and the promise, were chosen on the half of 61 windows with its labels: \
             what they reach on other files is not measured here.",
            recordings.len()
        ),
    );

    let mut groups: BTreeMap<&str, Vec<Recording<1>>> = BTreeMap::new();
    for recording in &recordings {
        groups.entry(&recording.group).or_default().push(recording.clone());
    }
    let mut table = Table::new(["group", "files", "windows in reach", "caught", "false"]);
    for (group, files) in &groups {
        let score = score(&settings(), files, 0);
        let reach = files.iter().map(within_reach).sum();
        let cells = [files.len(), reach, score.caught, score.false_alarms];
        table.line([(*group).to_owned()].into_iter().chain(cells.map(|cell| cell.to_string())));
    }
    let all = score(&settings(), &recordings, 0);
    let cells = [recordings.len(), reach, all.caught, all.false_alarms];
    table.line(["all".to_owned()].into_iter().chain(cells.map(|cell| cell.to_string())));
    report.table("By group", &table);

    let mut table = Table::new(["caught/false without the first rows", "0", "13", "29", "47"]);
    let relearn = Policy::Relearn { hold_off: HOLD_OFF, settle: 1000 };
    for (name, config) in [
        ("preset", settings()),
        ("lone outliers held back", Config { lone_outliers: LoneOutliers::HoldBack, ..settings() }),
        ("relearning after 100 rows", Config { policy: relearn, ..settings() }),
        ("promise halved", Config { mean_time_between_false_alarms: PROMISE / 2.0, ..settings() }),
        ("promise doubled", Config { mean_time_between_false_alarms: PROMISE * 2.0, ..settings() }),
    ] {
        let scores = CROPS.map(|crop| score(&config, &recordings, crop));
        let cells = scores.map(|score| format!("{}/{}", score.caught, score.false_alarms));
        table.line([name.to_owned()].into_iter().chain(cells));
    }
    report.table("Sensitivity", &table);

    let count = all.caught + all.false_alarms;
    let mut table = Table::new(["blind", "caught", "false"]);
    table.line([format!("{count} random alarms")].into_iter().chain(blind(&recordings, count)));
    let often = every(&recordings, 100);
    let cells = [often.caught, often.false_alarms].map(|cell| cell.to_string());
    table.line(["every 100 rows".to_owned()].into_iter().chain(cells));
    report.table("Baselines that look at nothing", &table);

    if half {
        let (caught, false_alarms) = (real(all.caught), real(all.false_alarms));
        let kept = caught >= tolerance::NAB_CAUGHT.limit;
        report.hold(Check { what: "NAB windows caught".to_owned(), value: caught, kept });
        let kept = false_alarms <= tolerance::NAB_FALSE.limit;
        report.hold(Check { what: "NAB false episodes".to_owned(), value: false_alarms, kept });
    }
    Ok((report, half))
}
