//! Where two distributions differ: the witness function and its slope.

use core::f32::consts::TAU;

use crate::embedding::Embedding;
use crate::error::Error;
use crate::map::FeatureMap;
use crate::numeric::f32_of;
use crate::sincos::{Point, Polynomial, SinCos};

/// The witness function f(x) = ⟨μ_P − μ_Q, φ(x)⟩ of two embeddings over one map: 8·L bytes.
///
/// Above 0 where P has more mass than Q as seen through the kernel, below 0 where it has less:
/// f(x) = E k(x, p) − E k(x, q). Of all functions in the kernel's space it tells the two apart
/// best, and ⟨f⟩_P − ⟨f⟩_Q is MMD_b².
///
/// ```
/// use fastmmd::{Embedding, Fourier, Kernel, Sampling, Witness};
///
/// let map = Fourier::<1, 64>::new(Kernel::GAUSSIAN, Sampling::Auto, 1)?;
/// let mut before: Embedding<64> = Embedding::new(&map);
/// let mut after: Embedding<64> = Embedding::new(&map);
/// for step in 0..100 {
///     let noise = (step % 10) as f32 / 10.0;
///     before.add(&map, &[noise])?;
///     after.add(&map, &[noise + 3.0])?;
/// }
/// let witness = Witness::new(&map, &before, &after)?;
/// assert!(witness.at(&[0.5])? > 0.5 && witness.at(&[3.5])? < -0.5);
/// let [slope] = witness.gradient(&[2.0])?;
/// assert!(slope < 0.0);
/// # Ok::<(), fastmmd::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Witness<'m, M, const D: usize, const L: usize, B: SinCos = Polynomial> {
    map: &'m M,
    /// K(0)/L·(μ_P − μ_Q) on each circle.
    difference: [Point; L],
    backend: core::marker::PhantomData<B>,
}

impl<'m, M: FeatureMap<D, L>, const D: usize, const L: usize, B: SinCos> Witness<'m, M, D, L, B> {
    /// The witness of P against Q. O(L).
    ///
    /// # Errors
    /// [`Error::MapMismatch`] if one was not made with `map`, [`Error::Empty`] if one holds no
    /// sample.
    pub fn new(map: &'m M, p: &Embedding<L, B>, q: &Embedding<L, B>) -> Result<Self, Error> {
        p.check_map(map)?;
        q.check_map(map)?;
        let factor = p.kernel_scale() / f32_of(L);
        let mut difference = [Point::default(); L];
        for ((point, p), q) in difference.iter_mut().zip(p.mean()?).zip(q.mean()?) {
            *point = Point { cos: factor * (p.cos - q.cos), sin: factor * (p.sin - q.sin) };
        }
        Ok(Self { map, difference, backend: core::marker::PhantomData })
    }

    /// f(x), within ±2·K(0). One projection and O(L).
    ///
    /// # Errors
    /// As [`Embedding::add`]: a sample that is not finite or too large.
    pub fn at(&self, sample: &[f32; D]) -> Result<f32, Error> {
        let mut differences = self.difference.iter();
        let mut value = 0.0;
        self.map.project(sample, &mut [(); L], |(), phase| {
            if let Some(difference) = differences.next() {
                let point = B::point(phase);
                value += difference.cos * point.cos + difference.sin * point.sin;
            }
        })?;
        Ok(value)
    }

    /// ∇f(x), per unit of each channel: the direction in which P gains on Q fastest. One
    /// projection and its transpose, 4·L bytes of stack.
    ///
    /// # Errors
    /// As [`at`](Self::at).
    pub fn gradient(&self, sample: &[f32; D]) -> Result<[f32; D], Error> {
        let mut differences = self.difference.iter();
        let mut slopes = [0.0; L];
        self.map.project(sample, &mut slopes, |slope, phase| {
            if let Some(difference) = differences.next() {
                let point = B::point(phase);
                *slope = TAU * (difference.sin * point.cos - difference.cos * point.sin);
            }
        })?;
        Ok(self.map.weighted_frequencies(&slopes))
    }
}

#[cfg(feature = "defmt")]
impl<M, const D: usize, const L: usize, B: SinCos> defmt::Format for Witness<'_, M, D, L, B> {
    fn format(&self, f: defmt::Formatter<'_>) {
        defmt::write!(f, "witness over {} frequencies", L);
    }
}
