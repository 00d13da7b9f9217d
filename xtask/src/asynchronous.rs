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
    setup::targets(project, &BOARDS.map(|board| board.target))?;
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
    failures
        .note("tasks on the emulated board find what blocking firmware finds", emulated(project));
    for one in [NRF52840, ESP32C3] {
        failures.note(&format!("{} builds", one.package), board(project, "build", &one).run());
    }
    failures.finish()
}

fn emulated(project: &Project) -> Result<()> {
    board(project, "build", &EMULATED).run()?;
    let folder = project.scratch(EMULATED.target).join("release");
    let run = |name: &str| qemu::run_for("mps2-an386", &folder.join(name), &CLOCK, TIME_LIMIT);
    let expected = run("blocking")?;
    let printed = run("tasks")?;
    print!("{}", snapshot::indented(&printed));
    if expected.lines().count() < 2 {
        bail!("the blocking firmware finds less than two changes, which shows nothing");
    }
    let on_host = capi::in_rust(project, "f32")?;
    if let Some(line) = expected.lines().find(|line| !on_host.lines().any(|other| other == *line)) {
        bail!("not found on the host: {line}");
    }
    snapshot::compare(&expected, &printed)
}
