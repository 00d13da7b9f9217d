//! Properties of embeddings for random samples: exact where the documentation says so.
//!
//! The seed is fixed; `PROPTEST_RNG_SEED` and `PROPTEST_CASES` set others.

use fastmmd::features::sincos::{Micromath, SinCos};
use fastmmd::features::{ScalarOf, hadamard};
use fastmmd::shape::Fixed;
use fastmmd::{
    Embedding, Error, Fastfood, FeatureMap, Fourier, Kernel, KernelFamily, Parameter, Sampling,
    fixed,
};
use fastmmd_reference::tolerance;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed};

fn config() -> Config {
    let mut config = Config { failure_persistence: None, ..Config::default() };
    if std::env::var_os("PROPTEST_RNG_SEED").is_none() {
        config.rng_seed = RngSeed::Fixed(20_150_512);
    }
    config
}

/// A map of the shape that the samples here are made for.
trait Map: FeatureMap<Inputs = Fixed<3>, Frequencies = Fixed<16>> {}
impl<M: FeatureMap<Inputs = Fixed<3>, Frequencies = Fixed<16>>> Map for M {}

/// A sample and its weight.
type Weighted<M = Fourier<3, 16>> = ([ScalarOf<M>; 3], f32);

fn dense() -> Fourier<3, 16> {
    Fourier::new(Kernel::GAUSSIAN, Sampling::Quasi, 1).expect("spherical")
}

fn fast() -> Fastfood<3, 4, 16> {
    Fastfood::gaussian(1)
}

fn dense_integers() -> fixed::Fourier<3, 16> {
    fixed::Fourier::new(Kernel::GAUSSIAN, Sampling::Quasi, 1).expect("in range")
}

fn fast_integers() -> fixed::Fastfood<3, 4, 16> {
    fixed::Fastfood::gaussian(1)
}

/// The same samples in integer steps; large ones saturate.
fn in_steps(samples: &[Weighted]) -> Vec<([i16; 3], f32)> {
    let steps = |sample| fixed::sample(sample).expect("finite");
    samples.iter().map(|(sample, weight)| (steps(sample), *weight)).collect()
}

fn sample() -> impl Strategy<Value = [f32; 3]> {
    // Ordinary readings, and some that are many turns away.
    prop_oneof![4 => prop::array::uniform3(-4.0_f32..4.0), 1 => prop::array::uniform3(-1e4_f32..1e4)]
}

/// A weight from the whole range, uniform in its logarithm.
fn weight() -> impl Strategy<Value = f32> {
    (-12.0_f32..20.0).prop_map(f32::exp2)
}

fn weighted_samples() -> impl Strategy<Value = Vec<Weighted>> {
    let weight = prop_oneof![Just(1.0), weight()];
    prop::collection::vec((sample(), weight), 1..24)
}

fn embed<M: Map>(map: &M, samples: &[Weighted<M>]) -> Embedding<M> {
    let mut set = Embedding::new(map);
    for (sample, weight) in samples {
        set.add_weighted(map, sample, *weight).expect("a good sample");
    }
    set
}

/// Total weight and sums as saved, without the sum of squared weights.
fn sums<M: Map>(map: &M, set: &Embedding<M>) -> (Vec<u8>, Vec<u8>) {
    let mut bytes = vec![0; Embedding::<M>::SAVED_BYTES];
    set.save(map, &mut bytes).expect("long enough");
    (bytes[44..52].to_vec(), bytes[68..bytes.len() - 4].to_vec())
}

fn add_then_remove<M: Map>(map: &M, samples: &[Weighted<M>], more: &[Weighted<M>]) {
    let before = embed(map, samples);
    let mut set = before.clone();
    for (sample, weight) in more {
        set.add_weighted(map, sample, *weight).expect("a good sample");
    }
    // In the order of adding, not the reverse: any order works.
    for (sample, weight) in more {
        set.remove_weighted(map, sample, *weight).expect("was added");
    }
    assert_eq!(set, before);
    set.add(map, &more[0].0).expect("a good sample");
    set.remove(map, &more[0].0).expect("was added");
    assert_eq!(set, before);
}

