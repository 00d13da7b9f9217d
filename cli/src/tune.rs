//! `tune`: finds the cycle of a log, suggests settings, and tries them.
//!
//! A candidate learns from the first part of the healthy log and watches the rest: once unchanged, to
//! count false alarms, and then with changes injected into one channel at a time.

use fastmmd::monitor::LEARNING_ROWS;
use fastmmd::{Config, Stage, Verdict};
use fastmmd_reference::real;
use serde_json::{Value, json};

use crate::args::{Missing, TuneArguments};
use crate::cost;
use crate::detector::Detector;
use crate::fault::Fault;
use crate::inject::{Injected, Injection};
use crate::paste;
use crate::period::{self, Cycle};
use crate::progress::Progress;
use crate::report::{self, DIM, number};
use crate::rows::{Row, Rows};
use crate::setup::{self, CYCLES, GOOD_CYCLES, Plan};
use crate::source::Source;
use crate::summary;

/// Largest number of rows at which a change begins.
const ONSETS: usize = 10;
/// Largest number of rows with changes, over all channels, kinds and onsets.
const MOST_ROWS: usize = 4_000_000;
/// Longest delay by default, in rows.
const WITHIN: usize = 1000;
/// Frequencies below which there is no joint leg worth its cost.
const LEAST_FREQUENCIES: usize = 4;

pub(crate) fn run(arguments: &TuneArguments) -> Result<(), Fault> {
    let log = Log::read(arguments)?;
    let mut plans = Vec::new();
    for period in log.periods() {
        plans.push(log.plan(arguments, period)?);
    }
    let mut progress = Progress::new();
    let all = u64::try_from(plans.len()).ok();
    let mut trials = Vec::new();
    for (done, plan) in (0..).zip(&plans) {
        progress.show((done, all));
        trials.push(Trial::run(&log, plan)?);
    }
    progress.finish();
    let best = best(&trials).ok_or_else(|| Fault::of(&log.name, "nothing to try"))?;
    if arguments.json {
        return say_json(&log, &trials, best);
    }
    say(&log, &trials, best)
}

/// The healthy part of a log, and what is asked of a detector.
struct Log {
    name: String,
    names: Vec<String>,
    /// The columns as they were chosen.
    chosen: Option<String>,
    missing: Missing,
    rate: Option<f64>,
    rows: Vec<Vec<f32>>,
    /// The cycle that was found.
    cycle: Option<Cycle>,
    /// The period that was given.
    given: Option<f64>,
    /// Rows to learn from, if given.
    learn: Option<u32>,
    /// Rows within which a change must be found, if given.
    within: Option<usize>,
    /// Standard deviation of each channel.
    deviations: Vec<f32>,
}

impl Log {
    fn read(arguments: &TuneArguments) -> Result<Self, Fault> {
        let source = Source::new(&arguments.log, false);
        let options = &arguments.watching;
        let spans = [options.spans().as_slice(), &[arguments.healthy, arguments.within]].concat();
        let mut log = Rows::with_spans(&source, &arguments.columns, options, &spans)?;
        let rate = log.rate;
        let whole = |what, span: Option<_>, range| {
            span.map(|span| setup::whole(what, span, rate, &range)).transpose()
        };
        let most = whole("--healthy", arguments.healthy, 1..=u32::MAX)?;
        let most = most.map_or(usize::MAX, |rows| rows as usize);
        let (mut rows, mut row) = (Vec::new(), Row::default());
        while rows.len() < most && log.next(&mut row)? {
            rows.push(row.values.clone());
        }
        let names = log.table.names();
        let given = options.period.map(|span| span.rows(rate).unwrap_or(f64::NAN));
        let cycle = if given.is_none() { period::find(&rows, names.len()) } else { None };
        Ok(Self {
            name: log.table.name().to_owned(),
            chosen: arguments.columns.columns.as_ref().map(|names| names.join(",")),
            missing: options.missing,
            rate,
            cycle,
            given,
            learn: whole("--learn", options.learn, LEARNING_ROWS)?,
            within: whole("--within", arguments.within, 1..=u32::MAX)?.map(|rows| rows as usize),
            deviations: (0..names.len()).map(|channel| deviation(&rows, channel)).collect(),
            names,
            rows,
        })
    }

