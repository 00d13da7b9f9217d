//! Shapes known at run time give the same bits and records as shapes in the type.

use fastmmd::dynamic::{self, Map};
use fastmmd::features::sincos::Polynomial;
use fastmmd::shape::Fixed;
use fastmmd::{
    Config, Error, Fastfood, FeatureMap, Fourier, Kernel, Parameter, Profile, Sampling, TwoSample,
};
use fastmmd_reference::generate::Generator;
use fastmmd_reference::single;

fn bits(values: &[f32]) -> Vec<u32> {
    values.iter().map(|value| value.to_bits()).collect()
}

/// Compares frequencies, sums, MMD² and records of a map with its shape in the type and of one
/// without.
fn same<M, const D: usize>(fixed: &M, any: &Map)
where
    M: FeatureMap<Inputs = Fixed<D>, Backend = Polynomial>,
{
    assert_eq!(any.recipe(), fixed.recipe());
    assert_eq!(any.fingerprint(), fixed.fingerprint());
    assert_eq!(any.reach().to_bits(), fixed.reach().to_bits());
    for index in 0..=fixed.recipe().frequencies as usize {
        let (any, fixed) = (any.frequency(index), fixed.frequency(index));
        assert_eq!(any.map(|row| bits(&row)), fixed.map(|row| bits(&row)));
    }
    let mut generator = Generator::new(3);
    let (mut a, mut b) = (TwoSample::new(fixed), TwoSample::new(any));
    for index in 0..50_u8 {
        let p = [0; D].map(|_| single(generator.normal()));
        let q = [0; D].map(|_| single(30.0 * generator.normal()));
        let weight = 0.5 + f32::from(index);
        a.push_p(&p).and_then(|()| a.push_q_weighted(&q, weight)).expect("good samples");
        b.push_p(&p).and_then(|()| b.push_q_weighted(&q, weight)).expect("good samples");
    }
    let mmd = |squared: Result<f32, _>| squared.map(f32::to_bits).expect("two samples");
    assert_eq!(mmd(a.mmd2_unbiased()), mmd(b.mmd2_unbiased()));
    let (mut record, mut other) = (vec![0; a.saved_bytes()], vec![0; b.saved_bytes()]);
    a.save(&mut record).expect("long enough");
    b.save(&mut other).expect("long enough");
    assert_eq!(record, other);
    // Each restores the other's record, and the map can be drawn from the record.
    b.reset();
    b.restore(&record).expect("the same map");
    assert_eq!(mmd(a.mmd2_biased()), mmd(b.mmd2_biased()));
    assert_eq!(b.push_p(&vec![0.0; D + 1]), Err(Error::WrongShape));
    batches(fixed, any);
}

/// Batches of any length are the same as one sample after the other, bit for bit; of a batch with a
/// bad sample, none is added.
fn batches<M, const D: usize>(fixed: &M, any: &Map)
where
    M: FeatureMap<Inputs = Fixed<D>, Backend = Polynomial>,
{
    let mut generator = Generator::new(4);
    let rows: Vec<[f32; D]> =
        (0..150).map(|_| [0; D].map(|_| single(2.0 * generator.normal()))).collect();
    let (mut single, mut many) = (TwoSample::new(fixed), TwoSample::new(fixed));
    let mut sized = TwoSample::new(any);
    let mut rest = rows.as_slice();
    for length in [0, 1, 3, 16, 17, 100, 13] {
        let (batch, after) = rest.split_at(length);
        rest = after;
        for row in batch {
            single.push_p(row).and_then(|()| single.push_q(row)).expect("good samples");
        }
        many.push_p_many(batch).and_then(|()| many.push_q_many(batch)).expect("good samples");
        let flat = batch.as_flattened().chunks_exact(D);
        sized.push_p_many(flat.clone()).and_then(|()| sized.push_q_many(flat)).expect("good");
        assert_eq!(many.p(), single.p(), "{length}");
        assert_eq!(many.q(), single.q(), "{length}");
    }
    let record = |save: &dyn Fn(&mut [u8]) -> Result<usize, Error>, bytes| {
        let mut record = vec![0; bytes];
        save(&mut record).expect("long enough");
        record
    };
    let expected = record(&|bytes| single.save(bytes), single.saved_bytes());
    assert_eq!(record(&|bytes| many.save(bytes), many.saved_bytes()), expected);
    assert_eq!(record(&|bytes| sized.save(bytes), sized.saved_bytes()), expected);
    let mut bad = rows;
    bad[70][D - 1] = f32::NAN;
    let refused = Err(Error::NonFinite(Parameter::Channel(D - 1)));
    assert_eq!(many.push_p_many(&bad), refused);
    assert_eq!(sized.push_p_many(bad.as_flattened().chunks_exact(D)), refused);
    let short = bad.as_flattened().chunks(D + 1).take(1);
    assert_eq!(sized.push_p_many(short), Err(Error::WrongShape));
    assert_eq!(many.p(), single.p());
    assert_eq!(record(&|bytes| sized.save(bytes), sized.saved_bytes()), expected);
}

