//! Builds every board's programs, proves that the app cannot panic, then runs the harness's
//! scenarios on the emulated boards.
//!
//! The harness is a program of the firmware workspace and not a library of this one, because its
//! log decoder takes long to build.

use std::fs;
use std::path::PathBuf;

use anyhow::{Result, bail};

use crate::boards::{BOARDS, Board, EMULATED, TARGETS};
use crate::no_panic::all_fail;
use crate::outcome::{Failures, Outcome};
use crate::project::{Project, Tool};
use crate::{image, setup};

/// What is proven of the app with seals: every level; on both targets at those that users choose.
const SEALED: [(&str, &[&str]); 5] =
    [("1", &[M4F]), ("2", &[M0]), ("3", &TARGETS), ("s", &[M4F]), ("z", &TARGETS)];
/// The level of the boards, at which the app is also proven without seals: mostly a part of the same.
const PLAIN: &str = "z";
const M4F: &str = TARGETS[0];
const M0: &str = TARGETS[1];
/// The undefined function that the panic handler of `firmware/app-proof` calls.
const SENTINEL: &str = "the_app_can_panic";

/// Options of `cargo xtask firmware`.
#[derive(clap::Args, Default)]
pub(crate) struct Arguments {
    /// Only these scenarios (default: all); then the proofs and the other boards are left out.
    names: Vec<String>,
    /// Recordings of the Skoltech Anomaly Benchmark (default: ../shared/data/skab, if there).
    #[arg(long, value_name = "DIR")]
    skab: Option<PathBuf>,
    /// Recordings of the Numenta Anomaly Benchmark, its directory `data` (default:
    /// ../shared/data/nab/data, if there).
    #[arg(long, value_name = "DIR")]
    nab: Option<PathBuf>,
}

pub(crate) fn run(project: &Project, arguments: &Arguments) -> Result<Outcome> {
    setup::targets(project, &TARGETS)?;
    setup::qemu(project)?;
    let mut failures = Failures::default();
    for board in &BOARDS {
        let result = build(project, board, "release");
        failures.note(&format!("{} builds", board.directory), result);
    }
    if arguments.names.is_empty() {
        for (level, targets) in SEALED {
            let name = format!("the app cannot panic at opt-level {level}, sealed");
            failures.note(&name, prove(project, level, targets, "secure"));
        }
        let name = format!("the app cannot panic at opt-level {PLAIN}");
        failures.note(&name, prove(project, PLAIN, &TARGETS, ""));
        failures.note("control: an injected index does not link", prove_control(project));
        let result = takes_settings(project);
        failures.note("a board takes the settings that `fastmmd tune` saves", result);
        let result = image::is_the_same_elsewhere(project);
        failures.note("an image does not depend on the folder it is built in", result);
    }
    failures.note("the scenarios", play(project, arguments));
    failures.finish()
}

/// Builds the programs of one board, in a separate call of cargo: boards built together would share
/// the features of their common dependencies.
pub(crate) fn build(project: &Project, board: &Board, profile: &str) -> Result<()> {
    build_with(project, board, profile, &[])?;
    match board.secured {
        Some(program) => {
            let program = format!("--bin={program}");
            build_with(project, board, profile, &["--features=secure", &program])
        }
        None => Ok(()),
    }
}

fn build_with(project: &Project, board: &Board, profile: &str, more: &[&str]) -> Result<()> {
    let Board { package, target, .. } = board;
    let release = (profile == "release").then_some("--release");
    // Cargo reads a board's own configuration only when started in the board's directory.
    project
        .firmware_cargo("build")
        .arg("--quiet")
        .args(release)
        .args([format!("--package={package}"), format!("--target={target}")])
        .args(more)
        .env("DEFMT_LOG", board.log)
        .env("DEFMT_RTT_BUFFER_SIZE", "128")
        .run()
}

/// The README's way to a board's own settings: `tune --save`, and the file as `FASTMMD_SETTINGS`. Only
/// checked, and in a profile that no other step uses, so that nothing else is built anew.
fn takes_settings(project: &Project) -> Result<()> {
    let folder = project.scratch("settings");
    fs::create_dir_all(&folder)?;
    let tool = project.host_program("fastmmd")?;
    let tool = || project.program(&tool, "fastmmd").within(&folder);
    // It finds drift, and says so by its exit code.
    tool().args(["demo", "--csv", "pump.csv"]).attempt()?;
    tool().args(["tune", "pump.csv", "--healthy", "3400", "--save", "pump.toml"]).run()?;
    let check = |settings: &str| {
        project
            .firmware_cargo("check")
            .args(["--quiet".to_owned(), format!("--package={}", EMULATED.package)])
            .arg(format!("--target={}", EMULATED.target))
            .env("DEFMT_LOG", EMULATED.log)
            .quiet_env("FASTMMD_SETTINGS", folder.join(settings))
    };
    check("pump.toml").run()?;
    // The control: settings that no detector can have.
    fs::write(folder.join("wrong.toml"), "mean-time-between-false-alarms = 0\n")?;
    let refused = check("wrong.toml").attempt()?;
    if refused.success || !refused.stderr.contains("a setting is out of range") {
        bail!("wrong settings are not refused:\n{}", refused.stderr);
    }
    Ok(())
}

/// Runs the harness with a command and the programs of a profile.
pub(crate) fn harness(project: &Project, command: &str, profile: &str) -> Tool {
    let programs = project.firmware_file(EMULATED.target, profile, "");
    let harness = project.firmware_cargo("run").args(["--quiet", "--package=drift-harness", "--"]);
    harness.arg(command).quiet_args([programs])
}

/// For all targets at once: building one program keeps only one processor busy.
fn proof(project: &Project, level: &str, targets: &[&str]) -> Tool {
    project
        .proof_cargo(level)
        .args(["--keep-going", "--package=app-proof"])
        .args(targets.iter().map(|target| format!("--target={target}")))
}

/// Links the app with a panic handler that calls an undefined function.
fn prove(project: &Project, level: &str, targets: &[&str], features: &str) -> Result<()> {
    let linked = proof(project, level, targets).arg(format!("--features={features}")).attempt()?;
    if linked.success { Ok(()) } else { bail!("it does not link:\n{}", linked.stderr) }
}

/// The control: the same with a panic must not link, and only for that reason.
fn prove_control(project: &Project) -> Result<()> {
    let linked = proof(project, "3", &TARGETS).arg("--features=inject-panic").attempt()?;
    let noticed = all_fail(&linked, TARGETS.len()) && linked.stderr.contains(SENTINEL);
    if linked.success || !noticed {
        bail!("the control did not fail as it must, so the proof is void:\n{}", linked.stderr);
    }
    Ok(())
}

fn play(project: &Project, arguments: &Arguments) -> Result<()> {
    let tool = project.host_program("fastmmd")?;
    let mut harness = harness(project, "play", "release");
    harness = harness.quiet_args(["--tool".into(), tool]);
    let recordings = [("--skab", &arguments.skab, "skab"), ("--nab", &arguments.nab, "nab/data")];
    for (option, given, name) in recordings {
        let beside = project.path("../shared/data").join(name);
        if let Some(directory) = given.clone().or_else(|| beside.is_dir().then_some(beside)) {
            harness = harness.arg(option).arg(std::path::absolute(directory)?);
        }
    }
    harness.args(&arguments.names).show()
}
