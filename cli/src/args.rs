//! The command line.

mod toolbox;

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum as _};
use fastmmd::{MapKind, Profile, Sampling};
use fastmmd_tune::null::Method;

pub(crate) use self::toolbox::{
    IndependenceArguments, NystromArguments, ReweightArguments, SelectArguments, WholeRows,
};
use crate::choice;
use crate::options::positive;
pub(crate) use crate::options::{Columns, Missing, Watching};
use crate::time::Span;

const BEGIN: &str = if cfg!(feature = "parquet") {
    "Begin with `fastmmd demo`, then `fastmmd look YOUR.csv`.\n\n\
     Logs are CSV of any separator or JSON lines, also packed by gzip or zstd, or Parquet."
} else {
    "Begin with `fastmmd demo`, then `fastmmd look YOUR.csv`.\n\n\
     Logs are CSV of any separator or JSON lines, also packed by gzip or zstd."
};

/// Drift detection in logs, with the detector that runs on the device.
///
/// Try it on your own log, choose settings, and copy the learned state to the device.
///
/// Exit codes: 0 healthy or done, 1 drift or a difference found, 2 an error, with one line on
/// standard error.
#[derive(Parser)]
#[command(
    name = "fastmmd",
    version,
    max_term_width = 100,
    after_help = BEGIN
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Test whether two files are samples of one distribution.
    #[command(after_help = "Example: fastmmd test before.csv after.csv --standardise\n\n\
        Values are used as they are: for channels in different units, give --standardise. It says\n\
        how much rows depend on earlier ones, and how many independent rows they are worth; where\n\
        they do, whole blocks of rows are shuffled. Where files differ, so do the channels listed,\n\
        each by its own test, whose p-values are multiplied by their number.")]
    Test(TestArguments),
    /// Show what a log is: how it is written, its time, columns, cycle, and where it changes.
    #[command(after_help = "Example: fastmmd look pump.csv\n\n\
        Nothing is guessed silently: every command reads a log as this one shows it, with the same\n\
        options to read it otherwise. The last line is a command to go on with.")]
    Look(LookArguments),
    /// Run the detector over a log as the device would.
    #[command(after_help = "Examples:\n  \
        fastmmd replay pump.csv --learn 400 --plot pump.svg --report pump.html\n  \
        fastmmd replay vibration.csv --rate 100 --learn 10min --mean-time-between-false-alarms 1d\n  \
        fastmmd replay room.csv --learn 14d --period 1d\n  \
        logger | fastmmd replay - --json\n  \
        fastmmd replay monday.csv tuesday.csv.gz --learn 400\n\n\
        The exit code is 1 on drift, 0 if not, 2 on an error. It is drift if something still differs\n\
        at the end, or if there were more alarms than the promise explains. In a log shorter than the\n\
        mean time between false alarms that is any alarm. In a longer one false alarms are to be\n\
        expected: there it is more than their number n promised, plus 3√n + 1.")]
    Replay(ReplayArguments),
    /// Find the cycle of a log, suggest settings, and try them on changes injected into it.
    #[command(after_help = "Example: fastmmd tune pump.csv --healthy 8000 --save pump.toml\n\n\
        The log, or its part up to --healthy, must be healthy: changes are injected into it.")]
    Tune(TuneArguments),
    /// Learn from a log and write the detector as the device saves it.
    #[command(after_help = "Examples:\n  \
        fastmmd export healthy.csv -o reference.bin\n  \
        fastmmd export other.csv --scale-from reference.bin -o other.bin   (to compare or merge)")]
    Export(ExportArguments),
    /// Explain a saved map, embedding, two-sample statistic, detector or coupling monitor.
    #[command(after_help = "Example: fastmmd inspect reference.bin")]
    Inspect {
        /// The file, as `save` on the device or `fastmmd export` wrote it.
        file: PathBuf,
        /// Print one JSON object.
        #[arg(long)]
        json: bool,
    },
    /// Talk to a board: what it is, how it stands, its state.
    #[command(after_help = "Example: fastmmd device /dev/ttyACM0 push reference.bin\n\n\
        PORT is a serial port (115 200 baud), unix:PATH or tcp:HOST:PORT.")]
    Device {
        /// The board's line.
        port: String,
        /// Print one JSON object per line.
        #[arg(long)]
        json: bool,
        /// File with the board's key, 64 hexadecimal digits: boards that have one execute only commands
        /// that are sealed with it.
        #[arg(long, value_name = "FILE")]
        key: Option<PathBuf>,
        /// What to do.
        #[command(subcommand)]
        action: crate::device::Action,
    },
    /// Merge the references that several devices learned into one.
    #[command(after_help = "Example: fastmmd merge a.bin b.bin c.bin -o all.bin\n\n\
        Devices must share one scale (level and deviation of each channel):\n  \
        fastmmd export LOG --scale-from a.bin -o b.bin")]
    Merge {
        /// Saved detectors with the same scale and shape.
        #[arg(required = true, num_args = 2..)]
        files: Vec<PathBuf>,
        /// File for the merged detector.
        #[arg(long, short, value_name = "FILE")]
        output: PathBuf,
    },
    /// Test whether two devices learned different references.
    #[command(after_help = "Example: fastmmd compare a.bin b.bin\n\n\
        Devices must share one scale (level and deviation of each channel):\n  \
        fastmmd export LOG --scale-from a.bin -o b.bin\n\
        The exit code is 1 if they differ, at the level of --alpha.")]
    Compare {
        /// A saved detector.
        first: PathBuf,
        /// Another of the same shape.
        second: PathBuf,
        /// Level of the test: how often equal devices may be said to differ.
        #[arg(long, default_value_t = 0.01, value_parser = probability, allow_negative_numbers = true)]
        alpha: f64,
        /// Print one JSON object.
        #[arg(long)]
        json: bool,
    },
    /// Toolbox: test whether two groups of columns depend on each other.
    #[command(
        after_help = "Example: fastmmd independence pump.csv --first vibration --second current,temperature\n\n\
        The Hilbert-Schmidt independence criterion (HSIC) finds dependence of any form, also where\n\
        the correlation is 0. The dependence is from 0, none, to 1; p is how often rows that are\n\
        shuffled depend as much. Each pair of columns is listed with its own dependence, and --plot\n\
        draws them. Where rows depend on earlier ones, blocks of rows are shuffled, and that is said.\n\
        The exit code is 1 if the groups depend on each other."
    )]
    Independence(IndependenceArguments),
    /// Toolbox: rank the columns of a file by how well they predict one of them.
    #[command(after_help = "Example: fastmmd select pump.csv --label fault --plot columns.svg\n\n\
        Columns are given up one after the other, always the one whose loss costs the least\n\
        dependence between the others and the label; the last to go comes first. Two columns that\n\
        only tell the label together are found, though each alone has a dependence near 0.")]
    Select(SelectArguments),
    /// Toolbox: find weights that make the rows of one file look like those of another.
    #[command(after_help = "Example: fastmmd reweight laboratory.csv field.csv -o weights.csv\n\n\
        Use the weights for whatever is measured on the first file but meant for conditions as in\n\
        the second (covariate shift): a mean with them is an estimate of the mean there. They are\n\
        at least 0 and 1 on average, as a weighted embedding on a device takes them. `worth` says how\n\
        many rows of equal weight would be as certain: if it is small, few rows of the first file look\n\
        like the second, and weights cannot help. Raise --ridge for more even weights.")]
    Reweight(ReweightArguments),
    /// Toolbox: test whether two files differ, by a few of their rows as landmarks.
    #[command(after_help = "Example: fastmmd nystrom before.csv after.csv --landmarks 64\n\n\
        Rows are described by their similarity to a few rows, the landmarks. --plot shows squared\n\
        MMD as landmarks are added: if it still grows at the end, give more. `fastmmd test` does the\n\
        same by random frequencies; landmarks need fewer features where rows form a few groups.\n\
        Where rows depend on earlier ones, blocks of rows are shuffled, and that is said. The exit\n\
        code is 1 if the files differ.")]
    Nystrom(NystromArguments),
    /// Print completions for a shell, to be put where it looks for them.
    #[command(
        after_help = "Example: fastmmd completions bash > ~/.local/share/bash-completion/completions/fastmmd"
    )]
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
    /// Print the manual, or that of a command, for `man`.
    #[command(after_help = "Example: fastmmd man > fastmmd.1; fastmmd man replay | man -l -")]
    Man {
        /// The command.
        command: Option<String>,
    },
    /// Show a drift in a synthetic log; needs no file.
    #[command(after_help = "Example: fastmmd demo --plot drift.svg --csv drift.csv\n\n\
        The exit code is 1: there is drift in it.")]
    Demo {
        /// Draw signals, drifts, and the statistic nearest to its threshold.
        #[arg(long, value_name = "FILE.svg|.png", value_parser = picture)]
        plot: Option<PathBuf>,
        /// Also write the log, to try the other commands on it.
        #[arg(long, value_name = "FILE")]
        csv: Option<PathBuf>,
        /// Print JSON, one object a line.
        #[arg(long)]
        json: bool,
    },
}

