//! MMD² by random Fourier features, as in Algorithm 1 of the FastMMD paper.
//!
//! For each frequency ω the weighted mean of sin(x − ω'xᵢ) over a sample set is a sinusoid
//! A·sin(x − θ). MMD_b² is K(0) times the mean over frequencies of the squared amplitude of the
//! difference of two sinusoids, A₁² + A₂² − 2·A₁·A₂·cos(θ₁ − θ₂).

use std::f64::consts::{FRAC_PI_2, PI, TAU};

use nalgebra::DMatrix;

use crate::error::Refused;
use crate::generate::Generator;
use crate::points::{Points, Weighted, same_dims};
use crate::real;

/// Dense frequency vectors, in turns per unit of input.
#[derive(Debug, Clone, PartialEq)]
pub struct Frequencies {
    dims: usize,
    rows: Vec<Vec<f64>>,
}

/// A mean of sinusoids of one frequency: A·sin(x − θ).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sinusoid {
    /// A, from 0 to 1.
    pub amplitude: f64,
    /// θ in radians, in [−π, π].
    pub phase: f64,
}

impl Sinusoid {
    /// The sinusoid of the difference: Algorithm 1, line 6.
    #[must_use]
    pub fn minus(&self, other: &Self) -> Self {
        let between = (self.phase - other.phase).cos();
        let squared = self.amplitude * self.amplitude + other.amplitude * other.amplitude
            - 2.0 * self.amplitude * other.amplitude * between;
        let cos = self.amplitude * self.phase.cos() - other.amplitude * other.phase.cos();
        let sin = self.amplitude * self.phase.sin() - other.amplitude * other.phase.sin();
        Self { amplitude: squared.max(0.0).sqrt(), phase: sin.atan2(cos) }
    }

    /// The y in [−π, π] at which A·sin(y − θ) is largest: θ + π/2. For the difference of two sets
    /// it is the decision diameter of Definition 2. (Appendix A.5 of the paper says y = θ, where the
    /// sinusoid is 0.)
    #[must_use]
    pub fn diameter(&self) -> f64 {
        let turned = self.phase + FRAC_PI_2;
        if turned > PI { turned - TAU } else { turned }
    }
}

/// All sinusoids of a sample set, with the sums of weights that the unbiased estimate needs.
#[derive(Debug, Clone, PartialEq)]
pub struct Spectrum {
    /// One sinusoid for each frequency.
    pub sinusoids: Vec<Sinusoid>,
    total: f64,
    squares: f64,
    samples: usize,
}

impl Frequencies {
    /// Frequency vectors in turns per unit of input.
    ///
    /// # Errors
    /// [`Refused::Empty`] for none, [`Refused::Ragged`] for unequal lengths.
    pub fn new(rows: Vec<Vec<f64>>) -> Result<Self, Refused> {
        let dims = rows.first().map_or(0, Vec::len);
        if dims == 0 {
            return Err(Refused::Empty);
        }
        for row in &rows {
            same_dims(dims, row.len())?;
        }
        Ok(Self { dims, rows })
    }

    /// `count` independent frequencies of the Gaussian kernel with bandwidth σ:
    /// N(0, 1/σ²) radians per unit in each of `dims` channels.
    ///
    /// # Errors
    /// [`Refused::Empty`] for none or no channels, [`Refused::BadParameter`] unless σ is positive.
    pub fn gaussian(
        generator: &mut Generator,
        count: usize,
        dims: usize,
        bandwidth: f64,
    ) -> Result<Self, Refused> {
        Refused::unless_positive("bandwidth", bandwidth)?;
        let scale = 1.0 / (TAU * bandwidth);
        let mut row = || (0..dims).map(|_| scale * generator.normal()).collect();
        Self::new((0..count).map(|_| row()).collect())
    }

    /// The number of channels.
    #[must_use]
    pub fn dims(&self) -> usize {
        self.dims
    }

    /// The frequency vectors in order.
    #[must_use]
    pub fn rows(&self) -> &[Vec<f64>] {
        &self.rows
    }

    /// The phase ω'x of each frequency, in turns. O(Ld).
    pub fn turns<'a>(&'a self, sample: &'a [f64]) -> impl Iterator<Item = f64> + 'a {
        let dot = move |row: &Vec<f64>| row.iter().zip(sample).map(|(w, x)| w * x).sum();
        self.rows.iter().map(dot)
    }

