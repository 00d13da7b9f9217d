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
