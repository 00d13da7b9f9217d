//! Saved states: exact round trips, records of version 1 for ever, and no bytes that do harm.
//!
//! `FASTMMD_SEED` sets another seed for the mutations.

use fastmmd::sincos::{Libm, Polynomial};
use fastmmd::{
    Backend, Embedding, Error, Fastfood, FeatureMap, Fourier, Kernel, MapKind, Profile, Recipe,
    Sampling, Scalar, TwoSample, fixed,
};
use fastmmd_reference::checksum::crc32;
use fastmmd_reference::generate::Generator;
use fastmmd_reference::tolerance;

fn dense() -> Fourier<2, 4> {
    let kernel = Kernel::new(Profile::Matern32, 0.75).and_then(|k| k.with_scale(2.0));
    Fourier::new(kernel.expect("in range"), Sampling::Quasi, 7).expect("spherical")
}

fn fast() -> Fastfood<3, 4, 8> {
    Fastfood::new(Kernel::GAUSSIAN, 9).expect("spherical")
}

fn fast_integers() -> fixed::Fastfood<3, 4, 8> {
    fixed::Fastfood::new(Kernel::GAUSSIAN, 9).expect("in range")
}

/// A number that samples are made of.
trait Number: Scalar + PartialEq + std::fmt::Debug {
    fn of(value: f32) -> Self;
}

impl Number for f32 {
    fn of(value: f32) -> Self {
        value
    }
}

impl Number for i16 {
    fn of(value: f32) -> Self {
        let [steps] = fixed::sample(&[value]).expect("finite");
        steps
    }
}

/// A deterministic sample: multiples of 1/8.
fn reading<X: Number, const D: usize>(index: u8) -> [X; D] {
    let mut value = f32::from(index % 16) / 8.0 - 1.0;
    std::array::from_fn(|_| {
        value = 0.5 - 0.5 * value;
        X::of(value)
    })
}

fn streams<M, const D: usize, const L: usize, B: Backend<Scalar: Number>>(
    map: &M,
) -> TwoSample<'_, M, D, L, B>
where
    M: FeatureMap<D, L, B::Scalar>,
{
    let mut test = TwoSample::new(map);
    for index in 0..20 {
        test.push_p(&reading(index)).expect("a good sample");
        test.push_q_weighted(&reading(index + 5), 0.5 + f32::from(index)).expect("a good sample");
    }
    test
}

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

fn round_trips<M, const D: usize, const L: usize, B>(map: &M)
where
    M: FeatureMap<D, L, B::Scalar>,
    B: Backend<Scalar: Number> + PartialEq + std::fmt::Debug,
{
    let test = streams::<M, D, L, B>(map);
    let bytes = saved(Recipe::SAVED_BYTES, |out| map.recipe().save(out));
    assert_eq!(Recipe::restore(&bytes).as_ref(), Ok(map.recipe()));

    let bytes = saved(Embedding::<L, B>::SAVED_BYTES, |out| test.q().save(map, out));
    let mut restored: Embedding<L, B> = Embedding::new(map);
    assert_eq!(restored.restore(map, &bytes), Ok(()));
    assert_eq!(restored, *test.q());
    assert_eq!(Recipe::restore(&bytes).as_ref(), Ok(map.recipe()));

    let bytes = saved(TwoSample::<M, D, L, B>::SAVED_BYTES, |out| test.save(out));
    let mut restored = TwoSample::<M, D, L, B>::new(map);
    assert_eq!(restored.restore(&bytes), Ok(()));
    assert_eq!(restored.p(), test.p());
    assert_eq!(restored.q(), test.q());
    let bits = |t: &TwoSample<'_, M, D, L, B>| t.mmd2_unbiased().map(f32::to_bits);
    assert_eq!(bits(&restored), bits(&test));
    // Both go on alike.
    let mut test = test;
    for index in 30..40 {
        test.push_p(&reading(index)).expect("a good sample");
        restored.push_p(&reading(index)).expect("a good sample");
    }
    assert_eq!(restored.p(), test.p());
}

