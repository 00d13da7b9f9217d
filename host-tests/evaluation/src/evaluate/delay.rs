//! The detection delay of methods with the same measured average run length.

use fastmmd::dynamic::Config;
use fastmmd::monitor::Bandwidth;
use fastmmd::{Fourier, Kernel, Sampling};

use super::baselines::{Cusum, Limits, Method, Newma, detector};
use super::devices::{fleet, granted, map, settings};
use super::families::{Family, Source, seed};
use super::table::Table;
use super::{Check, Draw, Report, Scope, note};
use fastmmd_reference::{real, single};

/// Scaling and learning rows of every method.
const LEARNING_ROWS: usize = 256 + 4096;
/// Healthy rows after learning and before a change.
const BEFORE_CHANGE: usize = 64;
/// Rows watched for an alarm after an outlier.
const OUTLIER_ROWS: usize = 32;
/// Runs without alarms end after this many mean run lengths.
const PATIENCE: usize = 6;

/// A change of healthy N(0, I) rows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Change {
    /// Its name in tables.
    pub name: &'static str,
    /// The family from then on.
    pub family: Family,
    /// Factor on all channels.
    pub gain: f64,
    /// Added to the first channel.
    pub shift: f64,
    /// Added to the first channel with every row.
    pub ramp: f64,
}

impl Change {
    const fn to(name: &'static str, family: Family) -> Self {
        Self { name, family, gain: 1.0, shift: 0.0, ramp: 0.0 }
    }

    const fn by(name: &'static str, gain: f64, shift: f64, ramp: f64) -> Self {
        Self { name, family: Family::Gaussian, gain, shift, ramp }
    }

    /// The row `age` rows after the change, from 1.
    fn row<const C: usize>(&self, source: &mut Source<C>, age: usize) -> [f32; C] {
        let mut row = source.draw().map(|x| self.gain * x);
        if let Some(first) = row.first_mut() {
            *first += self.shift + self.ramp * real(age);
        }
        row.map(single)
    }
}

/// The d = 20 suite of the literature.
pub const PUBLISHED_SUITE: [Change; 4] = [
    Change::to("Mix .3", Family::Mixture(0.3)),
    Change::to("Mix .7", Family::Mixture(0.7)),
    Change::to("Laplace 2", Family::Laplace(2.0)),
    Change::to("U[-4, 4]", Family::Wide),
];

/// Changes as in practice.
pub const CHANGES: [Change; 9] = [
    Change::by("mean .25", 1.0, 0.25, 0.0),
    Change::by("mean .5", 1.0, 0.5, 0.0),
    Change::by("mean 1.5", 1.0, 1.5, 0.0),
    Change::by("spread 1.5", 1.5, 0.0, 0.0),
    Change::to("covariance", Family::Correlated),
    Change::to("shape", Family::Laplace(std::f64::consts::FRAC_1_SQRT_2)),
    Change::by("ramp", 1.0, 0.0, 0.002),
    Change::to("AR .8", Family::Autoregressive(0.8)),
    Change::to("AR -.8", Family::Autoregressive(-0.8)),
];

/// The statistic of one healthy run: the rows on which it reached a new maximum.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Run {
    records: Vec<(f32, usize)>,
    rows: usize,
}

impl Run {
    /// Takes the statistic of the next row into account.
    pub fn push(&mut self, statistic: f32) {
        self.rows += 1;
        if self.records.last().is_none_or(|(largest, _)| statistic > *largest) {
            self.records.push((statistic, self.rows));
        }
    }

    fn first_beyond(&self, threshold: f32) -> Option<usize> {
        let record = self.records.iter().find(|(statistic, _)| *statistic > threshold);
        record.map(|(_, row)| *row)
    }
}

/// Mean run length at a threshold; a run without an alarm counts its rows and no alarm.
#[must_use]
pub fn mean_run_length(runs: &[Run], threshold: f32) -> f64 {
    let rows: usize = runs.iter().map(|run| run.first_beyond(threshold).unwrap_or(run.rows)).sum();
    let alarms = runs.iter().filter(|run| run.first_beyond(threshold).is_some()).count();
    real(rows) / real(alarms.max(1))
}

/// The smallest threshold with at least this mean run length.
#[must_use]
pub fn matched_threshold(runs: &[Run], target: f64) -> f32 {
    let all = runs.iter().flat_map(|run| run.records.iter().map(|(statistic, _)| *statistic));
    let (mut low, mut high) = (0.0, all.fold(0.0, f32::max));
    for _ in 0..60 {
        let middle = f32::midpoint(low, high);
        if mean_run_length(runs, middle) < target { low = middle } else { high = middle }
    }
    high
}

/// Mean delays of one method and the threshold used.
#[derive(Debug, Clone, PartialEq)]
pub struct Delays {
    /// The threshold on the method's statistic; for the detector a factor on its own thresholds.
    pub threshold: f32,
    /// Mean run length without a change at that threshold.
    pub run_length: f64,
    /// Mean delay of each change, in rows; at most as long as healthy runs were watched.
    pub mean: Vec<f64>,
    /// Share of devices in which one row of ten standard deviations in every channel raised an
    /// alarm that the same rows without it did not raise.
    pub outliers: f64,
}

