//! Single outliers, which must not alarm, and impulses, dropouts and dead channels, which must;
//! and learning rows that are not all as they should be.

use super::devices::{Detector, Verdict, alarms, fleet, granted, learned, map, median, settings};
use super::signals::{Kind, Signal, row, seed, signals};
use super::table::Table;
use super::{Draw, Report, Scope, note};
use fastmmd_reference::{real, tolerance};

const PROMISE: f32 = 1e4;
const LEARNING: u32 = 4096;
const CHANNELS: usize = 3;
/// Level of the channels, so that a reading of 0 is far off.
const LEVEL: f32 = 20.0;
/// Healthy rows before anything happens.
const BEFORE: usize = 200;
/// Rows watched after an outlier.
const AFTER_OUTLIER: usize = 64;
/// Sizes of outliers, in deviations.
const OUTLIERS: [f32; 4] = [8.0, 20.0, 1000.0, 1e6];

/// What happens to the first channel, by rows since it began.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Fault {
    /// An impulse of 1000 deviations every so many rows.
    Impulses(usize),
    /// The reading is 0 in one of twenty rows.
    Dropouts,
    /// The same reading for good.
    Stuck,
    /// 0 for twenty rows.
    Zeros,
    /// Two readings of 20 deviations, eight rows apart.
    Pair,
    /// A step of five deviations.
    Step,
    /// Nothing: the twin.
    Nothing,
}

impl Fault {
    fn apply(self, reading: f32, age: usize) -> f32 {
        match self {
            Self::Impulses(every) if age.is_multiple_of(every) => reading + 1000.0,
            // Scattered, and the same for every device.
            Self::Dropouts if age * 7919 % 1009 < 50 => 0.0,
            Self::Zeros if age < 20 => 0.0,
            Self::Stuck => LEVEL + 0.25,
            Self::Pair if age == 0 || age == 8 => reading + 20.0,
            Self::Step => reading + 5.0,
            _ => reading,
        }
    }
}

/// What is wrong while learning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Start {
    /// Nothing.
    Clean,
    /// One of the first eight readings is 4095.
    Glitch,
    /// The first channel stands still for the first 256 rows.
    Still,
    /// The second does.
    OtherStill,
}

/// A device and its signals, before anything happens.
struct Device<'m> {
    detector: Detector<'m>,
    signals: Vec<Signal>,
}

impl<'m> Device<'m> {
    fn new(map: &'m fastmmd::dynamic::Map, start: Start, kind: Kind, seed: u64) -> Self {
        let mut signals = signals(kind, CHANNELS, seed);
        let mut rows = 0;
        let still = if start == Start::OtherStill { 1 } else { 0 };
        let mut detector = learned(map, settings(PROMISE, LEARNING), || {
            let mut row = raised(&mut signals);
            match start {
                Start::Glitch if rows == 5 => row[0] = 4095.0,
                Start::Still | Start::OtherStill if rows < 256 => row[still] = LEVEL,
                _ => {}
            }
            rows += 1;
            row
        });
        for _ in 0..BEFORE {
            alarms(&mut detector, &raised(&mut signals));
        }
        Self { detector, signals }
    }
}

fn raised(signals: &mut [Signal]) -> Vec<f32> {
    row(signals).into_iter().map(|x| x + LEVEL).collect()
}

/// Share of single outliers of this size that alarm where the twin without them does not.
#[must_use]
pub fn outliers(kind: Kind, size: f32, every: bool, devices: usize, cell: usize) -> f64 {
    let map = map(CHANNELS);
    let caused = fleet(devices, |device| {
        let Device { mut detector, mut signals } =
            Device::new(&map, Start::Clean, kind, seed(70, cell, device));
        let mut twin = detector.clone();
        let (mut alarmed, mut twin_alarmed) = (false, false);
        for age in 0..AFTER_OUTLIER {
            let healthy = raised(&mut signals);
            let mut row = healthy.clone();
            if age == 0 {
                let count = if every { CHANNELS } else { 1 };
                row.iter_mut().take(count).for_each(|x| *x += size);
            }
            alarmed |= alarms(&mut detector, &row);
            twin_alarmed |= alarms(&mut twin, &healthy);
        }
        alarmed && !twin_alarmed
    });
    real(caused.into_iter().filter(|caused| *caused).count()) / real(devices)
}

/// Rows to the first alarm of a fault, and whether it named the channel, for each device.
#[must_use]
pub fn faults(
    start: Start,
    fault: Fault,
    within: usize,
    devices: usize,
    cell: usize,
) -> Vec<Option<(usize, bool)>> {
    let map = map(CHANNELS);
    fleet(devices, |device| {
        let Device { mut detector, mut signals } =
            Device::new(&map, start, Kind::White, seed(71, cell, device));
        for age in 0..within {
            let mut row = raised(&mut signals);
            row[0] = fault.apply(row[0], age);
            if let Verdict::Alarm(alarm) = granted(detector.push(&row)) {
                return Some((age + 1, alarm.channel == 0));
            }
        }
        None
    })
}