#[test]
fn round_trips_are_exact() {
    round_trips::<_, 2, 4, Polynomial>(&dense());
    round_trips::<_, 2, 4, Libm>(&dense());
    round_trips::<_, 3, 8, Polynomial>(&fast());
    let given = Fourier::given([[0.25, 0.5], [1.0, -0.125]], 1.0).expect("finite");
    round_trips::<_, 2, 2, Polynomial>(&given);
    for sampling in [Sampling::Independent, Sampling::Quasi, Sampling::Orthogonal] {
        let map = Fourier::<16, 128>::new(Kernel::GAUSSIAN, sampling, u64::MAX).expect("spherical");
        round_trips::<_, 16, 128, Polynomial>(&map);
    }
    round_trips::<_, 3, 8, fixed::Table>(&fast_integers());
    let map = fixed::Fourier::<16, 128>::new(Kernel::GAUSSIAN, Sampling::Auto, 1);
    round_trips::<_, 16, 128, fixed::Table>(&map.expect("in range"));
}

/// Maps of one seed, sums of one length: but what floats saved, integers refuse, and the reverse.
#[test]
fn floats_and_integers_refuse_each_other() {
    let (floats, integers) = (fast(), fast_integers());
    let mut a = streams::<_, 3, 8, Polynomial>(&floats);
    let mut b = streams::<_, 3, 8, fixed::Table>(&integers);
    let saved_a = saved(TwoSample::<Fastfood<3, 4, 8>, 3, 8>::SAVED_BYTES, |out| a.save(out));
    let saved_b = saved(saved_a.len(), |out| b.save(out));
    let before = (a.p().clone(), b.p().clone());
    assert_eq!(a.restore(&saved_b), Err(Error::WrongShape));
    assert_eq!(b.restore(&saved_a), Err(Error::WrongShape));
    assert_eq!((a.p(), b.p()), (&before.0, &before.1));
    // The backend's code forged, it is still another map.
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

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
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

/// A device in the field that was saved by version 1 is read by every later version.
#[test]
fn records_of_version_1_restore_for_ever() {
    fn one<M: FeatureMap<D, L>, const D: usize, const L: usize>(map: &M, name: &str) {
        let fresh = streams::<M, D, L, Polynomial>(map);
        let recipe = Recipe::restore(&record(&format!("{name}-recipe")));
        assert_eq!(recipe.as_ref(), Ok(map.recipe()));
        let mut set: Embedding<L> = Embedding::new(map);
        assert_eq!(set.restore(map, &record(&format!("{name}-embedding"))), Ok(()));
        assert_eq!(set, *fresh.p());
        let mut pair = TwoSample::<M, D, L>::new(map);
        assert_eq!(pair.restore(&record(&format!("{name}-pair"))), Ok(()));
        assert_eq!((pair.p(), pair.q()), (fresh.p(), fresh.q()));
    }
    one(&dense(), "dense");
    one(&fast(), "fastfood");
}

/// What is written now is version 1; a later version keeps the test above and replaces this one.
#[test]
fn version_1_is_what_is_written() {
    fn one<M: FeatureMap<D, L>, const D: usize, const L: usize>(map: &M, name: &str) -> String {
        let test = streams::<M, D, L, Polynomial>(map);
        let recipe = saved(Recipe::SAVED_BYTES, |out| map.recipe().save(out));
        let set = saved(Embedding::<L>::SAVED_BYTES, |out| test.p().save(map, out));
        let pair = saved(TwoSample::<M, D, L>::SAVED_BYTES, |out| test.save(out));
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

/// Recomputes the checksum after a change, so that what lies behind it is reached.
fn mend(bytes: &mut [u8]) {
    if let Some((body, checksum)) = bytes.split_last_chunk_mut() {
        *checksum = crc32(body).to_le_bytes();
    }
}

#[test]
fn every_refusal_has_its_own_error() {
    let map = dense();
    let test = streams::<_, 2, 4, Polynomial>(&map);
    let bytes = saved(Embedding::<4>::SAVED_BYTES, |out| test.p().save(&map, out));
    let pair = saved(TwoSample::<Fourier<2, 4>, 2, 4>::SAVED_BYTES, |out| test.save(out));
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
    let stranger = streams::<_, 2, 4, Polynomial>(&other);
    let foreign = saved(Embedding::<4>::SAVED_BYTES, |out| stranger.p().save(&other, out));
    refuses(&foreign, Error::MapMismatch);
}

/// What was done to a record.
struct Mutant {
    bytes: Vec<u8>,
    mended: bool,
}

/// A changed, cut, spliced, foreign or merely re-checksummed record.
fn mutate(generator: &mut Generator, originals: &[Vec<u8>]) -> Mutant {
    let mut bytes = originals[generator.below(originals.len())].clone();
    let byte = |generator: &mut Generator| generator.word().to_le_bytes()[3];
    match generator.below(10) {
        // Bit flips.
        0 | 1 => {
            for _ in 0..=generator.below(4) {
                let at = generator.below(bytes.len());
                bytes[at] ^= 1 << generator.below(8);
            }
        }
        // Bytes.
        2 => {
            for _ in 0..=generator.below(16) {
                let at = generator.below(bytes.len());
                bytes[at] = byte(generator);
            }
        }
        // Cut, with or without a length that fits.
        3 => {
            bytes.truncate(generator.below(bytes.len() + 1));
            if generator.below(2) == 0 && bytes.len() >= 12 {
                let length = u32::try_from(bytes.len()).expect("short");
                bytes[8..12].copy_from_slice(&length.to_le_bytes());
            }
        }
        // Grown.
        4 => {
            for _ in 0..=generator.below(20) {
                bytes.push(byte(generator));
            }
        }
        // The front of one and the back of another.
        5 => {
            let other = &originals[generator.below(originals.len())];
            let at = generator.below(bytes.len().min(other.len()) + 1);
            bytes.truncate(at);
            bytes.extend_from_slice(&other[at..]);
        }
        // Random bytes, sometimes behind a good header.
        6 => {
            let kept = [0, 4, 12, 44][generator.below(4)];
            for random in bytes.iter_mut().skip(kept) {
                *random = byte(generator);
            }
        }
        // The header or the recipe alone.
        7 => {
            let at = generator.below(44);
            bytes[at] = byte(generator);
        }
        // A field set to an extreme.
        8 => {
            for _ in 0..=generator.below(3) {
                let fields = bytes.len().saturating_sub(4 + 44) / 8;
                let start = if fields > 0 { 44 + 8 * generator.below(fields) } else { 12 };
                let value = [0, 1, 2, u64::MAX, 1 << 63, (1 << 63) - 1, 1 << 30, generator.word()];
                let value = value[generator.below(value.len())];
                bytes[start..start + 8].copy_from_slice(&value.to_le_bytes());
            }
        }
        // Small steps in a field.
        _ => {
            let at = generator.below(bytes.len());
            bytes[at] = bytes[at].wrapping_add(1);
        }
    }
    let mended = generator.below(2) == 0;
    if mended {
        mend(&mut bytes);
    }
    Mutant { bytes, mended }
}

/// A state that can be restored and written again.
trait State: Clone + PartialEq {
    fn restored(&mut self, bytes: &[u8]) -> Result<(), Error>;
    fn written(&self) -> Vec<u8>;
    /// The largest coordinate of a mean point, 0 if there is none; NaN if a reading is not finite.
    fn largest_mean(&self) -> f64;
}

fn largest_mean<const L: usize, B: Backend>(set: &Embedding<L, B>) -> f64 {
    let Ok(points) = set.mean() else { return 0.0 };
    let finite = set.squared_norm().is_ok_and(f32::is_finite)
        && set.concentration().is_ok_and(|c| c > 0.0 && c <= 1.0);
    if !finite {
        return f64::NAN;
    }
    points.fold(0.0, |worst, point| worst.max(point.cos.abs().into()).max(point.sin.abs().into()))
}

#[derive(Clone, PartialEq)]
struct Single<'m>(&'m Fourier<2, 4>, Embedding<4>);

impl State for Single<'_> {
    fn restored(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.1.restore(self.0, bytes)
    }
    fn written(&self) -> Vec<u8> {
        let mut bytes = vec![0; Embedding::<4>::SAVED_BYTES];
        self.1.save(self.0, &mut bytes).expect("long enough");
        bytes
    }
    fn largest_mean(&self) -> f64 {
        largest_mean(&self.1)
    }
}

struct Pair<'m, M, B: Backend>(TwoSample<'m, M, 3, 8, B>);

