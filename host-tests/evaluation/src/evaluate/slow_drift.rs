//! Slow drift: ramps so slow that no window of a few hundred rows sees them.

use super::devices::{
    Change, Detector, Leg, Verdict, fleet, granted, learned, map, median, settings,
};
use super::signals::{Kind, Signal, seed};
use super::table::Table;
use super::{Draw, Report, Scope, note};
use fastmmd_reference::{real, single, tolerance};

/// Learning rows.
const LEARNING: u32 = 16_384;
const PROMISE: f32 = 1e4;
/// Healthy rows before the ramp.
const BEFORE: usize = 1000;
/// Height of the ramp, in deviations.
const HEIGHT: f64 = 3.0;

/// What the ramp is on, and its deviation.
const SIGNALS: [(&str, Kind, f64); 4] = [
    ("white", Kind::White, 1.0),
    ("AR .9", Kind::Autoregressive(0.9), 1.0),
    ("cycle of 1885 rows, noise .15", Kind::Sine(1885.0, 0.15), 0.723),
    // Measured: the weekend's quieter days are part of it.
    ("day and week", Kind::DayWeek, 0.69),
];

/// How a ramp ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ending {
    /// Rows to the first alarm that the level changed, if there was one.
    pub delay: Option<usize>,
    /// Whether a drift of the level is open at the end.
    pub open: bool,
}

impl Ending {
    /// Whether the drift was found, and is still reported at its end.
    #[must_use]
    pub fn is_found(self) -> bool {
        self.delay.is_some() && self.open
    }
}

/// One ramp over `rows` rows; `height` is 0 for the healthy twin.
#[must_use]
pub fn attempt(kind: Kind, height: f64, rows: usize, seed: u64) -> Ending {
    let map = map(1);
    let mut signal = Signal::new(kind, seed);
    let mut device = learned(&map, settings(PROMISE, LEARNING), || vec![signal.reading()]);
    for _ in 0..BEFORE {
        granted(device.push(&[signal.reading()]));
    }
    let mut delay = None;
    for age in 1..=rows {
        let reading = single(signal.draw() + height * real(age) / real(rows));
        if let Verdict::Alarm(alarm) | Verdict::Amended(alarm) = granted(device.push(&[reading]))
            && alarm.change == Change::Level
        {
            delay = delay.or(Some(age));
        }
    }
    Ending { delay, open: is_open(&device) }
}

fn is_open(device: &Detector<'_>) -> bool {
    device.open().any(|open| matches!(open.leg, Leg::Level | Leg::Values))
}

/// The section.
#[must_use]
pub fn run(scope: Scope, draw: Draw) -> Report {
    let mut report = Report::new(
        "Slow drift",
        &format!(
            "One channel, {LEARNING} learning rows, promise {PROMISE}; a ramp of {HEIGHT} \
             deviations begins {BEFORE} rows later. Found: an alarm, as amended, says that the level \
             changed, and a drift of it is open at the end. Twin: the same rows without the ramp, by which \
             some would be found."
        ),
    );
    let plans: &[(usize, usize)] = match scope {
        Scope::Full => &[(10_000, 100), (100_000, 40)],
        Scope::Quick => &[(10_000, 8)],
    };
    let mut table = Table::new(["signal", "rows", "% found", "of twins", "median delay", "wanted"]);
    for (cell, (name, kind, deviation)) in SIGNALS.into_iter().enumerate() {
        for (rows, logs) in plans.iter().copied() {
            note("slow drift", &format!("{name}, {rows}"));
            let attempts = |height: f64| {
                fleet(logs, |device| attempt(kind, height, rows, seed(30, draw.cell(cell), device)))
            };
            let share = |endings: &[Ending]| {
                real(endings.iter().filter(|ending| ending.is_found()).count()) / real(logs)
            };
            let (ramps, twins) = (attempts(HEIGHT * deviation), attempts(0.0));
            let label = format!("{name}, {rows}");
            let found = share(&ramps);
            report.want_at_least(&label, found, tolerance::SLOW_FOUND.limit);
            let delay = median(ramps.iter().map(|ending| ending.delay.map_or(f64::INFINITY, real)));
            let mut wanted = format!("{:.0}", 100.0 * tolerance::SLOW_FOUND.limit);
            if rows == 10_000 {
                let limit = tolerance::SLOW_DELAY.limit;
                report.want_at_most(&format!("{label}: delay"), delay, limit);
                wanted.push_str(&format!("/{limit}"));
            }
            table.line([
                name.to_owned(),
                rows.to_string(),
                format!("{:.0}", 100.0 * found),
                format!("{:.0}", 100.0 * share(&twins)),
                format!("{delay:.0}"),
                wanted,
            ]);
        }
    }
    report.table("Ramps", &table);
    report.settle(tolerance::SLOW_UNMET);
    report
}
