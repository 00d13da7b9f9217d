//! Reproduces the literature's figures: `cargo xtask reproduce`.
//!
//! Each part measures, draws, and checks its results against limits of
//! [`tolerance`](fastmmd_reference::tolerance) that were set before; where they or the data were
//! changed after a first run, the part says so. Figures 5 to 7 of FastMMD measure the core, the others
//! the oracle. All random numbers are seeded. Running times are given as ratios, because they depend on
//! the machine.
//!
//! | module | what |
//! |---|---|
//! | [`figure5`] to [`figure8`] | FastMMD (Zhao and Meng, 2015) |
//! | `table1` | the same, table 1, on data of the same shape |
//! | [`three_samples`] | Nyström MMD (Cherfaoui and others, 2022), figure 2 |
//! | `other_kinds` | the same, figures 3 and 4, on data of the same kind |
//! | [`embedding`] | A Hilbert space embedding (Smola and others, 2007), figures 1 to 3 |
//! | [`ensembles`] | other circular discrepancies, proposed in FastMMD's section 3.3 |
//! | [`budget`] | the time limit |

pub mod budget;
mod cost;
pub mod embedding;
pub mod ensembles;
pub mod figure5;
pub mod figure6;
pub mod figure7;
pub mod figure8;
mod other_kinds;
mod table1;
pub mod three_samples;

use std::fmt;
use std::sync::atomic::{AtomicU32, Ordering};

pub use crate::evaluate::Check;
use crate::evaluate::table::Table;
use crate::plot::{self, Axis, Chart, Series};
use crate::speed::clock::timed;
use fastmmd_reference::error::Refused;
use fastmmd_reference::tolerance::Tolerance;

/// How much is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effort {
    /// Fewer trials and samples, in seconds: shows that everything works and the larger effects.
    Quick,
    /// As large as in the papers, but for what the report begins with, in minutes.
    Full,
}

impl Effort {
    /// Picks the value for this effort.
    #[must_use]
    pub fn pick<T>(self, quick: T, full: T) -> T {
        match self {
            Self::Quick => quick,
            Self::Full => full,
        }
    }
}

/// What is not as the papers have it.
const DIFFERENCES: &str = "
At full size it is as large as the papers have it, but for these:

- FastMMD, figure 6: 300 seeds of frequencies instead of 1000.
- FastMMD, figure 7: normal samples instead of two cubes, fewer samples and channels, times as ratios.
- FastMMD, figure 8: 399 shuffles instead of 1000, but for the times; 30 trials for each ε above 1
  instead of 100; Pearson and spectrum from every second sample.
- FastMMD, table 1: synthetic histograms of the same shape instead of images, a fortieth of them, and
  times as ratios.
- Nyström MMD, figure 3: data of the same kind instead of restaurants, 1600 samples instead of 2500,
  without random features and running times.
- Nyström MMD, figure 4: data of the same kind instead of molecules, 100 runs instead of 1000, and no
  running times.
- Notes on kernels: their figure 1, a support vector machine, and their polynomial kernel are not drawn.
  Tests of `fastmmd-reference` hold how decisions by features approach those by a kernel.
- A Hilbert space embedding, figure 3: pairs around a circle, and places instead of contours.

What else differs is said in each part.
";

/// What a report begins with: its title, and what is left out or different.
#[must_use]
pub fn beginning(effort: Effort) -> String {
    let quick = "\nWith `--quick`: fewer trials and samples still than said here.\n";
    let quick = effort.pick(quick, "");
    format!("# The literature's figures, reproduced\n{quick}{DIFFERENCES}")
}

