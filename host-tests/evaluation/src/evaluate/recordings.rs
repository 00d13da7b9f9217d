//! Recordings of public benchmarks: shared code to read, run and score them.

use std::fmt;
use std::fs;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use fastmmd::condition::{Innovation, ViewKind};
use fastmmd::dynamic::{self, Config, Map};
use fastmmd::{Kernel, Sampling, Verdict};

use fastmmd_reference::generate::Generator;
use fastmmd_reference::real;

/// The promise for every file: mean time between false alarms, in rows.
pub const PROMISE: f32 = 10_000.0;
/// Frequencies of the map.
const FREQUENCIES: usize = 16;
/// Number of draws over which a blind baseline is averaged.
pub const DRAWS: usize = 200;

/// A file or directory that is missing or has another format.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unreadable {
    path: PathBuf,
    why: String,
}

impl Unreadable {
    pub(super) fn new(path: &Path, why: impl fmt::Display) -> Self {
        Self { path: path.to_owned(), why: why.to_string() }
    }
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path.display(), self.why)
    }
}

impl std::error::Error for Unreadable {}

/// One file: rows of C channels, and the rows on which an alarm is right.
#[derive(Debug, Clone, PartialEq)]
pub struct Recording<const C: usize> {
    /// Its folder.
    pub group: String,
    /// Its name in that folder.
    pub name: String,
    /// The rows.
    pub rows: Vec<[f32; C]>,
    /// Learning ends before this row; alarms are counted from it on.
    pub learning: usize,
    /// Ranges of rows, each to be caught.
    pub events: Vec<RangeInclusive<usize>>,
}

/// Alarms against events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Score {
    /// Events with an alarm in them.
    pub caught: usize,
    /// Events without.
    pub missed: usize,
    /// Alarms outside all events.
    pub false_alarms: usize,
}

impl Score {
    /// Counts: an event is caught by one or more alarms in it; an alarm outside all events is
    /// false.
    #[must_use]
    pub fn of(alarms: &[usize], events: &[RangeInclusive<usize>]) -> Self {
        let hit = |event: &&RangeInclusive<usize>| alarms.iter().any(|row| event.contains(row));
        let caught = events.iter().filter(hit).count();
        let stray = |row: &&usize| !events.iter().any(|event| event.contains(row));
        let false_alarms = alarms.iter().filter(stray).count();
        Self { caught, missed: events.len() - caught, false_alarms }
    }
}

impl std::iter::Sum for Score {
    fn sum<I: Iterator<Item = Self>>(scores: I) -> Self {
        scores.fold(Self::default(), |sum, score| Self {
            caught: sum.caught + score.caught,
            missed: sum.missed + score.missed,
            false_alarms: sum.false_alarms + score.false_alarms,
        })
    }
}

/// The cells of a CSV file with a header line.
pub(super) fn table(path: &Path, delimiter: u8) -> Result<Vec<Vec<String>>, Unreadable> {
    let unreadable = |error: csv::Error| Unreadable::new(path, error);
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .delimiter(delimiter)
        .from_path(path)
        .map_err(unreadable)?;
    let lines: Result<Vec<_>, _> = reader.records().collect();
    let lines = lines.map_err(unreadable)?;
    Ok(lines.iter().map(|line| line.iter().map(str::to_owned).collect()).collect())
}

/// A cell as a finite number.
pub(super) fn number(path: &Path, cell: &str) -> Result<f32, Unreadable> {
    match cell.trim().parse::<f32>() {
        Ok(value) if value.is_finite() => Ok(value),
        _ => Err(Unreadable::new(path, format!("{cell:?} is not a finite number"))),
    }
}

/// The CSV files of a folder: those with numbers as names in their order, then the others.
pub(super) fn files(folder: &Path) -> Result<Vec<PathBuf>, Unreadable> {
    let unreadable = |error: std::io::Error| Unreadable::new(folder, error);
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if path.extension().is_some_and(|extension| extension == "csv") {
            found.push(path);
        }
    }
    let order = |path: &PathBuf| {
        let name = path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
        let index = name.as_ref().and_then(|name| name.parse::<u32>().ok()).unwrap_or(u32::MAX);
        (index, name)
    };
    found.sort_by_key(order);
    Ok(found)
}

/// The preset for signals with cycles or trends.
pub(super) fn preset(promise: f32) -> Config {
    Config::of(&fastmmd::Config::<Innovation<1>, _>::innovation(promise))
}

/// The rows on which the detector alarms. It learns from the first `learning` rows of `rows`,
/// including scaling.
///
/// # Panics
/// If the settings are refused; those of this evaluation are valid.
#[must_use]
pub fn alarms<const C: usize>(config: &Config, rows: &[[f32; C]], learning: usize) -> Vec<usize> {
    let learning = u32::try_from(learning).expect("fewer than 2³² rows");
    let learning_rows = learning.saturating_sub(config.scaling_rows);
    let map = Map::fourier(Kernel::GAUSSIAN, Sampling::Auto, 1, C, FREQUENCIES);
    let map = map.expect("a Gaussian kernel is spherical");
    let config = Config { learning_rows, ..config.clone() };
    let detector = dynamic::detector(&map, C, ViewKind::Innovation, config);
    let mut detector = detector.expect("valid settings");
    let alarms = |row: &[f32; C]| {
        let verdict = detector.push(row).expect("rows are finite, as read");
        matches!(verdict, Verdict::Alarm(_))
    };
    let alarmed: Vec<bool> = rows.iter().map(alarms).collect();
    (0..rows.len()).filter(|row| alarmed[*row]).collect()
}

/// As [`alarms`] without the first `crop` rows; row numbers are those of the whole recording, and
/// learning ends on the same row.
#[must_use]
pub fn cropped<const C: usize>(
    config: &Config,
    recording: &Recording<C>,
    crop: usize,
) -> Vec<usize> {
    let learning = recording.learning - crop;
    let found = alarms(config, &recording.rows[crop..], learning);
    found.into_iter().map(|row| row + crop).collect()
}

/// One alarm on a random monitored row, as (file, row); all rows are equally likely.
pub(super) fn random_alarm<const C: usize>(
    recordings: &[Recording<C>],
    numbers: &mut Generator,
) -> (usize, usize) {
    let monitored = |recording: &Recording<C>| recording.rows.len() - recording.learning;
    let mut at = numbers.below(recordings.iter().map(monitored).sum());
    for (file, recording) in recordings.iter().enumerate() {
        if at < monitored(recording) {
            return (file, recording.learning + at);
        }
        at -= monitored(recording);
    }
    (0, 0)
}

/// The score of an alarm every `step` monitored rows.
#[must_use]
pub fn every<const C: usize>(recordings: &[Recording<C>], step: usize) -> Score {
    let score = |recording: &Recording<C>| {
        let alarms: Vec<usize> = (recording.learning..recording.rows.len()).step_by(step).collect();
        Score::of(&alarms, &recording.events)
    };
    recordings.iter().map(score).sum()
}

/// A mean with one decimal.
pub(super) fn mean(values: impl ExactSizeIterator<Item = usize>) -> String {
    let count = values.len();
    format!("{:.1}", real(values.sum()) / real(count.max(1)))
}
