//! A progress bar on standard error, for work of more than a second and only on a terminal.

use std::io::IsTerminal;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

/// Time before the bar is shown.
const QUIET: Duration = Duration::from_secs(1);

pub(crate) struct Bar {
    began: Instant,
    bar: Option<ProgressBar>,
    terminal: bool,
}

impl Bar {
    pub(crate) fn new() -> Self {
        Self { began: Instant::now(), bar: None, terminal: std::io::stderr().is_terminal() }
    }

    /// Shows how much is done, and of how much if known.
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
            // The time left is estimated from the progress from now on.
            bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
                .with_position(done)
                .with_elapsed(self.began.elapsed())
        });
        bar.set_position(done);
    }

    /// Calls `print` with the bar hidden.
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

/// A sign of activity for work of unknown length; removed when dropped.
pub(crate) struct Working {
    end: Option<Sender<()>>,
    shows: Option<JoinHandle<()>>,
}

impl Working {
    /// Shows what is done, after a while and on a terminal.
    pub(crate) fn begin(what: &'static str) -> Self {
        if !std::io::stderr().is_terminal() {
            return Self { end: None, shows: None };
        }
        let (end, ended) = channel();
        let shows = thread::spawn(move || {
            if ended.recv_timeout(QUIET) == Err(RecvTimeoutError::Timeout) {
                let bar = ProgressBar::new_spinner().with_message(what);
                bar.enable_steady_tick(Duration::from_millis(100));
                // Nothing is ever sent: this waits until the sender is dropped.
                let _ = ended.recv();
                bar.finish_and_clear();
            }
        });
        Self { end: Some(end), shows: Some(shows) }
    }
}

impl Drop for Working {
    fn drop(&mut self) {
        self.end = None;
        if let Some(shows) = self.shows.take() {
            // It only draws, so it cannot have failed.
            let _ = shows.join();
        }
    }
}
