//! Families, maps with offsets and classifiers, against the oracle.

use crate::common::dense;
use fastmmd::features::sincos::{Point, SinCos};
use fastmmd::features::{Offset, Sample};
use fastmmd::{
    Classifier, Embedding, Error, FeatureMap, Fourier, Kernel, KernelFamily, Parameter, Profile,
    Sampling, TwoSample, checked, fixed,
};
use fastmmd_reference::features::Frequencies;
use fastmmd_reference::generate::Generator;
use fastmmd_reference::kernel::gaussian;
use fastmmd_reference::svm::LinearMachine;
use fastmmd_reference::{Points, Refused, Weighted, real, single, tolerance};

const BANDWIDTHS: [f32; 3] = [0.5, 1.0, 4.0];

static MAP: Fourier<2, 32> = Fourier::gaussian(1);

fn rows(generator: &mut Generator, count: usize, shift: f64) -> Vec<[f32; 2]> {
    (0..count).map(|_| [(); 2].map(|()| single(shift + generator.normal()))).collect()
}

/// The oracle's embedding of weighted samples at one bandwidth of a family.
fn scaled(frequencies: &Frequencies, factor: f64) -> Frequencies {
    let row = |row: &Vec<f64>| row.iter().map(|w| factor * w).collect();
    Frequencies::new(frequencies.rows().iter().map(row).collect()).expect("as many")
}

/// Weights and forgetting, 0 among them: every member is the oracle's, and in the end is restored
/// bit for bit.
#[test]
fn a_family_weighs_forgets_and_is_saved() {
    let mut generator = Generator::new(21);
    let mut family = KernelFamily::new(&MAP, BANDWIDTHS).expect("in range");
    let (p, q) = (rows(&mut generator, 60, 0.0), rows(&mut generator, 50, 0.4));
    let mut weights = Vec::new();
    for (index, sample) in p.iter().enumerate() {
        let weight = [0.0, 1.0, 2.5][index % 3];
        family.forget_p(0.96875).expect("a factor");
        weights.iter_mut().for_each(|old: &mut f64| *old *= 0.96875);
        family.push_p_weighted(sample, single(weight)).expect("a sample");
        weights.push(weight);
    }
    for sample in &q {
        family.push_q_weighted(sample, 1.0).expect("a sample");
    }
    let set = |rows: &[[f32; 2]], weights: Vec<f64>| {
        Weighted::new(Points::from_arrays(rows).expect("some"), weights).expect("weights")
    };
    let (p, q) = (set(&p, weights), set(&q, vec![1.0; 50]));
    let (biased, unbiased) = (family.biased().expect("many"), family.unbiased().expect("many"));
    for ((biased, unbiased), bandwidth) in biased.iter().zip(unbiased).zip(BANDWIDTHS) {
        let frequencies = scaled(&dense(&MAP), 1.0 / f64::from(bandwidth));
        let [p, q] = [&p, &q].map(|set| frequencies.spectrum(set).expect("two channels"));
        tolerance::MMD2.hold("biased", biased.squared.into(), p.biased(&q));
        let expected = p.unbiased(&q).expect("many");
        tolerance::MMD2.hold("unbiased", unbiased.squared.into(), expected);
    }

    const BYTES: usize = KernelFamily::<Fourier<2, 32>, 3>::SAVED_BYTES;
    let mut bytes = [0; BYTES];
    assert_eq!(family.save(&mut bytes), Ok(BYTES));
    assert_eq!(family.saved_bytes(), BYTES);
    let mut again = KernelFamily::new(&MAP, BANDWIDTHS).expect("in range");
    again.restore(&bytes).expect("its own bytes");
    assert_eq!((again.p(), again.q()), (family.p(), family.q()));
    let mut other = KernelFamily::new(&MAP, [0.5, 1.0, 5.0]).expect("in range");
    assert_eq!(other.restore(&bytes), Err(Error::MapMismatch));
    let mut fewer = KernelFamily::new(&MAP, [0.5, 1.0]).expect("in range");
    assert_eq!(fewer.restore(&bytes), Err(Error::WrongShape));
    bytes[100] ^= 4;
    assert_eq!(again.restore(&bytes), Err(Error::ChecksumMismatch));
    assert_eq!(again.p(), family.p());
    // Refused as a whole: weights, factors, samples.
    assert_eq!(again.push_p_weighted(&[0.0; 2], -1.0), Err(Error::OutOfRange(Parameter::Weight)));
    assert_eq!(again.forget_q(0.0), Err(Error::OutOfRange(Parameter::Keep)));
    assert_eq!(again.push_q_weighted(&[1e30, 0.0], 1.0), Err(Error::PhaseTooLarge));
    assert_eq!((again.p(), again.q()), (family.p(), family.q()));
}

