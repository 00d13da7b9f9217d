//! A bar on standard error, for work over a second and only on a terminal.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

/// How long nothing is shown.
const QUIET: Duration = Duration::from_secs(1);

pub(crate) struct Progress {
    began: Instant,
    bar: Option<ProgressBar>,
    terminal: bool,
}

impl Progress {
    pub(crate) fn new() -> Self {
        Self { began: Instant::now(), bar: None, terminal: std::io::stderr().is_terminal() }
    }

    /// Shows how much is done, and of how much where that is known.
    pub(crate) fn show(&mut self, (done, all): (u64, Option<u64>)) {
        if !self.terminal || self.began.elapsed() < QUIET {
            return;
        }
        let bar = self.bar.get_or_insert_with(|| {
            let (bar, template) = match all {
                Some(all) => (ProgressBar::new(all), "{bar:40} {percent:>3} %, {eta} left"),
                None => (ProgressBar::new_spinner(), "{spinner} {bytes} read"),
            };
            let style = ProgressStyle::with_template(template);
            // The time left is told by what is done from now on.
            bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
                .with_position(done)
                .with_elapsed(self.began.elapsed())
        });
        bar.set_position(done);
    }

    /// Does what prints a line, without the bar in its way.
    pub(crate) fn aside<T>(&self, print: impl FnOnce() -> T) -> T {
        match &self.bar {
            Some(bar) => bar.suspend(print),
            None => print(),
        }
    }

    pub(crate) fn finish(self) {
        if let Some(bar) = self.bar {
            bar.finish_and_clear();
        }
    }
}
