//! Runs all steps of the tests.

use std::process::ExitCode;

use anyhow::Result;
use clap::builder::PossibleValuesParser;

use crate::lanes::End;
use crate::lanes::Lane::{self, Apart, Firmware, Host};
use crate::outcome::Outcome;
use crate::project::Project;
use crate::usage::{self, Usage};
use crate::{
    asynchronous, bench, capi, checks, components, demo, firmware, fleet, lanes, matrix, no_alloc,
    no_panic, package, parity, python, reproduce, size, snapshot, web,
};

/// Options of `cargo xtask test`.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Only the step of this name; may be given several times.
    #[arg(long, value_name = "NAME", value_parser = PossibleValuesParser::new(names()))]
    only: Vec<String>,
    /// List the steps and do nothing.
    #[arg(long)]
    list: bool,
}

struct Step {
    name: &'static str,
    about: &'static str,
    lane: Lane,
    run: fn(&Project) -> Result<Outcome>,
}

const fn step(
    lane: Lane,
    name: &'static str,
    about: &'static str,
    run: fn(&Project) -> Result<Outcome>,
) -> Step {
    Step { name, about, lane, run }
}

/// The steps in order; each starts as soon as a processor and its lane are free. Those that fail often and
/// quickly come first. Then the lanes, each a long chain; what stands apart fills in where a lane has
/// ended, the longest first, so that all processors are busy to the end.
const STEPS: &[Step] = &[
    step(Apart, "fmt", "the source is formatted", checks::format),
    step(Host, "clippy", "no warnings", checks::clippy),
    step(Firmware, "app", "the firmware without warnings; its app tested on the host", checks::app),
    step(Host, "tests", "all tests; the documentation also without features", checks::tests),
    step(Firmware, "no-panic", "the core cannot panic", |project| {
        no_panic::run(project, &no_panic::Arguments::default())
    }),
    step(Host, "doc", "documentation without warnings", checks::documentation),
    step(Host, "examples", "every example runs", checks::examples),
    step(Host, "matrix", "every target, every feature", matrix::run),
    step(Host, "package", "the package links into another program", package::run),
    step(Firmware, "no-alloc", "the core needs no allocator", no_alloc::run),
    step(Firmware, "parity", "the same bits on every core", parity::run),
    step(Firmware, "snapshot", "the firmware's output is the recorded one", |project| {
        snapshot::run(project, &snapshot::Arguments::default())
    }),
    step(Firmware, "firmware", "every board builds, the emulated ones survive faults", |project| {
        firmware::run(project, &firmware::Arguments::default())
    }),
    step(Firmware, "size", "every board's firmware is within its budget", size::run),
    step(Firmware, "bench", "instructions, code, RAM and stack are within the budget", |project| {
        bench::run(project, &bench::Arguments::default())
    }),
    step(Firmware, "demo", "a drift raises an alarm, and nothing before it does", |project| {
        demo::run(project, &demo::Arguments::default())
    }),
    step(Host, "capi", "the library for C gives the same bits, and refuses misuse", |project| {
        capi::run(project, &capi::Arguments::default())
    }),
    step(Host, "async", "asynchronous tasks find what blocking firmware finds", asynchronous::run),
    step(Host, "web", "the page and the report, in a browser", web::test),
    step(Host, "reproduce", "the literature's figures, with fewer trials", |project| {
        reproduce::run(project, &reproduce::Arguments::quick())
    }),
    step(Apart, "fleet", "functions of DataFusion, and the tool on a made-up fleet", fleet::run),
    step(Apart, "miri", "no undefined behaviour in the unit tests", checks::miri),
    step(Apart, "python", "the wheel, and its bits against those of Rust", python::run),
    step(Apart, "components", "licences and sources of all dependencies", components::run),
    step(Apart, "fuzz", "the fuzz targets build", checks::fuzzing),
];

fn names() -> impl Iterator<Item = &'static str> {
    STEPS.iter().map(|step| step.name)
}

pub(crate) fn run(project: &Project, arguments: &Arguments) -> ExitCode {
    if arguments.list {
        for step in STEPS {
            println!("{:10} {}", step.name, step.about);
        }
        return ExitCode::SUCCESS;
    }
    let chosen = |step: &&Step| {
        arguments.only.is_empty() || arguments.only.iter().any(|name| name == step.name)
    };
    let steps: Vec<_> = STEPS.iter().filter(chosen).collect();
    let start = usage::Start::now();
    let ended = match steps[..] {
        [step] => {
            let (end, usage) = alone(project, step);
            vec![(step.name, end, usage)]
        }
        _ => {
            let steps: Vec<_> = steps.iter().map(|step| (step.name, step.lane)).collect();
            match lanes::run(project, &steps) {
                Ok(ended) => ended,
                Err(error) => {
                    eprintln!("FAILED: {error:#}");
                    return ExitCode::FAILURE;
                }
            }
        }
    };
    let usages: Vec<_> = ended.iter().map(|(name, _, usage)| (*name, *usage)).collect();
    println!("\n{}", usage::table(&usages));
    if ended.len() > 1 {
        println!("{:.0} seconds from start to end", start.usage().elapsed.as_secs_f64());
    }
    let failed = || ended.iter().filter(|(_, end, _)| *end == End::Failed);
    for (name, ..) in failed() {
        println!("failed: {name} (to repeat it: cargo xtask test --only {name})");
    }
    let ends: Vec<_> = ended.iter().map(|(_, end, _)| *end).collect();
    println!("{}", lanes::count(&ends));
    if failed().next().is_none() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Runs one step with its output shown live.
fn alone(project: &Project, step: &Step) -> (End, Usage) {
    println!("[1/1] {}: {}", step.name, step.about);
    let start = usage::Start::now();
    let outcome = (step.run)(project);
    let usage = start.usage();
    let seconds = usage.elapsed.as_secs();
    let end = match outcome {
        Ok(Outcome::Passed) => {
            println!("    passed, {seconds} s");
            End::Passed
        }
        Ok(Outcome::Skipped(reason)) => {
            println!("    skipped: {reason}");
            End::Skipped
        }
        Err(error) => {
            println!("    FAILED after {seconds} s: {error:#}");
            End::Failed
        }
    };
    (end, usage)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_workflow_has_a_job_for_every_step() {
        let workflow = include_str!("../../.github/workflows/ci.yml");
        let names = names().collect::<Vec<_>>().join(", ");
        assert!(workflow.contains(&format!("step: [{names}]\n")), "step: [{names}]");
    }
}