    /// The largest |ω'x| over all frequencies and samples, in turns. O(nLd).
    #[must_use]
    pub fn largest_phase(&self, set: &Weighted) -> f64 {
        set.points().rows().flat_map(|sample| self.turns(sample)).map(f64::abs).fold(0.0, f64::max)
    }

    /// The mean of cos(2π·ω'x) over the frequencies: the approximation of K(x)/K(0). O(Ld).
    #[must_use]
    pub fn mean_cosine(&self, x: &[f64]) -> f64 {
        let sum: f64 = self.turns(x).map(|t| (TAU * (t - t.round())).cos()).sum();
        sum / real(self.rows.len())
    }

    /// cos 2πω'x and sin 2πω'x of each frequency over √L, a column for each point: Algorithm 2,
    /// line 4. Inner products of columns are the kernel's approximation. O(nLd).
    ///
    /// # Errors
    /// [`Refused::Ragged`] for points of another dimension, [`Refused::NotFinite`] for points that
    /// are not.
    pub fn columns(&self, points: &Points) -> Result<DMatrix<f64>, Refused> {
        same_dims(self.dims, points.dims())?;
        let scale = 1.0 / real(self.rows.len()).sqrt();
        let mut values = Vec::with_capacity(2 * self.rows.len() * points.len());
        for sample in points.rows() {
            for turns in self.turns(sample) {
                let (sin, cos) = (TAU * (turns - turns.round())).sin_cos();
                values.extend([scale * cos, scale * sin]);
            }
        }
        if values.iter().any(|value| !value.is_finite()) {
            return Err(Refused::NotFinite);
        }
        Ok(DMatrix::from_vec(2 * self.rows.len(), points.len(), values))
    }

    /// The sinusoids of a sample set: Algorithm 1, lines 4 and 5. O(nLd).
    ///
    /// # Errors
    /// [`Refused::Ragged`] for samples of another dimension.
    pub fn spectrum(&self, set: &Weighted) -> Result<Spectrum, Refused> {
        same_dims(self.dims, set.points().dims())?;
        let mut sums = vec![(0.0, 0.0); self.rows.len()];
        for (sample, weight) in set.iter() {
            for (sum, turns) in sums.iter_mut().zip(self.turns(sample)) {
                let (sin, cos) = (TAU * (turns - turns.round())).sin_cos();
                *sum = (sum.0 + weight * cos, sum.1 + weight * sin);
            }
        }
        let total = set.total();
        let sinusoid = |(cos, sin): (f64, f64)| Sinusoid {
            amplitude: cos.hypot(sin) / total,
            phase: sin.atan2(cos),
        };
        Ok(Spectrum {
            sinusoids: sums.into_iter().map(sinusoid).collect(),
            total,
            squares: set.squares(),
            samples: set.points().len(),
        })
    }
}

impl Spectrum {
    fn mean_of(&self, other: &Self, term: impl Fn(&Sinusoid, &Sinusoid) -> f64) -> f64 {
        let pairs = self.sinusoids.iter().zip(&other.sinusoids);
        pairs.map(|(a, b)| term(a, b)).sum::<f64>() / real(self.sinusoids.len())
    }

    /// ‖μ‖²/K(0) = ΣA²/L: the mean of the kernel over all pairs. O(L).
    #[must_use]
    pub fn squared_norm(&self) -> f64 {
        self.mean_of(self, |a, _| a.amplitude * a.amplitude)
    }

    /// ⟨μ₁, μ₂⟩/K(0) = ΣA₁A₂cos(θ₁ − θ₂)/L. O(L).
    #[must_use]
    pub fn inner_product(&self, other: &Self) -> f64 {
        self.mean_of(other, |a, b| a.amplitude * b.amplitude * (a.phase - b.phase).cos())
    }

    /// MMD_b²/K(0): Algorithm 1, line 8. O(L).
    #[must_use]
    pub fn biased(&self, other: &Self) -> f64 {
        self.mean_of(other, |a, b| {
            let amplitude = a.minus(b).amplitude;
            amplitude * amplitude
        })
    }

    /// The mean of the kernel over pairs of different samples: (A²‖μ‖² − Σa²)/(A² − Σa²), A = Σa.
    fn distinct(&self) -> f64 {
        let squared = self.total * self.total;
        (squared * self.squared_norm() - self.squares) / (squared - self.squares)
    }

