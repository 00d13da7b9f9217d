//! What is found, and how soon: every kind of change on noise, an autoregression and a cycle.

use std::f64::consts::TAU;

use fastmmd::{Fourier, Kernel, Sampling};

use super::baselines::{Cusum, Method, Newma, Summed};
use super::devices::{alarms, detector, fleet, granted, map, median, quantile, settings};
use super::signals::seed;
use super::table::Table;
use super::{Draw, Report, Scope, note};
use fastmmd_reference::generate::Generator;
use fastmmd_reference::tolerance::{self, Tolerance};
use fastmmd_reference::{real, single};

/// Channels of a log; the first changes.
const CHANNELS: usize = 3;
/// Learning rows of every method.
pub const LEARNING: usize = 4352;
/// The row on which the change begins.
pub const ONSET: usize = 4952;
/// Rows watched from then on.
const WATCHED: usize = 2000;
/// Healthy rows after learning over which false alarms are matched.
const HEALTHY: usize = 2600;
/// The share of healthy logs that alarm in them.
const FALSE_ALARMS: f64 = 0.15;
/// The change that is none.
const NO_CHANGE: Change = Change::Mean(0.0);

/// What healthy channels are like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Process {
    /// N(0, 1).
    White,
    /// An autoregression of .9 with variance 1.
    Autoregression,
    /// A sine of 500 rows and noise of .3.
    Sine,
}

impl Process {
    fn deviation(self) -> f64 {
        if self == Self::Sine { 0.59_f64.sqrt() } else { 1.0 }
    }

    fn name(self) -> &'static str {
        match self {
            Self::White => "iid",
            Self::Autoregression => "AR .9",
            Self::Sine => "sine",
        }
    }
}

/// What happens to the first channel.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Change {
    /// A step of so many deviations.
    Mean(f64),
    /// A factor on the noise.
    Spread(f64),
    /// The noise of the first two channels becomes correlated by .8.
    Correlation,
    /// Two humps at ±.9 deviations, same variance.
    Humps,
    /// A coefficient of .6, same variance.
    Dynamics,
    /// A period of 300 rows.
    Frequency,
    /// A ramp of two deviations over the rows watched.
    Ramp,
    /// 0 for twenty rows.
    Zeros,
    /// The last value for good.
    Stuck,
}

/// The cells of the table: process, change, and which share of it is wanted to be found.
pub const CELLS: [(Process, Change, &str, Tolerance); 23] = {
    use Change::{Correlation, Dynamics, Frequency, Humps, Mean, Ramp, Spread, Stuck, Zeros};
    use Process::{Autoregression as Ar, Sine, White};
    let all = tolerance::DETECTION_FOUND;
    let some = tolerance::DETECTION_FOUND_CORRELATION;
    [
        (White, Mean(0.5), "mean .5", all),
        (White, Spread(1.5), "std ×1.5", all),
        (White, Spread(0.5), "std ×.5", all),
        (White, Correlation, "correlation .8", all),
        (White, Humps, "two humps", tolerance::DETECTION_FOUND_HUMPS),
        (White, Zeros, "zeros for 20 rows", tolerance::DETECTION_ZEROS),
        (White, Stuck, "stuck", all),
        (Ar, Mean(0.5), "mean .5", tolerance::DETECTION_FOUND_SMALL),
        (Ar, Mean(1.5), "mean 1.5", all),
        (Ar, Spread(1.5), "std ×1.5", all),
        (Ar, Spread(0.5), "std ×.5", all),
        (Ar, Dynamics, "→ .6, same marginal", all),
        (Ar, Correlation, "correlation .8", some),
        (Ar, Ramp, "ramp of 2 sd", all),
        (Ar, Zeros, "zeros for 20 rows", tolerance::DETECTION_ZEROS),
        (Ar, Stuck, "stuck", all),
        (Sine, Mean(0.5), "mean .5", all),
        (Sine, Mean(1.5), "mean 1.5", all),
        (Sine, Spread(1.5), "std of noise ×1.5", all),
        (Sine, Spread(0.5), "std of noise ×.5", all),
        (Sine, Correlation, "correlation .8", some),
        (Sine, Frequency, "frequency 500 → 300", all),
        (Sine, Ramp, "ramp of 2 sd", all),
    ]
};

