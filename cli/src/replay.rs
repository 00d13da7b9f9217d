//! `replay`: the detector over a log, as on the device.

use std::path::Path;

use fastmmd_shapes::{Shape, Watch};

use crate::args::{ReplayArguments, Watching};
use crate::fault::Fault;
use crate::files;
use crate::play::{Step, play};
use crate::plot;
use crate::report::{self, Moment};
use crate::setup::{self, Beginning};
use crate::source::{self, Source};
use crate::table::Table;
use crate::trace::Trace;

/// Rows of a growing log after which its state is saved again.
const SAVE_EVERY: u64 = 1000;

pub(crate) fn run(arguments: &ReplayArguments) -> Result<bool, Fault> {
    let source = Source::new(&arguments.log, arguments.follow);
    for path in [&arguments.state, &arguments.plot].into_iter().flatten() {
        files::check_writable(path)?;
    }
    let mut table = Table::open(&source, &arguments.columns)?;
    let options = &arguments.watching;
    let spans = [options.learn, Some(options.mean_time_between_false_alarms)];
    let beginning = Beginning::read(&mut table, options.rate, &spans)?;
    let names = table.names();
    let (shape, detector) = match saved(arguments.state.as_deref())? {
        Some(bytes) => {
            let found = resumed(arguments.state.as_deref(), &bytes, &table)?;
            if !arguments.json {
                report::say("note: going on from the saved state, with its settings")?;
            }
            found
        }
        None => setup::detector(options, &source, names.len(), beginning.rate)?,
    };
    let following = !matches!(source, Source::File(_));
    if following {
        // Before that there is nothing to say or save.
        source::end_when_interrupted()?;
    }
    let output = Output {
        json: arguments.json,
        plot: arguments.plot.as_deref(),
        state: arguments.state.as_deref(),
        following,
        may_end_learning: arguments.follow || arguments.state.is_some(),
    };
    watch(table, &beginning, shape, detector, options, &output)
}

/// What to do with the results.
pub(crate) struct Output<'a> {
    pub(crate) json: bool,
    pub(crate) plot: Option<&'a Path>,
    pub(crate) state: Option<&'a Path>,
    /// Whether rows still come, so that the state is saved now and then.
    pub(crate) following: bool,
    /// Whether the log may end before all is learned.
    pub(crate) may_end_learning: bool,
}

/// Runs a log through a detector and prints what comes of it; whether there was an alarm.
pub(crate) fn watch(
    table: Table,
    beginning: &Beginning,
    shape: Shape,
    mut detector: Box<dyn Watch>,
    options: &Watching,
    output: &Output<'_>,
) -> Result<bool, Fault> {
    let (log, names) = (table.name().to_owned(), table.names());
    let rate = beginning.rate;
    if !output.json {
        let channels = names.join(", ");
        let time = table.time_name().map_or(String::new(), |time| format!(" (time: {time})"));
        report::say(format!("{}: {channels}{time}", table.name()))?;
        if let Some(warning) = detector.settings().warning() {
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
            Some(path) if output.following && due => save(path, step.detector),
            _ => Ok(()),
        }
    };
    let allow_constant = options.fine.allow_constant;
    let mut outcome = play(table, beginning, detector.as_mut(), allow_constant, see)?;
    if !output.may_end_learning && !source::is_enough() {
        outcome = outcome.learned(&log)?;
    }
    if output.json {
        report::say_json(&report::summary_json(&outcome, detector.as_ref(), shape.features))?;
    } else {
        report::say(report::summary_lines(&outcome, detector.as_ref(), shape.features))?;
    }
    if let Some(path) = output.state {
        save(path, detector.as_ref())?;
    }
    if let (Some(path), Some(trace)) = (output.plot, &trace) {
        plot::draw(path, &log, &names, trace)?;
    }
    Ok(outcome.alarms > 0)
}

/// The saved detector, unless there is no such file yet.
fn saved(path: Option<&Path>) -> Result<Option<Vec<u8>>, Fault> {
    match path {
        Some(path) if path.exists() => files::read(path).map(Some),
        _ => Ok(None),
    }
}

/// A saved detector, if it is for logs like this one.
fn resumed(
    path: Option<&Path>,
    bytes: &[u8],
    table: &Table,
) -> Result<(Shape, Box<dyn Watch>), Fault> {
    let name = path.unwrap_or(Path::new("")).display();
    let (shape, detector) = fastmmd_shapes::restored(bytes).map_err(|why| Fault::of(&name, why))?;
    let given = table.names().len();
    if shape.channels != given {
        let why = format!("a detector of {} channels; the log has {given}", shape.channels);
        return Err(Fault::of(name, why));
    }
    Ok((shape, detector))
}

fn save(path: &Path, detector: &dyn Watch) -> Result<(), Fault> {
    files::write(path, &detector.save().map_err(|error| Fault::of(path.display(), error))?)
}
