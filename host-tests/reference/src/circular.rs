//! Ensembles of circular discrepancy beyond MMD, as proposed in the FastMMD paper's section 3.3:
//! other distances on the circle, and other norms over the circles.
//!
//! Each frequency maps the samples to a circle of one turn. The sine distance and the L2 norm give
//! MMD.

use crate::error::Refused;
use crate::features::Frequencies;
use crate::generate::Generator;
use crate::null::Null;
use crate::points::{Points, same_dims};
use crate::real;
use std::f64::consts::TAU;

/// The distance of two sets on one circle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Distance {
    /// As in the paper: the amplitude of the difference of the mean sinusoids.
    Sine,
    /// Mallows' or earth mover's distance along the circle, in turns: min over c of
    /// ∫|F₁ − F₂ − c| (Werman and others, 1986).
    Mallows,
}

/// How the distances on all circles are combined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Norm {
    /// The mean.
    L1,
    /// The root of the mean square.
    L2,
    /// The largest.
    Largest,
}

/// One circle: all samples in the order in which they lie on it.
#[derive(Debug, Clone)]
struct Circle {
    order: Vec<usize>,
    /// From each of them to the next around the circle, in turns.
    gaps: Vec<f64>,
    /// sin and cos of each sample, in the order of the samples.
    points: Vec<(f64, f64)>,
}

/// Both sets, wrapped around a circle for each frequency.
#[derive(Debug, Clone)]
pub struct Ensemble {
    circles: Vec<Circle>,
    first: usize,
    samples: usize,
}

impl Ensemble {
    /// Wraps two sets. O(NLd + LN log N).
    ///
    /// # Errors
    /// [`Refused::Ragged`] for points of another dimension than the frequencies,
    /// [`Refused::NotFinite`].
    pub fn new(frequencies: &Frequencies, p: &Points, q: &Points) -> Result<Self, Refused> {
        same_dims(frequencies.dims(), p.dims())?;
        same_dims(frequencies.dims(), q.dims())?;
        let turns: Vec<Vec<f64>> =
            p.rows().chain(q.rows()).map(|row| frequencies.turns(row).collect()).collect();
        if turns.iter().flatten().any(|turn| !turn.is_finite()) {
            return Err(Refused::NotFinite);
        }
        let circle = |index: usize| {
            let places: Vec<f64> = turns.iter().map(|t| t[index] - t[index].floor()).collect();
            let mut order: Vec<usize> = (0..places.len()).collect();
            order.sort_unstable_by(|&a, &b| places[a].total_cmp(&places[b]));
            let next = order.iter().skip(1).map(|&i| places[i]).chain([1.0 + places[order[0]]]);
            let gaps = order.iter().zip(next).map(|(&i, next)| next - places[i]).collect();
            let points = places.iter().map(|place| (TAU * place).sin_cos()).collect();
            Circle { order, gaps, points }
        };
        Ok(Self {
            circles: (0..frequencies.rows().len()).map(circle).collect(),
            first: p.len(),
            samples: turns.len(),
        })
    }

    /// The discrepancy of the two sets.
    #[must_use]
    pub fn discrepancy(&self, distance: Distance, norm: Norm) -> f64 {
        let in_first: Vec<bool> = (0..self.samples).map(|index| index < self.first).collect();
        norm.of(&self.distances(&in_first, distance))
    }

    /// Its distribution if both sets come from one distribution, by `shuffles` random splits.
    ///
    /// # Errors
    /// [`Refused::BadParameter`] for no shuffles.
    pub fn null(
        &self,
        distance: Distance,
        norm: Norm,
        shuffles: usize,
        generator: &mut Generator,
    ) -> Result<Null, Refused> {
        let [null] = self.nulls(distance, [norm], shuffles, generator)?;
        Ok(null)
    }

    /// As [`null`](Self::null) for several norms over the same splits, at the cost of one.
    ///
    /// # Errors
    /// [`Refused::BadParameter`] for no shuffles.
    pub fn nulls<const N: usize>(
        &self,
        distance: Distance,
        norms: [Norm; N],
        shuffles: usize,
        generator: &mut Generator,
    ) -> Result<[Null; N], Refused> {
        if shuffles == 0 {
            return Err(Refused::BadParameter { name: "draws" });
        }
        let mut drawn = [(); N].map(|()| Vec::with_capacity(shuffles));
        for _ in 0..shuffles {
            let mut in_first = vec![false; self.samples];
            for index in generator.order(self.samples).into_iter().take(self.first) {
                in_first[index] = true;
            }
            let distances = self.distances(&in_first, distance);
            for (drawn, norm) in drawn.iter_mut().zip(norms) {
                drawn.push(norm.of(&distances));
            }
        }
        let mut nulls = Vec::with_capacity(N);
        for values in drawn {
            nulls.push(Null::drawn(values)?);
        }
        nulls.try_into().map_err(|_| Refused::Empty)
    }

