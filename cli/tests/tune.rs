//! `tune` on a file.

mod common;

use common::{directory, fastmmd, file, noise};

/// The Rust source that the command prints, compiled unchanged.
#[allow(dead_code, reason = "it only has to compile")]
mod pasted {
    include!("tuned/innovation.rs");

    pub(crate) fn check() -> bool {
        Drift::new(&MAP, CONFIG).is_ok()
    }
}

#[allow(dead_code, reason = "it only has to compile")]
mod pasted_raw {
    include!("tuned/raw.rs");

    pub(crate) fn check() -> bool {
        Drift::new(&MAP, CONFIG).is_ok()
    }
}

/// The Rust source in the output.
fn rust(text: &str) -> &str {
    text.split("To paste:\n\n").nth(1).expect("something to paste")
}

#[test]
fn candidates_are_tried_and_the_best_is_printed_as_rust() {
    let at = directory("tune");
    let log = file(&at, "log.csv", &noise(6000, 6000, 0.0, 1));
    let ran = fastmmd(&["tune", &log]);
    assert_eq!(ran.code, 0, "{ran:?}");
    for part in ["innovation", "raw", "delay", "false alarms", "M4F", "M0", "bytes", "expected"] {
        assert!(ran.out.contains(part), "{part:?} is missing in\n{}", ran.out);
    }
    assert_eq!(rust(&ran.out), include_str!("tuned/raw.rs"));
    let lines = fastmmd(&["tune", &log, "--json"]).json();
    assert!(lines.len() >= 6, "{lines:?}");
    let suggested: Vec<_> = lines.iter().filter(|line| line["suggested"] == true).collect();
    assert_eq!(suggested.len(), 1);
    for line in &lines {
        let found = line["smallest_shift"].as_array().expect("a step for each channel");
        // Noise of deviation 1: within 64 rows, steps from about half a deviation are found.
        let sizes: Vec<f64> = found.iter().map(|size| size.as_f64().unwrap_or(99.0)).collect();
        let limit = if line["view"] == "innovation" { 5.0 } else { 2.0 };
        assert!(sizes.len() == 3 && sizes.iter().all(|size| (0.2..limit).contains(size)), "{line}");
        assert!(line["instructions_m0"].as_u64() > line["instructions_m4f"].as_u64(), "{line}");
        assert!(line["ram_bytes"].as_u64() > Some(500));
    }
    let small = fastmmd(&["tune", &log, "--ram", "2200", "--json"]).json();
    let chosen = small.iter().find(|line| line["suggested"] == true).expect("one that fits");
    assert!(chosen["ram_bytes"].as_u64() <= Some(2200), "{chosen}");
    let ran = fastmmd(&["tune", &log, "--ram", "2200"]);
    assert_eq!(rust(&ran.out), include_str!("tuned/innovation.rs"));
    assert!(pasted::check() && pasted_raw::check());
    let ran = fastmmd(&["tune", &log, "--ram", "10"]);
    assert!(ran.code == 0 && ran.out.contains("No candidate keeps the stated"), "{}", ran.out);
}

#[test]
fn longer_delays_find_smaller_steps() {
    let at = directory("tune-delay");
    let log = file(&at, "log.csv", &noise(4000, 4000, 0.0, 4));
    let least = |within: &str| {
        let lines = fastmmd(&["tune", &log, "--within", within, "--json"]).json();
        let raw = lines.iter().find(|line| line["view"] == "raw").expect("a raw candidate");
        let sizes = raw["smallest_shift"].as_array().expect("steps").clone();
        sizes.iter().map(|size| size.as_f64().unwrap_or(99.0)).sum::<f64>()
    };
    assert!(least("200") < least("8"));
}
