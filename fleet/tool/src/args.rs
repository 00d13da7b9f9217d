//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

/// Which device of a fleet is odd, and did the fleet move: by the maximum mean discrepancy (MMD) of the
/// devices' readings, in SQL, on one machine or a cluster.
#[derive(Parser)]
#[command(name = "fastmmd-fleet", version)]
pub(crate) struct Tool {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Run SQL over files, with the functions of fastmmd
    Query(Query),
    /// Rank devices against their peers; exit code 1 if one is odd
    Odd(Odd),
    /// Did groups of devices move from one time to another; exit code 1 if one did
    Moved(Moved),
    /// Lay devices out on a plane, as far apart as they differ: a picture
    Map(Map),
    /// Write a folder of saved device states (reference.bin) as a Parquet file
    Ingest(Ingest),
    /// Write a made-up fleet, to try the other commands
    Generate(Generate),
}

/// Where queries run.
#[derive(Args)]
pub(crate) struct Engine {
    /// Partitions that are computed at a time [default: one for each processor]
    #[arg(long, value_name = "COUNT")]
    pub(crate) partitions: Option<usize>,
    /// Run on a Ballista cluster; only in the program fastmmd-fleet-cluster
    #[arg(long, value_name = "URL")]
    pub(crate) ballista: Option<String>,
}

#[derive(Args)]
pub(crate) struct Query {
    /// The query
    pub(crate) sql: String,
    /// A table: its name, and a Parquet or CSV file or a folder of them; may be given several times
    #[arg(long, value_name = "NAME=PATH")]
    pub(crate) table: Vec<String>,
    /// Print a JSON object for each row
    #[arg(long)]
    pub(crate) json: bool,
    /// Write the result to this Parquet file instead
    #[arg(long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) engine: Engine,
}

/// What the devices are, and what of them is compared.
#[derive(Args)]
pub(crate) struct Telemetry {
    /// A Parquet or CSV file, or a folder of them: rows of all devices, or their states
    pub(crate) path: PathBuf,
    /// The column that names the device
    #[arg(long, default_value = "device")]
    pub(crate) device: String,
    /// The columns of readings [default: all of floating point, without those of times and those that a
    /// condition names]
    #[arg(long, value_delimiter = ',', value_name = "COLUMNS")]
    pub(crate) channels: Vec<String>,
    /// The column of saved states, as ingest writes them, instead of readings
    #[arg(long, value_name = "COLUMN", conflicts_with_all = ["channels", "map"])]
    pub(crate) state: Option<String>,
    /// Add up several states of one device; else they are refused, as two devices of one name may be
    #[arg(long, requires = "state")]
    pub(crate) merge: bool,
    /// Compare devices only with those that have the same value in this column, as a site. Groups of 20
    /// devices and more may scatter more or less than others; smaller ones are taken to scatter as most do
    #[arg(long, value_name = "COLUMN")]
    pub(crate) by: Option<String>,
    /// Only rows for which this SQL condition holds
    #[arg(long = "where", value_name = "SQL")]
    pub(crate) condition: Option<String>,
    /// The words of the map, as "frequencies=128 bandwidth=0.5"; levels and deviations that are not
    /// given are medians over the devices
    #[arg(long, default_value = "", hide_default_value = true, value_name = "WORDS")]
    pub(crate) map: String,
    /// Rows with a reading that is not a number: refuse them, or skip and count them
    #[arg(long, default_value = "refuse", value_parser = ["refuse", "skip"])]
    pub(crate) not_a_number: String,
    /// The false-discovery rate: the part of wrong entries among all that are listed
    #[arg(long, default_value_t = 0.05, value_name = "RATE", value_parser = rate)]
    pub(crate) level: f64,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Write a page of HTML
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) engine: Engine,
}

#[derive(Args)]
pub(crate) struct Odd {
    #[command(flatten)]
    pub(crate) telemetry: Telemetry,
    /// List every device, not only odd ones
    #[arg(long)]
    pub(crate) all: bool,
}

#[derive(Args)]
pub(crate) struct Moved {
    #[command(flatten)]
    pub(crate) telemetry: Telemetry,
    /// The rows of the earlier time, as an SQL condition
    #[arg(long, value_name = "SQL")]
    pub(crate) before: String,
    /// The rows of the later time
    #[arg(long, value_name = "SQL")]
    pub(crate) after: String,
}

#[derive(Args)]
pub(crate) struct Map {
    #[command(flatten)]
    pub(crate) telemetry: Telemetry,
    /// The picture, as SVG
    #[arg(long, default_value = "fleet.svg", value_name = "FILE")]
    pub(crate) picture: PathBuf,
}

#[derive(Args)]
pub(crate) struct Ingest {
    /// A folder of states: each file is a device, named as the file without its ending; folders in it
    /// become the column folder
    pub(crate) folder: PathBuf,
    /// The Parquet file to write
    pub(crate) output: PathBuf,
    /// Leave out files that cannot be read, or are of another map than the first, and name them
    #[arg(long)]
    pub(crate) skip: bool,
}

#[derive(Args)]
pub(crate) struct Generate {
    /// The folder to write Parquet files to
    pub(crate) folder: PathBuf,
    /// Devices
    #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    pub(crate) devices: u32,
    /// Rows of each device, the second half of them in week 2
    #[arg(long, default_value_t = 1000, value_parser = clap::value_parser!(u32).range(2..=10_000_000))]
    pub(crate) rows: u32,
    /// Odd devices among them
    #[arg(long, default_value_t = 50)]
    pub(crate) odd: u32,
    /// Devices in a thousand that have other firmware in week 2
    #[arg(long, default_value_t = 0)]
    pub(crate) moved: u32,
    /// The seed of it all
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
}

fn rate(text: &str) -> Result<f64, String> {
    let rate: f64 = text.parse().map_err(|_| "not a number".to_owned())?;
    if rate > 0.0 && rate < 1.0 { Ok(rate) } else { Err("must be between 0 and 1".to_owned()) }
}
