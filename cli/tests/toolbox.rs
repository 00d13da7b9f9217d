//! `independence`, `select`, `reweight` and `nystrom`, against the toolbox itself.

use std::fs;

use crate::common::{directory, fastmmd, file};
use fastmmd_reference::generate::Generator;
use fastmmd_reference::hsic::{ExactPairs, Pairs as _};
use fastmmd_reference::kernel::gaussian;
use fastmmd_reference::matching::match_means;
use fastmmd_reference::{Points, Weighted, exact, selection, single, tolerance};
use serde_json::Value;

const EVERY: [usize; 5] = [0, 1, 2, 3, 4];

/// Some columns of a file, as the tool takes them: in single precision.
fn columns(path: &str, wanted: &[usize]) -> Vec<Vec<f64>> {
    let text = fs::read_to_string(path).expect("a log");
    let cell = |cell: &str| f64::from(cell.parse::<f32>().expect("a number"));
    let row = |line: &str| {
        let cells: Vec<f64> = line.split(',').map(cell).collect();
        wanted.iter().map(|&column| cells[column]).collect()
    };
    text.lines().skip(1).map(row).collect()
}

/// Some columns, each divided by its deviation.
fn standardised(path: &str, wanted: &[usize]) -> Points {
    let points = Points::new(wanted.len(), columns(path, wanted).concat()).expect("points");
    selection::standardised(&points).expect("they vary")
}

/// A Gaussian kernel as wide as the median distance.
fn median_kernel(points: &Points) -> impl Fn(&[f64], &[f64]) -> f64 + use<> {
    let mut distances = Vec::new();
    let rows: Vec<&[f64]> = points.rows().collect();
    for (index, a) in rows.iter().enumerate() {
        for b in &rows[..index] {
            distances.push(a.iter().zip(*b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt());
        }
    }
    distances.sort_unstable_by(f64::total_cmp);
    gaussian(distances[distances.len() / 2])
}

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
    let ratio = real(&none, "dependence") / real(&found, "dependence");
    tolerance::TOOL_INDEPENDENT.hold_below("c and d over a and b", ratio);
    // HSIC by the toolbox itself.
    let [a, b] = [0, 1].map(|column| standardised(&log, &[column]));
    let (k, l) = (median_kernel(&a), median_kernel(&b));
    let (a, b): (Vec<_>, Vec<_>) = (a.rows().collect(), b.rows().collect());
    let pairs = ExactPairs::new(&a, &b, |x, y| k(x, y), |x, y| l(x, y)).expect("pairs");
    let hsic = pairs.hsic().expect("finite");
    tolerance::TOOLBOX.hold("HSIC", real(&found, "hsic") / hsic, 1.0);
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
    tolerance::TOOL_MATCHED.hold_below("a", (real(a, "after") / real(a, "before")).abs());
    let rows = real(&object, "effective_rows");
    assert!(rows > 50.0 && rows < 250.0, "{rows}");
    let text = fs::read_to_string(&weights).expect("weights");
    let numbers: Vec<f64> = text.lines().skip(1).filter_map(|line| line.parse().ok()).collect();
    assert_eq!((text.lines().next(), numbers.len()), (Some("weight"), 250));
    tolerance::TOOLBOX.hold("mean", numbers.iter().sum::<f64>() / 250.0, 1.0);
    let told: Vec<f64> =
        object["weights"].as_array().expect("a list").iter().filter_map(Value::as_f64).collect();
    assert_eq!(told.len(), numbers.len());
    for (told, written) in told.iter().zip(&numbers) {
        tolerance::TOOLBOX.hold("as JSON", *told, *written);
    }
    // The device takes them all, which it would not if their sum were 1.
    let map = fastmmd::Fourier::<1, 4>::gaussian(1);
    let weigh = |scale: f64| {
        let mut embedding = fastmmd::Embedding::new(&map);
        let mut weights = numbers.iter().map(|weight| single(scale * weight));
        weights.try_for_each(|weight| embedding.add_weighted(&map, &[0.5], weight))
    };
    assert_eq!(weigh(1.0), Ok(()));
    let of_sum_one = weigh(1.0 / 250.0);
    assert_eq!(of_sum_one, Err(fastmmd::Error::OutOfRange(fastmmd::Parameter::Weight)));
    // Weights by the toolbox itself: in deviations of the target.
    let (x, y) = (columns(&own, &[0, 2]), columns(&target, &[0, 2]));
    let scaled = |rows: &[Vec<f64>]| -> Vec<Vec<f64>> {
        let scale = |(x, [mean, deviation]): (&f64, &[f64; 2])| (x - mean) / deviation;
        let moments = [0, 1].map(|column| {
            let values = || y.iter().map(|row| row[column]);
            let mean = values().sum::<f64>() / 250.0;
            [mean, (values().map(|x| (x - mean).powi(2)).sum::<f64>() / 250.0).sqrt()]
        });
        rows.iter().map(|row| row.iter().zip(&moments).map(scale).collect()).collect()
    };
    let (x, y) = (scaled(&x), scaled(&y));
    let kernel = median_kernel(&Points::new(2, y.concat()).expect("points"));
    let matched = match_means(&x, &y, |a: &Vec<f64>, b: &Vec<f64>| kernel(a, b), 0.001);
    let matched = matched.expect("weights");
    for (found, wanted) in numbers.iter().zip(&matched.weights) {
        tolerance::TOOLBOX.hold("weight", *found / 250.0, *wanted);
    }
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
    // With every row a landmark, the MMD² of the kernel itself.
    let (code, all) = one(&["nystrom", &x, &other, "--landmarks", "350"]);
    assert_eq!(code, 1);
    let both = [columns(&x, &EVERY), columns(&other, &EVERY)].concat();
    let both = selection::standardised(&Points::new(5, both.concat()).expect("points"));
    let both = both.expect("they vary");
    let kernel = median_kernel(&both);
    let part = |rows: std::ops::Range<usize>| {
        let values = both.rows().skip(rows.start).take(rows.len()).flatten().copied().collect();
        Weighted::even(Points::new(5, values).expect("points"))
    };
    let exact = exact::biased(&part(0..200), &part(200..350), |a: &[f64], b: &[f64]| kernel(a, b));
    tolerance::NYSTROM_FULL.hold("MMD²", real(&all, "mmd2"), exact.expect("finite"));
    let (code, object) = one(&["nystrom", &x, &same, "--landmarks", "16"]);
    assert_eq!((code, &object["reject"]), (0, &false.into()));
    assert!(real(&object, "p_value") > 0.05);
    let ran = fastmmd(&["nystrom", &x, &other, "--landmarks", "0"]);
    assert_eq!(ran.code, 2, "{ran:?}");
}

