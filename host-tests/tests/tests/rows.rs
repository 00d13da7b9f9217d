//! Arbitrary bit patterns as rows: each is taken, or refused without a trace, and what is saved then comes back.
//! The seeded, bounded form of the fuzz target `rows`, and the same in integers.

use fastmmd::monitor::{Monitor, coupling};
use fastmmd::{Config, Detector, Error, Fourier, Stage, fixed};
use fastmmd_reference::generate::Generator;
use fastmmd_reference::single;

type Map = Fourier<2, 4>;
type Counts = fixed::Fourier<2, 4>;

static MAP: Map = Fourier::gaussian(1);
static COUNTS: Counts = fixed::Fourier::gaussian(1);

fn settings() -> Config {
    Config { learning_rows: 256, ..Config::rows(1000.0) }
}

/// What is watched: it takes a row of two numbers, and is saved and restored.
trait Watched {
    fn rows(&self) -> u64;
    fn written(&self) -> Vec<u8>;
    fn restored(&mut self, bytes: &[u8]) -> Result<(), Error>;
}

impl<M: Monitor> Watched for M {
    fn rows(&self) -> u64 {
        self.status().rows
    }
    fn written(&self) -> Vec<u8> {
        let mut bytes = vec![0; self.saved_bytes()];
        self.save(&mut bytes).expect("long enough");
        bytes
    }
    fn restored(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.restore(bytes)
    }
}

struct Tie(coupling::Monitor<'static, Map, Map>);

impl Watched for Tie {
    fn rows(&self) -> u64 {
        self.0.rows()
    }
    fn written(&self) -> Vec<u8> {
        let mut bytes = vec![0; coupling::Monitor::<Map, Map>::SAVED_BYTES];
        self.0.save(&mut bytes).expect("long enough");
        bytes
    }
    fn restored(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.0.restore(bytes)
    }
}

/// The checker: gives a row, and returns whether it was taken, or what is wrong.
fn give<W: Watched>(
    watched: &mut W,
    push: impl FnOnce(&mut W) -> Result<(), Error>,
) -> Result<bool, &'static str> {
    let (rows, before) = (watched.rows(), watched.written());
    let taken = push(watched).is_ok();
    let after = watched.written();
    if watched.rows() != rows + u64::from(taken) {
        return Err("the rows are miscounted");
    }
    if !taken && after != before {
        return Err("refused, but the state is another");
    }
    if watched.restored(&after).is_err() || watched.written() != after {
        return Err("it does not come back");
    }
    Ok(taken)
}

/// Mostly readings, sometimes any bits, or a number at the edge.
fn number(generator: &mut Generator) -> f32 {
    const EDGES: [f32; 10] = [
        0.0,
        -0.0,
        f32::NAN,
        f32::INFINITY,
        f32::NEG_INFINITY,
        f32::MAX,
        f32::MIN,
        f32::MIN_POSITIVE,
        f32::EPSILON,
        1e-40,
    ];
    match generator.below(16) {
        0 => {
            let [a, b, c, d, ..] = generator.word().to_le_bytes();
            f32::from_le_bytes([a, b, c, d])
        }
        1 => EDGES[generator.below(EDGES.len())],
        _ => single(generator.normal()),
    }
}

fn step(generator: &mut Generator) -> i16 {
    let [low, high, ..] = generator.word().to_le_bytes();
    match generator.below(16) {
        0 => i16::from_le_bytes([low, high]),
        1 => [i16::MIN, i16::MAX, 0][generator.below(3)],
        _ => i16::from(low) - i16::from(high),
    }
}

/// Of so many rows, how many were taken.
fn taken(rows: u32, mut give: impl FnMut(&mut Generator) -> Result<bool, &'static str>) -> u32 {
    let mut generator = Generator::new(11);
    let mut taken = 0;
    for row in 0..rows {
        match give(&mut generator) {
            Ok(is_taken) => taken += u32::from(is_taken),
            Err(wrong) => panic!("row {row}: {wrong}"),
        }
    }
    taken
}

#[test]
fn any_bits_are_a_row_or_refused() {
    let mut detector = Detector::new(&MAP, settings()).expect("in range");
    let found = taken(20_000, |generator| {
        let row = [number(generator), number(generator)];
        let partial = row.map(|it| Some(it).filter(|it| !it.is_nan() || generator.below(2) == 0));
        give(&mut detector, |detector| detector.push_partial(&partial).map(|_| ()))
    });
    assert!((10_000..19_900).contains(&found), "{found}");
    assert_ne!(detector.stage(), Stage::Learning);
}

#[test]
fn any_counts_are_a_row() {
    let mut detector = Detector::new(&COUNTS, settings()).expect("in range");
    let found = taken(20_000, |generator| {
        let row = [step(generator), step(generator)];
        let partial = row.map(|it| Some(it).filter(|_| generator.below(20) > 0));
        give(&mut detector, |detector| detector.push_partial(&partial).map(|_| ()))
    });
    assert!(found > 19_000, "{found}");
    assert_ne!(detector.stage(), Stage::Learning);
}

#[test]
fn any_bits_are_a_pair_of_rows_or_refused() {
    let usual = coupling::Config::rows(1000.0);
    let config = coupling::Config { scaling_rows: 32, learning_rows: 256, window: 8, ..usual };
    let mut tie = Tie(coupling::Monitor::new(&MAP, &MAP, config).expect("in range"));
    let found = taken(20_000, |generator| {
        let [x, y] = [0; 2].map(|_| [number(generator), number(generator)]);
        give(&mut tie, |tie| tie.0.push(&x, &y).map(|_| ()))
    });
    assert!((5000..19_900).contains(&found), "{found}");
    assert_eq!(tie.rows(), u64::from(found));
}

/// The control: the checker finds one that counts a row it refused, and one that keeps a part of it.
#[test]
fn sloppy_refusals_are_caught() {
    let mut detector = Detector::new(&MAP, settings()).expect("in range");
    let keeps = give(&mut detector, |detector| {
        detector.relearn_with(Config { learning_rows: 300, ..settings() })?;
        Err(Error::Empty)
    });
    assert_eq!(keeps, Err("refused, but the state is another"));
    let counts = give(&mut detector, |detector| detector.push(&[0.0, 0.0]).and(Err(Error::Empty)));
    assert_eq!(counts, Err("the rows are miscounted"));
}
