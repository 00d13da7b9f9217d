//! Restores saved states that were changed, cut or spliced, and random bytes: none does harm.
//!
//! `FASTMMD_SEED` sets another seed for the mutations.

mod statistics;

use crate::common::records::{dense, fast, fast_integers, hex, mend, streams};
use fastmmd::monitor::coupling;
use fastmmd::shape::Constant;
use fastmmd::{
    Config, Detector, Embedding, Error, Fastfood, FeatureMap, Fourier, MapKind, Recipe, Stage,
    TwoSample, fixed,
};
use fastmmd_reference::generate::Generator;
use fastmmd_reference::{single, tolerance};

/// A record and how it was changed.
struct Mutant {
    bytes: Vec<u8>,
    mended: bool,
}

/// A changed, cut or spliced record, random bytes, or a record with only its checksum recomputed.
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
    /// The largest coordinate of a mean point; 0 if there is none, NaN if a result is not finite.
    fn largest_mean(&self) -> f64;
}

fn largest_mean<M: FeatureMap>(set: &Embedding<M>) -> f64 {
    let Ok(points) = set.mean() else { return 0.0 };
    let finite = set.squared_norm().is_ok_and(f32::is_finite)
        && set.concentration().is_ok_and(|c| c > 0.0 && c <= 1.0);
    if !finite {
        return f64::NAN;
    }
    points.fold(0.0, |worst, point| worst.max(point.cos.abs().into()).max(point.sin.abs().into()))
}

#[derive(Clone, PartialEq)]
struct Single<'m>(&'m Fourier<2, 4>, Embedding<Fourier<2, 4>>);

impl State for Single<'_> {
    fn restored(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.1.restore(self.0, bytes)
    }
    fn written(&self) -> Vec<u8> {
        let mut bytes = vec![0; Embedding::<Fourier<2, 4>>::SAVED_BYTES];
        self.1.save(self.0, &mut bytes).expect("long enough");
        bytes
    }
    fn largest_mean(&self) -> f64 {
        largest_mean(&self.1)
    }
}

struct Pair<'m, M: FeatureMap>(TwoSample<'m, M>);

impl<M: FeatureMap> Clone for Pair<'_, M> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<M: FeatureMap> PartialEq for Pair<'_, M> {
    fn eq(&self, other: &Self) -> bool {
        self.0.p() == other.0.p() && self.0.q() == other.0.q()
    }
}

impl<M: FeatureMap<Frequencies: Constant>> State for Pair<'_, M> {
    fn restored(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.0.restore(bytes)
    }
    fn written(&self) -> Vec<u8> {
        let mut bytes = vec![0; TwoSample::<M>::SAVED_BYTES];
        self.0.save(&mut bytes).expect("long enough");
        bytes
    }
    fn largest_mean(&self) -> f64 {
        largest_mean(self.0.p()).max(largest_mean(self.0.q()))
    }
}

/// Whether it is restored from its own bytes, which are then the same.
fn comes_back<S: State>(state: &S) -> bool {
    let bytes = state.written();
    let mut again = state.clone();
    again.restored(&bytes).is_ok() && again.written() == bytes
}

/// A detector or a coupling, compared by its bytes.
#[derive(Clone)]
struct Watch<T>(T);

impl<T> PartialEq for Watch<T>
where
    Self: State,
{
    fn eq(&self, other: &Self) -> bool {
        self.written() == other.written()
    }
}

type Small = Detector<'static, Fourier<2, 4>>;
type Tie = coupling::Monitor<'static, Fourier<2, 4>, Fourier<2, 4>>;

static WATCHED: Fourier<2, 4> = Fourier::additive(1);

impl State for Watch<Small> {
    fn restored(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.0.restore(bytes)
    }
    fn written(&self) -> Vec<u8> {
        let mut bytes = vec![0; Small::SAVED_BYTES];
        self.0.save(&mut bytes).expect("long enough");
        bytes
    }
    /// 0 if it takes rows, can be looked at, and is restored from what it then saves.
    fn largest_mean(&self) -> f64 {
        let mut used = self.clone();
        for row in [[Some(0.5), Some(1e6)], [None, Some(-0.1)], [Some(-1e6), None]] {
            used.0.push_partial(&row).expect("a good row");
        }
        let kept = comes_back(&used);
        used.0.dismiss();
        let looked = used.0.legs().count() + used.0.open().count() + used.0.mute().count();
        let sound = looked < 100 && used.0.quality().count() == 2;
        if sound && kept && comes_back(&used) { 0.0 } else { f64::NAN }
    }
}

