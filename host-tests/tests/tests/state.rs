//! Saved states: exact round trips, records of version 1 for ever, and a typed error for each
//! refusal.

#[path = "common/records.rs"]
mod records;

use fastmmd::features::ScalarOf;
use fastmmd::features::sincos::{Backend, Libm};
use fastmmd::shape::{Constant, Fixed};
use fastmmd::{
    Embedding, Error, Fastfood, FeatureMap, Fourier, Kernel, Recipe, Sampling, TwoSample, fixed,
};
use records::{Number, dense, fast, fast_integers, hex, mend, reading, streams};

fn saved(length: usize, save: impl Fn(&mut [u8]) -> Result<usize, Error>) -> Vec<u8> {
    let mut bytes = vec![0xa5; length];
    assert_eq!(save(&mut bytes), Ok(length));
    // One byte less is refused, and says what is needed.
    let mut short = vec![0xa5; length - 1];
    assert_eq!(save(&mut short), Err(Error::BufferTooSmall { needed: length }));
    assert!(short.iter().all(|byte| *byte == 0xa5));
    // More than needed is left alone.
    let mut long = vec![0xa5; length + 3];
    assert_eq!(save(&mut long), Ok(length));
    assert_eq!(long[..length], bytes);
    assert_eq!(long[length..], [0xa5; 3]);
    bytes
}

fn round_trips<M, const D: usize>(map: &M)
where
    M: FeatureMap<Inputs = Fixed<D>, Frequencies: Constant>,
    ScalarOf<M>: Number,
{
    let test = streams(map);
    let bytes = saved(Recipe::SAVED_BYTES, |out| map.recipe().save(out));
    assert_eq!(Recipe::restore(&bytes).as_ref(), Ok(map.recipe()));

    let bytes = saved(Embedding::<M>::SAVED_BYTES, |out| test.q().save(map, out));
    let mut restored = Embedding::new(map);
    assert_eq!(restored.restore(map, &bytes), Ok(()));
    assert_eq!(restored, *test.q());
    assert_eq!(Recipe::restore(&bytes).as_ref(), Ok(map.recipe()));

    let bytes = saved(TwoSample::<M>::SAVED_BYTES, |out| test.save(out));
    let mut restored = TwoSample::<M>::new(map);
    assert_eq!(restored.restore(&bytes), Ok(()));
    assert_eq!(restored.p(), test.p());
    assert_eq!(restored.q(), test.q());
    let bits = |t: &TwoSample<'_, M>| t.mmd2_unbiased().map(f32::to_bits);
    assert_eq!(bits(&restored), bits(&test));
    // Both continue in the same way.
    let mut test = test;
    for index in 30..40 {
        test.push_p(&reading(index)).expect("a good sample");
        restored.push_p(&reading(index)).expect("a good sample");
    }
    assert_eq!(restored.p(), test.p());
}

#[test]
fn round_trips_are_exact() {
    round_trips(&dense());
    round_trips(&dense().with_backend::<Libm>());
    round_trips(&fast());
    let given = Fourier::given([[0.25, 0.5], [1.0, -0.125]], 1.0).expect("finite");
    round_trips(&given);
    for sampling in [Sampling::Independent, Sampling::Quasi, Sampling::Orthogonal] {
        let map = Fourier::<16, 128>::new(Kernel::GAUSSIAN, sampling, u64::MAX).expect("spherical");
        round_trips(&map);
    }
    round_trips(&fast_integers());
    let map = fixed::Fourier::<16, 128>::new(Kernel::GAUSSIAN, Sampling::Auto, 1);
    round_trips(&map.expect("in range"));
}