/// Rows that depend on earlier ones are shuffled in blocks, and that is said: two slow signals that have
/// nothing to do with each other are not taken for dependent, nor two files of one slow signal for
/// different.
#[test]
fn slow_signals_are_shuffled_in_blocks() {
    let at = directory("toolbox-memory");
    let slow = |rows: usize, seed: u64, memory: f64| {
        let (mut random, mut last) = (Generator::new(seed), [0.0; 2]);
        let mut text = "a,b\n".to_owned();
        for _ in 0..rows {
            last = last.map(|x| memory * x + (1.0 - memory * memory).sqrt() * random.normal());
            text.push_str(&format!("{},{}\n", last[0], last[1]));
        }
        text
    };
    let x = file(&at, "x.csv", &slow(700, 8, 0.9));
    let y = file(&at, "y.csv", &slow(700, 9, 0.9));
    let arguments = ["independence", &x, "--first", "a", "--second", "b"];
    let other = ["nystrom", &x, &y, "--landmarks", "16"];
    for arguments in [arguments.as_slice(), &other] {
        let (code, found) = one(arguments);
        assert_eq!(code, 0, "{found}");
        assert!(found["block_rows"].as_u64().is_some_and(|rows| rows > 20), "{found}");
        let told = fastmmd(arguments).out;
        assert!(told.contains("rows depend on earlier ones"), "{told}");
        assert!(told.contains("p may be too small"), "{told}");
    }
    // The control: where they do not, single rows are shuffled, and nothing is said.
    let quick = file(&at, "quick.csv", &slow(700, 8, 0.0));
    let arguments = ["independence", &quick, "--first", "a"];
    let (_, found) = one(&arguments);
    assert!(found["block_rows"].is_null(), "{found}");
    assert!(!fastmmd(&arguments).out.contains("earlier"));
}

/// Help says what the numbers mean, when the exit code is 1, and what to type.
#[test]
fn help_teaches() {
    for (command, words) in [
        ("independence", ["correlation is 0", "exit code is 1", "fastmmd independence pump.csv"]),
        ("select", ["together", "comes first", "fastmmd select pump.csv"]),
        ("reweight", ["covariate shift", "1 on average", "fastmmd reweight laboratory.csv"]),
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