impl State for Watch<Tie> {
    fn restored(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.0.restore(bytes)
    }
    fn written(&self) -> Vec<u8> {
        let mut bytes = vec![0; Tie::SAVED_BYTES];
        self.0.save(&mut bytes).expect("long enough");
        bytes
    }
    fn largest_mean(&self) -> f64 {
        let mut used = self.clone();
        for row in [[0.5, 1e6], [-1e6, 0.0], [0.0, 0.25]] {
            used.0.push(&row, &[0.1, 0.2]).expect("a good row");
        }
        let kept = comes_back(&used);
        used.0.dismiss();
        if kept && comes_back(&used) { 0.0 } else { f64::NAN }
    }
}

/// A detector and a coupling that have learned and seen a change.
fn watching() -> (Watch<Small>, Watch<Tie>) {
    let config = Config { learning_rows: 256, ..Config::rows(1000.0) };
    let mut detector = Detector::new(&WATCHED, config).expect("in range");
    let usual = coupling::Config::rows(1000.0);
    let config = coupling::Config { scaling_rows: 32, learning_rows: 256, window: 8, ..usual };
    let mut tie = coupling::Monitor::new(&WATCHED, &WATCHED, config).expect("in range");
    let mut generator = Generator::new(1);
    for row in 0..400 {
        let mut noise = || single(generator.normal());
        let (x, y) = (noise(), noise());
        let shift = if row < 380 { 0.0 } else { 8.0 };
        detector.push(&[x + shift, y]).expect("a good row");
        tie.push(&[x, y], &[x + shift, noise()]).expect("a good row");
    }
    assert_eq!(detector.stage(), Stage::Drift);
    (Watch(detector), Watch(tie))
}

#[derive(Clone, PartialEq)]
struct Map(Recipe);

impl State for Map {
    fn restored(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.0 = Recipe::restore(bytes)?;
        // For any recipe, drawing the map is refused or gives the map of that recipe.
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

/// The outcome of a mutant.
#[derive(Debug, PartialEq)]
enum Fate {
    Refused,
    Unchanged,
    Accepted,
}

/// The checker: restores one mutant, and returns what is wrong, if anything.
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
    let (a, b) = (streams(&dense), streams(&fast));
    let integers = fast_integers();
    let empty = TwoSample::new(&dense);
    let mut originals = vec![
        Map(*dense.recipe()).written(),
        Map(*fast.recipe()).written(),
        Single(&dense, a.p().clone()).written(),
        Single(&dense, a.q().clone()).written(),
        Single(&dense, empty.p().clone()).written(),
        Pair(b).written(),
        Pair(TwoSample::new(&fast)).written(),
        Map(*integers.recipe()).written(),
        Pair(streams(&integers)).written(),
        watching().0.written(),
        watching().1.written(),
    ];
    originals.extend(statistics::originals());
    originals
}

/// Restores `count` mutants; returns how many were refused, unchanged and accepted.
fn bombard<S: State>(before: &S, count: u32, seed: u64) -> [u32; 3] {
    let originals = originals();
    // Mostly records of the right kind: others fail the first check.
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
                // A recipe can be read from any record; sums must be written as they were read.
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
    let before = Single(&map, streams(&map).q().clone());
    let [refused, unchanged, accepted] = bombard(&before, 400_000, seed());
    assert!(refused > 0 && unchanged > 0 && accepted > 0);
}

#[test]
fn four_hundred_thousand_mutants_of_two_streams() {
    let map = fast();
    let before = Pair(streams(&map));
    let [refused, unchanged, accepted] = bombard(&before, 400_000, seed() + 1);
    assert!(refused > 0 && unchanged > 0 && accepted > 0);
}

#[test]
fn four_hundred_thousand_mutants_of_two_streams_in_integers() {
    let map = fast_integers();
    let before = Pair(streams(&map));
    let [refused, unchanged, accepted] = bombard(&before, 400_000, seed() + 3);
    assert!(refused > 0 && unchanged > 0 && accepted > 0);
}

#[test]
fn thirty_thousand_mutants_of_a_detector() {
    let (before, _) = watching();
    let [refused, unchanged, accepted] = bombard(&before, 30_000, seed() + 4);
    assert!(refused > 0 && unchanged > 0 && accepted > 0);
}

#[test]
fn thirty_thousand_mutants_of_a_coupling() {
    let (_, before) = watching();
    let [refused, unchanged, accepted] = bombard(&before, 30_000, seed() + 5);
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

/// The control: the checker finds a restore that ignores the checksum, one that changes the state
/// before it refuses, and one with impossible means.
#[test]
fn sloppy_restores_are_caught() {
    let map = dense();
    let before = Single(&map, streams(&map).q().clone());
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
    // NaN does not count as a small mean.
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

/// A state that restores correctly and whose results are NaN.
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
