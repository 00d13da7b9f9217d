//! The average run length: time to a false alarm of devices that each learned by themselves.

use fastmmd::Verdict;
use fastmmd::condition::ViewKind;

use super::devices::{fleet, granted, learned, map, settings, with_channels};
use super::families::{CHANNELS, Family, HEALTHY, Source, seed};
use super::table::Table;
use super::{Check, Draw, Report, Scope, note};
use fastmmd_reference::{real, single, tolerance};

/// A run ends after this many promised times; it then counts as a run without an alarm.
const PATIENCE: f64 = 50.0;

/// One simulation: data, promise and number of devices.
#[derive(Debug, Clone, Copy)]
pub struct Trial {
    /// The data.
    pub family: Family,
    /// Channels of a device.
    pub channels: usize,
    /// The promised mean time between false alarms, in rows.
    pub promise: f64,
    /// Learning rows of each device.
    pub learning_rows: u32,
    /// Number of devices.
    pub devices: usize,
    /// Factor on every threshold; 1 for the detector as it is.
    pub factor: f32,
}

/// The run length of every device, and whether it ended in an alarm.
#[derive(Debug, Clone, PartialEq)]
pub struct RunLengths {
    promise: f64,
    /// Rows to the first alarm, ascending, and whether it came.
    runs: Vec<(f64, bool)>,
}

/// Runs the devices of a trial.
#[must_use]
pub fn measure(trial: &Trial, cell: usize) -> RunLengths {
    let mut runs = with_channels!(trial.channels, runs(trial, cell));
    runs.sort_by(|a, b| a.0.total_cmp(&b.0));
    RunLengths { promise: trial.promise, runs }
}

fn runs<const C: usize>(trial: &Trial, cell: usize) -> Vec<(f64, bool)> {
    let map = map(C);
    fleet(trial.devices, |device| {
        let mut source = Source::<C>::new(trial.family, seed(2, cell, device));
        let config = settings(single(trial.promise), trial.learning_rows);
        let mut detector = learned(&map, ViewKind::Raw, &config, &mut source);
        let mut rows = 0.0;
        while rows < PATIENCE * trial.promise {
            rows += 1.0;
            let verdict = granted(detector.push(&source.row()));
            let beyond =
                detector.windows().any(|window| window.statistic > trial.factor * window.threshold);
            // With a factor of 1 this is the detector's own alarm.
            let alarm = matches!(verdict, Verdict::Alarm(_));
            if if trial.factor < 1.0 { beyond } else { alarm } {
                return (rows, true);
            }
        }
        (rows, false)
    })
}

impl RunLengths {
    /// All runs of several simulations with the same promise as one.
    #[must_use]
    pub fn pooled(all: &[Self]) -> Self {
        let promise = all.first().map_or(1.0, |one| one.promise);
        let mut runs: Vec<_> = all.iter().flat_map(|one| one.runs.iter().copied()).collect();
        runs.sort_by(|a, b| a.0.total_cmp(&b.0));
        Self { promise, runs }
    }

    /// Mean run length over the promise; a run given up counts its rows and no alarm.
    #[must_use]
    pub fn mean(&self) -> f64 {
        let rows: f64 = self.runs.iter().map(|(rows, _)| rows).sum();
        let alarms = self.runs.iter().filter(|(_, alarm)| *alarm).count();
        rows / real(alarms.max(1)) / self.promise
    }

    /// The quantile of the run lengths, over the promise.
    #[must_use]
    pub fn quantile(&self, part: f64) -> f64 {
        let last = self.runs.len().saturating_sub(1);
        let index = (0..last).take_while(|i| real(*i) + 0.5 < part * real(last)).count();
        self.runs.get(index).map_or(0.0, |(rows, _)| rows / self.promise)
    }

    /// Alarms of the whole fleet per promised time, if every device is watched for that time or
    /// until its first alarm. 1 is as promised, more is worse.
    #[must_use]
    pub fn rate(&self) -> f64 {
        let within = |rows: f64| rows <= self.promise;
        let alarms = self.runs.iter().filter(|(rows, alarm)| *alarm && within(*rows)).count();
        let watched: f64 = self.runs.iter().map(|(rows, _)| rows.min(self.promise)).sum();
        real(alarms) / watched * self.promise
    }

    /// Runs given up.
    #[must_use]
    pub fn unfinished(&self) -> usize {
        self.runs.iter().filter(|(_, alarm)| !alarm).count()
    }

    /// Whether the mean is within the bounds of its promise.
    #[must_use]
    pub fn kept(&self) -> bool {
        let longest = if self.promise > 3e3 {
            tolerance::RUN_LENGTH_LONGEST_AT_10000
        } else {
            tolerance::RUN_LENGTH_LONGEST_AT_1000
        };
        (tolerance::RUN_LENGTH_SHORTEST.limit..=longest.limit).contains(&self.mean())
    }

    fn line(&self) -> [String; 6] {
        [
            format!("{:.2}", self.mean()),
            format!("{:.2}", self.quantile(0.1)),
            format!("{:.2}", self.quantile(0.5)),
            format!("{:.2}", self.quantile(0.9)),
            format!("{:.2}", self.rate()),
            self.unfinished().to_string(),
        ]
    }
}

/// The section: every family, at two promises.
#[must_use]
pub fn run(scope: Scope, draw: Draw) -> Report {
    let mut report = Report::new(
        "Mean time to a false alarm",
        "Run lengths of devices that each did their own learning, over the promise; default \
         settings, all windows together. Rate: alarms of the fleet in its first promised time, \
         over the promised number.",
    );
    let plans = match scope {
        Scope::Full => vec![(1e3, 4096, 400), (1e4, 16_384, 400)],
        Scope::Quick => vec![(1e3, 4096, 60)],
    };
    for (promise, learning_rows, devices) in plans {
        let mut table =
            Table::new(["family", "mean", "10 %", "median", "90 %", "rate", "given up"]);
        let mut all = Vec::new();
        for (index, (name, family)) in HEALTHY.into_iter().enumerate() {
            for channels in CHANNELS {
                if !scope.covers(family, channels) {
                    continue;
                }
                let label = format!("{name}, {channels}");
                note("run length", &format!("{label}, promise {promise}"));
                let factor = 1.0;
                let trial = Trial { family, channels, promise, learning_rows, devices, factor };
                let lengths = measure(&trial, draw.cell(100 * index + channels));
                if scope == Scope::Full {
                    report.hold(Check {
                        what: format!("{label}: mean run length at {promise}"),
                        value: lengths.mean(),
                        kept: lengths.kept(),
                    });
                }
                table.line([label].into_iter().chain(lengths.line()));
                all.push(lengths);
            }
        }
        let pooled = RunLengths::pooled(&all);
        report.hold(Check {
            what: format!("all families: mean run length at {promise}"),
            value: pooled.mean(),
            kept: pooled.kept(),
        });
        table.line(["all".to_owned()].into_iter().chain(pooled.line()));
        report.table(
            &format!("Promise {promise} rows, {learning_rows} learning rows, {devices} devices"),
            &table,
        );
    }
    report
}
