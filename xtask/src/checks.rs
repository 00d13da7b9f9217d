//! Steps of `cargo xtask test` that only call other tools.

use std::fs;

use anyhow::{Context, Result};

use crate::boards::{BOARDS, EMULATED, TARGETS};
use crate::outcome::{Failures, Outcome};
use crate::project::{Project, Tool};
use crate::{asynchronous, capi, setup, web};

/// Packages of the firmware that are linked for a microcontroller but are not boards.
const LINKED: [&str; 7] =
    ["app-proof", "bench", "board-common", "emulated", "floats", "proofs", "snapshots"];
/// Packages of the firmware that the host runs or tests.
const ON_HOST: [&str; 2] = ["drift-app", "drift-harness"];

/// Arguments of clippy.
const STRICT: [&str; 3] = ["--quiet", "--", "--deny=warnings"];

/// Cargo in the fuzz workspace, to check and not to link. The fuzzer's C++ library is not built: a
/// custom library path is set instead, which checking never reads.
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
    for directory in [
        ".",
        "capi",
        "firmware",
        "firmware/async",
        "firmware/async/esp32c3",
        "fleet",
        "fuzz",
        "python",
        "web",
    ] {
        let cargo = project.cargo().within(&project.path(directory));
        let result = cargo.args(["fmt", "--all", "--check"]).run();
        failures.note(directory, result);
    }
    failures.finish()
}

pub(crate) fn clippy(project: &Project) -> Result<Outcome> {
    setup::component(project, None, "clippy")?;
    setup::targets(project, &[web::TARGET])?;
    let core = ["clippy", "--package=fastmmd", "--all-targets"];
    let workspace = ["clippy", "--workspace", "--all-targets"];
    let all = project.cargo().args(workspace).arg("--all-features");
    let none = project.cargo().args(core).arg("--no-default-features");
    let mut failures = Failures::default();
    failures.note("all features", all.args(STRICT).run());
    failures.note("no features", none.args(STRICT).run());
    // As the README installs it, without Parquet: the tests run with all features.
    let tool = project.cargo().args(["clippy", "--package=fastmmd-cli", "--all-targets"]);
    failures.note("the tool as it is installed", tool.args(STRICT).run());
    let page = project.cargo().args(["clippy", "--package=fastmmd-cli", "--no-default-features"]);
    failures.note("the tool as the page has it", page.arg("--lib").args(STRICT).run());
    failures.note("the page's module", web::cargo(project, "clippy").args(STRICT).run());
    let library = capi::cargo(project, "clippy").arg("--workspace");
    failures.note("the library for C", library.args(STRICT).run());
    failures.note("asynchronous tasks", asynchronous::clippy(project, &STRICT));
    failures.note("fuzz", fuzz(project, "clippy").args(STRICT).run());
    failures.finish()
}

/// The firmware's workspace without warnings, and the tests of what runs on the host too.
pub(crate) fn app(project: &Project) -> Result<Outcome> {
    setup::component(project, None, "clippy")?;
    setup::targets(project, &TARGETS)?;
    let on_host = ON_HOST.map(|package| format!("--package={package}"));
    let harness = project.firmware_cargo("clippy").arg("--all-targets").args(&on_host);
    let tests = project.firmware_cargo("test").args(["--quiet", "--no-fail-fast"]).args(&on_host);
    let mut failures = Failures::default();
    // By name, since the harness runs on the host. All packages of one target at once, so that
    // shared dependencies are checked once; the features they then share do not matter to lints.
    // With --release, as the boards are built, so that procedural macros are compiled only once.
    for target in TARGETS {
        let boards = BOARDS.iter().filter(|board| board.target == target);
        let mut packages: Vec<_> = boards.map(|board| board.package).collect();
        packages.extend(LINKED.iter().filter(|_| target == EMULATED.target));
        let cargo = project.firmware_cargo("clippy").arg("--release");
        let cargo = cargo.arg(format!("--target={target}"));
        let cargo = cargo.args(packages.iter().map(|package| format!("--package={package}")));
        failures.note(&format!("no warnings for {target}"), cargo.args(STRICT).run());
    }
    failures.note("no warnings on the host", harness.args(STRICT).run());
    failures.note("the tests", tests.run());
    failures.finish()
}

/// Programs that the tests of the tool's recipes start, each with the package of Debian that has it.
const RECIPES: [(&str, &str); 4] = [
    ("jq", "jq"),
    setup::BROKER,
    ("mosquitto_pub", "mosquitto-clients"),
    ("mosquitto_sub", "mosquitto-clients"),
];

pub(crate) fn tests(project: &Project) -> Result<Outcome> {
    // What is missing after that fails its test: other tests need not wait for it.
    if let Err(error) = setup::programs(project, &RECIPES) {
        println!("    {error:#}");
    }
    let test = || project.cargo().args(["test", "--quiet", "--no-fail-fast"]);
    // What cannot run here then fails, and is not taken for passed.
    let all = test().args(["--workspace", "--all-features"]).quiet_env("CI", "1");
    // Features only add (a test below), so that unit tests without them are a part of those with all; clippy
    // has checked that they and the examples compile. Those of the documentation nobody else compiles.
    let none = test().args(["--package=fastmmd", "--no-default-features", "--doc"]);
    let mut failures = Failures::default();
    failures.note("all features", all.run());
    failures.note("no features, documentation", none.run());
    failures.finish()
}

