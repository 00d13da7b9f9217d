//! Counts instructions per sample in QEMU, and measures code, RAM, stack and error.

mod budget;
mod error;
mod programs;

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

use programs::{EMPTY, KNOWN, LEVELS, Program};

/// Operations per sample of Fastfood at 16 channels and 128 frequencies; each addition,
/// multiplication, load and store counts one. The parts: transforms; phase reduction, two
/// polynomials of five terms and two products; signs, permutation, gains and lengths; sums.
const MODEL: [(&str, u32); 4] = [
    ("transform", 1408),
    ("sin/cos and accumulate", 1920),
    ("parameters and gather", 896),
    ("accumulators", 512),
];

/// Options of `cargo xtask bench`.
#[derive(clap::Args, Default)]
pub(crate) struct Arguments {
    /// Run the FastMMD paper's efficiency test on the host instead: against exact MMD, MMD-linear
    /// and B-test.
    ///
    /// Takes minutes. Prints ratios of times, writes two charts to target/efficiency.svg, and fails
    /// if the core is slower than its limits.
    #[arg(long, conflicts_with_all = ["json", "overwrite", "words"])]
    host: bool,
    /// Print the results as JSON and nothing else.
    #[arg(long)]
    json: bool,
    /// Write the results to firmware/bench/budget.json, to be reviewed with git diff.
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
    fn figures(&self) -> [(&'static str, f64); 5] {
        [
            ("instructions", f64::from(self.instructions)),
            ("max_error", self.max_error),
            ("text_bytes", self.text_bytes as f64),
            ("ram_bytes", self.ram_bytes as f64),
            ("stack_bytes", self.stack_bytes as f64),
        ]
    }
}

pub(crate) fn run(project: &Project, arguments: &Arguments) -> Result<Outcome> {
    if arguments.host {
        // Built for this processor, as a user who needs speed would: core and oracle alike.
        let speed = project.cargo().args(["run", "--quiet", "--release"]);
        let speed = speed.args(["--package=fastmmd-evaluation", "--bin=speed"]);
        let speed = speed.builds_in(&project.scratch("native")).arg("--");
        let speed = speed.quiet_args([project.scratch("efficiency.svg")]);
        speed.env("RUSTFLAGS", "-Ctarget-cpu=native").show()?;
        return Ok(Outcome::Passed);
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
        if !arguments.words.is_empty() {
            bail!("only all results together can be recorded");
        }
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
    let mut failures = Failures::default();
    let result = match comparison.worse.as_slice() {
        [] => Ok(()),
        worse => Err(anyhow!("{}", worse.join("; "))),
    };
    failures.note("nothing is more than 5 % above its budget", result);
    let result = match budget::dear_to_keep(&rows).as_slice() {
        [] => Ok(()),
        dear => Err(anyhow!("{}", dear.join("; "))),
    };
    failures.note("what a reset may not lose costs at most a tenth of a row", result);
    failures.finish()
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

    /// What tells its file from others.
    fn file(&self) -> (&'static str, &'static str, String) {
        (self.target, self.level, self.program.name())
    }
}

/// Builds and runs all programs whose names contain `words`.
fn measure(project: &Project, words: &[String]) -> Result<Vec<Row>> {
    setup::targets(project, &CORE_TARGETS)?;
    setup::qemu(project)?;
    setup::component(project, None, "llvm-tools")?;
    let all = programs::all();
    let mut cells = Vec::new();
    for level in LEVELS {
        for &Core { short: core, machine: board, target, .. } in &CORES {
            for program in &all {
                if !program.is_measured(level, target) {
                    continue;
                }
                let cell = Cell { core, board, target, level, program: program.clone() };
                let name = cell.name();
                if words.iter().all(|word| name.split('/').any(|part| part == word)) {
                    cells.push(cell);
                }
            }
        }
    }
    programs::write(project, &all)?;
    let mut empty = BTreeMap::new();
    for target in CORE_TARGETS {
        for level in LEVELS {
            let wanted: Vec<_> = cells
                .iter()
                .filter(|cell| cell.target == target && cell.level == level)
                .map(|cell| cell.program.clone())
                .collect();
            if wanted.is_empty() {
                continue;
            }
            programs::build(project, target, level, &wanted)?;
            let board = CORES.iter().find(|core| core.target == target).context("core")?.machine;
            let without = raw(project, board, target, level, EMPTY)?;
            let known = raw(project, board, target, level, KNOWN)?;
            let counted = known.instructions.saturating_sub(without.instructions);
            if counted.abs_diff(10_000) > 5 {
                bail!("10000 instructions were counted as {counted} on {target}");
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
            let raw = raw(project, board, target, level, &program.name());
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
    stack: u64,
    ram: u64,
    map: u64,
    text: u64,
}

fn raw(project: &Project, board: &str, target: &str, level: &str, name: &str) -> Result<Raw> {
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
    let instructions = of("ticks")? * 10 / of("per_ten")?.max(1) / of("samples")?.max(1);
    Ok(Raw {
        instructions: u32::try_from(instructions)?,
        stack: of("stack")?,
        ram: of("ram")?,
        map: of("map")?,
        text,
    })
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
    let header = "core  map         backend     d/L     opt  instructions  /model     error    text     RAM   stack";
    text.push_str(header);
    for row in rows {
        let Row { core, d, l, map, backend, opt, instructions, max_error, .. } = row;
        let Row { text_bytes, ram_bytes, stack_bytes, .. } = row;
        let ratio = f64::from(*instructions) / f64::from(total);
        let is_model = map == "fastfood" && (*d, *l) == (16, 128);
        let ratio = if is_model { format!("{ratio:.2}") } else { String::new() };
        text.push_str(&format!(
            "\n{core:6}{map:12}{backend:12}{:8}{opt:>3}{instructions:>14}{ratio:>8}\
             {max_error:>10.1e}{text_bytes:>8}{ram_bytes:>8}{stack_bytes:>8}",
            format!("{d}/{l}"),
        ));
    }
    text.push_str("\n\ninstructions per sample, mean of 128 (detectors: 512; learning: all rows; peak: the dearest row; keeping: from one save to the next); sizes in bytes; error of a sum\n");
    text
}
