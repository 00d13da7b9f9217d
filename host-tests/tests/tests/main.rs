//! All tests of this package, as one program: what they share is compiled and linked once.
//! `cargo test -p fastmmd-tests api::` runs those of one file.

mod accuracy;
mod algebra;
mod api;
mod calibration;
mod common;
mod core_against_reference;
mod coupling;
mod defects;
mod dynamic;
mod embeddings;
mod evaluate;
mod fixed;
mod golden;
mod integers;
mod long_run;
mod mutants;
mod null;
mod paper_figures;
mod peers;
mod readme;
mod recordings;
mod refusals;
mod regimes;
mod serde;
mod significance;
mod spectra;
mod state;
mod table;
mod witness;

/// A file that is not named above would not be run.
#[test]
fn every_file_is_part_of_the_program() {
    let program = include_str!("main.rs");
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests");
    for entry in std::fs::read_dir(folder).expect("the folder of tests") {
        let path = entry.expect("a file").path();
        let name = path.file_stem().and_then(|name| name.to_str()).expect("UTF-8").to_owned();
        let is_test = path.extension().is_some_and(|end| end == "rs") && name != "main";
        let named = program.contains(&format!("\nmod {name};\n"));
        assert!(named || !is_test, "{name}.rs is not in main.rs");
    }
}