impl<M, B: Backend> Clone for Pair<'_, M, B> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<M: FeatureMap<3, 8, B::Scalar>, B: Backend + PartialEq> PartialEq for Pair<'_, M, B> {
    fn eq(&self, other: &Self) -> bool {
        self.0.p() == other.0.p() && self.0.q() == other.0.q()
    }
}

impl<M: FeatureMap<3, 8, B::Scalar>, B: Backend + PartialEq> State for Pair<'_, M, B> {
    fn restored(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.0.restore(bytes)
    }
    fn written(&self) -> Vec<u8> {
        let mut bytes = vec![0; TwoSample::<M, 3, 8, B>::SAVED_BYTES];
        self.0.save(&mut bytes).expect("long enough");
        bytes
    }
    fn largest_mean(&self) -> f64 {
        largest_mean(self.0.p()).max(largest_mean(self.0.q()))
    }
}

#[derive(Clone, PartialEq)]
struct Map(Recipe);

impl State for Map {
    fn restored(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.0 = Recipe::restore(bytes)?;
        // Whatever the recipe says, making the map is refused or gives that map.
        if let Ok(map) = Fourier::<2, 4>::from_recipe(&self.0) {
            assert_eq!(*map.recipe(), self.0);
        }
        if let Ok(map) = Fastfood::<3, 4, 8>::from_recipe(&self.0) {
            assert_eq!(*map.recipe(), self.0);
        }
        if let Ok(map) = fixed::Fourier::<2, 4>::from_recipe(&self.0) {
            assert_eq!(*map.recipe(), self.0);
        }
        if let Ok(map) = fixed::Fastfood::<3, 4, 8>::from_recipe(&self.0) {
            assert_eq!(*map.recipe(), self.0);
        }
        Ok(())
    }
    fn written(&self) -> Vec<u8> {
        let mut bytes = vec![0; Recipe::SAVED_BYTES];
        self.0.save(&mut bytes).expect("long enough");
        bytes
    }
    fn largest_mean(&self) -> f64 {
        0.0
    }
}

