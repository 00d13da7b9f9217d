//! `tune`: finds settings that suit a log.
//!
//! Every candidate learns from the first part of the healthy log and watches the rest: once
//! unchanged, to count false alarms, and then with steps added to one channel at a time.

use fastmmd::condition::ViewKind;
use fastmmd::dynamic::{Config, Detector};
use fastmmd::monitor::Bandwidth;
use fastmmd::{FeatureMap, Stage, Verdict};
use serde_json::json;

use crate::args::TuneArguments;
use crate::cost::{self, Instructions};
use crate::fault::Fault;
use crate::paste;
use crate::progress::Progress;
use crate::report::{self, DIM, GREEN, number};
use crate::rows::{Row, Rows};
use crate::setup::{self, Plan};
use crate::source::Source;
use crate::view;

/// Largest number of rows at which a step is started.
const ONSETS: usize = 10;
/// Share of them that must raise an alarm.
const FOUND: f64 = 0.8;
/// Sizes of steps, in standard deviations of the channel over the learning rows.
const STEPS: [f32; 13] = [0.125, 0.18, 0.25, 0.35, 0.5, 0.7, 1.0, 1.4, 2.0, 2.8, 4.0, 5.6, 8.0];

pub(crate) fn run(arguments: &TuneArguments) -> Result<(), Fault> {
    let log = Log::read(arguments)?;
    let mut progress = Progress::new();
    let candidates = candidates(&log)?;
    let all = u64::try_from(candidates.len()).unwrap_or(0);
    let mut results = Vec::new();
    for (done, plan) in (0..).zip(&candidates) {
        progress.show((done, Some(all)));
        results.push(Trial::run(&log, plan)?);
    }
    progress.finish();
    let best = best(&results, &log, arguments.ram);
    if arguments.json {
        for (index, trial) in results.iter().enumerate() {
            report::say_json(&trial.json(&log, best == Some(index)))?;
        }
        return Ok(());
    }
    report::say(format!(
        "{}: {} healthy rows, {} to learn from; steps must be found within {} rows\n",
        log.name,
        log.rows.len(),
        log.learn,
        log.within
    ))?;
    report::say(format!(
        "{:2}{:<10} {:<14} {:>4} {:>4} {:<14} {:>12} {:>14} {:>7} {:>10} {:>10}",
        "",
        "view",
        "bandwidth",
        "freq",
        "lags",
        "windows",
        "false alarms",
        "step found",
        "RAM",
        "M4F",
        "M0"
    ))?;
    report::say(format!(
        "{:2}{:<10} {:<14} {:>4} {:>4} {:<14} {:>12} {:>14} {:>7} {:>10} {:>10}",
        "",
        "",
        "σ",
        "",
        "",
        "rows",
        format!("in {}", log.watched()),
        "σ of channel",
        "bytes",
        "instr./row",
        "instr./row"
    ))?;
    for (index, trial) in results.iter().enumerate() {
        let line = trial.line();
        report::say(if best == Some(index) {
            format!("{GREEN}> {line}{GREEN:#}")
        } else {
            format!("  {line}")
        })?;
    }
    report::say(format!(
        "\n{DIM}expected: {:.2} false alarms in {} rows; a step is found if {FOUND} of up to \
         {ONSETS} tries raise an alarm in time;\n–: not found at 8 σ; never calm: in alarm \
         without any step; ~: estimated from another shape{DIM:#}",
        log.promised(),
        log.watched()
    ))?;
    match best.and_then(|index| results.get(index)) {
        Some(trial) => {
            report::say("\nTo paste:\n")?;
            report::say(paste::rust(&trial.detector))
        }
        None => report::say(
            "\nNo candidate keeps the stated time between false alarms on this log and fits into \
             the RAM:\nlearn from more rows, state a shorter time, or allow more RAM.",
        ),
    }
}

/// The healthy part of a log, and the requirements of a detector.
struct Log {
    name: String,
    names: Vec<String>,
    rows: Vec<Vec<f32>>,
    /// Number of rows to learn from.
    learn: u32,
    promise: f32,
    /// Number of rows within which a step must be found.
    within: usize,
    /// Standard deviation of each channel over the learning rows.
    deviations: Vec<f32>,
}