/// Measures one method: finds the threshold from healthy runs of `devices` devices, then the
/// delays.
pub fn measure<M: Method<C>, const C: usize>(
    start: impl Fn() -> M + Sync,
    changes: &[Change],
    target: usize,
    devices: usize,
    section: u64,
) -> Delays {
    let patience = PATIENCE * target;
    let learned = fleet(devices, |device| {
        let mut source = Source::<C>::new(Family::Gaussian, seed(section, 0, device));
        let mut method = start();
        for _ in 0..LEARNING_ROWS {
            method.learn(&source.row());
        }
        for _ in 0..BEFORE_CHANGE {
            method.push(&source.row());
        }
        let (mut run, ready) = (Run::default(), method.clone());
        while run.rows < patience {
            run.push(method.push(&source.row()));
        }
        (run, ready)
    });
    let (runs, ready): (Vec<Run>, Vec<_>) = learned.into_iter().unzip();
    let threshold = matched_threshold(&runs, real(target));
    let delay = |device: usize, index: usize, change: &Change| {
        let mut method = ready[device].clone();
        let mut source = Source::<C>::new(change.family, seed(section, index + 1, device));
        let mut age = 0;
        while age < patience {
            age += 1;
            if method.push(&change.row(&mut source, age)) > threshold {
                break;
            }
        }
        real(age)
    };
    let one = |(index, change): (usize, &Change)| {
        let delays = fleet(devices, |device| delay(device, index, change));
        delays.iter().sum::<f64>() / real(devices)
    };
    let mean = changes.iter().enumerate().map(one).collect();
    let outlier = |device: usize| {
        let mut source = Source::<C>::new(Family::Gaussian, seed(section, 99, device));
        let rows: [_; OUTLIER_ROWS] = std::array::from_fn(|_| source.draw());
        let mut first = rows[0];
        let mut sign = 10.0;
        for x in &mut first {
            *x += sign;
            sign = -sign;
        }
        let alarms = |outlier: &[[f64; C]]| {
            let mut method = ready[device].clone();
            let mut pushed = outlier.iter().chain(&rows[1..]);
            pushed.any(|row| method.push(&row.map(single)) > threshold)
        };
        alarms(&[first]) && !alarms(&[])
    };
    let outliers = fleet(devices, outlier).into_iter().filter(|caused| *caused).count();
    let outliers = real(outliers) / real(devices);
    Delays { threshold, run_length: mean_run_length(&runs, threshold), mean, outliers }
}

fn independent_map<const D: usize, const L: usize>() -> Fourier<D, L> {
    granted(Fourier::new(Kernel::GAUSSIAN, Sampling::Independent, 1))
}

/// The section on the d = 20 suite of the literature.
#[must_use]
pub fn run_published(scope: Scope, draw: Draw) -> Report {
    let section = draw.section(3);
    let mut report = Report::new(
        "Delay on the suite of the literature",
        "20 channels, N(0, I) before the change, mean delay in rows at a real mean run length of \
         1000 for every method (threshold scaled until measured so). Random: alarms at that rate \
         by chance. Published figures are for 130 frequencies (NEWMA's rule then has a window of \
         about 50) at a run length of 1000 ± 12 %. Outlier: share of single rows of ten standard \
         deviations that raise an alarm; short windows owe their speed on this suite to that.",
    );
    let devices = if scope == Scope::Full { 600 } else { 40 };
    let names = PUBLISHED_SUITE.map(|change| change.name);
    let mut table =
        Table::new(["method", "threshold", names[0], names[1], names[2], names[3], "outlier"]);
    note("delay, d = 20", "detector");
    let own_map = map(20);
    let own = measure::<_, 20>(
        || detector(&own_map, 20, &settings(1e3, 4096)),
        &PUBLISHED_SUITE,
        1000,
        devices,
        section,
    );
    line(&mut table, "fastmmd, 64 frequencies, 4 windows", &own);
    note("delay, d = 20", "detector, median distance");
    let config = Config { bandwidth: Bandwidth::MedianDistance(1.0), ..settings(1e3, 4096) };
    let start = || detector(&own_map, 20, &config);
    let wide = measure::<_, 20>(start, &PUBLISHED_SUITE, 1000, devices, section);
    line(&mut table, "fastmmd, bandwidth the median distance", &wide);
    let newma_map = independent_map::<20, 128>();
    let windows: &[f64] = if scope == Scope::Full { &[20.0, 50.0, 250.0] } else { &[50.0] };
    for window in windows.iter().copied() {
        note("delay, d = 20", &format!("NEWMA {window}"));
        let start = || Newma::<20, 20, 128>::new(&newma_map, window);
        let newma = measure(start, &PUBLISHED_SUITE, 1000, devices, section);
        line(&mut table, &format!("NEWMA, 128 frequencies, window {window}"), &newma);
        // The window of the published tables, and a longer one.
        if window >= 50.0 {
            hold_faster(&mut report, &format!("NEWMA {window}"), &own, &newma.mean);
        }
    }
    for (name, delays) in [
        ("NEWMA, published", [6.7, 21.3, 3.3, 3.9]),
        ("online RFF-MMD, published", [2.2, 4.7, 1.1, 1.1]),
        ("random", [1000.0; 4]),
    ] {
        let delays = delays.map(|delay| format!("{delay:.1}"));
        table.line([name.to_owned(), String::new()].into_iter().chain(delays));
    }
    hold_faster(&mut report, "NEWMA as published", &own, &[6.7, 21.3, 3.3, 3.9]);
    report.table(&format!("Mean delay in rows, {devices} devices"), &table);
    report
}

