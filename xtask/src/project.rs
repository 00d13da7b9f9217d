//! Paths of the project, and running of tools.

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::usage;

/// The checkout this program was built from.
pub(crate) struct Project {
    root: PathBuf,
    target: PathBuf,
    /// The directory of the toolchain's LLVM tools, once it is known.
    llvm: OnceLock<PathBuf>,
    verbose: bool,
}

impl Project {
    pub(crate) fn find(verbose: bool) -> Self {
        // At run time, not at compile time: a target directory may outlive the checkout.
        let manifest = env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
        let root =
            manifest.as_deref().and_then(Path::parent).unwrap_or(Path::new(".")).to_path_buf();
        let target = match env::var_os("CARGO_TARGET_DIR") {
            Some(directory) => root.join(directory),
            None => root.join("target"),
        };
        Self { root, target, llvm: OnceLock::new(), verbose }
    }

    /// Whether the output of every tool is shown.
    pub(crate) fn is_verbose(&self) -> bool {
        self.verbose
    }

    /// A file or directory of the checkout.
    pub(crate) fn path(&self, relative: impl AsRef<Path>) -> PathBuf {
        self.root.join(relative)
    }

    /// A directory below that of all builds.
    pub(crate) fn scratch(&self, name: &str) -> PathBuf {
        self.target.join(name)
    }

    /// The pinned toolchain's cargo, in the host workspace. Not incremental, which is faster for
    /// code that is built once.
    pub(crate) fn cargo(&self) -> Tool {
        let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let tool = Tool::new(cargo, "cargo", self.verbose).within(&self.root);
        tool.quiet_env("CARGO_INCREMENTAL", "0")
    }

    /// Builds a program of the host workspace and returns its path. The features are those of
    /// `cargo xtask test`, so that the libraries built for the tests are used.
    pub(crate) fn host_program(&self, bin: &str) -> Result<PathBuf> {
        let cargo = self.cargo().args(["build", "--quiet", "--workspace", "--all-features"]);
        cargo.args(["--bin", bin]).run()?;
        Ok(self.scratch("debug").join(format!("{bin}{}", env::consts::EXE_SUFFIX)))
    }

    /// Cargo in the firmware workspace, with its builds in [`firmware_file`](Self::firmware_file).
    pub(crate) fn firmware_cargo(&self, subcommand: &str) -> Tool {
        let cargo = self.cargo().within(&self.path("firmware")).arg(subcommand);
        cargo.builds_in(&self.firmware_target())
    }

    /// Where programs for microcontrollers are built: apart from those of the host, so that both can be
    /// built at once.
    pub(crate) fn firmware_target(&self) -> PathBuf {
        self.scratch("firmware")
    }

    /// Builds a proof by linking, at this optimisation level: the release profile without LTO and
    /// debug information. Set by environment variables and not by a profile of its own, because cargo
    /// compiles procedural macros and build scripts again for every profile: these are shared with
    /// `cargo xtask bench`.
    pub(crate) fn proof_cargo(&self, level: &str) -> Tool {
        self.firmware_cargo("build")
            .args(["--quiet", "--release"])
            .quiet_env("CARGO_PROFILE_RELEASE_LTO", "false")
            .quiet_env("CARGO_PROFILE_RELEASE_DEBUG", "false")
            .env("CARGO_PROFILE_RELEASE_OPT_LEVEL", level)
    }

    /// The path of a proof that [`proof_cargo`](Self::proof_cargo) built last.
    pub(crate) fn proof_file(&self, target: &str, bin: &str) -> PathBuf {
        self.firmware_file(target, "release", bin)
    }

    /// The path of a program that [`firmware_cargo`](Self::firmware_cargo) built.
    pub(crate) fn firmware_file(&self, target: &str, profile: &str, bin: &str) -> PathBuf {
        let path = self.firmware_target().join(target);
        path.join(profile).join(bin)
    }

    /// Cargo of the installed nightly.
    pub(crate) fn nightly_cargo(&self) -> Tool {
        let tool = self.tool("rustup").args(["run", "nightly", "cargo"]).env_remove("RUSTC");
        tool.quiet_env("CARGO_INCREMENTAL", "0")
    }

    /// Any other program, run in the root of the checkout.
    pub(crate) fn tool(&self, program: &str) -> Tool {
        Tool::new(program.into(), program, self.verbose).within(&self.root)
    }

    /// A program that was built here, run in the root of the checkout.
    pub(crate) fn program(&self, file: &Path, shown: &str) -> Tool {
        Tool::new(file.into(), shown, self.verbose).within(&self.root)
    }

    /// One of the LLVM tools that come with the toolchain.
    pub(crate) fn llvm_tool(&self, name: &str) -> Result<Tool> {
        let directory = match self.llvm.get() {
            Some(directory) => directory,
            None => {
                let libraries = self.tool("rustc").args(["--print", "target-libdir"]).output()?;
                let libraries = PathBuf::from(libraries.trim());
                let directory = libraries.parent().context("no target-libdir")?.join("bin");
                self.llvm.get_or_init(|| directory)
            }
        };
        Ok(Tool::new(directory.join(name).into(), name, self.verbose))
    }

