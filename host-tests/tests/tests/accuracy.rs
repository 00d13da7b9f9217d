//! The accuracy of MMD² with each sampling: the basis of the rule of `Sampling::Auto`.
//!
//! The error is that of the frequencies alone: both distributions are normal, so that MMD² of the
//! distributions is known exactly for the kernel and for any set of frequencies.

use crate::common::dense;
use fastmmd::features::sampling::QUASI_MAX_INPUTS;
use fastmmd::{Fastfood, Fourier, Kernel, Profile, Sampling};
use fastmmd_evaluation::published;
use fastmmd_reference::features::Frequencies;
use fastmmd_reference::population::{Normal, feature_mmd2, gaussian_mmd2};
use fastmmd_reference::tolerance;
use fastmmd_reference::{real, single};

const SEEDS: u64 = 100;

/// What changes from P = N(0, I) to Q.
#[derive(Debug, Clone, Copy)]
enum Change {
    /// Mean and variance of all channels.
    All,
    /// The mean of one channel.
    OneMean,
    /// The spread of one channel.
    OneSpread,
}

const CHANGES: [Change; 3] = [Change::All, Change::OneMean, Change::OneSpread];

fn changed(change: Change, dims: usize, channel: usize) -> Normal {
    let mut q = Normal::standard(dims);
    match change {
        Change::All => {
            q.mean.fill(0.5);
            q.deviation.fill(1.2);
        }
        Change::OneMean => q.mean[channel] = 1.0,
        Change::OneSpread => q.deviation[channel] = 2.0,
    }
    q
}

/// Relative root-mean-square errors over seeds (and channels), one for each change.
fn errors(dims: usize, draw: impl Fn(u64) -> Frequencies) -> [f64; 3] {
    let p = Normal::standard(dims);
    let bandwidth = f64::from(single(real(dims).sqrt()));
    let mut squares = [0.0; 3];
    for seed in 0..SEEDS {
        let frequencies = draw(seed);
        for (square, change) in squares.iter_mut().zip(CHANGES) {
            // A Halton sequence covers the first channel most evenly, and the last one least.
            for channel in [0, dims - 1] {
                let q = changed(change, dims, channel);
                let truth = gaussian_mmd2(&p, &q, bandwidth);
                let error = feature_mmd2(&frequencies, &p, &q) / truth - 1.0;
                *square += 0.5 * error * error;
            }
        }
    }
    squares.map(|square| (square / f64::from(u32::try_from(SEEDS).expect("few"))).sqrt())
}

fn kernel(dims: usize) -> Kernel {
    Kernel::new(Profile::Gaussian, single(real(dims).sqrt())).expect("in range")
}

fn fourier<const D: usize, const L: usize>(sampling: Sampling) -> [f64; 3] {
    errors(D, |seed| dense(&Fourier::<D, L>::new(kernel(D), sampling, seed).expect("spherical")))
}

fn fastfood<const D: usize, const P: usize, const L: usize>() -> [f64; 3] {
    errors(D, |seed| dense(&Fastfood::<D, P, L>::new(kernel(D), seed).expect("spherical")))
}

fn print(name: &str, errors: [f64; 3]) {
    let [all, mean, spread] = errors;
    println!("{name:28} {all:8.4} {mean:8.4} {spread:8.4}");
}

/// One row group of the table; returns the errors of quasi-random and orthogonal.
fn row<const D: usize, const P: usize, const L: usize>() -> ([f64; 3], [f64; 3]) {
    let quasi = fourier::<D, L>(Sampling::Quasi);
    let orthogonal = fourier::<D, L>(Sampling::Orthogonal);
    print(&format!("d={D} L={L} independent"), fourier::<D, L>(Sampling::Independent));
    print(&format!("d={D} L={L} quasi"), quasi);
    print(&format!("d={D} L={L} orthogonal"), orthogonal);
    print(&format!("d={D} L={L} Fastfood"), fastfood::<D, P, L>());
    (quasi, orthogonal)
}

#[test]
fn the_rule_of_auto_holds() {
    println!("relative RMS error of MMD², σ=√d     all  one mean one spread");
    let groups = [
        (1, row::<1, 4, 64>()),
        (2, row::<2, 4, 64>()),
        (3, row::<3, 4, 64>()),
        (4, row::<4, 4, 64>()),
        (5, row::<5, 8, 64>()),
        (6, row::<6, 8, 64>()),
        (8, row::<8, 8, 64>()),
        (16, row::<16, 16, 64>()),
        (1, row::<1, 4, 256>()),
        (2, row::<2, 4, 256>()),
        (3, row::<3, 4, 256>()),
        (4, row::<4, 4, 256>()),
        (5, row::<5, 8, 256>()),
        (6, row::<6, 8, 256>()),
        (8, row::<8, 8, 256>()),
        (12, row::<12, 16, 256>()),
        (16, row::<16, 16, 256>()),
    ];
    let ratios = groups.map(|(dims, (quasi, orthogonal))| {
        let ratio = quasi.iter().sum::<f64>() / orthogonal.iter().sum::<f64>();
        println!("d={dims}: quasi-random over orthogonal, mean of three changes {ratio:.3}");
        (dims, ratio)
    });
    for (dims, ratio) in ratios {
        if dims <= QUASI_MAX_INPUTS {
            tolerance::QUASI_RULE.hold_below(&format!("d={dims}"), ratio);
        }
    }
}

#[test]
fn quasi_random_at_three_channels() {
    let [all, ..] = fourier::<3, 64>(Sampling::Quasi);
    let [independent, ..] = fourier::<3, 64>(Sampling::Independent);
    println!("d=3 L=64: quasi {all:.4}, independent {independent:.4}");
    tolerance::QUASI_ACCURACY.hold_below("mean and variance", all);
    published::hold_line(&format!(
        "| relative error, 3 channels, 64 frequencies: quasi-random (independent: \
         {independent:.3}) | {all:.3} | {} |",
        tolerance::QUASI_ACCURACY.limit
    ));
}

#[test]
fn orthogonal_at_sixteen_channels() {
    let [all, ..] = fourier::<16, 256>(Sampling::Orthogonal);
    let [fastfood, ..] = fastfood::<16, 16, 256>();
    let [independent, ..] = fourier::<16, 256>(Sampling::Independent);
    println!("d=16 L=256: orthogonal {all:.4}, Fastfood {fastfood:.4}");
    tolerance::ORTHOGONAL_ACCURACY.hold_below("mean and variance", all);
    published::hold_line(&format!(
        "| relative error, 16 channels, 256 frequencies: orthogonal (independent: \
         {independent:.3}) | {all:.3} | {} |",
        tolerance::ORTHOGONAL_ACCURACY.limit
    ));
}
