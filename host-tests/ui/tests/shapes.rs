//! Shapes that do not fit together are refused by the compiler, and it says why: a program in
//! `ui/wrong/` for each kind, with the messages that it must give.
//!
//! If a message is meant to change: `TRYBUILD=overwrite cargo test -p fastmmd-ui`.

use std::path::Path;
use std::process::Command;

/// The messages are those of one compiler.
const TOOLCHAIN: &str = include_str!("../../../rust-toolchain.toml");

/// What a program prints, if it runs and is content.
fn output(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Why the programs cannot be compiled here, or not be compared.
fn obstacle() -> Option<String> {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    if output(&cargo, &["metadata", "--offline", "--format-version=1"]).is_none() {
        return Some("cargo does not find all it needs offline".to_owned());
    }
    let version = output("rustc", &["--version"]).unwrap_or_default();
    let number = version.split(' ').nth(1).unwrap_or_default();
    if !TOOLCHAIN.contains(&format!("\"{number}\"")) {
        return Some(format!("rustc {number:?} may put the messages in another way"));
    }
    let root = output("rustc", &["--print", "sysroot"]).unwrap_or_default();
    let sources = Path::new(&root).join("lib/rustlib/src").exists();
    sources.then(|| "with the component rust-src, messages show lines of core".to_owned())
}

#[test]
fn wrong_shapes_do_not_compile() {
    if let Some(reason) = obstacle() {
        println!("skipped: {reason}");
        return;
    }
    let programs = trybuild::TestCases::new();
    // The control; with it programs are compiled to the end, as some shapes need.
    programs.pass("ui/right_shapes.rs");
    programs.compile_fail("ui/wrong/*.rs");
}
