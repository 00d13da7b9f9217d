//! Packages the crate and links the package into another program.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::outcome::{Failures, Outcome};
use crate::project::Project;
use crate::setup;

const TARGET: &str = "thumbv7em-none-eabihf";

pub(crate) fn run(project: &Project) -> Result<Outcome> {
    setup::targets(project, &[TARGET])?;
    let mut failures = Failures::default();
    let packaged = package(project);
    let ready = packaged.is_ok();
    failures.note("cargo package", packaged);
    // Without a package of the current source, an older one would be tested.
    if ready {
        failures.note("a bare-metal program links the package", consume(project));
    }
    failures.finish()
}

fn package(project: &Project) -> Result<()> {
    let mut cargo = project.cargo();
    // Not verified by a build for the host: the one below is of the same archive.
    cargo = cargo.args(["package", "--quiet", "--no-verify", "--package=fastmmd"]);
    // In CI the checkout is clean, and must be; at work it seldom is.
    if std::env::var_os("CI").is_none() {
        cargo = cargo.arg("--allow-dirty");
    }
    cargo.run()
}

/// Unpacks the package beside a new crate that depends only on it, and links that crate.
fn consume(project: &Project) -> Result<()> {
    let version = version(project)?;
    let name = format!("fastmmd-{version}");
    let archive = project.scratch("package").join(format!("{name}.crate"));
    let directory = project.scratch("consumer");
    if directory.exists() {
        fs::remove_dir_all(&directory)?;
    }
    fs::create_dir_all(directory.join("src"))?;
    let tar = project.tool("tar").args(["-xzf"]).arg(&archive);
    tar.arg("-C").arg(&directory).run()?;
    fs::write(directory.join("Cargo.toml"), manifest(&name))?;
    fs::write(directory.join("src/main.rs"), PROGRAM)?;
    // The versions of dependencies that we test with, not the newest ones.
    fs::copy(project.path("Cargo.lock"), directory.join("Cargo.lock"))?;
    link(project, &directory)
}

fn link(project: &Project, directory: &Path) -> Result<()> {
    let target_dir: PathBuf = project.scratch("consumer-target");
    project
        .cargo()
        .within(directory)
        .args(["build", "--quiet", "--release", &format!("--target={TARGET}")])
        .builds_in(&target_dir)
        .run()
}

fn version(project: &Project) -> Result<String> {
    let id = project.cargo().args(["pkgid", "--package=fastmmd"]).output()?;
    let version = id.trim().rsplit(['#', '@']).next();
    version.map(str::to_owned).context("no version in pkgid")
}

fn manifest(dependency: &str) -> String {
    format!(
        r#"[package]
name = "consumer"
version = "0.0.0"
edition = "2024"

[dependencies]
fastmmd = {{ path = "{dependency}" }}

[profile.release]
panic = "abort"

# Not a member of the workspace this directory lies in.
[workspace]
"#
    )
}

/// A minimal program: no allocator, no start-up code, no other crate.
const PROGRAM: &str = r#"#![no_std]
#![no_main]

use core::hint::black_box;
use fastmmd::{Fourier, TwoSample};

static MAP: Fourier<3, 64> = Fourier::gaussian(1);

#[unsafe(no_mangle)]
pub extern "C" fn _start() -> ! {
    let mut test = TwoSample::new(&MAP);
    loop {
        let _ = test.push_p(&black_box([0.0; 3]));
        let _ = test.push_q(&black_box([0.0; 3]));
        let _ = black_box(test.mmd2_unbiased());
    }
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}
"#;
