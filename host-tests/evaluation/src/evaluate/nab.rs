//! The Numenta Anomaly Benchmark, with rules that do not depend on the labels.
//!
//! The detector learns from the first 15 % of each file, at least 768 rows, with the same settings.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use super::recordings::{
    AGAIN, APART, PROMISE, Recording, Score, Unreadable, blind, every, number, score, table,
};
use super::table::Table;
use super::{Report, integers};
use fastmmd_reference::{real, tolerance};

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
pub fn read(directory: &Path) -> Result<Vec<Recording>, Unreadable> {
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
) -> Result<Recording, Unreadable> {
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
        lines.iter().map(|line| Ok(vec![number(&path, &line[1])?])).collect();
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
pub fn within_reach(recording: &Recording) -> usize {
    recording.events.iter().filter(|event| *event.end() >= recording.learning).count()
}

/// Promises, to show what is caught at more or fewer false episodes.
const PROMISES: [f32; 5] = [1e3, 3e3, 1e4, 3e4, 1e5];

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
             Default settings, promise {PROMISE}, the same for every file; learned from the first \
             15 % and at least 768 rows. Alarms less than {APART} rows apart are one episode, which \
             counts again after {AGAIN} rows. An alarm in a window catches it, an episode outside \
             all windows is false.",
            recordings.len()
        ),
    );

    let mut groups: BTreeMap<&str, Vec<Recording>> = BTreeMap::new();
    for recording in &recordings {
        groups.entry(&recording.group).or_default().push(recording.clone());
    }
    let mut table = Table::new(["group", "files", "windows in reach", "caught", "false"]);
    for (group, files) in &groups {
        let score = score(PROMISE, files, 0);
        let reach = files.iter().map(within_reach).sum();
        let cells = [files.len(), reach, score.caught, score.false_alarms];
        table.line([(*group).to_owned()].into_iter().chain(cells.map(|cell| cell.to_string())));
    }
    let all = score(PROMISE, &recordings, 0);
    let cells = [recordings.len(), reach, all.caught, all.false_alarms];
    table.line(["all".to_owned()].into_iter().chain(cells.map(|cell| cell.to_string())));
    report.table("By group", &table);

    let mut table = Table::new(["promise, without the first rows", "0", "13", "29", "47"]);
    for promise in PROMISES {
        let cells = CROPS.map(|crop| show(score(promise, &recordings, crop)));
        table.line([format!("{promise}")].into_iter().chain(cells));
    }
    report.table("Caught/false by promise", &table);

    let mut table = Table::new(["blind", "caught", "false"]);
    let stray = all.false_alarms;
    let random = blind(&recordings, stray);
    let caught = real(windows) - random.mean;
    table.line(["random alarms".to_owned(), format!("{caught:.1}"), stray.to_string()]);
    for step in [1, 100] {
        let Score { caught, false_alarms, .. } = every(&recordings, step);
        let name = format!("every {step} rows");
        table.line([name, caught.to_string(), false_alarms.to_string()]);
    }
    report.table("Baselines that look at nothing", &table);

    let (table, same) = integers::agreement::<1>(&recordings);
    report.table("As counts of 16 bits", &table);
    let wanted = tolerance::INTEGERS_RECORDINGS.limit;
    report.want_at_least("share of alarms in integers on the same rows", same, wanted);

    if half {
        let (caught, stray) = (real(all.caught), real(stray));
        report.want_at_least("windows caught", caught, tolerance::NAB_WANTED_CAUGHT.limit);
        report.want_at_most("false episodes", stray, tolerance::NAB_WANTED_FALSE.limit);
        report.hold_least("NAB windows caught", caught, tolerance::NAB_CAUGHT);
        report.hold_most("NAB false episodes", stray, tolerance::NAB_FALSE);
        report.settle(tolerance::NAB_UNMET);
    }
    Ok((report, half))
}

fn show(score: Score) -> String {
    format!("{}/{}", score.caught, score.false_alarms)
}
