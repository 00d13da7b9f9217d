//! The firmware on emulated boards: builds every board's programs, then lets the harness play its
//! scenarios with them.
//!
//! The harness is a program of the firmware workspace and not a library of this one: it needs a
//! decoder of logs, whose build would slow down every other command.

use anyhow::{Result, bail};

use crate::outcome::{Failures, Outcome};
use crate::project::Project;
use crate::setup;

/// Boards and their targets.
const BOARDS: [(&str, &str); 4] = [
    ("mps2-an386", "thumbv7em-none-eabihf"),
    ("stm32f405", "thumbv7em-none-eabihf"),
    ("microbit-v2", "thumbv7em-none-eabihf"),
    ("rp2040", "thumbv6m-none-eabi"),
];

/// Options of `cargo xtask firmware`.
#[derive(clap::Args, Default)]
pub(crate) struct Arguments {
    /// Only the scenarios of these names (default: all).
    names: Vec<String>,
}

pub(crate) fn run(project: &Project, arguments: &Arguments) -> Result<Outcome> {
    setup::targets(project, &["thumbv7em-none-eabihf", "thumbv6m-none-eabi"])?;
    setup::qemu(project)?;
    let mut failures = Failures::default();
    for (board, target) in BOARDS {
        failures.note(&format!("{board} builds"), build(project, board, target));
    }
    failures.note("the scenarios", play(project, &arguments.names));
    failures.finish()
}

fn build(project: &Project, board: &str, target: &str) -> Result<()> {
    // The boards' own settings are read only by those who build from their directories.
    project
        .firmware_cargo("build")
        .args(["--quiet", "--release"])
        .args([format!("--package={board}"), format!("--target={target}")])
        .env("DEFMT_LOG", "info")
        .run()
}

fn play(project: &Project, names: &[String]) -> Result<()> {
    let drift = project.firmware_file("thumbv7em-none-eabihf", "release", "drift");
    let Some(programs) = drift.parent() else { bail!("no directory of programs") };
    let harness = project.firmware_cargo("run").args(["--quiet", "--package=drift-harness", "--"]);
    let played = harness.quiet_args([programs]).args(names).attempt()?;
    for line in played.stdout.lines() {
        println!("    {line}");
    }
    if played.success {
        return Ok(());
    }
    bail!("the harness ended with {}\n{}", played.status, played.stderr)
}