/// The first `rows` rows of a log.
#[must_use]
pub fn log(process: Process, change: Change, seed: u64, rows: usize) -> Vec<Vec<f32>> {
    let mut numbers = Generator::new(seed);
    let mut phases = [0.0; CHANNELS].map(|_: f64| TAU * numbers.uniform());
    let mut states = [0.0; CHANNELS].map(|_: f64| numbers.normal());
    let mut frozen = 0.0;
    let mut rows_made = Vec::with_capacity(rows);
    for row in 0..rows {
        let changed = row >= ONSET;
        let age = real(row.saturating_sub(ONSET));
        let mut noise = [0.0; CHANNELS].map(|_: f64| numbers.normal());
        // Drawn always, so that healthy logs and others are the same up to the change.
        let side = if numbers.uniform() < 0.5 { -0.9 } else { 0.9 };
        if changed {
            match change {
                Change::Spread(factor) => noise[0] *= factor,
                Change::Correlation => noise[0] = 0.8 * noise[1] + 0.6 * noise[0],
                Change::Humps => noise[0] = side + 0.19_f64.sqrt() * noise[0],
                // These are no matter of the noise.
                Change::Mean(_)
                | Change::Dynamics
                | Change::Frequency
                | Change::Ramp
                | Change::Zeros
                | Change::Stuck => {}
            }
        }
        let mut values = [0.0; CHANNELS];
        for channel in 0..CHANNELS {
            let own = changed && channel == 0;
            values[channel] = match process {
                Process::White => noise[channel],
                Process::Autoregression => {
                    let a: f64 = if own && change == Change::Dynamics { 0.6 } else { 0.9 };
                    let innovation = (1.0 - a * a).sqrt() * noise[channel];
                    states[channel] = a * states[channel] + innovation;
                    states[channel]
                }
                Process::Sine => {
                    let period = if own && change == Change::Frequency { 300.0 } else { 500.0 };
                    phases[channel] += TAU / period;
                    phases[channel].sin() + 0.3 * noise[channel]
                }
            };
        }
        if changed {
            match change {
                Change::Mean(shift) => values[0] += shift * process.deviation(),
                Change::Ramp => values[0] += 2.0 * process.deviation() * age / real(WATCHED),
                Change::Zeros if age < 20.0 => values[0] = 0.0,
                Change::Stuck => values[0] = frozen,
                // Made already, or over.
                Change::Spread(_)
                | Change::Correlation
                | Change::Humps
                | Change::Dynamics
                | Change::Frequency
                | Change::Zeros => {}
            }
        } else {
            frozen = values[0];
        }
        rows_made.push(values.map(single).to_vec());
    }
    rows_made
}

/// Found after so many rows, for each log.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    delays: Vec<Option<usize>>,
}

impl Found {
    /// The share that is found.
    #[must_use]
    pub fn share(&self) -> f64 {
        real(self.delays.iter().flatten().count()) / real(self.delays.len().max(1))
    }

    /// The share that is found within so many rows.
    #[must_use]
    pub fn share_within(&self, rows: usize) -> f64 {
        let soon = self.delays.iter().flatten().filter(|delay| **delay <= rows);
        real(soon.count()) / real(self.delays.len().max(1))
    }

    /// Median over all logs, those without an alarm being the latest.
    #[must_use]
    pub fn median(&self) -> f64 {
        median(self.delays.iter().map(|delay| delay.map_or(f64::INFINITY, real)))
    }

    fn cell(&self) -> String {
        let share = format!("{:.0}", 100.0 * self.share());
        let median = self.median();
        if median.is_finite() { format!("{share}/{median:.0}") } else { share }
    }
}

/// The rows after learning on which the detector alarms, for a promise.
fn raised(rows: &[Vec<f32>], promise: f64) -> Vec<usize> {
    let map = map(CHANNELS);
    let learning = u32::try_from(LEARNING).unwrap_or(0);
    let mut device = detector(&map, settings(single(promise), learning));
    (0..rows.len()).filter(|row| alarms(&mut device, &rows[*row])).collect()
}

/// The promise at which the share of healthy logs that alarm is as stated.
#[must_use]
pub fn matched_promise(process: Process, logs: usize, cell: usize) -> f64 {
    let healthy =
        fleet(logs, |device| log(process, NO_CHANGE, seed(20, cell, device), LEARNING + HEALTHY));
    let (mut low, mut high) = (300_f64.ln(), 1e6_f64.ln());
    for _ in 0..6 {
        let middle = f64::midpoint(low, high);
        let alarmed = fleet(logs, |device| !raised(&healthy[device], middle.exp()).is_empty());
        let share = real(alarmed.into_iter().filter(|alarmed| *alarmed).count()) / real(logs);
        if share > FALSE_ALARMS { low = middle } else { high = middle }
    }
    f64::midpoint(low, high).exp()
}

/// The threshold of a baseline at which the share of healthy logs that alarm is as stated.
fn matched_threshold<M: Method>(start: &M, process: Process, logs: usize, cell: usize) -> f64 {
    let largest = fleet(logs, |device| {
        let rows = log(process, NO_CHANGE, seed(20, cell, device), LEARNING + HEALTHY);
        let mut method = start.clone();
        method.learn(&rows[..LEARNING]);
        rows[LEARNING..].iter().map(|row| method.push(row)).fold(0.0, f64::max)
    });
    quantile(largest.into_iter(), 1.0 - FALSE_ALARMS)
}

/// What a baseline finds.
fn baseline<M: Method>(
    start: &M,
    (process, change): (Process, Change),
    threshold: f64,
    logs: usize,
    cell: usize,
) -> Found {
    let delays = fleet(logs, |device| {
        let rows = log(process, change, seed(21, cell, device), ONSET + WATCHED);
        let mut method = start.clone();
        method.learn(&rows[..LEARNING]);
        rows[LEARNING..ONSET].iter().for_each(|row| {
            method.push(row);
        });
        rows[ONSET..].iter().position(|row| method.push(row) > threshold).map(|at| at + 1)
    });
    Found { delays }
}