/// A part of the report.
#[derive(Debug, Clone, Copy)]
pub struct Part {
    /// Its name on the command line, and of its files.
    pub name: &'static str,
    /// How often it reports progress.
    pub steps: u32,
    /// Runs the part, and calls the second argument after each step.
    pub run: fn(Effort, Tick<'_>) -> Result<Figure, Failed>,
}

impl Part {
    /// Measures it, and makes sure that what was found is whole.
    ///
    /// # Errors
    /// Those of the part, and [`Failed::Incomplete`] unless it made as many steps as it says, held
    /// something to limits, and names every plot in its text.
    pub fn figure(&self, effort: Effort, tick: Tick<'_>) -> Result<Figure, Failed> {
        let steps = AtomicU32::new(0);
        let figure = (self.run)(effort, &|| {
            steps.fetch_add(1, Ordering::Relaxed);
            tick();
        })?;
        let is_named = |plot: &Plot| figure.text.contains(&format!("({})", plot.file));
        let whole = steps.into_inner() == self.steps
            && !figure.checks.is_empty()
            && figure.plots.iter().all(is_named);
        if whole { Ok(figure) } else { Err(Failed::Incomplete) }
    }
}

/// Called after each step of a part.
pub type Tick<'a> = &'a (dyn Fn() + Sync);

/// All parts, in the order of the report.
pub const PARTS: [Part; 11] = [
    Part { name: "fastmmd-5", steps: figure5::STEPS, run: figure5::run },
    Part { name: "fastmmd-6", steps: figure6::STEPS, run: figure6::run },
    Part { name: "fastmmd-7", steps: figure7::STEPS, run: figure7::run },
    Part { name: "fastmmd-8", steps: figure8::STEPS, run: figure8::run },
    Part { name: "fastmmd-table-1", steps: table1::STEPS, run: table1::run },
    Part { name: "nystrom-2", steps: three_samples::STEPS, run: three_samples::run },
    Part { name: "nystrom-3", steps: other_kinds::STEPS, run: other_kinds::run },
    Part { name: "embedding-1", steps: embedding::WITNESS_STEPS, run: embedding::witness },
    Part { name: "embedding-2", steps: embedding::NULL_STEPS, run: embedding::distributions },
    Part { name: "embedding-3", steps: embedding::DEPENDENCE_STEPS, run: embedding::dependence },
    Part { name: "ensembles", steps: ensembles::STEPS, run: ensembles::run },
];

/// Why a part has no result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failed {
    /// The oracle refused.
    Refused(Refused),
    /// The core refused.
    Core(fastmmd::Error),
    /// A plot could not be drawn.
    Plot(String),
    /// Steps, limits or names of plots are missing.
    Incomplete,
}

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(refused) => write!(f, "{refused}"),
            Self::Core(error) => write!(f, "{error}"),
            Self::Plot(message) => write!(f, "plot: {message}"),
            Self::Incomplete => write!(f, "steps, limits or names of plots are missing"),
        }
    }
}

impl std::error::Error for Failed {}

impl From<Refused> for Failed {
    fn from(refused: Refused) -> Self {
        Self::Refused(refused)
    }
}

impl From<fastmmd::Error> for Failed {
    fn from(error: fastmmd::Error) -> Self {
        Self::Core(error)
    }
}

/// A plot and the name of its file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plot {
    /// The file's name.
    pub file: String,
    /// Its text, SVG.
    pub svg: String,
}

/// The results of a part.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// What it reproduces: a paper and its figure, which every plot names.
    source: String,
    /// As Markdown; plots are referred to by the names of their files.
    pub text: String,
    /// The plots.
    pub plots: Vec<Plot>,
    /// The limits checked.
    pub checks: Vec<Check>,
}

impl Figure {
    /// A title is `source: what`.
    fn new(title: &str, about: &str) -> Self {
        let (source, _) = title.split_once(':').unwrap_or((title, ""));
        Self {
            source: source.to_owned(),
            text: format!("## {title}\n\n{about}\n"),
            plots: Vec::new(),
            checks: Vec::new(),
        }
    }

    fn say(&mut self, sentence: &str) {
        self.text.push_str(&format!("\n{sentence}\n"));
    }

    fn table(&mut self, table: &Table) {
        self.text.push_str(&format!("\n{table}"));
    }

    fn plot(
        &mut self,
        file: &str,
        title: &str,
        x: Axis,
        y: Axis,
        series: &[Series],
    ) -> Result<(), Failed> {
        let title = &format!("{}: {title}", self.source);
        let svg = plot::svg(&[Chart { title, x, y, series }]).map_err(Failed::Plot)?;
        let file = format!("{file}.svg");
        self.text.push_str(&format!("\n![{title}]({file})\n"));
        self.plots.push(Plot { file, svg });
        Ok(())
    }

    /// Checks that a size is at most the limit, and reports it.
    fn hold_below(&mut self, limit: Tolerance, case: &str, value: f64) {
        self.check(limit, case, value, value <= limit.limit, "at most");
    }

    /// Checks that a size is at least the limit, and reports it.
    fn hold_above(&mut self, limit: Tolerance, case: &str, value: f64) {
        self.check(limit, case, value, value >= limit.limit, "at least");
    }

    fn check(&mut self, limit: Tolerance, case: &str, value: f64, kept: bool, relation: &str) {
        // All limits of a part come last, as one list.
        if self.checks.is_empty() {
            self.text.push('\n');
        }
        let verdict = if kept { "kept" } else { "BROKEN" };
        self.text.push_str(&format!(
            "- {verdict}: {}: {case}: {}, {relation} {}.\n",
            limit.operation,
            short(value),
            limit.limit
        ));
        self.checks.push(Check { what: format!("{}: {case}", limit.operation), value, kept });
    }

