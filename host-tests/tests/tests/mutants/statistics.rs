//! The same for a test, for kernels of several bandwidths and for a classifier.

use super::*;
use fastmmd::features::sincos::Point;
use fastmmd::{Classifier, KernelFamily, TwoSampleTest};

type Plain = Fourier<2, 4>;
type Test = TwoSampleTest<'static, Plain>;
type Family = KernelFamily<'static, Plain, 2>;
type Classes = Classifier<Plain, 2>;

static MAP: Plain = Fourier::gaussian(1);

impl State for Watch<Test> {
    fn restored(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.0.restore(bytes)
    }
    fn written(&self) -> Vec<u8> {
        let mut bytes = vec![0; Test::SAVED_BYTES];
        self.0.save(&mut bytes).expect("long enough");
        bytes
    }
    /// As the fuzz target: what it says is a probability or refused, and with another sample it comes back.
    fn largest_mean(&self) -> f64 {
        let mut used = self.clone();
        let _ = used.0.threshold(0.05);
        used.0.push_p(&[1.0, 1.0]).expect("a good sample");
        let is_probability =
            |test: &Test| test.p_value().map_or(true, |chance| (0.0..=1.0).contains(&chance));
        let comes_back = self.clone().restored(&used.written()).is_ok();
        if !(is_probability(&self.0) && is_probability(&used.0) && comes_back) {
            return f64::NAN;
        }
        worst([self.0.streams().p(), self.0.streams().q()])
    }
}

/// The largest coordinate of all their means, or NaN: `max` would drop that.
fn worst<'e>(sets: impl IntoIterator<Item = &'e Embedding<Plain>>) -> f64 {
    sets.into_iter().map(largest_mean).fold(0.0, |worst: f64, largest| {
        if worst.is_nan() || largest.is_nan() { f64::NAN } else { worst.max(largest) }
    })
}

/// Without a clone of its own.
struct Kernels(Family);

impl Clone for Kernels {
    fn clone(&self) -> Self {
        let family = KernelFamily::new(&MAP, *self.0.bandwidths()).expect("in range");
        let mut copy = Self(family);
        copy.restored(&self.written()).expect("its own state");
        copy
    }
}

impl PartialEq for Kernels {
    fn eq(&self, other: &Self) -> bool {
        self.written() == other.written()
    }
}

impl State for Kernels {
    fn restored(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.0.restore(bytes)
    }
    fn written(&self) -> Vec<u8> {
        let mut bytes = vec![0; Family::SAVED_BYTES];
        self.0.save(&mut bytes).expect("long enough");
        bytes
    }
    fn largest_mean(&self) -> f64 {
        worst(self.0.p().iter().chain(self.0.q()))
    }
}

impl State for Watch<Classes> {
    fn restored(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.0.restore(&MAP, bytes)
    }
    fn written(&self) -> Vec<u8> {
        let mut bytes = vec![0; Classes::SAVED_BYTES];
        self.0.save(&MAP, &mut bytes).expect("long enough");
        bytes
    }
    fn largest_mean(&self) -> f64 {
        if self.0.class(&MAP, &[0.5, -0.5]).is_ok() { 0.0 } else { f64::NAN }
    }
}

fn tested() -> Watch<Test> {
    let mut test = TwoSampleTest::new(&MAP, 2).expect("in range");
    for (p, q) in samples() {
        test.push_p(&p).expect("a good sample");
        test.push_q(&q).expect("a good sample");
    }
    Watch(test)
}

fn kernels() -> Kernels {
    let mut family = KernelFamily::new(&MAP, [0.5, 1.0]).expect("in range");
    for (p, q) in samples() {
        family.push_p(&p).expect("a good sample");
        family.push_q(&q).expect("a good sample");
    }
    Kernels(family)
}

fn classes() -> Watch<Classes> {
    let weights = [[Point { cos: 0.5, sin: -0.25 }; 4], [Point { cos: -1.0, sin: 2.0 }; 4]];
    let [first, second] = &weights;
    Watch(Classifier::new(&MAP, [&first[..], &second[..]], [0.25, -0.5]).expect("finite"))
}

fn samples() -> impl Iterator<Item = ([f32; 2], [f32; 2])> {
    let mut generator = Generator::new(2);
    std::iter::repeat_with(move || {
        let mut row = |shift| [0.0; 2].map(|_: f32| shift + single(generator.normal()));
        (row(0.0), row(1.0))
    })
    .take(24)
}

pub(super) fn originals() -> [Vec<u8>; 3] {
    [tested().written(), kernels().written(), classes().written()]
}

#[test]
fn a_hundred_thousand_mutants_of_a_test() {
    let [refused, unchanged, accepted] = bombard(&tested(), 100_000, seed() + 6);
    assert!(refused > 0 && unchanged > 0 && accepted > 0);
}

#[test]
fn a_hundred_thousand_mutants_of_a_family() {
    let [refused, unchanged, accepted] = bombard(&kernels(), 100_000, seed() + 7);
    assert!(refused > 0 && unchanged > 0 && accepted > 0);
}

#[test]
fn a_hundred_thousand_mutants_of_a_classifier() {
    let [refused, unchanged, accepted] = bombard(&classes(), 100_000, seed() + 8);
    assert!(refused > 0 && unchanged > 0 && accepted > 0);
}