pub(crate) fn documentation(project: &Project) -> Result<Outcome> {
    let cargo = project.cargo().args(["doc", "--quiet", "--no-deps"]);
    let cargo = cargo.args(["--workspace", "--all-features"]);
    cargo.env("RUSTDOCFLAGS", "-D warnings").run()?;
    Ok(Outcome::Passed)
}

/// Runs every example of the core and of `fastmmd-reference`, with all features. They are built
/// with the options of the step `tests`, which has then already built them.
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

/// Unit tests of the core's bytes and buffers, and the library for C, under Miri.
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
    let miri = miri.args(UNDER_MIRI);
    // Isolation is off: some tests read the environment.
    miri.env("MIRIFLAGS", "-Zmiri-disable-isolation").run()?;
    // Where pointers come from C.
    let capi = project.nightly_cargo().within(&project.path("capi")).args(["miri", "test"]);
    let capi = capi.builds_in(&project.scratch("miri-capi"));
    let capi = capi.args(["--quiet", "--package=fastmmd-capi"]);
    capi.env("MIRIFLAGS", "-Zmiri-disable-isolation").run()?;
    Ok(Outcome::Passed)
}

/// Tests of bytes and buffers. The others are pure arithmetic without `unsafe`, in which Miri cannot find
/// anything, and would take it twenty minutes.
const UNDER_MIRI: [&str; 2] = ["state::", "dynamic::"];

/// What is fuzzed: saved records, rows, the link and the EEPROM's content. A seeded, bounded form of each is
/// among the tests: `mutants` and `rows` of host-tests, `frame`, `message` and `soak` of the app.
const FUZZED: [&str; 4] = ["restore", "rows", "frames", "store"];

/// Compiles the fuzz targets; with cargo-fuzz and a nightly, also runs each for some seconds.
pub(crate) fn fuzzing(project: &Project) -> Result<Outcome> {
    fuzz(project, "check").arg("--quiet").run()?;
    let has_cargo_fuzz = project.cargo().args(["fuzz", "--version"]).output().is_ok();
    if !has_cargo_fuzz || !setup::has_nightly(project) {
        println!("    compiled only: running them needs a nightly and cargo-fuzz");
        return Ok(Outcome::Passed);
    }
    let mut failures = Failures::default();
    for target in FUZZED {
        let run = project.nightly_cargo().args(["fuzz", "run", target]);
        failures.note(target, run.args(["--", "-max_total_time=10"]).run());
    }
    failures.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// Files of a folder of tests that its `main.rs` does not name, so that they would not run.
    fn left_out(folder: &std::path::Path) -> Vec<String> {
        let program = fs::read_to_string(folder.join("main.rs")).unwrap();
        let mut names = Vec::new();
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_stem().and_then(|name| name.to_str()).unwrap().to_owned();
            let is_test = path.extension().is_some_and(|end| end == "rs") && name != "main";
            if is_test && !program.contains(&format!("\nmod {name};\n")) {
                names.push(name);
            }
        }
        names
    }

    #[test]
    fn every_file_of_tests_is_part_of_its_program() {
        let project = Project::find(false);
        for folder in ["cli/tests", "host-tests/tests/tests"] {
            assert_eq!(left_out(&project.path(folder)), [""; 0], "not in {folder}/main.rs");
        }
        // The control.
        let folder = project.scratch("left-out");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("main.rs"), "\nmod named;\n").unwrap();
        fs::write(folder.join("named.rs"), "").unwrap();
        fs::write(folder.join("forgotten.rs"), "").unwrap();
        assert_eq!(left_out(&folder), ["forgotten"]);
    }

    /// Conditions `not(…)` and `cfg!(…)` that ask for a feature: they leave something out where it is on, or
    /// decide by it. What only silences a lint changes nothing.
    fn taking_away(text: &str) -> Vec<String> {
        let text: String = text.split_whitespace().collect();
        let asking = |start: &str| {
            let found = text.match_indices(start).filter_map(|(at, _)| {
                let (before, from) = (&text[..at], &text[at + start.len()..]);
                let mut depth = 1;
                let end = from.find(|c| {
                    depth += i32::from(c == '(') - i32::from(c == ')');
                    depth == 0
                });
                let (inner, after) = from.split_at(end.unwrap_or(from.len()));
                let silences = before.ends_with("cfg_attr(") && after.starts_with("),allow(");
                let asks = inner.replace("target_feature", "").contains("feature=");
                (asks && !silences).then(|| format!("{start}{inner})"))
            });
            found.collect::<Vec<_>>()
        };
        [asking("not("), asking("cfg!(")].concat()
    }

    #[test]
    fn features_of_the_core_only_add() {
        fn look(folder: &std::path::Path) {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    look(&path);
                } else if path.extension().is_some_and(|end| end == "rs") {
                    let text = fs::read_to_string(&path).unwrap();
                    let found = taking_away(&text);
                    assert!(
                        found.is_empty(),
                        "{}: test without features too: {found:?}",
                        path.display()
                    );
                }
            }
        }
        look(&Project::find(false).path("src"));
        assert_eq!(taking_away("#[cfg(not(feature = \"alloc\"))]\nfn f() {}\n").len(), 1);
        assert_eq!(taking_away("if cfg!(any(test, feature = \"alloc\")) {\n").len(), 1);
        assert_eq!(taking_away("if cfg!(not(target_feature = \"avx\")) {\n"), [""; 0]);
        assert_eq!(taking_away("#[cfg(feature = \"alloc\")]\n"), [""; 0]);
        assert_eq!(
            taking_away("#[cfg_attr(not(feature = \"alloc\"), allow(dead_code))]\n"),
            [""; 0]
        );
    }

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
