//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::time::Span;

/// Finds drift in logs with the detector that runs on the device.
///
/// Try it on your own log, choose settings, and ship what it learned to the device.
///
/// Exit codes: 0 healthy or done, 1 drift found or a difference, 2 an error, told in one line on
/// standard error.
#[derive(Parser)]
#[command(
    name = "fastmmd",
    version,
    max_term_width = 100,
    after_help = "Begin with `fastmmd demo`, then `fastmmd replay YOUR.csv --plot drift.svg`."
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Test whether two files are samples of one distribution.
    #[command(after_help = "Example: fastmmd test before.csv after.csv --null permutation\n\n\
        Values are taken as they are: for channels in different units, scale them first or give\n\
        --standardise. The rows are taken to be independent; for rows of a slow signal, take\n\
        every n-th.")]
    Test(TestArguments),
    /// Run the detector over a log as the device would.
    #[command(after_help = "Examples:\n  \
        fastmmd replay pump.csv --learn 400 --plot pump.svg\n  \
        fastmmd replay vibration.csv --rate 100 --learn 10min --mean-time-between-false-alarms 7d\n  \
        logger | fastmmd replay - --json\n\n\
        The exit code is 1 if there was an alarm, 0 if not.")]
    Replay(ReplayArguments),
    /// Suggest bandwidth, frequencies, lags and scales for a log.
    #[command(after_help = "Example: fastmmd tune pump.csv --learn 400 --within 60\n\n\
        The log, or its part up to --healthy, must be healthy: changes are injected into it.")]
    Tune(TuneArguments),
    /// Learn from a log and write the detector as the device keeps it.
    #[command(after_help = "Examples:\n  \
        fastmmd export healthy.csv -o reference.bin\n  \
        fastmmd export other.csv --scale-from reference.bin -o other.bin   (to compare or merge)")]
    Export(ExportArguments),
    /// Explain a saved map, embedding, pair of streams, detector or monitor of couplings.
    #[command(after_help = "Example: fastmmd inspect reference.bin")]
    Inspect {
        /// The file, as `save` on the device or `fastmmd export` wrote it.
        file: PathBuf,
        /// Print one JSON object.
        #[arg(long)]
        json: bool,
    },
    /// Join what several devices learned into one reference.
    #[command(after_help = "Example: fastmmd merge a.bin b.bin c.bin -o all.bin\n\n\
        Devices must have learned by one scale: fastmmd export LOG --scale-from a.bin -o b.bin")]
    Merge {
        /// Saved detectors of one scale and shape.
        #[arg(required = true, num_args = 2..)]
        files: Vec<PathBuf>,
        /// Where to write the joined detector.
        #[arg(long, short, value_name = "FILE")]
        output: PathBuf,
    },
    /// Say how different what two devices learned is.
    #[command(after_help = "Example: fastmmd compare a.bin b.bin\n\n\
        Devices must have learned by one scale: fastmmd export LOG --scale-from a.bin -o b.bin\n\
        Level and spread show only in raw values or vectors: export with --view raw for them.\n\
        The exit code is 1 if they differ, at the level of --alpha.")]
    Compare {
        /// A saved detector.
        first: PathBuf,
        /// Another of the same shape.
        second: PathBuf,
        /// Level of the test: how often devices that are alike may be said to differ.
        #[arg(long, default_value_t = 0.01, value_parser = probability, allow_negative_numbers = true)]
        alpha: f64,
        /// Print one JSON object.
        #[arg(long)]
        json: bool,
    },
    /// Show a drift in a made-up log; needs no file.
    #[command(after_help = "Example: fastmmd demo --plot drift.svg --csv drift.csv\n\n\
        The exit code is 1: there is drift in it.")]
    Demo {
        /// Draw the log and what the detector says of it.
        #[arg(long, value_name = "FILE.svg|.png", value_parser = picture)]
        plot: Option<PathBuf>,
        /// Write the log as well, to try the other commands on.
        #[arg(long, value_name = "FILE")]
        csv: Option<PathBuf>,
        /// Print JSON, one object a line.
        #[arg(long)]
        json: bool,
    },
}