    /// MMD_u²/K(0): Algorithm 1, line 9, by counting pairs. O(L).
    ///
    /// # Errors
    /// [`Refused::TooFewSamples`] for a set of one.
    pub fn unbiased(&self, other: &Self) -> Result<f64, Refused> {
        if self.samples < 2 || other.samples < 2 {
            return Err(Refused::TooFewSamples);
        }
        Ok(self.distinct() + other.distinct() - 2.0 * self.inner_product(other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exact;
    use crate::tolerance;

    fn random_set(generator: &mut Generator, count: usize) -> Result<Weighted, Refused> {
        let values = (0..3 * count).map(|_| generator.normal()).collect();
        let weights = (0..count).map(|_| 0.25 + generator.uniform()).collect();
        Weighted::new(Points::new(3, values)?, weights)
    }

    /// With the kernel of the features, Algorithm 1 equals the sum over all pairs.
    #[test]
    fn algorithm_1_is_the_sum_over_pairs_of_its_own_kernel() -> Result<(), Refused> {
        let mut generator = Generator::new(11);
        let rows = (0..32).map(|_| (0..3).map(|_| generator.normal()).collect());
        let frequencies = Frequencies::new(rows.collect())?;
        let own_kernel = |x: &[f64], y: &[f64]| {
            let difference: Vec<f64> = x.iter().zip(y).map(|(a, b)| a - b).collect();
            frequencies.mean_cosine(&difference)
        };
        let p = random_set(&mut generator, 20)?;
        let q = random_set(&mut generator, 30)?;
        let (a, b) = (frequencies.spectrum(&p)?, frequencies.spectrum(&q)?);
        let identity = tolerance::REFERENCE_IDENTITY;
        identity.hold("biased", a.biased(&b), exact::biased(&p, &q, own_kernel)?);
        let unbiased = exact::unbiased(&p, &q, own_kernel)?;
        identity.hold("unbiased", a.unbiased(&b)?, unbiased);
        let mean = exact::mean_kernel(&p, &q, own_kernel)?;
        identity.hold("inner product", a.inner_product(&b), mean);
        Ok(())
    }

    /// Definition 2 itself: the supremum of E sin(y − p) − E sin(y − q) over a grid of y.
    #[test]
    fn the_diameter_is_where_definition_2_is_largest() -> Result<(), Refused> {
        const STEPS: i32 = 100_000;
        let mut generator = Generator::new(12);
        let frequencies = Frequencies::new(vec![vec![0.3, -0.2, 0.1]])?;
        for _ in 0..10 {
            let (p, q) = (random_set(&mut generator, 12)?, random_set(&mut generator, 7)?);
            let mean = |set: &Weighted, y: f64| -> f64 {
                let one = |(x, a): (&[f64], f64)| -> f64 {
                    let turns: f64 = frequencies.turns(x).sum();
                    a * (y - TAU * turns).sin()
                };
                set.iter().map(one).sum::<f64>() / set.total()
            };
            let objective = |y: f64| mean(&p, y) - mean(&q, y);
            let grid = (-STEPS..STEPS).map(|step| PI * f64::from(step) / f64::from(STEPS));
            let best = grid.max_by(|a, b| objective(*a).total_cmp(&objective(*b)));
            let best = best.expect("a grid");
            let difference = frequencies.spectrum(&p)?.sinusoids[0]
                .minus(&frequencies.spectrum(&q)?.sinusoids[0]);
            let apart = (difference.diameter() - best).rem_euclid(TAU);
            tolerance::DIAMETER.hold_below("angle", apart.min(TAU - apart));
            tolerance::DIAMETER.hold("supremum", difference.amplitude, objective(best));
            // The control: at the phase itself, as the appendix has it, the objective is 0.
            tolerance::DIAMETER.hold("at θ", objective(difference.phase), 0.0);
            assert!(difference.amplitude > 100.0 * tolerance::DIAMETER.limit);
        }
        // P at 0 and Q at half a turn: the diameter is across, at a quarter.
        let [p, q] = [0.0, PI].map(|phase| Sinusoid { amplitude: 1.0, phase });
        tolerance::REFERENCE_IDENTITY.hold("across", p.minus(&q).diameter(), FRAC_PI_2);
        Ok(())
    }

    #[test]
    fn ragged_frequencies_and_samples_are_refused() -> Result<(), Refused> {
        assert_eq!(Frequencies::new(vec![]), Err(Refused::Empty));
        assert!(Frequencies::new(vec![vec![1.0], vec![1.0, 2.0]]).is_err());
        let frequencies = Frequencies::new(vec![vec![1.0]])?;
        let plane = Weighted::even(Points::new(2, vec![0.0; 4])?);
        assert!(frequencies.spectrum(&plane).is_err());
        Ok(())
    }
}
