//! The tolerance table is complete: every entry is used, and no test has its own limit.

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

/// A number such as 1e-6 in a comparison belongs in the table.
#[test]
fn no_test_has_a_limit_of_its_own() {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let has_limit = |line: &str| {
        line.contains("assert!") && ["< 0.", "<= 0.", "e-"].iter().any(|part| line.contains(part))
    };
    assert!(has_limit("assert!(error < 1e-6)"));
    for (path, text) in sources(&tests) {
        if path.ends_with("table.rs") {
            continue;
        }
        for (index, line) in text.lines().enumerate() {
            assert!(!has_limit(line), "{}:{}: {line}", path.display(), index + 1);
        }
    }
}
