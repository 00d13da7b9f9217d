//! Takes from the budget of instructions the detectors that `src/cost.rs` knows: the page is loaded over a
//! network, and maps and other levels of optimisation are most of the file.

use std::{env, fs, path::Path};

const BUDGET: &str = "../firmware/bench/budget.json";

fn main() {
    println!("cargo::rerun-if-changed={BUDGET}");
    let text = fs::read_to_string(BUDGET).expect("the budget of instructions");
    let is_used = |row: &&str| {
        row.contains("\"opt\":\"3\"")
            && (row.contains("\"map\":\"detector\"") || row.contains("\"map\":\"cyclic\""))
    };
    // One row a line, each but the last with a comma.
    let rows: Vec<_> = text.lines().filter(is_used).map(|row| row.trim_end_matches(',')).collect();
    assert!(!rows.is_empty(), "{BUDGET} has no detector");
    let folder = env::var("OUT_DIR").expect("set by cargo");
    let kept = Path::new(&folder).join("detectors.json");
    fs::write(kept, format!("[{}]", rows.join(","))).expect("a file");
}
