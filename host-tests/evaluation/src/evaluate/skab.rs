//! The Skoltech Anomaly Benchmark: eight sensors of a pump.
//!
//! Alarms on fixed rows can beat its own scores, since every experiment follows the same timetable.
//! This counts missed change points and false alarms, both compared with blind baselines; alarms on
//! the recording without anomalies; and whether alarms move with the data.

use std::path::Path;

use super::recordings::{
    AGAIN, APART, PROMISE, Recording, Score, Unreadable, alarms, blind, every, files, number,
    pooled, score, table,
};
use super::table::Table;
use super::{Report, integers};
use fastmmd_reference::{real, tolerance};

/// Number of sensors.
pub const CHANNELS: usize = 8;
/// Number of learning rows of every experiment.
pub const LEARNING: usize = 400;
/// Number of rows within which a change point must be noticed.
pub const WITHIN: usize = 60;
/// A stricter limit, also printed.
const WITHIN_STRICT: usize = 30;
/// Rows on which a blind detector alarms in every file: the usual onsets.
const FIXED_ROWS: [usize; 4] = [573, 631, 917, 974];
/// Change points in the half that the bounds are for.
const CHANGES_OF_HALF: usize = 63;
/// Promises, to show the misses at more or fewer false alarms.
const PROMISES: [f32; 7] = [400.0, 1e3, 3e3, 1e4, 3e4, 1e5, 1e6];
/// Rows cropped or prepended in the shift test: unlike any distance between the fixed rows.
pub const SHIFT: usize = 40;
/// Largest distance, in rows, at which an alarm counts as being at its old place.
const SAME_PLACE: usize = 10;

/// A checkout.
#[derive(Debug, Clone, PartialEq)]
pub struct Benchmark {
    /// Recordings with change points.
    pub experiments: Vec<Recording>,
    /// The one without.
    pub healthy: Recording,
}

/// Reads a checkout.
///
/// # Errors
/// If a file is missing or has another format.
pub fn read(directory: &Path) -> Result<Benchmark, Unreadable> {
    let data = directory.join("data");
    let mut experiments = Vec::new();
    for group in ["valve1", "valve2", "other"] {
        let folder = data.join(group);
        let found = files(&folder).map_err(|error| {
            Unreadable::new(&folder, format!("{error}; is this a checkout of waico/SKAB?"))
        })?;
        for path in found {
            experiments.push(read_file(&path, group, true)?);
        }
    }
    let free = data.join("anomaly-free/anomaly-free.csv");
    Ok(Benchmark { experiments, healthy: read_file(&free, "anomaly-free", false)? })
}

fn read_file(path: &Path, group: &str, labelled: bool) -> Result<Recording, Unreadable> {
    let lines = table(path, b';')?;
    let refused = |why: String| Unreadable::new(path, why);
    let Some((headings, lines)) = lines.split_first() else {
        return Err(refused("empty".to_owned()));
    };
    let changed = headings.iter().position(|heading| heading == "changepoint");
    if headings.len() <= CHANNELS || changed.is_some() != labelled {
        return Err(refused(format!("unexpected columns {headings:?}")));
    }
    if lines.len() <= LEARNING {
        return Err(refused(format!("only {} rows", lines.len())));
    }
    let mut rows = Vec::new();
    let mut changes = Vec::new();
    for (row, line) in lines.iter().enumerate() {
        let mut values = vec![0.0; CHANNELS];
        for (value, cell) in values.iter_mut().zip(&line[1..]) {
            *value = number(path, cell)?;
        }
        rows.push(values);
        if let Some(column) = changed
            && number(path, &line[column])? > 0.0
        {
            changes.push(row);
        }
    }
    let name = path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    Ok(Recording {
        group: group.to_owned(),
        name: name.unwrap_or_default(),
        rows,
        learning: LEARNING,
        events: events(&changes, WITHIN),
    })
}

