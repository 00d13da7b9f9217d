//! `independence`, `select`, `reweight` and `nystrom`, against the toolbox itself.

use std::fs;

use crate::common::{directory, fastmmd, file};
use fastmmd_reference::generate::Generator;
use serde_json::Value;

/// Rows of a, b = a² + noise, c and d independent, and the label, the sign of a·c.
fn log(rows: usize, seed: u64, shift: f64) -> String {
    let mut random = Generator::new(seed);
    let mut text = "a,b,c,d,label\n".to_owned();
    for _ in 0..rows {
        let [a, c, d] = [(); 3].map(|()| random.normal());
        let b = a * a + 0.3 * random.normal();
        let label = f64::from(u8::from(a * c > 0.0));
        text.push_str(&format!("{},{b},{c},{d},{label}\n", a + shift));
    }
    text
}

fn one(arguments: &[&str]) -> (i32, Value) {
    let ran = fastmmd(&[arguments, &["--json"]].concat());
    assert!(ran.code < 2, "{arguments:?} {ran:?}");
    (ran.code, ran.json().swap_remove(0))
}

/// The same with a picture, which has these words in it.
fn drawn(arguments: &[&str], at: &std::path::Path, words: &[&str]) -> (i32, Value) {
    let plot = at.join("picture.svg");
    let name = plot.to_str().expect("a name");
    let found = one(&[arguments, &["--plot", name]].concat());
    let picture = fs::read_to_string(&plot).expect("a picture");
    for word in words.iter().chain(&["</svg>"]) {
        assert!(picture.contains(word), "{word} in the picture of {arguments:?}");
    }
    found
}

fn real(object: &Value, name: &str) -> f64 {
    object[name].as_f64().unwrap_or_else(|| panic!("{name} in {object}"))
}

#[test]
fn dependence_without_correlation_is_found_and_none_where_there_is_none() {
    let at = directory("toolbox-independence");
    let log = file(&at, "log.csv", &log(200, 1, 0.0));
    let (code, found) = one(&["independence", &log, "--first", "a", "--second", "b"]);
    assert_eq!((code, &found["dependent"]), (1, &true.into()));
    let (code, none) = one(&["independence", &log, "--first", "c", "--second", "d"]);
    assert_eq!((code, &none["dependent"]), (0, &false.into()));
    assert!(real(&found, "dependence") > 3.0 * real(&none, "dependence"));
    let plot = at.join("pairs.svg");
    let name = plot.to_str().expect("a name");
    let ran = fastmmd(&["independence", &log, "--first", "a", "--second", "b,c,d", "--plot", name]);
    assert_eq!(ran.code, 1, "{ran:?}");
    let picture = fs::read_to_string(&plot).expect("a picture");
    assert!(picture.contains("a and b") && picture.contains("</svg>"));
    let ran = fastmmd(&["independence", &log, "--first", "a", "--second", "a"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    let ran = fastmmd(&["independence", &log, "--first", "nothing"]);
    assert!(ran.code == 2 && ran.err.contains("no column nothing"), "{ran:?}");
}

#[test]
fn the_columns_that_tell_the_label_come_first() {
    let at = directory("toolbox-select");
    let log = file(&at, "log.csv", &log(200, 2, 0.0));
    let (code, object) = drawn(&["select", &log, "--label", "label"], &at, &["label", "a", "c"]);
    assert_eq!(code, 0);
    let ranked = object["ranked"].as_array().expect("a list");
    let names: Vec<&str> = ranked.iter().filter_map(|entry| entry["column"].as_str()).collect();
    assert_eq!(names.len(), 4);
    // The label is the sign of a·c: neither tells it alone.
    let mut best = names[..2].to_vec();
    best.sort_unstable();
    assert_eq!(best, ["a", "c"]);
}

#[test]
fn weights_bring_means_together_and_are_written() {
    let at = directory("toolbox-reweight");
    let own = file(&at, "own.csv", &log(250, 3, 0.0));
    let target = file(&at, "target.csv", &log(250, 4, 0.6));
    let weights = at.join("weights.csv");
    let name = weights.to_str().expect("a name");
    let arguments = ["reweight", &own, &target, "--columns", "a,c", "-o", name];
    let (code, object) = drawn(&arguments, &at, &["a, as it is", "a, weighted"]);
    assert_eq!(code, 0);
    let [a, _] = object["columns"].as_array().expect("columns").as_slice() else {
        panic!("two columns in {object}")
    };
    assert!(real(a, "after").abs() < 0.3 * real(a, "before").abs(), "{a}");
    let rows = real(&object, "effective_rows");
    assert!(rows > 50.0 && rows < 250.0, "{rows}");
    let text = fs::read_to_string(&weights).expect("weights");
    let numbers: Vec<f64> = text.lines().skip(1).filter_map(|line| line.parse().ok()).collect();
    assert_eq!((text.lines().next(), numbers.len()), (Some("weight"), 250));
    assert!((numbers.iter().sum::<f64>() - 1.0).abs() < 1e-9);
}

#[test]
fn few_landmarks_tell_files_apart() {
    let at = directory("toolbox-nystrom");
    let x = file(&at, "x.csv", &log(200, 5, 0.0));
    let same = file(&at, "same.csv", &log(150, 6, 0.0));
    let other = file(&at, "other.csv", &log(150, 7, 0.7));
    let (code, object) = drawn(&["nystrom", &x, &other], &at, &["32 landmarks"]);
    assert_eq!((code, &object["reject"]), (1, &true.into()));
    assert_eq!(object["by_landmarks"].as_array().map(Vec::len), Some(5));
    let (code, object) = one(&["nystrom", &x, &same, "--landmarks", "16"]);
    assert_eq!((code, &object["reject"]), (0, &false.into()));
    assert!(real(&object, "p_value") > 0.05);
    let ran = fastmmd(&["nystrom", &x, &other, "--landmarks", "0"]);
    assert_eq!(ran.code, 2, "{ran:?}");
}

/// Help says what the numbers mean, when the exit code is 1, and what to type.
#[test]
fn help_teaches() {
    for (command, words) in [
        ("independence", ["correlation is 0", "exit code is 1", "fastmmd independence pump.csv"]),
        ("select", ["together", "comes first", "fastmmd select pump.csv"]),
        ("reweight", ["covariate shift", "sum to 1", "fastmmd reweight laboratory.csv"]),
        ("nystrom", ["landmarks are added", "exit code is 1", "fastmmd nystrom before.csv"]),
        ("test", ["pearson4", "four moments", "fastmmd test before.csv"]),
    ] {
        let ran = fastmmd(&[command, "--help"]);
        let text = ran.out.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(ran.code, 0, "{ran:?}");
        for word in words {
            assert!(text.contains(word), "{word} in the help of {command}: {text}");
        }
    }
}
