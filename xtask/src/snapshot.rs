//! Compares the output of the firmware's programs with recorded output.
//!
//! Programs of `firmware/snapshots` run on their own and print. To those of the boards, the harness
//! sends a fixed sequence of commands.

use std::fs;

use anyhow::{Context, Result, bail};

use crate::boards::{BOARDS, Board, EMULATED};
use crate::outcome::{Failures, Outcome};
use crate::project::Project;
use crate::{firmware, qemu, setup};

/// QEMU's machine for programs that print.
const MACHINE: &str = "mps2-an386";
const TARGET: &str = EMULATED.target;
const PRINTING: &str = "firmware/snapshots/src/bin";

/// A program that can run in QEMU.
struct Program {
    name: String,
    /// The file with its recorded output.
    known: String,
    /// The board to build for, if the harness talks to it.
    talks: Option<&'static Board>,
}

/// Options of `cargo xtask snapshot`.
#[derive(clap::Args, Default)]
pub(crate) struct Arguments {
    /// Write the output of the release builds to the .out files, to be reviewed with git diff.
    #[arg(long)]
    overwrite: bool,
    /// Only the program of this name (default: all).
    name: Option<String>,
}

pub(crate) fn run(project: &Project, arguments: &Arguments) -> Result<Outcome> {
    setup::targets(project, &[TARGET])?;
    setup::qemu(project)?;
    let mut programs = programs(project)?;
    if let Some(name) = &arguments.name {
        programs.retain(|program| program.name == *name);
        if programs.is_empty() {
            bail!("no program `{name}` in {PRINTING}, nor of a board that QEMU has");
        }
    }
    let mut failures = Failures::default();
    for program in &programs {
        // Release first: --overwrite records it, and debug must then agree.
        for profile in ["release", "debug"] {
            let overwrite = arguments.overwrite && profile == "release";
            let result = check(project, program, profile, overwrite);
            failures.note(&format!("{}, {profile}", program.name), result);
        }
    }
    failures.finish()
}

/// All programs, found by their source files, so that a new one cannot be forgotten.
fn programs(project: &Project) -> Result<Vec<Program>> {
    let mut found = in_directory(project, PRINTING, None)?;
    for board in BOARDS.iter().filter(|board| board.is_emulated) {
        let source = format!("firmware/{}/src", board.directory);
        if project.path(&source).join("main.rs").exists() {
            let known = format!("{source}/main.out");
            found.push(Program { name: board.package.to_owned(), known, talks: Some(board) });
        } else {
            found.extend(in_directory(project, &format!("{source}/bin"), Some(board))?);
        }
    }
    found.sort_by(|a, b| a.known.cmp(&b.known));
    Ok(found)
}

/// One program for each source in a directory.
fn in_directory(
    project: &Project,
    directory: &str,
    talks: Option<&'static Board>,
) -> Result<Vec<Program>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(project.path(directory)).with_context(|| directory.to_owned())? {
        let path = entry?.path();
        let name = path.file_stem().and_then(|name| name.to_str());
        if let Some(name) = name.filter(|_| path.extension().is_some_and(|end| end == "rs")) {
            let known = format!("{directory}/{name}.out");
            found.push(Program { name: name.to_owned(), known, talks });
        }
    }
    Ok(found)
}

fn check(project: &Project, program: &Program, profile: &str, overwrite: bool) -> Result<()> {
    let Program { name, known, talks } = program;
    let printed = match talks {
        None => {
            build(project, &[TARGET], profile, name)?;
            qemu::run(MACHINE, &project.firmware_file(TARGET, profile, name))?
        }
        Some(board) => {
            firmware::build(project, board, profile)?;
            let talk = firmware::harness(project, "transcript", profile).arg(name).attempt()?;
            if !talk.success {
                bail!("{}{}", talk.stdout, talk.stderr);
            }
            talk.stdout
        }
    };
    if overwrite {
        let path = project.path(known);
        return fs::write(path, printed).with_context(|| format!("cannot write {known}"));
    }
    let expected = project.read(known);
    let expected = expected.context("a new program needs cargo xtask snapshot --overwrite")?;
    compare(&expected, &printed)
}

/// Builds one of the programs.
pub(crate) fn build(
    project: &Project,
    targets: &[&str],
    profile: &str,
    program: &str,
) -> Result<()> {
    let release = (profile == "release").then_some("--release");
    project
        .firmware_cargo("build")
        .args(["--quiet", "--package=snapshots", &format!("--bin={program}")])
        .args(targets.iter().map(|target| format!("--target={target}")))
        .args(release)
        .run()
}

/// An error with the lines that differ, if any do.
pub(crate) fn compare(expected: &str, printed: &str) -> Result<()> {
    if expected == printed {
        return Ok(());
    }
    bail!("printed other lines (- expected, + printed):\n{}", diff(expected, printed))
}

/// Compares line by line, from the first that differs. The output is a report, so no attempt is
/// made to match lines after an inserted one.
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

/// Indents a text.
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
        // A missing final newline is a difference, although no line differs.
        assert!(compare("a\n", "a").is_err());
    }
}