/// A bandwidth.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Sigma {
    Number(f64),
    Median,
    Family,
}

impl std::str::FromStr for Sigma {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "median" => Ok(Self::Median),
            "family" => Ok(Self::Family),
            _ => positive(text)
                .map(Self::Number)
                .map_err(|_| "a number above 0, or one of the words median and family".to_owned()),
        }
    }
}

#[derive(Args)]
pub(crate) struct LookArguments {
    /// The log; `-` is standard input.
    pub(crate) log: PathBuf,
    #[command(flatten)]
    pub(crate) columns: Columns,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args)]
pub(crate) struct ReplayArguments {
    /// The log; `-` is standard input. Of several, each is learned from and watched by itself, and a
    /// table tells of all.
    #[arg(required = true, value_name = "LOG")]
    pub(crate) logs: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) columns: Columns,
    #[command(flatten)]
    pub(crate) watching: Watching,
    /// Continue from this saved detector, with its settings, and save it again at the end. If the
    /// file does not exist, learn. A log too short to learn from is then not an error: the next log
    /// continues where it ended. Every row of a log counts as new: give each log once.
    #[arg(long, value_name = "FILE")]
    pub(crate) state: Option<PathBuf>,
    /// Print JSON, one object a line.
    #[arg(long)]
    pub(crate) json: bool,
    /// Print nothing: the exit code tells.
    #[arg(long, short, conflicts_with = "json")]
    pub(crate) quiet: bool,
    /// Draw signals, drifts, and the statistic nearest to its threshold.
    #[arg(long, value_name = "FILE.svg|.png", value_parser = picture)]
    pub(crate) plot: Option<PathBuf>,
    /// Write a page for a browser, with plots to zoom into and a table of alarms: one file that needs
    /// no other.
    #[arg(long, value_name = "FILE.html", value_parser = hypertext)]
    pub(crate) report: Option<PathBuf>,
    /// Write the statistic nearest to its threshold at every row, as CSV.
    #[arg(long, value_name = "FILE.csv")]
    pub(crate) trace: Option<PathBuf>,
    /// At the end of the file, wait for more rows until interrupted; if it is rotated, go on with the
    /// new one. Standard input is always followed.
    #[arg(long, conflicts_with_all = ["plot", "report"])]
    pub(crate) follow: bool,
}

