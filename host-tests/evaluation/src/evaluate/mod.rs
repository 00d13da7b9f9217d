//! How well the detector performs on simulated devices and on recordings: `cargo xtask evaluate`.
//!
//! It uses the core as a user would, through its public functions. All random numbers are seeded,
//! so that every run gives the same figures; results are recorded in
//! `host-tests/evaluation/tables`.
//!
//! | module | what |
//! |---|---|
//! | [`families`] | healthy data |
//! | [`devices`] | simulated devices |
//! | [`window_test`] | type-I error of p-values |
//! | [`run_length`] | mean time to a false alarm (average run length) |
//! | [`delay`] | detection delay, compared with [`baselines`] |
//! | [`robustness`] | outliers and stuck channels |
//! | [`attribution`] | channel, kind and onset |
//! | [`ram`] | RAM |
//! | [`nab`], [`skab`] | [`recordings`] of public benchmarks |
//! | [`table`] | Markdown tables |

pub mod attribution;
pub mod baselines;
pub mod delay;
pub mod devices;
pub mod families;
pub mod nab;
pub mod ram;
pub mod recordings;
pub mod robustness;
pub mod run_length;
pub mod skab;
pub mod table;
pub mod window_test;

use families::Family;
use table::Table;

/// How much is simulated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// A part, in seconds; bounds are checked over all families together.
    Quick,
    /// Everything, in minutes; bounds are checked for each family.
    Full,
}

impl Scope {
    /// Whether data of this family with this many channels are simulated.
    #[must_use]
    pub fn covers(self, family: Family, channels: usize) -> bool {
        match self {
            // Correlation needs more than one channel.
            Self::Full => (family, channels) != (Family::Correlated, 1),
            Self::Quick => matches!(
                (family, channels),
                (Family::Gaussian | Family::Exponential, 3)
                    | (Family::Uniform, 1)
                    | (Family::Bimodal, 8)
                    | (Family::Autoregressive(_), 1)
            ),
        }
    }

    /// The suffix of the tables' names.
    #[must_use]
    pub fn suffix(self) -> &'static str {
        match self {
            Self::Quick => "-quick",
            Self::Full => "",
        }
    }
}

/// Which random numbers are drawn: 0 for those of the recorded tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Draw(pub usize);

impl Draw {
    /// The number of a cell of a table in this draw.
    #[must_use]
    pub fn cell(self, cell: usize) -> usize {
        // There are fewer cells than that.
        cell + 10_000 * self.0
    }

    /// The number of a section in this draw, where cells are numbered elsewhere.
    #[must_use]
    pub fn section(self, section: u64) -> u64 {
        section + 16 * u64::try_from(self.0).unwrap_or(0)
    }
}

/// A part of the evaluation.
#[derive(Debug, Clone, Copy)]
pub struct Section {
    /// Its name on the command line, and of its table.
    pub name: &'static str,
    /// Runs the section.
    pub run: fn(Scope, Draw) -> Report,
}

/// All sections on simulated data.
pub const SECTIONS: [Section; 7] = [
    Section { name: "ram", run: ram::run },
    Section { name: "type-i", run: window_test::run },
    Section { name: "run-length", run: run_length::run },
    Section { name: "robustness", run: robustness::run },
    Section { name: "attribution", run: attribution::run },
    Section { name: "delay-published", run: delay::run_published },
    Section { name: "delay", run: delay::run_changes },
];

/// One bound and what was measured.
#[derive(Debug, Clone, PartialEq)]
pub struct Check {
    /// What was measured.
    pub what: String,
    /// The figure.
    pub value: f64,
    /// Whether it is within its bound.
    pub kept: bool,
}

/// The results of one section.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// As Markdown.
    pub text: String,
    /// Every bound of the section.
    pub checks: Vec<Check>,
}

impl Report {
    /// A report without results.
    #[must_use]
    pub fn new(title: &str, about: &str) -> Self {
        Self { text: format!("## {title}\n\n{about}\n"), checks: Vec::new() }
    }

    /// Adds a table under a heading.
    pub fn table(&mut self, heading: &str, table: &Table) {
        self.text.push_str(&format!("\n### {heading}\n\n{table}"));
    }

    /// Adds a sentence.
    pub fn say(&mut self, sentence: &str) {
        self.text.push_str(&format!("\n{sentence}\n"));
    }

    /// Adds a bound.
    pub fn hold(&mut self, check: Check) {
        self.checks.push(check);
    }

    /// The bounds that were not kept.
    #[must_use]
    pub fn broken(&self) -> Vec<String> {
        let broken = self.checks.iter().filter(|check| !check.kept);
        broken.map(|check| format!("{}: {:.3}", check.what, check.value)).collect()
    }
}

/// Prints the current work on standard error.
fn note(section: &str, what: &str) {
    eprintln!("{section}: {what}");
}
