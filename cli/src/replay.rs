//! `replay`: runs the detector over a log, as on the device.

use std::path::Path;

use fastmmd_tune::detector::Detector;
use serde_json::{Value, json};

use crate::args::{Columns, Missing, ReplayArguments};
use crate::columns::Role;
use crate::fault::Fault;
use crate::files;
use crate::fleet;
use crate::label::Moves;
use crate::look;
use crate::page::{self, Seen};
use crate::paste;
use crate::play::{Outcome, Said, Step, play};
use crate::plot;
use crate::progress::Progress;
use crate::report;
use crate::rows::Rows;
use crate::saved::{self, Saved};
use crate::setup;
use crate::source::{self, Source};
use crate::statistics::Statistics;
use crate::summary;
use crate::table::Table;
use crate::template;
use crate::trace::Trace;

/// Number of rows of a growing log after which the state is saved again.
const SAVE_EVERY: u64 = 1000;

pub(crate) fn run(arguments: &ReplayArguments) -> Result<bool, Fault> {
    let [log] = arguments.logs.as_slice() else { return fleet::run(arguments) };
    let source = Source::new(log, arguments.follow);
    let outputs = [&arguments.state, &arguments.plot, &arguments.report, &arguments.trace];
    for path in outputs.into_iter().flatten() {
        files::check_output(path, [log.as_path()])?;
    }
    let options = &arguments.watching;
    if arguments.follow {
        // While the first rows are waited for, an interruption is the end of the log.
        source::end_when_interrupted()?;
    }
    let log = Rows::open(&source, &arguments.columns, options)?;
    let said = match (arguments.json, arguments.quiet) {
        (true, _) => Saying::Json,
        (_, true) => Saying::Nothing,
        _ => Saying::Lines,
    };
    let (saved, plan);
    let mut detector = match arguments.state.as_deref().filter(|path| path.exists()) {
        Some(path) => {
            saved = Saved::read(path)?;
            let detector = saved.detector_of(log.table.names().len())?;
            if said == Saying::Lines {
                report::say("note: continuing from the saved state, with its settings")?;
            }
            detector
        }
        None => {
            plan = setup::plan(options, &log)?;
            plan.detector().map_err(Fault::new)?
        }
    };
    let following = !matches!(source, Source::File(_));
    if following && !arguments.follow {
        // Before that there is nothing to print or save.
        source::end_when_interrupted()?;
    }
    let report = arguments.report.as_deref().map(|path| Report {
        path,
        source: &source,
        columns: &arguments.columns,
        missing: options.missing,
    });
    let output = Output {
        said,
        plot: arguments.plot.as_deref(),
        report,
        trace: arguments.trace.as_deref(),
        state: arguments.state.as_deref(),
        following,
        may_end_learning: arguments.follow || arguments.state.is_some(),
    };
    watch(log, &mut detector, &output).map(|watched| watched.drift)
}

/// Runs the detector over one of several logs, and prints nothing.
pub(crate) fn silently(source: &Source, arguments: &ReplayArguments) -> Result<Watched, Fault> {
    let log = Rows::open(source, &arguments.columns, &arguments.watching)?;
    let plan = setup::plan(&arguments.watching, &log)?;
    let mut detector = plan.detector().map_err(Fault::new)?;
    watch(log, &mut detector, &Output { said: Saying::Nothing, ..Output::default() })
}

/// How results are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Saying {
    #[default]
    Lines,
    Json,
    Nothing,
}

/// What to do with the results.
#[derive(Default)]
pub(crate) struct Output<'a> {
    pub(crate) said: Saying,
    pub(crate) plot: Option<&'a Path>,
    pub(crate) report: Option<Report<'a>>,
    /// Where statistics are written as CSV.
    pub(crate) trace: Option<&'a Path>,
    pub(crate) state: Option<&'a Path>,
    /// Whether more rows may come, so that the state is saved from time to time.
    pub(crate) following: bool,
    /// Whether the log may end before learning is complete.
    pub(crate) may_end_learning: bool,
}

/// A page to write, and how the log was read.
pub(crate) struct Report<'a> {
    pub(crate) path: &'a Path,
    pub(crate) source: &'a Source,
    pub(crate) columns: &'a Columns,
    pub(crate) missing: Missing,
}

impl Report<'_> {
    /// Writes the page; of a file, also what `look` says.
    fn write(&self, seen: &Seen<'_>) -> Result<(), Fault> {
        let mut results = seen.results();
        if let Source::File(_) = self.source {
            let looked = look::look(self.source, self.columns, Progress::on_terminal())?;
            let rate = seen.rate.or_else(|| looked.rate());
            results["look"] = json!({ "lines": page::plain(&looked.lines()), "rate": rate });
        }
        files::write(self.path, template::report(&results).as_bytes())
    }
}

/// The command as it was given.
fn own_command() -> String {
    let words = std::env::args_os().skip(1).map(|word| paste::quoted(&word.to_string_lossy()));
    std::iter::once("fastmmd".to_owned()).chain(words).collect::<Vec<_>>().join(" ")
}

/// The results.
pub(crate) struct Watched {
    pub(crate) outcome: Outcome,
    /// Whether that is drift: the exit code.
    pub(crate) drift: bool,
    pub(crate) summary: Value,
    /// Row of the first alarm.
    pub(crate) first: Option<i64>,
    /// What still differs at the end, in words.
    pub(crate) still: Vec<String>,
}

