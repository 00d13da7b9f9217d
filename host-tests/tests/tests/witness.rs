//! Compares the witness function and its gradient with the f64 oracle.

use crate::common::dense;
use fastmmd::embedding::mmd;
use fastmmd::features::sincos::SinCos;
use fastmmd::shape::Fixed;
use fastmmd::{Embedding, Fastfood, FeatureMap, Fourier, Kernel, Profile, Witness};
use fastmmd_reference::features::Frequencies;
use fastmmd_reference::generate::Generator;
use fastmmd_reference::kernel::gaussian;
use fastmmd_reference::{Points, real, single, tolerance};

/// Normal samples, and normal samples with another mean and spread.
fn samples<const D: usize>(seed: u64) -> (Vec<[f32; D]>, Vec<[f32; D]>) {
    let mut generator = Generator::new(seed);
    let mut draw = |mean: f64, spread: f64| -> Vec<[f32; D]> {
        (0..300).map(|_| [(); D].map(|()| single(mean + spread * generator.normal()))).collect()
    };
    (draw(0.0, 1.0), draw(0.7, 1.4))
}

/// The mean of `kernel(x − p)` over P minus that over Q.
fn by_pairs<const D: usize>(
    x: &[f64],
    sets: &(Vec<[f32; D]>, Vec<[f32; D]>),
    kernel: impl Fn(&[f64]) -> f64,
) -> f64 {
    let mean = |set: &[[f32; D]]| {
        let points = Points::from_arrays(set).expect("some");
        let differences =
            points.rows().map(|p| -> Vec<f64> { x.iter().zip(p).map(|(x, p)| x - p).collect() });
        differences.map(|d| kernel(&d)).sum::<f64>() / real(set.len())
    };
    mean(&sets.0) - mean(&sets.1)
}

/// Slope in each channel by central differences.
fn slopes(x: &[f64], value: impl Fn(&[f64]) -> f64) -> Vec<f64> {
    const STEP: f64 = 1e-4;
    let moved = |channel: usize, step: f64| {
        let mut x = x.to_vec();
        x[channel] += step;
        value(&x)
    };
    (0..x.len()).map(|c| (moved(c, STEP) - moved(c, -STEP)) / (2.0 * STEP)).collect()
}

fn against_the_reference<M, const D: usize>(map: &M)
where
    M: FeatureMap<Inputs = Fixed<D>, Backend: SinCos>,
{
    let sets = samples::<D>(7);
    let (mut p, mut q) = (Embedding::new(map), Embedding::new(map));
    sets.0.iter().for_each(|x| p.add(map, x).expect("a good sample"));
    sets.1.iter().for_each(|x| q.add(map, x).expect("a good sample"));
    let witness = Witness::new(map, &p, &q).expect("two samples");
    let frequencies: Frequencies = dense(map);
    let mut generator = Generator::new(8);
    for _ in 0..20 {
        let x = [(); D].map(|()| single(2.0 * generator.normal()));
        let wide = x.map(f64::from);
        let reference = |x: &[f64]| by_pairs(x, &sets, |d| frequencies.mean_cosine(d));
        let value = witness.at(&x).expect("within reach");
        tolerance::WITNESS_VALUE.hold("f(x)", value.into(), reference(&wide));
        let gradient = witness.gradient(&x).expect("within reach");
        for (ours, theirs) in gradient.iter().zip(slopes(&wide, reference)) {
            tolerance::WITNESS_GRADIENT.hold("∇f(x)", (*ours).into(), theirs);
        }
    }
    // ⟨f⟩_P − ⟨f⟩_Q is MMD_b².
    let mean = |set: &[[f32; D]]| {
        let values = set.iter().map(|x| f64::from(witness.at(x).expect("within reach")));
        values.sum::<f64>() / real(set.len())
    };
    let squared = f64::from(mmd::squared_biased(&p, &q).expect("not empty"));
    tolerance::WITNESS_VALUE.hold("⟨f⟩_P − ⟨f⟩_Q", mean(&sets.0) - mean(&sets.1), squared);
}

#[test]
fn value_and_gradient_are_those_of_the_reference() {
    let kernel = Kernel::new(Profile::Gaussian, 1.3).expect("in range");
    against_the_reference(&Fourier::<1, 32>::with_kernel(kernel, 1));
    against_the_reference(&Fourier::<3, 64>::with_kernel(kernel, 2));
    against_the_reference(&Fastfood::<5, 16, 64>::new(kernel, 3).expect("spherical"));
    against_the_reference(&Fastfood::<16, 16, 128>::new(kernel, 4).expect("spherical"));
}

#[test]
fn is_near_the_exact_one() {
    let map = Fourier::<2, 1024>::gaussian(5);
    let sets = samples::<2>(9);
    let (mut p, mut q) = (Embedding::new(&map), Embedding::new(&map));
    sets.0.iter().for_each(|x| p.add(&map, x).expect("a good sample"));
    sets.1.iter().for_each(|x| q.add(&map, x).expect("a good sample"));
    let witness = Witness::new(&map, &p, &q).expect("two samples");
    for step in -4_i8..=4 {
        let x = [0.5 * f32::from(step), -0.3 * f32::from(step)];
        let kernel = gaussian(1.0);
        let exact = by_pairs(&x.map(f64::from), &sets, |d| kernel(d, &[0.0, 0.0]));
        let ours = f64::from(witness.at(&x).expect("within reach"));
        tolerance::WITNESS_EXACT.hold("f(x)", ours, exact);
    }
}
