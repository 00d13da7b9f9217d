//! Golden values: the same input gives the same bits, on this target and on every other.
//!
//! After an intended change, the failing test prints the new values. Saved states and devices in
//! the field then no longer agree with the core, so it is a breaking change.

mod values {
    include!("../golden.rs");
    include!("../golden_run.rs");
}

use fastmmd::features::ScalarOf;
use fastmmd::shape::Fixed;
use fastmmd::{Detector, Embedding, Fastfood, FeatureMap, Fourier, Kernel, Sampling, fixed};
use fastmmd_reference::checksum::crc32;
use values::{
    GOLDEN_DETECTOR, GOLDEN_DETECTOR_CYCLIC, GOLDEN_DETECTOR_FIXED, GOLDEN_DETECTOR_FIXED_CYCLIC,
    GOLDEN_FASTFOOD, GOLDEN_FIXED_FASTFOOD, GOLDEN_FIXED_FOURIER, GOLDEN_ORTHOGONAL, GOLDEN_PERIOD,
    GOLDEN_QUASI, GOLDEN_ROWS, GOLDEN_SAMPLES, GOLDEN_SEED, Golden, GoldenNumber, golden_config,
    golden_crc, golden_detector, golden_pair, golden_sample, golden_value,
};

fn measured<M: FeatureMap<Inputs = Fixed<D>>, const D: usize>(map: &M) -> Golden
where
    ScalarOf<M>: GoldenNumber,
{
    golden_pair(map, golden_sample).expect("good samples")
}

/// Records are compared by their checksums, which are the CRC-32 of the rest.
#[test]
fn a_record_ends_with_its_crc() {
    let map = Fourier::<3, 64>::new(Kernel::GAUSSIAN, Sampling::Quasi, GOLDEN_SEED);
    let map = &map.expect("spherical");
    let mut embedding = Embedding::new(map);
    embedding.add(map, &golden_sample(0, false)).expect("a good sample");
    let mut bytes = [0; Embedding::<Fourier<3, 64>>::SAVED_BYTES];
    embedding.save(map, &mut bytes).expect("long enough");
    let (body, checksum) = bytes.split_last_chunk().expect("longer than a checksum");
    assert_eq!(u32::from_le_bytes(*checksum), crc32(body));
    assert_eq!(golden_crc(body), crc32(body));
}

fn hold(name: &str, found: Golden, pinned: Golden) {
    let Golden { record, biased, unbiased } = found;
    assert!(
        found == pinned,
        "{name}: Golden {{ record: {record:#010x}, biased: {biased:#010x}, unbiased: {unbiased:#010x} }}, MMD² {} {}",
        f32::from_bits(biased),
        f32::from_bits(unbiased)
    );
}

#[test]
fn quasi_random() {
    let map = Fourier::<3, 64>::new(Kernel::GAUSSIAN, Sampling::Quasi, GOLDEN_SEED);
    hold("GOLDEN_QUASI", measured(&map.expect("spherical")), GOLDEN_QUASI);
}

#[test]
fn orthogonal() {
    let map = Fourier::<16, 128>::new(Kernel::GAUSSIAN, Sampling::Orthogonal, GOLDEN_SEED);
    hold("GOLDEN_ORTHOGONAL", measured(&map.expect("spherical")), GOLDEN_ORTHOGONAL);
}

#[test]
fn fastfood() {
    let map = Fastfood::<16, 16, 128>::new(Kernel::GAUSSIAN, GOLDEN_SEED);
    hold("GOLDEN_FASTFOOD", measured(&map.expect("spherical")), GOLDEN_FASTFOOD);
}

#[test]
fn in_integers() {
    let map = fixed::Fourier::<3, 64>::new(Kernel::GAUSSIAN, Sampling::Quasi, GOLDEN_SEED);
    hold("GOLDEN_FIXED_FOURIER", measured(&map.expect("in range")), GOLDEN_FIXED_FOURIER);
    let map = fixed::Fastfood::<16, 16, 128>::new(Kernel::GAUSSIAN, GOLDEN_SEED);
    hold("GOLDEN_FIXED_FASTFOOD", measured(&map.expect("in range")), GOLDEN_FIXED_FASTFOOD);
}

#[test]
fn detectors() {
    let map = Fourier::<3, 64>::new(Kernel::GAUSSIAN, Sampling::Quasi, GOLDEN_SEED);
    let map = &map.expect("spherical");
    let mut all = Detector::new(map, golden_config()).expect("in range");
    let cyclic = golden_config().with_period(GOLDEN_PERIOD);
    let mut cyclic = Detector::new(map, cyclic).expect("in range");
    let map = fixed::Fourier::<3, 64>::new(Kernel::GAUSSIAN, Sampling::Quasi, GOLDEN_SEED);
    let map = &map.expect("in range");
    let mut fixed = Detector::new(map, golden_config()).expect("in range");
    let fixed_cyclic = golden_config().with_period(GOLDEN_PERIOD);
    let mut fixed_cyclic = Detector::new(map, fixed_cyclic).expect("in range");
    let mut differ = Vec::new();
    for (name, found, pinned) in [
        ("", golden_detector(&mut all), GOLDEN_DETECTOR),
        ("_CYCLIC", golden_detector(&mut cyclic), GOLDEN_DETECTOR_CYCLIC),
        ("_FIXED", golden_detector(&mut fixed), GOLDEN_DETECTOR_FIXED),
        ("_FIXED_CYCLIC", golden_detector(&mut fixed_cyclic), GOLDEN_DETECTOR_FIXED_CYCLIC),
    ] {
        let found = found.expect("good rows");
        assert!(found.alarms > 0 && found.first[0] >= GOLDEN_ROWS[1] && found.first[2] == 1);
        if found != pinned {
            println!("GOLDEN_DETECTOR{name}: {found:#010x?}");
            differ.push(name);
        }
    }
    assert!(differ.is_empty(), "{differ:?}");
}

/// The inputs cover their range, and are those of the firmware.
#[test]
fn inputs_are_pinned_too() {
    let mut steps = [false; 1024];
    let mut bytes = Vec::new();
    for index in 0..GOLDEN_SAMPLES {
        for channel in 0..16 {
            let value = golden_value(index, channel, false);
            bytes.extend(value.to_le_bytes());
            let step =
                (0_u16..1024).find(|s| (f32::from(*s) / 512.0 - 1.0).to_bits() == value.to_bits());
            steps[usize::from(step.expect("a multiple of 1/512"))] = true;
        }
    }
    assert!(steps.iter().all(|seen| *seen));
    assert_eq!(crc32(&bytes), INPUTS, "{:#010x}", crc32(&bytes));
}

const INPUTS: u32 = 0xb4bc_849c;

/// The control: a change of one low bit of a single value changes the record, and so does another
/// seed.
#[test]
fn another_input_is_caught() {
    let map = |seed| Fourier::<3, 64>::new(Kernel::GAUSSIAN, Sampling::Quasi, seed);
    let golden = map(GOLDEN_SEED).expect("spherical");
    let altered = golden_pair(&golden, |index, second| {
        let mut sample: [f32; 3] = golden_sample(index, second);
        if index == 500 {
            sample[1] = f32::from_bits(sample[1].to_bits() ^ 4);
        }
        sample
    });
    assert_ne!(altered.expect("good samples").record, GOLDEN_QUASI.record);
    let other = measured(&map(GOLDEN_SEED + 1).expect("spherical"));
    assert_ne!(other.record, GOLDEN_QUASI.record);
    assert_ne!(other.biased, GOLDEN_QUASI.biased);
}
