//! The detector in integers beside the one in `f32`, on the same counts of an ADC.

use fastmmd::{Detector, Verdict, fixed};

use super::detection::{CELLS, Change, LEARNING, ONSET, Process, log};
use super::devices::{self, fleet, granted, median, settings};
use super::promise::FAMILIES;
use super::recordings::{self, Recording};
use super::signals::{Kind, seed, signals};
use super::table::Table;
use super::{Draw, Report, Scope, note};
use fastmmd_reference::{real, single, tolerance};

/// Counts of an ADC for each unit of a signal.
const COUNTS: f32 = 200.0;
/// Rows watched after a change.
const WATCHED: usize = 2000;
/// The promise of the table of changes, in rows.
const PROMISE: f32 = 1e4;

/// A reading as counts, held to 16 bits.
#[must_use]
#[expect(clippy::cast_possible_truncation, reason = "the cast saturates")]
pub fn counts(value: f32) -> i16 {
    (value * COUNTS).round() as i16
}

/// The rows that raise alarms, by both detectors.
fn both<const C: usize>(rows: &[[i16; C]], promise: f32, learning: u32) -> [Vec<usize>; 2] {
    let map = devices::map(C);
    let mut float = devices::detector(&map, settings(promise, learning));
    let integer_map = fixed::Fourier::<C, { devices::FREQUENCIES }>::additive(1);
    let mut integer = granted(Detector::new(&integer_map, settings(promise, learning)));
    let mut alarms = [Vec::new(), Vec::new()];
    for (index, row) in rows.iter().enumerate() {
        if devices::alarms(&mut float, &row.map(f32::from)) {
            alarms[0].push(index);
        }
        if matches!(granted(integer.push(row)), Verdict::Alarm(_)) {
            alarms[1].push(index);
        }
    }
    alarms
}

/// Rows by which the alarms of both may differ.
const SAME: usize = 2;

/// A recording as counts: of each channel the whole range, in 16 bits.
fn as_counts<const C: usize>(rows: &[Vec<f32>]) -> Vec<[i16; C]> {
    let range: [(f32, f32); C] = core::array::from_fn(|channel| {
        let values = || rows.iter().map(|row| row[channel]);
        let (least, most) = (values().fold(f32::MAX, f32::min), values().fold(f32::MIN, f32::max));
        (least.midpoint(most), (most - least).max(f32::MIN_POSITIVE) / 64_000.0)
    });
    #[expect(clippy::cast_possible_truncation, reason = "the cast saturates")]
    let count = |row: &Vec<f32>| {
        core::array::from_fn(|channel| {
            let (middle, step) = range[channel];
            ((row[channel] - middle) / step).round() as i16
        })
    };
    rows.iter().map(count).collect()
}

/// The table of a benchmark's recordings as counts: how many alarms both detectors raise after learning,
/// and how many of those in `f32` have one in integers within [`SAME`] rows. Also the share of these.
pub(super) fn agreement<const C: usize>(recordings: &[Recording]) -> (Table, f64) {
    let counts = fleet(recordings.len(), |index| {
        let Recording { rows, learning, .. } = &recordings[index];
        let settled = |alarms: Vec<usize>| -> Vec<usize> {
            alarms.into_iter().filter(|row| row >= learning).collect()
        };
        let learning = u32::try_from(*learning).unwrap_or(u32::MAX);
        let [float, integer] =
            both(&as_counts::<C>(rows), recordings::PROMISE, learning).map(settled);
        let near = |row: &&usize| integer.iter().any(|other| other.abs_diff(**row) <= SAME);
        [float.len(), integer.len(), float.iter().filter(near).count()]
    });
    let sums: [usize; 3] =
        core::array::from_fn(|place| counts.iter().map(|counts| counts[place]).sum());
    let [float, _, same] = sums;
    let mut table = Table::new(["alarms in f32", "in integers", "of those, within 2 rows"]);
    table.line(sums.map(|count| count.to_string()));
    (table, real(same) / real(float.max(1)))
}

