//! Compares the integer path with the f64 oracle, over the whole range of samples and bandwidths.

use std::f64::consts::TAU;

use crate::common::readings::Readings;
use fastmmd::features::sincos::Polynomial;
use fastmmd::shape::Fixed;
use fastmmd::{
    Embedding, Fastfood, FeatureMap, Fourier, Kernel, Profile, Sampling, TwoSample, fixed,
};
use fastmmd_reference::features::Frequencies;
use fastmmd_reference::generate::Generator;
use fastmmd_reference::tolerance;
use fastmmd_reference::{Points, Weighted, single};

/// Both ends of the bandwidths, and some between.
const BANDWIDTHS: [f32; 6] = [0.015_625, 0.1, 0.7, 1.0, 4.0, 256.0];

fn kernel(profile: Profile, bandwidth: f32) -> Kernel {
    Kernel::new(profile, bandwidth)
        .and_then(|kernel| kernel.with_amplitude(0.75))
        .expect("in range")
}

/// An integer map with access to its exact frequencies.
trait Exact<const D: usize>: FeatureMap<Inputs = Fixed<D>, Backend = fixed::Table> {
    fn rows(&self) -> Vec<[f64; D]>;

    fn frequencies(&self) -> Frequencies {
        let rows = self.rows().iter().map(|row| row.to_vec()).collect();
        Frequencies::new(rows).expect("L rows of D")
    }
}

impl<const D: usize, const L: usize> Exact<D> for fixed::Fourier<D, L> {
    fn rows(&self) -> Vec<[f64; D]> {
        (0..L).map(|index| self.exact_frequency(index).expect("index below L")).collect()
    }
}

impl<const D: usize, const P: usize, const L: usize> Exact<D> for fixed::Fastfood<D, P, L> {
    fn rows(&self) -> Vec<[f64; D]> {
        (0..L).map(|index| self.exact_frequency(index).expect("index below L")).collect()
    }
}

/// Kinds of samples, by their range.
#[derive(Debug, Clone, Copy)]
enum Range {
    /// Normal, of unit deviation.
    Unit,
    /// Normal, of deviation 8: some saturate.
    Wide,
    /// Uniform over the range.
    Even,
    /// Every channel at one end or the other.
    Corners,
}

const RANGES: [Range; 4] = [Range::Unit, Range::Wide, Range::Even, Range::Corners];

#[expect(clippy::cast_possible_truncation, reason = "a random bit pattern")]
fn sample<const D: usize>(generator: &mut Generator, range: Range, shift: f64) -> [i16; D] {
    let mut value = || single(generator.normal() + shift);
    match range {
        Range::Unit => fixed::sample(&std::array::from_fn(|_| value())).expect("finite"),
        Range::Wide => fixed::sample(&std::array::from_fn(|_| 8.0 * value())).expect("finite"),
        Range::Even => std::array::from_fn(|_| (generator.word() >> 40) as i16),
        Range::Corners => std::array::from_fn(|_| {
            if generator.uniform() < 0.5 + 0.2 * shift { i16::MAX } else { i16::MIN }
        }),
    }
}

fn set<const D: usize>(
    generator: &mut Generator,
    count: usize,
    range: Range,
    shift: f64,
) -> Vec<[i16; D]> {
    (0..count).map(|_| sample(generator, range, shift)).collect()
}

/// The same samples for the oracle: steps as multiples of 2⁻¹¹, exactly.
fn as_real<const D: usize>(samples: &[[i16; D]]) -> Weighted {
    let values = samples.iter().flatten().map(|x| f64::from(*x) / f64::from(fixed::ONE));
    Weighted::even(Points::new(D, values.collect()).expect("some samples"))
}

fn against_the_reference<M: Exact<D>, const D: usize>(map: &M, seed: u64) -> f64 {
    let frequencies = map.frequencies();
    let mut generator = Generator::new(seed);
    let mut worst = 0.0_f64;
    for range in RANGES {
        for count in [2, 30, 400] {
            let p = set::<D>(&mut generator, count, range, 0.0);
            let q = set::<D>(&mut generator, count + 1, range, 0.5);
            let mut test = TwoSample::new(map);
            p.iter().for_each(|sample| test.push_p(sample).expect("every sample is good"));
            q.iter().for_each(|sample| test.push_q(sample).expect("every sample is good"));
            let spectrum = |samples| frequencies.spectrum(&as_real(samples)).expect("D channels");
            let reference = Readings::reference(&spectrum(&p), &spectrum(&q));
            let core = Readings::core::<_, Polynomial>(&test);
            let misses = core.misses(&reference, &tolerance::MMD2_FIXED);
            assert!(misses.is_empty(), "{:?} {range:?} {count}: {misses:?}", map.recipe());
            worst = worst.max(core.largest_error(&reference));
        }
    }
    worst
}

#[test]
fn mmd_is_the_references_over_the_whole_range() {
    for bandwidth in BANDWIDTHS {
        let gaussian = kernel(Profile::Gaussian, bandwidth);
        let dense = |sampling| fixed::Fourier::new(gaussian, sampling, 3).expect("in range");
        let mut worst =
            [against_the_reference::<fixed::Fourier<3, 64>, 3>(&dense(Sampling::Quasi), 1), 0.0];
        let map = fixed::Fourier::<16, 128>::new(gaussian, Sampling::Orthogonal, 3);
        worst[0] = worst[0].max(against_the_reference(&map.expect("in range"), 2));
        let map = fixed::Fastfood::<3, 4, 64>::new(gaussian, 3).expect("in range");
        worst[1] = worst[1].max(against_the_reference(&map, 3));
        let map = fixed::Fastfood::<16, 16, 128>::new(gaussian, 3).expect("in range");
        worst[1] = worst[1].max(against_the_reference(&map, 4));
        let map = fixed::Fastfood::<33, 64, 128>::new(gaussian, 3).expect("in range");
        worst[1] = worst[1].max(against_the_reference(&map, 5));
        println!("σ = {bandwidth:9}: Fourier {:.1e}, Fastfood {:.1e}", worst[0], worst[1]);
    }
}

