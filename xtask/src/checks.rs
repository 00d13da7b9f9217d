//! Steps of `cargo xtask test` that only call other tools.

use std::fs;

use anyhow::{Context, Result};

use crate::boards::{BOARDS, EMULATED, TARGETS};
use crate::outcome::{Failures, Outcome};
use crate::project::{Project, Tool};
use crate::setup;

/// Packages of the firmware that are linked for a microcontroller but are no board's.
const LINKED: [&str; 6] = ["app-proof", "bench", "board-common", "emulated", "proofs", "snapshots"];
/// Packages of the firmware that the host runs, or tests.
const ON_HOST: [&str; 2] = ["drift-app", "drift-harness"];

/// Cargo in the fuzz workspace, to check and not to link: the fuzzer itself, in C++, is not built,
/// because it is said to be in a file that nobody reads.
fn fuzz(project: &Project, subcommand: &str) -> Tool {
    let directory = project.scratch("fuzz");
    let fuzzer = directory.join("not-built.a");
    project
        .cargo()
        .within(&project.path("fuzz"))
        .arg(subcommand)
        .builds_in(&directory)
        .quiet_env("CUSTOM_LIBFUZZER_PATH", fuzzer)
}

pub(crate) fn format(project: &Project) -> Result<Outcome> {
    setup::component(project, None, "rustfmt")?;
    let mut failures = Failures::default();
    for directory in [".", "firmware", "fuzz"] {
        let cargo = project.cargo().within(&project.path(directory));
        let result = cargo.args(["fmt", "--all", "--check"]).run();
        failures.note(directory, result);
    }
    failures.finish()
}

pub(crate) fn clippy(project: &Project) -> Result<Outcome> {
    setup::component(project, None, "clippy")?;
    setup::targets(project, &TARGETS)?;
    let strict = ["--quiet", "--", "--deny=warnings"];
    let core = ["clippy", "--package=fastmmd", "--all-targets"];
    let workspace = ["clippy", "--workspace", "--all-targets"];
    let all = project.cargo().args(workspace).arg("--all-features");
    let none = project.cargo().args(core).arg("--no-default-features");
    let harness = project.firmware_cargo("clippy").arg("--all-targets");
    let harness = harness.args(ON_HOST.map(|package| format!("--package={package}")));
    let mut failures = Failures::default();
    failures.note("all features", all.args(strict).run());
    failures.note("no features", none.args(strict).run());
    // By name: the harness runs on the host. All of one target at once: that they share features,
    // as they do not where they are built, is nothing to a lint, and what they share is read once.
    // For release: so are the boards, whose macros are then compiled for both.
    for target in TARGETS {
        let boards = BOARDS.iter().filter(|board| board.target == target);
        let mut packages: Vec<_> = boards.map(|board| board.package).collect();
        packages.extend(LINKED.iter().filter(|_| target == EMULATED.target));
        let cargo = project.firmware_cargo("clippy").arg("--release");
        let cargo = cargo.arg(format!("--target={target}"));
        let cargo = cargo.args(packages.iter().map(|package| format!("--package={package}")));
        failures.note(&format!("firmware for {target}"), cargo.args(strict).run());
    }
    failures.note("firmware's host side", harness.args(strict).run());
    failures.note("fuzz", fuzz(project, "clippy").args(strict).run());
    failures.finish()
}

pub(crate) fn tests(project: &Project) -> Result<Outcome> {
    let test = || project.cargo().args(["test", "--quiet", "--no-fail-fast"]);
    let all = test().args(["--workspace", "--all-features"]);
    // Clippy has seen that the examples compile without features.
    let none = || test().args(["--package=fastmmd", "--no-default-features"]);
    let app = project.firmware_cargo("test");
    let app = app.args(["--quiet", "--no-fail-fast"]);
    let app = app.args(ON_HOST.map(|package| format!("--package={package}")));
    let mut failures = Failures::default();
    failures.note("all features", all.run());
    failures.note("no features", none().arg("--lib").run());
    failures.note("no features, documentation", none().arg("--doc").run());
    failures.note("the firmware's app on the host", app.run());
    failures.finish()
}

