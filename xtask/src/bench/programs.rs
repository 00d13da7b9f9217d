//! Writes and builds one program for each case to measure.
//!
//! A program is one call into `firmware/bench`. The programs are generated and not kept in git, so
//! that the cases are listed in one place.

use std::fmt::Write;
use std::fs;
use std::path::PathBuf;

use anyhow::Result;

use crate::project::Project;

/// Channels and frequencies.
const SHAPES: [(u32, u32); 4] = [(4, 64), (8, 128), (16, 128), (32, 256)];
const BACKENDS: [&str; 5] = ["polynomial", "quick", "libm", "micromath", FIXED];

/// The backend with its own maps, in integers.
pub(super) const FIXED: &str = "fixed";

/// Optimisation levels. The last, at which the boards are built, is measured for what they spend
/// their time with.
pub(super) const LEVELS: [&str; 3] = ["3", "s", "z"];
const OF_BOARDS: &str = "z";

/// Functions of `firmware/bench` that measure a detector, used in place of a map's name.
const DETECTORS: [&str; 3] = ["detector", "cyclic", "lean"];

/// The same for a detector with one leg alone, or with none: what each costs.
const LEGS: [&str; 6] = ["base", "level", "jump", "spread", "values", "innovations"];

/// The same for what the detector of all legs does besides: rows in batches, its mean over the rows it
/// learns from, its dearest row, and calls that are made now and then; and what the app does on each row
/// so that a reset loses none.
const MOMENTS: [&str; 7] = ["many", "learning", "peak", "save", "restore", "relearn", "keeping"];

/// Those of a detector in integers, which are measured on every core.
const IN_INTEGERS: [&str; 7] =
    ["detector", "cyclic", "lean", "innovations", "many", "learning", "peak"];

/// The empty program, whose cost is subtracted from all others.
pub(super) const EMPTY: &str = "empty";

/// The program that runs 10,000 instructions in a loop.
pub(super) const KNOWN: &str = "known";

/// One in so many samples is traced where tracing all takes long. A prime, because some work is done
/// every 2ⁿ samples.
pub(super) const STRIDE: u32 = 7;

/// One case to measure.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Program {
    pub(super) map: &'static str,
    pub(super) backend: &'static str,
    pub(super) d: u32,
    pub(super) l: u32,
}

impl Program {
    pub(super) fn name(&self) -> String {
        let Self { map, backend, d, l } = self;
        format!("{map}-{backend}-{d}x{l}")
    }

    /// Whether it is measured for a target at an optimisation level.
    pub(super) fn is_measured(&self, level: &str, target: &str) -> bool {
        let is_detector = DETECTORS.contains(&self.map);
        let of_boards = is_detector || MOMENTS.contains(&self.map);
        if self.backend == FIXED {
            return match level {
                "3" => true,
                OF_BOARDS => self.map == "detector" && self.d == 3,
                _ => self.d == 3 || !is_detector,
            };
        }
        if target.starts_with("riscv") {
            return false;
        }
        if target.ends_with("hf") {
            return level != OF_BOARDS || of_boards;
        }
        // In software a detector takes minutes to learn, and nobody should use it so: one figure says
        // why.
        let only = self.map == "detector" && self.d == 3 && level == "3";
        level != OF_BOARDS && (only || !(of_boards || LEGS.contains(&self.map)))
    }

    /// One in how many of its samples is traced to estimate its cycles, if they are: those where
    /// integers and floating point are to be compared.
    pub(super) fn traced(&self, level: &str) -> Option<u32> {
        let stride = match (self.map, self.d, self.l) {
            ("detector", 3, 32) => STRIDE,
            ("fourier" | "fastfood", 4, 64) => 1,
            _ => return None,
        };
        let is_compared = [FIXED, "polynomial"].contains(&self.backend) && level != OF_BOARDS;
        is_compared.then_some(stride)
    }

    /// The call of `firmware/bench` that measures it.
    fn call(&self) -> String {
        let Self { map, backend, d, l } = self;
        if DETECTORS.iter().chain(&LEGS).chain(&MOMENTS).any(|name| name == map) {
            let of_backend = if *backend == FIXED { "fixed::" } else { "" };
            return format!("{map}(&bench::maps::{of_backend}FOURIER_{d}_{l})");
        }
        let map = map.to_uppercase();
        if SHAPES.contains(&(*d, *l)) {
            return format!("embedding(&bench::maps::{backend}::{map}_{d}_{l})");
        }
        // A detector's map alone.
        format!("embedding(&bench::maps::{map}_{d}_{l})")
    }
}

/// All cases to measure.
pub(super) fn all() -> Vec<Program> {
    let mut programs = Vec::new();
    for (d, l) in SHAPES {
        for map in ["fourier", "fastfood"] {
            programs.extend(BACKENDS.map(|backend| Program { map, backend, d, l }));
        }
    }
    let polynomial = |map, d, l| Program { map, backend: "polynomial", d, l };
    programs.push(polynomial("fourier", 3, 64));
    programs
        .extend(DETECTORS.iter().chain(&LEGS).chain(&MOMENTS).map(|name| polynomial(name, 3, 32)));
    programs.push(polynomial("detector", 8, 32));
    let integers = |map, d| Program { map, backend: FIXED, d, l: 32 };
    programs.extend(IN_INTEGERS.map(|map| integers(map, 3)));
    programs.push(integers("detector", 8));
    programs
}