impl Log {
    fn read(arguments: &TuneArguments) -> Result<Self, Fault> {
        let source = Source::new(&arguments.log, false);
        let promise = arguments.mean_time_between_false_alarms;
        let spans = [arguments.learn, arguments.healthy, Some(promise), Some(arguments.within)];
        let mut log = Rows::open(&source, &arguments.columns, arguments.rate, &spans)?;
        let rate = log.rate;
        let most = match arguments.healthy {
            Some(span) => setup::whole("--healthy", span, rate)? as usize,
            None => usize::MAX,
        };
        let (mut rows, mut row) = (Vec::new(), Row::default());
        while rows.len() < most && log.next(&mut row)? {
            rows.push(row.values.clone());
        }
        let table = &log.table;
        let learn = match arguments.learn {
            Some(span) => setup::whole("--learn", span, rate)?,
            None => u32::try_from(rows.len() / 2).unwrap_or(u32::MAX),
        };
        let within = setup::whole("--within", arguments.within, rate)? as usize;
        let least = rows.len().saturating_sub(2 * within);
        if learn < 400 || learn as usize > least {
            let why = format!(
                "too few rows to learn from: {} healthy ones, {learn} of them to learn from; at \
                 least 400, and twice {within} more to find steps in, are needed",
                rows.len()
            );
            return Err(Fault::of(table.name(), why));
        }
        let promise = setup::promised(promise, rate)?;
        let names = table.names();
        let learned = &rows[..learn as usize];
        let deviations: Vec<f32> =
            (0..names.len()).map(|channel| deviation(learned, channel)).collect();
        if let Some(channel) = deviations.iter().position(|deviation| *deviation == 0.0) {
            let why = format!(
                "rows 0 to {}, column {:?}: always the same; leave it out with --columns",
                learn - 1,
                names[channel]
            );
            return Err(Fault::of(table.name(), why));
        }
        let name = table.name().to_owned();
        Ok(Self { name, names, rows, learn, promise, within, deviations })
    }

    /// Number of rows watched for false alarms.
    fn watched(&self) -> usize {
        self.rows.len() - self.learn as usize
    }

    /// Expected number of false alarms in them.
    fn promised(&self) -> f64 {
        fastmmd_reference::real(self.watched()) / f64::from(self.promise)
    }
}

fn deviation(rows: &[Vec<f32>], channel: usize) -> f32 {
    let count = fastmmd_reference::real(rows.len());
    let values = || rows.iter().map(|row| f64::from(row[channel]));
    let mean = values().sum::<f64>() / count;
    let variance = values().map(|value| (value - mean) * (value - mean)).sum::<f64>() / count;
    fastmmd_reference::single(variance.sqrt())
}

/// The candidates for which there are enough rows to learn from.
fn candidates(log: &Log) -> Result<Vec<Plan>, Fault> {
    let moving = Config::preset(ViewKind::Innovation, log.promise);
    let fixed = Config::preset(ViewKind::Raw, log.promise);
    let short = fixed.with_lengths(vec![4, 16, 64]);
    let wide = Config { bandwidth: Bandwidth::MedianDistance(1.0), ..short.clone() };
    let all = [
        (ViewKind::Innovation, 1, 16, &moving),
        (ViewKind::Innovation, 1, 32, &moving),
        (ViewKind::Raw, 1, 32, &short),
        (ViewKind::Raw, 1, 64, &short),
        (ViewKind::Raw, 1, 64, &wide),
        (ViewKind::Raw, 1, 64, &fixed),
        (ViewKind::Raw, 2, 64, &short),
        (ViewKind::Raw, 4, 64, &short),
    ];
    let (channels, mut plans, mut refused) = (log.names.len(), Vec::new(), None);
    for (view, lags, frequencies, config) in all {
        let mut config = config.clone();
        config.scaling_rows = config.scaling_rows.min(log.learn / 4);
        config.learning_rows = log.learn - config.scaling_rows - (lags - 1);
        let config = config.lengthened();
        // With too few rows it is not a candidate.
        let checked = config.check().and_then(|()| setup::map(channels, lags, frequencies, 1));
        match checked {
            Ok(map) => plans.push(Plan { map, channels, view, config }),
            Err(error) => refused = Some(error),
        }
    }
    match refused {
        Some(error) if plans.is_empty() => Err(Fault::of(&log.name, error)),
        _ => Ok(plans),
    }
}

