//! `fastmmd`: what a device saved, explained on a laptop.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use fastmmd::Recipe;

/// Looks into what the fastmmd crate saves.
///
/// Exit codes: 0 done, 2 the file cannot be read or is not a saved state.
#[derive(Parser)]
#[command(name = "fastmmd", version, max_term_width = 100)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Say which map a saved map, embedding, pair of streams or detector was made with.
    Inspect {
        /// The file, as `save` wrote it.
        file: PathBuf,
    },
}

fn main() -> ExitCode {
    let Command::Inspect { file } = Arguments::parse().command;
    match inspect(&file) {
        Ok(text) => {
            print!("{text}");
            ExitCode::SUCCESS
        }
        Err(why) => {
            eprintln!("{}: {why}", file.display());
            ExitCode::from(2)
        }
    }
}

/// The recipe of the map behind a saved state, a line for each of its parts.
fn inspect(file: &Path) -> Result<String, Box<dyn std::error::Error>> {
    let bytes = std::fs::read(file)?;
    let recipe = Recipe::restore(&bytes)?;
    let kernel = recipe.kernel;
    let mut text = String::new();
    writeln!(text, "length      {} bytes", bytes.len())?;
    writeln!(text, "map         {:?}, {} inputs", recipe.kind, recipe.dims)?;
    writeln!(text, "frequencies {}, {:?}", recipe.features, recipe.sampling)?;
    if recipe.block > 0 {
        writeln!(text, "blocks of   {}", recipe.block)?;
    }
    writeln!(text, "kernel      {:?}, bandwidth {}", kernel.profile(), kernel.bandwidth())?;
    writeln!(text, "K(0)        {}", kernel.scale())?;
    writeln!(text, "seed        {}", recipe.seed)?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fastmmd::{FeatureMap, Fourier, Kernel, Sampling};

    #[test]
    fn a_saved_map_is_explained_and_anything_else_refused() {
        let file = std::env::temp_dir().join(format!("fastmmd-inspect-{}", std::process::id()));
        let map = Fourier::<3, 64>::new(Kernel::GAUSSIAN, Sampling::Auto, 7).expect("a map");
        let mut bytes = [0; Recipe::SAVED_BYTES];
        map.recipe().save(&mut bytes).expect("long enough");
        std::fs::write(&file, bytes).expect("a temporary file");
        let text = inspect(&file).expect("a record");
        assert!(text.contains("Fourier, 3 inputs") && text.contains("seed        7"), "{text}");
        std::fs::write(&file, b"something else").expect("a temporary file");
        let refused = inspect(&file).expect_err("not a record").to_string();
        assert_eq!(refused, "the bytes are not a saved state");
        std::fs::remove_file(&file).expect("a temporary file");
        assert!(inspect(&file).is_err());
    }
}
