//! The header, and the static libraries.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};

use super::{HEADER, TARGETS, cargo};
use crate::project::Project;
use crate::snapshot;

/// A static library.
pub(super) struct Library {
    /// What it is built for.
    pub(super) target: String,
    pub(super) file: PathBuf,
}

/// Compares the header with what cbindgen makes of the sources now, or writes it.
pub(super) fn header(project: &Project, overwrite: bool) -> Result<()> {
    let made = cargo(project, "run").args(["--quiet", "--package=fastmmd-capi-header"]).output()?;
    if overwrite {
        let file = project.path(HEADER);
        return fs::write(file, made).with_context(|| format!("cannot write {HEADER}"));
    }
    snapshot::compare(&project.read(HEADER)?, &made)
        .context("if that is intended: cargo xtask capi --overwrite")
}

/// Builds the library for the host and for all targets: at once, because each keeps one processor busy.
pub(super) fn libraries(project: &Project) -> Result<Vec<Library>> {
    let host = host(project)?;
    let targets: Vec<_> = TARGETS.into_iter().chain([host.as_str()]).collect();
    cargo(project, "build")
        .args(["--quiet", "--release", "--package=fastmmd-capi-library"])
        .args(targets.iter().map(|target| format!("--target={target}")))
        .run()?;
    Ok(targets.into_iter().map(|target| of(project, target)).collect())
}

/// The library with a function that can panic, and without detectors.
pub(super) fn control(project: &Project, target: &str) -> Result<Library> {
    let directory = project.scratch("capi-control");
    project
        .cargo()
        .within(&project.path("capi"))
        .arg("build")
        .builds_in(&directory)
        .args(["--quiet", "--release", "--package=fastmmd-capi-library"])
        .args(["--features=inject-panic", &format!("--target={target}")])
        .run()?;
    let file = directory.join(target).join("release").join(FILE);
    Ok(Library { target: target.to_owned(), file })
}

const FILE: &str = "libfastmmd.a";

fn of(project: &Project, target: &str) -> Library {
    let file = project.scratch(target).join("release").join(FILE);
    Library { target: target.to_owned(), file }
}

/// The host as a target.
pub(super) fn host(project: &Project) -> Result<String> {
    let version = project.tool("rustc").arg("-vV").output()?;
    let host = version.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host.context("rustc does not say its host")?.to_owned())
}
