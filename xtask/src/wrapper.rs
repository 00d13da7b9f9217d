//! Calls the compiler so that its output does not depend on where the checkout is.
//!
//! Cargo calls this program in place of the compiler (`RUSTC_WRAPPER`). It replaces the paths of the
//! checkout and of cargo's downloads. And it replaces the number that cargo derives for each of our crates:
//! the core is outside of the firmware's workspace, so its number depends on its path, and so do those of
//! all that use it; symbols, and the order of functions, would depend on them. As flags of cargo, the paths
//! would themselves change all numbers.

use std::env;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// Set to the root of the checkout: this program is called as a compiler.
pub(crate) const ROOT: &str = "FASTMMD_CHECKOUT";

/// Calls the compiler that cargo names first.
pub(crate) fn run(root: &Path) -> ExitCode {
    let mut given = env::args_os().skip(1);
    let Some(compiler) = given.next() else { return ExitCode::FAILURE };
    let status =
        Command::new(compiler).args(arguments(given.collect(), root, &cargo_home())).status();
    match status.ok().and_then(|status| status.code()).map(u8::try_from) {
        Some(Ok(code)) => code.into(),
        _ => ExitCode::FAILURE,
    }
}

fn cargo_home() -> PathBuf {
    let home = env::var_os("HOME").or_else(|| env::var_os("USERPROFILE")).unwrap_or_default();
    env::var_os("CARGO_HOME").map_or_else(|| Path::new(&home).join(".cargo"), PathBuf::from)
}

/// The arguments of the compiler instead of those `given`.
fn arguments(mut given: Vec<OsString>, root: &Path, home: &Path) -> Vec<OsString> {
    let is_source = |it: &&OsString| Path::new(it).extension().is_some_and(|end| end == "rs");
    let source = given.iter().find(is_source);
    // Others are in the folder of cargo's downloads.
    let is_ours = source.is_some_and(|source| !Path::new(source).starts_with(home));
    let name = given.iter().skip_while(|it| *it != "--crate-name").nth(1).cloned();
    if let Some(name) = name.filter(|_| is_ours) {
        let is_number = |it: &&mut OsString| it.to_string_lossy().starts_with("metadata=");
        for number in given.iter_mut().filter(is_number) {
            *number = "metadata=".into();
            number.push(&name);
        }
    }
    for (from, to) in [(root, "/fastmmd"), (home, "/cargo")] {
        let mut remap = OsString::from("--remap-path-prefix=");
        remap.push(from.as_os_str());
        remap.push(OsStr::new("="));
        remap.push(to);
        given.push(remap);
    }
    given
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_crates_lose_what_depends_on_their_path() {
        let of = |source: &str| {
            let given = ["--crate-name", "one", source, "-C", "metadata=0123", "-C", "opt-level=3"];
            let given = given.map(OsString::from).to_vec();
            let found = arguments(given, Path::new("/here"), Path::new("/home/.cargo"));
            found.into_iter().map(|it| it.into_string().unwrap()).collect::<Vec<_>>()
        };
        assert_eq!(of("/home/.cargo/registry/one/src/lib.rs")[4], "metadata=0123");
        for source in ["app/src/lib.rs", "/here/src/lib.rs"] {
            let ours = of(source);
            assert_eq!((ours[4].as_str(), ours[6].as_str()), ("metadata=one", "opt-level=3"));
            let remaps =
                ["--remap-path-prefix=/here=/fastmmd", "--remap-path-prefix=/home/.cargo=/cargo"];
            assert_eq!(ours[7..], remaps);
        }
    }
}
