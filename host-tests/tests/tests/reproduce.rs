//! The literature's figures with few trials, each checked against its limits. Figures 5 and 6 of
//! FastMMD are in `paper_figures.rs`.

use std::sync::atomic::{AtomicU32, Ordering};

use fastmmd_evaluation::reproduce::{Effort, PARTS};

fn holds(name: &str) {
    let part = PARTS.iter().find(|part| part.name == name).expect("a part");
    let steps = AtomicU32::new(0);
    let tick = || {
        steps.fetch_add(1, Ordering::Relaxed);
    };
    let figure = (part.run)(Effort::Quick, &tick).expect("measured");
    println!("{}", figure.text);
    assert!(!figure.checks.is_empty());
    let broken = figure.broken();
    assert!(broken.is_empty(), "{broken:#?}");
    assert_eq!(steps.into_inner(), part.steps, "the bar would not end where it should");
    for plot in &figure.plots {
        assert!(figure.text.contains(&format!("({})", plot.file)));
    }
}

/// Values, counts of kernel values, and ratios of times.
#[test]
fn fastmmd_figure_7() {
    holds("fastmmd-7");
}

#[test]
fn fastmmd_section_4_5_and_figure_8() {
    holds("fastmmd-8");
}

#[test]
fn nystrom_mmd_figure_2() {
    holds("nystrom-2");
}

#[test]
fn hilbert_space_embedding_figure_1() {
    holds("embedding-1");
}

#[test]
fn hilbert_space_embedding_figure_2() {
    holds("embedding-2");
}

#[test]
fn fastmmd_section_3_3() {
    holds("ensembles");
}