fn hold_faster(report: &mut Report, peer: &str, own: &Delays, other: &[f64]) {
    for ((change, own), other) in PUBLISHED_SUITE.iter().zip(&own.mean).zip(other) {
        report.hold(Check {
            what: format!("{}: delay over that of {peer} ({other:.2})", change.name),
            value: own / other,
            kept: own < other,
        });
    }
}

fn line(table: &mut Table, name: &str, delays: &Delays) {
    let cells = delays.mean.iter().map(|delay| match delay {
        short if *short < 100.0 => format!("{short:.1}"),
        long => format!("{long:.0}"),
    });
    let threshold = format!("{:.3}", delays.threshold);
    let outliers = [format!("{:.2}", delays.outliers)];
    table.line([name.to_owned(), threshold].into_iter().chain(cells).chain(outliers));
}

/// The section on changes as in practice.
#[must_use]
pub fn run_changes(scope: Scope, draw: Draw) -> Report {
    let section = draw.section(4);
    let mut report = Report::new(
        "Delay by kind of change",
        "Mean delay in rows at the same real mean run length for every method. N(0, I) before. \
         Means and the ramp (.002 a row) are in one channel, spread is in all, covariance .7 \
         between any two, shape is Laplace with the same variance; AR is the dynamics alone, with \
         the same variance. Delay 4: vectors of four rows. Runs are given up after six mean run \
         lengths. Random: alarms at that rate by chance. Outlier: share of single rows of ten \
         standard deviations that raise an alarm.",
    );
    let (target, devices) = if scope == Scope::Full { (10_000, 150) } else { (1000, 40) };
    let three = changes::<3, 12>(target, devices, section);
    report.table(&format!("3 channels, mean run length {target}, {devices} devices"), &three);
    if scope == Scope::Full {
        let eight = changes::<8, 32>(target, devices, section);
        report.table(&format!("8 channels, mean run length {target}, {devices} devices"), &eight);
    }
    report
}

/// All methods on C channels; D = 4C.
fn changes<const C: usize, const D: usize>(target: usize, devices: usize, section: u64) -> Table {
    let [a, b, c, d, e, f, g, h, i] = CHANGES.map(|change| change.name);
    let mut table = Table::new(["method", "threshold", a, b, c, d, e, f, g, h, i, "outlier"]);
    let say = |name: &str| note("delay", &format!("{C} channels, {name}"));
    let config = settings(single(real(target)), 4096);
    let (plain, lagged) = (map(C), map(D));
    let newma_plain = independent_map::<C, 64>();
    let newma_lagged = independent_map::<D, 64>();
    say("fastmmd");
    let start = || detector(&plain, C, &config);
    line(&mut table, "fastmmd", &measure::<_, C>(start, &CHANGES, target, devices, section));
    say("fastmmd, delay 4");
    let start = || detector(&lagged, C, &config);
    line(
        &mut table,
        "fastmmd, delay 4",
        &measure::<_, C>(start, &CHANGES, target, devices, section),
    );
    say("NEWMA");
    let start = || Newma::<C, C, 64>::new(&newma_plain, 250.0);
    line(&mut table, "NEWMA 250", &measure(start, &CHANGES, target, devices, section));
    let start = || Newma::<C, C, 64>::new(&newma_plain, 50.0);
    line(&mut table, "NEWMA 50", &measure(start, &CHANGES, target, devices, section));
    say("NEWMA, delay 4");
    let start = || Newma::<C, D, 64>::new(&newma_lagged, 250.0);
    line(&mut table, "NEWMA 250, delay 4", &measure(start, &CHANGES, target, devices, section));
    say("CUSUM, limits");
    line(&mut table, "CUSUM", &measure(Cusum::<C>::new, &CHANGES, target, devices, section));
    line(&mut table, "limits", &measure(Limits::<C>::new, &CHANGES, target, devices, section));
    let random = vec![real(target); CHANGES.len()].into_iter().map(|delay| delay.to_string());
    table.line(["random".to_owned(), String::new()].into_iter().chain(random));
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thresholds_match_run_lengths() {
        let runs: Vec<Run> = (1..=200_u16)
            .map(|device| {
                let mut run = Run::default();
                for row in 1..1000_u16 {
                    run.push(f32::from(row) / f32::from(device));
                }
                run
            })
            .collect();
        let threshold = matched_threshold(&runs, 300.0);
        assert!((mean_run_length(&runs, threshold) - 300.0).abs() < 3.0);
        assert!(mean_run_length(&runs, 0.7 * threshold) < 250.0);
    }
}