    pub(crate) fn read(&self, relative: impl AsRef<Path>) -> Result<String> {
        let path = self.path(relative);
        fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))
    }
}

/// What a tool used is said above this, to see where the time of a step goes.
const WORTH_SAYING: Duration = Duration::from_secs(5);

/// A program to run, shown before it runs.
pub(crate) struct Tool {
    command: Command,
    shown: String,
    verbose: bool,
}

impl Tool {
    fn new(program: std::ffi::OsString, shown: &str, verbose: bool) -> Self {
        let mut command = Command::new(program);
        command.stdin(Stdio::null());
        Self { command, shown: shown.to_owned(), verbose }
    }

    pub(crate) fn within(mut self, directory: &Path) -> Self {
        self.command.current_dir(directory);
        self
    }

    pub(crate) fn arg(mut self, argument: impl AsRef<OsStr>) -> Self {
        self.shown.push(' ');
        self.shown.push_str(&argument.as_ref().to_string_lossy());
        self.command.arg(argument);
        self
    }

    /// Arguments that are not printed.
    pub(crate) fn quiet_args<A: AsRef<OsStr>>(
        mut self,
        arguments: impl IntoIterator<Item = A>,
    ) -> Self {
        self.command.args(arguments);
        self
    }

    pub(crate) fn args<A: AsRef<OsStr>>(self, arguments: impl IntoIterator<Item = A>) -> Self {
        arguments.into_iter().fold(self, Self::arg)
    }

    /// Sets cargo's target directory. Must come before any `--`.
    pub(crate) fn builds_in(self, directory: &Path) -> Self {
        self.quiet_args([OsStr::new("--target-dir"), directory.as_os_str()])
    }

    pub(crate) fn env(mut self, name: &str, value: &str) -> Self {
        self.shown = format!("{name}={value} {}", self.shown);
        self.command.env(name, value);
        self
    }

    /// An environment variable that is not printed.
    pub(crate) fn quiet_env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    pub(crate) fn env_remove(mut self, name: &str) -> Self {
        self.command.env_remove(name);
        self
    }

    /// Runs it; its output is shown if it fails.
    pub(crate) fn run(mut self) -> Result<()> {
        eprintln!("    $ {}", self.shown);
        if self.verbose {
            let status = self.command.status();
            let status = status.with_context(|| format!("cannot start {}", self.shown))?;
            if !status.success() {
                bail!("`{}` ended with {status}", self.shown);
            }
            return Ok(());
        }
        let finished = self.finish()?;
        if finished.success {
            return Ok(());
        }
        print!("{}{}", finished.stdout, finished.stderr);
        bail!("`{}` ended with {}", self.shown, finished.status)
    }

    /// Runs it with its output shown live.
    pub(crate) fn show(mut self) -> Result<()> {
        eprintln!("    $ {}", self.shown);
        let status = self.command.status();
        let status = status.with_context(|| format!("cannot start {}", self.shown))?;
        if status.success() { Ok(()) } else { bail!("`{}` ended with {status}", self.shown) }
    }

    /// Runs it silently and returns what it wrote to standard output. If it fails, the error has all
    /// that it wrote: some tools say why on standard output.
    pub(crate) fn output(mut self) -> Result<String> {
        let finished = self.finish()?;
        if finished.success {
            return Ok(finished.stdout);
        }
        let (shown, status) = (&self.shown, finished.status);
        bail!("`{shown}` ended with {status}\n{}{}", finished.stdout, finished.stderr)
    }

    /// Runs it; a failure of the tool is a result, not an error.
    pub(crate) fn attempt(self) -> Result<Finished> {
        eprintln!("    $ {}", self.shown);
        self.finished()
    }

    /// The same, without a word.
    pub(crate) fn finished(mut self) -> Result<Finished> {
        self.finish()
    }

    fn finish(&mut self) -> Result<Finished> {
        let start = usage::Start::now();
        let output = self.command.output();
        let output = output.with_context(|| format!("cannot start {}", self.shown))?;
        if let Some(used) = start.usage().used.filter(|used| *used > WORTH_SAYING) {
            eprintln!("      {:.0} CPU seconds", used.as_secs_f64());
        }
        Ok(Finished {
            success: output.status.success(),
            status: output.status.to_string(),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        })
    }
}

/// The result of a tool.
pub(crate) struct Finished {
    pub(crate) success: bool,
    pub(crate) status: String,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_tool_that_fails_is_quoted() {
        let tool = |script| Tool::new("sh".into(), "sh", false).args(["-c", script]);
        assert_eq!(tool("echo fine; echo aside >&2").output().unwrap(), "fine\n");
        let error = tool("echo FAIL why; echo aside >&2; exit 1").output().unwrap_err().to_string();
        assert!(error.contains("\nFAIL why\naside\n"), "{error}");
    }
}
