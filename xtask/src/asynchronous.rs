//! The detector among asynchronous tasks: tested on the host and on the emulated board.

use std::time::Duration;

use anyhow::{Result, bail};

use crate::outcome::{Failures, Outcome};
use crate::project::{Project, Tool};
use crate::{capi, qemu, setup, snapshot};

/// The board that QEMU emulates.
const EMULATED: (&str, &str) = ("async-mps2-an386", "thumbv7em-none-eabihf");

/// Boards whose programs are built: package and target.
const BOARDS: [(&str, &str); 0] = [];

/// Ten times what the program takes on a machine with nothing else to do.
const TIME_LIMIT: Duration = Duration::from_secs(200);

/// Time passes with instructions, and not while the board sleeps: the same run each time.
const CLOCK: [&str; 2] = ["-icount", "shift=6,sleep=off"];

/// Cargo in the workspace.
fn cargo(project: &Project, subcommand: &str) -> Tool {
    let cargo = project.cargo().within(&project.path("async")).arg(subcommand);
    cargo.builds_in(&project.scratch(""))
}

/// Lints of all its programs.
pub(crate) fn clippy(project: &Project, options: &[&str]) -> Result<()> {
    let clippy = cargo(project, "clippy").args(["--package=fastmmd-tasks", "--all-targets"]);
    clippy.args(options).run()?;
    for (package, target) in BOARDS.iter().chain([&EMULATED]) {
        let clippy = cargo(project, "clippy").args(["--release", &format!("--package={package}")]);
        clippy.arg(format!("--target={target}")).args(options).run()?;
    }
    Ok(())
}

pub(crate) fn run(project: &Project) -> Result<Outcome> {
    let targets: Vec<_> = BOARDS.iter().chain([&EMULATED]).map(|(_, target)| *target).collect();
    setup::targets(project, &targets)?;
    setup::qemu(project)?;
    let mut failures = Failures::default();
    let tests = cargo(project, "test").args(["--quiet", "--package=fastmmd-tasks"]).run();
    failures.note("tasks on the host find what a loop finds, and count lost rows", tests);
    failures.note("tasks on the emulated board find what a loop finds", emulated(project));
    for (package, target) in BOARDS {
        failures.note(&format!("{package} builds"), build(project, package, target));
    }
    failures.finish()
}

fn build(project: &Project, package: &str, target: &str) -> Result<()> {
    let cargo = cargo(project, "build").args(["--quiet", "--release"]);
    cargo.args([format!("--package={package}"), format!("--target={target}")]).run()
}

fn emulated(project: &Project) -> Result<()> {
    let (package, target) = EMULATED;
    build(project, package, target)?;
    let program = project.scratch(target).join("release").join("tasks");
    let printed = qemu::run_for("mps2-an386", &program, &CLOCK, TIME_LIMIT)?;
    print!("{}", snapshot::indented(&printed));
    let expected = first_alarms(&capi::in_rust(project, "f32")?, ROWS);
    if expected.lines().count() < 2 {
        bail!("a loop finds less than two changes, which shows nothing");
    }
    snapshot::compare(&expected, &printed)
}

/// Rows of the program, `NUMBER` in its source.
const ROWS: u32 = 46_000;

/// The alarms of a report before a row.
fn first_alarms(report: &str, rows: u32) -> String {
    let row = |line: &str| -> Option<u32> { line.split(' ').nth(1)?.parse().ok() };
    let alarms = report.lines().filter(|line| line.starts_with("row "));
    let first = alarms.filter(|line| row(line).is_some_and(|row| row < rows));
    first.map(|line| format!("{line}\n")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::Context;

    #[test]
    fn alarms_before_a_row_are_taken() {
        let report = "row 7 since 5\nrow 9 since 8\n12 bytes saved\n";
        assert_eq!(first_alarms(report, 9), "row 7 since 5\n");
        assert_eq!(first_alarms(report, 10), "row 7 since 5\nrow 9 since 8\n");
    }

    #[test]
    fn the_program_has_as_many_rows() -> Result<()> {
        let source = include_str!("../../async/mps2-an386/src/main.rs");
        let number = source.split_once("const NUMBER: u32 = ").context("no number")?.1;
        let number = number.split(';').next().unwrap_or_default().replace('_', "");
        assert_eq!(number.parse::<u32>()?, ROWS);
        Ok(())
    }
}
