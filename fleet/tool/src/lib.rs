//! The tool `fastmmd-fleet`: questions to a fleet of devices, over files of rows or of saved states.
//!
//! | module | what |
//! |---|---|
//! | [`made`] | a made-up fleet, for tests and to try the tool |
//! | [`statistics`] | devices against their peers, movements, devices on a plane |
//! | `args` | the command line |
//! | `files` | what folders hold |
//! | `session` | tables and queries, here or on a cluster, with progress |
//! | `fleet`, `scale` | the states of the devices, by SQL, and the scale of their channels |
//! | `query`, `odd`, `moved`, `map`, `ingest`, `generate` | one command each |
//! | `table`, `picture`, `report`, `output`, `fault` | what is written |

mod args;
mod fault;
mod files;
mod fleet;
mod generate;
mod ingest;
pub mod made;
mod map;
mod moved;
mod odd;
mod output;
mod picture;
mod query;
mod report;
mod scale;
mod session;
pub mod statistics;
mod table;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Parser;
use clap::error::ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand;

pub use session::Connect;

use args::{Command, Tool};
use fault::Fault;

/// Runs the tool; `connect` opens a session on a Ballista cluster, in programs that have one. Exit
/// codes as of `fastmmd`: 0, 1 if something was found (a device is odd, a group moved), 2 for errors.
pub fn run(
    arguments: impl IntoIterator<Item = OsString, IntoIter: Iterator<Item = OsString>>,
    connect: Option<Connect>,
) -> ExitCode {
    let tool = match Tool::try_parse_from(arguments) {
        Ok(tool) => tool,
        Err(error) => {
            // Help and version are no errors; help that nobody asked for is one.
            if !error.use_stderr() || error.kind() == DisplayHelpOnMissingArgumentOrSubcommand {
                let _ = error.print();
                return ExitCode::from(if error.use_stderr() { 2 } else { 0 });
            }
            return failed(&Fault::new(one_line(&error.to_string())));
        }
    };
    match on_a_deep_stack(|| {
        let mut runtime = tokio::runtime::Builder::new_multi_thread();
        let runtime = runtime.enable_all().thread_stack_size(STACK).build().map_err(Fault::new)?;
        runtime.block_on(execute(&tool.command, connect))
    }) {
        Ok(found) => ExitCode::from(u8::from(found)),
        Err(fault) => failed(&fault),
    }
}

/// Stack of a thread that plans: the engine walks a condition of a thousand parts by calling itself.
pub const STACK: usize = 64 << 20;

/// Runs something on a thread of its own, with a stack of [`STACK`] bytes.
fn on_a_deep_stack(run: impl FnOnce() -> Result<bool, Fault> + Send) -> Result<bool, Fault> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK);
        let thread = thread.spawn_scoped(scope, run).map_err(Fault::new)?;
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

async fn execute(command: &Command, connect: Option<Connect>) -> Result<bool, Fault> {
    match command {
        Command::Query(arguments) => query::run(arguments, connect).await,
        Command::Odd(arguments) => odd::run(arguments, connect).await,
        Command::Moved(arguments) => moved::run(arguments, connect).await,
        Command::Map(arguments) => map::run(arguments, connect).await,
        Command::Ingest(arguments) => ingest::run(arguments),
        Command::Generate(arguments) => generate::run(arguments),
    }
}

/// What is wrong with the arguments, in one line: without usage, and where to find more.
fn one_line(complaint: &str) -> String {
    let lines = complaint.lines().map(str::trim).filter(|line| !line.is_empty());
    let lines =
        lines.take_while(|line| !["Usage:", "For more"].iter().any(|it| line.starts_with(it)));
    let mut told = String::new();
    for line in lines {
        if !told.is_empty() {
            told += if told.ends_with(':') { " " } else { "; " };
        }
        told += line.strip_prefix("error: ").unwrap_or(line);
    }
    told
}

fn failed(fault: &Fault) -> ExitCode {
    if fault.is_told() {
        output::complain(fault);
    }
    ExitCode::from(2)
}
