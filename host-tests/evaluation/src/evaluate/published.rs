//! The d = 20 suite of the literature: mean delay at the same measured mean run length.

use fastmmd::{Fourier, Kernel, Sampling};

use super::baselines::{Method, Newma};
use super::devices::{alarms, fleet, granted, learned, map, settings};
use super::signals::{exponential, seed};
use super::table::Table;
use super::{Draw, Report, Scope, note};
use fastmmd_reference::generate::Generator;
use fastmmd_reference::{real, single, tolerance};

const CHANNELS: usize = 20;
/// Learning rows of every method.
const LEARNING: u32 = 4096;
/// Healthy rows after learning and before a change.
const BEFORE_CHANGE: usize = 64;
/// The mean run length.
const TARGET: usize = 1000;
/// Runs without alarms end after this many of them.
const PATIENCE: usize = 6;

/// A distribution of rows; N(0, I) before the change.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Family {
    /// N(0, I).
    Gaussian,
    /// p·N(0, I) + (1 − p)·N(0, 4I), for the row as a whole.
    Mixture(f64),
    /// Independent Laplace of density exp(−|x|/b)/2b, with this b.
    Laplace(f64),
    /// Independent, uniform from −4 to 4.
    Wide,
}

impl Family {
    fn row(self, numbers: &mut Generator) -> Vec<f32> {
        let deviation = match self {
            Self::Mixture(p) if numbers.uniform() >= p => 2.0,
            _ => 1.0,
        };
        let mut draw = || match self {
            Self::Gaussian | Self::Mixture(_) => deviation * numbers.normal(),
            Self::Laplace(scale) => {
                let size = scale * exponential(numbers);
                if numbers.uniform() < 0.5 { -size } else { size }
            }
            Self::Wide => 8.0 * numbers.uniform() - 4.0,
        };
        (0..CHANNELS).map(|_| single(draw())).collect()
    }
}

/// The suite.
pub const SUITE: [(&str, Family); 4] = [
    ("Mix .3", Family::Mixture(0.3)),
    ("Mix .7", Family::Mixture(0.7)),
    ("Laplace 2", Family::Laplace(2.0)),
    ("U[-4, 4]", Family::Wide),
];

/// Mean delays of one method.
#[derive(Debug, Clone, PartialEq)]
struct Delays {
    /// What its knob was set to.
    knob: f64,
    /// Mean run length without a change.
    run_length: f64,
    mean: [f64; 4],
}

impl Delays {
    fn line(&self, table: &mut Table, name: &str) {
        let delays = self.mean.map(|delay| format!("{delay:.1}"));
        let knobs = [format!("{:.4}", self.knob), format!("{:.0}", self.run_length)];
        table.line([name.to_owned()].into_iter().chain(knobs).chain(delays));
    }
}

/// Mean of runs that ended with or without an alarm.
fn mean_run(runs: &[Option<usize>]) -> f64 {
    let rows: usize = runs.iter().map(|run| run.unwrap_or(PATIENCE * TARGET)).sum();
    real(rows) / real(runs.iter().flatten().count().max(1))
}

/// The rows after learning until the detector alarms, for a promise.
fn runs(promise: f64, family: Family, devices: usize, cell: usize) -> Vec<Option<usize>> {
    let map = map(CHANNELS);
    fleet(devices, |device| {
        let mut numbers = Generator::new(seed(80, cell, device));
        let config = settings(single(promise), LEARNING);
        let mut detector = learned(&map, config, || Family::Gaussian.row(&mut numbers));
        for _ in 0..BEFORE_CHANGE {
            alarms(&mut detector, &Family::Gaussian.row(&mut numbers));
        }
        (1..=PATIENCE * TARGET).find(|_| alarms(&mut detector, &family.row(&mut numbers)))
    })
}

/// The detector with its promise set until the run length is as wanted.
fn own(devices: usize, cell: usize) -> Delays {
    let (mut low, mut high) = (100_f64.ln(), 20_000_f64.ln());
    for _ in 0..6 {
        let middle = f64::midpoint(low, high);
        let length = mean_run(&runs(middle.exp(), Family::Gaussian, devices, cell));
        if length < real(TARGET) { low = middle } else { high = middle }
    }
    let knob = f64::midpoint(low, high).exp();
    let mean = SUITE.map(|(_, family)| mean_run(&runs(knob, family, devices, cell)));
    let run_length = mean_run(&runs(knob, Family::Gaussian, devices, cell));
    Delays { knob, run_length, mean }
}