/// From each change point `within` rows on, but not beyond the next.
#[must_use]
pub fn events(changes: &[usize], within: usize) -> Vec<std::ops::RangeInclusive<usize>> {
    let next = changes.iter().skip(1).map(|next| next - 1).chain([usize::MAX]);
    changes.iter().zip(next).map(|(at, last)| *at..=(at + within).min(last)).collect()
}

/// The same with learning as long as ever after so many rows are cropped.
fn later(experiments: &[Recording], crop: usize) -> Vec<Recording> {
    let later =
        |experiment: &Recording| Recording { learning: LEARNING + crop, ..experiment.clone() };
    experiments.iter().map(later).collect()
}

/// Change points missed within fewer rows.
fn missed_within(promise: f32, experiments: &[Recording], within: usize) -> usize {
    let strict = |experiment: &Recording| {
        let changes: Vec<usize> = experiment.events.iter().map(|event| *event.start()).collect();
        Recording { events: events(&changes, within), ..experiment.clone() }
    };
    let strict: Vec<Recording> = experiments.iter().map(strict).collect();
    score(promise, &strict, 0).missed
}

/// Numbers of alarms that stayed at the same data, or on the same row numbers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Moved {
    /// At the same data.
    pub with_data: usize,
    /// On the same row number.
    pub with_rows: usize,
    /// All alarms compared.
    pub all: usize,
}

impl Moved {
    /// Compares the alarms of a recording, from row `from`, with those after its rows were moved by
    /// `by`.
    fn add(&mut self, before: &[usize], after: &[usize], by: isize, from: usize) {
        let near = |row: usize| after.iter().any(|other| other.abs_diff(row) <= SAME_PLACE);
        for row in before.iter().filter(|row| **row >= from) {
            self.all += 1;
            self.with_data += usize::from(row.checked_add_signed(by).is_some_and(near));
            self.with_rows += usize::from(near(*row));
        }
    }

    fn line(self) -> [String; 3] {
        [self.all, self.with_data, self.with_rows].map(|count| count.to_string())
    }
}

/// The shift test: finds alarms without the first rows, and with as many rows, mirrored, before
/// them.
pub fn shifted(experiments: &[Recording], find: impl Fn(&[Vec<f32>]) -> Vec<usize>) -> [Moved; 2] {
    let mut moved = [Moved::default(); 2];
    let [cropped, prepended] = &mut moved;
    let shift = isize::try_from(SHIFT).unwrap_or(0);
    for experiment in experiments {
        let before = find(&experiment.rows);
        cropped.add(&before, &find(&experiment.rows[SHIFT..]), -shift, LEARNING + SHIFT);
        let mut longer: Vec<_> = experiment.rows[..SHIFT].iter().rev().cloned().collect();
        longer.extend(experiment.rows.iter().cloned());
        prepended.add(&before, &find(&longer), shift, LEARNING);
    }
    moved
}

