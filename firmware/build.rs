//! The build script of every board: passes the board's memory map and the linker scripts of
//! start-up code and log to the linker.

use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() {
    // Beside the board's manifest; the emulated board's is the one at the top level.
    let map = ["memory.x", "../../memory.x"].into_iter().find(|map| Path::new(map).exists());
    let map = map.expect("a board has a memory map");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    fs::copy(map, out.join("memory.x")).expect("the memory map can be copied");
    println!("cargo::rerun-if-changed={map}");
    println!("cargo::rustc-link-search={}", out.display());
    for argument in ["--nmagic", "-Tlink.x", "-Tdefmt.x"] {
        println!("cargo::rustc-link-arg={argument}");
    }
}
