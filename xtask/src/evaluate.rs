//! Runs the program `evaluate` of host-tests/evaluation: how well the detector performs.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::outcome::Outcome;
use crate::project::Project;

/// Options of `cargo xtask evaluate`.
#[derive(clap::Args, Default)]
pub(crate) struct Arguments {
    /// A checkout of the public repository numenta/NAB.
    #[arg(long, value_name = "DIR")]
    nab: Option<PathBuf>,
    /// A checkout of the public repository waico/SKAB.
    #[arg(long, value_name = "DIR")]
    skab: Option<PathBuf>,
    /// Recordings of servers: a directory of CSV files with a column `label`.
    #[arg(long, value_name = "DIR")]
    servers: Option<PathBuf>,
    /// Run a part of the simulations, in seconds instead of minutes.
    #[arg(long)]
    quick: bool,
    /// Another seed than that of the tables, to see whether the bounds hold for it too.
    #[arg(long, value_name = "N", default_value_t = 0, conflicts_with = "overwrite")]
    seed: usize,
    /// Only the section of this name; may be given several times.
    #[arg(long, value_name = "NAME")]
    section: Vec<String>,
    /// Write the results to host-tests/evaluation/tables, to be reviewed with git diff.
    #[arg(long)]
    overwrite: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Outcome> {
    // Its tables and its progress are the output of this command, so they are always shown.
    let project = Project::find(true);
    let mut tool = project.cargo().args(["run", "--quiet", "--release"]);
    tool = tool.args(["--package=fastmmd-evaluation", "--bin=evaluate", "--"]);
    let recordings =
        [("--nab", &arguments.nab), ("--skab", &arguments.skab), ("--servers", &arguments.servers)];
    for (option, directory) in recordings {
        if let Some(directory) = directory {
            tool = tool.arg(option).arg(existing(directory)?);
        }
    }
    for name in &arguments.section {
        tool = tool.args(["--section", name]);
    }
    tool = tool.arg("--seed").arg(arguments.seed.to_string());
    tool = tool.args(arguments.quick.then_some("--quick"));
    tool = tool.args(arguments.overwrite.then_some("--overwrite"));
    tool.run()?;
    Ok(Outcome::Passed)
}

/// The directory as seen from the root of the project, where the program runs.
fn existing(directory: &Path) -> Result<PathBuf> {
    let found = directory.canonicalize();
    let found = found.with_context(|| format!("no directory {}", directory.display()))?;
    if !found.is_dir() {
        bail!("{} is not a directory", directory.display());
    }
    Ok(found)
}