/// In integers, members are whole parts of the map's bandwidth.
#[test]
fn a_family_of_integers_has_the_references_mmd() {
    let kernel = Kernel::new(Profile::Gaussian, 4.0).expect("in range");
    let map = fixed::Fourier::<2, 64>::new(kernel, Sampling::Quasi, 1).expect("in range");
    let bandwidths = [4.0, 2.0, 4.0 / 3.0, 0.5];
    let mut family = KernelFamily::new(&map, bandwidths).expect("whole parts");
    let mut generator = Generator::new(22);
    let sets = [rows(&mut generator, 200, 0.0), rows(&mut generator, 200, 0.5)];
    let steps =
        sets.map(|set| set.iter().map(|x| fixed::sample(x).expect("finite")).collect::<Vec<_>>());
    for (p, q) in steps[0].iter().zip(&steps[1]) {
        family.push_p(p).expect("a sample");
        family.push_q_weighted(q, 1.0).expect("a sample");
    }
    let one = f64::from(fixed::ONE);
    let sets = steps.map(|set| {
        let values = set.iter().flatten().map(|&x| f64::from(x) / one).collect();
        Weighted::even(Points::new(2, values).expect("some"))
    });
    let rows = (0..64).map(|k| map.exact_frequency(k).expect("one of 64").to_vec()).collect();
    let own = Frequencies::new(rows).expect("64 rows");
    for (member, bandwidth) in family.biased().expect("many").iter().zip(bandwidths) {
        let factor = (4.0 / f64::from(bandwidth)).round();
        let frequencies = scaled(&own, factor);
        let [p, q] = sets.each_ref().map(|set| frequencies.spectrum(set).expect("two channels"));
        println!("σ = {bandwidth}: {} and {}", member.squared, p.biased(&q));
        tolerance::MMD2_FIXED.hold("biased", member.squared.into(), p.biased(&q));
    }
    for bad in [3.0, 8.0, 4.0 / 300.0, 1.6] {
        let refused = KernelFamily::new(&map, [bad]).err();
        assert_eq!(refused, Some(Error::OutOfRange(Parameter::Bandwidth)), "{bad}");
    }
}

static OFFSET: Offset<2, 64> = checked!(Offset::new(Kernel::GAUSSIAN, Sampling::Independent, 5));

/// 2/L·Σcos(ω'x + b)cos(ω'y + b), by the map's own frequencies and offsets in f64.
fn offset_kernel<const L: usize>(map: &Offset<2, L>, x: &[f64], y: &[f64]) -> f64 {
    let one = |k: usize| {
        let frequency = map.frequency(k).expect("one of L");
        let offset = f64::from(map.offset(k).expect("one of L"));
        let phase = |x: &[f64]| {
            let turns: f64 = frequency.iter().zip(x).map(|(w, x)| f64::from(*w) * x).sum();
            (std::f64::consts::TAU * (turns + offset)).cos()
        };
        2.0 * phase(x) * phase(y)
    };
    (0..L).map(one).sum::<f64>() / real(L)
}

