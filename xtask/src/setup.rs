//! Installs missing tools, or says how to.

use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::project::Project;
use crate::qemu;

/// Adds targets that the pinned toolchain lacks: rustup installs those of `rust-toolchain.toml`
/// only together with the toolchain.
pub(crate) fn targets(project: &Project, wanted: &[&str]) -> Result<()> {
    let installed = project
        .tool("rustup")
        .args(["target", "list", "--installed"])
        .output()
        .context("rustup is needed to add targets: https://rustup.rs")?;
    let missing = wanted.iter().filter(|target| !installed.lines().any(|line| line == **target));
    let missing: Vec<_> = missing.collect();
    if missing.is_empty() {
        return Ok(());
    }
    let add = project.tool("rustup").args(["target", "add"]);
    add.args(missing).run()
}

/// Adds a component that a toolchain lacks; `None` is the pinned one.
pub(crate) fn component(project: &Project, toolchain: Option<&str>, name: &str) -> Result<()> {
    let choice = toolchain.map(|toolchain| format!("--toolchain={toolchain}"));
    let installed = project
        .tool("rustup")
        .args(["component", "list", "--installed"])
        .args(choice.iter())
        .output()?;
    // Names of components end with their platform.
    let is_it = |line: &str| line == name || line.starts_with(&format!("{name}-"));
    if installed.lines().any(is_it) {
        return Ok(());
    }
    let add = project.tool("rustup").args(["component", "add", name]);
    add.args(choice.iter()).run()
}

/// Whether any nightly is installed.
pub(crate) fn has_nightly(project: &Project) -> bool {
    let list = project.tool("rustup").args(["toolchain", "list"]).output();
    list.is_ok_and(|list| list.lines().any(|line| line.starts_with("nightly")))
}

/// Makes sure that QEMU's programs can be started.
pub(crate) fn qemu(project: &Project) -> Result<()> {
    packages(project, &qemu::PACKAGES)
}

/// Makes sure that programs can be started, each of a package of Debian.
pub(crate) fn packages(project: &Project, wanted: &[(&str, &str)]) -> Result<()> {
    let starts = |program: &str| project.tool(program).arg("--version").output().map(drop);
    let missing: Vec<_> = wanted.iter().filter(|(program, _)| starts(program).is_err()).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let is_root = project.tool("id").arg("-u").output();
    let is_root = is_root.is_ok_and(|id| id.trim() == "0");
    let packages: Vec<_> = missing.iter().map(|(_, package)| *package).collect();
    if !is_root || !Path::new("/etc/debian_version").exists() {
        let programs: Vec<_> = missing.iter().map(|(program, _)| *program).collect();
        bail!(
            "{} missing; install with your package manager, on Debian or Ubuntu: sudo apt-get \
             install --no-install-recommends {}",
            programs.join(" and "),
            packages.join(" ")
        );
    }
    let apt = || {
        let tool = project.tool("apt-get");
        tool.env("DEBIAN_FRONTEND", "noninteractive")
    };
    apt().args(["update", "-q"]).run()?;
    apt().args(["install", "-y", "-q", "--no-install-recommends"]).args(packages).run()?;
    missing.iter().try_for_each(|(program, _)| starts(program))
}
