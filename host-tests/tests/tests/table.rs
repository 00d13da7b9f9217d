//! Tables are true: every tolerance is used, no test has a limit of its own, and the tests that the
//! toolbox's front page names exist.

use std::fs;
use std::path::{Path, PathBuf};

use fastmmd_reference::tolerance;

fn sources(folder: &Path) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder of sources") {
        let path = entry.expect("readable").path();
        if path.is_dir() {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path).expect("text");
            found.push((path, text));
        }
    }
    found
}

#[test]
fn every_entry_is_used() {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = sources(&package.join("tests"));
    files.extend(sources(&package.join("../reference/src")));
    files.extend(sources(&package.join("../evaluation/src")));
    files.extend(sources(&package.join("../../cli/tests")));
    files.retain(|(path, _)| !path.ends_with("tolerance.rs") && !path.ends_with("table.rs"));
    for (name, entry) in tolerance::ALL {
        let wanted = format!("tolerance::{name}");
        let used = files.iter().any(|(_, text)| {
            text.match_indices(&wanted).any(|(at, _)| {
                let next = text[at + wanted.len()..].chars().next();
                !next.is_some_and(|c| c.is_ascii_alphanumeric() || c == '_')
            })
        });
        assert!(used, "{name} is used by no test");
        println!("{name:24} {:8.1e}  {}: {}", entry.limit, entry.operation, entry.reason);
    }
}

/// What is asserted with a number such as 1e-6 in it, by its place in a source.
fn limits(text: &str) -> Vec<(usize, String)> {
    let code = |line: &str| if line.trim_start().starts_with("//") { "" } else { line }.to_owned();
    let text = text.lines().map(code).collect::<Vec<_>>().join("\n");
    let found = text.match_indices(concat!("assert", "!(")).filter_map(|(at, start)| {
        let from = &text[at + start.len()..];
        let mut depth = 1;
        let end = from.find(|c| {
            depth += i32::from(c == '(') - i32::from(c == ')');
            depth == 0
        });
        let asserted = from[..end.unwrap_or(from.len())].split_whitespace().collect::<Vec<_>>();
        let asserted = asserted.join(" ");
        // A number such as 1e-6, and no word with a hyphen.
        let power = asserted
            .match_indices("e-")
            .any(|(at, _)| asserted[..at].ends_with(|c: char| c.is_ascii_digit()));
        let is_limit = power || ["< 0.", "<= 0."].iter().any(|part| asserted.contains(part));
        is_limit.then(|| (text[..at].lines().count(), asserted))
    });
    found.collect()
}

/// A number such as 1e-6 in a comparison belongs in the table.
#[test]
fn no_test_has_a_limit_of_its_own() {
    for (text, count) in [
        ("assert!(error < 1e-6)", 1),
        ("assert!(\n    (error / size)\n        < 0.3,\n    \"large\"\n);", 1),
        ("// assert!(error < 0.1)\nassert!(error < wanted);", 0),
        ("assert!(text.contains(\"false-alarms are de-noised\"));", 0),
    ] {
        assert_eq!(limits(text).len(), count, "{text}");
    }
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut seen = 0;
    for folder in ["tests", "../reference/src", "../evaluation/src", "../../cli/tests"] {
        for (path, text) in sources(&package.join(folder)) {
            // This file has the controls above.
            if path.ends_with("tests/table.rs") {
                continue;
            }
            let found = limits(&text);
            assert!(found.is_empty(), "{}: {found:?}", path.display());
            seen += 1;
        }
    }
    assert!(seen > 100, "{seen} sources");
}

/// The table "What the papers have" names a test in the last cell of each row.
#[test]
fn tests_that_the_front_page_names_exist() {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let front = fs::read_to_string(package.join("../reference/src/lib.rs")).expect("a front page");
    let (_, table) = front.split_once("# What the papers have").expect("the table");
    let mut files = sources(&package.join("tests"));
    files.extend(sources(&package.join("../reference/src")));
    let exists = |name: &str| {
        let wanted = format!("fn {name}(");
        let is_file = name.strip_prefix("tests/").map(|file| package.join("tests").join(file));
        is_file.is_some_and(|path| path.is_file())
            || files.iter().any(|(_, text)| text.contains(&wanted))
    };
    // The control.
    assert!(!exists("a_test_that_nobody_wrote") && !exists("tests/nothing.rs"));
    let rows = table.lines().filter_map(|line| line.strip_prefix("//! | ")).skip(1);
    let mut named = 0;
    for row in rows {
        let cell = row.trim_end_matches([' ', '|']).rsplit(" | ").next().unwrap_or_default();
        for name in cell.split('`').skip(1).step_by(2) {
            assert!(exists(name), "{name} in {row}");
            named += 1;
        }
    }
    assert!(named > 20, "{named} tests named");
}
