//! What the programs of `firmware/snapshots` print, against what they are known to print.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};

use crate::outcome::{Failures, Outcome};
use crate::project::Project;
use crate::{qemu, setup};

const BOARD: &str = "mps2-an386";
const TARGET: &str = "thumbv7em-none-eabihf";
const PROGRAMS: &str = "firmware/snapshots/src/bin";

/// Options of `cargo xtask snapshot`.
#[derive(clap::Args, Default)]
pub(crate) struct Arguments {
    /// Write what the release builds print to the .out files, to be reviewed with git diff.
    #[arg(long)]
    overwrite: bool,
    /// Only the program of this name; all of them otherwise.
    name: Option<String>,
}

pub(crate) fn run(project: &Project, arguments: &Arguments) -> Result<Outcome> {
    setup::targets(project, &[TARGET])?;
    setup::qemu(project)?;
    let mut programs = programs(project)?;
    if let Some(name) = &arguments.name {
        programs.retain(|program| program == name);
        if programs.is_empty() {
            bail!("no program `{name}` in {PROGRAMS}");
        }
    }
    let mut failures = Failures::default();
    for program in &programs {
        // Release first: it is what --overwrite takes, and debug then has to agree.
        for profile in ["release", "debug"] {
            let overwrite = arguments.overwrite && profile == "release";
            let result = check(project, program, profile, overwrite);
            failures.note(&format!("{program}, {profile}"), result);
        }
    }
    failures.finish()
}

/// The programs there are, by their sources: a new one cannot be forgotten.
fn programs(project: &Project) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(project.path(PROGRAMS)).context(PROGRAMS)? {
        let path = entry?.path();
        let name = path.file_stem().and_then(|name| name.to_str());
        if path.extension().is_some_and(|extension| extension == "rs") {
            names.extend(name.map(str::to_owned));
        }
    }
    names.sort();
    Ok(names)
}

fn check(project: &Project, program: &str, profile: &str, overwrite: bool) -> Result<()> {
    let elf = build(project, TARGET, profile, program)?;
    let printed = qemu::run(BOARD, &elf)?;
    let known = format!("{PROGRAMS}/{program}.out");
    if overwrite {
        let path = project.path(&known);
        return fs::write(path, printed).with_context(|| format!("cannot write {known}"));
    }
    let expected = project.read(&known);
    let expected = expected.context("a new program needs cargo xtask snapshot --overwrite")?;
    compare(&expected, &printed)
}

/// Builds one of the programs and returns where it is.
pub(crate) fn build(
    project: &Project,
    target: &str,
    profile: &str,
    program: &str,
) -> Result<PathBuf> {
    let release = (profile == "release").then_some("--release");
    project
        .firmware_cargo("build")
        .args(["--quiet", "--package=snapshots", &format!("--bin={program}")])
        .arg(format!("--target={target}"))
        .args(release)
        .run()?;
    Ok(project.firmware_file(target, profile, program))
}

/// An error with the lines that differ, if any do.
pub(crate) fn compare(expected: &str, printed: &str) -> Result<()> {
    if expected == printed {
        return Ok(());
    }
    bail!("printed other lines (- expected, + printed):\n{}", diff(expected, printed))
}

/// Line by line from the first that differs: the programs print reports, where a line in excess
/// is as telling as a changed one.
fn diff(expected: &str, printed: &str) -> String {
    let (mut old, mut new) = (expected.lines(), printed.lines());
    let mut text = String::new();
    loop {
        match (old.next(), new.next()) {
            (None, None) => return text,
            (old, new) if old == new => {
                text.extend(old.map(|line| format!("      {line}\n")));
            }
            (old, new) => {
                text.extend(old.map(|line| format!("    - {line}\n")));
                text.extend(new.map(|line| format!("    + {line}\n")));
            }
        }
    }
}

/// A text set off from the names of steps.
pub(crate) fn indented(text: &str) -> String {
    text.lines().map(|line| format!("      {line}\n")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_texts_pass_and_others_show_the_lines() {
        assert!(compare("a\nb\n", "a\nb\n").is_ok());
        assert_eq!(diff("a\nb\n", "a\nc\nd\n"), "      a\n    - b\n    + c\n    + d\n");
        assert!(compare("a\n", "a\nb\n").is_err());
        // A lost end of line is a difference, though no line is.
        assert!(compare("a\n", "a").is_err());
    }
}
