//! `export`: learns from a log and writes the state as the device saves it.

use crate::args::ExportArguments;
use crate::fault::Fault;
use crate::files;
use crate::page::Learned;
use crate::play::{Step, play};
use crate::progress::Progress;
use crate::report;
use crate::rows::Rows;
use crate::saved::Saved;
use crate::setup;
use crate::source::Source;

pub(crate) fn run(arguments: &ExportArguments) -> Result<(), Fault> {
    files::check_output(&arguments.output, [arguments.log.as_path()])?;
    let source = Source::new(&arguments.log, false);
    let options = &arguments.watching;
    let log = Rows::open(&source, &arguments.columns, options)?;
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
    let (name, names) = (log.table.name().to_owned(), log.table.names());
    // Later rows only show whether the log is healthy.
    let mut learned = Learned::default();
    let keep_learned = |step: &Step<'_>| learned.note(step, &names);
    let outcome = play(log, &mut detector, Progress::on_terminal(), keep_learned)?;
    let outcome = outcome.learned(&name)?;
    let (bytes, notes) = learned.taken(&name)?;
    files::write(&arguments.output, &bytes)?;
    report::say(format!(
        "{}: {} bytes; {} channels, {} frequencies, learned from {} rows, promised one false \
         alarm in {} rows",
        arguments.output.display(),
        bytes.len(),
        detector.channels(),
        detector.recipe().frequencies,
        outcome.learned,
        detector.config().mean_time_between_false_alarms,
    ))?;
    notes.iter().try_for_each(|note| report::say(format!("note: {note}")))?;
    if outcome.alarms > 0 {
        let rest = outcome.watched();
        report::say(format!(
            "note: {} in the {rest} rows after learning; is the log healthy? fastmmd replay \
             shows them",
            report::alarms(outcome.alarms)
        ))?;
    }
    Ok(())
}
