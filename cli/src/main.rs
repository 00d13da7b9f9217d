//! `fastmmd`: drift detection in logs, with the device's detector.

use std::process::ExitCode;

fn main() -> ExitCode {
    fastmmd_cli::run(std::env::args_os())
}
