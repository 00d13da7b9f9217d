//! The paper's data, seeded. Every value is an `f32`, so that the core sees the same samples.

use std::f64::consts::FRAC_1_SQRT_2;

use crate::error::Refused;
use crate::generate::Generator;
use crate::points::{Points, same_dims};
use crate::population::Normal;
use crate::{real, single};

/// Samples from a function that appends one sample's values.
fn collect(
    dims: usize,
    count: usize,
    mut draw: impl FnMut(&mut Vec<f64>),
) -> Result<Points, Refused> {
    let mut values = Vec::with_capacity(dims * count);
    for _ in 0..count {
        draw(&mut values);
    }
    for value in &mut values {
        *value = f64::from(single(*value));
    }
    Points::new(dims, values)
}

/// Section 4.1: a 5 × 5 grid of normal blobs `spacing` apart. The covariance of each blob has
/// the eigenvalues `ratio` and 1, the larger along the diagonal; 1 gives the paper's P, 4 its Q.
///
/// # Errors
/// [`Refused::Empty`] for no samples.
pub fn blobs(
    generator: &mut Generator,
    count: usize,
    spacing: f64,
    ratio: f64,
) -> Result<Points, Refused> {
    collect(2, count, |values| {
        let centre = [generator.below(5), generator.below(5)].map(|i| spacing * real(i));
        let (long, short) = (ratio.sqrt() * generator.normal(), generator.normal());
        values.push(centre[0] + FRAC_1_SQRT_2 * (long - short));
        values.push(centre[1] + FRAC_1_SQRT_2 * (long + short));
    })
}

/// Section 4.2: uniform on the square [−5, 5]², inside (`true`) or outside (`false`) the ring
/// 1 ≤ x₁² + x₂² ≤ 16.
///
/// # Errors
/// [`Refused::Empty`] for no samples.
pub fn ring(generator: &mut Generator, count: usize, inside: bool) -> Result<Points, Refused> {
    collect(2, count, |values| {
        loop {
            let x = [(); 2].map(|()| 10.0 * generator.uniform() - 5.0);
            let squared = x[0] * x[0] + x[1] * x[1];
            if (1.0..=16.0).contains(&squared) == inside {
                values.extend(x);
                return;
            }
        }
    })
}

/// Section 4.3: uniform on the cube [`low`, `high`]^`dims`; [0, 0.95]^d against [0.95, 1]^d.
///
/// # Errors
/// [`Refused::Empty`] for no samples or channels.
pub fn cube(
    generator: &mut Generator,
    count: usize,
    dims: usize,
    low: f64,
    high: f64,
) -> Result<Points, Refused> {
    collect(dims, count, |values| {
        values.extend((0..dims).map(|_| low + (high - low) * generator.uniform()));
    })
}

/// Samples of a normal distribution: a change of mean and variance is two of these.
///
/// # Errors
/// [`Refused::Empty`] for no samples or channels, [`Refused::Ragged`] for a law of more means than
/// deviations or fewer.
pub fn normal(generator: &mut Generator, count: usize, law: &Normal) -> Result<Points, Refused> {
    same_dims(law.mean.len(), law.deviation.len())?;
    collect(law.mean.len(), count, |values| {
        let channels = law.mean.iter().zip(&law.deviation);
        values.extend(channels.map(|(m, s)| m + s * generator.normal()));
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rings_and_cubes_keep_to_their_sets() -> Result<(), Refused> {
        let mut generator = Generator::new(4);
        for inside in [true, false] {
            for row in ring(&mut generator, 1000, inside)?.rows() {
                let squared: f64 = row.iter().map(|x| x * x).sum();
                assert_eq!((1.0..=16.0).contains(&squared), inside);
                assert!(row.iter().all(|x| x.abs() <= 5.0));
            }
        }
        let points = cube(&mut generator, 1000, 3, 0.95, 1.0)?;
        assert!(points.rows().flatten().all(|x| (0.949..=1.001).contains(x)));
        Ok(())
    }

    #[test]
    fn blobs_have_the_ratio_along_the_diagonal() -> Result<(), Refused> {
        let points = blobs(&mut Generator::new(5), 20_000, 100.0, 4.0)?;
        let variance = |along: fn(f64, f64) -> f64| {
            let squares = points.rows().map(|row| {
                // The offset from the nearest centre of the grid.
                let [x, y] = [row[0], row[1]].map(|v| v - 100.0 * (v / 100.0).round());
                along(x, y) * along(x, y) / 2.0
            });
            squares.sum::<f64>() / real(points.len())
        };
        let ratio = variance(|x, y| x + y) / variance(|x, y| x - y);
        crate::tolerance::BLOB_RATIO.hold("ratio", ratio, 4.0);
        Ok(())
    }

    #[test]
    fn the_same_seed_gives_the_same_samples() -> Result<(), Refused> {
        let draw = |seed| blobs(&mut Generator::new(seed), 50, 10.0, 4.0);
        assert_eq!(draw(1)?, draw(1)?);
        assert_ne!(draw(1)?, draw(2)?);
        Ok(())
    }
}
