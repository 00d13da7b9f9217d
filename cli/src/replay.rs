//! `replay`: runs the detector over a log, as on the device.

use std::path::Path;

use fastmmd::dynamic::Detector;

use crate::args::{ReplayArguments, Watching};
use crate::fault::Fault;
use crate::files;
use crate::play::{Step, play};
use crate::plot;
use crate::report::{self, Moment};
use crate::rows::Rows;
use crate::saved::{self, Saved};
use crate::setup;
use crate::source::{self, Source};
use crate::trace::Trace;

/// Number of rows of a growing log after which the state is saved again.
const SAVE_EVERY: u64 = 1000;

pub(crate) fn run(arguments: &ReplayArguments) -> Result<bool, Fault> {
    let source = Source::new(&arguments.log, arguments.follow);
    for path in [&arguments.state, &arguments.plot].into_iter().flatten() {
        files::check_writable(path)?;
    }
    let options = &arguments.watching;
    let spans = [options.learn, Some(options.mean_time_between_false_alarms)];
    let log = Rows::open(&source, &arguments.columns, options.rate, &spans)?;
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
    watch(log, &mut detector, options, &output)
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
    options: &Watching,
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
    let mut trace = output.plot.map(|_| Trace::new());
    let see = |step: &Step<'_>| {
        if let Some(trace) = &mut trace {
            trace.note(step);
        }
        if let Some(raised) = &step.alarm {
            let moment = Moment { cell: step.row.time.as_deref(), row: step.row.number, rate };
            if output.json {
                report::say_json(&report::alarm_json(raised, &moment, &names))?;
            } else {
                report::say(report::alarm_line(raised, &moment, &names))?;
            }
        }
        let due = step.alarm.is_some() || step.row.number % SAVE_EVERY == SAVE_EVERY - 1;
        match output.state {
            Some(path) if output.following && due => saved::write(path, step.detector),
            _ => Ok(()),
        }
    };
    let allow_constant = options.fine.allow_constant;
    let mut outcome = play(log, detector, allow_constant, see)?;
    if !output.may_end_learning && !source::is_enough() {
        outcome = outcome.learned(&name)?;
    }
    if output.json {
        report::say_json(&report::summary_json(&outcome, detector))?;
    } else {
        report::say(report::summary_lines(&outcome, detector))?;
    }
    if let Some(path) = output.state {
        saved::write(path, detector)?;
    }
    if let (Some(path), Some(trace)) = (output.plot, &trace) {
        plot::draw(path, &name, &names, trace)?;
    }
    Ok(outcome.alarms > 0)
}
