//! `test` on two files.

use crate::common::{directory, fastmmd, file};
use fastmmd_reference::generate::Generator;
use fastmmd_reference::{Points, Weighted, exact, kernel, tolerance};
use serde_json::Value;

/// Normal rows of two columns around a mean, and as points.
fn sample(rows: usize, mean: f64, seed: u64) -> (String, Points) {
    let mut random = Generator::new(seed);
    let (mut text, mut values) = ("x,y\n".to_owned(), Vec::new());
    for _ in 0..rows {
        let row = [mean + random.normal(), random.normal()].map(fastmmd_reference::single);
        text.push_str(&format!("{},{}\n", row[0], row[1]));
        values.extend(row.map(f64::from));
    }
    (text, Points::new(2, values).expect("rows"))
}

fn run(options: &[&str], name: &str, mean: f64) -> (i32, Value) {
    let at = directory(name);
    let (x, y) = (sample(400, 0.0, 1), sample(300, mean, 2));
    let (x, y) = (file(&at, "x.csv", &x.0), file(&at, "y.csv", &y.0));
    let ran = fastmmd(&[&["test", &x, &y, "--json"], options].concat());
    assert!(ran.code < 2, "{options:?} {ran:?}");
    (ran.code, ran.json().swap_remove(0))
}

fn real(object: &Value, name: &str) -> f64 {
    object[name].as_f64().unwrap_or_else(|| panic!("{name} in {object}"))
}

#[test]
fn the_contract_is_kept_and_the_exact_value_near() {
    let (code, object) = run(&["--sigma", "1.5", "--exact"], "test-contract", 0.7);
    assert_eq!(code, 1);
    for name in ["n", "m", "dim", "sigma", "features", "map", "sampling", "mmd2_biased"] {
        assert!(!object[name].is_null(), "{name} in {object}");
    }
    for name in ["mmd2_unbiased", "p_value", "threshold", "exact_biased", "exact_unbiased"] {
        assert!(object[name].is_number(), "{name} in {object}");
    }
    assert_eq!((&object["n"], &object["m"], &object["dim"]), (&400.into(), &300.into(), &2.into()));
    assert_eq!((&object["map"], &object["sampling"]), (&"fourier".into(), &"quasi".into()));
    assert_eq!((real(&object, "sigma"), &object["reject"]), (1.5, &true.into()));
    let even = |points: Points| Weighted::even(points);
    let (p, q) = (even(sample(400, 0.0, 1).1), even(sample(300, 0.7, 2).1));
    let biased = exact::biased(&p, &q, kernel::gaussian(1.5)).expect("samples");
    assert_eq!(real(&object, "exact_biased").to_bits(), biased.to_bits());
    tolerance::TOOL_MMD2.hold("MMD²", real(&object, "mmd2_biased") / biased, 1.0);
    let (_, plain) = run(&[], "test-contract-plain", 0.7);
    assert!(plain["exact_biased"].is_null() && real(&plain, "sigma") > 0.0);
}

#[test]
fn every_null_tells_equal_from_different() {
    for null in ["gamma", "permutation", "bootstrap", "pearson", "pearson4", "spectrum", "blocks"] {
        for (mean, differ) in [(0.0, false), (0.5, true)] {
            let name = format!("test-null-{null}-{differ}");
            let (code, object) = run(&["--null", null], &name, mean);
            assert_eq!((code, &object["reject"]), (i32::from(differ), &differ.into()), "{object}");
            let beyond = real(&object, "mmd2_biased") > real(&object, "threshold");
            assert_eq!((beyond, real(&object, "p_value") <= 0.05), (differ, differ), "{object}");
        }
    }
}

