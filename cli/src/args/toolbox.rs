//! The options of the toolbox: `independence`, `select`, `reweight` and `nystrom`.

use std::path::PathBuf;

use clap::Args;

use super::{Columns, Missing, picture, positive, probability, whole_rows};
use crate::options::{Names, names};

/// Which rows of a file the commands of the toolbox use.
#[derive(Args)]
pub(crate) struct WholeRows {
    #[command(flatten)]
    pub(crate) columns: Columns,
    /// What to do with rows that have an empty cell, NaN or infinity.
    #[arg(long, value_parser = whole_rows(), default_value = "error")]
    pub(crate) missing: Missing,
}

/// How they show what they found.
#[derive(Args)]
pub(crate) struct Shown {
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
    /// Draw it.
    #[arg(long, value_name = "FILE.svg|.png", value_parser = picture)]
    pub(crate) plot: Option<PathBuf>,
}

#[derive(Args)]
pub(crate) struct IndependenceArguments {
    /// The log, as CSV.
    pub(crate) log: PathBuf,
    /// Columns of the first group, by name or number from 1 of those used.
    #[arg(long, value_parser = names, value_name = "A,B", required = true)]
    pub(crate) first: Names,
    /// Columns of the second group [default: all others].
    #[arg(long, value_parser = names, value_name = "C,D")]
    pub(crate) second: Option<Names>,
    #[command(flatten)]
    pub(crate) rows: WholeRows,
    #[command(flatten)]
    pub(crate) chance: Chance,
    #[command(flatten)]
    pub(crate) shown: Shown,
}

/// How a test is decided.
#[derive(Args)]
pub(crate) struct Chance {
    /// Level of the test.
    #[arg(long, default_value_t = 0.05, value_parser = probability, allow_negative_numbers = true)]
    pub(crate) alpha: f64,
    /// Seed of shuffles and of what is chosen.
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
}

#[derive(Args)]
pub(crate) struct SelectArguments {
    /// The log, as CSV.
    pub(crate) log: PathBuf,
    /// Column that the others should predict, by name or number from 1 of those used.
    #[arg(long, value_name = "COLUMN")]
    pub(crate) label: String,
    #[command(flatten)]
    pub(crate) rows: WholeRows,
    #[command(flatten)]
    pub(crate) shown: Shown,
}

#[derive(Args)]
pub(crate) struct ReweightArguments {
    /// The rows to weight, as CSV.
    pub(crate) log: PathBuf,
    /// The rows that they should look like, with the same columns.
    pub(crate) target: PathBuf,
    #[command(flatten)]
    pub(crate) rows: WholeRows,
    /// File for the weights, which are 1 on average: a header, then one weight per line.
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// How much even weights are preferred: λ of the penalty λ‖β‖².
    #[arg(long, default_value_t = 0.001, value_parser = positive, allow_negative_numbers = true)]
    pub(crate) ridge: f64,
    #[command(flatten)]
    pub(crate) shown: Shown,
}

#[derive(Args)]
pub(crate) struct NystromArguments {
    /// One sample, as CSV.
    pub(crate) x: PathBuf,
    /// The other sample, with the same columns.
    pub(crate) y: PathBuf,
    #[command(flatten)]
    pub(crate) rows: WholeRows,
    /// Number of landmarks, drawn from the rows of both files.
    #[arg(long, default_value_t = 32)]
    pub(crate) landmarks: usize,
    #[command(flatten)]
    pub(crate) chance: Chance,
    #[command(flatten)]
    pub(crate) shown: Shown,
}
