//! Shapes that do not fit together are refused by the compiler, and it says why: a program in
//! `ui/wrong/` for each kind, with the messages that it must give.
//!
//! If a message is meant to change: `TRYBUILD=overwrite cargo test -p fastmmd-ui`.

use std::process::Command;

/// The messages are those of one compiler.
const TOOLCHAIN: &str = include_str!("../../../rust-toolchain.toml");

/// Why the programs cannot be compiled here, or not be compared.
fn obstacle() -> Option<String> {
    let run = |program: &str, arguments: &[&str]| {
        let output = Command::new(program).args(arguments).output();
        let output = output.ok().filter(|output| output.status.success())?;
        String::from_utf8(output.stdout).ok()
    };
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    if run(&cargo, &["metadata", "--offline", "--format-version=1"]).is_none() {
        return Some("cargo does not run offline here".to_owned());
    }
    let version = run("rustc", &["--version"]).unwrap_or_default();
    let number = version.split(' ').nth(1).unwrap_or_default();
    let pinned = TOOLCHAIN.contains(&format!("\"{number}\""));
    (!pinned).then(|| format!("the messages are not those of rustc {number}"))
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