/// Runs a log through a detector and prints the results.
pub(crate) fn watch(
    log: Rows,
    detector: &mut Detector<'_>,
    output: &Output<'_>,
) -> Result<Watched, Fault> {
    let (table, rate) = (&log.table, log.rate);
    let (name, names) = (table.name().to_owned(), table.names());
    begin(table, detector, output.said)?;
    let named = named_labels(table);
    let mut moves = vec![Moves::NONE; names.len()];
    let clock = table.clock();
    let mut trace = output.plot.map(|_| Trace::new(clock));
    let mut zoomed = output.report.as_ref().map(|_| Trace::zoomed(clock, names.len()));
    let statistics = output.trace.map(|path| Statistics::create(path, &names));
    let mut statistics = statistics.transpose()?;
    let mut first = None;
    let see = |step: &Step<'_>| {
        for (moves, value) in moves.iter_mut().zip(&step.row.values) {
            if !value.is_nan() {
                moves.note(*value);
            }
        }
        for trace in trace.iter_mut().chain(&mut zoomed) {
            trace.note(step);
        }
        if let Some(statistics) = &mut statistics {
            statistics.note(step)?;
        }
        if let Some(Said::Alarm(told)) = &step.said {
            first.get_or_insert(told.row);
        }
        if let Some(said) = step.said.as_ref().filter(|_| output.said != Saying::Nothing) {
            say(said, step.row.number, output.said == Saying::Json, rate, &names)?;
        }
        let due = step.said.is_some() || step.row.number % SAVE_EVERY == SAVE_EVERY - 1;
        match output.state {
            Some(path) if output.following && due => saved::write(path, step.detector),
            _ => Ok(()),
        }
    };
    let mut outcome = play(log, detector, Progress::on_terminal(), see)?;
    if !output.may_end_learning && !source::is_enough() {
        outcome = outcome.learned(&name)?;
    }
    // What has no name of a label shows only now.
    for ((name, moves), named) in names.iter().zip(&moves).zip(named) {
        if !named && moves.is_label(false) {
            output.said.note(looks_like_a_label(name))?;
        }
    }
    let summary = summary::json(&outcome, detector, &names);
    match output.said {
        Saying::Json => report::say_json(&summary)?,
        Saying::Lines => {
            summary::lines(&outcome, detector, &names).iter().try_for_each(report::say)?;
        }
        Saying::Nothing => {}
    }
    if let Some(path) = output.state {
        saved::write(path, detector)?;
    }
    if let (Some(path), Some(trace)) = (output.plot, &trace) {
        plot::draw(path, &name, &names, trace)?;
    }
    if let (Some(report), Some(trace)) = (&output.report, &zoomed) {
        report.write(&Seen {
            log: &name,
            command: &own_command(),
            columns: report.columns,
            missing: report.missing,
            rate,
            names: &names,
            outcome: &outcome,
            detector,
            trace,
        })?;
    }
    statistics.map_or(Ok(()), Statistics::finish)?;
    let still = summary::still_lines(&outcome, detector, &names);
    let drift = outcome.is_drift(detector);
    Ok(Watched { outcome, drift, summary, first, still })
}

impl Saying {
    /// Says something beside the results.
    fn note(self, text: impl std::fmt::Display) -> Result<(), Fault> {
        match self {
            Self::Lines => report::say(format!("note: {text}")),
            Self::Json => {
                report::say_aside(format!("note: {text}"));
                Ok(())
            }
            Self::Nothing => Ok(()),
        }
    }
}

fn looks_like_a_label(name: &str) -> String {
    format!("{name} is watched, and looks like a label: --exclude leaves it out")
}

/// Which channels have names of labels.
fn named_labels(table: &Table) -> Vec<bool> {
    let layout = table.layout();
    layout.chosen.iter().map(|at| layout.columns[*at].is_label).collect()
}

/// What was understood of a log, before its rows.
fn begin(table: &Table, detector: &Detector<'_>, said: Saying) -> Result<(), Fault> {
    if said == Saying::Lines {
        let channels = table.names().join(", ");
        let time = table.time_name().map_or(String::new(), |time| format!(" (time: {time})"));
        report::say(format!("{}: {channels}{time}", table.name()))?;
    }
    let layout = table.layout();
    for (at, column) in layout.columns.iter().enumerate() {
        let name = if column.name.is_empty() { "a column without a name" } else { &column.name };
        match column.role {
            Role::Index | Role::Text => {
                said.note(format!("{name} is not watched: {}", column.role.reason()))?;
            }
            Role::Reading if column.is_label && layout.chosen.contains(&at) => {
                said.note(looks_like_a_label(name))?;
            }
            Role::Reading | Role::Time | Role::Empty | Role::NotWanted => {}
        }
    }
    // In JSON the summary has them.
    let mut warnings = detector.config().warnings().filter(|_| said == Saying::Lines);
    warnings.try_for_each(|warning| said.note(warning))
}

/// Prints what there is to say about a row.
fn say(
    said: &Said,
    row: u64,
    as_json: bool,
    rate: Option<f64>,
    names: &[String],
) -> Result<(), Fault> {
    let (told, amended) = match said {
        Said::Alarm(told) => (told, false),
        Said::Amended(told) => (told, true),
        Said::Relearns if as_json => {
            return report::say_json(&json!({ "event": "relearning", "row": row }));
        }
        Said::Relearns => return report::say(format!("learns anew from row {row} on")),
    };
    if as_json {
        report::say_json(&report::alarm_json(told, amended, rate, names))
    } else {
        report::say(report::alarm_line(told, amended, rate, names))
    }
}
