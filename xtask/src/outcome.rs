//! How a step ended, and how several results become one.

use anyhow::{Result, bail};

/// How a step that did not fail ended.
pub(crate) enum Outcome {
    /// All it checks is as it should be.
    Passed,
    /// It could not run here, and why.
    Skipped(String),
}

/// Failures of a command that goes on after each.
#[derive(Default)]
pub(crate) struct Failures(Vec<String>);

impl Failures {
    /// Says how one check ended, and keeps its failure for the end.
    pub(crate) fn note(&mut self, name: &str, result: Result<()>) {
        match result {
            Ok(()) => println!("    ok: {name}"),
            Err(error) => {
                println!("    FAILED: {name}: {error:#}");
                self.0.push(name.to_owned());
            }
        }
    }

    /// An error that names all failures, if there were any.
    pub(crate) fn finish(self) -> Result<Outcome> {
        if self.0.is_empty() {
            return Ok(Outcome::Passed);
        }
        bail!("{} of its checks: {}", self.0.len(), self.0.join("; "))
    }
}
