//! Maps, streams and records for the tests of saved states.

use fastmmd::features::{Scalar, ScalarOf};
use fastmmd::shape::Fixed;
use fastmmd::{Fastfood, FeatureMap, Fourier, Kernel, Profile, Sampling, TwoSample, fixed};
use fastmmd_reference::checksum::crc32;

pub(crate) fn dense() -> Fourier<2, 4> {
    let kernel = Kernel::new(Profile::Matern32, 0.75).and_then(|k| k.with_amplitude(2.0));
    Fourier::new(kernel.expect("in range"), Sampling::Quasi, 7).expect("spherical")
}

pub(crate) fn fast() -> Fastfood<3, 4, 8> {
    Fastfood::gaussian(9)
}

pub(crate) fn fast_integers() -> fixed::Fastfood<3, 4, 8> {
    fixed::Fastfood::gaussian(9)
}

/// A number that samples are made of.
pub(crate) trait Number: Scalar + PartialEq + std::fmt::Debug {
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
pub(crate) fn reading<X: Number, const D: usize>(index: u8) -> [X; D] {
    let mut value = f32::from(index % 16) / 8.0 - 1.0;
    std::array::from_fn(|_| {
        value = 0.5 - 0.5 * value;
        X::of(value)
    })
}

pub(crate) fn streams<M, const D: usize>(map: &M) -> TwoSample<'_, M>
where
    M: FeatureMap<Inputs = Fixed<D>>,
    ScalarOf<M>: Number,
{
    let mut test = TwoSample::new(map);
    for index in 0..20 {
        test.push_p(&reading(index)).expect("a good sample");
        test.push_q_weighted(&reading(index + 5), 0.5 + f32::from(index)).expect("a good sample");
    }
    test
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Recomputes the checksum after a change, so that the later checks are reached.
pub(crate) fn mend(bytes: &mut [u8]) {
    if let Some((body, checksum)) = bytes.split_last_chunk_mut() {
        *checksum = crc32(body).to_le_bytes();
    }
}
