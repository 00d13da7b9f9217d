//! The compiler refuses shapes that do not fit together, with a message: `ui/wrong/` has a program
//! for each case and the expected messages.
//!
//! Where they cannot be compiled or compared, the test fails if `CI` is set, and else says so.
//!
//! After an intended change: `TRYBUILD=overwrite cargo test -p fastmmd-ui`.

use std::path::Path;
use std::process::Command;

/// The messages are those of one compiler.
const TOOLCHAIN: &str = include_str!("../../../rust-toolchain.toml");

/// The output of a program, if it succeeds.
fn output(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Why the programs cannot be compiled or compared here, if they cannot.
fn obstacle() -> Option<String> {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    // Of this host alone: a build fetches no others.
    let host = output("rustc", &["--print", "host-tuple"]).unwrap_or_default();
    let metadata = ["metadata", "--offline", "--format-version=1", "--filter-platform", &host];
    if output(&cargo, &metadata).is_none() {
        return Some("cargo does not find all dependencies offline".to_owned());
    }
    let version = output("rustc", &["--version"]).unwrap_or_default();
    let number = version.split(' ').nth(1).unwrap_or_default();
    if !TOOLCHAIN.contains(&format!("\"{number}\"")) {
        return Some(format!("rustc {number:?} may word the messages differently"));
    }
    let root = output("rustc", &["--print", "sysroot"]).unwrap_or_default();
    let sources = Path::new(&root).join("lib/rustlib/src").exists();
    sources.then(|| "with the component rust-src, messages show lines of core".to_owned())
}

#[test]
fn wrong_shapes_do_not_compile() {
    if let Some(reason) = obstacle() {
        // Where all of it has to run, what did not is no pass.
        assert!(std::env::var_os("CI").is_none(), "not run: {reason}");
        println!("skipped: {reason}");
        return;
    }
    let programs = trybuild::TestCases::new();
    // The control. With it, programs are compiled to the end, as some checks need.
    programs.pass("ui/right_shapes.rs");
    programs.compile_fail("ui/wrong/*.rs");
}
