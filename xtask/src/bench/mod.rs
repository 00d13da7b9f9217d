//! Counts instructions per sample in QEMU, estimates cycles, and measures code, RAM, stack and error.

mod budget;
mod cycles;
mod error;
mod programs;
mod trace;

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fs;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use anyhow::{Context, Result, anyhow, bail};
use serde::{Deserialize, Serialize};

use crate::boards::{CORE_TARGETS, CORES, Core};
use crate::outcome::{Failures, Outcome};
use crate::project::Project;
use crate::{qemu, setup, size};

use cycles::Modelled;
use programs::{EMPTY, KNOWN, LEVELS, Program, STRIDE};

/// Operations per sample of Fastfood at 16 channels and 128 frequencies; each addition,
/// multiplication, load and store counts one. The parts: transforms; phase reduction, two
/// polynomials of five terms and two products; signs, permutation, gains and lengths; sums.
const MODEL: [(&str, u32); 4] = [
    ("transform", 1408),
    ("sin/cos and accumulate", 1920),
    ("parameters and gather", 896),
    ("accumulators", 512),
];

/// The core whose cycles are estimated. A Cortex-M7 runs two instructions at once, from caches: no
/// table of its manual gives its cycles.
const MODELLED: &str = "m4f";

/// Cycles of [`KNOWN`], without a few that set it up: 5000 subtractions of one cycle and as many
/// jumps of three, of which the last is not taken.
const KNOWN_CYCLES: u32 = 19_998;

/// Options of `cargo xtask bench`.
#[derive(clap::Args, Default)]
pub(crate) struct Arguments {
    /// Run the FastMMD paper's efficiency test on the host instead: against exact MMD, MMD-linear
    /// and B-test.
    ///
    /// Takes minutes. Prints ratios of times, built for any processor of this kind and for this one
    /// (-Ctarget-cpu=native), writes two charts to target/efficiency.svg, and fails if the core built for
    /// this one is slower than its limits.
    #[arg(long, conflicts_with_all = ["json", "overwrite", "words"])]
    host: bool,
    /// Print the results as JSON and nothing else.
    #[arg(long)]
    json: bool,
    /// Write the results to firmware/bench/budget.json, to be reviewed with git diff; with words, only
    /// those.
    #[arg(long)]
    overwrite: bool,
    /// Only results whose name (core/map/backend/DxL/level) contains all of these words.
    words: Vec<String>,
}

/// One result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Row {
    core: String,
    d: u32,
    l: u32,
    map: String,
    backend: String,
    opt: String,
    /// Instructions per sample: mean of 128, for a detector of 512; while it learns, of all rows. Of
    /// its dearest row, and of calls: those of one.
    instructions: u32,
    /// Cycles per sample by the model of [`cycles`]: mean of all, for a detector of one in seven.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cycles: Option<u32>,
    /// Largest error from a phase to a sum.
    max_error: f64,
    /// Code and constants without the map and the program around it.
    text_bytes: u64,
    /// Size of the state that is kept between samples.
    ram_bytes: u64,
    stack_bytes: u64,
}

impl Row {
    fn name(&self) -> String {
        let Self { core, d, l, map, backend, opt, .. } = self;
        format!("{core}/{map}/{backend}/{d}x{l}/{opt}")
    }