/// Maps with the same seed and sums of the same length: still, the `f32` and integer paths refuse
/// each other's records.
#[test]
fn floats_and_integers_refuse_each_other() {
    let (floats, integers) = (fast(), fast_integers());
    let mut a = streams(&floats);
    let mut b = streams(&integers);
    let saved_a = saved(TwoSample::<Fastfood<3, 4, 8>>::SAVED_BYTES, |out| a.save(out));
    let saved_b = saved(saved_a.len(), |out| b.save(out));
    let before = (a.p().clone(), b.p().clone());
    assert_eq!(a.restore(&saved_b), Err(Error::WrongShape));
    assert_eq!(b.restore(&saved_a), Err(Error::WrongShape));
    assert_eq!((a.p(), b.p()), (&before.0, &before.1));
    // With a forged backend code it is still another map.
    let forged = |saved: &[u8], code| {
        let mut bytes = saved.to_vec();
        bytes[6] = code;
        mend(&mut bytes);
        bytes
    };
    assert_eq!(b.restore(&forged(&saved_a, fixed::Table::CODE)), Err(Error::MapMismatch));
    assert_eq!(a.restore(&forged(&saved_b, 0)), Err(Error::MapMismatch));
    assert_eq!(Fastfood::<3, 4, 8>::from_recipe(integers.recipe()), Err(Error::WrongShape));
    assert_eq!(fixed::Fastfood::<3, 4, 8>::from_recipe(floats.recipe()), Err(Error::WrongShape));
    assert_eq!(fixed::Fastfood::from_recipe(integers.recipe()), Ok(integers));
}

#[test]
fn maps_come_back_from_their_recipes() {
    assert_eq!(Fourier::from_recipe(dense().recipe()), Ok(dense()));
    assert_eq!(Fastfood::from_recipe(fast().recipe()), Ok(fast()));
    assert_eq!(Fourier::<3, 8>::from_recipe(fast().recipe()), Err(Error::WrongShape));
    assert_eq!(Fourier::<2, 8>::from_recipe(dense().recipe()), Err(Error::WrongShape));
    assert_eq!(Fastfood::<3, 8, 8>::from_recipe(fast().recipe()), Err(Error::WrongShape));
    let given = Fourier::given([[0.25]], 1.0).expect("finite");
    assert_eq!(Fourier::<1, 1>::from_recipe(given.recipe()), Err(Error::WrongShape));
}

fn record(name: &str) -> Vec<u8> {
    let line = include_str!("records/version_1.txt")
        .lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix(' '))
        .expect("a record of this name");
    let (pairs, rest) = line.as_bytes().as_chunks::<2>();
    assert!(rest.is_empty());
    let digit = |c: u8| char::from(c).to_digit(16).expect("a hexadecimal digit");
    let byte = |[high, low]: &[u8; 2]| u8::try_from(16 * digit(*high) + digit(*low));
    pairs.iter().map(|pair| byte(pair).expect("two digits")).collect()
}

/// Every later version restores records of version 1, as devices in the field have them.
#[test]
fn records_of_version_1_restore_for_ever() {
    fn one<M, const D: usize>(map: &M, name: &str)
    where
        M: FeatureMap<Inputs = Fixed<D>>,
        ScalarOf<M>: Number,
    {
        let fresh = streams(map);
        let recipe = Recipe::restore(&record(&format!("{name}-recipe")));
        assert_eq!(recipe.as_ref(), Ok(map.recipe()));
        let mut set = Embedding::new(map);
        assert_eq!(set.restore(map, &record(&format!("{name}-embedding"))), Ok(()));
        assert_eq!(set, *fresh.p());
        let mut pair = TwoSample::<M>::new(map);
        assert_eq!(pair.restore(&record(&format!("{name}-pair"))), Ok(()));
        assert_eq!((pair.p(), pair.q()), (fresh.p(), fresh.q()));
    }
    one(&dense(), "dense");
    one(&fast(), "fastfood");
}

/// The present version writes version 1; a later version keeps the test above and replaces this
/// one.
#[test]
fn version_1_is_what_is_written() {
    fn one<M, const D: usize>(map: &M, name: &str) -> String
    where
        M: FeatureMap<Inputs = Fixed<D>, Frequencies: Constant>,
        ScalarOf<M>: Number,
    {
        let test = streams(map);
        let recipe = saved(Recipe::SAVED_BYTES, |out| map.recipe().save(out));
        let set = saved(Embedding::<M>::SAVED_BYTES, |out| test.p().save(map, out));
        let pair = saved(TwoSample::<M>::SAVED_BYTES, |out| test.save(out));
        format!(
            "{name}-recipe {}\n{name}-embedding {}\n{name}-pair {}\n",
            hex(&recipe),
            hex(&set),
            hex(&pair)
        )
    }
    let written = one(&dense(), "dense") + &one(&fast(), "fastfood");
    assert!(written == include_str!("records/version_1.txt"), "{written}");
}