fn kernel(profile: Profile) -> Kernel {
    Kernel::new(profile, 1.3).and_then(|kernel| kernel.with_amplitude(0.75)).expect("in range")
}

fn fourier<const D: usize, const L: usize>() {
    for profile in Profile::ALL {
        for sampling in Sampling::ALL {
            let fixed = Fourier::<D, L>::new(kernel(profile), sampling, 7);
            let any = Map::fourier(kernel(profile), sampling, 7, D, L);
            match (fixed, any) {
                (Ok(fixed), Ok(any)) => {
                    assert_eq!(Map::from_recipe(fixed.recipe()).as_ref(), Ok(&any));
                    same(&fixed, &any);
                }
                (fixed, any) => assert_eq!(fixed.err(), any.err()),
            }
        }
    }
}

fn fastfood<const D: usize, const P: usize, const L: usize>() {
    for profile in Profile::ALL {
        let fixed = Fastfood::<D, P, L>::new(kernel(profile), 7);
        match (fixed, Map::fastfood(kernel(profile), 7, D, P, L)) {
            (Ok(fixed), Ok(any)) => {
                assert_eq!(Map::from_recipe(fixed.recipe()).as_ref(), Ok(&any));
                same(&fixed, &any);
            }
            (fixed, any) => assert_eq!(fixed.err(), any.err()),
        }
    }
}

#[test]
fn maps_and_sums_have_the_same_bits() {
    fourier::<1, 16>();
    fourier::<3, 64>();
    fourier::<5, 100>();
    fourier::<16, 128>();
    fastfood::<1, 4, 16>();
    fastfood::<3, 4, 64>();
    fastfood::<12, 16, 128>();
    fastfood::<64, 64, 64>();
    let rows = [[0.25, 0.5], [1.0, -0.125], [0.0, 3.0]];
    let given = Fourier::given(rows, 2.0).expect("finite");
    same(&given, &Map::given(rows.as_flattened(), 2, 2.0).expect("finite"));
}

#[test]
fn shapes_that_no_map_has_are_refused() {
    let fourier = |d, l| Map::fourier(Kernel::GAUSSIAN, Sampling::Auto, 1, d, l).err();
    for (inputs, frequencies) in [(0, 64), (3, 0), (3, 65_537)] {
        assert_eq!(fourier(inputs, frequencies), Some(Error::WrongShape));
    }
    let fastfood = |d, p, l| Map::fastfood(Kernel::GAUSSIAN, 1, d, p, l).err();
    for (inputs, block, frequencies) in
        [(3, 6, 12), (5, 4, 64), (3, 4, 0), (3, 4, 65_537), (3, 2, 64), (0, 4, 64)]
    {
        assert_eq!(fastfood(inputs, block, frequencies), Some(Error::WrongShape));
    }
    assert_eq!(Map::given(&[1.0; 5], 2, 1.0).err(), Some(Error::WrongShape));
    let map = Map::fourier(Kernel::GAUSSIAN, Sampling::Auto, 1, 3, 64).expect("a shape");
    let mut detector = dynamic::detector(&map, Config::rows(1e4)).expect("in range");
    for row in [&[0.0; 2][..], &[0.0; 4], &[]] {
        assert_eq!(detector.push(row), Err(Error::WrongShape));
    }
    assert_eq!(detector.push_partial(&[None; 4]), Err(Error::WrongShape));
    assert_eq!(detector.rows(), 0);
}

/// Frequencies are drawn in a time that does not explode, whatever the shape.
#[test]
#[cfg_attr(miri, ignore = "too slow when interpreted")]
fn many_inputs_are_drawn_in_seconds() {
    let drawn = |inputs, frequencies| {
        let map = Map::fourier(Kernel::GAUSSIAN, Sampling::Auto, 1, inputs, frequencies);
        map.expect("a shape").recipe().sampling
    };
    let start = std::time::Instant::now();
    assert_eq!(drawn(512, 512), Sampling::Orthogonal);
    assert_eq!(drawn(513, 512), Sampling::Independent);
    assert_eq!(drawn(16_384, 256), Sampling::Independent);
    assert!(start.elapsed().as_secs() < 60);
}
