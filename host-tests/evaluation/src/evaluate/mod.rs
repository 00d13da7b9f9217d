//! How well the detector performs on simulated devices and on recordings: `cargo xtask evaluate`.
//!
//! It uses the core as a user would, through its public functions. All random numbers are seeded,
//! so that every run gives the same figures; results are recorded in
//! `host-tests/evaluation/tables`.
//!
//! | module | what |
//! |---|---|
//! | [`signals`] | healthy data |
//! | [`devices`] | simulated devices |
//! | [`detection`] | what is found, and how soon, compared with [`baselines`] |
//! | [`slow_drift`] | ramps over ten thousand rows and more |
//! | [`promise`] | mean time to a false alarm, and between them |
//! | [`masking`] | a false alarm before a change |
//! | [`attribution`] | channel, kind and onset |
//! | [`robustness`] | outliers, impulses, dropouts, channels that stand still |
//! | [`published`] | the suite of the literature |
//! | [`integers`] | the detector in integers beside the one in `f32` |
//! | [`ram`] | RAM |
//! | [`nab`], [`skab`], [`servers`] | [`recordings`] of public benchmarks |
//! | [`table`] | Markdown tables |

pub mod attribution;
pub mod baselines;
pub mod detection;
pub mod devices;
pub mod integers;
pub mod masking;
pub mod nab;
pub mod promise;
pub mod published;
pub mod ram;
pub mod recordings;
pub mod robustness;
pub mod servers;
pub mod signals;
pub mod skab;
pub mod slow_drift;
pub mod table;

use fastmmd_reference::real;
use fastmmd_reference::tolerance::Tolerance;
use table::Table;

/// How much is simulated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// A part, in seconds.
    Quick,
    /// Everything, in minutes.
    Full,
}

impl Scope {
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
pub const SECTIONS: [Section; 9] = [
    Section { name: "ram", run: ram::run },
    Section { name: "detection", run: detection::run },
    Section { name: "slow-drift", run: slow_drift::run },
    Section { name: "promise", run: promise::run },
    Section { name: "masking", run: masking::run },
    Section { name: "robustness", run: robustness::run },
    Section { name: "attribution", run: attribution::run },
    Section { name: "delay-published", run: published::run },
    Section { name: "integers", run: integers::run },
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
    /// Every bound of the section that must hold.
    pub checks: Vec<Check>,
    /// What is wanted of it: not all of it is reached, and the table says so.
    wanted: Vec<Wanted>,
}

/// What is wanted of a figure.
#[derive(Debug, Clone, PartialEq)]
struct Wanted {
    what: String,
    value: f64,
    limit: f64,
    is_least: bool,
}

impl Wanted {
    fn is_met(&self) -> bool {
        if self.is_least { self.value >= self.limit } else { self.value <= self.limit }
    }
}

impl Report {
    /// A report without results.
    #[must_use]
    pub fn new(title: &str, about: &str) -> Self {
        Self { text: format!("## {title}\n\n{about}\n"), checks: Vec::new(), wanted: Vec::new() }
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

    /// Wants a figure to be at least this.
    pub fn want_at_least(&mut self, what: &str, value: f64, limit: f64) {
        self.wanted.push(Wanted { what: what.to_owned(), value, limit, is_least: true });
    }

    /// Wants a figure to be at most this.
    pub fn want_at_most(&mut self, what: &str, value: f64, limit: f64) {
        self.wanted.push(Wanted { what: what.to_owned(), value, limit, is_least: false });
    }

    /// How many figures are not as wanted.
    #[must_use]
    pub fn unmet(&self) -> usize {
        self.wanted.iter().filter(|wanted| !wanted.is_met()).count()
    }

    /// Adds what is wanted and not reached, of which there may be so much and no more.
    pub fn settle(&mut self, most: Tolerance) {
        let unmet = self.unmet();
        let all = self.wanted.len();
        self.say(&format!("{} of {all} wanted bounds are met.", all - unmet));
        let mut table = Table::new(["not met", "figure", "wanted"]);
        for wanted in self.wanted.iter().filter(|wanted| !wanted.is_met()) {
            let sign = if wanted.is_least { "≥" } else { "≤" };
            table.line([
                wanted.what.clone(),
                format!("{:.2}", wanted.value),
                format!("{sign} {:.2}", wanted.limit),
            ]);
        }
        if unmet > 0 {
            self.table("Not as wanted", &table);
        }
        let kept = real(unmet) <= most.limit;
        self.hold(Check { what: most.operation.to_owned(), value: real(unmet), kept });
    }

    /// Adds a bound from below.
    pub fn hold_least(&mut self, what: &str, value: f64, least: Tolerance) {
        self.hold(Check { what: what.to_owned(), value, kept: value >= least.limit });
    }

    /// Adds a bound from above.
    pub fn hold_most(&mut self, what: &str, value: f64, most: Tolerance) {
        self.hold(Check { what: what.to_owned(), value, kept: value <= most.limit });
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

#[cfg(test)]
mod tests {
    use super::*;

    const FEW: Tolerance = Tolerance { operation: "figures", limit: 1.0, reason: "a test" };

    #[test]
    fn more_unmet_than_allowed_breaks_a_bound() {
        let mut report = Report::new("", "");
        report.want_at_least("kept", 1.0, 0.5);
        report.want_at_most("not met", 1.0, 0.5);
        let mut worse = report.clone();
        report.settle(FEW);
        assert!(report.broken().is_empty() && report.text.contains("1 of 2"));
        assert!(report.text.contains("| not met |") && !report.text.contains("| kept"));
        // What is not a number is not met.
        worse.want_at_least("nothing", f64::NAN, 0.0);
        worse.settle(FEW);
        assert_eq!(worse.broken(), ["figures: 2.000"]);
    }

    #[test]
    fn bounds_are_kept_on_their_side() {
        let mut report = Report::new("", "");
        report.hold_least("a", 2.0, FEW);
        report.hold_most("b", 0.5, FEW);
        assert!(report.broken().is_empty());
        report.hold_least("a", 0.5, FEW);
        report.hold_most("b", 2.0, FEW);
        assert_eq!(report.broken().len(), 2);
    }
}