    /// The figures that the budget limits.
    #[expect(clippy::cast_precision_loss, reason = "sizes are far below 2⁵³")]
    fn figures(&self) -> [(&'static str, Option<f64>); 6] {
        [
            ("instructions", Some(f64::from(self.instructions))),
            ("cycles", self.cycles.map(f64::from)),
            ("max_error", Some(self.max_error)),
            ("text_bytes", Some(self.text_bytes as f64)),
            ("ram_bytes", Some(self.ram_bytes as f64)),
            ("stack_bytes", Some(self.stack_bytes as f64)),
        ]
    }
}

pub(crate) fn run(project: &Project, arguments: &Arguments) -> Result<Outcome> {
    if arguments.host {
        return host(project);
    }
    let rows = measure(project, &arguments.words)?;
    if rows.is_empty() {
        bail!("no result has a name with all of these words: {}", arguments.words.join(" "));
    }
    if arguments.json {
        println!("{}", as_json(&rows)?);
    } else {
        print!("{}", table(&rows));
    }
    if arguments.overwrite {
        let rows = if arguments.words.is_empty() { rows } else { budget::with(project, rows)? };
        fs::write(project.path(budget::FILE), as_json(&rows)? + "\n")?;
        return Ok(Outcome::Passed);
    }
    let known = budget::read(project)?;
    let comparison = budget::compare(&rows, &known, arguments.words.is_empty());
    if arguments.json {
        return match comparison.worse.as_slice() {
            [] => Ok(Outcome::Passed),
            worse => bail!("{}", worse.join("; ")),
        };
    }
    if comparison.better > 0 {
        println!("    {} figures are better than recorded: --overwrite", comparison.better);
    }
    for short in budget::unreached(&rows) {
        println!("    {short}");
    }
    let mut failures = Failures::default();
    let result = match comparison.worse.as_slice() {
        [] => Ok(()),
        worse => Err(anyhow!("{}", worse.join("; "))),
    };
    failures.note("nothing is more than 5 % above its budget", result);
    let result = match budget::broken(&rows).as_slice() {
        [] => Ok(()),
        broken => Err(anyhow!("{}", broken.join("; "))),
    };
    failures.note("nothing is above what is promised", result);
    let result = match budget::dear_to_keep(&rows).as_slice() {
        [] => Ok(()),
        dear => Err(anyhow!("{}", dear.join("; "))),
    };
    failures.note("what a reset may not lose costs at most a tenth of a row", result);
    failures.finish()
}

/// The efficiency test, twice: as the tool and the Python package are built, for any processor of its
/// kind; and for this processor, as a user who needs speed builds, core and oracle alike. The limits are
/// those of the second.
fn host(project: &Project) -> Result<Outcome> {
    let speed = || {
        let speed = project.cargo().args(["run", "--quiet", "--release"]);
        speed.args(["--package=fastmmd-evaluation", "--bin=speed"])
    };
    println!("built for any processor of this kind:");
    if speed().show().is_err() {
        println!("    so built it does not keep all limits: -Ctarget-cpu=native");
    }
    println!("built for this processor:");
    let native = speed().builds_in(&project.scratch("native")).arg("--");
    let native = native.quiet_args([project.scratch("efficiency.svg")]);
    native.env("RUSTFLAGS", "-Ctarget-cpu=native").show()?;
    Ok(Outcome::Passed)
}

/// A core, a level and a program.
struct Cell {
    core: &'static str,
    board: &'static str,
    target: &'static str,
    level: &'static str,
    program: Program,
}

impl Cell {
    fn name(&self) -> String {
        let Program { map, backend, d, l } = &self.program;
        format!("{}/{map}/{backend}/{d}x{l}/{}", self.core, self.level)
    }

    /// One in how many samples is traced, if its cycles are estimated. Other cores with the same file
    /// have other cycles.
    fn traced(&self) -> Option<u32> {
        self.program.traced(self.level).filter(|_| self.core == MODELLED)
    }

