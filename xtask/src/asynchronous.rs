//! The detector among asynchronous tasks: tested on the host and on the emulated board.

use std::time::Duration;

use anyhow::{Result, bail};

use crate::outcome::{Failures, Outcome};
use crate::project::{Project, Tool};
use crate::{capi, qemu, setup, snapshot};

/// A program: its workspace, its package and its target.
struct Board {
    workspace: &'static str,
    package: &'static str,
    target: &'static str,
}

/// The board that QEMU emulates, and those whose programs are only built.
const BOARDS: [Board; 3] = [EMULATED, NRF52840, ESP32C3];
const EMULATED: Board =
    Board { workspace: WORKSPACE, package: "async-mps2-an386", target: "thumbv7em-none-eabihf" };
const NRF52840: Board =
    Board { workspace: WORKSPACE, package: "async-nrf52840", target: "thumbv7em-none-eabihf" };
const ESP32C3: Board = Board {
    workspace: "firmware/async/esp32c3",
    package: "async-esp32c3",
    target: "riscv32imc-unknown-none-elf",
};

const WORKSPACE: &str = "firmware/async";

/// What is tested on the host.
const ON_HOST: [&str; 2] = ["--package=fastmmd-flash", "--package=fastmmd-tasks"];

/// Ten times what the program takes on a machine with nothing else to do.
const TIME_LIMIT: Duration = Duration::from_secs(200);

/// Time passes with instructions, and not while the board sleeps: the same run each time.
const CLOCK: [&str; 2] = ["-icount", "shift=6,sleep=off"];

/// Cargo in a workspace.
fn cargo(project: &Project, workspace: &str, subcommand: &str) -> Tool {
    let cargo = project.cargo().within(&project.path(workspace)).arg(subcommand);
    cargo.builds_in(&project.scratch(""))
}

/// Cargo for a board.
fn board(project: &Project, subcommand: &str, board: &Board) -> Tool {
    let Board { workspace, package, target } = board;
    let cargo = cargo(project, workspace, subcommand).args(["--quiet", "--release"]);
    cargo.args([format!("--package={package}"), format!("--target={target}")])
}

/// Lints of all its programs.
pub(crate) fn clippy(project: &Project, options: &[&str]) -> Result<()> {
    let tasks = cargo(project, WORKSPACE, "clippy").args(ON_HOST).arg("--all-targets");
    tasks.args(options).run()?;
    BOARDS.iter().try_for_each(|one| {
        // Quiet already.
        let options = options.iter().filter(|option| **option != "--quiet");
        board(project, "clippy", one).args(options).run()
    })
}

pub(crate) fn run(project: &Project) -> Result<Outcome> {
    setup::targets(project, &BOARDS.map(|board| board.target))?;
    setup::qemu(project)?;
    let mut failures = Failures::default();
    let tests = cargo(project, WORKSPACE, "test").arg("--quiet").args(ON_HOST);
    failures.note("on the host: tasks, and a state in flash through power cuts", tests.run());
    failures.note("tasks on the emulated board find what a loop finds", emulated(project));
    for one in [NRF52840, ESP32C3] {
        failures.note(&format!("{} builds", one.package), board(project, "build", &one).run());
    }
    failures.finish()
}

fn emulated(project: &Project) -> Result<()> {
    board(project, "build", &EMULATED).run()?;
    let program = project.scratch(EMULATED.target).join("release").join("tasks");
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
        let source = include_str!("../../firmware/async/mps2-an386/src/main.rs");
        let number = source.split_once("const NUMBER: u32 = ").context("no number")?.1;
        let number = number.split(';').next().unwrap_or_default().replace('_', "");
        assert_eq!(number.parse::<u32>()?, ROWS);
        Ok(())
    }
}
