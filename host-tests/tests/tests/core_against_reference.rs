//! Compares the core with the f64 oracle, both with the core's frequencies.

use crate::common::dense;
use crate::common::readings::Readings;
use fastmmd::dynamic;
use fastmmd::features::sincos::{Backend, Libm, Micromath, Polynomial, SinCos};
use fastmmd::shape::{Constant, Fixed, Length};
use fastmmd::{
    Error, Fastfood, FeatureMap, Fourier, Kernel, KernelFamily, Profile, Recipe, Sampling,
    TwoSample,
};
use fastmmd_evaluation::published;
use fastmmd_reference::features::{Frequencies, Sinusoid};
use fastmmd_reference::generate::Generator;
use fastmmd_reference::population::Normal;
use fastmmd_reference::tolerance::{self, Tolerance};
use fastmmd_reference::{Weighted, data, real, single};

const SAMPLINGS: [Sampling; 3] = [Sampling::Independent, Sampling::Quasi, Sampling::Orthogonal];

/// The same frequencies with any backend.
trait AnyBackend: FeatureMap<Backend: SinCos> + Clone {
    type With<B: SinCos>: FeatureMap<Inputs = Self::Inputs, Backend = B>;

    fn with<B: SinCos>(&self) -> Self::With<B>;
}

impl<const D: usize, const L: usize> AnyBackend for Fourier<D, L> {
    type With<B: SinCos> = Fourier<D, L, B>;

    fn with<B: SinCos>(&self) -> Fourier<D, L, B> {
        self.clone().with_backend()
    }
}

impl<const D: usize, const P: usize, const L: usize> AnyBackend for Fastfood<D, P, L> {
    type With<B: SinCos> = Fastfood<D, P, L, B>;

    fn with<B: SinCos>(&self) -> Fastfood<D, P, L, B> {
        self.clone().with_backend()
    }
}

impl AnyBackend for dynamic::Map {
    type With<B: SinCos> = dynamic::Map<B>;

    fn with<B: SinCos>(&self) -> dynamic::Map<B> {
        self.clone().with_backend()
    }
}

/// Feeds both sets to the core: without weights if all are 1, with weights otherwise.
fn stream<'m, M>(map: &'m M, p: &Weighted, q: &Weighted) -> TwoSample<'m, M>
where
    M: FeatureMap<Backend: SinCos>,
{
    let mut test = TwoSample::new(map);
    let ones = |set: &Weighted| set.weights().iter().all(|w| w.to_bits() == 1.0_f64.to_bits());
    let (even_p, even_q) = (ones(p), ones(q));
    let mut sample = M::Inputs::make(&map.dims(), || 0.0);
    let sample = M::Inputs::borrow_mut(&mut sample);
    for (row, weight) in p.points().rows().zip(p.weights()) {
        fill(sample.as_mut(), row);
        if even_p { test.push_p(sample) } else { test.push_p_weighted(sample, single(*weight)) }
            .expect("a good sample");
    }
    for (row, weight) in q.points().rows().zip(q.weights()) {
        fill(sample.as_mut(), row);
        if even_q { test.push_q(sample) } else { test.push_q_weighted(sample, single(*weight)) }
            .expect("a good sample");
    }
    test
}

fn fill(sample: &mut [f32], row: &[f64]) {
    assert_eq!(sample.len(), row.len());
    for (value, wide) in sample.iter_mut().zip(row) {
        *value = single(*wide);
    }
}

/// The largest errors of the three backends so far.
#[derive(Debug, Default)]
struct Worst([f64; 3]);

impl Worst {
    fn compare<M: FeatureMap<Backend: SinCos>>(
        &mut self,
        map: &M,
        sets: (&Weighted, &Weighted),
        reference: &Readings,
        limit: &Tolerance,
    ) {
        let readings = Readings::core::<M, M::Backend>(&stream(map, sets.0, sets.1));
        let misses = readings.misses(reference, limit);
        let code = <M::Backend as Backend>::CODE;
        assert!(misses.is_empty(), "{:?}, backend {code}: {misses:?}", map.recipe());
        let worst = &mut self.0[usize::from(code)];
        *worst = worst.max(readings.largest_error(reference));
    }