#[test]
fn mmd_is_the_references_for_every_kernel() {
    for profile in [Profile::Laplacian, Profile::Exponential, Profile::Matern32, Profile::Matern52]
    {
        for bandwidth in [0.1, 2.0] {
            let kernel = kernel(profile, bandwidth);
            let map = fixed::Fourier::<5, 64>::new(kernel, Sampling::Auto, 3).expect("in range");
            against_the_reference(&map, 6);
            if kernel.is_spherical() {
                let map = fixed::Fastfood::<8, 8, 64>::new(kernel, 3).expect("in range");
                against_the_reference(&map, 7);
            }
        }
    }
}

/// The largest error of a coordinate over the samples of a map, from the sample to the sum.
fn largest_error<M: Exact<D>, const D: usize>(map: &M, off: f64) -> f64 {
    let rows = map.rows();
    let mut generator = Generator::new(11);
    let mut worst = 0.0_f64;
    for range in RANGES {
        for sample in set::<D>(&mut generator, 500, range, 0.0) {
            let mut one = Embedding::new(map);
            one.add(map, &sample).expect("every sample is good");
            for (point, row) in one.mean().expect("not empty").zip(&rows) {
                let steps: f64 = row.iter().zip(sample).map(|(w, x)| w * f64::from(x)).sum();
                let turns = steps / f64::from(fixed::ONE) + off;
                let (sin, cos) = (TAU * (turns - turns.round())).sin_cos();
                let error = (f64::from(point.cos) - cos).abs();
                worst = worst.max(error).max((f64::from(point.sin) - sin).abs());
            }
        }
    }
    worst
}

/// The whole path from a sample to a single point. The control: a phase that is off by 2⁻¹⁴ turns
/// fails.
#[test]
fn every_point_is_good() {
    for bandwidth in BANDWIDTHS {
        let gaussian = kernel(Profile::Gaussian, bandwidth);
        let dense = fixed::Fourier::<16, 128>::new(gaussian, Sampling::Auto, 8);
        let dense = dense.expect("in range");
        let fast = fixed::Fastfood::<16, 16, 128>::new(gaussian, 8).expect("in range");
        let errors = [largest_error(&dense, 0.0), largest_error(&fast, 0.0)];
        println!("σ = {bandwidth:9}: Fourier {:.1e}, Fastfood {:.1e}", errors[0], errors[1]);
        tolerance::POINT_FIXED.hold_below("dense", errors[0]);
        tolerance::POINT_FIXED.hold_below("Fastfood", errors[1]);
        let off = largest_error(&fast, 1.0 / 16_384.0);
        assert!(!tolerance::POINT_FIXED.admits(off, 0.0), "{off}");
    }
}

/// The same seed gives the same frequencies as the `f32` maps, up to rounding.
#[test]
fn integers_and_floats_agree() {
    let gaussian = Kernel::new(Profile::Gaussian, 3.0).expect("in range");
    let mut generator = Generator::new(13);
    let p = set::<16>(&mut generator, 500, Range::Unit, 0.0);
    let q = set::<16>(&mut generator, 500, Range::Unit, 0.4);
    let float = |sample: &[i16; 16]| sample.map(|x| f32::from(x) / f32::from(fixed::ONE));
    let dense = (
        fixed::Fourier::<16, 128>::new(gaussian, Sampling::Auto, 5).expect("in range"),
        Fourier::<16, 128>::with_kernel(gaussian, 5),
    );
    let fast = (
        fixed::Fastfood::<16, 16, 128>::new(gaussian, 5).expect("in range"),
        Fastfood::<16, 16, 128>::new(gaussian, 5).expect("in range"),
    );
    let mut integers = TwoSample::new(&dense.0);
    let mut floats = TwoSample::new(&dense.1);
    let mut fast_integers = TwoSample::new(&fast.0);
    let mut fast_floats = TwoSample::new(&fast.1);
    for (p, q) in p.iter().zip(&q) {
        integers.push_p(p).and_then(|()| integers.push_q(q)).expect("good samples");
        fast_integers.push_p(p).and_then(|()| fast_integers.push_q(q)).expect("good samples");
        floats.push_p(&float(p)).and_then(|()| floats.push_q(&float(q))).expect("good samples");
        fast_floats
            .push_p(&float(p))
            .and_then(|()| fast_floats.push_q(&float(q)))
            .expect("good samples");
    }
    let value = |result: Result<f32, _>| f64::from(result.expect("two samples"));
    let (a, b) = (value(integers.mmd2_unbiased()), value(floats.mmd2_unbiased()));
    tolerance::MMD2_FIXED.hold("dense", a, b);
    let (a, b) = (value(fast_integers.mmd2_unbiased()), value(fast_floats.mmd2_unbiased()));
    tolerance::MMD2_FIXED_AND_FLOAT.hold("Fastfood", a, b);
    // Another seed is another map.
    let other = fixed::Fastfood::<16, 16, 128>::new(gaussian, 6).expect("in range");
    let mut stranger = Embedding::new(&other);
    stranger.add(&other, &p[0]).expect("a good sample");
    assert!(stranger.merge(fast_integers.p()).is_err());
}