fn merge_in_any_order<M: Map>(map: &M, samples: &[Weighted<M>], cuts: [usize; 2]) {
    let whole = embed(map, samples);
    let mut cuts = cuts.map(|cut| cut % (samples.len() + 1));
    cuts.sort_unstable();
    let parts = [&samples[..cuts[0]], &samples[cuts[0]..cuts[1]], &samples[cuts[1]..]];
    let [a, b, c] = parts.map(|part| embed(map, part));
    for order in [[&a, &b, &c], [&c, &a, &b], [&b, &a, &c]] {
        let [first, second, third] = order;
        let mut left = first.clone();
        left.merge(second).expect("the same map");
        left.merge(third).expect("the same map");
        let mut right = second.clone();
        right.merge(third).expect("the same map");
        let mut outer = first.clone();
        outer.merge(&right).expect("the same map");
        assert_eq!(left, whole);
        assert_eq!(outer, whole);
    }
}

fn weight_is_repetition<M: Map>(map: &M, sample: &[ScalarOf<M>; 3], times: u8) {
    let weighted = embed(map, &[(*sample, f32::from(times))]);
    let mut repeated = Embedding::new(map);
    for _ in 0..times {
        repeated.add(map, sample).expect("a good sample");
    }
    assert_eq!(sums(map, &weighted), sums(map, &repeated));
    let one = embed(map, &[(*sample, 1.0)]);
    let mut added = Embedding::new(map);
    added.add(map, sample).expect("a good sample");
    assert_eq!(one, added);
}

fn forgetting_multiplies<M: Map>(map: &M, samples: &[Weighted<M>], keep: [f32; 2]) {
    let mut twice = embed(map, samples);
    let mut once = twice.clone();
    twice.forget(keep[0]).expect("in range");
    twice.forget(keep[1]).expect("in range");
    once.forget(keep[0] * keep[1]).expect("in range");
    let limit = tolerance::FORGET;
    limit.hold("weight", f64::from(twice.weight() / once.weight()), 1.0);
    let effective =
        twice.concentration().expect("not empty") / once.concentration().expect("not empty");
    limit.hold("effective number", effective.into(), 1.0);
    for (a, b) in twice.mean().expect("not empty").zip(once.mean().expect("not empty")) {
        limit.hold("cos", a.cos.into(), b.cos.into());
        limit.hold("sin", a.sin.into(), b.sin.into());
    }
}

/// Every refused call gives the expected error and changes nothing.
fn bad_input_changes_nothing<M: Map<Backend: SinCos>>(
    map: &M,
    other: &M,
    samples: &[Weighted],
    channel: usize,
) {
    let before = embed(map, samples);
    let good = samples[0].0;
    let mut set = before.clone();
    let refused = |result: Result<(), Error>, error: Error, set: &Embedding<M>| {
        assert_eq!(result, Err(error));
        assert_eq!(*set, before);
    };
    for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        let mut sample = good;
        sample[channel] = bad;
        let error = Error::NonFinite(Parameter::Channel(channel));
        refused(set.add(map, &sample), error, &set);
        refused(set.add_weighted(map, &sample, 2.0), error, &set);
        if before.weight() >= 1.0 {
            // Whether there is anything to remove is checked first.
            let result = set.remove_weighted(map, &sample, fastmmd::embedding::MIN_WEIGHT);
            assert!(matches!(result, Err(e) if e == error || e == Error::NothingToRemove));
            assert_eq!(set, before);
        }
        refused(set.add_weighted(map, &good, bad), Error::NonFinite(Parameter::Weight), &set);
        refused(set.remove_weighted(map, &good, bad), Error::NonFinite(Parameter::Weight), &set);
        refused(set.forget(bad), Error::NonFinite(Parameter::Keep), &set);
    }
    for far in [1.01 * map.reach(), -1.01 * map.reach(), 1e30, f32::MAX] {
        let mut sample = good;
        sample[channel] = far;
        refused(set.add(map, &sample), Error::PhaseTooLarge, &set);
        refused(set.add_weighted(map, &sample, 2.0), Error::PhaseTooLarge, &set);
    }
    for none in [0.0, -0.0] {
        let before = set.clone();
        assert_eq!(set.add_weighted(map, &good, none), Ok(()));
        assert_eq!(set.remove_weighted(map, &good, none), Ok(()));
        assert!(set == before, "a weight of 0 changes nothing");
    }
    for bad in [-1.0, f32::MIN_POSITIVE, 2e-4, 1.1e6, f32::MAX] {
        let error = Error::OutOfRange(Parameter::Weight);
        refused(set.add_weighted(map, &good, bad), error, &set);
        refused(set.remove_weighted(map, &good, bad), error, &set);
    }
    for bad in [0.0, -0.5, 1.000_001, 2.0] {
        refused(set.forget(bad), Error::OutOfRange(Parameter::Keep), &set);
    }
    let stranger = embed(other, samples);
    refused(set.add(other, &good), Error::MapMismatch, &set);
    refused(set.add_weighted(other, &good, 2.0), Error::MapMismatch, &set);
    refused(set.remove(other, &good), Error::MapMismatch, &set);
    refused(set.merge(&stranger), Error::MapMismatch, &set);
    assert_eq!(set.inner_product(&stranger), Err(Error::MapMismatch));
    let mut empty = Embedding::new(map);
    assert_eq!(empty.remove(map, &good), Err(Error::NothingToRemove));
    assert_eq!(empty, Embedding::new(map));
}