/// Which columns of a log, and what of missing values.
#[derive(Args, Debug, Clone)]
pub(crate) struct Columns {
    /// Columns to watch, by name or number from 1 [default: all but the time].
    #[arg(long, value_delimiter = ',', value_name = "A,B")]
    pub(crate) columns: Option<Vec<String>>,
    /// Column that holds the time: dates and times, or numbers in seconds or in the unit of its
    /// name, as in `time (ms)` [default: one named so, or a first one of dates].
    #[arg(long, value_name = "COLUMN")]
    pub(crate) time: Option<String>,
    /// What to do with rows that have an empty cell, NaN or infinity.
    #[arg(long, value_enum, default_value_t = Missing::Error)]
    pub(crate) missing: Missing,
}

#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Missing {
    /// Leave them out.
    Skip,
    /// Stop, naming row and column.
    Error,
}

/// The detector.
#[derive(Args, Debug, Clone)]
pub(crate) struct Watching {
    /// Rows or time to learn from, scaling included [default: 15 % of a file, from 768 rows, or
    /// three quarters of it, up to 4196 rows; 4196 rows of standard input; 4352 for raw values].
    #[arg(long, value_name = "N|TIME", allow_negative_numbers = true)]
    pub(crate) learn: Option<Span>,
    /// Rows a second, for times [default: from the time column].
    #[arg(long, value_name = "HZ", value_parser = positive, allow_negative_numbers = true)]
    pub(crate) rate: Option<f64>,
    /// What to look at: values, vectors of the last K values, or what a channel does beyond what
    /// its past predicts; `auto` is innovation, or delay where --lags says so.
    #[arg(long, value_enum, default_value_t = ViewChoice::Auto)]
    pub(crate) view: ViewChoice,
    /// The promise: mean time between false alarms, in rows or as a time.
    #[arg(long, alias = "mtbfa", value_name = "N|TIME", default_value = "10000")]
    pub(crate) mean_time_between_false_alarms: Span,
    /// Window lengths in rows, ascending, as many as you like [default: 4,16,64 and for raw values
    /// also 256].
    #[arg(long, value_delimiter = ',', value_name = "ROWS,…")]
    pub(crate) scales: Option<Vec<u32>>,
    /// Rows in a vector [default: 4 for the delay view, else 1].
    #[arg(long, value_name = "K")]
    pub(crate) lags: Option<u32>,
    /// Frequencies L of the map [default: 16 for innovations, else 64].
    #[arg(long, value_name = "L")]
    pub(crate) features: Option<usize>,
    /// Seed of the frequencies; the device must have the same.
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// What follows an alarm [default: once].
    #[arg(long, value_enum)]
    pub(crate) on_alarm: Option<OnAlarm>,
    /// Rows without alarms after one [default: 100 for innovations, else 256].
    #[arg(long, value_name = "ROWS", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) hold_off: Option<u32>,
    /// Rows after which a relearned reference is kept for good.
    #[arg(long, value_name = "ROWS", default_value_t = 1000)]
    pub(crate) settle: u32,
    #[command(flatten)]
    pub(crate) fine: Fine,
}

