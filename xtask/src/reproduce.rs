//! Runs the program `reproduce` of host-tests/evaluation: the literature's figures.

use std::path::{PathBuf, absolute};

use anyhow::Result;

use crate::outcome::Outcome;
use crate::project::Project;

/// Options of `cargo xtask reproduce`.
#[derive(clap::Args, Default)]
pub(crate) struct Arguments {
    /// Fewer trials and samples, in seconds instead of minutes.
    #[arg(long)]
    quick: bool,
    /// Directory of the report and its plots (default: target/reproduce).
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Only the part of this name; may be given several times.
    #[arg(long, value_name = "NAME")]
    part: Vec<String>,
}

impl Arguments {
    pub(crate) fn quick() -> Self {
        Self { quick: true, ..Self::default() }
    }
}

pub(crate) fn run(project: &Project, arguments: &Arguments) -> Result<Outcome> {
    // With --quick, running it takes less time than building its dependencies optimised.
    let mut tool = if arguments.quick {
        project.program(&project.host_program("reproduce")?, "reproduce")
    } else {
        let cargo = project.cargo().args(["run", "--quiet", "--release"]);
        cargo.args(["--package=fastmmd-evaluation", "--bin=reproduce", "--"])
    };
    let out = match &arguments.out {
        Some(out) => absolute(out)?,
        None => project.scratch("reproduce"),
    };
    tool = tool.arg("--out").arg(out).args(arguments.quick.then_some("--quick"));
    for name in &arguments.part {
        tool = tool.args(["--part", name]);
    }
    tool.run()?;
    Ok(Outcome::Passed)
}
