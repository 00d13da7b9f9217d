//! The results of the core and of the f64 oracle for the same samples.

use fastmmd::features::sincos::SinCos;
use fastmmd::{FeatureMap, TwoSample};
use fastmmd_reference::features::Spectrum;
use fastmmd_reference::real;
use fastmmd_reference::tolerance::Tolerance;

/// All results of two embeddings, divided by K(0).
#[derive(Debug, Clone, Copy)]
pub(crate) struct Readings {
    pub(crate) biased: f64,
    pub(crate) unbiased: f64,
    pub(crate) norm_p: f64,
    pub(crate) norm_q: f64,
    pub(crate) inner: f64,
    /// Mean over the circles of A², with A the amplitude of the difference (Algorithm 2).
    pub(crate) amplitudes: f64,
    /// The same by Algorithm 1, line 6.
    pub(crate) line_6: f64,
}

impl Readings {
    pub(crate) fn reference(p: &Spectrum, q: &Spectrum) -> Self {
        let biased = p.biased(q);
        Self {
            biased,
            unbiased: p.unbiased(q).expect("two samples each"),
            norm_p: p.squared_norm(),
            norm_q: q.squared_norm(),
            inner: p.inner_product(q),
            amplitudes: biased,
            line_6: biased,
        }
    }

    /// The results of the core; the cosine of line 6 by `S`.
    pub(crate) fn core<M: FeatureMap, S: SinCos>(test: &TwoSample<'_, M>) -> Self {
        let scale = f64::from(test.p().amplitude());
        let frequencies = real(test.p().frequencies());
        let read = |value: Result<f32, _>| f64::from(value.expect("two samples each")) / scale;
        let (mut amplitudes, mut line_6) = (0.0, 0.0);
        for circle in test.circles().expect("not empty") {
            amplitudes += f64::from(circle.amplitude * circle.amplitude) / frequencies;
            line_6 += f64::from(circle.squared_amplitude::<S>()) / frequencies;
        }
        Self {
            biased: read(test.mmd2_biased()),
            unbiased: read(test.mmd2_unbiased()),
            norm_p: read(test.p().squared_norm()),
            norm_q: read(test.q().squared_norm()),
            inner: read(test.p().inner_product(test.q())),
            amplitudes,
            line_6,
        }
    }

    fn named(&self) -> [(&'static str, f64); 7] {
        [
            ("biased", self.biased),
            ("unbiased", self.unbiased),
            ("norm of P", self.norm_p),
            ("norm of Q", self.norm_q),
            ("inner product", self.inner),
            ("amplitudes", self.amplitudes),
            ("line 6", self.line_6),
        ]
    }

    /// The checker: the results that are too far from those of the oracle.
    pub(crate) fn misses(&self, reference: &Self, limit: &Tolerance) -> Vec<String> {
        let pairs = self.named().into_iter().zip(reference.named());
        pairs
            .filter(|((_, value), (_, truth))| !limit.admits(*value, *truth))
            .map(|((name, value), (_, truth))| format!("{name}: {value:e} for {truth:e}"))
            .collect()
    }

    pub(crate) fn largest_error(&self, reference: &Self) -> f64 {
        let pairs = self.named().into_iter().zip(reference.named());
        pairs.fold(0.0, |worst: f64, ((_, value), (_, truth))| worst.max((value - truth).abs()))
    }
}