/// What the presets usually know best.
#[derive(Args, Debug, Clone)]
#[command(next_help_heading = "Fine settings")]
pub(crate) struct Fine {
    /// Bandwidth of the kernel in standard deviations of a channel, `median` distance, or a
    /// `family` of bandwidths [default: 16 for innovations, else family].
    #[arg(long, value_name = "NUMBER|median|family", allow_negative_numbers = true)]
    pub(crate) sigma: Option<Sigma>,
    /// Of the rows to learn from, those for level and spread of each channel [default: 100 for
    /// innovations, else 256].
    #[arg(long, value_name = "ROWS")]
    pub(crate) scaling: Option<u32>,
    /// Rows over which the reference forgets, or 0 for one as it was learned [default: 8000 for
    /// innovations, else 0].
    #[arg(long, value_name = "ROWS")]
    pub(crate) reference_memory: Option<u32>,
    /// Rows over which thresholds forget, or 0 for those learned [default: 4000 for innovations,
    /// else 0].
    #[arg(long, value_name = "ROWS")]
    pub(crate) threshold_memory: Option<u32>,
    /// What a single row far out of the ordinary does [default: count for innovations, else
    /// hold-back].
    #[arg(long, value_enum)]
    pub(crate) lone_outliers: Option<Outliers>,
    /// Take channels that do not move while learning; else they are an error.
    #[arg(long)]
    pub(crate) allow_constant: bool,
}

#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ViewChoice {
    /// Values as they are.
    Raw,
    /// Vectors of the last values.
    Delay,
    /// What a channel does beyond what its past predicts.
    Innovation,
    /// The best on recordings: innovation, unless --lags asks for vectors.
    Auto,
}

#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OnAlarm {
    /// One alarm for each change.
    Once,
    /// No further alarm at all.
    Latch,
    /// Again and again while the data differ.
    Holdoff,
    /// The new regime becomes the reference.
    Relearn,
}

#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outliers {
    /// It counts as any row.
    Count,
    /// Nothing, unless another comes soon.
    HoldBack,
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
pub(crate) struct ReplayArguments {
    /// The log, as CSV; `-` is standard input.
    pub(crate) log: PathBuf,
    #[command(flatten)]
    pub(crate) columns: Columns,
    #[command(flatten)]
    pub(crate) watching: Watching,
    /// Go on from this saved detector, its settings included, and save it again in the end; if
    /// there is no such file yet, learn. A log too short to learn from is then no error: the next
    /// one goes on where it ended. Every row of a log counts as new: give each log once.
    #[arg(long, value_name = "FILE")]
    pub(crate) state: Option<PathBuf>,
    /// Print JSON, one object a line.
    #[arg(long)]
    pub(crate) json: bool,
    /// Draw signal, statistic and alarms.
    #[arg(long, value_name = "FILE.svg|.png", value_parser = picture)]
    pub(crate) plot: Option<PathBuf>,
    /// At the end of the file wait for more rows, until interrupted; standard input is followed
    /// anyway.
    #[arg(long, conflicts_with = "plot")]
    pub(crate) follow: bool,
}