/// The results of a candidate.
struct Trial<'p> {
    /// The detector after the last row.
    detector: Detector<'p>,
    false_alarms: usize,
    /// Number of rows at which steps were tried: 0 for a detector that was never calm.
    onsets: usize,
    /// Smallest step found in each channel.
    steps: Vec<Option<f32>>,
    sigma: f32,
    ram: usize,
    instructions: [Option<Instructions>; 2],
}

/// The first row of a step, and the detector before it.
type Onset<'p> = (usize, Detector<'p>);

impl<'p> Trial<'p> {
    fn run(log: &Log, plan: &'p Plan) -> Result<Self, Fault> {
        let refused = |error: fastmmd::Error| Fault::of(&log.name, error);
        let mut detector = plan.detector().map_err(refused)?;
        let learn = log.learn as usize;
        let every = (log.watched() - log.within).div_ceil(ONSETS).max(1);
        let (mut false_alarms, mut onsets) = (0, Vec::new());
        for (number, row) in log.rows.iter().enumerate() {
            let ready = number >= learn && (number - learn).is_multiple_of(every);
            let healthy = detector.stage() == Stage::Monitoring;
            if ready && healthy && number + log.within <= log.rows.len() {
                onsets.push((number, detector.clone()));
            }
            let verdict = detector.push(row).map_err(refused)?;
            false_alarms += usize::from(matches!(verdict, Verdict::Alarm(_)));
        }
        // If there is an alarm without a step, one with a step says nothing.
        let mut calm = Vec::new();
        for onset in onsets {
            if !alarms(log, &onset, 0, 0.0)? {
                calm.push(onset);
            }
        }
        let channels = 0..log.names.len();
        let steps = channels.map(|channel| smallest_step(log, &calm, channel));
        Ok(Self {
            false_alarms,
            onsets: calm.len(),
            steps: steps.collect::<Result<_, _>>()?,
            sigma: detector.bandwidth().unwrap_or_default(),
            ram: cost::ram_bytes(&detector),
            instructions: ["m4f", "m0"].map(|core| cost::instructions(core, &detector)),
            detector,
        })
    }

    /// Whether the number of false alarms is plausible for the stated time between them.
    fn keeps(&self, log: &Log) -> bool {
        // Mean plus three standard deviations of a Poisson variable, plus one for the start.
        let most = log.promised() + 3.0 * log.promised().sqrt() + 1.0;
        self.onsets > 0 && fastmmd_reference::real(self.false_alarms) <= most
    }

    /// The mean logarithm of the smallest steps found; a step not found counts as the next size.
    fn blindness(&self) -> f64 {
        let logs = self.steps.iter().map(|step| f64::from(step.unwrap_or(16.0)).ln());
        logs.sum::<f64>() / fastmmd_reference::real(self.steps.len().max(1))
    }

