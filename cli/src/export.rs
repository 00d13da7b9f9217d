//! `export`: what a log teaches, as the device keeps it.

use fastmmd_shapes::{Shape, Watch};

use crate::args::ExportArguments;
use crate::fault::Fault;
use crate::files;
use crate::play::{Step, play};
use crate::report;
use crate::setup::{self, Beginning};
use crate::source::Source;
use crate::table::Table;

pub(crate) fn run(arguments: &ExportArguments) -> Result<(), Fault> {
    if arguments.output == arguments.log {
        return Err(Fault::of(arguments.output.display(), "is the log: choose another --output"));
    }
    files::check_writable(&arguments.output)?;
    let source = Source::new(&arguments.log, false);
    let mut table = Table::open(&source, &arguments.columns)?;
    let options = &arguments.watching;
    let spans = [options.learn, Some(options.mean_time_between_false_alarms)];
    let beginning = Beginning::read(&mut table, options.rate, &spans)?;
    let channels = table.names().len();
    let (shape, mut detector) = match &arguments.scale_from {
        Some(path) => {
            by_scale(&files::read(path)?, channels).map_err(|why| Fault::of(path.display(), why))?
        }
        None => setup::detector(options, &source, channels, beginning.rate)?,
    };
    let allow_constant = options.fine.allow_constant;
    let log = table.name().to_owned();
    let mut learned = None;
    let keep_learned = |step: &Step<'_>| {
        // What comes after only tells whether the log is healthy: it must not change what is kept.
        if learned.is_none() && step.detector.rows_to_learn() == 0 {
            learned = Some(step.detector.save().map_err(Fault::new)?);
        }
        Ok(())
    };
    let outcome = play(table, &beginning, detector.as_mut(), allow_constant, keep_learned)?;
    let outcome = outcome.learned(&log)?;
    let bytes = learned.ok_or_else(|| Fault::of(&log, "nothing learned"))?;
    files::write(&arguments.output, &bytes)?;
    report::say(format!(
        "{}: {} bytes; {} of {} channels, {} frequencies, {} windows, learned from {} rows",
        arguments.output.display(),
        bytes.len(),
        shape.seen(),
        shape.channels,
        shape.features,
        shape.windows,
        outcome.learned,
    ))?;
    if outcome.alarms > 0 {
        let rest = outcome.rows.saturating_sub(outcome.learned);
        report::say(format!(
            "note: {} in the {rest} rows after learning; is the log healthy? fastmmd replay \
             shows them",
            report::alarms(outcome.alarms)
        ))?;
    }
    Ok(())
}

/// A detector with the settings and the scale of a saved one, and nothing else learned.
fn by_scale(bytes: &[u8], channels: usize) -> Result<(Shape, Box<dyn Watch>), String> {
    let (shape, mut detector) = fastmmd_shapes::restored(bytes)?;
    if shape.channels != channels {
        return Err(format!("a detector of {} channels; the log has {channels}", shape.channels));
    }
    detector.relearn_reference();
    Ok((shape, detector))
}
