//! Builds images that do not depend on the folder of the checkout: what is flashed can be built again, and
//! compared.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::boards::{BOARDS, Board, EMULATED};
use crate::outcome::Outcome;
use crate::project::Project;
use crate::{setup, wrapper};

/// What the firmware is built from.
const SOURCES: [&str; 7] =
    ["Cargo.toml", "README.md", "examples", "firmware", "memory.x", "rust-toolchain.toml", "src"];

/// The smallest program with a detector: for the check.
const PROGRAM: &str = "recorded-single";

/// Options of `cargo xtask image`.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The board's folder in `firmware`.
    board: String,
}

pub(crate) fn run(project: &Project, arguments: &Arguments) -> Result<Outcome> {
    let named = |board: &&Board| board.directory == arguments.board;
    let board = BOARDS.iter().find(named).context("no such board")?;
    let [program, ..] = board.measured else { bail!("no program") };
    let image = image(project, board, program, "here")?;
    let file = project.scratch("image").join(format!("{program}.bin"));
    fs::copy(&image, &file)?;
    println!("{}", file.display());
    Ok(Outcome::Passed)
}

/// An error if an image depends on the folder that it is built in.
pub(crate) fn is_the_same_elsewhere(project: &Project) -> Result<()> {
    // Paths of different lengths.
    let build = |folder| fs::read(image(project, &EMULATED, PROGRAM, folder)?).context("its image");
    let (here, there) = (build("here")?, build("elsewhere/in/a/folder")?);
    match first_difference(&here, &there) {
        None => Ok(()),
        Some(at) => bail!("{PROGRAM} depends on the path of the checkout, from byte {at}"),
    }
}

/// Builds a program from a copy of the sources in a folder below `target/image`: so that nothing is left there
/// of a build that was not told to forget its folder, which cargo would not notice. Gives the file of the bytes
/// that are written to the flash.
fn image(project: &Project, board: &Board, program: &str, folder: &str) -> Result<PathBuf> {
    setup::targets(project, &[board.target])?;
    setup::component(project, None, "llvm-tools")?;
    let root = project.scratch("image").join(folder);
    for name in SOURCES {
        let copy = root.join(name);
        if copy.is_dir() {
            fs::remove_dir_all(&copy)?;
        }
        copy_all(&project.path(name), &copy).with_context(|| format!("copying {name}"))?;
    }
    let Board { package, target, log, .. } = board;
    let built = root.join("target");
    project
        .cargo()
        .within(&root.join("firmware"))
        .args(["build", "--quiet", "--release"])
        .builds_in(&built)
        .args([format!("--package={package}"), format!("--target={target}")])
        .args(["--bin", program])
        .env("DEFMT_LOG", log)
        .env("DEFMT_RTT_BUFFER_SIZE", "128")
        .quiet_env("RUSTC_WRAPPER", std::env::current_exe()?)
        .quiet_env(wrapper::ROOT, &root)
        .run()?;
    let elf = built.join(target).join("release").join(program);
    let image = elf.with_extension("bin");
    project.llvm_tool("llvm-objcopy")?.args(["-O", "binary"]).arg(elf).arg(&image).output()?;
    Ok(image)
}

fn copy_all(from: &Path, to: &Path) -> Result<()> {
    if !from.is_dir() {
        fs::create_dir_all(to.parent().context("no folder")?)?;
        fs::copy(from, to)?;
        return Ok(());
    }
    for entry in fs::read_dir(from)? {
        let name = entry?.file_name();
        if name != "target" {
            copy_all(&from.join(&name), &to.join(&name))?;
        }
    }
    Ok(())
}

fn first_difference(here: &[u8], there: &[u8]) -> Option<usize> {
    let longer = here.len().max(there.len());
    (0..longer).find(|at| here.get(*at) != there.get(*at))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_byte_is_noticed() {
        assert_eq!(first_difference(b"image", b"image"), None);
        assert_eq!(first_difference(b"image", b"imagf"), Some(4));
        assert_eq!(first_difference(b"image", b"imag"), Some(4));
        assert_eq!(first_difference(b"", b"i"), Some(0));
    }
}