/// A saved state can be restored even if forgetting has left almost nothing.
fn saved_is_restored<M: Map>(
    map: &M,
    zero: &[ScalarOf<M>; 3],
    samples: &[Weighted<M>],
    keeps: &[f32],
) {
    let mut set = Embedding::new(map);
    set.add(map, zero).expect("a good sample"); // the largest cosines there are
    for ((sample, weight), keep) in samples.iter().zip(keeps) {
        set.add_weighted(map, sample, *weight).expect("a good sample");
        set.forget(*keep).expect("in range");
        let mut bytes = vec![0; Embedding::<M>::SAVED_BYTES];
        set.save(map, &mut bytes).expect("long enough");
        let mut restored = Embedding::new(map);
        assert_eq!(restored.restore(map, &bytes), Ok(()));
        assert_eq!(restored, set);
        set.forget(keep * keep).expect("in range");
        set.save(map, &mut bytes).expect("long enough");
        assert_eq!(restored.restore(map, &bytes), Ok(()));
    }
}

fn transform_twice<const N: usize>(values: &[f32]) {
    let input: [f32; N] = std::array::from_fn(|index| values[index % values.len()]);
    let mut twice = input;
    hadamard::transform(&mut twice);
    hadamard::transform(&mut twice);
    let norm = input.iter().map(|x| f64::from(*x) * f64::from(*x)).sum::<f64>().sqrt();
    if norm > 0.0 {
        for (after, before) in twice.into_iter().zip(input) {
            let error = f64::from(after) / fastmmd_reference::real(N) - f64::from(before);
            tolerance::HADAMARD.hold_below("WHT²", error.abs() / norm);
        }
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn removing_undoes_adding(samples in weighted_samples(), more in weighted_samples()) {
        add_then_remove(&dense(), &samples, &more);
        add_then_remove(&fast(), &samples, &more);
        let (samples, more) = (in_steps(&samples), in_steps(&more));
        add_then_remove(&dense_integers(), &samples, &more);
        add_then_remove(&fast_integers(), &samples, &more);
    }

    #[test]
    fn merging_is_the_same_in_any_order(
        samples in weighted_samples(),
        cuts in prop::array::uniform2(0_usize..100),
    ) {
        merge_in_any_order(&dense(), &samples, cuts);
        merge_in_any_order(&fast(), &samples, cuts);
        let samples = in_steps(&samples);
        merge_in_any_order(&dense_integers(), &samples, cuts);
        merge_in_any_order(&fast_integers(), &samples, cuts);
    }

    #[test]
    fn a_whole_weight_is_repetition(sample in sample(), times in 1_u8..100) {
        weight_is_repetition(&dense(), &sample, times);
        weight_is_repetition(&fast(), &sample, times);
        let sample = fixed::sample(&sample).expect("finite");
        weight_is_repetition(&fast_integers(), &sample, times);
    }

    #[test]
    fn the_order_of_samples_does_not_matter(
        (samples, shuffled) in weighted_samples()
            .prop_flat_map(|samples| (Just(samples.clone()), Just(samples).prop_shuffle())),
    ) {
        let floats = |samples| embed(&dense(), samples);
        prop_assert_eq!(floats(&samples), floats(&shuffled));
        let floats = |samples| embed(&fast(), samples);
        prop_assert_eq!(floats(&samples), floats(&shuffled));
        let integers = |samples| embed(&fast_integers(), &in_steps(samples));
        prop_assert_eq!(integers(&samples), integers(&shuffled));
    }

    #[test]
    fn forgetting_twice_is_forgetting_the_product(
        samples in prop::collection::vec((sample(), 1.0_f32..8.0), 4..24),
        keep in prop::array::uniform2(0.1_f32..=1.0),
    ) {
        forgetting_multiplies(&dense(), &samples, keep);
        forgetting_multiplies(&fast(), &samples, keep);
    }

    #[test]
    fn what_is_saved_is_restored(
        samples in weighted_samples(),
        keeps in prop::collection::vec((-18.0_f32..=0.0).prop_map(f32::exp2), 24),
    ) {
        saved_is_restored(&dense(), &[0.0; 3], &samples, &keeps);
        saved_is_restored(&dense().with_backend::<Micromath>(), &[0.0; 3], &samples, &keeps);
        saved_is_restored(&fast(), &[0.0; 3], &samples, &keeps);
        saved_is_restored(&fast_integers(), &[0; 3], &in_steps(&samples), &keeps);
    }

    #[test]
    fn bad_input_is_named_and_changes_nothing(
        samples in weighted_samples(),
        channel in 0_usize..3,
    ) {
        let other = Fourier::new(Kernel::GAUSSIAN, Sampling::Quasi, 2).expect("spherical");
        bad_input_changes_nothing(&dense(), &other, &samples, channel);
        bad_input_changes_nothing(&fast(), &Fastfood::gaussian(2), &samples, channel);
    }

    #[test]
    fn the_transform_twice_is_n(values in prop::collection::vec(-1e3_f32..1e3, 1..200)) {
        transform_twice::<1>(&values);
        transform_twice::<2>(&values);
        transform_twice::<8>(&values);
        transform_twice::<64>(&values);
        transform_twice::<1024>(&values);
    }
}

/// A family adds a sample to all its members or to none.
#[test]
fn a_family_refuses_as_a_whole() {
    let map = dense();
    let mut family = KernelFamily::new(&map, [1e-3, 1.0]).expect("in range");
    family.push_p(&[0.1, 0.2, 0.3]).expect("a good sample");
    let before = family.p().clone();
    // Within the reach of σ = 1, but not of σ = 0.001.
    let far = [0.1 * map.reach(), 0.0, 0.0];
    assert_eq!(family.push_p(&far), Err(Error::PhaseTooLarge));
    assert_eq!(*family.p(), before);
    let error = Error::NonFinite(Parameter::Channel(2));
    assert_eq!(family.push_p(&[0.0, 0.0, f32::NAN]), Err(error));
    assert_eq!(*family.p(), before);
    for (bad, error) in [
        (f32::NAN, Error::NonFinite(Parameter::Bandwidth)),
        (0.0, Error::OutOfRange(Parameter::Bandwidth)),
        (-1.0, Error::OutOfRange(Parameter::Bandwidth)),
    ] {
        let refused = KernelFamily::new(&map, [1.0, bad]);
        assert_eq!(refused.err(), Some(error));
    }
}

/// At 127·2²⁶ samples the sums are full: one more is refused, and nothing overflows.
#[test]
fn a_full_embedding_refuses_more() {
    let map = dense();
    let mut set = Embedding::new(&map);
    let sample = [0.0; 3]; // cos = 1 at every frequency: the largest sums there are
    set.add(&map, &sample).expect("a good sample");
    let one = set.clone();
    // One less, by Horner's scheme.
    let count = (127_u64 << 26) - 1;
    for bit in (0..32).rev() {
        let copy = set.clone();
        set.merge(&copy).expect("room");
        if count >> bit & 1 == 1 {
            set.merge(&one).expect("room");
        }
    }
    let full = set.clone();
    assert_eq!(set.add(&map, &sample), Err(Error::Full));
    assert_eq!(set.add_weighted(&map, &sample, 1.0), Err(Error::Full));
    assert_eq!(set.merge(&one), Err(Error::Full));
    assert_eq!(set.merge(&full), Err(Error::Full));
    assert_eq!(set, full);
    for point in set.mean().expect("not empty") {
        tolerance::LONG_RUN.hold("full", point.cos.into(), 1.0);
    }
}

/// The integer table puts the point of phase 0 slightly outside the circle; full sums of it still
/// fit into a saved record.
#[test]
fn a_full_embedding_of_the_table_is_saved_and_restored() {
    let map = fixed::Fourier::<3, 16>::gaussian(1);
    let mut set = Embedding::new(&map);
    let mut weight = fastmmd::embedding::MAX_WEIGHT;
    while weight >= 1.0 {
        if set.add_weighted(&map, &[0; 3], weight).is_err() {
            weight /= 2.0;
        }
    }
    let mut bytes = [0; Embedding::<fixed::Fourier<3, 16>>::SAVED_BYTES];
    set.save(&map, &mut bytes).expect("long enough");
    let mut again = Embedding::new(&map);
    again.restore(&map, &bytes).expect("its own record");
    assert_eq!(again, set);
}
