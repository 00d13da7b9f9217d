//! Installs missing tools, or says how to.

use std::fs::{self, File};
use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::project::{Project, Tool};
use crate::qemu;

/// Waits until no other step installs anything: neither rustup nor apt can do so twice at once. Lasts
/// until what it returns is dropped.
fn alone(project: &Project) -> Result<File> {
    let folder = project.scratch("steps");
    fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
    let file = File::create(folder.join("setup.lock"))?;
    file.lock()?;
    Ok(file)
}

/// Adds targets that the pinned toolchain lacks: rustup installs those of `rust-toolchain.toml`
/// only together with the toolchain.
pub(crate) fn targets(project: &Project, wanted: &[&str]) -> Result<()> {
    let _alone = alone(project)?;
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
    let _alone = alone(project)?;
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
    programs(project, &qemu::PACKAGES)
}

/// Makes sure that programs can be started; each with the package of Debian that has it.
pub(crate) fn programs(project: &Project, wanted: &[(&str, &str)]) -> Result<()> {
    let _alone = alone(project)?;
    let starts = |program: &str| {
        let asked = project.tool(program).arg("--version").finished()?;
        // mosquitto says its version, and takes the question for a mistake all the same.
        if asked.success || asked.stdout.contains("version") {
            return Ok(());
        }
        bail!("`{program} --version` ended with {}\n{}", asked.status, asked.stderr)
    };
    let missing: Vec<_> = wanted.iter().filter(|(program, _)| starts(program).is_err()).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let packages: Vec<_> = missing.iter().map(|(_, package)| *package).collect();
    if !is_debian_root(project) {
        let programs: Vec<_> = missing.iter().map(|(program, _)| *program).collect();
        bail!(
            "{} missing; install with your package manager, on Debian or Ubuntu: sudo apt-get \
             install --no-install-recommends {}",
            programs.join(" and "),
            packages.join(" ")
        );
    }
    apt_get(project, &packages)?;
    missing.iter().try_for_each(|(program, _)| starts(program))
}

/// The broker that recipes are tried with, and its package of Debian.
pub(crate) const BROKER: (&str, &str) = ("mosquitto", "mosquitto");

/// The oldest Python for which the pinned packages of its tests are made.
const PYTHON: (u32, u32) = (3, 11);

/// A Python that can make environments, or why there is none.
pub(crate) fn python(project: &Project) -> Result<Result<Tool, String>> {
    let _alone = alone(project)?;
    let program = if cfg!(windows) { "python" } else { "python3" };
    let (major, minor) = PYTHON;
    let check =
        format!("import ensurepip, sys, venv; sys.exit(sys.version_info < ({major}, {minor}))");
    let works = || project.tool(program).args(["-c", &check]).output().is_ok();
    if !works() && is_debian_root(project) {
        apt_get(project, &["python3", "python3-venv"])?;
    }
    if works() {
        return Ok(Ok(project.tool(program)));
    }
    Ok(Err(format!(
        "no Python {major}.{minor} with venv; on Debian or Ubuntu: sudo apt-get install python3-venv"
    )))
}

/// Whether packages of Debian can be installed.
fn is_debian_root(project: &Project) -> bool {
    let is_root = project.tool("id").arg("-u").output();
    is_root.is_ok_and(|id| id.trim() == "0") && Path::new("/etc/debian_version").exists()
}

fn apt_get(project: &Project, packages: &[&str]) -> Result<()> {
    let apt = || {
        let tool = project.tool("apt-get");
        tool.env("DEBIAN_FRONTEND", "noninteractive")
    };
    apt().args(["update", "-q"]).run()?;
    apt().args(["install", "-y", "-q", "--no-install-recommends"]).args(packages).run()
}