    fn view(&self) -> &'static str {
        view::view(self.detector.shape().view, self.detector.lags())
    }

    fn bandwidth(&self) -> String {
        let sigma = self.sigma;
        match self.detector.config().bandwidth {
            Bandwidth::Family => format!("{:.1} to {sigma:.1}", sigma / 4.0),
            Bandwidth::Deviations(_) | Bandwidth::MedianDistance(_) => format!("{sigma:.1}"),
        }
    }

    fn step_range(&self) -> String {
        if self.onsets == 0 {
            return "never calm".to_owned();
        }
        let text = |step: Option<f32>| step.map_or("–".to_owned(), |step| step.to_string());
        let size = |step: &&Option<f32>| step.map_or(u32::MAX, f32::to_bits);
        let (least, largest) =
            (self.steps.iter().min_by_key(size), self.steps.iter().max_by_key(size));
        match (least, largest) {
            (Some(least), Some(largest)) if least != largest => {
                format!("{} to {}", text(*least), text(*largest))
            }
            (Some(least), _) => text(*least),
            _ => String::new(),
        }
    }

    fn line(&self) -> String {
        let [m4f, m0] = self.instructions.map(|it| it.map_or("?".to_owned(), |it| it.to_string()));
        format!(
            "{:<10} {:<14} {:>4} {:>4} {:<14} {:>12} {:>14} {:>7} {m4f:>10} {m0:>10}",
            self.view(),
            self.bandwidth(),
            self.detector.map().recipe().frequencies,
            self.detector.lags(),
            report::list(&self.detector.config().windows, ","),
            self.false_alarms,
            self.step_range(),
            self.ram,
        )
    }

    fn json(&self, log: &Log, suggested: bool) -> serde_json::Value {
        let [m4f, m0] = self.instructions.map(|it| it.map(|it| it.count));
        let measured = self.instructions.iter().flatten().all(|it| it.measured);
        let steps: Vec<_> = self.steps.iter().map(|step| step.map(number)).collect();
        json!({
            "event": "candidate",
            "view": self.view(),
            "sigma": number(self.sigma),
            "features": self.detector.map().recipe().frequencies,
            "lags": self.detector.lags(),
            "windows": self.detector.config().windows,
            "false_alarms": self.false_alarms,
            "promised": log.promised(),
            "channels": log.names,
            "smallest_shift": steps,
            "onsets": self.onsets,
            "ram_bytes": self.ram,
            "instructions_m4f": m4f,
            "instructions_m0": m0,
            "instructions_measured": measured,
            "suggested": suggested,
        })
    }
}

/// The smallest step in a channel from which on all sizes are found at most of the onsets.
fn smallest_step(log: &Log, onsets: &[Onset<'_>], channel: usize) -> Result<Option<f32>, Fault> {
    if onsets.is_empty() {
        return Ok(None);
    }
    let mut smallest = None;
    for size in STEPS.into_iter().rev() {
        let mut found = 0;
        for onset in onsets {
            found += usize::from(alarms(log, onset, channel, size)?);
        }
        let share = fastmmd_reference::real(found) / fastmmd_reference::real(onsets.len());
        if share < FOUND {
            break;
        }
        smallest = Some(size);
    }
    Ok(smallest)
}

/// Whether a step of `size` deviations in one channel, from an onset on, raises an alarm in time.
fn alarms(log: &Log, (at, before): &Onset<'_>, channel: usize, size: f32) -> Result<bool, Fault> {
    let refused = |error: fastmmd::Error| Fault::of(&log.name, error);
    let mut detector = before.clone();
    let mut row = Vec::new();
    for values in &log.rows[*at..at + log.within] {
        row.clone_from(values);
        row[channel] += size * log.deviations[channel];
        if matches!(detector.push(&row).map_err(refused)?, Verdict::Alarm(_)) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Of the trials that keep the stated rate and fit into the RAM, the one that finds the smallest
/// steps; of equal ones, that with less RAM.
fn best(trials: &[Trial<'_>], log: &Log, ram: Option<usize>) -> Option<usize> {
    let fits = |trial: &Trial<'_>| ram.is_none_or(|most| trial.ram <= most);
    let good = trials.iter().enumerate().filter(|(_, trial)| trial.keeps(log) && fits(trial));
    let order = |trial: &Trial<'_>| (trial.blindness(), trial.ram);
    let better = |a: &Trial<'_>, b: &Trial<'_>| {
        let ((a, a_ram), (b, b_ram)) = (order(a), order(b));
        a.total_cmp(&b).then(a_ram.cmp(&b_ram))
    };
    good.min_by(|(_, a), (_, b)| better(a, b)).map(|(index, _)| index)
}
