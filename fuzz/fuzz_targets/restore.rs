//! Passes arbitrary bytes to `restore`. It must never panic, and give either an error that changes
//! nothing or a state that saves to the same bytes.

#![no_main]

use crc::{CRC_32_ISO_HDLC, Crc};
use fastmmd::monitor::coupling;
use fastmmd::{
    Classifier, Config, Detector, Embedding, Error, Fourier, KernelFamily, Recipe, TwoSample,
    TwoSampleTest, fixed,
};
use libfuzzer_sys::fuzz_target;

type Map = Fourier<2, 4>;

static MAP: Map = Fourier::gaussian(1);

type Counts = fixed::Fourier<2, 4>;

static COUNTS: Counts = fixed::Fourier::gaussian(1);

fuzz_target!(|bytes: &[u8]| {
    offer(bytes);
    // The checksum is corrected first: a fuzzer rarely guesses one.
    if let Some(body) = bytes.len().checked_sub(4) {
        let mut mended = bytes.to_vec();
        let checksum = Crc::<u32>::new(&CRC_32_ISO_HDLC).checksum(&mended[..body]);
        mended[body..].copy_from_slice(&checksum.to_le_bytes());
        offer(&mended);
    }
});

fn offer(bytes: &[u8]) {
    if let Ok(recipe) = Recipe::restore(bytes) {
        let _ = Map::from_recipe(&recipe);
    }
    embedding(bytes).expect("the map is the embedding's own");
    two_sample(bytes).expect("the map is the streams' own");
    tested(bytes).expect("the map is the test's own");
    family(bytes).expect("the map is the family's own");
    classifier(bytes).expect("the map is the classifier's own");
    detector(bytes).expect("good rows");
    integer_detector(bytes).expect("good rows");
    tie(bytes).expect("good rows");
}

fn embedding(bytes: &[u8]) -> Result<(), Error> {
    let mut embedding = Embedding::new(&MAP);
    embedding.add(&MAP, &[0.5, -0.5])?;
    let before = embedding.clone();
    match embedding.restore(&MAP, bytes) {
        Ok(()) => {
            let mut saved = [0; Embedding::<Map>::SAVED_BYTES];
            embedding.save(&MAP, &mut saved)?;
            assert_eq!(saved, bytes);
            let _ = embedding.squared_norm();
            let _ = embedding.add(&MAP, &[1.0, 1.0]);
        }
        Err(_) => assert_eq!(embedding, before),
    }
    Ok(())
}

fn two_sample(bytes: &[u8]) -> Result<(), Error> {
    let mut test = TwoSample::new(&MAP);
    test.push_p(&[0.5, -0.5])?;
    test.push_q(&[0.25, 0.0])?;
    let before = test.clone();
    match test.restore(bytes) {
        Ok(()) => {
            let mut saved = [0; TwoSample::<Map>::SAVED_BYTES];
            test.save(&mut saved)?;
            assert_eq!(saved, bytes);
            let _ = test.mmd2_unbiased();
        }
        Err(_) => assert_eq!((test.p(), test.q()), (before.p(), before.q())),
    }
    Ok(())
}

fn tested(bytes: &[u8]) -> Result<(), Error> {
    let mut test = TwoSampleTest::new(&MAP, 2)?;
    let mut saved = [0; TwoSampleTest::<Map>::SAVED_BYTES];
    if test.restore(bytes).is_ok() {
        test.save(&mut saved)?;
        assert_eq!(saved, bytes);
        let _ = (test.p_value(), test.threshold(0.05));
        let _ = test.push_p(&[1.0, 1.0]);
    } else {
        assert_eq!(test.streams().p().weight(), 0.0);
    }
    Ok(())
}

fn family(bytes: &[u8]) -> Result<(), Error> {
    let mut family = KernelFamily::new(&MAP, [0.5, 1.0])?;
    let mut saved = [0; KernelFamily::<Map, 2>::SAVED_BYTES];
    if family.restore(bytes).is_ok() {
        family.save(&mut saved)?;
        assert_eq!(saved, bytes);
        let _ = family.maximum_unbiased();
    } else {
        assert_eq!(family.p()[0].weight(), 0.0);
    }
    Ok(())
}

fn classifier(bytes: &[u8]) -> Result<(), Error> {
    let mut classes = Classifier::<Map, 2>::empty(&MAP);
    let before = classes.clone();
    let mut saved = [0; Classifier::<Map, 2>::SAVED_BYTES];
    if classes.restore(&MAP, bytes).is_ok() {
        classes.save(&MAP, &mut saved)?;
        assert_eq!(saved, bytes);
        classes.class(&MAP, &[0.5, -0.5])?;
    } else {
        assert_eq!(classes, before);
    }
    Ok(())
}

fn detector(bytes: &[u8]) -> Result<(), Error> {
    let mut detector = Detector::new(&MAP, Config::rows(1e4))?;
    let mut saved = [0; Detector::<Map>::SAVED_BYTES];
    if detector.restore(bytes).is_ok() {
        detector.save(&mut saved)?;
        assert_eq!(saved, bytes);
        for _ in 0..3 {
            detector.push(&[0.5, -0.5])?;
            detector.push_partial(&[None, Some(1e6)])?;
        }
        let looked = detector.legs().count() + detector.open().count() + detector.mute().count();
        assert!(looked < 100 && detector.quality().count() == 2);
        detector.dismiss();
    } else {
        assert_eq!(detector.rows(), 0);
    }
    Ok(())
}

fn integer_detector(bytes: &[u8]) -> Result<(), Error> {
    let mut detector = Detector::new(&COUNTS, Config::rows(1e4))?;
    let mut saved = [0; Detector::<Counts>::SAVED_BYTES];
    if detector.restore(bytes).is_ok() {
        detector.save(&mut saved)?;
        assert_eq!(saved, bytes);
        for _ in 0..3 {
            detector.push(&[5, -5])?;
            detector.push_partial(&[None, Some(i16::MIN)])?;
        }
        let looked = detector.legs().count() + detector.open().count() + detector.mute().count();
        assert!(looked < 100 && detector.quality().count() == 2);
        detector.dismiss();
    } else {
        assert_eq!(detector.rows(), 0);
    }
    Ok(())
}

fn tie(bytes: &[u8]) -> Result<(), Error> {
    let mut tie = coupling::Monitor::new(&MAP, &MAP, coupling::Config::rows(1e4))?;
    let mut saved = [0; coupling::Monitor::<Map, Map>::SAVED_BYTES];
    if tie.restore(bytes).is_ok() {
        tie.save(&mut saved)?;
        assert_eq!(saved, bytes);
        tie.push(&[0.5, -0.5], &[1e6, 0.0])?;
        tie.dismiss();
    } else {
        assert_eq!(tie.rows(), 0);
    }
    Ok(())
}