pub(crate) fn documentation(project: &Project) -> Result<Outcome> {
    let cargo = project.cargo().args(["doc", "--quiet", "--no-deps"]);
    let cargo = cargo.args(["--workspace", "--all-features"]);
    cargo.env("RUSTDOCFLAGS", "-D warnings").run()?;
    Ok(Outcome::Passed)
}

/// Runs every example of the core and of the reference; those of the core that need a feature say
/// so in the manifest, and all are on. Built as `tests` builds them: then they are there already.
pub(crate) fn examples(project: &Project) -> Result<Outcome> {
    project
        .cargo()
        .args(["build", "--quiet", "--workspace", "--all-features", "--examples"])
        .run()?;
    let built = project.scratch("debug").join("examples");
    let mut failures = Failures::default();
    for directory in ["examples", "host-tests/reference/examples"] {
        let mut names = Vec::new();
        for entry in fs::read_dir(project.path(directory)).context(directory)? {
            let path = entry?.path();
            let name = path.file_stem().and_then(|name| name.to_str());
            names.extend(name.map(str::to_owned));
        }
        names.sort();
        for name in names {
            let file = built.join(format!("{name}{}", std::env::consts::EXE_SUFFIX));
            failures.note(&name, project.program(&file, &name).run());
        }
    }
    failures.finish()
}

/// Unit tests of the core under Miri, but for those that would take it minutes.
pub(crate) fn miri(project: &Project) -> Result<Outcome> {
    if !setup::has_nightly(project) {
        let hint = "no nightly: rustup toolchain install nightly --component miri";
        return Ok(Outcome::Skipped(hint.to_owned()));
    }
    if setup::component(project, Some("nightly"), "miri").is_err()
        || setup::component(project, Some("nightly"), "rust-src").is_err()
    {
        let hint = "the installed nightly has no miri";
        return Ok(Outcome::Skipped(hint.to_owned()));
    }
    let miri = project.nightly_cargo().args(["miri", "test", "--quiet"]);
    let miri = miri.args(["--package=fastmmd", "--lib", "--"]);
    let miri = SLOW_UNDER_MIRI.iter().fold(miri, |miri, name| miri.arg(format!("--skip={name}")));
    // Some tests build large maps; the isolation would only forbid reading the environment.
    miri.env("MIRIFLAGS", "-Zmiri-disable-isolation").run()?;
    Ok(Outcome::Passed)
}

/// Tests with many thousand evaluations: pure arithmetic, about which Miri has nothing to say.
const SLOW_UNDER_MIRI: [&str; 1] = ["every_backend_keeps_its_promise"];

/// The fuzz target compiles; with cargo-fuzz and a nightly it also runs for a moment.
pub(crate) fn fuzzing(project: &Project) -> Result<Outcome> {
    fuzz(project, "check").arg("--quiet").run()?;
    let has_cargo_fuzz = project.cargo().args(["fuzz", "--version"]).output().is_ok();
    if !has_cargo_fuzz || !setup::has_nightly(project) {
        println!("    compiled only: running it needs a nightly and cargo-fuzz");
        return Ok(Outcome::Passed);
    }
    let run = project.nightly_cargo().args(["fuzz", "run", "restore"]);
    run.args(["--", "-max_total_time=20"]).run()?;
    Ok(Outcome::Passed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_package_of_the_firmware_is_looked_at() {
        let project = Project::find(false);
        let mut found = BTreeSet::new();
        for entry in fs::read_dir(project.path("firmware")).unwrap() {
            let manifest = fs::read_to_string(entry.unwrap().path().join("Cargo.toml"));
            let manifest = manifest.unwrap_or_default();
            let name = manifest.lines().find_map(|line| line.strip_prefix("name = "));
            found.extend(name.map(|name| name.trim_matches('"').to_owned()));
        }
        let boards = BOARDS.iter().map(|board| board.package);
        let known = boards.chain(LINKED).chain(ON_HOST).map(str::to_owned);
        assert_eq!(found, known.collect());
    }
}