#[test]
fn maps_samplings_kernels_and_bandwidths_are_as_asked() {
    let cases: [(&[&str], &str, &str); 11] = [
        (&["--map", "fastfood"], "fastfood", "fastfood"),
        (&["--map", "fastfood", "--features", "100"], "fastfood", "fastfood"),
        (&["--map", "fastfood", "--features", "102"], "fastfood", "fastfood"),
        (&["--features", "99"], "fourier", "quasi"),
        (&["--sampling", "independent"], "fourier", "independent"),
        (&["--sampling", "orthogonal"], "fourier", "orthogonal"),
        (&["--kernel", "laplacian"], "fourier", "quasi"),
        (&["--kernel", "matern32", "--features", "1024"], "fourier", "quasi"),
        (&["--kernel", "matern52", "--features", "64"], "fourier", "quasi"),
        (&["--kernel", "exponential", "--seed", "9"], "fourier", "quasi"),
        (&["--sigma", "family", "--standardise"], "fourier", "quasi"),
    ];
    for (index, (options, map, sampling)) in cases.into_iter().enumerate() {
        let (code, object) = run(options, &format!("test-options-{index}"), 0.7);
        assert_eq!((code, &object["map"]), (1, &map.into()), "{object}");
        assert_eq!(object["sampling"], sampling);
    }
}

/// With few different values, many permutations tie with the observed statistic; ties must count.
#[test]
fn ties_count_as_large() {
    let at = directory("test-ties");
    let column = |ones: usize| format!("a\n{}{}", "1\n".repeat(ones), "0\n".repeat(10 - ones));
    let (x, y) = (file(&at, "x.csv", &column(7)), file(&at, "y.csv", &column(2)));
    let ran = fastmmd(&["test", &x, &y, "--null", "permutation", "--json"]);
    let p = real(&ran.json()[0], "p_value");
    // Of all ways to draw 10 of 20 rows, 9 of them ones: those with at most 2 or at least 7 ones.
    tolerance::TOOL_TIES.hold("p", p, 0.0698);
    assert_eq!(ran.code, 0);
}

#[test]
fn no_probability_is_nothing() {
    let (code, object) = run(&[], "test-sure", 1e6);
    assert!(code == 1 && real(&object, "p_value") > 0.0, "{object}");
}

#[test]
fn files_that_do_not_go_together_are_refused() {
    let at = directory("test-refused");
    let x = file(&at, "x.csv", &sample(50, 0.0, 1).0);
    let y = file(&at, "y.csv", "x,z\n1,2\n3,4\n");
    let ran = fastmmd(&["test", &x, &y]);
    assert_eq!(ran.err, format!("error: {y}: columns x, z; {x} has x, y\n"));
    let laplacian = fastmmd(&["test", &x, &x, "--kernel", "laplacian", "--map", "fastfood"]);
    assert!(laplacian.err.contains("not spherically invariant"), "{laplacian:?}");
    for (features, map) in [("0", "fourier"), ("65537", "fourier"), ("0", "fastfood")] {
        let ran = fastmmd(&["test", &x, &x, "--features", features, "--map", map]);
        assert!(ran.code == 2 && ran.err.contains("--features"), "{ran:?}");
    }
    let same = fastmmd(&["test", &x, &x]);
    assert!(same.code == 0 && same.out.contains("no difference at the level of 0.05"), "{same:?}");
}

/// An autoregressive process of two channels, shifted in the first.
fn slow(rows: usize, shift: f64, seed: u64) -> String {
    let (mut random, mut last) = (Generator::new(seed), [0.0; 2]);
    let mut text = "x,y\n".to_owned();
    for _ in 0..rows {
        last = last.map(|x| 0.95 * x + random.normal());
        text.push_str(&format!("{},{}\n", last[0] + shift, last[1]));
    }
    text
}