    /// How far apart the sets are on each circle.
    fn distances(&self, in_first: &[bool], distance: Distance) -> Vec<f64> {
        let step = [1.0 / real(self.first), -1.0 / real(self.samples - self.first)];
        let weight = |index: usize| if in_first[index] { step[0] } else { step[1] };
        let one = |circle: &Circle| match distance {
            Distance::Sine => circle.sine(weight),
            Distance::Mallows => circle.mallows(weight),
        };
        self.circles.iter().map(one).collect()
    }
}

impl Norm {
    fn of(self, values: &[f64]) -> f64 {
        let count = real(values.len());
        match self {
            Self::L1 => values.iter().sum::<f64>() / count,
            Self::L2 => (values.iter().map(|value| value * value).sum::<f64>() / count).sqrt(),
            Self::Largest => values.iter().copied().fold(0.0, f64::max),
        }
    }
}

impl Circle {
    fn sine(&self, weight: impl Fn(usize) -> f64) -> f64 {
        let (mut cos, mut sin) = (0.0, 0.0);
        for (index, point) in self.points.iter().enumerate() {
            sin += weight(index) * point.0;
            cos += weight(index) * point.1;
        }
        f64::hypot(cos, sin)
    }

    /// F₁ − F₂ is constant between neighbours, so that the best c is its median, weighted by the
    /// gaps. O(N log N).
    fn mallows(&self, weight: impl Fn(usize) -> f64) -> f64 {
        let mut level = 0.0;
        let mut steps: Vec<(f64, f64)> = Vec::with_capacity(self.order.len());
        for (&index, &gap) in self.order.iter().zip(&self.gaps) {
            level += weight(index);
            steps.push((level, gap));
        }
        steps.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        let mut passed = 0.0;
        let median = steps.iter().find(|(_, gap)| {
            passed += gap;
            passed >= 0.5
        });
        let centre = median.map_or(0.0, |(level, _)| *level);
        steps.iter().map(|(level, gap)| (level - centre).abs() * gap).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::points::Weighted;
    use crate::tolerance;

    fn points(generator: &mut Generator, count: usize, deviation: f64) -> Result<Points, Refused> {
        Points::new(2, (0..2 * count).map(|_| deviation * generator.normal()).collect())
    }

    #[test]
    fn sine_and_l2_are_mmd() -> Result<(), Refused> {
        let mut generator = Generator::new(51);
        let (p, q) = (points(&mut generator, 30, 1.0)?, points(&mut generator, 20, 2.0)?);
        let frequencies = Frequencies::gaussian(&mut generator, 16, 2, 1.0)?;
        let ensemble = Ensemble::new(&frequencies, &p, &q)?;
        let value = ensemble.discrepancy(Distance::Sine, Norm::L2);
        let spectra = [p, q].map(|set| frequencies.spectrum(&Weighted::even(set)));
        let [Ok(p), Ok(q)] = &spectra else { return Err(Refused::Empty) };
        tolerance::REFERENCE_IDENTITY.hold("MMD_b²", value * value, p.biased(q));
        let [mean, largest] =
            [Norm::L1, Norm::Largest].map(|norm| ensemble.discrepancy(Distance::Sine, norm));
        assert!(mean < value && value < largest);
        Ok(())
    }

    /// Against the definition: the least cost over all ways to match equal numbers of points.
    #[test]
    fn mallows_is_the_cheapest_matching() -> Result<(), Refused> {
        let mut generator = Generator::new(52);
        let frequencies = Frequencies::new(vec![vec![1.0]])?;
        for _ in 0..200 {
            let mut set = || -> Vec<f64> { (0..4).map(|_| generator.uniform()).collect() };
            let (a, b) = (set(), set());
            let arc = |x: f64, y: f64| (x - y).abs().min(1.0 - (x - y).abs());
            let mut cheapest = f64::INFINITY;
            for code in 0..256_usize {
                let to = [code & 3, code >> 2 & 3, code >> 4 & 3, code >> 6];
                if (0..4).all(|j| to.contains(&j)) {
                    let cost: f64 = a.iter().zip(to).map(|(x, j)| arc(*x, b[j])).sum();
                    cheapest = cheapest.min(cost / 4.0);
                }
            }
            let ensemble = Ensemble::new(&frequencies, &Points::new(1, a)?, &Points::new(1, b)?)?;
            let value = ensemble.discrepancy(Distance::Mallows, Norm::L1);
            tolerance::REFERENCE_IDENTITY.hold("cost", value, cheapest);
        }
        Ok(())
    }

    #[test]
    fn bad_input_is_refused() -> Result<(), Refused> {
        let frequencies = Frequencies::new(vec![vec![1.0]])?;
        let plane = Points::new(2, vec![0.0; 4])?;
        assert!(Ensemble::new(&frequencies, &plane, &plane).is_err());
        let line = Points::new(1, vec![0.0, 0.3])?;
        let ensemble = Ensemble::new(&frequencies, &line, &line)?;
        let none = ensemble.null(Distance::Sine, Norm::L1, 0, &mut Generator::new(1));
        assert!(none.is_err());
        Ok(())
    }
}
