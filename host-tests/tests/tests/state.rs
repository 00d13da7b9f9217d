//! Saved states: exact round trips, records of version 1 for ever, and a typed error for each
//! refusal. Nothing here depends on which version is the newest.
//!
//! `UPDATE_RECORDS=1 cargo test -p fastmmd-tests state::` writes the records of version 1
//! again: only before the first release.

use std::ops::Range;

use crate::common::records::{Number, dense, fast, fast_integers, hex, mend, reading, streams};
use fastmmd::features::ScalarOf;
use fastmmd::features::sincos::{Backend, Libm, Point};
use fastmmd::monitor::{Cyclic, Legs, coupling};
use fastmmd::shape::{Constant, Fixed};
use fastmmd::{
    Alarm, Classifier, Config, Detector, Embedding, Error, Fastfood, FeatureMap, Fourier, Kernel,
    KernelFamily, Recipe, Sampling, TwoSample, TwoSampleTest, Verdict, fixed,
};
use fastmmd_reference::checksum::crc32;

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

    let test = tested(map);
    let bytes = saved(TwoSampleTest::<M>::SAVED_BYTES, |out| test.save(out));
    let mut restored = TwoSampleTest::new(map, 2).expect("a block");
    assert_eq!(restored.restore(&bytes), Ok(()));
    assert_eq!(saved(bytes.len(), |out| restored.save(out)), bytes);
    assert_eq!(restored.p_value(), test.p_value());

    let family = related(map);
    let bytes = saved(KernelFamily::<M, 2>::SAVED_BYTES, |out| family.save(out));
    let mut restored = KernelFamily::new(map, *family.bandwidths()).expect("in range");
    assert_eq!(restored.restore(&bytes), Ok(()));
    assert_eq!((restored.p(), restored.q()), (family.p(), family.q()));

    let classes = classes(map);
    let bytes = saved(Classifier::<M, 2>::SAVED_BYTES, |out| classes.save(map, out));
    let mut restored = Classifier::empty(map);
    assert_eq!(restored.restore(map, &bytes), Ok(()));
    assert_eq!(restored, classes);
}

/// A test in the middle of its blocks.
fn tested<M, const D: usize>(map: &M) -> TwoSampleTest<'_, M>
where
    M: FeatureMap<Inputs = Fixed<D>>,
    ScalarOf<M>: Number,
{
    let mut test = TwoSampleTest::new(map, 2).expect("a block");
    for index in 0..21 {
        test.push_p(&reading(index)).expect("a good sample");
        test.push_q(&reading(index + 3)).expect("a good sample");
    }
    test
}

/// A family of the map's bandwidth and half of it.
fn related<M, const D: usize>(map: &M) -> KernelFamily<'_, M, 2>
where
    M: FeatureMap<Inputs = Fixed<D>>,
    ScalarOf<M>: Number,
{
    let own = map.recipe().kernel.bandwidth();
    let mut family = KernelFamily::new(map, [own, 0.5 * own]).expect("in range");
    for index in 0..9 {
        family.push_p(&reading(index)).expect("a good sample");
        family.push_q_weighted(&reading(index + 3), 0.25).expect("a good sample");
    }
    family
}

/// Two classes with weights of eighths.
fn classes<M: FeatureMap>(map: &M) -> Classifier<M, 2> {
    let weights = (0..map.recipe().frequencies).scan(1.5, |sin, k| {
        let weight = Point { cos: 0.125 * row(k)[0].round(), sin: *sin };
        *sin -= 0.125;
        Some(weight)
    });
    let weights: Vec<Point> = weights.collect();
    Classifier::new(map, [&weights, &weights], [0.5, -0.25]).expect("finite")
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

/// The records of version 1, each a name and its bytes in hexadecimal digits.
const RECORDS: &str = include_str!("records/version_1.txt");

fn record(name: &str) -> Vec<u8> {
    let line = RECORDS
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
        let mut test = TwoSampleTest::new(map, 2).expect("a block");
        assert_eq!(test.restore(&record(&format!("{name}-test"))), Ok(()));
        assert_eq!(test.p_value(), tested(map).p_value());
        let own = related(map);
        let mut family = KernelFamily::new(map, *own.bandwidths()).expect("in range");
        assert_eq!(family.restore(&record(&format!("{name}-family"))), Ok(()));
        assert_eq!((family.p(), family.q()), (own.p(), own.q()));
        let mut classifier = Classifier::empty(map);
        assert_eq!(classifier.restore(map, &record(&format!("{name}-classifier"))), Ok(()));
        assert_eq!(classifier, classes(map));
    }
    one(&dense(), "dense");
    one(&fast(), "fastfood");
}