fn newma(map: &Fourier<CHANNELS, 128>, window: f64, devices: usize, cell: usize) -> Delays {
    let statistics = |family: Family, threshold: Option<f64>| {
        fleet(devices, |device| {
            let mut numbers = Generator::new(seed(80, cell, device));
            let rows: Vec<_> = (0..LEARNING).map(|_| Family::Gaussian.row(&mut numbers)).collect();
            let mut method: Newma<'_, CHANNELS, 128> = Newma::new(map, window);
            method.learn(&rows);
            for _ in 0..BEFORE_CHANGE {
                method.push(&Family::Gaussian.row(&mut numbers));
            }
            // The rows on which the statistic is larger than ever.
            let mut records: Vec<(f64, usize)> = Vec::new();
            for age in 1..=PATIENCE * TARGET {
                let statistic = method.push(&family.row(&mut numbers));
                if records.last().is_none_or(|(largest, _)| statistic > *largest) {
                    records.push((statistic, age));
                }
                if threshold.is_some_and(|threshold| statistic > threshold) {
                    break;
                }
            }
            records
        })
    };
    let first = |records: &[Vec<(f64, usize)>], threshold: f64| {
        let beyond = |run: &Vec<(f64, usize)>| {
            run.iter().find(|(statistic, _)| *statistic > threshold).map(|(_, age)| *age)
        };
        mean_run(&records.iter().map(beyond).collect::<Vec<_>>())
    };
    let healthy = statistics(Family::Gaussian, None);
    let largest = healthy.iter().flatten().map(|(statistic, _)| *statistic).fold(0.0, f64::max);
    let (mut low, mut high) = (0.0, largest);
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if first(&healthy, middle) < real(TARGET) { low = middle } else { high = middle }
    }
    let mean = SUITE.map(|(_, family)| first(&statistics(family, Some(high)), high));
    Delays { knob: high, run_length: first(&healthy, high), mean }
}

/// The section.
#[must_use]
pub fn run(scope: Scope, draw: Draw) -> Report {
    let devices = if scope == Scope::Full { 200 } else { 12 };
    let mut report = Report::new(
        "Delay on the suite of the literature",
        &format!(
            "{CHANNELS} channels, N(0, I) before the change, mean delay in rows at a real mean run \
             length of {TARGET} for every method: of the detector the promise, of NEWMA the \
             threshold is set until measured so. Random: alarms at that rate by chance. Published \
             figures are for 130 frequencies at a run length of 1000 ± 12 %. {devices} devices."
        ),
    );
    let [a, b, c, d] = SUITE.map(|(name, _)| name);
    let mut table = Table::new(["method", "knob", "run length", a, b, c, d]);
    note("delay, d = 20", "detector");
    let cell = draw.cell(0);
    let own = own(devices, cell);
    own.line(&mut table, "detector");
    let newma_map = granted(Fourier::new(Kernel::GAUSSIAN, Sampling::Independent, 1));
    let windows: &[f64] = if scope == Scope::Full { &[20.0, 50.0, 250.0] } else { &[50.0] };
    for window in windows.iter().copied() {
        note("delay, d = 20", &format!("NEWMA {window}"));
        let peer = newma(&newma_map, window, devices, cell);
        peer.line(&mut table, &format!("NEWMA, 128 frequencies, window {window}"));
        // The window of the published tables, and a longer one.
        if window >= 50.0 {
            want_faster(&mut report, &format!("NEWMA {window}"), &own, peer.mean);
        }
    }
    let published = [6.7, 21.3, 3.3, 3.9];
    for (name, delays) in [
        ("NEWMA, published", published),
        ("online RFF-MMD, published", [2.2, 4.7, 1.1, 1.1]),
        ("random", [real(TARGET); 4]),
    ] {
        let delays = delays.map(|delay| format!("{delay:.1}"));
        table.line([name, "", ""].map(str::to_owned).into_iter().chain(delays));
    }
    want_faster(&mut report, "NEWMA as published", &own, published);
    report.table("Mean delay in rows", &table);
    report.settle(tolerance::PUBLISHED_UNMET);
    report
}

fn want_faster(report: &mut Report, peer: &str, own: &Delays, other: [f64; 4]) {
    for (((name, _), own), other) in SUITE.iter().zip(own.mean).zip(other) {
        report.want_at_most(&format!("{name}: delay, that of {peer}"), own, other);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slower_than_a_peer_is_not_as_wanted() {
        let own = Delays { knob: 1.0, run_length: 1000.0, mean: [5.0, 6.0, 7.0, 8.0] };
        let mut report = Report::new("", "");
        want_faster(&mut report, "slower", &own, [9.0; 4]);
        assert_eq!(report.unmet(), 0);
        want_faster(&mut report, "faster", &own, [6.5; 4]);
        assert_eq!(report.unmet(), 2);
    }

    #[test]
    fn runs_without_an_alarm_count_their_rows() {
        let given_up = real(PATIENCE * TARGET);
        let mean = mean_run(&[Some(10), Some(20), None]);
        let wanted = f64::midpoint(30.0, given_up);
        fastmmd_reference::tolerance::REFERENCE_IDENTITY.hold("mean", mean / wanted, 1.0);
    }
}
