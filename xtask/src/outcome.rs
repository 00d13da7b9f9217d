//! The outcome of a step, and the failures of a command.

use anyhow::{Result, bail};

/// How a step that did not fail ended.
pub(crate) enum Outcome {
    /// All its checks passed.
    Passed,
    /// It could not run here, for this reason.
    Skipped(String),
}

/// Failures of a command that continues after each.
#[derive(Default)]
pub(crate) struct Failures(Vec<String>);

impl Failures {
    /// Prints the result of one check, and remembers a failure.
    pub(crate) fn note(&mut self, name: &str, result: Result<()>) {
        match result {
            Ok(()) => println!("    ok: {name}"),
            Err(error) => {
                println!("    FAILED: {name}: {error:#}");
                self.0.push(name.to_owned());
            }
        }
    }

    /// Returns an error that names all failures, if there were any.
    pub(crate) fn finish(self) -> Result<Outcome> {
        if self.0.is_empty() {
            return Ok(Outcome::Passed);
        }
        bail!("{} failed: {}", self.0.len(), self.0.join("; "))
    }
}