static SENSOR: Fourier<2, 8> = Fourier::additive(1);
static PUMP: Fourier<1, 4> = Fourier::gaussian(1);
static MOTOR: Fourier<2, 4> = Fourier::gaussian(2);

/// The rows of the recorded detectors and couplings, from exact operations alone: noise, and in
/// the first channel another level from row 450 on.
fn row(index: u32) -> [f32; 2] {
    let noise = |channel: u32| {
        let mut word = index.wrapping_mul(2_654_435_761) ^ channel.wrapping_mul(2_246_822_519);
        for _ in 0..3 {
            word ^= word << 13;
            word ^= word >> 17;
            word ^= word << 5;
        }
        f32::from((word >> 16) as u16) / 65_536.0
    };
    [noise(1) + if index < 450 { 0.0 } else { 1.0 }, noise(2)]
}

/// What an alarm says, as bytes.
trait Said {
    fn bytes(&self) -> Vec<u8>;
}

impl Said for Alarm {
    fn bytes(&self) -> Vec<u8> {
        self.to_bytes().to_vec()
    }
}

impl Said for coupling::Alarm {
    fn bytes(&self) -> Vec<u8> {
        let numbers = [self.score, self.threshold, self.before, self.now];
        let row = self.row.to_le_bytes();
        row.into_iter().chain(numbers.into_iter().flat_map(f32::to_le_bytes)).collect()
    }
}

/// A hash of all that is said of some rows.
fn said<A: Said>(rows: Range<u32>, mut push: impl FnMut([f32; 2]) -> Verdict<A>) -> u32 {
    let said = rows.flat_map(|index| match push(row(index)) {
        Verdict::Learning { progress } => progress.to_le_bytes().to_vec(),
        Verdict::Healthy => vec![1],
        Verdict::Alarm(alarm) => alarm.bytes(),
        Verdict::Amended(alarm) => alarm.bytes(),
        Verdict::Drifting => vec![2],
    });
    crc32(&said.collect::<Vec<u8>>())
}

/// Records of a detector, at rows of learning, of monitoring and of a drift, each with a hash of
/// what it says of the 200 rows after.
fn detector_records<L: Legs>(new: &Detector<'static, Fourier<2, 8>, L>, name: &str) -> String {
    let mut written = String::new();
    for at in [200, 400, 500] {
        let mut detector = new.clone();
        said(0..at, |row| detector.push(&row).expect("good rows"));
        let bytes = saved(detector.saved_bytes(), |out| detector.save(out));
        let later = said(at..at + 200, |row| detector.push(&row).expect("good rows"));
        written += &format!("{name}-{at} {}\n", hex(&bytes));
        written += &format!("{name}-{at}-says {later:08x}\n");
    }
    written
}

/// What a detector restored from a record says of the 200 rows after.
fn continued<L: Legs>(new: &Detector<'static, Fourier<2, 8>, L>, name: &str) {
    for at in [200, 400, 500] {
        let mut detector = new.clone();
        assert_eq!(detector.restore(&record(&format!("{name}-{at}"))), Ok(()), "{name} {at}");
        assert_eq!(detector.rows(), u64::from(at));
        let later = said(at..at + 200, |row| detector.push(&row).expect("good rows"));
        let recorded = record(&format!("{name}-{at}-says"));
        assert_eq!(later.to_be_bytes(), recorded[..], "{name} {at}");
    }
}

/// The recorded detectors, before their first row.
fn detectors() -> (Detector<'static, Fourier<2, 8>>, Detector<'static, Fourier<2, 8>, Cyclic<4>>) {
    let config = Config { learning_rows: 256, ..Config::rows(1000.0) };
    let cyclic = Config { period: Some(24.5), ..config }.with_legs::<Cyclic<4>>();
    let new = (Detector::new(&SENSOR, config), Detector::new(&SENSOR, cyclic));
    (new.0.expect("in range"), new.1.expect("in range"))
}

