//! Lines for the terminal.

use std::io::Write;

use anstyle::{AnsiColor, Style};

use crate::fault::Fault;

pub(crate) const RED: Style = AnsiColor::Red.on_default().bold();
pub(crate) const GREEN: Style = AnsiColor::Green.on_default();

/// Prints a line; colours only reach a terminal that wants them.
pub(crate) fn say(line: impl std::fmt::Display) -> Result<(), Fault> {
    // A reader that closes the pipe early must not cause a panic.
    writeln!(anstream::stdout(), "{line}").map_err(|error| match error.kind() {
        std::io::ErrorKind::BrokenPipe => Fault::nobody_listens(),
        _ => Fault::new(error),
    })
}

/// Prints why the program ends.
pub(crate) fn complain(fault: &Fault) {
    let _ = writeln!(anstream::stderr(), "{RED}error{RED:#}: {fault}");
}

/// What is said of a group that is too small to be tested.
pub(crate) const TOO_FEW: &str = "too few devices";

/// A probability with its significant digits; none of what was not tested.
pub(crate) fn probability(p: Option<f64>) -> String {
    match p {
        None => "-".to_owned(),
        Some(p) if p < 1e-3 => format!("{p:.1e}"),
        Some(p) => format!("{p:.4}"),
    }
}