#[derive(Args)]
pub(crate) struct TuneArguments {
    /// The log, as CSV.
    pub(crate) log: PathBuf,
    #[command(flatten)]
    pub(crate) columns: Columns,
    /// Rows or time to learn from, scaling included [default: half of the log].
    #[arg(long, value_name = "N|TIME", allow_negative_numbers = true)]
    pub(crate) learn: Option<Span>,
    /// Only this much of the log is healthy, in rows or as a time [default: all of it].
    #[arg(long, value_name = "N|TIME", allow_negative_numbers = true)]
    pub(crate) healthy: Option<Span>,
    /// Rows a second, for times [default: from the time column].
    #[arg(long, value_name = "HZ", value_parser = positive, allow_negative_numbers = true)]
    pub(crate) rate: Option<f64>,
    /// The promise: mean time between false alarms, in rows or as a time.
    #[arg(long, alias = "mtbfa", value_name = "N|TIME", default_value = "10000")]
    pub(crate) mean_time_between_false_alarms: Span,
    /// Delay within which a change is to be found, in rows or as a time.
    #[arg(long, value_name = "N|TIME", default_value = "64")]
    pub(crate) within: Span,
    /// Most bytes of RAM that the detector may take.
    #[arg(long, value_name = "BYTES")]
    pub(crate) ram: Option<usize>,
    /// Print JSON, one object a line.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args)]
pub(crate) struct ExportArguments {
    /// The log, as CSV; `-` is standard input. Rows after those learned from only tell whether the
    /// log is healthy.
    pub(crate) log: PathBuf,
    /// Where to write the detector.
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: PathBuf,
    #[command(flatten)]
    pub(crate) columns: Columns,
    #[command(flatten)]
    pub(crate) watching: Watching,
    /// Learn by the scale, and with the settings, of this saved detector, so that references can
    /// be compared and merged.
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
    /// Bandwidth of the kernel in units of the values, the `median` distance of all rows, or of a
    /// `family` around that the one with the smallest p-value (times their number).
    #[arg(
        long,
        default_value = "median",
        value_name = "NUMBER|median|family",
        allow_negative_numbers = true
    )]
    pub(crate) sigma: Sigma,
    /// The kernel.
    #[arg(long, value_enum, default_value_t = KernelChoice::Gaussian)]
    pub(crate) kernel: KernelChoice,
    /// How frequencies are applied.
    #[arg(long, value_enum, default_value_t = MapChoice::Fourier)]
    pub(crate) map: MapChoice,
    /// How frequencies of a fourier map are spread [default: what suits kernel and channels].
    #[arg(long, value_enum)]
    pub(crate) sampling: Option<SamplingChoice>,
    /// Frequencies L; of a fastfood map a multiple of its block, the power of two from 4 on that
    /// holds the channels.
    #[arg(long, value_name = "L", default_value_t = 256)]
    pub(crate) features: usize,
    /// Seed of frequencies and resampling.
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// Level of the test: how often equal distributions may be said to differ.
    #[arg(long, default_value_t = 0.05, value_parser = probability, allow_negative_numbers = true)]
    pub(crate) alpha: f64,
    /// How the statistic is distributed while nothing differs.
    #[arg(long, value_enum, default_value_t = NullChoice::Gamma)]
    pub(crate) null: NullChoice,
    /// Divide each channel by its spread over both files first.
    #[arg(long)]
    pub(crate) standardise: bool,
    /// Add the exact value over all pairs, which takes time of the square of the rows.
    #[arg(long)]
    pub(crate) exact: bool,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KernelChoice {
    /// exp(−‖x‖²/2σ²)
    Gaussian,
    /// exp(−‖x‖₁/σ)
    Laplacian,
    /// exp(−‖x‖/σ)
    Exponential,
    /// Matérn 3/2
    Matern32,
    /// Matérn 5/2
    Matern52,
}

#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MapChoice {
    /// Dense: the most accurate.
    Fourier,
    /// By Hadamard transforms: cheaper for many channels.
    Fastfood,
}

#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SamplingChoice {
    /// Each by itself.
    Independent,
    /// A low-discrepancy sequence: for up to about 8 channels.
    Quasi,
    /// At right angles: for more channels.
    Orthogonal,
}

#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NullChoice {
    /// A gamma distribution by the first two moments: quick.
    Gamma,
    /// By random exchanges of rows between the files: exact in level.
    Permutation,
    /// By rows drawn with replacement from both files.
    Bootstrap,
    /// A Pearson curve by the first three moments.
    Pearson,
    /// A sum of chi-squared variables by the eigenvalues of the kernel.
    Spectrum,
}

fn positive(text: &str) -> Result<f64, String> {
    let number = text.parse().map_err(|_| "not a number".to_owned())?;
    if f64::is_finite(number) && number > 0.0 { Ok(number) } else { Err("more than 0".to_owned()) }
}

fn probability(text: &str) -> Result<f64, String> {
    positive(text).and_then(
        |alpha| {
            if alpha < 1.0 { Ok(alpha) } else { Err("between 0 and 1".to_owned()) }
        },
    )
}

fn picture(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("svg" | "png") => Ok(path),
        _ => Err("the name must end in .svg or .png".to_owned()),
    }
}
