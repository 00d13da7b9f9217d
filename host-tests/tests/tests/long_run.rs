//! The mean of 10⁹ samples is as accurate as that of 10³.
//!
//! 10⁹ samples are reached by doubling: an embedding merged with itself is the embedding of its
//! stream seen twice, whose mean is known.

use crate::common::dense;
use fastmmd::features::sincos::SinCos;
use fastmmd::shape::Fixed;
use fastmmd::{Embedding, Fastfood, FeatureMap, Fourier};
use fastmmd_evaluation::published;
use fastmmd_reference::features::Frequencies;
use fastmmd_reference::generate::Generator;
use fastmmd_reference::{Points, Weighted, real, single, tolerance};

const BILLION: f32 = 1e9;

/// A constant with noise, like a sensor at rest.
fn readings<const D: usize>(count: usize, seed: u64) -> Vec<[f32; D]> {
    let mut generator = Generator::new(seed);
    let mut reading = || single(0.7 + 0.05 * generator.normal());
    (0..count).map(|_| std::array::from_fn(|_| reading())).collect()
}

fn mean(frequencies: &Frequencies, samples: &Weighted) -> Vec<(f64, f64)> {
    let spectrum = frequencies.spectrum(samples).expect("the same channels");
    let point = |s: &fastmmd_reference::features::Sinusoid| {
        (s.amplitude * s.phase.cos(), s.amplitude * s.phase.sin())
    };
    spectrum.sinusoids.iter().map(point).collect()
}

/// Largest error of a coordinate of the mean point.
fn error<M: FeatureMap>(embedding: &Embedding<M>, reference: &[(f64, f64)]) -> f64 {
    let points = embedding.mean().expect("not empty").zip(reference);
    points.fold(0.0, |worst: f64, (point, reference)| {
        let cos = (f64::from(point.cos) - reference.0).abs();
        worst.max(cos).max((f64::from(point.sin) - reference.1).abs())
    })
}

fn a_billion<M, const D: usize>(map: &M, count: usize)
where
    M: FeatureMap<Inputs = Fixed<D>, Backend: SinCos>,
{
    let samples = readings::<D>(count, 41);
    let reference = Weighted::even(Points::from_arrays(&samples).expect("some"));
    let reference = mean(&dense(map), &reference);
    let mut embedding = Embedding::new(map);
    for sample in &samples {
        embedding.add(map, sample).expect("a good sample");
    }
    let at_first = error(&embedding, &reference);
    while embedding.weight() < BILLION {
        let copy = embedding.clone();
        embedding.merge(&copy).expect("room");
    }
    let at_last = error(&embedding, &reference);
    let frequencies = embedding.frequencies();
    println!(
        "{D}, {frequencies}: {at_first:.2e} after {count}, {at_last:.2e} after {}",
        embedding.weight()
    );
    tolerance::LONG_RUN.hold_below("after the stream", at_first);
    tolerance::LONG_RUN.hold_below("after a billion", at_last);
    published::hold_at_most("mean of 10⁹ samples, error", at_last);
    // A sample added to 10⁹ others can still be removed exactly.
    let before = embedding.clone();
    embedding.add(map, &samples[0]).expect("room");
    assert_ne!(embedding, before);
    embedding.remove(map, &samples[0]).expect("just added");
    assert_eq!(embedding, before);
}

#[test]
fn mean_is_good_after_a_billion_samples() {
    let dense = Fourier::<1, 16>::gaussian(1);
    a_billion(&dense, 1000);
    a_billion(&dense, 2_000_000);
    let dense = Fourier::<3, 64>::gaussian(2);
    a_billion(&dense, 100_000);
    let fast = Fastfood::<16, 16, 64>::gaussian(3);
    a_billion(&fast, 100_000);
}

/// The control: without exact sums, an `f32` sum stops growing at 2²⁴.
#[test]
fn a_naive_sum_fails() {
    let turns: Vec<f64> = readings::<1>(1000, 43).iter().map(|[x]| f64::from(*x) / 8.0).collect();
    let cosines: Vec<f64> = turns.iter().map(|t| (std::f64::consts::TAU * t).cos()).collect();
    let reference = cosines.iter().sum::<f64>() / real(cosines.len());
    let rounded: Vec<f32> = cosines.iter().map(|c| single(*c)).collect();
    let rounds = 100_000; // times 1000 samples: 10⁸
    let mut sum = 0.0_f32;
    for _ in 0..rounds {
        for cosine in &rounded {
            sum += cosine;
        }
    }
    let error = (f64::from(sum) / (1000.0 * f64::from(rounds)) - reference).abs();
    println!("naive f32 sum: off by {error:.3} after 1e8");
    assert!(error > tolerance::NAIVE_SUM.limit, "{error}");
    let caught = std::panic::catch_unwind(|| tolerance::LONG_RUN.hold_below("naive", error));
    assert!(caught.is_err());
}