/// The faults: name, what is wrong while learning, the fault, rows in which it should be found.
pub const FAULTS: [(&str, Start, Fault, usize); 14] = [
    ("two of 20 sd, 8 rows apart", Start::Clean, Fault::Pair, 20),
    ("impulses every 9th row", Start::Clean, Fault::Impulses(9), 100),
    ("impulses every 20th row", Start::Clean, Fault::Impulses(20), 200),
    ("impulses every 35th row", Start::Clean, Fault::Impulses(35), 350),
    ("impulses every 50th row", Start::Clean, Fault::Impulses(50), 500),
    ("dropouts, 5 %", Start::Clean, Fault::Dropouts, 500),
    ("stuck", Start::Clean, Fault::Stuck, 20),
    ("zeros for 20 rows", Start::Clean, Fault::Zeros, 20),
    ("step of 5 sd", Start::Clean, Fault::Step, 50),
    ("glitch in the first 8 rows, step", Start::Glitch, Fault::Step, 50),
    ("still at first, step", Start::Still, Fault::Step, 50),
    ("another still at first, step", Start::OtherStill, Fault::Step, 50),
    ("still at first, nothing", Start::Still, Fault::Nothing, 500),
    ("nothing", Start::Clean, Fault::Nothing, 500),
];

/// The section.
#[must_use]
pub fn run(scope: Scope, draw: Draw) -> Report {
    let mut report = Report::new(
        "Outliers, impulses, dropouts and dead channels",
        &format!(
            "{CHANNELS} channels at a level of {LEVEL} with a deviation of 1; promise {PROMISE}, \
             {LEARNING} learning rows. Outliers: share of single rows, so many deviations off, \
             that raise an alarm within {AFTER_OUTLIER} rows where the same rows without do not."
        ),
    );
    let devices = if scope == Scope::Full { 200 } else { 16 };
    let kinds: &[(&str, Kind)] = match scope {
        Scope::Full => &[
            ("white", Kind::White),
            ("AR .9", Kind::Autoregressive(0.9)),
            ("sine (500)", Kind::Sine(500.0, 0.3)),
            ("t3", Kind::StudentT),
        ],
        Scope::Quick => &[("white", Kind::White)],
    };
    let sizes = OUTLIERS.map(|size| format!("{size} sd"));
    let headings = ["one outlier".to_owned()].into_iter().chain(sizes);
    let mut table = Table::of(headings.chain(["wanted".to_owned()]));
    for (index, (name, kind)) in kinds.iter().enumerate() {
        for every in [false, true] {
            note("robustness", name);
            let channels = if every { "every channel" } else { "one channel" };
            let label = format!("{name}, {channels}");
            let limit = tolerance::OUTLIER_ALARMS.limit;
            let shares = OUTLIERS.map(|size| {
                let share = outliers(*kind, size, every, devices, draw.cell(index));
                report.want_at_most(&format!("{label}, {size} sd"), share, limit);
                format!("{share:.3}")
            });
            let cells = [label].into_iter().chain(shares);
            table.line(cells.chain([format!("≤ {limit}")]));
        }
    }
    report.table("Share of single outliers that alarm", &table);

    let mut table =
        Table::new(["fault", "within rows", "share found", "channel named", "median", "wanted"]);
    for (index, (name, start, fault, within)) in FAULTS.into_iter().enumerate() {
        note("robustness", name);
        let found = faults(start, fault, within, devices, draw.cell(index));
        let named = found.iter().flatten().filter(|(_, named)| *named).count();
        let count = found.iter().flatten().count();
        let share = real(count) / real(devices);
        let wanted = if fault == Fault::Nothing {
            // At twice the promised rate.
            let limit = 2.0 * real(within) / f64::from(PROMISE) + 0.02;
            report.want_at_most(name, share, limit);
            format!("≤ {limit:.2}")
        } else {
            let limit = tolerance::FAULT_FOUND.limit;
            report.want_at_least(name, share, limit);
            format!("≥ {limit}")
        };
        let delays = found.iter().map(|found| found.map_or(f64::INFINITY, |(age, _)| real(age)));
        let delay = median(delays);
        let delay = if delay.is_finite() { format!("{delay:.0}") } else { String::new() };
        table.line([
            name.to_owned(),
            within.to_string(),
            format!("{share:.3}"),
            format!("{:.3}", real(named) / real(count.max(1))),
            delay,
            wanted,
        ]);
    }
    report.table("Faults", &table);
    report.settle(match scope {
        Scope::Full => tolerance::ROBUSTNESS_UNMET,
        Scope::Quick => tolerance::ROBUSTNESS_UNMET_QUICK,
    });
    report
}
