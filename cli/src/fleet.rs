//! `replay` of several logs: each by itself, and a table of all.

use serde_json::json;

use crate::args::ReplayArguments;
use crate::fault::Fault;
use crate::replay::{self, Watched};
use crate::report::{self, DIM, GREEN, RED};
use crate::source::Source;

/// Runs the detector over each log; returns whether there is drift in any. A log that cannot be
/// read is said, and the others are still watched.
pub(crate) fn run(arguments: &ReplayArguments) -> Result<bool, Fault> {
    for (is, option) in [
        (arguments.follow, "--follow"),
        (arguments.state.is_some(), "--state"),
        (arguments.plot.is_some(), "--plot"),
        (arguments.report.is_some(), "--report"),
        (arguments.trace.is_some(), "--trace"),
    ] {
        if is {
            return Err(Fault::new(format!("{option} is for a single log")));
        }
    }
    let names: Vec<String> = arguments.logs.iter().map(|log| log.display().to_string()).collect();
    let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0).max(3);
    if !arguments.json && !arguments.quiet {
        let heading = format!(
            "{:<width$}  {:>9}  {:>6}  {:>11}  state",
            "log", "rows", "alarms", "first alarm"
        );
        report::say(format!("{DIM}{heading}{DIM:#}"))?;
    }
    let (mut drift, mut refused) = (false, 0);
    for (path, name) in arguments.logs.iter().zip(&names) {
        let watched = replay::silently(&Source::new(path, false), arguments);
        drift |= watched.as_ref().is_ok_and(|watched| watched.drift);
        refused += usize::from(watched.is_err());
        if arguments.json {
            report::say_json(&match watched {
                Ok(watched) => {
                    let mut summary = watched.summary;
                    summary["log"] = json!(name);
                    summary["first_alarm"] = json!(watched.first);
                    summary
                }
                Err(fault) => json!({ "event": "error", "log": name, "error": fault.to_string() }),
            })?;
        } else if !arguments.quiet {
            report::say(line(name, width, &watched))?;
        }
    }
    match refused {
        0 => Ok(drift),
        1 => Err(Fault::new("a log could not be watched")),
        many => Err(Fault::new(format!("{many} logs could not be watched"))),
    }
}

fn line(name: &str, width: usize, watched: &Result<Watched, Fault>) -> String {
    match watched {
        Err(fault) => {
            let text = fault.to_string();
            let why = text.strip_prefix(&format!("{name}: ")).unwrap_or(&text);
            format!("{name:<width$}  {RED}error{RED:#}: {why}")
        }
        Ok(watched) => {
            let outcome = &watched.outcome;
            let first = watched.first.map_or(String::new(), |row| row.to_string());
            let state = match watched.still.first() {
                _ if !watched.drift => format!("{GREEN}healthy{GREEN:#}"),
                None => "as before at the end".to_owned(),
                Some(still) => format!("{RED}{still}{RED:#}"),
            };
            let (rows, alarms) = (outcome.rows, outcome.alarms);
            format!("{name:<width$}  {rows:>9}  {alarms:>6}  {first:>11}  {state}")
        }
    }
}
