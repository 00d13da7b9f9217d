//! `fastmmd`: drift detection in logs, with the device's detector.
//!
//! | module | what |
//! |---|---|
//! | `args`, `choice` | the command line, with the choices and defaults of the core |
//! | `source`, `bytes`, `dialect`, `cell`, `record`, `columns`, `table`, `time`, `rows` | reading logs |
//! | `detector`, `setup` | the device's detector, and one from the options |
//! | `ahead`, `play` | running a log through it |
//! | `trace`, `plot`, `axis`, `bars`, `statistics` | plots, and statistics as CSV |
//! | `sample`, `blocks` | files for `test` and the toolbox: `independence`, `select`, `reweight`, `nystrom` |
//! | `report`, `summary`, `progress`, `fault`, `files`, `saved`, `settings` | output and files |
//! | `survey`, `steady`, `dependence` | what `look` finds |
//! | `healthy`, `period`, `trial`, `inject`, `cost`, `paste` | what `tune` uses |
//! | the others | one command each |

mod ahead;
mod args;
mod axis;
mod bars;
mod blocks;
mod bytes;
mod cell;
mod choice;
mod columns;
mod compare;
mod cost;
mod demo;
mod dependence;
mod detector;
mod device;
mod dialect;
mod export;
mod fault;
mod files;
mod fleet;
mod healthy;
mod independence;
mod inject;
mod inspect;
mod look;
mod manual;
mod nystrom;
#[cfg(feature = "parquet")]
mod parquet;
mod paste;
mod period;
mod play;
mod plot;
mod progress;
mod record;
mod replay;
mod report;
mod reweight;
mod rows;
mod sample;
mod saved;
mod select;
mod settings;
mod setup;
mod source;
mod statistics;
mod steady;
mod summary;
mod survey;
mod table;
mod test;
mod time;
mod trace;
mod trial;
mod tune;

use std::process::ExitCode;

use clap::Parser;

use args::{Arguments, Command};
use fault::Fault;

fn main() -> ExitCode {
    let done = |result: Result<(), Fault>| result.map(|()| false);
    let arguments = settings::expanded(std::env::args_os().collect());
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