    /// The limits that were not kept.
    #[must_use]
    pub fn broken(&self) -> Vec<String> {
        let broken = self.checks.iter().filter(|check| !check.kept);
        broken.map(|check| format!("{}: {:.4}", check.what, check.value)).collect()
    }
}

/// The shortest of `times` runs, in seconds: disturbances only make a run longer.
fn seconds<T>(times: usize, mut work: impl FnMut() -> Result<T, Failed>) -> Result<f64, Failed> {
    let mut shortest = f64::INFINITY;
    for _ in 0..times {
        let (done, time) = timed(&mut work);
        done?;
        shortest = shortest.min(time);
    }
    Ok(shortest)
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / fastmmd_reference::real(values.len())
}

/// Standard deviation with n − 1.
fn deviation(values: &[f64]) -> f64 {
    let centre = mean(values);
    let squares: f64 = values.iter().map(|value| (value - centre).powi(2)).sum();
    (squares / (fastmmd_reference::real(values.len()) - 1.0)).sqrt()
}

/// Three significant digits.
fn short(value: f64) -> String {
    if value == 0.0 {
        "0".to_owned()
    } else if (0.001..10_000.0).contains(&value.abs()) {
        let digits = usize::try_from(2 - exponent(value)).unwrap_or(0);
        format!("{value:.digits$}")
    } else {
        format!("{value:.2e}")
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the exponent of an f64 is below 309")]
fn exponent(value: f64) -> i32 {
    value.abs().log10().floor() as i32
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The control of all parts: a value beyond its limit, or NaN, is reported as broken.
    #[test]
    fn broken_limits_are_told() {
        let limit = fastmmd_reference::tolerance::FIGURE8_TIME;
        let mut figure = Figure::new("title", "about");
        figure.hold_below(limit, "below", 0.4);
        figure.hold_above(limit, "above", 0.6);
        assert!(figure.broken().is_empty());
        figure.hold_below(limit, "a", 0.6);
        figure.hold_above(limit, "b", 0.4);
        figure.hold_below(limit, "c", f64::NAN);
        figure.hold_above(limit, "d", f64::NAN);
        assert_eq!(figure.broken().len(), 4);
        assert_eq!(figure.text.matches("BROKEN").count(), 4);
    }

    /// The control of what every part is made sure of.
    #[test]
    fn what_is_missing_is_told() {
        fn whole(_: Effort, tick: Tick<'_>) -> Result<Figure, Failed> {
            tick();
            let mut figure = Figure::new("title", "about ![plot](a.svg)");
            figure.plots.push(Plot { file: "a.svg".into(), svg: String::new() });
            figure.hold_below(fastmmd_reference::tolerance::FIGURE8_TIME, "below", 0.4);
            Ok(figure)
        }
        fn without_limits(effort: Effort, tick: Tick<'_>) -> Result<Figure, Failed> {
            Ok(Figure { checks: Vec::new(), ..whole(effort, tick)? })
        }
        fn without_names(effort: Effort, tick: Tick<'_>) -> Result<Figure, Failed> {
            Ok(Figure { text: String::new(), ..whole(effort, tick)? })
        }
        let ticks = AtomicU32::new(0);
        let tick = || {
            ticks.fetch_add(1, Ordering::Relaxed);
        };
        let figure = |steps, run| Part { name: "part", steps, run }.figure(Effort::Quick, &tick);
        assert!(figure(1, whole).is_ok());
        assert_eq!(ticks.load(Ordering::Relaxed), 1);
        for (steps, run) in [(2, whole as _), (1, without_limits as _), (1, without_names as _)] {
            assert_eq!(figure(steps, run), Err(Failed::Incomplete));
        }
    }

    /// Every report begins with what is different, and the shuffles said there are those used.
    #[test]
    fn reports_begin_with_what_is_different() {
        for effort in [Effort::Quick, Effort::Full] {
            assert!(beginning(effort).contains(DIFFERENCES));
        }
        assert!(beginning(Effort::Quick).contains("--quick"));
        let shuffles = format!("{} shuffles instead", figure8::size(Effort::Full).shuffles);
        assert!(DIFFERENCES.contains(&shuffles), "{shuffles}");
    }

    #[test]
    fn three_digits_are_shown() {
        let shown = [0.0, 1.0, 0.012_345, -12.34, 123_456.0].map(short);
        assert_eq!(shown, ["0", "1.00", "0.0123", "-12.3", "1.23e5"]);
    }

    #[test]
    fn parts_have_names_of_their_own() {
        for (index, part) in PARTS.iter().enumerate() {
            assert!(PARTS[..index].iter().all(|other| other.name != part.name));
        }
    }
}