/// The embeddings of an offset map are sums over pairs of its own kernel.
#[test]
fn offset_features_are_those_of_their_kernel() {
    let mut generator = Generator::new(23);
    let (p, q) = (rows(&mut generator, 30, 0.0), rows(&mut generator, 20, 0.7));
    let mut test = OFFSET.two_sample();
    p.iter().for_each(|x| test.push_p(x).expect("a sample"));
    q.iter().for_each(|x| test.push_q(x).expect("a sample"));
    let mean = |a: &[[f32; 2]], b: &[[f32; 2]]| {
        let wide = |x: &[f32; 2]| x.map(f64::from);
        let pairs = a.iter().flat_map(|x| b.iter().map(move |y| (wide(x), wide(y))));
        let sum: f64 = pairs.map(|(x, y)| offset_kernel(&OFFSET, &x, &y)).sum();
        sum / real(a.len() * b.len())
    };
    let expected = mean(&p, &p) + mean(&q, &q) - 2.0 * mean(&p, &q);
    tolerance::MMD2.hold("MMD_b²", test.mmd2_biased().expect("many").into(), expected);
    let product = test.p().inner_product(test.q()).expect("many");
    tolerance::MMD2.hold("⟨μ, μ⟩", product.into(), mean(&p, &q));
    // Saved and drawn again.
    let mut bytes = [0; Embedding::<Offset<2, 64>>::SAVED_BYTES];
    test.p().save(&OFFSET, &mut bytes).expect("room");
    let recipe = fastmmd::Recipe::restore(&bytes).expect("a record");
    let again = Offset::<2, 64>::from_recipe(&recipe).expect("its own recipe");
    assert_eq!(again, OFFSET);
    let mut restored = Embedding::new(&again);
    restored.restore(&again, &bytes).expect("its own bytes");
    assert_eq!(restored, *test.p());
    assert!(Fourier::<2, 64>::from_recipe(&recipe).is_err());
}

/// As documented: a product of offset features has ½ more variance than one of pairs.
#[test]
fn offsets_add_a_half_to_the_variance() {
    let (x, y) = ([0.3, -0.2], [0.7, 0.4]);
    let exact = gaussian(1.0)(&x, &y);
    let (mut pairs, mut offsets) = (Vec::new(), Vec::new());
    for seed in 0..4000 {
        let sampling = Sampling::Independent;
        let offset = Offset::<2, 1>::new(Kernel::GAUSSIAN, sampling, seed).expect("spherical");
        offsets.push(offset_kernel(&offset, &x, &y));
        let dense = Fourier::<2, 1>::new(Kernel::GAUSSIAN, sampling, seed).expect("spherical");
        let frequency = dense.frequency(0).expect("one").map(f64::from);
        let turns: f64 = frequency.iter().zip(x.iter().zip(y)).map(|(w, (x, y))| w * (x - y)).sum();
        pairs.push((std::f64::consts::TAU * turns).cos());
    }
    let variance = |values: &[f64]| {
        values.iter().map(|value| (value - exact).powi(2)).sum::<f64>() / real(values.len())
    };
    // Var cos ω'Δ = ½(1 + k(2Δ)) − k(Δ)².
    let theory = 0.5 * (1.0 + exact.powi(4)) - exact * exact;
    println!("{:.4} of {theory:.4}, and {:.4}", variance(&pairs), variance(&offsets));
    tolerance::OFFSET_VARIANCE.hold("pairs", variance(&pairs) / theory, 1.0);
    tolerance::OFFSET_VARIANCE.hold("offsets", variance(&offsets) / (theory + 0.5), 1.0);
}

/// Weights of the oracle's linear machine, learned over the device's own frequencies.
fn taught<M: FeatureMap<Backend: SinCos>>(
    map: &M,
    points: &Points,
    labels: &[bool],
) -> Result<(Vec<Point>, f32, LinearMachine), Refused> {
    let frequencies = dense(map);
    let features = frequencies.columns(points)?;
    let machine = LinearMachine::new(&features, labels, 10.0, &mut Generator::new(1))?;
    let weights = machine.pairs()?.into_iter();
    let weights = weights.map(|[cos, sin]| Point { cos: single(cos), sin: single(sin) });
    Ok((weights.collect(), single(machine.bias), machine))
}

