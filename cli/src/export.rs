//! `export`: learns from a log and writes the state as the device saves it.

use fastmmd::FeatureMap;

use crate::args::ExportArguments;
use crate::fault::Fault;
use crate::files;
use crate::play::{Step, play};
use crate::report;
use crate::rows::Rows;
use crate::saved::{self, Saved};
use crate::setup;
use crate::source::Source;
use crate::view;

pub(crate) fn run(arguments: &ExportArguments) -> Result<(), Fault> {
    if arguments.output == arguments.log {
        return Err(Fault::of(arguments.output.display(), "is the log: choose another --output"));
    }
    files::check_writable(&arguments.output)?;
    let source = Source::new(&arguments.log, false);
    let options = &arguments.watching;
    let spans = [options.learn, Some(options.mean_time_between_false_alarms)];
    let log = Rows::open(&source, &arguments.columns, options.rate, &spans)?;
    let (saved, plan);
    let mut detector = match &arguments.scale_from {
        Some(path) => {
            saved = Saved::read(path)?;
            let mut detector = saved.detector_of(log.table.names().len())?;
            // Only its settings and its scale.
            detector.relearn_reference();
            detector
        }
        None => {
            plan = setup::plan(options, &log)?;
            plan.detector().map_err(Fault::new)?
        }
    };
    let allow_constant = options.fine.allow_constant;
    let name = log.table.name().to_owned();
    let mut learned = None;
    let keep_learned = |step: &Step<'_>| {
        // Later rows only show whether the log is healthy: they must not change the saved state.
        if learned.is_none() && step.detector.stage().is_learned() {
            learned = Some(saved::bytes(step.detector)?);
        }
        Ok(())
    };
    let outcome = play(log, &mut detector, allow_constant, keep_learned)?;
    let outcome = outcome.learned(&name)?;
    let bytes = learned.ok_or_else(|| Fault::of(&name, "nothing was learned"))?;
    files::write(&arguments.output, &bytes)?;
    let shape = detector.shape();
    report::say(format!(
        "{}: {} bytes; {} of {} channels, {} frequencies, {} windows, learned from {} rows",
        arguments.output.display(),
        bytes.len(),
        view::seen(shape.view, detector.lags()),
        shape.channels,
        detector.map().recipe().frequencies,
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