    /// The periods to try: none, and the one that was found or given.
    fn periods(&self) -> Vec<Option<f64>> {
        let found = self.cycle.as_ref().filter(|cycle| self.has_cycles(cycle.rows));
        match (self.given, found) {
            (Some(given), _) => vec![Some(given)],
            (None, Some(cycle)) => vec![None, Some(rounded(cycle.rows))],
            (None, None) => vec![None],
        }
    }

    /// Whether there are enough cycles to learn from.
    fn has_cycles(&self, rows: f64) -> bool {
        let half = self.learn.map_or(real(self.rows.len()) / 2.0, f64::from);
        CYCLES * rows <= half
    }

    /// The settings with this period, or none.
    fn plan(&self, arguments: &TuneArguments, period: Option<f64>) -> Result<Plan, Fault> {
        let options = &arguments.watching;
        let learn = match self.learn {
            Some(rows) => rows,
            None => self.learning_rows(arguments, period)?,
        };
        let least = *LEARNING_ROWS.start();
        if self.rows.len() < learn as usize + least as usize {
            let why = format!(
                "too few rows to learn from: {} healthy ones; {learn} to learn from, and {least} \
                 more to try changes in, are needed",
                self.rows.len()
            );
            return Err(Fault::of(&self.name, why));
        }
        let config = setup::settings(options, self.rate, learn, period)?;
        let mut frequencies = options.features;
        loop {
            let map = setup::map(self.names.len(), frequencies, options.seed)?;
            let plan = Plan { map, config };
            let ram = cost::ram_bytes(&plan.detector().map_err(Fault::new)?);
            match arguments.ram {
                Some(most) if ram > most && frequencies <= LEAST_FREQUENCIES => {
                    let why = format!("{ram} bytes of RAM are needed, and --ram allows {most}");
                    return Err(Fault::of(&self.name, why));
                }
                Some(most) if ram > most => frequencies /= 2,
                _ => return Ok(plan),
            }
        }
    }

    /// Rows to learn from: as many as the core's default, as the promise needs, or as hold enough
    /// cycles, but no more than half of the log.
    fn learning_rows(&self, arguments: &TuneArguments, period: Option<f64>) -> Result<u32, Fault> {
        let (least, most) = (*LEARNING_ROWS.start(), *LEARNING_ROWS.end());
        let half = u32::try_from(self.rows.len() / 2).unwrap_or(most).clamp(least, most);
        let mut rows = setup::learning_rows();
        if let Some(period) = period {
            rows = rows.max(ceiling(GOOD_CYCLES * period));
        }
        let promise = arguments.watching.mean_time_between_false_alarms;
        let supports = |rows: u32| -> Result<bool, Fault> {
            let period = period.map(fastmmd_reference::single);
            let config = Config { learning_rows: rows, period, ..Config::rows(setup::PROMISE) };
            Ok(config.supported_mean_time() >= setup::promised(promise, self.rate, &config)?)
        };
        while rows < half && !supports(rows)? {
            rows = rows.saturating_mul(2);
        }
        let cycles = period.map_or(least, |period| ceiling(CYCLES * period));
        Ok(rows.min(half).max(cycles).clamp(least, most))
    }

    /// Rows within which a change must be found after so many were learned from.
    fn within(&self, learned: usize) -> usize {
        let rest = self.rows.len().saturating_sub(learned);
        self.within.unwrap_or(WITHIN).min(rest / 3).max(1)
    }
}

fn deviation(rows: &[Vec<f32>], channel: usize) -> f32 {
    let values = || rows.iter().map(|row| f64::from(row[channel])).filter(|x| x.is_finite());
    let count = real(values().count().max(1));
    let mean = values().sum::<f64>() / count;
    let variance = values().map(|value| (value - mean) * (value - mean)).sum::<f64>() / count;
    fastmmd_reference::single(variance.sqrt())
}

/// A period with as many digits as it deserves.
fn rounded(rows: f64) -> f64 {
    let digits = if rows >= 1000.0 { 1.0 } else { 100.0 };
    (rows * digits).round() / digits
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the cast saturates, and the number is positive"
)]
fn ceiling(rows: f64) -> u32 {
    rows.ceil() as u32
}

