//! A fixed computation whose every bit is printed. `cargo xtask parity` compiles this file for
//! the host as well, and compares.

use core::fmt::Arguments;

use fastmmd::{Error, Fastfood, FeatureMap, Fourier, Kernel, Sampling, TwoSample};

// Computed by the compiler, on the host: the board must draw the same ones itself.
static QUASI: Fourier<3, 64> = some(Fourier::new(Kernel::GAUSSIAN, Sampling::Quasi, 1));
static ORTHOGONAL: Fourier<16, 128> = some(Fourier::new(Kernel::GAUSSIAN, Sampling::Orthogonal, 2));
static STRUCTURED: Fastfood<16, 16, 128> = some_structured(Fastfood::new(Kernel::GAUSSIAN, 3));

const fn some<const D: usize, const L: usize>(map: Result<Fourier<D, L>, Error>) -> Fourier<D, L> {
    match map {
        Ok(map) => map,
        Err(_) => panic!("refused when compiled"),
    }
}

const fn some_structured<const D: usize, const P: usize, const L: usize>(
    map: Result<Fastfood<D, P, L>, Error>,
) -> Fastfood<D, P, L> {
    match map {
        Ok(map) => map,
        Err(_) => panic!("refused when compiled"),
    }
}

/// Hands every line of the report to `print`.
pub fn report(mut print: impl FnMut(Arguments<'_>)) {
    print(format_args!("Fourier<3, 64> quasi-random"));
    let drawn = is_drawn(&QUASI, || Fourier::new(Kernel::GAUSSIAN, Sampling::Quasi, 1));
    map(&QUASI, drawn, &mut print);
    print(format_args!("Fourier<16, 128> orthogonal"));
    let drawn = is_drawn(&ORTHOGONAL, || Fourier::new(Kernel::GAUSSIAN, Sampling::Orthogonal, 2));
    map(&ORTHOGONAL, drawn, &mut print);
    print(format_args!("Fastfood<16, 16, 128>"));
    let drawn = is_drawn(&STRUCTURED, || Fastfood::new(Kernel::GAUSSIAN, 3));
    map(&STRUCTURED, drawn, &mut print);
}

/// Whether drawing at run time gives the same map; apart, so that its stack is given back.
#[inline(never)]
fn is_drawn<M: PartialEq>(known: &M, draw: impl FnOnce() -> Result<M, Error>) -> bool {
    draw().as_ref() == Ok(known)
}

fn map<M: FeatureMap<D, L>, const D: usize, const L: usize>(
    map: &M,
    drawn_alike: bool,
    print: &mut impl FnMut(Arguments<'_>),
) {
    print(format_args!("  drawn as when compiled: {drawn_alike}"));
    match statistics(map) {
        Ok([checksum, biased, unbiased]) => {
            print(format_args!("  checksum of the saved state: {checksum:08x}"));
            print(format_args!("  biased MMD²: {biased:08x}"));
            print(format_args!("  unbiased MMD²: {unbiased:08x}"));
        }
        Err(error) => print(format_args!("  {error}")),
    }
}

/// The checksum of both streams' sums, and MMD², biased and unbiased, as bits.
fn statistics<M: FeatureMap<D, L>, const D: usize, const L: usize>(
    map: &M,
) -> Result<[u32; 3], Error> {
    let mut inputs = Inputs(1);
    let mut test: TwoSample<M, D, L> = TwoSample::new(map);
    for step in 0..200_u8 {
        let sample: [f32; D] = core::array::from_fn(|_| inputs.next());
        test.push_p(&sample)?;
        test.push_q_weighted(&sample.map(|x| 0.5 * x + 0.25), 0.5 + f32::from(step))?;
    }
    test.q_mut().forget(0.875)?;
    // Long enough for the largest map here, 128 frequencies.
    let mut bytes = [0; 4500];
    let length = test.save(&mut bytes)?;
    let checksum = checksum(bytes.get(..length).unwrap_or_default());
    let biased = test.mmd2_biased()?.to_bits();
    Ok([checksum, biased, test.mmd2_unbiased()?.to_bits()])
}

/// A linear congruential generator: the same numbers everywhere.
struct Inputs(u32);

impl Inputs {
    /// The next input in [−2, 2), a multiple of 2⁻¹⁴ and so exact.
    fn next(&mut self) -> f32 {
        self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let [.., low, high] = self.0.to_le_bytes();
        f32::from(i16::from_le_bytes([low, high])) / 16_384.0
    }
}

/// FNV-1a: not the core's own, which is part of what is saved.
fn checksum(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193))
}
