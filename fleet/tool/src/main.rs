//! `fastmmd-fleet`: which device is odd, and did the fleet move.

use std::process::ExitCode;

fn main() -> ExitCode {
    fastmmd_fleet::run(std::env::args_os(), None)
}