    /// What tells its file from others.
    fn file(&self) -> (&'static str, &'static str, String) {
        (self.target, self.level, self.program.name())
    }
}

/// All results there are to measure, in their order.
fn cells(all: &[Program]) -> Vec<Cell> {
    let mut cells = Vec::new();
    for level in LEVELS {
        for &Core { short: core, machine: board, target, .. } in &CORES {
            for program in all.iter().filter(|program| program.is_measured(level, target)) {
                cells.push(Cell { core, board, target, level, program: program.clone() });
            }
        }
    }
    cells
}

/// Builds and runs all programs whose names contain `words`.
fn measure(project: &Project, words: &[String]) -> Result<Vec<Row>> {
    setup::targets(project, &CORE_TARGETS)?;
    setup::qemu(project)?;
    setup::component(project, None, "llvm-tools")?;
    let all = programs::all();
    let is_wanted = |cell: &Cell| {
        let name = cell.name();
        words.iter().all(|word| name.split('/').any(|part| part == word))
    };
    let cells: Vec<_> = cells(&all).into_iter().filter(is_wanted).collect();
    programs::write(project, &all)?;
    let mut empty = BTreeMap::new();
    for target in CORE_TARGETS {
        for level in LEVELS {
            let here = |cell: &&Cell| cell.target == target && cell.level == level;
            let wanted: Vec<_> =
                cells.iter().filter(here).map(|cell| cell.program.clone()).collect();
            if wanted.is_empty() {
                continue;
            }
            let is_traced = cells.iter().filter(here).any(|cell| cell.traced().is_some());
            let traced = is_traced.then_some(STRIDE);
            programs::build(project, target, level, &wanted)?;
            let board = CORES.iter().find(|core| core.target == target).context("core")?.machine;
            let without = raw(project, board, target, level, EMPTY, traced)?;
            let known = raw(project, board, target, level, KNOWN, traced)?;
            let counted = known.instructions.saturating_sub(without.instructions);
            if counted.abs_diff(10_000) > 5 {
                bail!("10000 instructions were counted as {counted} on {target}");
            }
            if let Some(cycles) = cycles_above(&known, &without)?
                && cycles.abs_diff(KNOWN_CYCLES) > 5
            {
                bail!("{KNOWN_CYCLES} cycles were modelled as {cycles} on {target}");
            }
            empty.insert((target, level), without);
        }
    }
    let mut errors = BTreeMap::new();
    for Program { map, backend, .. } in &all {
        if let Entry::Vacant(place) = errors.entry((*map, *backend)) {
            place.insert(error::largest(map, backend)?);
        }
    }
    // Cores with the same target run the same file, instruction for instruction: one run is both's.
    let mut files: BTreeMap<_, &Cell> = BTreeMap::new();
    for cell in &cells {
        files.entry(cell.file()).or_insert(cell);
    }
    let files: Vec<_> = files.into_iter().collect();
    let next = AtomicUsize::new(0);
    let work = || -> Result<Vec<_>> {
        let mut found = Vec::new();
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some((file, cell)) = files.get(index) else { return Ok(found) };
            let Cell { board, target, level, program, .. } = cell;
            let raw = raw(project, board, target, level, &program.name(), cell.traced());
            found.push((file.clone(), raw.with_context(|| cell.name())?));
        }
    };
    let found = thread::scope(|scope| -> Result<BTreeMap<_, Raw>> {
        let workers: Vec<_> = (0..2).map(|_| scope.spawn(work)).collect();
        let mut found = BTreeMap::new();
        for worker in workers {
            found.extend(worker.join().map_err(|_| anyhow!("a worker panicked"))??);
        }
        Ok(found)
    })?;
    let row = |cell: &Cell| {
        let without = empty.get(&(cell.target, cell.level)).context("no empty program")?;
        let error = errors.get(&(cell.program.map, cell.program.backend)).context("no error")?;
        result(cell, found.get(&cell.file()).context("not run")?, without, *error)
    };
    cells.iter().map(row).collect()
}

/// What a program printed, and its size.
#[derive(Debug, Clone, Copy)]
struct Raw {
    instructions: u32,
    modelled: Option<Modelled>,
    stack: u64,
    ram: u64,
    map: u64,
    text: u64,
}

fn raw(
    project: &Project,
    board: &str,
    target: &str,
    level: &str,
    name: &str,
    traced: Option<u32>,
) -> Result<Raw> {
    let elf = programs::file(project, target, level, name);
    let [text] = size::section_bytes(project, &elf, [&[".text", ".rodata"]])?;
    let said = qemu::run_counting(board, &elf)?;
    let mut figures = BTreeMap::new();
    let words: Vec<_> = said.split_whitespace().collect();
    for pair in words.chunks(2) {
        let [name, number] = pair else { bail!("it said {said}") };
        figures.insert(*name, number.parse::<u64>().with_context(|| format!("it said {said}"))?);
    }
    let of = |name: &str| figures.get(name).copied().with_context(|| format!("it said {said}"));
    let modelled = traced.map(|stride| cycles::of(project, board, &elf, stride)).transpose()?;
    let instructions = of("ticks")? * 10 / of("per_ten")?.max(1) / of("samples")?.max(1);
    Ok(Raw {
        instructions: u32::try_from(instructions)?,
        modelled,
        stack: of("stack")?,
        ram: of("ram")?,
        map: of("map")?,
        text,
    })
}