    /// All backends on one map and one pair of sets.
    fn all_backends(
        &mut self,
        map: &impl AnyBackend,
        frequencies: &Frequencies,
        p: &Weighted,
        q: &Weighted,
    ) {
        let spectrum = |set| frequencies.spectrum(set).expect("D channels");
        let reference = Readings::reference(&spectrum(p), &spectrum(q));
        let sets = (p, q);
        self.compare(&map.with::<Polynomial>(), sets, &reference, &tolerance::MMD2);
        self.compare(&map.with::<Libm>(), sets, &reference, &tolerance::MMD2);
        self.compare(&map.with::<Micromath>(), sets, &reference, &tolerance::MMD2_MICROMATH);
    }

    fn print(&self, what: &str) {
        let [polynomial, libm, micromath] = self.0;
        published::hold_at_most(
            "largest difference from `f64` with the same frequencies",
            polynomial,
        );
        println!(
            "{what:40} polynomial {polynomial:.1e}  libm {libm:.1e}  micromath {micromath:.1e}"
        );
    }
}

/// Two sets of `count` and 1.3·`count` samples that differ in mean and spread.
fn sets(dims: usize, count: usize, seed: u64) -> (Weighted, Weighted) {
    let mut generator = Generator::new(seed);
    let changed = Normal { mean: vec![0.4; dims], deviation: vec![1.3; dims] };
    let p = data::normal(&mut generator, count, &Normal::standard(dims)).expect("some");
    let q = data::normal(&mut generator, count + count * 3 / 10, &changed).expect("some");
    (Weighted::even(p), Weighted::even(q))
}

/// The same samples with weights from 1/4 to 4.
fn weighted(set: &Weighted, seed: u64) -> Weighted {
    let mut generator = Generator::new(seed);
    let mut weight = || f64::from(single((4.0 * generator.uniform() - 2.0).exp2()));
    let weights = set.weights().iter().map(|_| weight()).collect();
    Weighted::new(set.points().clone(), weights).expect("positive")
}

/// One map with ordinary samples, with weights, and with samples whose largest phase is 16 turns.
fn every_way(map: &impl AnyBackend, count: usize, seed: u64, worst: &mut Worst) {
    let frequencies = dense(map);
    let (p, q) = sets(frequencies.rows()[0].len(), count, seed);
    worst.all_backends(map, &frequencies, &p, &q);
    worst.all_backends(map, &frequencies, &weighted(&p, seed), &weighted(&q, !seed));
    let largest = frequencies.largest_phase(&p).max(frequencies.largest_phase(&q));
    let far = |set: &Weighted| Weighted::even(set.points().scaled(15.999 / largest));
    worst.all_backends(map, &frequencies, &far(&p), &far(&q));
}

fn kernel(profile: Profile, dims: usize) -> Kernel {
    let bandwidth = single(1.3 * real(dims).sqrt());
    Kernel::new(profile, bandwidth)
        .and_then(|kernel| kernel.with_amplitude(0.75))
        .expect("in range")
}

/// Every kernel and sampling of a dense map.
fn dense_maps<M: AnyBackend>(
    [inputs, frequencies]: [usize; 2],
    count: usize,
    new: impl Fn(Kernel, Sampling) -> Result<M, Error>,
) {
    let mut worst = Worst::default();
    for profile in Profile::ALL {
        for sampling in SAMPLINGS {
            let kernel = kernel(profile, inputs);
            if sampling == Sampling::Orthogonal && !kernel.is_spherical() {
                continue;
            }
            every_way(&new(kernel, sampling).expect("spherical"), count, 11, &mut worst);
        }
    }
    worst.print(&format!("Fourier<{inputs}, {frequencies}>, {count} samples"));
}