#[derive(Args)]
pub(crate) struct TuneArguments {
    /// The log, as CSV.
    pub(crate) log: PathBuf,
    #[command(flatten)]
    pub(crate) columns: Columns,
    /// Length of the healthy part at the start, in rows or as a time [default: the whole log].
    #[arg(long, value_name = "N|TIME", allow_negative_numbers = true)]
    pub(crate) healthy: Option<Span>,
    #[command(flatten)]
    pub(crate) watching: Watching,
    /// Delay within which a change must be found, in rows or as a time [default: a third of the
    /// rows after learning, at most 1000].
    #[arg(long, value_name = "N|TIME", allow_negative_numbers = true)]
    pub(crate) within: Option<Span>,
    /// Limit for the RAM of the detector, in bytes.
    #[arg(long, value_name = "BYTES")]
    pub(crate) ram: Option<usize>,
    /// Save the suggested settings, for `replay --settings` and `export --settings`.
    #[arg(long, value_name = "FILE.toml")]
    pub(crate) save: Option<PathBuf>,
    /// Print JSON, one object a line.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args)]
pub(crate) struct ExportArguments {
    /// The log, as CSV; `-` is standard input. Rows after the learning rows are only used to check
    /// whether the log is healthy.
    pub(crate) log: PathBuf,
    /// File for the detector.
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: PathBuf,
    #[command(flatten)]
    pub(crate) columns: Columns,
    #[command(flatten)]
    pub(crate) watching: Watching,
    /// Learn with the scale (level and deviation of each channel) and the settings of this saved
    /// detector, so that references can be compared and merged.
    #[arg(long, value_name = "FILE")]
    pub(crate) scale_from: Option<PathBuf>,
}

#[derive(Args)]
pub(crate) struct TestArguments {
    /// One sample, as CSV.
    pub(crate) x: PathBuf,
    /// The other sample, with the same columns.
    pub(crate) y: PathBuf,
    #[command(flatten)]
    pub(crate) columns: Columns,
    /// What to do with rows that have an empty cell, NaN or infinity.
    #[arg(long, value_parser = whole_rows(), default_value = "error")]
    pub(crate) missing: Missing,
    /// Bandwidth of the kernel in units of the values; or `median`: the median distance of rows; or
    /// `family`: several around that, with the smallest p-value times their number.
    #[arg(
        long,
        default_value = "median",
        value_name = "NUMBER|median|family",
        allow_negative_numbers = true
    )]
    pub(crate) sigma: Sigma,
    /// The kernel.
    #[arg(long, value_parser = choice::parser::<Profile>(), default_value = Profile::default().name())]
    pub(crate) kernel: Profile,
    /// The feature map.
    #[arg(long, value_parser = choice::parser::<MapKind>(), default_value = MapKind::Fourier.name())]
    pub(crate) map: MapKind,
    /// How the frequencies of a fourier map are drawn.
    #[arg(
        long,
        value_parser = choice::parser::<Sampling>(),
        default_value = Sampling::default().name()
    )]
    pub(crate) sampling: Sampling,
    /// Frequencies L: the error of MMD² falls as 1/√L.
    #[arg(long, value_name = "L", default_value_t = 256)]
    pub(crate) features: usize,
    /// Seed of the frequencies and of resampling.
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// Level of the test: how often equal distributions may be said to differ.
    #[arg(long, default_value_t = 0.05, value_parser = probability, allow_negative_numbers = true)]
    pub(crate) alpha: f64,
    /// How to find the distribution of the statistic for equal distributions [default: gamma, or
    /// blocks where rows depend on earlier ones].
    #[arg(long, value_parser = choice::parser::<Method>())]
    pub(crate) null: Option<Method>,
    /// First divide each channel by its standard deviation over both files.
    #[arg(long)]
    pub(crate) standardise: bool,
    /// Also compute the exact value over all pairs; the time grows with the square of the rows.
    #[arg(long)]
    pub(crate) exact: bool,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

/// The two meanings of a missing value that leave rows whole.
fn whole_rows() -> impl TypedValueParser<Value = Missing> {
    let values = [Missing::Skip, Missing::Error].map(|missing| missing.to_possible_value());
    let found = |name: String| Missing::from_str(&name, false);
    PossibleValuesParser::new(values.into_iter().flatten()).try_map(found)
}

fn probability(text: &str) -> Result<f64, String> {
    positive(text).and_then(
        |alpha| {
            if alpha < 1.0 { Ok(alpha) } else { Err("between 0 and 1".to_owned()) }
        },
    )
}

fn hypertext(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    let is = path.extension().is_some_and(|extension| extension == "html");
    if is { Ok(path) } else { Err("the name must end in .html".to_owned()) }
}

fn picture(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("svg" | "png") => Ok(path),
        _ => Err("the name must end in .svg or .png".to_owned()),
    }
}
