//! The largest error from a phase to a sum.
//!
//! Computed on the host with the very code of the boards, whose bits are the same
//! (`cargo xtask parity`), against `f64`.

use fastmmd::sincos::{Libm, Micromath, Polynomial, Quick};
use fastmmd::{Embedding, Fourier, SinCos};

use anyhow::{Result, bail};

/// Steps of the phase in a turn.
const STEPS: i32 = 1 << 17;

/// Largest error of cos or sin in a sum of one sample, over one turn.
pub(super) fn largest(backend: &str) -> Result<f64> {
    match backend {
        "polynomial" => over_a_turn::<Polynomial>(),
        "quick" => over_a_turn::<Quick>(),
        "libm" => over_a_turn::<Libm>(),
        "micromath" => over_a_turn::<Micromath>(),
        _ => bail!("no backend {backend}"),
    }
}

fn over_a_turn<B: SinCos>() -> Result<f64> {
    let map = Fourier::given([[1.0]], 1.0)?;
    let mut embedding = Embedding::<1, B>::new(&map);
    let mut largest = 0.0_f64;
    for step in 0..=STEPS {
        let turns = f64::from(step) / f64::from(STEPS) - 0.5;
        embedding.reset();
        #[expect(clippy::cast_possible_truncation, reason = "exact: a multiple of 2⁻¹⁷")]
        embedding.add(&map, &[turns as f32])?;
        let (sin, cos) = (core::f64::consts::TAU * turns).sin_cos();
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
        let measured = largest("polynomial").unwrap();
        assert!(measured <= promised && measured > 0.2 * promised, "{measured}");
        assert!(largest("micromath").unwrap() > 100.0 * measured);
        assert!(largest("none").is_err());
    }
}
