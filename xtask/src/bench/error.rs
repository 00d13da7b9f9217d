//! The largest error from a phase to a sum, against `f64`.
//!
//! Computed on the host by the code of the boards, which give the same bits (`cargo xtask parity`).

use core::f64::consts::TAU;

use anyhow::{Result, bail};
use fastmmd::features::sincos::{Libm, Micromath, Polynomial, Quick, SinCos};
use fastmmd::shape::Fixed;
use fastmmd::{Embedding, FeatureMap, Fourier, Kernel, Sampling, fixed};

use super::programs::FIXED;

/// Number of phases tried in one turn.
const STEPS: i32 = 1 << 17;
/// Number of samples tried for a map.
const SAMPLES: u32 = 3000;

/// Largest error of cos or sin in the sum of one sample: over the phases of one turn or, for
/// integers, whose phases are rounded too, over samples of a map.
pub(super) fn largest(map: &str, backend: &str) -> Result<f64> {
    match (map, backend) {
        (other, FIXED) if other != "fastfood" => {
            let map = fixed::Fourier::<16, 128>::new(Kernel::GAUSSIAN, Sampling::Independent, 1)?;
            over_samples(&map, |index| map.exact_frequency(index))
        }
        (_, FIXED) => {
            let map = fixed::Fastfood::<16, 16, 128>::gaussian(1);
            over_samples(&map, |index| map.exact_frequency(index))
        }
        (_, "polynomial") => over_a_turn::<Polynomial>(),
        (_, "quick") => over_a_turn::<Quick>(),
        (_, "libm") => over_a_turn::<Libm>(),
        (_, "micromath") => over_a_turn::<Micromath>(),
        _ => bail!("no backend {backend}"),
    }
}

/// Over samples from the whole range, from noise of deviation 1 to the limits.
fn over_samples<const D: usize>(
    map: &impl FeatureMap<Inputs = Fixed<D>, Backend = fixed::Table>,
    frequency: impl Fn(usize) -> Option<[f64; D]>,
) -> Result<f64> {
    let mut embedding = Embedding::new(map);
    let frequencies: Vec<[f64; D]> = (0..embedding.frequencies()).filter_map(frequency).collect();
    let mut largest = 0.0_f64;
    let mut word = 1_u32;
    for index in 0..SAMPLES {
        let sample: [i16; D] = core::array::from_fn(|_| {
            word = word.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let [_, _, low, high] = word.to_le_bytes();
            let noise = i16::from_le_bytes([low, high]);
            match index % 3 {
                0 => noise >> 4,
                1 => noise,
                _ if noise < 0 => i16::MIN,
                _ => i16::MAX,
            }
        });
        embedding.reset();
        embedding.add(map, &sample)?;
        for (point, frequency) in embedding.mean()?.zip(&frequencies) {
            let steps = frequency.iter().zip(sample).map(|(w, x)| w * f64::from(x));
            let turns = steps.sum::<f64>() / f64::from(fixed::ONE);
            let (sin, cos) = (TAU * (turns - turns.round())).sin_cos();
            let error = (f64::from(point.cos) - cos).abs();
            largest = error.max((f64::from(point.sin) - sin).abs()).max(largest);
        }
    }
    Ok(largest)
}

fn over_a_turn<B: SinCos>() -> Result<f64> {
    let map = Fourier::given([[1.0]], 1.0)?.with_backend::<B>();
    let mut embedding = Embedding::new(&map);
    let mut largest = 0.0_f64;
    for step in 0..=STEPS {
        let turns = f64::from(step) / f64::from(STEPS) - 0.5;
        embedding.reset();
        #[expect(clippy::cast_possible_truncation, reason = "exact: a multiple of 2⁻¹⁷")]
        embedding.add(&map, &[turns as f32])?;
        let (sin, cos) = (TAU * turns).sin_cos();
        for point in embedding.mean()? {
            let error = (f64::from(point.cos) - cos).abs();
            largest = error.max((f64::from(point.sin) - sin).abs()).max(largest);
        }
    }
    Ok(largest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_those_the_backends_promise() {
        let promised = f64::from(Polynomial::MAX_ERROR);
        let measured = largest("fourier", "polynomial").unwrap();
        assert!(measured <= promised && measured > 0.2 * promised, "{measured}");
        assert!(largest("fourier", "micromath").unwrap() > 100.0 * measured);
        assert!(largest("fourier", "none").is_err());
        let table = f64::from(fixed::Table::MAX_ERROR);
        let dense = largest("fourier", FIXED).unwrap();
        assert!(dense <= table && dense > 0.5 * table, "{dense}");
        let structured = largest("fastfood", FIXED).unwrap();
        assert!(structured <= 2e-4 && structured > dense, "{structured}");
    }
}
