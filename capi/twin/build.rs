//! As the firmware's build script, where the target is a board.

use std::env;

#[path = "../../firmware/build.rs"]
mod board;

fn main() {
    if env::var("CARGO_CFG_TARGET_OS").is_ok_and(|system| system == "none") {
        board::main();
    }
}