/// The cycles of a program above those of the empty one, if both were traced. The control of the trace:
/// it has as many instructions as the counter counted.
fn cycles_above(found: &Raw, without: &Raw) -> Result<Option<u32>> {
    let (Some(traced), Some(nothing)) = (found.modelled, without.modelled) else {
        return Ok(None);
    };
    let instructions = traced.instructions.saturating_sub(nothing.instructions);
    let counted = found.instructions.saturating_sub(without.instructions);
    if 100 * instructions.abs_diff(counted) > counted {
        bail!("{instructions} instructions were traced where {counted} were counted");
    }
    Ok(Some(traced.cycles.saturating_sub(nothing.cycles)))
}

fn result(cell: &Cell, found: &Raw, without: &Raw, error: f64) -> Result<Row> {
    let Cell { core, level, program, .. } = cell;
    Ok(Row {
        core: (*core).to_owned(),
        d: program.d,
        l: program.l,
        map: program.map.to_owned(),
        backend: program.backend.to_owned(),
        opt: (*level).to_owned(),
        instructions: found.instructions.saturating_sub(without.instructions),
        // Cores with the same file share its run.
        cycles: if cell.traced().is_some() { cycles_above(found, without)? } else { None },
        // Three digits: the rest depends on the phases tried.
        max_error: format!("{error:.2e}").parse()?,
        text_bytes: found.text.saturating_sub(without.text + found.map),
        ram_bytes: found.ram,
        stack_bytes: found.stack.saturating_sub(without.stack),
    })
}

/// A JSON array with one row per line, for readable diffs.
fn as_json(rows: &[Row]) -> Result<String> {
    let lines: Result<Vec<_>, _> = rows.iter().map(serde_json::to_string).collect();
    Ok(format!("[\n  {}\n]", lines?.join(",\n  ")))
}

fn table(rows: &[Row]) -> String {
    let total: u32 = MODEL.iter().map(|(_, operations)| operations).sum();
    let parts = MODEL.map(|(name, operations)| format!("{name} {operations}")).join(" + ");
    let mut text = format!("operation model of Fastfood at 16/128: {parts} = {total}\n\n");
    let header = "core  map         backend     d/L     opt  instructions  /model  cycles     error    text     RAM   stack";
    text.push_str(header);
    for row in rows {
        let Row { core, d, l, map, backend, opt, instructions, cycles, max_error, .. } = row;
        let Row { text_bytes, ram_bytes, stack_bytes, .. } = row;
        let ratio = f64::from(*instructions) / f64::from(total);
        let is_model = map == "fastfood" && (*d, *l) == (16, 128);
        let cycles = cycles.map_or(String::new(), |cycles| cycles.to_string());
        let ratio = if is_model { format!("{ratio:.2}") } else { String::new() };
        text.push_str(&format!(
            "\n{core:6}{map:12}{backend:12}{:8}{opt:>3}{instructions:>14}{ratio:>8}{cycles:>8}\
             {max_error:>10.1e}{text_bytes:>8}{ram_bytes:>8}{stack_bytes:>8}",
            format!("{d}/{l}"),
        ));
    }
    text.push_str("\n\ninstructions per sample, mean of 128 (detectors: 512; learning: all rows; peak: the dearest row; keeping: from one save to the next); cycles: a model of Cortex-M4 without wait states, contention on the bus and what depends on values; sizes in bytes; error of a sum\n");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(counted: u32, instructions: u32, cycles: u32) -> Raw {
        let modelled = Some(Modelled { instructions, cycles });
        Raw { instructions: counted, modelled, stack: 0, ram: 0, map: 0, text: 0 }
    }

    #[test]
    fn a_trace_that_is_not_what_was_counted_is_refused() {
        let without = found(20, 10, 15);
        assert_eq!(cycles_above(&found(1020, 1010, 2015), &without).unwrap(), Some(2000));
        assert_eq!(cycles_above(&found(1020, 1020, 2015), &without).unwrap(), Some(2000));
        assert!(cycles_above(&found(1020, 1021, 2015), &without).is_err());
        assert!(cycles_above(&found(1020, 999, 2015), &without).is_err());
        let untraced = Raw { modelled: None, ..without };
        assert_eq!(cycles_above(&untraced, &without).unwrap(), None);
    }
}