/// Slow signals of one distribution look different to a test of independent rows.
#[test]
fn rows_that_depend_on_earlier_ones_are_shuffled_in_blocks() {
    let at = directory("test-slow");
    let [mut corrected, mut naive] = [0; 2];
    for seed in 0..20 {
        let x = file(&at, "x.csv", &slow(2000, 0.0, 2 * seed));
        let y = file(&at, "y.csv", &slow(2000, 0.0, 2 * seed + 1));
        let run = |more: &[&str]| fastmmd(&[&["test", &x, &y, "--features", "32"], more].concat());
        corrected += run(&[]).code;
        naive += run(&["--null", "gamma"]).code;
    }
    println!("said to differ, of 20: {corrected} by blocks, {naive} by rows");
    assert!(corrected <= 4, "{corrected}");
    // The control.
    assert!(naive >= 12, "{naive}");
    let x = file(&at, "x.csv", &slow(4000, 0.0, 1));
    let y = file(&at, "y.csv", &slow(4000, 4.0, 2));
    let ran = fastmmd(&["test", &x, &y]);
    assert_eq!(ran.code, 1, "{ran:?}");
    for part in ["independent rows", "blocks of ", "channels that differ by themselves: x (p = "] {
        assert!(ran.out.contains(part), "{part:?} is missing in {}", ran.out);
    }
    assert!(!ran.out.contains("y (p"), "{}", ran.out);
    let object = fastmmd(&["test", &x, &y, "--json"]).json().swap_remove(0);
    assert_eq!(object["null"], "blocks");
    let memory = object["memory_rows"][0].as_f64().expect("a number");
    // Of the theory: (1 + 0.95)/(1 − 0.95).
    tolerance::TOOL_MEMORY.hold("rows", memory / 39.0, 1.0);
    assert_eq!(object["channels"][0]["differs"], true);
    assert_eq!(object["channels"][1]["differs"], false);
    let told = fastmmd(&["test", &x, &y, "--null", "gamma"]).out;
    assert!(told.contains("p is too small; --null blocks corrects for it"), "{told}");
}

/// What is told is what is compared with the threshold: rows that fill no block count in neither.
#[test]
fn the_statistic_is_that_of_the_rows_in_blocks() {
    let at = directory("test-whole-blocks");
    // The memory is that of the first 8192 rows, whatever comes after them.
    let (x, y) = (slow(9000, 0.0, 1), slow(9000, 0.0, 2));
    let run = |rows: usize, more: &str| {
        let cut = |text: &str| text.lines().take(1 + rows).collect::<Vec<_>>().join("\n") + "\n";
        let (x, y) = (file(&at, "x.csv", &cut(&x)), file(&at, "y.csv", &(cut(&y) + more)));
        let options = ["--null", "blocks", "--sigma", "3", "--features", "32"];
        let files = ["test", x.as_str(), y.as_str()];
        let text = fastmmd(&[&files[..], &options[..]].concat()).out;
        let ran = fastmmd(&[&files[..], &options[..], &["--json"]].concat());
        (ran.json().swap_remove(0), text)
    };
    let (first, _) = run(9000, "");
    let block = usize::try_from(first["block_rows"].as_u64().expect("rows")).expect("small");
    let rows = 9000 / block * block;
    let (whole, told) = run(rows, "");
    assert_eq!(whole["left_out_rows"], serde_json::json!([0, 0]));
    assert!(!told.contains("fill no block"), "{told}");
    let (more, told) = run(rows, &"90,-90\n".repeat(block - 1));
    assert_eq!(more["left_out_rows"], serde_json::json!([0, block - 1]));
    let said = format!("note: without the last 0 and {} rows, which fill no block", block - 1);
    assert!(told.contains(&said), "{told}");
    for name in ["block_rows", "mmd2_biased", "mmd2_unbiased", "threshold", "p_value", "m"] {
        assert_eq!(more[name], whole[name], "{name}");
    }
    assert!(told.contains(&format!("MMD² biased {:.4e}", real(&whole, "mmd2_biased"))), "{told}");
    // The control: one more such row, and they are a block.
    let (other, _) = run(rows, &"90,-90\n".repeat(block));
    assert!(real(&other, "mmd2_biased") > real(&whole, "mmd2_biased"), "{other}");
}

/// With many rows, the null distribution is found from a part of them.
#[test]
fn large_files_keep_the_level_and_the_power() {
    let at = directory("test-large");
    let x = file(&at, "x.csv", &sample(6000, 0.0, 1).0);
    for (mean, code) in [(0.0, 0), (0.1, 1)] {
        let y = file(&at, "y.csv", &sample(6000, mean, 5).0);
        let ran = fastmmd(&["test", &x, &y, "--features", "64"]);
        assert_eq!(ran.code, code, "{ran:?}");
        assert!(ran.out.contains("that of 2000 and 2000 rows of the files"), "{}", ran.out);
    }
}
