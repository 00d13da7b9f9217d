//! What the detector reaches, on simulated devices and on recordings: `cargo xtask evaluate`.
//!
//! Unlike the reference, this calls the core: as a user would, through its public functions alone.
//! All is seeded, so that every figure is the same on every run, and results are kept as tables
//! in `host-tests/evaluation/tables`.
//!
//! | module | what |
//! |---|---|
//! | [`families`] | healthy data |
//! | [`devices`] | detectors that learn for themselves |
//! | [`window_test`] | type-I error of p-values |
//! | [`run_length`] | mean time to a false alarm |
//! | [`delay`] | how soon changes are noticed, beside [`baselines`] |
//! | [`robustness`] | outliers and stuck channels |
//! | [`attribution`] | channel, kind and onset |
//! | [`ram`] | bytes |
//! | [`nab`], [`skab`] | [`recordings`] of public benchmarks |
//! | [`table`] | Markdown |

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
    /// A part, in seconds; bounds are held over all families together.
    Quick,
    /// All of it, in minutes; bounds are held for each family.
    Full,
}

impl Scope {
    /// Whether data of this family with so many channels are simulated.
    #[must_use]
    pub fn covers(self, family: Family, channels: usize) -> bool {
        match self {
            // One channel has no correlation with others.
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

    /// The ending of the tables' names.
    #[must_use]
    pub fn suffix(self) -> &'static str {
        match self {
            Self::Quick => "-quick",
            Self::Full => "",
        }
    }
}

/// Which random numbers are drawn: 0 for those that the tables are kept for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Draw(pub usize);

impl Draw {
    /// The number of a cell of a table in this draw.
    #[must_use]
    pub fn cell(self, cell: usize) -> usize {
        // Cells are numbered below that.
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
    /// Measures.
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

/// Says on standard error what is at work.
fn note(section: &str, what: &str) {
    eprintln!("{section}: {what}");
}
