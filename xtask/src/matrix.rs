//! Builds the core for every target and with every feature.

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

pub(crate) fn run(project: &Project) -> Result<Outcome> {
    setup::targets(project, &TARGETS)?;
    println!("    for {}", TARGETS.join(", "));
    let mut failures = Failures::default();
    let mut choices = vec![("no feature".to_owned(), vec!["--no-default-features".to_owned()])];
    for feature in features(project)? {
        let arguments = ["--no-default-features", "--features", &feature].map(str::to_owned);
        choices.push((feature.clone(), arguments.to_vec()));
    }
    for (name, arguments) in &choices {
        failures.note(name, build(project, "check", arguments));
    }
    // Checking does not generate code; building the largest choice does, and checks it.
    let all = ["--all-features".to_owned()];
    failures.note("all features, with code", build(project, "build", &all));
    failures.finish()
}

/// Every target in one call: cargo shares the work, and names the target that fails.
fn build(project: &Project, subcommand: &str, features: &[String]) -> Result<()> {
    project
        .cargo()
        .args([subcommand, "--quiet", "--package=fastmmd", "--keep-going"])
        .args(features)
        .quiet_args(TARGETS.map(|target| format!("--target={target}")))
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
