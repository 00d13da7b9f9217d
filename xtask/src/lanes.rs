//! Runs steps in two lanes at once, since most of them keep only one processor busy.
//!
//! Each step is a process of its own, `cargo xtask test --only NAME`. Its output is printed when it
//! ends; until then it is in `target/steps`.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::thread;

use anyhow::{Context, Result};

use crate::project::Project;
use crate::usage::{self, Usage};

/// Steps of one lane run one after another. The lanes have build directories of their own, or they
/// would wait for each other.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Lane {
    /// The host's workspace, and others that run on the host.
    Host,
    /// The firmware's workspace.
    Firmware,
}

/// How a step ended.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum End {
    Passed,
    Skipped,
    Failed,
}

/// The last line of `cargo xtask test`.
pub(crate) fn count(ends: &[End]) -> String {
    let count = |wanted| ends.iter().filter(|end| **end == wanted).count();
    let [passed, failed, skipped] = [End::Passed, End::Failed, End::Skipped].map(count);
    format!("{passed} passed, {failed} failed, {skipped} skipped")
}

/// Runs all steps, given by name and lane, and prints the output of each; returns how they ended, in
/// the order in which they did.
pub(crate) fn run(
    project: &Project,
    steps: &[(&'static str, Lane)],
) -> Result<Vec<(&'static str, End, Usage)>> {
    let folder = project.scratch("steps");
    fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
    // A copy: building the workspace replaces the program itself. One of its own, since a program that
    // runs cannot be written over.
    let name = format!("xtask-{}{}", std::process::id(), std::env::consts::EXE_SUFFIX);
    let program = folder.join(name);
    fs::copy(std::env::current_exe()?, &program).context("cannot copy this program")?;
    let ended = Mutex::new(Vec::new());
    let lane = |lane| {
        for (name, _) in steps.iter().filter(|step| step.1 == lane) {
            println!("[started] {name}");
            let (end, usage, text) = play(project, &program, &folder, name);
            // Together, so that the outputs of two steps do not mix.
            let mut ended = ended.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            ended.push((*name, end, usage));
            println!("[{}/{}] {text}", ended.len(), steps.len());
        }
    };
    thread::scope(|scope| {
        scope.spawn(|| lane(Lane::Firmware));
        lane(Lane::Host);
    });
    fs::remove_file(&program).context("cannot remove the copy of this program")?;
    Ok(ended.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner))
}

/// Runs one step; returns how it ended, its times, and what it printed.
fn play(project: &Project, program: &Path, folder: &Path, name: &str) -> (End, Usage, String) {
    let start = usage::Start::now();
    let log = folder.join(format!("{name}.log"));
    let played = || -> Result<(bool, String)> {
        let output =
            File::create(&log).with_context(|| format!("cannot write {}", log.display()))?;
        let mut command = Command::new(program);
        command.args(["test", "--only", name]).args(project.is_verbose().then_some("--verbose"));
        command.stdin(Stdio::null()).stdout(output.try_clone()?).stderr(output);
        let success = command.status().context("cannot start a step")?.success();
        Ok((success, String::from_utf8_lossy(&fs::read(&log)?).into_owned()))
    };
    match played() {
        Ok((success, text)) => {
            let (shown, end, used) = read(&text);
            let end = if success { end.unwrap_or(End::Failed) } else { End::Failed };
            (end, Usage { elapsed: start.usage().elapsed, used }, shown.to_owned())
        }
        Err(error) => {
            let text = format!("{name}\n    FAILED: {error:#}");
            (End::Failed, Usage { elapsed: start.usage().elapsed, used: None }, text)
        }
    }
}

/// From what a step printed: all but the table and the count at its end and the number at its start;
/// how it ended, and the processor time it used.
fn read(text: &str) -> (&str, Option<End>, Option<std::time::Duration>) {
    let text = text.trim_end();
    let last = text.lines().next_back().unwrap_or_default();
    let ends = [End::Passed, End::Skipped, End::Failed];
    let end = ends.into_iter().find(|end| last == count(&[*end]));
    let (shown, table) = match text.rfind(usage::HEADER) {
        Some(at) => text.split_at(at),
        None => (text, ""),
    };
    let shown = shown.trim_end();
    (shown.strip_prefix("[1/1] ").unwrap_or(shown), end, usage::sum(table))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_step_is_read_as_it_is_printed() {
        let second = Duration::from_secs(1);
        let usage = Usage { elapsed: second, used: Some(2 * second) };
        let table = usage::table(&[("fmt", usage)]);
        for end in [End::Passed, End::Skipped, End::Failed] {
            let count = count(&[end]);
            let text = format!("[1/1] fmt: formatted\n    ok\n\n{table}\n{count}\n");
            let expected = ("fmt: formatted\n    ok", Some(end), Some(2 * second));
            assert_eq!(read(&text), expected);
        }
        // A step that was killed.
        assert_eq!(read("[1/1] fmt: formatted\n"), ("fmt: formatted", None, None));
    }
}
