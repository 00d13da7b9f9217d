//! Passes arbitrary rows to a detector and to a coupling: each is taken, or refused without a trace, and
//! what is saved then comes back.

#![no_main]

use fastmmd::monitor::coupling;
use fastmmd::{Config, Detector, Fourier};
use libfuzzer_sys::fuzz_target;

type Map = Fourier<2, 4>;

static MAP: Map = Fourier::gaussian(1);

fuzz_target!(|bytes: &[u8]| {
    let config = Config { learning_rows: 256, ..Config::rows(1000.0) };
    let mut detector = Detector::new(&MAP, config).expect("in range");
    let usual = coupling::Config::rows(1000.0);
    let config = coupling::Config { scaling_rows: 32, learning_rows: 256, window: 8, ..usual };
    let mut tie = coupling::Monitor::new(&MAP, &MAP, config).expect("in range");
    let (pairs, _) = bytes.as_chunks::<8>();
    for [a, b, c, d, e, f, g, h] in pairs {
        let row = [[*a, *b, *c, *d], [*e, *f, *g, *h]].map(f32::from_le_bytes);
        let before = detector.rows();
        let taken = detector.push_partial(&row.map(|it| Some(it).filter(|it| !it.is_nan())));
        assert_eq!(detector.rows() - before, u64::from(taken.is_ok()));
        let before = tie.rows();
        assert_eq!(tie.push(&row, &row).is_ok(), tie.rows() > before);
    }
    let mut saved = [0; Detector::<Map>::SAVED_BYTES];
    detector.save(&mut saved).expect("long enough");
    detector.restore(&saved).expect("its own state");
    let mut saved = [0; coupling::Monitor::<Map, Map>::SAVED_BYTES];
    tie.save(&mut saved).expect("long enough");
    tie.restore(&saved).expect("its own state");
});