fn fourier<const D: usize, const L: usize>(count: usize) {
    dense_maps([D, L], count, |kernel, sampling| Fourier::<D, L>::new(kernel, sampling, 7));
}

/// Every spherical kernel of a Fastfood map.
fn fastfood<const D: usize, const P: usize, const L: usize>(count: usize) {
    let mut worst = Worst::default();
    for profile in Profile::ALL {
        let kernel = kernel(profile, D);
        if kernel.is_spherical() {
            let map = Fastfood::<D, P, L>::new(kernel, 7).expect("spherical");
            every_way(&map, count, 13, &mut worst);
        }
    }
    worst.print(&format!("Fastfood<{D}, {P}, {L}>, {count} samples"));
}

#[test]
fn dense_maps_of_few_channels() {
    fourier::<1, 16>(10);
    fourier::<1, 16>(1000);
    fourier::<2, 64>(300);
    fourier::<3, 64>(1000);
    fourier::<5, 100>(300);
    fourier::<1, 4096>(100);
}

#[test]
fn dense_maps_of_many_channels() {
    fourier::<8, 256>(200);
    fourier::<16, 128>(300);
    fourier::<64, 16>(10);
    fourier::<64, 16>(1000);
    // A megabyte of frequencies: on the heap.
    let [inputs, frequencies] = [64, 4096];
    dense_maps([inputs, frequencies], 40, |kernel, sampling| {
        dynamic::Map::fourier(kernel, sampling, 7, inputs, frequencies)
    });
}

#[test]
fn fastfood_maps() {
    fastfood::<1, 4, 16>(10);
    fastfood::<1, 4, 4096>(100);
    fastfood::<2, 4, 64>(1000);
    fastfood::<3, 4, 64>(300);
    fastfood::<12, 16, 128>(300);
    fastfood::<33, 64, 256>(200);
    fastfood::<64, 64, 64>(10);
    fastfood::<64, 64, 4096>(40);
}

#[test]
fn hundred_thousand_samples() {
    fn one(map: &impl AnyBackend) {
        let mut worst = Worst::default();
        let Recipe { kind, inputs, frequencies, .. } = map.recipe();
        let frequency_vectors = dense(map);
        let (p, q) = sets(frequency_vectors.rows()[0].len(), 100_000, 17);
        worst.all_backends(map, &frequency_vectors, &p, &weighted(&q, 19));
        worst.print(&format!("{kind:?} {inputs}, {frequencies}, 100000 samples"));
    }
    let gaussian = |dims| kernel(Profile::Gaussian, dims);
    one(&Fourier::<3, 64>::new(gaussian(3), Sampling::Quasi, 1).expect("spherical"));
    one(&Fourier::<64, 16>::new(gaussian(64), Sampling::Orthogonal, 2).expect("spherical"));
    one(&Fastfood::<16, 16, 32>::new(gaussian(16), 3).expect("spherical"));
}

/// The paper's other data: disjoint cubes, and two point masses at the largest MMD².
#[test]
fn disjoint_sets() {
    let mut generator = Generator::new(23);
    let map = Fastfood::<16, 16, 128>::new(kernel(Profile::Gaussian, 16), 4).expect("spherical");
    let p = data::cube(&mut generator, 500, 16, 0.0, 0.95).expect("some");
    let q = data::cube(&mut generator, 500, 16, 0.95, 1.0).expect("some");
    let mut worst = Worst::default();
    let (p, q) = (Weighted::even(p), Weighted::even(q));
    worst.all_backends(&map, &dense(&map), &p, &q);

    // All frequencies are half a turn per unit: 0 and 1 map to opposite points, so MMD² = 4.
    let map = Fourier::<1, 4096>::given([[0.5]; 4096], 1.0).expect("finite");
    let mass = |x: f64| {
        let points = fastmmd_reference::Points::new(1, vec![x; 10]).expect("some");
        Weighted::even(points)
    };
    worst.all_backends(&map, &dense(&map), &mass(0.0), &mass(1.0));
    worst.print("disjoint sets");
}

