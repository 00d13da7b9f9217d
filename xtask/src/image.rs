//! Builds one image in another folder: it must be the same, byte for byte.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::boards::EMULATED;
use crate::project::Project;
use crate::{firmware, setup};

/// The smallest program with a detector.
const PROGRAM: &str = "recorded-single";

/// What the firmware is built from.
const SOURCES: [&str; 6] =
    ["Cargo.toml", "README.md", "examples", "firmware", "memory.x", "rust-toolchain.toml"];

/// The core, which is a source, too.
const CORE: &str = "src";

/// Compares with the image that [`firmware::build`] has built here.
pub(crate) fn is_the_same_elsewhere(project: &Project) -> Result<()> {
    setup::component(project, None, "llvm-tools")?;
    // A path of another length.
    let elsewhere = project.scratch("elsewhere/in/a/folder");
    for name in SOURCES.into_iter().chain([CORE]) {
        let copy = elsewhere.join(name);
        if copy.is_dir() {
            fs::remove_dir_all(&copy)?;
        }
        copy_all(&project.path(name), &copy).with_context(|| format!("copying {name}"))?;
    }
    let target = elsewhere.join("target");
    firmware::build_at(project, &EMULATED, "release", (&elsewhere, &target))
        .args(["--bin", PROGRAM])
        .run()?;
    let here = flashed(project, &project.firmware_file(EMULATED.target, "release", PROGRAM))?;
    let there = flashed(project, &target.join(EMULATED.target).join("release").join(PROGRAM))?;
    match first_difference(&here, &there) {
        None => Ok(()),
        Some(at) => bail!("{PROGRAM} depends on the path of the checkout, from byte {at}"),
    }
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

/// The bytes that are written to the flash.
fn flashed(project: &Project, elf: &Path) -> Result<Vec<u8>> {
    let image = elf.with_extension("image");
    project.llvm_tool("llvm-objcopy")?.args(["-O", "binary"]).arg(elf).arg(&image).output()?;
    Ok(fs::read(image)?)
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
