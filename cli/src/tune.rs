//! `tune`: finds the cycle of a log, suggests settings, and tries them.

use fastmmd::monitor::Steadiness;
use fastmmd_tune::inject::Injected;
use fastmmd_tune::learning::{default_rows, least_rows};
use fastmmd_tune::period::rounded;
use fastmmd_tune::tries::Compared;
use serde_json::json;

use crate::args::TuneArguments;
use crate::cost;
use crate::fault::Fault;
use crate::files;
use crate::healthy::Healthy;
use crate::paste;
use crate::progress::Progress;
use crate::report::{self, DIM};
use crate::settings;
use crate::summary::{MANY_TIES, mute_line};
use crate::trial::{self, Trial};

/// Characters of the widest line, but for what is to be pasted.
const WIDEST: usize = 80;
/// Most characters of a name in the table, which then is no wider.
const WIDEST_NAME: usize = 28;

pub(crate) fn run(arguments: &TuneArguments) -> Result<(), Fault> {
    if let Some(path) = &arguments.save {
        files::check_output(path, [arguments.log.as_path()])?;
    }
    let log = Healthy::read(arguments)?;
    let plans = log.plans(arguments)?;
    let mut progress = Progress::on_terminal();
    let all = u64::try_from(plans.len()).ok();
    let show = |done| progress.show((u64::try_from(done).unwrap_or(0), all));
    let compared = trial::compared(&log, &plans, show)?;
    progress.finish();
    if let Some(path) = &arguments.save {
        let made_by = format!("fastmmd tune {}", log.name);
        let detector = &compared.suggested().detector;
        settings::write(path, &made_by, &log.columns, log.missing, detector)?;
    }
    if arguments.json {
        return say_json(&log, &compared);
    }
    say(&log, &compared)?;
    match &arguments.save {
        Some(path) => report::say(format!("\nSaved: {}", path.display())),
        None => Ok(()),
    }
}

fn say_json(log: &Healthy, compared: &Compared<'_, Vec<String>>) -> Result<(), Fault> {
    if let Some(cycle) = &log.log.cycle {
        report::say_json(&json!({
            "event": "cycle",
            "rows": cycle.rows,
            "count": cycle.count,
            "channels": log.names,
            "explained": cycle.explained,
        }))?;
    }
    let trial = compared.suggested();
    for one in compared.trials.iter().chain(&compared.own) {
        report::say_json(&trial::candidate(one, std::ptr::eq(one, trial)))?;
    }
    let mut each = trial.results.iter().map(|result| trial::change(result, &log.names));
    each.try_for_each(|change| report::say_json(&change))
}

fn say(log: &Healthy, compared: &Compared<'_, Vec<String>>) -> Result<(), Fault> {
    let Compared { trials, best, .. } = compared;
    let (rows, channels) = (log.log.rows.len(), log.names.len());
    report::say(format!("{}: {rows} healthy rows of {channels} channels", log.name))?;
    say_cycle(log)?;
    if compared.own.is_some() {
        // Candidates that support different promises can be compared only at one that all support.
        let promise = trials[*best].detector.config().mean_time_between_false_alarms;
        report::say(format!("Compared at one false alarm in {promise} rows:"))?;
    }
    for (index, trial) in trials.iter().enumerate() {
        let config = trial.detector.config();
        let mark = if index == *best { ">" } else { " " };
        let period = config.period.map_or("no cycle".to_owned(), |rows| format!("cycle {rows}"));
        let line = format!(
            "{mark} {period:<14} found {} of {}; false alarms: {} in {} rows, {:.1} promised",
            trial.found(),
            trial.tried(),
            trial.false_alarms,
            trial.watched,
            trial.expected(),
        );
        report::say(report::wrapped(&line, WIDEST))?;
    }
    let trial = compared.suggested();
    let config = trial.detector.config();
    let promise = config.mean_time_between_false_alarms;
    let supported = config.supported_mean_time();
    if trials.len() > 1 {
        report::say(why(trials, *best))?;
    }
    report::say(format!(
        "\nLearning from {} rows, {},\nsupports one false alarm in {supported:.0} rows; it is set \
         to one in {promise}.",
        config.learning_rows,
        why_so_many(log, trial),
    ))?;
    let mut notes: Vec<String> = config.warnings().map(|warning| warning.to_string()).collect();
    notes.extend(trial.notes.iter().cloned());
    if !trial.keeps() {
        let why = "more false alarms than promised: is the log healthy to its end? (--healthy)";
        notes.push(why.to_owned());
    }
    notes.iter().try_for_each(note)?;
    if let Some(line) = mute_line(&trial.detector) {
        report::say(format!("{DIM}{line}{DIM:#}"))?;
    }
    say_results(log, trial)?;
    let [m4f, m0] = ["m4f", "m0"].map(|core| {
        cost::instructions(core, &trial.detector).map_or("?".to_owned(), |it| it.to_string())
    });
    report::say(format!(
        "\nCost: {} bytes of RAM; instructions a row: {m4f} on a Cortex-M4F,\n{m0} in integers on a Cortex-M0.",
        cost::ram_bytes(&trial.detector)
    ))?;
    let command = paste::command(&log.name, &log.columns, log.missing, &trial.detector);
    report::say(format!("\nTo try:\n\n{command}\n\nTo paste:\n"))?;
    report::say(paste::rust(&trial.detector))
}

