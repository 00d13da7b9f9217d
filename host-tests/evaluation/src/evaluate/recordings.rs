//! Recordings of public benchmarks: shared code to read, run and score them.

use std::fmt;
use std::fs;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use super::devices::{alarms as alarms_on, detector, fleet, map, settings};
use fastmmd_reference::generate::Generator;
use fastmmd_reference::real;

/// The promise for every file: mean time between false alarms, in rows.
pub const PROMISE: f32 = 10_000.0;
/// Number of draws over which a blind baseline is averaged.
pub const DRAWS: usize = 200;
/// Alarms less than so many rows apart are one episode.
pub const APART: usize = 50;
/// An episode that lasts longer than so many rows counts again.
pub const AGAIN: usize = 100;

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

/// One file, and the rows on which an alarm is right.
#[derive(Debug, Clone, PartialEq)]
pub struct Recording {
    /// Its folder.
    pub group: String,
    /// Its name in that folder.
    pub name: String,
    /// The rows.
    pub rows: Vec<Vec<f32>>,
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
    /// Episodes of alarms outside all events.
    pub false_alarms: usize,
}

impl Score {
    /// Counts: an event is caught by one or more alarms in it; an episode of alarms none of which
    /// is in an event is false.
    #[must_use]
    pub fn of(alarms: &[usize], events: &[RangeInclusive<usize>]) -> Self {
        let inside = |row: &usize| events.iter().any(|event| event.contains(row));
        let hit = |event: &&RangeInclusive<usize>| alarms.iter().any(|row| event.contains(row));
        let caught = events.iter().filter(hit).count();
        let stray = |episode: &&[usize]| !episode.iter().any(inside);
        let false_alarms = episodes(alarms).into_iter().filter(stray).count();
        Self { caught, missed: events.len() - caught, false_alarms }
    }
}

/// Alarms, ascending, in episodes: those less than [`APART`] rows from the one before belong to
/// its episode, if that has not lasted for [`AGAIN`] rows.
#[must_use]
pub fn episodes(alarms: &[usize]) -> Vec<&[usize]> {
    let mut episodes = Vec::new();
    let mut begin = 0;
    for at in 1..=alarms.len() {
        let goes_on = alarms
            .get(at)
            .is_some_and(|row| row - alarms[at - 1] < APART && row - alarms[begin] < AGAIN);
        if !goes_on {
            episodes.push(&alarms[begin..at]);
            begin = at;
        }
    }
    episodes
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

/// The rows on which the detector alarms, at default settings. It learns from the first `learning`
/// rows of `rows`.
///
/// # Panics
/// If the settings are refused; those of this evaluation are valid.
#[must_use]
pub fn alarms(promise: f32, rows: &[Vec<f32>], learning: usize) -> Vec<usize> {
    let learning = u32::try_from(learning).expect("fewer than 2³² rows");
    let map = map(rows.first().map_or(1, Vec::len));
    let mut detector = detector(&map, settings(promise, learning));
    (0..rows.len()).filter(|row| alarms_on(&mut detector, &rows[*row])).collect()
}

impl Recording {
    /// As [`alarms`] without the first `crop` rows; row numbers are those of the whole recording,
    /// and learning ends on the same row.
    #[must_use]
    pub fn alarms(&self, promise: f32, crop: usize) -> Vec<usize> {
        let found = alarms(promise, &self.rows[crop..], self.learning - crop);
        found.into_iter().map(|row| row + crop).collect()
    }

    fn monitored(&self) -> usize {
        self.rows.len() - self.learning
    }
}

/// The score of a promise on all files without their first `crop` rows.
#[must_use]
pub fn score(promise: f32, recordings: &[Recording], crop: usize) -> Score {
    let scores = fleet(recordings.len(), |file| {
        let recording = &recordings[file];
        Score::of(&recording.alarms(promise, crop), &recording.events)
    });
    scores.into_iter().sum()
}

/// Events missed by random alarms.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Blind {
    /// Mean.
    pub mean: f64,
    /// Standard deviation.
    pub deviation: f64,
}

impl Blind {
    /// By how many standard deviations `missed` is smaller.
    #[must_use]
    pub fn beaten_by(&self, missed: f64) -> f64 {
        (self.mean - missed) / self.deviation.max(1e-6)
    }
}

impl fmt::Display for Blind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.1} ± {:.1}", self.mean, self.deviation)
    }
}

/// Events missed by random alarms of which `budget` are false.
#[must_use]
pub fn blind(recordings: &[Recording], budget: usize) -> Blind {
    let mut numbers = Generator::new(1);
    let draw = |_| {
        let mut found = vec![Vec::new(); recordings.len()];
        let mut strays = 0;
        while strays < budget {
            let (file, row) = random_alarm(recordings, &mut numbers);
            strays += Score::of(&[row], &recordings[file].events).false_alarms;
            found[file].push(row);
        }
        found.iter_mut().for_each(|rows| rows.sort_unstable());
        let both = recordings.iter().zip(&found);
        both.map(|(recording, rows)| Score::of(rows, &recording.events).missed).sum()
    };
    let missed: Vec<usize> = (0..DRAWS).map(draw).collect();
    let mean = missed.iter().map(|missed| real(*missed)).sum::<f64>() / real(DRAWS);
    let squares = missed.iter().map(|missed| (real(*missed) - mean).powi(2)).sum::<f64>();
    Blind { mean, deviation: (squares / real(DRAWS)).sqrt() }
}

/// One alarm on a random monitored row, as (file, row); all rows are equally likely.
fn random_alarm(recordings: &[Recording], numbers: &mut Generator) -> (usize, usize) {
    let mut at = numbers.below(recordings.iter().map(Recording::monitored).sum());
    for (file, recording) in recordings.iter().enumerate() {
        if at < recording.monitored() {
            return (file, recording.learning + at);
        }
        at -= recording.monitored();
    }
    (0, 0)
}

/// The score of an alarm every `step` monitored rows.
#[must_use]
pub fn every(recordings: &[Recording], step: usize) -> Score {
    let score = |recording: &Recording| {
        let alarms: Vec<usize> = (recording.learning..recording.rows.len()).step_by(step).collect();
        Score::of(&alarms, &recording.events)
    };
    recordings.iter().map(score).sum()
}

/// Mean time between alarms over the promise on healthy recordings: rows by alarms, by promise.
#[must_use]
pub fn pooled(promise: f32, recordings: &[Recording]) -> f64 {
    let counts = fleet(recordings.len(), |file| recordings[file].alarms(promise, 0).len());
    let rows: usize = recordings.iter().map(Recording::monitored).sum();
    real(rows) / real(counts.into_iter().sum::<usize>().max(1)) / f64::from(promise)
}
