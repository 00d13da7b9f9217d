//! Runs the command that the command line names.

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Parser;

use crate::args::{Arguments, Command};
use crate::fault::Fault;
use crate::{
    compare, demo, device, export, independence, inspect, look, manual, nystrom, replay, report,
    reweight, select, settings, test, tune,
};

/// Runs the program with these arguments, the first of which is its name.
#[must_use]
pub fn run(arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let done = |result: Result<(), Fault>| result.map(|()| false);
    let arguments = settings::expanded(arguments.collect());
    let result = arguments.and_then(|all| match Arguments::parse_from(all).command {
        Command::Test(arguments) => test::run(&arguments),
        Command::Look(arguments) => done(look::run(&arguments)),
        Command::Replay(arguments) => replay::run(&arguments),
        Command::Tune(arguments) => done(tune::run(&arguments)),
        Command::Export(arguments) => done(export::run(&arguments)),
        Command::Inspect { file, json } => done(inspect::run(&file, json)),
        Command::Merge { files, output } => done(compare::merge(&files, &output)),
        Command::Compare { first, second, alpha, json } => {
            compare::run(&first, &second, alpha, json)
        }
        Command::Independence(arguments) => independence::run(&arguments),
        Command::Select(arguments) => done(select::run(&arguments)),
        Command::Reweight(arguments) => done(reweight::run(&arguments)),
        Command::Nystrom(arguments) => nystrom::run(&arguments),
        Command::Device { port, json, key, action } => {
            device::run(&port, key.as_deref(), &action, json)
        }
        Command::Completions { shell } => done(manual::completions(shell)),
        Command::Man { command } => done(manual::man(command.as_deref())),
        Command::Demo { plot, csv, json } => demo::run(plot.as_deref(), csv.as_deref(), json),
    });
    match result {
        Ok(false) => ExitCode::SUCCESS,
        Ok(true) => ExitCode::from(1),
        Err(fault) if !fault.is_told() => ExitCode::from(2),
        Err(fault) => {
            // If standard error is closed, nothing can be printed.
            let _ = std::io::Write::write_fmt(
                &mut anstream::stderr(),
                format_args!("{}error{:#}: {fault}\n", report::RED, report::RED),
            );
            ExitCode::from(2)
        }
    }
}
