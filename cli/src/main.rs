//! `fastmmd`: the device's detector on a laptop.
//!
//! | module | what |
//! |---|---|
//! | `args` | the command line |
//! | `source`, `table`, `time`, `rows` | rows out of CSV |
//! | `setup`, `ahead`, `play` | a detector by the options, and a log through it |
//! | `trace`, `plot` | a picture of that |
//! | `report`, `progress`, `fault`, `files`, `saved` | what is printed and written |
//! | `cost`, `paste`, `view` | what a detector costs, and as Rust and in words |
//! | the others | a command each |

mod ahead;
mod args;
mod compare;
mod cost;
mod demo;
mod export;
mod fault;
mod files;
mod inspect;
mod paste;
mod play;
mod plot;
mod progress;
mod replay;
mod report;
mod rows;
mod saved;
mod setup;
mod source;
mod table;
mod test;
mod time;
mod trace;
mod tune;
mod view;

use std::process::ExitCode;

use clap::Parser;

use args::{Arguments, Command};
use fault::Fault;

fn main() -> ExitCode {
    let done = |result: Result<(), Fault>| result.map(|()| false);
    let result = match Arguments::parse().command {
        Command::Test(arguments) => test::run(&arguments),
        Command::Replay(arguments) => replay::run(&arguments),
        Command::Tune(arguments) => done(tune::run(&arguments)),
        Command::Export(arguments) => done(export::run(&arguments)),
        Command::Inspect { file, json } => done(inspect::run(&file, json)),
        Command::Merge { files, output } => done(compare::merge(&files, &output)),
        Command::Compare { first, second, alpha, json } => {
            compare::run(&first, &second, alpha, json)
        }
        Command::Demo { plot, csv, json } => demo::run(plot.as_deref(), csv.as_deref(), json),
    };
    match result {
        Ok(false) => ExitCode::SUCCESS,
        Ok(true) => ExitCode::from(1),
        Err(fault) if !fault.is_told() => ExitCode::from(2),
        Err(fault) => {
            // Nobody is left to tell if standard error is closed.
            let _ = std::io::Write::write_fmt(
                &mut anstream::stderr(),
                format_args!("{}error{:#}: {fault}\n", report::RED, report::RED),
            );
            ExitCode::from(2)
        }
    }
}