/// The path of a program that [`build`] built.
pub(super) fn file(project: &Project, target: &str, level: &str, name: &str) -> PathBuf {
    let (_, directory) = profile(level);
    project.firmware_file(target, directory, name)
}

/// The profile that builds for a level, and its directory. They have the names of usual ones, whose
/// directories may already hold the procedural macros; the settings are the same for both levels.
fn profile(level: &str) -> (&'static str, &'static str) {
    match level {
        "s" => ("release", "release"),
        "3" => ("dev", "debug"),
        _ => ("smallest", "smallest"),
    }
}

/// Writes a package with all `programs`.
pub(super) fn write(project: &Project, programs: &[Program]) -> Result<()> {
    let directory = project.scratch("bench-programs");
    fs::create_dir_all(&directory)?;
    let library = project.path("firmware/bench");
    let manifest = format!(
        "[package]\nname = \"bench-programs\"\nedition = \"2024\"\n\n\
         [dependencies]\nbench = {{ path = {library:?} }}\nfastmmd = {{ path = {:?} }}\n\n",
        project.path(""),
    );
    let mut manifest = manifest;
    for level in LEVELS {
        let number = if level == "3" { level.to_owned() } else { format!("{level:?}") };
        let inherits = if level == "z" { "inherits = \"release\"\n" } else { "" };
        write!(
            manifest,
            "[profile.{}]\n{inherits}opt-level = {number}\npanic = \"abort\"\ncodegen-units = 1\n\
             debug = false\ndebug-assertions = false\noverflow-checks = false\n\
             incremental = false\n",
            profile(level).0
        )?;
        // What else the profile of the firmware implies for procedural macros.
        if profile(level).0 == "dev" {
            manifest.push_str(
                "strip = \"none\"\n\n[profile.dev.build-override]\n\
                 debug-assertions = true\noverflow-checks = true\n",
            );
        }
        manifest.push('\n');
    }
    let calls = programs.iter().map(|program| (program.name(), program.call()));
    let controls = [(EMPTY, "nothing()"), (KNOWN, "known()")];
    let controls = controls.map(|(name, call)| (name.to_owned(), call.to_owned()));
    for (name, call) in calls.chain(controls) {
        write!(manifest, "[[bin]]\nname = \"{name}\"\npath = \"{name}.rs\"\n\n")?;
        let program = format!(
            "#![no_std]\n#![no_main]\n\n#[bench::entry]\nfn main() -> ! {{\n    bench::{call}\n}}\n"
        );
        write_if_new(&directory.join(format!("{name}.rs")), &program)?;
    }
    manifest.push_str("# Not a member of the workspace this directory lies in.\n[workspace]\n");
    write_if_new(&directory.join("Cargo.toml"), &manifest)?;
    // The firmware's versions of dependencies, not the newest ones.
    fs::copy(project.path("firmware/Cargo.lock"), directory.join("Cargo.lock"))?;
    Ok(())
}

/// Writes a file only if its content changes, so that it is not built again for nothing.
fn write_if_new(path: &std::path::Path, text: &str) -> Result<()> {
    if fs::read_to_string(path).is_ok_and(|old| old == text) {
        return Ok(());
    }
    Ok(fs::write(path, text)?)
}

/// Builds all programs for one target at one optimisation level.
pub(super) fn build(
    project: &Project,
    target: &str,
    level: &str,
    programs: &[Program],
) -> Result<()> {
    let directory = project.scratch("bench-programs");
    let variable =
        format!("CARGO_TARGET_{}_RUSTFLAGS", target.replace('-', "_").to_ascii_uppercase());
    // Where the memory map is.
    let (maps, script) = if target.starts_with("riscv") {
        let maps = project.scratch("bench-programs/riscv");
        fs::create_dir_all(&maps)?;
        fs::copy(project.path("firmware/emulated/virt.x"), maps.join("memory.x"))?;
        (maps, "-Clink-arg=-Tmemory.x ")
    } else {
        (project.path(""), "")
    };
    let flags = format!(
        "-Clink-arg=--nmagic {script}-Clink-arg=-Tlink.x -Clink-arg=-L{}",
        maps.to_string_lossy().trim_end_matches('/')
    );
    let mut cargo = project
        .cargo()
        .within(&directory)
        .args(["build", "--quiet", &format!("--target={target}")])
        .arg(format!("--profile={}", profile(level).0))
        .args([format!("--bin={EMPTY}"), format!("--bin={KNOWN}")]);
    for program in programs {
        cargo = cargo.arg(format!("--bin={}", program.name()));
    }
    cargo.builds_in(&project.firmware_target()).env(&variable, &flags).output().map(drop)
}
