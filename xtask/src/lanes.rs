//! Runs several steps at once, since most of them keep only one processor busy.
//!
//! Each step is a process of its own, `cargo xtask test --only NAME`. Its output is printed when it
//! ends; until then it is in `target/steps`.

use std::fs::{self, File};
use std::io::IsTerminal;
use std::num::NonZeroUsize;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::project::Project;
use crate::usage::{self, Usage};

/// What a step may not share with another that runs at the same time: cargo lets one build at a time into a
/// directory, and the other would only wait.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Lane {
    /// `target`.
    Host,
    /// `target/firmware`.
    Firmware,
    /// Nothing: it builds in a directory of its own, or not at all.
    Apart,
}

/// Longest time of a step that nobody watches: what hangs does not hold up the others.
const TIME_LIMIT: Duration = Duration::from_secs(45 * 60);

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

/// A step by name and lane.
type Step = (&'static str, Lane);

/// The steps that have not been started, in their order, and the lanes of those that run.
struct Queue<'s> {
    waiting: Vec<&'s Step>,
    busy: Vec<Lane>,
}

impl<'s> Queue<'s> {
    fn new(steps: &'s [Step]) -> Self {
        Self { waiting: steps.iter().collect(), busy: Vec::new() }
    }

    /// The first step whose lane is free, which is then busy.
    fn take(&mut self) -> Option<&'s Step> {
        let is_free = |step: &&Step| step.1 == Lane::Apart || !self.busy.contains(&step.1);
        let step = self.waiting.remove(self.waiting.iter().position(is_free)?);
        self.busy.push(step.1);
        Some(step)
    }

    /// A step of this lane has ended.
    fn free(&mut self, lane: Lane) {
        if let Some(at) = self.busy.iter().position(|busy| *busy == lane) {
            self.busy.swap_remove(at);
        }
    }
}

/// Runs all steps, as many at once as there are processors, and prints the output of each; returns how
/// they ended, in the order in which they did.
pub(crate) fn run(project: &Project, steps: &[Step]) -> Result<Vec<(&'static str, End, Usage)>> {
    let folder = project.scratch("steps");
    fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
    // A copy: building the workspace replaces the program itself. One of its own, since a program that
    // runs cannot be written over.
    let name = format!("xtask-{}{}", std::process::id(), std::env::consts::EXE_SUFFIX);
    let program = folder.join(name);
    fs::copy(std::env::current_exe()?, &program).context("cannot copy this program")?;
    let (shared, freed) = (Mutex::new(Queue::new(steps)), Condvar::new());
    let ended = Mutex::new(Vec::new());
    let work = || {
        let mut queue = lock(&shared);
        while !queue.waiting.is_empty() {
            let Some((name, lane)) = queue.take() else {
                queue = freed.wait(queue).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            drop(queue);
            println!("[started] {name}");
            let (end, usage, text) = play(project, &program, &folder, name);
            // Together, so that the outputs of two steps do not mix.
            let mut all = lock(&ended);
            all.push((*name, end, usage));
            println!("[{}/{}] {text}", all.len(), steps.len());
            drop(all);
            queue = lock(&shared);
            queue.free(*lane);
            freed.notify_all();
        }
    };
    let workers = thread::available_parallelism().map_or(2, NonZeroUsize::get).max(2);
    thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(work);
        }
    });
    fs::remove_file(&program).context("cannot remove the copy of this program")?;
    Ok(ended.into_inner().unwrap_or_else(PoisonError::into_inner))
}

/// What is behind a lock, also after a panic of another thread.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs one step; returns how it ended, its times, and what it printed.
fn play(project: &Project, program: &Path, folder: &Path, name: &str) -> (End, Usage, String) {
    let start = usage::Start::now();
    let log = folder.join(format!("{name}.log"));
    let played = || -> Result<bool> {
        let output =
            File::create(&log).with_context(|| format!("cannot write {}", log.display()))?;
        let mut command = Command::new(program);
        command.args(["test", "--only", name]).args(project.is_verbose().then_some("--verbose"));
        command.stdin(Stdio::null()).stdout(output.try_clone()?).stderr(output);
        // Where there is a terminal, it can be interrupted from there.
        let limit = (!std::io::stdin().is_terminal()).then_some(TIME_LIMIT);
        Ok(finish(command, limit).context("the step")?.success())
    };
    let success = played();
    let printed = fs::read(&log).unwrap_or_default();
    let printed = String::from_utf8_lossy(&printed);
    let (shown, end, used) = read(&printed);
    let usage = Usage { elapsed: start.usage().elapsed, used };
    match success {
        Ok(true) => (end.unwrap_or(End::Failed), usage, shown.to_owned()),
        Ok(false) => (End::Failed, usage, shown.to_owned()),
        Err(error) => (End::Failed, usage, format!("{shown}\n    FAILED: {name}: {error:#}")),
    }
}

/// Runs a program; one that takes longer than `limit` is ended, with all that it started.
fn finish(mut command: Command, limit: Option<Duration>) -> Result<ExitStatus> {
    let Some(limit) = limit else { return Ok(command.status()?) };
    // So that all can be ended together; a terminal would no longer interrupt them.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let mut child = command.spawn()?;
    let start = Instant::now();
    while start.elapsed() < limit {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        thread::sleep(Duration::from_millis(100));
    }
    end(&mut child);
    child.wait()?;
    bail!("did not end in {limit:?}")
}

/// Ends a process of [`finish`] and its children.
fn end(child: &mut Child) {
    #[cfg(unix)]
    if let Ok(group) = i32::try_from(child.id()) {
        use nix::sys::signal::{Signal, killpg};
        // Fails only if all have ended.
        let _ = killpg(nix::unistd::Pid::from_raw(group), Signal::SIGKILL);
    }
    // The same, where there are no groups.
    let _ = child.kill();
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

    #[test]
    fn steps_of_one_lane_wait_for_each_other_and_others_do_not() {
        use Lane::{Apart, Firmware, Host};
        let steps = [("a", Host), ("b", Host), ("c", Firmware), ("d", Apart), ("e", Apart)];
        let mut queue = Queue::new(&steps);
        let mut names = || queue.take().map(|(name, _)| *name);
        assert_eq!([(); 5].map(|()| names()), [Some("a"), Some("c"), Some("d"), Some("e"), None]);
        queue.free(Firmware);
        assert_eq!(queue.take(), None);
        queue.free(Host);
        assert_eq!(queue.take(), Some(&("b", Host)));
        assert!(queue.waiting.is_empty());
    }

    #[cfg(unix)]
    #[test]
    fn what_takes_too_long_is_ended_with_its_children() {
        let shell = |script: &str| {
            let mut command = Command::new("sh");
            command.args(["-c", script]).stdin(Stdio::null());
            command
        };
        let (mut reader, writer) = std::io::pipe().unwrap();
        let mut hanging = shell("sleep 60 & wait");
        hanging.stdout(writer);
        let error = finish(hanging, Some(Duration::from_millis(300))).unwrap_err();
        assert_eq!(error.to_string(), "did not end in 300ms");
        // The pipe has an end only if the inner process is gone too.
        let start = Instant::now();
        std::io::Read::read_to_end(&mut reader, &mut Vec::new()).unwrap();
        assert!(start.elapsed() < Duration::from_secs(30));
        let patient = Some(Duration::from_secs(30));
        assert!(finish(shell("true"), patient).unwrap().success());
        assert!(!finish(shell("exit 3"), patient).unwrap().success());
        assert!(finish(shell("true"), None).unwrap().success());
    }
}