/// Share found and median delay of a change, by both.
fn found(process: Process, change: Change, cell: usize, logs: usize) -> [(f64, f64); 2] {
    let delays = fleet(logs, |device| {
        let log = log(process, change, seed(70, cell, device), ONSET + WATCHED);
        let rows: Vec<[i16; 3]> =
            log.iter().map(|row| [counts(row[0]), counts(row[1]), counts(row[2])]).collect();
        let alarms = both(&rows, PROMISE, u32::try_from(LEARNING).unwrap_or(u32::MAX));
        alarms.map(|rows| rows.into_iter().find(|row| *row >= ONSET).map(|row| row - ONSET))
    });
    [0, 1].map(|place| {
        let of = || delays.iter().map(|delays| delays[place]);
        let share = real(of().flatten().count()) / real(delays.len());
        (share, median(of().map(|delay| delay.map_or(f64::INFINITY, real))))
    })
}

/// Real over promised mean time between alarms, by both.
fn kept<const C: usize>(kind: Kind, promise: usize, cell: usize, count: usize) -> [f64; 2] {
    const TIMES: usize = 5;
    const LEARNED: u32 = 4096;
    let (rows, promise) = (promise * TIMES, real(promise));
    let alarms = fleet(count, |device| {
        let mut signals = signals(kind, C, seed(71, cell, device));
        let learned = usize::try_from(LEARNED).unwrap_or(0);
        let rows: Vec<[i16; C]> = (0..learned + rows)
            .map(|_| core::array::from_fn(|channel| counts(signals[channel].reading())))
            .collect();
        both(&rows, single(promise), LEARNED).map(|rows| rows.len())
    });
    [0, 1].map(|place| {
        let count: usize = alarms.iter().map(|alarms| alarms[place]).sum();
        real(rows * alarms.len()) / real(count.max(1)) / promise
    })
}

/// The section.
#[must_use]
pub fn run(scope: Scope, draw: Draw) -> Report {
    let (logs, devices) = if scope == Scope::Full { (100, 60) } else { (12, 8) };
    let mut report = Report::new(
        "The detector in integers",
        &format!(
            "3 channels as counts of an ADC, {COUNTS} for a unit, default settings: the detector over \
             `fixed::Fourier` beside the one in `f32`, on the same rows. Share found and median delay \
             within {WATCHED} rows, promise {PROMISE:.0}."
        ),
    );
    let mut table = Table::new(["change", "f32", "integers"]);
    for (index, (process, change, name, _)) in CELLS.into_iter().enumerate() {
        note("integers", &format!("{process:?} {name}"));
        let figures = found(process, change, draw.cell(index), logs);
        let [float, integer] = figures;
        let cell = |(share, delay): (f64, f64)| format!("{:.0}/{delay:.0}", 100.0 * share);
        table.line([format!("{process:?} {name}"), cell(float), cell(integer)]);
        let label = format!("{process:?} {name}");
        report.want_at_most(
            &format!("{label}, points of share"),
            100.0 * (float.0 - integer.0).abs(),
            tolerance::INTEGERS_SHARE.limit,
        );
        if float.1.is_finite() {
            let most = ((tolerance::INTEGERS_DELAY.limit - 1.0) * float.1).max(2.0);
            let apart = (integer.1 - float.1).abs();
            report.want_at_most(&format!("{label}, difference of the delays"), apart, most);
        }
    }
    report.table("Changes", &table);
    let mut table = Table::new(["family", "f32", "integers"]);
    for (index, (name, kind, channels)) in FAMILIES.into_iter().enumerate() {
        note("integers", name);
        let cell = draw.cell(index);
        let [float, integer] = if channels == 4 {
            kept::<4>(kind, 1000, cell, devices)
        } else {
            kept::<1>(kind, 1000, cell, devices)
        };
        table.line([name.to_owned(), format!("{float:.2}"), format!("{integer:.2}")]);
        report.want_at_least(name, integer, tolerance::PROMISE_SHORTEST.limit);
        // Few devices raise too few alarms to tell how seldom they are.
        if scope == Scope::Full {
            report.want_at_most(name, integer, tolerance::PROMISE_LONGEST.limit);
        }
    }
    report.table("Real over promised mean time between alarms, promise 1000", &table);
    report.settle(tolerance::INTEGERS_UNMET);
    report
}