fn note(text: impl std::fmt::Display) -> Result<(), Fault> {
    report::say(report::wrapped(&format!("note: {text}"), WIDEST))
}

/// Why it learns from so many rows.
fn why_so_many(log: &Healthy, trial: &Trial<'_>) -> &'static str {
    let rows = trial.detector.config().learning_rows;
    match rows {
        _ if log.log.learn.is_some() => "as asked for",
        rows if rows as usize == log.log.rows.len() / 2 => "half of the log",
        rows if rows == default_rows() => "as many as by default",
        _ if trial.detector.config().period.is_some() => "which hold enough cycles",
        _ => "as many as the promise needs",
    }
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
    // Without rounding: found of one over tried of one, and of the other.
    let as_often = |a: &Trial<'_>, b: &Trial<'_>| a.found() * b.tried() == b.found() * a.tried();
    let more = match trials.windows(2).all(|pair| as_often(&pair[0], &pair[1])) {
        true => "sooner",
        false => "more often",
    };
    format!("{with} changes are found {more}.")
}

fn say_cycle(log: &Healthy) -> Result<(), Fault> {
    let Some(cycle) = &log.log.cycle else {
        return match log.log.period {
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
        report::say(format!("  {:>3.0} %  {}", 100.0 * part.max(0.0), shortened(name)))?;
    }
    if !log.log.has_cycles(rounded(cycle.rows)) {
        let needed = 2 * u64::from(least_rows(Some(cycle.rows)));
        note(format!(
            "too few cycles to use it: {needed} rows are needed, of which half are learned"
        ))?;
    }
    Ok(())
}

fn say_results(log: &Healthy, trial: &Trial<'_>) -> Result<(), Fault> {
    if trial.tried() == 0 {
        return report::say("\nNo change could be tried: the detector was never calm.");
    }
    let longest = log.names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
    let width = longest.clamp(7, WIDEST_NAME);
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
            shortened(&log.names[result.channel]),
            result.kind.about(),
            format!("{}/{}", result.delays.len(), result.tried),
        ))?;
    }
    why_missed(log, trial).map_or(Ok(()), report::say)
}

/// A name that leaves room for the other columns.
fn shortened(name: &str) -> String {
    match name.char_indices().nth(WIDEST_NAME) {
        None => name.to_owned(),
        Some(_) => name.chars().take(WIDEST_NAME - 1).chain(['…']).collect(),
    }
}

/// Why the change that is found least often is missed, if it is found less than half of the time.
fn why_missed(log: &Healthy, trial: &Trial<'_>) -> Option<String> {
    let missed = trial.results.iter().filter(|it| 2 * it.delays.len() < it.tried);
    let worst = missed.min_by_key(|it| it.delays.len())?;
    let quality = trial.detector.quality().into_iter().nth(worst.channel)?;
    let of_level = matches!(worst.kind, Injected::Step | Injected::Ramp);
    let why = match quality.steadiness {
        Steadiness::Wandering if of_level => "its level wanders by itself, and is not watched",
        Steadiness::Doubtful if of_level => "its level may wander, and needs more evidence",
        _ if quality.ties >= MANY_TIES => "many of its readings repeat the one before anyway",
        _ if worst.kind == Injected::Ramp => "it is small for most of that time",
        _ => "it is small beside what the channel does by itself",
    };
    let (name, kind) = (shortened(&log.names[worst.channel]), worst.kind.about());
    Some(format!("{name}: {kind} is missed most:\n{why}."))
}
