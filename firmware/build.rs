//! The build script of every program that starts by itself: tells the linker where the board's
//! memory map and the scripts of start-up code and log are.

use std::path::{Path, PathBuf};
use std::{env, fs};

pub(crate) fn main() {
    // Beside the board's manifest; the emulated board's is the one at the top level.
    let target = env::var("TARGET").expect("cargo sets TARGET");
    let is_risc_v = target.starts_with("riscv");
    let maps: &[_] = if is_risc_v {
        &["../emulated/virt.x"]
    } else {
        &["memory.x", "../../memory.x", "../../../memory.x"]
    };
    let map = maps.iter().find(|map| Path::new(map).exists());
    let map = map.expect("a board has a memory map");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    fs::copy(map, out.join("memory.x")).expect("the memory map can be copied");
    println!("cargo::rerun-if-changed={map}");
    println!("cargo::rustc-link-search={}", out.display());
    // Only those that log have the log's script.
    let manifest = fs::read_to_string("Cargo.toml").expect("cargo runs this beside the manifest");
    let logs = manifest.contains("\ndefmt =").then_some("-Tdefmt.x");
    // Start-up code for RISC-V does not include the memory map by itself.
    let first = is_risc_v.then_some("-Tmemory.x");
    for argument in first.into_iter().chain(["--nmagic", "-Tlink.x"]).chain(logs) {
        println!("cargo::rustc-link-arg={argument}");
    }
}