/// What became of a mutant.
#[derive(Debug, PartialEq)]
enum Fate {
    Refused,
    Unchanged,
    Accepted,
}

/// The checker: throws one mutant at `restore`, and says what is wrong if something is.
fn check<S: State>(
    before: &S,
    mutant: &Mutant,
    originals: &[Vec<u8>],
    restore: impl Fn(&mut S, &[u8]) -> Result<(), Error>,
) -> Result<Fate, &'static str> {
    let mut state = before.clone();
    if restore(&mut state, &mutant.bytes).is_err() {
        return if state == *before {
            Ok(Fate::Refused)
        } else {
            Err("refused, but the state is another")
        };
    }
    if originals.contains(&mutant.bytes) {
        return Ok(Fate::Unchanged);
    }
    if !mutant.mended {
        return Err("accepted, though the checksum cannot be right");
    }
    // NaN must not pass.
    let sound = state.largest_mean() <= tolerance::STATE_MEAN.limit;
    if sound { Ok(Fate::Accepted) } else { Err("accepted, with a mean that no samples have") }
}

fn seed() -> u64 {
    let seed = std::env::var("FASTMMD_SEED").ok().and_then(|seed| seed.parse().ok());
    let seed = seed.unwrap_or(1_000_003);
    println!("FASTMMD_SEED={seed}");
    seed
}

fn originals() -> Vec<Vec<u8>> {
    let (dense, fast) = (dense(), fast());
    let (a, b) = (streams::<_, 2, 4, Polynomial>(&dense), streams::<_, 3, 8, Polynomial>(&fast));
    let integers = fast_integers();
    let empty = TwoSample::<_, 2, 4>::new(&dense);
    vec![
        Map(*dense.recipe()).written(),
        Map(*fast.recipe()).written(),
        Single(&dense, a.p().clone()).written(),
        Single(&dense, a.q().clone()).written(),
        Single(&dense, empty.p().clone()).written(),
        Pair(b).written(),
        Pair::<_, Polynomial>(TwoSample::new(&fast)).written(),
        Map(*integers.recipe()).written(),
        Pair::<_, fixed::Table>(streams(&integers)).written(),
    ]
}

/// Throws `count` mutants at a state; returns how many were refused, unchanged and accepted.
fn bombard<S: State>(before: &S, count: u32, seed: u64) -> [u32; 3] {
    let originals = originals();
    // Mostly records of the right kind: the others fall at the first hurdle.
    let own_length = before.written().len();
    let own: Vec<Vec<u8>> = originals.iter().filter(|o| o.len() == own_length).cloned().collect();
    let mut generator = Generator::new(seed);
    let mut fates = [0; 3];
    for index in 0..count {
        let from = if generator.below(4) == 0 { &originals } else { &own };
        let mutant = mutate(&mut generator, from);
        match check(before, &mutant, &originals, S::restored) {
            Ok(Fate::Refused) => fates[0] += 1,
            Ok(Fate::Unchanged) => fates[1] += 1,
            Ok(Fate::Accepted) => {
                fates[2] += 1;
                let mut state = before.clone();
                state.restored(&mutant.bytes).expect("accepted before");
                let written = state.written();
                let recipe_only = own_length == Recipe::SAVED_BYTES;
                // A map's recipe may stand in any record; sums must be written again as read.
                let part = if recipe_only { 12..44 } else { 0..own_length };
                let (read, again) = (&mutant.bytes[part.clone()], &written[part]);
                assert_eq!(hex(again), hex(read), "mutant {index}");
            }
            Err(wrong) => panic!("seed {seed}, mutant {index}: {wrong}: {}", hex(&mutant.bytes)),
        }
    }
    println!("refused, unchanged, accepted: {fates:?}");
    fates
}

