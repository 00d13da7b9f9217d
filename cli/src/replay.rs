//! `replay`: runs the detector over a log, as on the device.

use std::path::Path;

use serde_json::json;

use crate::args::ReplayArguments;
use crate::detector::Detector;
use crate::fault::Fault;
use crate::files;
use crate::play::{Said, Step, play};
use crate::plot;
use crate::report;
use crate::rows::Rows;
use crate::saved::{self, Saved};
use crate::setup;
use crate::source::{self, Source};
use crate::summary;
use crate::trace::Trace;

/// Number of rows of a growing log after which the state is saved again.
const SAVE_EVERY: u64 = 1000;

pub(crate) fn run(arguments: &ReplayArguments) -> Result<bool, Fault> {
    let source = Source::new(&arguments.log, arguments.follow);
    for path in [&arguments.state, &arguments.plot].into_iter().flatten() {
        files::check_writable(path)?;
    }
    let options = &arguments.watching;
    let log = Rows::open(&source, &arguments.columns, options)?;
    let (saved, plan);
    let mut detector = match arguments.state.as_deref().filter(|path| path.exists()) {
        Some(path) => {
            saved = Saved::read(path)?;
            let detector = saved.detector_of(log.table.names().len())?;
            if !arguments.json {
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
    if following {
        // Before that there is nothing to print or save.
        source::end_when_interrupted()?;
    }
    let output = Output {
        json: arguments.json,
        plot: arguments.plot.as_deref(),
        state: arguments.state.as_deref(),
        following,
        may_end_learning: arguments.follow || arguments.state.is_some(),
    };
    watch(log, &mut detector, &output)
}

/// What to do with the results.
pub(crate) struct Output<'a> {
    pub(crate) json: bool,
    pub(crate) plot: Option<&'a Path>,
    pub(crate) state: Option<&'a Path>,
    /// Whether more rows may come, so that the state is saved from time to time.
    pub(crate) following: bool,
    /// Whether the log may end before learning is complete.
    pub(crate) may_end_learning: bool,
}

/// Runs a log through a detector and prints the results; returns whether there was an alarm.
pub(crate) fn watch(
    log: Rows,
    detector: &mut Detector<'_>,
    output: &Output<'_>,
) -> Result<bool, Fault> {
    let (table, rate) = (&log.table, log.rate);
    let (name, names) = (table.name().to_owned(), table.names());
    if !output.json {
        let channels = names.join(", ");
        let time = table.time_name().map_or(String::new(), |time| format!(" (time: {time})"));
        report::say(format!("{name}: {channels}{time}"))?;
        for warning in detector.config().warnings() {
            report::say(format!("note: {warning}"))?;
        }
    }
    let clock = table.clock();
    let mut trace = output.plot.map(|_| Trace::new(clock));
    let see = |step: &Step<'_>| {
        if let Some(trace) = &mut trace {
            trace.note(step);
        }
        if let Some(said) = &step.said {
            say(said, step.row.number, output.json, rate, &names)?;
        }
        let due = step.said.is_some() || step.row.number % SAVE_EVERY == SAVE_EVERY - 1;
        match output.state {
            Some(path) if output.following && due => saved::write(path, step.detector),
            _ => Ok(()),
        }
    };
    let mut outcome = play(log, detector, see)?;
    if !output.may_end_learning && !source::is_enough() {
        outcome = outcome.learned(&name)?;
    }
    if output.json {
        report::say_json(&summary::json(&outcome, detector, &names))?;
    } else {
        summary::lines(&outcome, detector, &names).iter().try_for_each(report::say)?;
    }
    if let Some(path) = output.state {
        saved::write(path, detector)?;
    }
    if let (Some(path), Some(trace)) = (output.plot, &trace) {
        plot::draw(path, &name, &names, trace)?;
    }
    Ok(outcome.alarms > 0)
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