#[test]
fn every_refusal_has_its_own_error() {
    let map = dense();
    let test = streams(&map);
    let bytes = saved(Embedding::<Fourier<2, 4>>::SAVED_BYTES, |out| test.p().save(&map, out));
    let pair = saved(TwoSample::<Fourier<2, 4>>::SAVED_BYTES, |out| test.save(out));
    let before = test.q().clone();
    let refuses = |bytes: &[u8], error: Error| {
        let mut set = before.clone();
        assert_eq!(set.restore(&map, bytes), Err(error));
        assert_eq!(set, before);
    };
    let edited = |mend_it: bool, edit: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = bytes.clone();
        edit(&mut bytes);
        if mend_it {
            mend(&mut bytes);
        }
        bytes
    };
    refuses(&[], Error::NotAState);
    refuses(b"FMM", Error::NotAState);
    refuses(&[0xff; 200], Error::NotAState);
    refuses(&edited(true, &|b| b[0] = b'G'), Error::NotAState);
    refuses(&edited(true, &|b| b[4] = 0), Error::NotAState);
    for version in [2, 3, 255] {
        refuses(&edited(true, &|b| b[4] = version), Error::NewerVersion(version));
        refuses(&edited(false, &|b| b[4] = version), Error::NewerVersion(version));
    }
    refuses(&edited(false, &|b| b.truncate(100)), Error::WrongLength);
    refuses(&edited(false, &|b| b.push(0)), Error::WrongLength);
    refuses(&edited(true, &|b| b[8] ^= 1), Error::WrongLength);
    refuses(&b"FMMD\x01\x02\x00\x00\x0c\x00\x00\x00"[..], Error::WrongLength);
    refuses(&edited(false, &|b| b[60] ^= 1), Error::ChecksumMismatch);
    refuses(&pair, Error::WrongShape);
    refuses(&edited(true, &|b| b[5] = 3), Error::WrongShape);
    refuses(&edited(true, &|b| b[6] = 1), Error::WrongShape); // another backend
    refuses(&edited(true, &|b| b[7] = 1), Error::Inconsistent);
    refuses(&edited(true, &|b| b[12] = 9), Error::Inconsistent); // no such map
    refuses(&edited(true, &|b| b[13] = 9), Error::Inconsistent); // no such kernel
    refuses(&edited(true, &|b| b[14] = 0), Error::Inconsistent); // no such sampling
    refuses(&edited(true, &|b| b[16] = 3), Error::WrongShape); // another dimension
    refuses(&edited(true, &|b| b[36] ^= 1), Error::MapMismatch); // another seed
    refuses(&edited(true, &|b| b[28..32].fill(0xff)), Error::Inconsistent); // σ is NaN
    refuses(&edited(true, &|b| b[44..52].fill(0)), Error::Inconsistent); // no weight, but sums
    refuses(&edited(true, &|b| b[44..52].fill(0xff)), Error::Inconsistent);
    refuses(&edited(true, &|b| b[52..68].fill(0)), Error::Inconsistent);
    refuses(&edited(true, &|b| b[52..68].fill(0xff)), Error::Inconsistent);
    refuses(&edited(true, &|b| b[75] = 0x7f), Error::Inconsistent); // a sum beyond the weight
    refuses(
        &edited(true, &|b| b[68..76].copy_from_slice(&i64::MIN.to_le_bytes())),
        Error::Inconsistent,
    );
    // Another map altogether, of the same shape.
    let other = Fourier::<2, 4>::new(Kernel::GAUSSIAN, Sampling::Quasi, 8).expect("spherical");
    let stranger = streams(&other);
    let foreign =
        saved(Embedding::<Fourier<2, 4>>::SAVED_BYTES, |out| stranger.p().save(&other, out));
    refuses(&foreign, Error::MapMismatch);
}
