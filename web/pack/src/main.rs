//! `pack MODULE.wasm DIRECTORY`: what the command `wasm-bindgen` does, without installing it.

use std::env;

use anyhow::{Context as _, Result};
use wasm_bindgen_cli_support::Bindgen;

fn main() -> Result<()> {
    let mut arguments = env::args_os().skip(1);
    let module = arguments.next().context("usage: pack MODULE.wasm DIRECTORY")?;
    let directory = arguments.next().context("usage: pack MODULE.wasm DIRECTORY")?;
    let mut bindgen = Bindgen::new();
    // A worker that is no module of JavaScript runs in every browser.
    bindgen.input_path(module).out_name("fastmmd").no_modules(true)?.typescript(false);
    bindgen.remove_name_section(true).remove_producers_section(true);
    bindgen.generate(directory)
}
