//! The library for C: built, tested and packaged.

mod build;
mod check;
mod package;

pub(crate) use check::in_rust;

use anyhow::Result;

use crate::outcome::{Failures, Outcome};
use crate::project::{Project, Tool};
use crate::setup;

/// Options of `cargo xtask capi`.
#[derive(clap::Args, Default)]
pub(crate) struct Arguments {
    /// Write capi/include/fastmmd.h, to be reviewed with git diff.
    #[arg(long)]
    overwrite: bool,
}

/// The header, made by cbindgen and kept in git.
const HEADER: &str = "capi/include/fastmmd.h";

/// What the library is built for, besides the host.
const TARGETS: [&str; 5] = [
    "thumbv6m-none-eabi",
    "thumbv7m-none-eabi",
    "thumbv7em-none-eabihf",
    "thumbv8m.main-none-eabihf",
    "riscv32imc-unknown-none-elf",
];

/// Compilers and tools for C, and the packages of Debian that have them.
const PROGRAMS: [(&str, &str); 4] = [
    ("arm-none-eabi-gcc", "gcc-arm-none-eabi"),
    ("cmake", "cmake"),
    ("g++", "g++"),
    ("make", "make"),
];

/// Cargo in the library's workspace.
pub(crate) fn cargo(project: &Project, subcommand: &str) -> Tool {
    let cargo = project.cargo().within(&project.path("capi")).arg(subcommand);
    cargo.builds_in(&project.scratch(""))
}

pub(crate) fn run(project: &Project, arguments: &Arguments) -> Result<Outcome> {
    setup::targets(project, &TARGETS)?;
    setup::component(project, None, "llvm-tools")?;
    setup::qemu(project)?;
    setup::programs(project, &PROGRAMS)?;
    let mut failures = Failures::default();
    failures.note("the header is that of the sources", build::header(project, arguments.overwrite));
    let libraries = build::libraries(project)?;
    check::run(project, &libraries, &mut failures)?;
    package::run(project, &libraries, &mut failures)?;
    failures.finish()
}