/// Learned on the host, decided on the device: scores are the oracle's, and a window's score is the
/// mean of its samples'.
#[test]
fn a_classifier_decides_as_the_machine_that_taught_it() -> Result<(), Refused> {
    let mut generator = Generator::new(24);
    let ring = |generator: &mut Generator, radius: f64| {
        let angle = std::f64::consts::TAU * generator.uniform();
        let radius = radius + 0.1 * generator.normal();
        [single(radius * angle.cos()), single(radius * angle.sin())]
    };
    let rows: Vec<[f32; 2]> =
        (0..120).map(|i| ring(&mut generator, if i % 2 == 0 { 0.7 } else { 2.0 })).collect();
    let labels: Vec<bool> = (0..120).map(|i| i % 2 == 0).collect();
    let (weights, bias, machine) = taught(&MAP, &Points::from_arrays(&rows)?, &labels)?;
    let opposite: Vec<Point> = weights.iter().map(|w| Point { cos: -w.cos, sin: -w.sin }).collect();
    let classes = Classifier::new(&MAP, [&weights, &opposite], [bias, -bias]).expect("finite");
    let mut window = Embedding::new(&MAP);
    let (mut right, mut mean) = (0, 0.0);
    for index in 0..100 {
        let sample = ring(&mut generator, if index % 2 == 0 { 0.7 } else { 2.0 });
        let column = dense(&MAP).columns(&Points::from_arrays(&[sample])?)?;
        let expected = machine.decision(column.as_slice())?;
        let scores = classes.scores(&MAP, &sample).expect("a sample");
        tolerance::CLASSIFIER_SCORE.hold("score", scores[0].into(), expected);
        let class = classes.class(&MAP, &sample).expect("a sample");
        right += usize::from(class.index == index % 2);
        window.add(&MAP, &sample).expect("a sample");
        mean += f64::from(scores[0]) / 100.0;
    }
    tolerance::CLASSIFIER_WRONG.hold_below("of 100", 1.0 - real(right) / 100.0);
    let scores = classes.of_embedding(&window).expect("many");
    tolerance::CLASSIFIER_SCORE.hold("window", scores[0].into(), mean);

    const BYTES: usize = Classifier::<Fourier<2, 32>, 2>::SAVED_BYTES;
    let mut bytes = [0; BYTES];
    assert_eq!(classes.save(&MAP, &mut bytes), Ok(BYTES));
    assert_eq!(classes.saved_bytes(), BYTES);
    let mut again = Classifier::empty(&MAP);
    again.restore(&MAP, &bytes).expect("its own bytes");
    assert_eq!(again, classes);
    let other = Fourier::<2, 32>::gaussian(2);
    assert_eq!(Classifier::<_, 2>::empty(&other).restore(&other, &bytes), Err(Error::MapMismatch));
    assert_eq!(Classifier::<_, 1>::empty(&MAP).restore(&MAP, &bytes), Err(Error::WrongShape));
    bytes[60] ^= 1;
    assert_eq!(again.restore(&MAP, &bytes), Err(Error::ChecksumMismatch));
    assert_eq!(again, classes);
    assert_eq!(again.scores(&other, &[0.0; 2]), Err(Error::MapMismatch));
    let short = Classifier::new(&MAP, [&weights[1..]], [0.0]);
    assert_eq!(short.err(), Some(Error::WrongShape));
    let nan = Classifier::new(&MAP, [&weights], [f32::NAN]);
    assert_eq!(nan.err(), Some(Error::NonFinite(Parameter::Weight)));
    Ok(())
}

/// A sample of zero weight and a stream of streams: what families and streams share.
#[test]
fn a_family_of_one_is_a_pair_of_streams() {
    fn fill<M: FeatureMap>(map: &M, samples: &[Box<Sample<M>>]) -> (f32, f32)
    where
        Sample<M>: Sized,
    {
        let own = map.recipe().kernel.bandwidth();
        let mut family = KernelFamily::new(map, [own]).expect("its own");
        let mut streams = TwoSample::new(map);
        for pair in samples.chunks_exact(2) {
            family.push_p(&pair[0]).expect("a sample");
            streams.push_p(&pair[0]).expect("a sample");
            family.push_q_weighted(&pair[1], 0.5).expect("a sample");
            streams.push_q_weighted(&pair[1], 0.5).expect("a sample");
        }
        (family.maximum_biased().expect("many").squared, streams.mmd2_biased().expect("many"))
    }
    let mut generator = Generator::new(25);
    let samples = rows(&mut generator, 40, 0.0);
    let boxed: Vec<Box<[f32; 2]>> = samples.iter().map(|x| Box::new(*x)).collect();
    let (family, streams) = fill(&MAP, &boxed);
    assert_eq!(family.to_bits(), streams.to_bits());
    let map = fixed::Fourier::<2, 32>::gaussian(1);
    let steps: Vec<Box<[i16; 2]>> =
        samples.iter().map(|x| Box::new(fixed::sample(x).expect("finite"))).collect();
    let (family, streams) = fill(&map, &steps);
    assert_eq!(family.to_bits(), streams.to_bits());
}
