//! Builds the core for every target and with every feature.
//!
//! Each target is tried without features and with all of them, and each feature alone on one target.
//! That covers every pair: the core's source asks for no target (a test below), so a feature that
//! compiles alone on one target does so on all, as long as its dependencies compile there, which
//! they do with all features.

use anyhow::{Context, Result};

use crate::outcome::{Failures, Outcome};
use crate::project::Project;
use crate::setup;

/// The targets that the crate supports.
const TARGETS: [&str; 6] = [
    "thumbv6m-none-eabi",
    "thumbv7m-none-eabi",
    "thumbv7em-none-eabihf",
    "thumbv8m.main-none-eabihf",
    "riscv32imac-unknown-none-elf",
    "wasm32-unknown-unknown",
];

/// The target of the single features: the one with the fewest instructions.
const FEATURES_ON: &str = TARGETS[0];

pub(crate) fn run(project: &Project) -> Result<Outcome> {
    setup::targets(project, &TARGETS)?;
    println!("    for {}", TARGETS.join(", "));
    let mut failures = Failures::default();
    let none = ["--no-default-features"];
    failures.note("no feature", build(project, "check", &none, &TARGETS));
    for feature in features(project)? {
        let alone = ["--no-default-features", "--features", &feature];
        failures.note(&feature, build(project, "check", &alone, &[FEATURES_ON]));
    }
    // Checking does not generate code; building the largest choice does, and checks it.
    failures
        .note("all features, with code", build(project, "build", &["--all-features"], &TARGETS));
    failures.finish()
}

/// All targets in one call: cargo shares the work, and names the target that fails.
fn build(project: &Project, subcommand: &str, features: &[&str], targets: &[&str]) -> Result<()> {
    project
        .cargo()
        .args([subcommand, "--quiet", "--package=fastmmd", "--keep-going"])
        .args(features)
        .quiet_args(targets.iter().map(|target| format!("--target={target}")))
        .run()
}

/// The features of the core, from its manifest, so that a new one is not forgotten.
fn features(project: &Project) -> Result<Vec<String>> {
    let metadata =
        project.cargo().args(["metadata", "--no-deps", "--format-version=1"]).output()?;
    let metadata: serde_json::Value = serde_json::from_str(&metadata)?;
    let packages = metadata["packages"].as_array().context("no packages")?;
    let core = packages.iter().find(|package| package["name"] == "fastmmd");
    let features = core.context("no package fastmmd")?["features"].as_object();
    let names = features.context("no features")?.keys().cloned();
    Ok(names.filter(|name| name != "default").collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::path::Path;

    /// Lines that depend on the target, below a folder of source files.
    fn of_targets(folder: &Path) -> Vec<String> {
        let mut found = Vec::new();
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                found.extend(of_targets(&path));
            } else if path.extension().is_some_and(|end| end == "rs") {
                found.extend(asking(&fs::read_to_string(&path).unwrap()));
            }
        }
        found
    }

    /// A text without its `cfg!(…)`: those are values, and all code is compiled whatever they are.
    fn without_values(text: &str) -> String {
        let mut parts = text.split("cfg!(");
        let mut kept = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let mut depth = 1;
            let end = part.find(|c| {
                depth += i32::from(c == '(') - i32::from(c == ')');
                depth == 0
            });
            kept.push_str(&part[end.unwrap_or(0)..]);
        }
        kept
    }

    /// Lines with a condition on the target, or on a property that only some have.
    fn asking(text: &str) -> Vec<String> {
        let text = without_values(text);
        let words = ["target_", "cfg(unix", "cfg(windows", "debug_assertions", "panic ="];
        let lines = text.lines().filter(|line| words.iter().any(|word| line.contains(word)));
        lines.map(str::to_owned).collect()
    }

    #[test]
    fn the_core_asks_for_no_target() {
        let found = of_targets(&Project::find(false).path("src"));
        assert!(found.is_empty(), "features have to be tried on every target: {found:?}");
        assert_eq!(asking("#[cfg(target_arch = \"arm\")]\nfn f() {}\n").len(), 1);
        assert!(
            asking("const A: bool = cfg!(all(\ntarget_arch = \"arm\", not(test)));\n").is_empty()
        );
    }
}
