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
mod promises;
mod readme;
mod recordings;
mod refusals;
mod regimes;
mod rows;
mod serde;
mod significance;
mod spectra;
mod state;
mod table;
mod witness;