#[test]
fn four_hundred_thousand_mutants_of_an_embedding() {
    let map = dense();
    let before = Single(&map, streams::<_, 2, 4, Polynomial>(&map).q().clone());
    let [refused, unchanged, accepted] = bombard(&before, 400_000, seed());
    assert!(refused > 0 && unchanged > 0 && accepted > 0);
}

#[test]
fn four_hundred_thousand_mutants_of_two_streams() {
    let map = fast();
    let before = Pair::<_, Polynomial>(streams(&map));
    let [refused, unchanged, accepted] = bombard(&before, 400_000, seed() + 1);
    assert!(refused > 0 && unchanged > 0 && accepted > 0);
}

#[test]
fn four_hundred_thousand_mutants_of_two_streams_in_integers() {
    let map = fast_integers();
    let before = Pair::<_, fixed::Table>(streams(&map));
    let [refused, unchanged, accepted] = bombard(&before, 400_000, seed() + 3);
    assert!(refused > 0 && unchanged > 0 && accepted > 0);
}

#[test]
fn two_hundred_thousand_mutants_of_a_map() {
    let before = Map(*dense().recipe());
    assert_eq!(before.0.kind, MapKind::Fourier);
    let [refused, unchanged, accepted] = bombard(&before, 200_000, seed() + 2);
    assert!(refused > 0 && unchanged > 0 && accepted > 0);
}

/// A way to restore an embedding, right or wrong.
type Restore<'r> = &'r dyn Fn(&mut Single<'_>, &[u8]) -> Result<(), Error>;

/// The checker finds a restore that ignores the checksum, one that changes the state before it
/// refuses, and one whose means make no sense.
#[test]
fn sloppy_restores_are_caught() {
    let map = dense();
    let before = Single(&map, streams::<_, 2, 4, Polynomial>(&map).q().clone());
    let originals = originals();
    let own: Vec<Vec<u8>> = originals.iter().filter(|o| o.len() == 136).cloned().collect();
    let first_fault = |restore: Restore<'_>| {
        let mut generator = Generator::new(5);
        (0..10_000).find_map(|_| {
            let mutant = mutate(&mut generator, &own);
            check(&before, &mutant, &originals, restore).err()
        })
    };
    assert_eq!(first_fault(&|state, bytes| state.restored(bytes)), None);
    let ignores_checksum = |state: &mut Single<'_>, bytes: &[u8]| {
        let mut bytes = bytes.to_vec();
        mend(&mut bytes);
        state.restored(&bytes)
    };
    let fault = first_fault(&ignores_checksum);
    assert_eq!(fault, Some("accepted, though the checksum cannot be right"));
    let changes_first = |state: &mut Single<'_>, bytes: &[u8]| {
        state.1.reset();
        state.restored(bytes)
    };
    assert_eq!(first_fault(&changes_first), Some("refused, but the state is another"));
    // Means that are not numbers do not pass for small ones.
    let wild = Wild(before.clone());
    let mutant = own.iter().map(|original| {
        let mut bytes = original.clone();
        bytes[68] ^= 64; // the lowest bit of a sum that is ever set
        mend(&mut bytes);
        Mutant { bytes, mended: true }
    });
    let faults: Vec<_> =
        mutant.filter_map(|m| check(&wild, &m, &originals, Wild::restored).err()).collect();
    assert!(faults.contains(&"accepted, with a mean that no samples have"), "{faults:?}");
}

/// A state that restores as it should and reads NaN.
#[derive(Clone, PartialEq)]
struct Wild<'m>(Single<'m>);

impl State for Wild<'_> {
    fn restored(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.0.restored(bytes)
    }
    fn written(&self) -> Vec<u8> {
        self.0.written()
    }
    fn largest_mean(&self) -> f64 {
        f64::NAN
    }
}
