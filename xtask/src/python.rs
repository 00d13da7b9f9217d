//! `python`: builds the wheel of the Python package, and tests it in a virtual environment.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::outcome::{Failures, Outcome};
use crate::project::{Project, Tool};
use crate::setup;

/// The package, with its own Rust workspace.
const PACKAGE: &str = "python";
const REQUIREMENTS: &str = "python/requirements.txt";

pub(crate) fn run(project: &Project) -> Result<Outcome> {
    let python = match setup::python(project)? {
        Ok(python) => python,
        Err(reason) => return Ok(Outcome::Skipped(reason)),
    };
    setup::component(project, None, "clippy")?;
    let package = Package { project, target: project.scratch(PACKAGE) };
    package.environment(python)?;
    let wheel = package.wheel()?;
    package.cargo("build").args(["--quiet", "--release", "--package=fastmmd-parity"]).run()?;
    let parity = package.target.join("release/fastmmd-parity");
    let tool = project.host_program("fastmmd")?;
    let mut failures = Failures::default();
    // Not with --release: maturin tells build scripts another environment, and each would undo what
    // the other built.
    let strict = ["--quiet", "--workspace", "--", "--deny=warnings"];
    failures.note("clippy", package.cargo("clippy").args(strict).run());
    failures.note("ruff", package.program("ruff").args(["check", "--no-cache", "."]).run());
    let format = ["format", "--no-cache", "--check", "."];
    failures.note("ruff format", package.program("ruff").args(format).run());
    let cache = package.target.join("mypy");
    let mypy =
        package.program("mypy").arg("fastmmd").quiet_args([Path::new("--cache-dir"), &cache]);
    failures.note("mypy", mypy.run());
    // Elsewhere: here the stubs would be compared with the source, which has no compiled half.
    let stubs = package.program("stubtest").within(&package.target).arg("fastmmd._native");
    failures.note("stubs", stubs.run());
    let tests = package.program("python").args(["-m", "pytest", "-rs"]);
    let tests = tests.quiet_env("FASTMMD_PARITY", &parity).quiet_env("FASTMMD_TOOL", &tool);
    // So that only the installed package is found; and no folder of the checkout is written to.
    let tests = tests.quiet_env("PYTHONSAFEPATH", "1").quiet_env("PYTHONDONTWRITEBYTECODE", "1");
    failures.note("pytest", tests.run());
    let bytes = fs::metadata(&wheel).map(|it| it.len())?;
    println!("    wheel: {} ({bytes} bytes)", wheel.display());
    failures.finish()
}

struct Package<'p> {
    project: &'p Project,
    /// All that is built: Rust, the environment, the wheel.
    target: PathBuf,
}

impl Package<'_> {
    fn cargo(&self, subcommand: &str) -> Tool {
        let cargo = self.project.cargo().within(&self.project.path(PACKAGE));
        cargo.arg(subcommand).builds_in(&self.target)
    }

    /// A program of the environment.
    fn file(&self, name: &str) -> PathBuf {
        let folder = if cfg!(windows) { "Scripts" } else { "bin" };
        self.target.join("venv").join(folder).join(name)
    }

    fn program(&self, name: &str) -> Tool {
        self.project.program(&self.file(name), name).within(&self.project.path(PACKAGE))
    }

    fn pip(&self) -> Tool {
        self.program("python").args(["-m", "pip", "install", "--quiet"]).quiet_args([
            "--disable-pip-version-check",
            "--no-input",
            "--no-warn-script-location",
        ])
    }

    /// Makes the environment, unless there is one with these requirements.
    fn environment(&self, python: Tool) -> Result<()> {
        let (folder, stamp) = (self.target.join("venv"), self.target.join("requirements.txt"));
        let wanted = self.project.read(REQUIREMENTS)?;
        if fs::read_to_string(&stamp).is_ok_and(|had| had == wanted) && self.file("python").exists()
        {
            return Ok(());
        }
        fs::create_dir_all(&self.target).context("target/python")?;
        python.args(["-m", "venv", "--clear"]).arg(&folder).run()?;
        self.pip()
            .args(["--only-binary=:all:", "--no-deps", "--requirement"])
            .arg("requirements.txt")
            .run()?;
        fs::write(&stamp, wanted).context("requirements.txt")
    }

    /// Builds the wheel and installs it.
    fn wheel(&self) -> Result<PathBuf> {
        let wheels = self.target.join("wheels");
        if wheels.exists() {
            fs::remove_dir_all(&wheels).context("target/python/wheels")?;
        }
        let maturin = self.program("maturin").args(["build", "--release", "--locked", "--quiet"]);
        let interpreter = self.file("python");
        maturin
            .quiet_args([Path::new("--interpreter"), &interpreter, Path::new("--out"), &wheels])
            .quiet_env("CARGO_TARGET_DIR", &self.target)
            .run()?;
        let mut found = Vec::new();
        for entry in fs::read_dir(&wheels).context("target/python/wheels")? {
            found.push(entry?.path());
        }
        let [wheel] = found.as_slice() else { bail!("{} wheels instead of one", found.len()) };
        self.pip().quiet_args(["--force-reinstall", "--no-deps"]).arg(wheel).run()?;
        Ok(wheel.clone())
    }
}