#[test]
fn circles_have_the_references_amplitudes_and_phases() {
    let kernel = kernel(Profile::Gaussian, 3);
    let map = Fourier::<3, 256>::new(kernel, Sampling::Independent, 5).expect("spherical");
    let (p, q) = sets(3, 500, 29);
    let test = stream(&map, &p, &q);
    let frequencies = dense(&map);
    let spectrum = |set| frequencies.spectrum(set).expect("three channels");
    let (p, q) = (spectrum(&p), spectrum(&q));
    let mut seen = 0;
    let circles = test.circles().expect("not empty");
    for ((circle, p), q) in circles.zip(&p.sinusoids).zip(&q.sinusoids) {
        for (amplitude, phase, reference) in [
            (circle.amplitude_p, circle.phase_p, *p),
            (circle.amplitude_q, circle.phase_q, *q),
            (
                circle.amplitude,
                circle.diameter,
                Sinusoid { phase: p.minus(q).diameter(), ..p.minus(q) },
            ),
        ] {
            tolerance::CIRCLE_AMPLITUDE.hold("circle", amplitude.into(), reference.amplitude);
            if reference.amplitude > tolerance::CIRCLE_VISIBLE.limit {
                seen += 1;
                let error = f64::from(phase) - reference.phase / std::f64::consts::TAU;
                tolerance::CIRCLE_PHASE.hold("circle", error - error.round(), 0.0);
            }
        }
    }
    assert!(seen > 256, "{seen} phases compared");
}

/// P at 0 and Q at half a turn: the line through both is no decision; the one across is.
#[test]
fn the_decision_diameter_parts_the_streams() {
    let map = Fourier::given([[0.5]], 1.0).expect("one frequency");
    let mut test = TwoSample::new(&map);
    test.push_p(&[0.0]).expect("a sample");
    test.push_q(&[1.0]).expect("a sample");
    let circle = test.circles().expect("not empty").next().expect("one circle");
    tolerance::CIRCLE_PHASE.hold("diameter", circle.diameter.into(), 0.25);
    // Definition 2 there: E sin(y − p) − E sin(y − q), largest over y.
    let objective = |y: f64| {
        let sine = |x: f64| (std::f64::consts::TAU * (y - x)).sin();
        sine(0.0) - sine(0.5)
    };
    let grid = (0..1000).map(|step| objective(f64::from(step) / 1000.0));
    let largest = grid.fold(f64::NEG_INFINITY, f64::max);
    tolerance::CIRCLE_AMPLITUDE.hold("largest", objective(circle.diameter.into()), largest);
    tolerance::CIRCLE_AMPLITUDE.hold("A", circle.amplitude.into(), largest);
}

