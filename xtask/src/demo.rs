//! The demo: a healthy sensor, then a drift, on the emulated board.

use std::path::PathBuf;

use anyhow::Result;

use crate::boards::EMULATED;
use crate::outcome::Outcome;
use crate::project::Project;
use crate::{firmware, setup};

/// Options of `cargo xtask demo`.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Write all samples and reports to this file, as CSV.
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    /// Seed of the sensor's noise. With some seeds there is a false alarm, at the stated rate.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
}

impl Default for Arguments {
    fn default() -> Self {
        Self { record: None, seed: 1 }
    }
}

pub(crate) fn run(project: &Project, arguments: &Arguments) -> Result<Outcome> {
    setup::targets(project, &[EMULATED.target])?;
    setup::qemu(project)?;
    firmware::build(project, &EMULATED, "release")?;
    let mut harness = firmware::harness(project, "demo", "release");
    harness = harness.args(["--seed", &arguments.seed.to_string()]);
    if let Some(record) = &arguments.record {
        harness = harness.arg("--record").arg(std::path::absolute(record)?);
    }
    harness.show()?;
    Ok(Outcome::Passed)
}
