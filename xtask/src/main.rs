//! The project's own commands: `cargo xtask --help`.
//!
//! Each command has its own file. It prints what it runs, continues after a failure to show all of
//! them, and exits with a code other than 0 if there was one.

mod asynchronous;
mod bench;
mod boards;
mod capi;
mod checks;
mod components;
mod demo;
mod evaluate;
mod firmware;
mod fleet;
mod image;
mod lanes;
mod matrix;
mod no_alloc;
mod no_panic;
mod outcome;
mod package;
mod parity;
mod project;
mod python;
mod qemu;
mod reproduce;
mod setup;
mod size;
mod snapshot;
mod test;
mod usage;
mod web;
mod wrapper;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use outcome::Outcome;
use project::Project;

/// Builds, tests and measures everything in this project.
///
/// Installs missing targets, components and (as root on Debian) QEMU, C compilers and Python.
#[derive(Parser)]
#[command(bin_name = "cargo xtask", max_term_width = 100)]
struct Arguments {
    /// Show the output of every tool, not only of those that fail.
    #[arg(long, short, global = true)]
    verbose: bool,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Everything: formatting, lints, tests, documentation, and all the commands below.
    ///
    /// Ends with a table of seconds and CPU seconds, and a line `N passed, M failed, K skipped`,
    /// counting the numbered steps.
    Test(test::Arguments),
    /// Build the core for every target, without features, with each alone, and with all.
    Matrix,
    /// Measure how well the detector performs: false alarms, delays, attribution, memory.
    ///
    /// Uses simulated devices and, with checkouts of NAB and SKAB, recordings. Fails if a bound is
    /// exceeded or a result differs from the tables in host-tests/evaluation/tables.
    Evaluate(evaluate::Arguments),
    /// Count the instructions of one sample on four emulated Cortex-M cores.
    ///
    /// Also measures code, RAM, stack and error of each map and backend. Fails if any figure is
    /// more than 5 % above firmware/bench/budget.json. Where integers and floating point are
    /// compared, cycles of a Cortex-M4 are estimated by a model: the cycles of its manual, added up
    /// over a trace of the instructions. It leaves out wait states of flash, contention on the bus,
    /// unaligned accesses, and what depends on values (divisions, conditions that fail).
    Bench(bench::Arguments),
    /// Reproduce the literature's figures, as one Markdown report with plots.
    ///
    /// Fails if a result exceeds its limit, or if it takes more than 15 minutes (60 seconds with
    /// --quick), without building.
    Reproduce(reproduce::Arguments),
    /// Prove by linking that no call into the core can panic, at opt-level 1, 2, 3, s and z, on four targets.
    ///
    /// Links firmware/proofs, whose panic handler calls an undefined function. A control with one
    /// index that can be out of bounds must fail to link. Lists the functions that can panic.
    NoPanic(no_panic::Arguments),
    /// Prove by linking that the core and its dependencies need no allocator.
    NoAlloc,
    /// Package the crate and link the package into a bare-metal program.
    Package,
    /// Compute on four emulated Cortex-M cores and on the host: every bit must agree.
    Parity,
    /// Build the wheel of the Python package, and test it in a virtual environment in target/python.
    ///
    /// Ends with the path of the wheel. Installs what python/requirements.txt names, from PyPI.
    Python,
    /// Build the firmware of every board, and run all fault scenarios on the emulated ones.
    Firmware(firmware::Arguments),
    /// Build the image of a board so that it does not depend on the folder of the checkout: target/image.
    Image(image::Arguments),
    /// Watch the emulated board learn a healthy sensor, and notice when it drifts.
    ///
    /// Exits with 0 only if the alarm came, and none before the drift.
    Demo(demo::Arguments),
    /// Measure flash, RAM and stack of every board's firmware, against firmware/budget.toml.
    Size,
    /// Check licences and sources of all dependencies, and write bills of materials to target/sbom.
    ///
    /// With cargo-deny, also runs that; known weaknesses are looked for where its database was fetched.
    Components,
    /// Build and test the library for C, and put it into target/capi: as a folder and as an archive.
    ///
    /// With header, static libraries, licences and checksums; as a CMake package, a Zephyr module and an
    /// Arduino library. Needs arm-none-eabi-gcc, g++ and cmake.
    Capi(capi::Arguments),
    /// Test the detector among asynchronous tasks, on the host and on the emulated board.
    ///
    /// Also builds the programs of the boards that have such tasks.
    Async,
    /// Build the page in `web/`, and serve it on this computer: a log, its drifts, and the settings.
    Web(web::Arguments),
    /// Run each program that QEMU can run and compare its output with the .out file beside it.
    Snapshot(snapshot::Arguments),
}

fn main() -> ExitCode {
    if let Some(root) = std::env::var_os(wrapper::ROOT) {
        return wrapper::run(root.as_ref());
    }
    let arguments = Arguments::parse();
    let project = Project::find(arguments.verbose);
    let result = match arguments.command {
        Command::Test(arguments) => return test::run(&project, &arguments),
        Command::Matrix => matrix::run(&project),
        Command::Evaluate(arguments) => evaluate::run(&arguments),
        Command::Bench(arguments) => bench::run(&project, &arguments),
        // Its report and its progress are the output of this command, so they are always shown.
        Command::Reproduce(arguments) => reproduce::run(&Project::find(true), &arguments),
        Command::NoPanic(arguments) => no_panic::run(&project, &arguments),
        Command::NoAlloc => no_alloc::run(&project),
        Command::Package => package::run(&project),
        Command::Parity => parity::run(&project),
        Command::Python => python::run(&project),
        Command::Firmware(arguments) => firmware::run(&project, &arguments),
        Command::Image(arguments) => image::run(&project, &arguments),
        Command::Demo(arguments) => demo::run(&project, &arguments),
        Command::Size => size::run(&project),
        Command::Components => components::run(&project),
        Command::Capi(arguments) => capi::run(&project, &arguments),
        Command::Async => asynchronous::run(&project),
        Command::Web(arguments) => web::run(&project, &arguments),
        Command::Snapshot(arguments) => snapshot::run(&project, &arguments),
    };
    match result {
        Ok(Outcome::Passed) => {
            eprintln!("passed");
            ExitCode::SUCCESS
        }
        Ok(Outcome::Skipped(reason)) => {
            eprintln!("skipped: {reason}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("FAILED: {error:#}");
            ExitCode::FAILURE
        }
    }
}