/// The results of a candidate.
struct Trial<'p> {
    /// The detector after the last row.
    detector: Detector<'p>,
    /// The same when it had just learned.
    notes: Vec<String>,
    /// Number of rows watched.
    watched: usize,
    within: usize,
    false_alarms: usize,
    results: Vec<Tried>,
}

/// How one kind of change of one channel was found.
struct Tried {
    channel: usize,
    kind: Injected,
    /// Delays of those that were found, in rows, ascending.
    delays: Vec<usize>,
    /// Number of times it was tried.
    tried: usize,
}

/// The first row of a change, and the detector before it.
type Onset<'p> = (usize, Detector<'p>);

impl<'p> Trial<'p> {
    fn run(log: &Log, plan: &'p Plan) -> Result<Self, Fault> {
        let refused = |error: fastmmd::Error| Fault::of(&log.name, error);
        let mut detector = plan.detector().map_err(refused)?;
        let learn = plan.config.learning_rows as usize;
        let within = log.within(learn);
        let tries = Injected::ALL.len() * log.names.len() * within;
        let most = (MOST_ROWS / tries.max(1)).clamp(3, ONSETS);
        let last = log.rows.len().saturating_sub(within);
        let every = last.saturating_sub(learn).div_ceil(most).max(1);
        let (mut false_alarms, mut onsets, mut notes) = (0, Vec::new(), Vec::new());
        for (number, row) in log.rows.iter().enumerate() {
            let due = number >= learn && (number - learn).is_multiple_of(every);
            if due && number < last && detector.stage() == Stage::Monitoring {
                onsets.push((number, detector.clone()));
            }
            let verdict = detector.push(row).map_err(refused)?;
            false_alarms += usize::from(matches!(verdict, Verdict::Alarm(_)));
            if number + 1 == learn {
                notes = summary::learned_lines(&detector, &log.names);
            }
        }
        // If there is an alarm without a change, one with a change says nothing.
        let mut calm = Vec::new();
        for onset in onsets {
            if delay(log, &onset, within, None)?.is_none() {
                calm.push(onset);
            }
        }
        let mut results = Vec::new();
        for channel in 0..log.names.len() {
            // A channel that does not move has no deviation to be off by.
            let kinds = Injected::ALL.into_iter().filter(|_| log.deviations[channel] > 0.0);
            for kind in kinds {
                results.push(Tried::run(log, &calm, within, channel, kind)?);
            }
        }
        let watched = log.rows.len() - learn;
        Ok(Self { detector, notes, watched, within, false_alarms, results })
    }

    /// Expected number of false alarms.
    fn expected(&self) -> f64 {
        real(self.watched) / f64::from(self.detector.config().mean_time_between_false_alarms)
    }

    /// Whether the number of false alarms is plausible for the stated time between them.
    fn keeps(&self) -> bool {
        // Mean plus three standard deviations of a Poisson variable, plus one for the start.
        let most = self.expected() + 3.0 * self.expected().sqrt() + 1.0;
        real(self.false_alarms) <= most
    }

    fn tried(&self) -> usize {
        self.results.iter().map(|result| result.tried).sum()
    }

    fn found(&self) -> usize {
        self.results.iter().map(|result| result.delays.len()).sum()
    }

    /// Part of the tries that were found, and the mean delay of all, where one that was not found
    /// took all the time.
    fn merit(&self) -> (f64, f64) {
        let tried = real(self.tried().max(1));
        let delays: usize = self.results.iter().flat_map(|result| &result.delays).sum();
        let lost = (self.tried() - self.found()) * self.within;
        (real(self.found()) / tried, real(delays + lost) / tried)
    }

