//! Figures 5 and 6 of the FastMMD paper, from the core.

use std::sync::LazyLock;

use fastmmd_evaluation::reproduce::figure5::{self, FREQUENCIES, Map, Pair};
use fastmmd_evaluation::reproduce::figure6;
use fastmmd_reference::tolerance;

/// Figure 5's data: forty pairs of blobs, each used by five seeds.
static BLOBS: LazyLock<Vec<Pair>> =
    LazyLock::new(|| figure5::blobs(40, 1000).expect("some samples"));

/// Number of seeds to average over: the error of the mean is then about 5 %.
const TRIALS: usize = 200;

/// Checks a column of figure 5 against its bounds and the law 1/√L.
fn hold_figure_5(name: &str, map: Map) {
    let errors = figure5::errors(&BLOBS, TRIALS, map, &|| ()).expect("good samples");
    println!("figure 5, {name}: L, mean relative error of MMD_b² and MMD_u²");
    for (l, [biased, unbiased, _]) in FREQUENCIES.iter().zip(&errors) {
        println!("{l:5} {biased:.3} {unbiased:.3}");
    }
    let [biased, unbiased, _] = errors[6];
    tolerance::FIGURE5_BIASED.hold_below(name, biased);
    tolerance::FIGURE5_UNBIASED.hold_below(name, unbiased);
    for kind in 0..2 {
        let slope = figure5::slope(&errors, kind);
        println!("{name}: slope {slope:.3}");
        tolerance::FIGURE5_SLOPE.hold(name, slope, -0.5);
    }
}

#[test]
fn figure_5_with_independent_frequencies() {
    hold_figure_5("Fourier", Map::Fourier);
}

#[test]
fn figure_5_with_fastfood() {
    hold_figure_5("Fastfood", Map::Fastfood);
}

#[test]
fn figure_6_on_rings() {
    let scatter = figure6::scatter(100, 500, &|| ()).expect("good samples");
    let best = scatter.best();
    let [dense, fast, b_test, linear] =
        [&scatter.fourier, &scatter.fastfood, &scatter.b_test, &scatter.linear]
            .map(|rows| figure6::deviations(rows)[best]);
    for (name, ours) in [("Fourier", dense), ("Fastfood", fast)] {
        println!(
            "{name}: {ours:.2e} beside {b_test:.2e} of the B-test, {linear:.2e} of MMD-linear"
        );
        tolerance::FIGURE6_B_TEST.hold_below(name, ours / b_test);
        tolerance::FIGURE6_LINEAR.hold_below(name, ours / linear);
    }
}