/// What the detector finds at a promise.
#[must_use]
pub fn found(process: Process, change: Change, promise: f64, logs: usize, cell: usize) -> Found {
    let delays = fleet(logs, |device| {
        let rows = log(process, change, seed(21, cell, device), ONSET + WATCHED);
        let raised = raised(&rows, promise);
        raised.into_iter().find(|row| *row >= ONSET).map(|row| row - ONSET + 1)
    });
    Found { delays }
}

/// Largest median delay that is wanted, if the best column has this one.
#[must_use]
pub fn wanted_delay(best: f64) -> f64 {
    (tolerance::DETECTION_DELAY.limit * best).max(best + tolerance::DETECTION_LATER.limit)
}

const SUMMED: [Summed; 3] = [Summed::Values, Summed::Residuals, Summed::Squares];

/// The section.
#[must_use]
pub fn run(scope: Scope, draw: Draw) -> Report {
    let (logs, healthy) = if scope == Scope::Full { (100, 200) } else { (12, 40) };
    let mut report = Report::new(
        "What is found, and how soon",
        &format!(
            "3 channels, of which the first changes; {LEARNING} learning rows, change at {ONSET}, \
             watched for {WATCHED} rows. Each method's knob (of the detector its promise) is set \
             for each process so that 15 % of {healthy} healthy logs alarm in {HEALTHY} rows. % \
             found / median delay, {logs} logs a cell; logs without an alarm count as the latest. \
             CUSUM: two-sided, allowance a quarter; residual: of an autoregression of order 4. \
             NEWMA: 64 frequencies, window 50."
        ),
    );
    let newma_map: Fourier<CHANNELS, 64> =
        granted(Fourier::new(Kernel::GAUSSIAN, Sampling::Independent, 1));
    let newma = Newma::new(&newma_map, 50.0);
    let mut table = Table::new([
        "process, change",
        "detector",
        "CUSUM",
        "of residual",
        "of residual²",
        "NEWMA",
        "wanted",
    ]);
    let mut knobs = Table::new(["process", "promise, rows"]);
    for (process, place) in [(Process::White, 0), (Process::Autoregression, 1), (Process::Sine, 2)]
    {
        note("detection", process.name());
        let cell = draw.cell(place);
        let promise = matched_promise(process, healthy, cell);
        knobs.line([process.name().to_owned(), format!("{promise:.0}")]);
        let cusums = SUMMED.map(|summed| {
            let start = Cusum::new(summed);
            let threshold = matched_threshold(&start, process, healthy, cell);
            (start, threshold)
        });
        let newma_threshold = matched_threshold(&newma, process, healthy, cell);
        for (index, (_, change, name, share)) in
            CELLS.into_iter().enumerate().filter(|(_, (of, ..))| *of == process)
        {
            let cell = draw.cell(index);
            let own = found(process, change, promise, logs, cell);
            let mut columns: Vec<Found> = cusums
                .iter()
                .map(|(start, threshold)| {
                    baseline(start, (process, change), *threshold, logs, cell)
                })
                .collect();
            columns.push(baseline(&newma, (process, change), newma_threshold, logs, cell));
            let best = columns.iter().map(Found::median).fold(own.median(), f64::min);
            let label = format!("{} {name}", process.name());
            let mut wanted = format!("{:.0}", 100.0 * share.limit);
            match change {
                Change::Zeros => {
                    report.want_at_least(&label, own.share_within(20), share.limit);
                    wanted.push_str(" in 20");
                }
                Change::Stuck => {
                    report.want_at_least(&label, own.share(), share.limit);
                    let rows = tolerance::DETECTION_STUCK;
                    report.want_at_most(&format!("{label}: rows"), own.median(), rows.limit);
                    wanted.push_str(&format!("/{}", rows.limit));
                }
                Change::Mean(_)
                | Change::Spread(_)
                | Change::Correlation
                | Change::Humps
                | Change::Dynamics
                | Change::Frequency
                | Change::Ramp => {
                    report.want_at_least(&label, own.share(), share.limit);
                    // The median of what is rarely found is no delay.
                    if best.is_finite() {
                        let limit = wanted_delay(best);
                        report.want_at_most(&format!("{label}: delay"), own.median(), limit);
                        wanted.push_str(&format!("/{limit:.0}"));
                    }
                }
            }
            let cells = [&own].into_iter().chain(&columns).map(Found::cell);
            table.line([label].into_iter().chain(cells).chain([wanted]));
        }
    }
    report.table("% found / median delay in rows", &table);
    report.table("The detector's knob", &knobs);
    report.settle(match scope {
        Scope::Full => tolerance::DETECTION_UNMET,
        Scope::Quick => tolerance::DETECTION_UNMET_QUICK,
    });
    report
}