type Tie = coupling::Monitor<'static, Fourier<1, 4>, Fourier<2, 4>>;

fn tie() -> Tie {
    let usual = coupling::Config::rows(1000.0);
    let config = coupling::Config { scaling_rows: 32, learning_rows: 256, window: 8, ..usual };
    coupling::Monitor::new(&PUMP, &MOTOR, config).expect("in range")
}

/// Pushes a row of which the first channel is in both groups, until its level is another.
fn push_tied(tie: &mut Tie, [x, y]: [f32; 2]) -> coupling::Verdict {
    let other = if x < 1.0 { x } else { y };
    tie.push(&[x], &[other, y]).expect("good rows")
}

#[test]
fn detectors_and_couplings_of_version_1_go_on_for_ever() {
    let (all, cyclic) = detectors();
    continued(&all, "detector");
    continued(&cyclic, "cyclic");
    let mut tie = tie();
    assert_eq!(tie.restore(&record("coupling")), Ok(()));
    let later = said(400..600, |row| push_tied(&mut tie, row));
    assert_eq!(later.to_be_bytes(), record("coupling-says")[..]);
}

/// A record as one of version 1, whose layout is the same.
fn as_version_1(mut bytes: Vec<u8>) -> Vec<u8> {
    bytes[4] = 1;
    mend(&mut bytes);
    bytes
}

/// What is written is what version 1 has. A version that changes the layout of one of these leaves
/// the records above as they are, and this comparison out.
#[test]
fn what_is_written_is_as_recorded() {
    fn one<M, const D: usize>(map: &M, name: &str) -> String
    where
        M: FeatureMap<Inputs = Fixed<D>, Frequencies: Constant>,
        ScalarOf<M>: Number,
    {
        let test = streams(map);
        let recipe = saved(Recipe::SAVED_BYTES, |out| map.recipe().save(out));
        let set = saved(Embedding::<M>::SAVED_BYTES, |out| test.p().save(map, out));
        let pair = saved(TwoSample::<M>::SAVED_BYTES, |out| test.save(out));
        let test = saved(TwoSampleTest::<M>::SAVED_BYTES, |out| tested(map).save(out));
        let family = saved(KernelFamily::<M, 2>::SAVED_BYTES, |out| related(map).save(out));
        let classes = saved(Classifier::<M, 2>::SAVED_BYTES, |out| classes(map).save(map, out));
        let names = ["recipe", "embedding", "pair", "test", "family", "classifier"];
        let lines = [recipe, set, pair, test, family, classes].into_iter().zip(names);
        lines
            .map(|(bytes, kind)| format!("{name}-{kind} {}\n", hex(&as_version_1(bytes))))
            .collect()
    }
    let sums = one(&dense(), "dense") + &one(&fast(), "fastfood");
    if std::env::var_os("UPDATE_RECORDS").is_some() {
        let (all, cyclic) = detectors();
        let mut tie = tie();
        said(0..400, |row| push_tied(&mut tie, row));
        let bytes = saved(Tie::SAVED_BYTES, |out| tie.save(out));
        let later = said(400..600, |row| push_tied(&mut tie, row));
        let written = sums
            + &detector_records(&all, "detector")
            + &detector_records(&cyclic, "cyclic")
            + &format!("coupling {}\ncoupling-says {later:08x}\n", hex(&bytes));
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/records/version_1.txt");
        std::fs::write(path, written).expect("the file of records");
        return;
    }
    assert!(RECORDS.starts_with(&sums), "{sums}");
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
    let newest = bytes[4];
    for version in [newest + 1, newest + 2, 255] {
        refuses(&edited(true, &|b| b[4] = version), Error::NewerVersion(version));
        refuses(&edited(false, &|b| b[4] = version), Error::NewerVersion(version));
    }
    refuses(&edited(false, &|b| b.truncate(100)), Error::WrongLength);
    refuses(&edited(false, &|b| b.push(0)), Error::WrongLength);
    refuses(&edited(true, &|b| b[8] ^= 1), Error::WrongLength);
    refuses(b"FMMD\x01\x02\x00\x00\x0c\x00\x00\x00", Error::WrongLength);
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
