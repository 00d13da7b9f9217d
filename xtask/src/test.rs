//! Runs all steps of the tests.

use std::process::ExitCode;

use anyhow::Result;

use crate::outcome::Outcome;
use crate::project::Project;
use crate::{
    asynchronous, bench, capi, checks, components, demo, firmware, matrix, no_alloc, no_panic,
    package, parity, reproduce, size, snapshot, usage,
};

/// Options of `cargo xtask test`.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Only the step of this name; may be given several times.
    #[arg(long, value_name = "NAME", value_parser = STEPS.map(|step| step.name))]
    only: Vec<String>,
    /// List the steps and do nothing.
    #[arg(long)]
    list: bool,
}

struct Step {
    name: &'static str,
    about: &'static str,
    run: fn(&Project) -> Result<Outcome>,
}

const fn step(
    name: &'static str,
    about: &'static str,
    run: fn(&Project) -> Result<Outcome>,
) -> Step {
    Step { name, about, run }
}

/// The steps in order: those that fail often and quickly come first.
const STEPS: [Step; 21] = [
    step("fmt", "the source is formatted", checks::format),
    step("clippy", "no warnings", checks::clippy),
    step("tests", "all tests, with all features and none", checks::tests),
    step("doc", "documentation without warnings", checks::documentation),
    step("examples", "every example runs", checks::examples),
    step("matrix", "every target, every feature", matrix::run),
    step("components", "licences and sources of all dependencies", components::run),
    step("no-panic", "the core cannot panic", |project| {
        no_panic::run(project, &no_panic::Arguments::default())
    }),
    step("no-alloc", "the core needs no allocator", no_alloc::run),
    step("package", "the package links into another program", package::run),
    step("parity", "the same bits on every core", parity::run),
    step("snapshot", "the firmware's output is the recorded one", |project| {
        snapshot::run(project, &snapshot::Arguments::default())
    }),
    step("firmware", "every board builds, the emulated ones survive faults", |project| {
        firmware::run(project, &firmware::Arguments::default())
    }),
    step("size", "every board's firmware is within its budget", size::run),
    step("bench", "instructions, code, RAM and stack are within the budget", |project| {
        bench::run(project, &bench::Arguments::default())
    }),
    step("demo", "a drift raises an alarm, and nothing before it does", |project| {
        demo::run(project, &demo::Arguments::default())
    }),
    step("capi", "the library for C gives the same bits, and refuses misuse", |project| {
        capi::run(project, &capi::Arguments::default())
    }),
    step("async", "asynchronous tasks find what a loop finds", asynchronous::run),
    step("reproduce", "the literature's figures, with fewer trials", |project| {
        reproduce::run(project, &reproduce::Arguments::quick())
    }),
    step("miri", "no undefined behaviour in the unit tests", checks::miri),
    step("fuzz", "the fuzz targets build", checks::fuzzing),
];

pub(crate) fn run(project: &Project, arguments: &Arguments) -> ExitCode {
    if arguments.list {
        for step in &STEPS {
            println!("{:10} {}", step.name, step.about);
        }
        return ExitCode::SUCCESS;
    }
    let chosen = |step: &&Step| {
        arguments.only.is_empty() || arguments.only.iter().any(|name| name == step.name)
    };
    let steps: Vec<_> = STEPS.iter().filter(chosen).collect();
    let (mut passed, mut failed, mut skipped) = (0, Vec::new(), 0);
    let mut usages = Vec::new();
    for (number, step) in (1..).zip(&steps) {
        println!("[{number}/{}] {}: {}", steps.len(), step.name, step.about);
        let start = usage::Start::now();
        let outcome = (step.run)(project);
        let usage = start.usage();
        let seconds = usage.elapsed.as_secs();
        usages.push((step.name, usage));
        match outcome {
            Ok(Outcome::Passed) => {
                println!("    passed, {seconds} s");
                passed += 1;
            }
            Ok(Outcome::Skipped(reason)) => {
                println!("    skipped: {reason}");
                skipped += 1;
            }
            Err(error) => {
                println!("    FAILED after {seconds} s: {error:#}");
                failed.push(step.name);
            }
        }
    }
    println!("\n{}", usage::table(&usages));
    for name in &failed {
        println!("failed: {name} (to repeat it: cargo xtask test --only {name})");
    }
    println!("{passed} passed, {} failed, {skipped} skipped", failed.len());
    if failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_workflow_has_a_job_for_every_step() {
        let workflow = include_str!("../../.github/workflows/ci.yml");
        let names = STEPS.map(|step| step.name).join(", ");
        assert!(workflow.contains(&format!("step: [{names}]\n")), "step: [{names}]");
    }
}
