//! The promise: mean time to a false alarm, and between them, of devices that each learned by
//! themselves.

use super::devices::{Config, alarms, fleet, learned, map, quantile, settings};
use super::signals::{Kind, row, seed, signals};
use super::table::Table;
use super::{Draw, Report, Scope, note};
use fastmmd_reference::{real, single, tolerance};

/// A device is watched for so many promised times.
const TIMES: f64 = 5.0;

/// The healthy signals: name, kind and channels.
pub const FAMILIES: [(&str, Kind, usize); 13] = [
    ("iid", Kind::White, 1),
    ("AR .99", Kind::Autoregressive(0.99), 1),
    ("4 channels AR .9", Kind::Autoregressive(0.9), 4),
    ("sine (500)", Kind::Sine(500.0, 0.3), 1),
    ("day shape", Kind::Day, 1),
    ("random walk", Kind::Walk, 1),
    ("t3", Kind::StudentT, 1),
    ("garch", Kind::Garch, 1),
    ("bursts ×4", Kind::Bursts, 1),
    ("quantised", Kind::Quantised, 1),
    ("sparse", Kind::Sparse, 1),
    ("day and week", Kind::DayWeek, 1),
    ("telegraph", Kind::Telegraph, 1),
];

/// A promise, and what it is learned from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Plan {
    /// The stated promise, in rows.
    pub promise: f64,
    /// The promise in the detector's settings; in the control it is another one.
    pub told: f64,
    /// Learning rows.
    pub learning: u32,
    /// Devices.
    pub devices: usize,
}

impl Plan {
    const fn new(promise: f64, learning: u32, devices: usize) -> Self {
        Self { promise, told: promise, learning, devices }
    }

    /// The real mean time over the promise that is wanted, from and to.
    #[must_use]
    pub fn wanted(&self) -> [f64; 2] {
        let [from, to] = if self.promise <= f64::from(self.learning) {
            [tolerance::PROMISE_SHORTEST, tolerance::PROMISE_LONGEST]
        } else {
            [tolerance::PROMISE_FAR_SHORTEST, tolerance::PROMISE_FAR_LONGEST]
        };
        [from.limit, to.limit]
    }
}

/// What the devices of one family did, in promised times.
#[derive(Debug, Clone, PartialEq)]
pub struct Kept {
    /// Mean time to the first alarm: rows at risk by alarms.
    pub first: f64,
    /// Mean time between alarms: rows by alarms.
    pub pooled: f64,
    /// The tenth of devices that alarm most: time between their alarms.
    pub unlucky: f64,
    /// No device alarmed at all: the figures are lower bounds.
    pub silent: bool,
}

impl Kept {
    /// Whether both figures are within the bounds. Where nothing alarmed they are what one alarm at
    /// the end would give: the least that they can be, so that the upper bound says little.
    #[must_use]
    pub fn is_as_wanted(&self, plan: &Plan) -> bool {
        let [from, to] = plan.wanted();
        [self.first, self.pooled].iter().all(|figure| (from..=to).contains(figure))
    }

    fn cell(&self) -> String {
        let sign = if self.silent { ">" } else { "" };
        let figure = |x: f64| if x < 9.95 { format!("{x:.2}") } else { format!("{x:.0}") };
        format!("{sign}{} ({}) {}", figure(self.first), figure(self.pooled), figure(self.unlucky))
    }
}

/// Runs the devices of a family.
#[must_use]
pub fn measure(plan: &Plan, kind: Kind, channels: usize, cell: usize) -> Kept {
    let map = map(channels);
    let rows = plan.promise * TIMES;
    let devices = fleet(plan.devices, |device| {
        let mut signals = signals(kind, channels, seed(40, cell, device));
        let config = settings(single(plan.told), plan.learning);
        let mut device = learned(&map, config, || row(&mut signals));
        let (mut first, mut count, mut at) = (None, 0, 0.0);
        while at < rows {
            at += 1.0;
            if alarms(&mut device, &row(&mut signals)) {
                count += 1;
                first = first.or(Some(at));
            }
        }
        (first, count)
    });
    let at_risk: f64 = devices.iter().map(|(first, _)| first.unwrap_or(rows)).sum();
    let alarmed = devices.iter().filter(|(first, _)| first.is_some()).count();
    let count: usize = devices.iter().map(|(_, count)| count).sum();
    let between = devices.iter().map(|(_, count)| TIMES / real((*count).max(1)));
    Kept {
        first: at_risk / real(alarmed.max(1)) / plan.promise,
        pooled: rows * real(plan.devices) / real(count.max(1)) / plan.promise,
        unlucky: quantile(between, 0.1),
        silent: count == 0,
    }
}

/// The section.
#[must_use]
pub fn run(scope: Scope, draw: Draw) -> Report {
    let few = settings(1e3, 400);
    let supported = f64::from(Config::supported_mean_time(&few));
    let plans = match scope {
        Scope::Full => vec![
            Plan::new(1e3, 4096, 100),
            Plan::new(1e4, 4096, 50),
            Plan::new(1e4, 16_384, 40),
            Plan::new(1e5, 16_384, 8),
            Plan::new(supported, 400, 300),
        ],
        Scope::Quick => vec![Plan::new(1e3, 4096, 16), Plan::new(supported, 400, 50)],
    };
    let mut report = Report::new(
        "The promise",
        &format!(
            "Real over promised mean time, default settings, each device watched for {TIMES} \
             promised times: first alarm (all alarms) tenth of devices that alarm most. Day shape: \
             1440 rows, noise grows with the level; bursts of 25 rows in 500; telegraph: two levels \
             that switch every 400 rows on average."
        ),
    );
    let title = |plan: &Plan| {
        let [from, to] = plan.wanted();
        format!("{:.0}, m={}: {from}–{to}", plan.promise, plan.learning)
    };
    let headings = plans.iter().map(title);
    let mut table = Table::of(["family".to_owned()].into_iter().chain(headings));
    for (index, (name, kind, channels)) in FAMILIES.into_iter().enumerate() {
        let mut cells = vec![name.to_owned()];
        for (place, plan) in plans.iter().enumerate() {
            note("promise", &format!("{name}, {:.0}, {}", plan.promise, plan.learning));
            let kept = measure(plan, kind, channels, draw.cell(100 * place + index));
            let [from, to] = plan.wanted();
            let label = format!("{name}, {:.0}, m={}", plan.promise, plan.learning);
            for (figure, value) in [("first", kept.first), ("pooled", kept.pooled)] {
                let what = format!("{label}, {figure}");
                // One bound each: a figure is on one side of the promise.
                if value < 1.0 {
                    report.want_at_least(&what, value, from);
                } else {
                    report.want_at_most(&what, value, to);
                }
            }
            cells.push(kept.cell());
        }
        table.line(cells);
    }
    report.table("Promise, learning rows, and what is wanted", &table);
    report.settle(match scope {
        Scope::Full => tolerance::PROMISE_UNMET,
        Scope::Quick => tolerance::PROMISE_UNMET_QUICK,
    });
    report
}
