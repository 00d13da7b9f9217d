//! The firmware: builds every board's programs, proves that the app cannot panic, then lets the
//! harness play its scenarios with the emulated boards.
//!
//! The harness is a program of the firmware workspace and not a library of this one: it needs a
//! decoder of logs, whose build would slow down every other command.

use anyhow::{Result, bail};

use crate::outcome::{Failures, Outcome};
use crate::project::{Project, Tool};
use crate::setup;

/// Boards and their targets.
const BOARDS: [(&str, &str); 4] = [
    ("mps2-an386", "thumbv7em-none-eabihf"),
    ("stm32f405", "thumbv7em-none-eabihf"),
    // Not only `microbit-v2`: that is the name of its support crate.
    ("microbit-v2-board", "thumbv7em-none-eabihf"),
    ("rp2040", "thumbv6m-none-eabi"),
];

const TARGETS: [&str; 2] = ["thumbv7em-none-eabihf", "thumbv6m-none-eabi"];
const LEVELS: [&str; 4] = ["1", "3", "s", "z"];
/// What the panic handler of `firmware/app-proof` calls, and nothing defines.
const SENTINEL: &str = "the_app_can_panic";

/// Options of `cargo xtask firmware`.
#[derive(clap::Args, Default)]
pub(crate) struct Arguments {
    /// Only the scenarios of these names (default: all).
    names: Vec<String>,
}

pub(crate) fn run(project: &Project, arguments: &Arguments) -> Result<Outcome> {
    setup::targets(project, &TARGETS)?;
    setup::qemu(project)?;
    let mut failures = Failures::default();
    for (board, target) in BOARDS {
        failures.note(&format!("{board} builds"), build(project, board, target));
    }
    for target in TARGETS {
        for level in LEVELS {
            let name = format!("the app cannot panic at opt-level {level} on {target}");
            failures.note(&name, prove(project, target, level));
        }
        let name = format!("an injected index is noticed on {target}");
        failures.note(&name, prove_control(project, target));
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

fn proof(project: &Project, target: &str, level: &str) -> Tool {
    project
        .firmware_cargo("build")
        .args(["--quiet", "--package=app-proof", "--profile=proof"])
        .arg(format!("--target={target}"))
        .env("CARGO_PROFILE_PROOF_OPT_LEVEL", level)
}

/// Links the app with a panic handler that cannot be linked.
fn prove(project: &Project, target: &str, level: &str) -> Result<()> {
    let linked = proof(project, target, level).attempt()?;
    if linked.success { Ok(()) } else { bail!("it does not link:\n{}", linked.stderr) }
}

/// The same with a panic in it must not link, and for that reason only.
fn prove_control(project: &Project, target: &str) -> Result<()> {
    let linked = proof(project, target, "3").arg("--features=inject-panic").attempt()?;
    if linked.success || !linked.stderr.contains(SENTINEL) {
        bail!("the proof proves nothing:\n{}", linked.stderr);
    }
    Ok(())
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