#[test]
fn a_family_has_the_references_mmd_at_every_bandwidth() {
    fn one<M: FeatureMap<Inputs = Fixed<3>, Backend: SinCos>>(map: &M) {
        let bandwidths = [0.3, 1.0, 1.7, 5.0, 40.0];
        let mut family = KernelFamily::new(map, bandwidths).expect("in range");
        let (p, q) = sets(3, 300, 31);
        for sample in p.points().arrays().expect("three channels") {
            family.push_p(&sample).expect("a good sample");
        }
        for sample in q.points().arrays().expect("three channels") {
            family.push_q(&sample).expect("a good sample");
        }
        let biased = family.biased().expect("not empty");
        let unbiased = family.unbiased().expect("not empty");
        let own = f64::from(map.recipe().kernel.bandwidth());
        let scale = f64::from(map.recipe().kernel.amplitude());
        let mut expected = Vec::new();
        for (index, bandwidth) in bandwidths.into_iter().enumerate() {
            let factor = own / f64::from(bandwidth);
            let rows = dense(map);
            let rows = rows.rows().iter();
            let rows = rows.map(|row| row.iter().map(|w| factor * w).collect());
            let frequencies = Frequencies::new(rows.collect()).expect("64 rows");
            let spectrum = |set| frequencies.spectrum(set).expect("three channels");
            let reference = Readings::reference(&spectrum(&p), &spectrum(&q));
            let case = format!("σ = {bandwidth}");
            let value = f64::from(biased[index].squared) / scale;
            tolerance::MMD2.hold(&case, value, reference.biased);
            let value = f64::from(unbiased[index].squared) / scale;
            tolerance::MMD2.hold(&case, value, reference.unbiased);
            expected.push(reference.unbiased);
        }
        let largest = (0..5).max_by(|&a, &b| expected[a].total_cmp(&expected[b]));
        let maximum = family.maximum_unbiased().expect("not empty");
        let best = bandwidths[largest.expect("five members")];
        assert_eq!(maximum.bandwidth.to_bits(), best.to_bits());
    }
    let kernel = kernel(Profile::Gaussian, 3);
    one(&Fourier::<3, 64>::new(kernel, Sampling::Quasi, 6).expect("spherical"));
    one(&Fastfood::<3, 4, 64>::new(kernel, 6).expect("spherical"));
}

#[test]
fn single_frequencies_are_those_of_all_at_once() {
    fn one<M, const D: usize>(map: &M)
    where
        M: FeatureMap<Inputs = Fixed<D>, Frequencies: Constant, Backend: SinCos>,
    {
        for (index, row) in dense(map).rows().iter().enumerate() {
            let frequency = map.frequency(index).expect("index below L");
            for (single, together) in frequency.into_iter().zip(row) {
                tolerance::FREQUENCY.hold("frequency", single.into(), *together);
            }
        }
        assert_eq!(map.frequency(M::Frequencies::N), None);
    }
    for profile in [Profile::Gaussian, Profile::Exponential] {
        let kernel = kernel(profile, 12);
        one(&Fourier::<12, 64>::with_kernel(kernel, 1));
        one(&Fastfood::<12, 16, 64>::new(kernel, 1).expect("spherical"));
    }
}

/// The control: a frequency that is slightly off, and two wrong unbiased formulae, must fail.
#[test]
fn wrong_values_are_caught() {
    let kernel = kernel(Profile::Gaussian, 3);
    let map = Fourier::<3, 64>::new(kernel, Sampling::Quasi, 8).expect("spherical");
    let frequencies = dense(&map);
    let (p, q) = sets(3, 200, 37);
    let spectrum = |set| frequencies.spectrum(set).expect("three channels");
    let (reference_p, reference_q) = (spectrum(&p), spectrum(&q));
    let reference = Readings::reference(&reference_p, &reference_q);
    let good = Readings::core::<_, Polynomial>(&stream(&map, &p, &q));
    assert!(good.misses(&reference, &tolerance::MMD2).is_empty());

    let mut rows: [[f32; 3]; 64] =
        std::array::from_fn(|index| map.frequency(index).expect("index below 64"));
    rows[20][1] += 1e-3;
    let off = Fourier::given(rows, 0.75).expect("finite");
    let wrong = Readings::core::<_, Polynomial>(&stream(&off, &p, &q));
    let misses = wrong.misses(&reference, &tolerance::MMD2);
    assert!(!misses.is_empty());

    // Bessel's factor on the biased estimate, and 1/m in place of 1/(m−1).
    let (m, n) = (200.0, 260.0);
    for unbiased in [
        good.biased * m / (m - 1.0),
        good.biased + good.norm_p / m + good.norm_q / n - 1.0 / m - 1.0 / n,
    ] {
        let wrong = Readings { unbiased, ..good };
        assert_eq!(wrong.misses(&reference, &tolerance::MMD2).len(), 1);
    }
}