/// Measures; as [`nab::run`](super::nab::run).
///
/// # Errors
/// Those of [`read`].
pub fn run(directory: &Path) -> Result<(Report, bool), Unreadable> {
    let Benchmark { experiments, healthy } = read(directory)?;
    let changes: usize = experiments.iter().map(|experiment| experiment.events.len()).sum();
    let half = changes == CHANGES_OF_HALF;
    let mut report = Report::new(
        "Skoltech Anomaly Benchmark",
        &format!(
            "{} experiments, {changes} change points, {CHANNELS} channels. Default settings, the \
             same for every file; learned from the first {LEARNING} rows. A change point is caught \
             by an alarm within {WITHIN} rows and before the next. Alarms less than {APART} rows \
             apart are one episode, which counts again after {AGAIN} rows; one that catches nothing \
             is false. Healthy: mean time between alarms on the recording without anomalies over \
             the promise.",
            experiments.len()
        ),
    );
    let mut table = Table::new([
        "promise",
        "missed",
        "missed within 30 rows",
        "false",
        "missed by random alarms, as many false",
        "healthy",
    ]);
    let free = [healthy];
    for promise in PROMISES {
        let score = score(promise, &experiments, 0);
        let strict = missed_within(promise, &experiments, WITHIN_STRICT);
        table.line([
            format!("{promise:.0}"),
            score.missed.to_string(),
            strict.to_string(),
            score.false_alarms.to_string(),
            blind(&experiments, score.false_alarms).to_string(),
            format!("{:.2}", pooled(promise, &free)),
        ]);
    }
    report.table("By promise", &table);
    let at_promise = score(PROMISE, &experiments, 0);
    let (missed, stray) = (real(at_promise.missed), real(at_promise.false_alarms));
    let beaten = blind(&experiments, at_promise.false_alarms).beaten_by(missed);
    report.say(&format!(
        "Promise {PROMISE}: {missed} of {changes} missed with {stray} false alarms, {beaten:.1} \
         standard deviations fewer than by random alarms with as many false."
    ));

    let crops = [0, 20, 40, 60, 80];
    let mut table = Table::new(["without the first rows", "0", "20", "40", "60", "80"]);
    let cells = crops.map(|crop| {
        let score = score(PROMISE, &later(&experiments, crop), crop);
        format!("{}/{}", score.missed, score.false_alarms)
    });
    table.line(["missed/false".to_owned()].into_iter().chain(cells));
    report.table(&format!("Sensitivity, promise {PROMISE}"), &table);

    let mut table = Table::new(["blind", "missed", "false"]);
    let often = every(&experiments, 50);
    let trap = experiments.iter().map(|experiment| Score::of(&FIXED_ROWS, &experiment.events));
    for (name, score) in
        [("every 50 rows", often), ("rows 573, 631, 917, 974: the trap", trap.sum())]
    {
        let cells = [score.missed, score.false_alarms].map(|cell| cell.to_string());
        table.line([name.to_owned()].into_iter().chain(cells));
    }
    report.table("Baselines that look at nothing", &table);

    let mut table = Table::new(["alarms", "all", "moved with the data", "stayed on their rows"]);
    let ours = shifted(&experiments, |rows| alarms(PROMISE, rows, LEARNING));
    let trap = shifted(&experiments, |_| FIXED_ROWS.to_vec());
    for (name, [cropped, prepended]) in [("detector", ours), ("the trap", trap)] {
        table.line([format!("{name}, {SHIFT} rows cropped")].into_iter().chain(cropped.line()));
        table.line([format!("{name}, {SHIFT} rows prepended")].into_iter().chain(prepended.line()));
    }
    report.table("Shift test", &table);

    // No promise longer than learning: the first of them.
    let [shortest, ..] = PROMISES;
    let quiet = pooled(shortest, &free);
    let [from, to] = [tolerance::HEALTHY_SHORTEST, tolerance::HEALTHY_LONGEST];
    let (table, same) = integers::agreement::<CHANNELS>(&experiments);
    report.table("As counts of 16 bits", &table);
    let wanted = tolerance::INTEGERS_RECORDINGS.limit;
    report.want_at_least("share of alarms in integers on the same rows", same, wanted);
    if half {
        report.want_at_least("healthy, at the shortest promise", quiet, from.limit);
        report.want_at_most("healthy, at the shortest promise", quiet, to.limit);
        report.want_at_most("missed", missed, tolerance::SKAB_WANTED_MISSED.limit);
        report.want_at_most("false alarms", stray, tolerance::SKAB_WANTED_FALSE.limit);
        report.hold_least(
            "SKAB: deviations fewer missed than by random alarms",
            beaten,
            tolerance::SKAB_BETTER,
        );
        report.hold_most("SKAB missed", missed, tolerance::SKAB_MISSED);
        report.hold_most("SKAB false alarms", stray, tolerance::SKAB_FALSE);
        report.settle(tolerance::SKAB_UNMET);
    }
    Ok((report, half))
}
