//! Masking: a false alarm shortly before a change must not hide it.

use super::devices::{alarms, fleet, learned, map, settings};
use super::signals::{Kind, Signal, seed};
use super::table::Table;
use super::{Draw, Report, Scope, note};
use fastmmd_reference::{real, single, tolerance};

const PROMISE: f32 = 1000.0;
const LEARNING: u32 = 1024;
/// Rows before the change in which there was a false alarm.
const BEFORE: usize = 300;
/// Rows within which the change must be reported.
const WITHIN: usize = 300;
/// Longest wait for a false alarm, in rows.
const PATIENCE: usize = 20_000;
/// The step, in deviations.
const STEP: f64 = 1.5;

/// Whether a step alarms: after a false alarm if `masked`, else without one in as many rows.
/// `None` if there was no false alarm to wait for, or one too many.
#[must_use]
pub fn attempt(step: f64, masked: bool, cell: usize, device: usize) -> Option<bool> {
    let map = map(1);
    let mut signal = Signal::new(Kind::White, seed(50, cell, device));
    let mut detector = learned(&map, settings(PROMISE, LEARNING), || vec![signal.reading()]);
    if masked {
        (0..PATIENCE).find(|_| alarms(&mut detector, &[signal.reading()]))?;
        // The change follows at any time within the rows after.
        for _ in 0..device * 37 % BEFORE {
            alarms(&mut detector, &[signal.reading()]);
        }
    } else {
        let raised = (0..BEFORE).filter(|_| alarms(&mut detector, &[signal.reading()])).count();
        if raised > 0 {
            return None;
        }
    }
    let told = |_| alarms(&mut detector, &[single(signal.draw() + step)]);
    Some((0..WITHIN).any(told))
}

/// Share of steps that alarm.
#[must_use]
pub fn share(step: f64, masked: bool, cell: usize, devices: usize) -> f64 {
    let told = fleet(devices, |device| attempt(step, masked, cell, device));
    let told: Vec<bool> = told.into_iter().flatten().collect();
    real(told.iter().filter(|told| **told).count()) / real(told.len().max(1))
}

/// The section.
#[must_use]
pub fn run(scope: Scope, draw: Draw) -> Report {
    let devices = if scope == Scope::Full { 300 } else { 60 };
    let mut report = Report::new(
        "A false alarm before a change",
        &format!(
            "One channel N(0, 1), promise {PROMISE}, {LEARNING} learning rows: share of steps by \
             {STEP} deviations that raise an alarm within {WITHIN} rows, with a false alarm in the \
             {BEFORE} rows before and without; {devices} devices. Blind: the same without a step."
        ),
    );
    note("masking", "steps");
    let cell = draw.cell(0);
    let mut table = Table::new(["", "reported", "blind", "wanted"]);
    for (name, masked) in [("after a false alarm", true), ("without one", false)] {
        let told = share(STEP, masked, cell, devices);
        let blind = share(0.0, masked, cell, devices);
        let limit = tolerance::MASKED_FOUND.limit;
        report.want_at_least(name, told, limit);
        table.line([
            name.to_owned(),
            format!("{told:.3}"),
            format!("{blind:.3}"),
            format!("{limit}"),
        ]);
    }
    report.table("Share of steps reported", &table);
    report.settle(tolerance::MASKED_UNMET);
    report
}