    fn json(&self, suggested: bool) -> Value {
        let config = self.detector.config();
        let [m4f, m0] = ["m4f", "m0"].map(|core| cost::instructions(core, &self.detector));
        json!({
            "event": "candidate",
            "learning_rows": config.learning_rows,
            "period": config.period.map(number),
            "mean_time_between_false_alarms": number(config.mean_time_between_false_alarms),
            "supported_mean_time": number(config.supported_mean_time()),
            "features": self.detector.recipe().frequencies,
            "watched": self.watched,
            "false_alarms": self.false_alarms,
            "expected": self.expected(),
            "within": self.within,
            "found": self.found(),
            "tried": self.tried(),
            "ram_bytes": cost::ram_bytes(&self.detector),
            "instructions_m4f": m4f.map(|it| it.count),
            "instructions_m0": m0.map(|it| it.count),
            "instructions_measured": m4f.is_some_and(|it| it.measured),
            "suggested": suggested,
        })
    }
}

impl Tried {
    fn run(
        log: &Log,
        onsets: &[Onset<'_>],
        within: usize,
        channel: usize,
        kind: Injected,
    ) -> Result<Self, Fault> {
        let deviation = log.deviations[channel];
        let mut delays = Vec::new();
        for onset in onsets {
            let change = Injection { kind, channel, deviation, from: onset.0, within };
            delays.extend(delay(log, onset, within, Some(change))?);
        }
        delays.sort_unstable();
        Ok(Self { channel, kind, delays, tried: onsets.len() })
    }

    fn median(&self) -> Option<usize> {
        self.delays.get(self.delays.len() / 2).copied()
    }

    fn json(&self, log: &Log) -> Value {
        json!({
            "event": "trial",
            "channel": self.channel,
            "channel_name": log.names[self.channel],
            "change": self.kind.name(),
            "size": self.kind.size().map(number),
            "found": self.delays.len(),
            "tried": self.tried,
            "median_delay": self.median(),
        })
    }
}

/// Rows from an onset to the first alarm, with a change or without; `None` if there is none in time.
fn delay(
    log: &Log,
    (from, before): &Onset<'_>,
    within: usize,
    change: Option<Injection>,
) -> Result<Option<usize>, Fault> {
    let mut detector = before.clone();
    let mut row = Vec::new();
    for at in *from..(from + within).min(log.rows.len()) {
        row.clone_from(&log.rows[at]);
        if let Some(change) = &change {
            row[change.channel] = change.reading(&log.rows, at);
        }
        let verdict = detector.push(&row).map_err(|error| Fault::of(&log.name, error))?;
        if matches!(verdict, Verdict::Alarm(_)) {
            return Ok(Some(at - from));
        }
    }
    Ok(None)
}

/// The trial that keeps the promise and finds most; of equal ones, the quickest.
fn best(trials: &[Trial<'_>]) -> Option<usize> {
    let order = |trial: &Trial<'_>| {
        let (found, delay) = trial.merit();
        (trial.keeps(), found, -delay)
    };
    let better = |a: &Trial<'_>, b: &Trial<'_>| {
        let ((a, a_found, a_delay), (b, b_found, b_delay)) = (order(a), order(b));
        a.cmp(&b).then(a_found.total_cmp(&b_found)).then(a_delay.total_cmp(&b_delay))
    };
    trials.iter().enumerate().max_by(|(_, a), (_, b)| better(a, b)).map(|(index, _)| index)
}

fn say_json(log: &Log, trials: &[Trial<'_>], best: usize) -> Result<(), Fault> {
    if let Some(cycle) = &log.cycle {
        report::say_json(&json!({
            "event": "cycle",
            "rows": cycle.rows,
            "count": cycle.count,
            "channels": log.names,
            "explained": cycle.explained,
        }))?;
    }
    for (index, trial) in trials.iter().enumerate() {
        report::say_json(&trial.json(index == best))?;
    }
    let Some(trial) = trials.get(best) else { return Ok(()) };
    trial.results.iter().try_for_each(|result| report::say_json(&result.json(log)))
}

fn say(log: &Log, trials: &[Trial<'_>], best: usize) -> Result<(), Fault> {
    let (rows, channels) = (log.rows.len(), log.names.len());
    report::say(format!("{}: {rows} healthy rows of {channels} channels", log.name))?;
    say_cycle(log)?;
    for (index, trial) in trials.iter().enumerate() {
        let config = trial.detector.config();
        let mark = if index == best { ">" } else { " " };
        let period = config.period.map_or("no cycle".to_owned(), |rows| format!("cycle {rows}"));
        report::say(format!(
            "{mark} {period:<14} found {} of {}; false alarms: {} in {} rows, {:.1} promised",
            trial.found(),
            trial.tried(),
            trial.false_alarms,
            trial.watched,
            trial.expected(),
        ))?;
    }
    let Some(trial) = trials.get(best) else { return Ok(()) };
    let config = trial.detector.config();
    let promise = config.mean_time_between_false_alarms;
    let supported = config.supported_mean_time();
    if trials.len() > 1 {
        report::say(why(trials, best))?;
    }
    report::say(format!(
        "\nLearning from {} rows supports one false alarm in {supported:.0} rows;\nit is set to \
         one in {promise}.",
        config.learning_rows
    ))?;
    for warning in config.warnings() {
        report::say(format!("note: {warning}"))?;
    }
    trial.notes.iter().try_for_each(|note| report::say(format!("note: {note}")))?;
    if !trial.keeps() {
        report::say(
            "note: more false alarms than promised: is the log healthy to its end? (--healthy)",
        )?;
    }
    say_results(log, trial)?;
    let [m4f, m0] = ["m4f", "m0"].map(|core| {
        cost::instructions(core, &trial.detector).map_or("?".to_owned(), |it| it.to_string())
    });
    report::say(format!(
        "\nCost: {} bytes of RAM; instructions a row: {m4f} on a Cortex-M4F,\n{m0} on a Cortex-M0.",
        cost::ram_bytes(&trial.detector)
    ))?;
    let chosen = log.chosen.as_deref();
    let command = paste::command(&log.name, chosen, log.missing, &trial.detector);
    report::say(format!("\nTo try:\n\n{command}\n\nTo paste:\n"))?;
    report::say(paste::rust(&trial.detector))
}

/// Why this trial and not the other.
fn why(trials: &[Trial<'_>], best: usize) -> String {
    let cyclic = |trial: &Trial<'_>| trial.detector.config().period.is_some();
    let with = match trials.get(best).is_some_and(cyclic) {
        true => "With the cycle",
        false => "Without the cycle",
    };
    if trials.iter().any(|trial| !trial.keeps()) {
        return format!("{with} the promise is kept best.");
    }
    let found: Vec<usize> = trials.iter().map(Trial::found).collect();
    let more = if found.iter().all(|count| *count == found[0]) { "sooner" } else { "more often" };
    format!("{with} changes are found {more}.")
}

fn say_cycle(log: &Log) -> Result<(), Fault> {
    let Some(cycle) = &log.cycle else {
        return match log.given {
            Some(_) => Ok(()),
            None => report::say("No cycle was found."),
        };
    };
    let length = log.rate.map_or(String::new(), |rate| format!(" ({:.0} s)", cycle.rows / rate));
    report::say(format!(
        "A cycle of {} rows{length}, {:.1} times in the log.\nIts first half explains of the \
         variance in the second half:",
        rounded(cycle.rows),
        cycle.count
    ))?;
    for (name, part) in log.names.iter().zip(&cycle.explained) {
        report::say(format!("  {:>3.0} %  {name}", 100.0 * part.max(0.0)))?;
    }
    if !log.has_cycles(rounded(cycle.rows)) {
        let needed = ceiling(2.0 * CYCLES * cycle.rows);
        report::say(format!(
            "note: too few cycles to use it: {needed} rows are needed, of which half are learned"
        ))?;
    }
    Ok(())
}

fn say_results(log: &Log, trial: &Trial<'_>) -> Result<(), Fault> {
    if trial.tried() == 0 {
        return report::say("\nNo change could be tried: the detector was never calm.");
    }
    let longest = log.names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
    let width = longest.clamp(7, 30);
    report::say(format!(
        "\n{DIM}{:<width$}  {:<22} {:>7} {:>18}{DIM:#}",
        "channel",
        format!("change, {} rows", trial.within),
        "found",
        "median delay, rows"
    ))?;
    for result in &trial.results {
        let delay = result.median().map_or("–".to_owned(), |rows| rows.to_string());
        report::say(format!(
            "{:<width$}  {:<22} {:>7} {delay:>18}",
            log.names[result.channel],
            result.kind.about(),
            format!("{}/{}", result.delays.len(), result.tried),
        ))?;
    }
    Ok(())
}
