//! Density estimation by a mixture whose embedding matches the sample's (Smola and others, 2007,
//! section 2.5).

use nalgebra::{DMatrix, DVector};

use crate::error::Refused;
use crate::exact;
use crate::kernel::gaussian;
use crate::points::{Points, Weighted, same_dims, unless_distribution};
use crate::population::Normal;
use crate::{real, simplex};

/// The shares β of normal candidates that minimise ‖μ_X − Σβᵢμᵢ‖² + λ‖β‖² for the Gaussian kernel
/// with bandwidth σ: ½βᵀ(Q + λI)β − lᵀβ over the simplex, where Q and l have closed forms
/// (equations 25 to 27). O(M² + Mn) of O(d) each.
///
/// # Errors
/// [`Refused::Empty`] without candidates, [`Refused::Ragged`] for candidates of another dimension,
/// [`Refused::BadParameter`] unless σ, λ and all deviations are positive, [`Refused::NotFinite`].
pub fn shares(
    sample: &Points,
    candidates: &[Normal],
    bandwidth: f64,
    lambda: f64,
) -> Result<Vec<f64>, Refused> {
    Refused::unless_positive("bandwidth", bandwidth)?;
    Refused::unless_positive("lambda", lambda)?;
    check(candidates, sample.dims())?;
    let (matrix, linear) = program(sample, candidates, bandwidth);
    let ridge = DMatrix::from_diagonal_element(candidates.len(), candidates.len(), lambda);
    simplex::minimise(&(matrix + ridge), &linear)
}

/// The shares β of normal candidates with the largest entropy −Σβ ln β among those with
/// ‖μ_X − Σβᵢμᵢ‖ ≤ `radius` (equation 21 over mixtures): as even as the sample allows. For a Gaussian
/// kernel with bandwidth σ. Newton's method for each of about 60 multipliers: O(M³) each, and O(n²)
/// kernel values once.
///
/// # Errors
/// Those of [`shares`], and [`Refused::BadParameter`] for a radius that is not positive, or so small
/// that no mixture is that near.
pub fn maximum_entropy(
    sample: &Points,
    candidates: &[Normal],
    bandwidth: f64,
    radius: f64,
) -> Result<Vec<f64>, Refused> {
    Refused::unless_positive("bandwidth", bandwidth)?;
    Refused::unless_positive("radius", radius)?;
    check(candidates, sample.dims())?;
    if candidates.is_empty() {
        return Err(Refused::Empty);
    }
    let (matrix, linear) = program(sample, candidates, bandwidth);
    let own = Weighted::even(sample.clone());
    let norm = exact::mean_kernel(&own, &own, gaussian(bandwidth))?;
    let squared =
        |b: &DVector<f64>| norm - 2.0 * linear.dot(b) + b.dot(&(&matrix * b)) - radius * radius;
    let even = DVector::repeat(candidates.len(), 1.0 / real(candidates.len()));
    if squared(&even) <= 0.0 {
        return Ok(even.iter().copied().collect());
    }
    // The larger the multiplier of the distance, the nearer the mixture.
    let (mut low, mut high) = (1e-6_f64, 1e10_f64);
    let mut best = None;
    let mut start = even;
    for _ in 0..60 {
        let middle = (low * high).sqrt();
        let found = even_within(&matrix, &linear, middle, &start)?;
        if squared(&found) <= 0.0 {
            high = middle;
            best = Some(found.clone());
        } else {
            low = middle;
        }
        start = found;
    }
    let best = best.ok_or(Refused::BadParameter { name: "radius" })?;
    Ok(best.iter().copied().collect())
}

/// Minimises Σβ ln β + τ(½βᵀQβ − lᵀβ) over the simplex by Newton's method.
fn even_within(
    matrix: &DMatrix<f64>,
    linear: &DVector<f64>,
    multiplier: f64,
    start: &DVector<f64>,
) -> Result<DVector<f64>, Refused> {
    let size = linear.len();
    let value = |b: &DVector<f64>| {
        let entropy: f64 = b.iter().map(|b| b * b.ln()).sum();
        entropy + multiplier * (0.5 * b.dot(&(matrix * b)) - linear.dot(b))
    };
    let mut shares = start.clone();
    for _ in 0..500 {
        let slope = shares.map(|b| b.ln() + 1.0) + (matrix * &shares - linear) * multiplier;
        let curvature = matrix * multiplier + DMatrix::from_diagonal(&shares.map(f64::recip));
        let factor = curvature.cholesky().ok_or(Refused::Singular)?;
        // The step that leaves Σβ as it is.
        let (down, ones) = (factor.solve(&slope), factor.solve(&DVector::repeat(size, 1.0)));
        let step = &ones * (down.sum() / ones.sum()) - down;
        let decrease = -slope.dot(&step);
        if decrease <= 1e-14 {
            break;
        }
        // Half as far until every share stays positive and the value falls enough.
        let mut length = 1.0;
        let now = value(&shares);
        loop {
            let next = &shares + &step * length;
            if next.iter().all(|b| *b > 0.0) && value(&next) <= now - 1e-4 * length * decrease {
                shares = next;
                break;
            }
            length *= 0.5;
            if length < 1e-12 {
                return Ok(shares);
            }
        }
    }
    Ok(shares)
}

/// Q and l of equations 26 and 27.
fn program(sample: &Points, candidates: &[Normal], bandwidth: f64) -> (DMatrix<f64>, DVector<f64>) {
    let size = candidates.len();
    let inner = |i: usize, j: usize| candidates[i].mean_gaussian_kernel(&candidates[j], bandwidth);
    let with_sample = |candidate: &Normal| {
        let point = |row: &[f64]| Normal { mean: row.to_vec(), deviation: vec![0.0; row.len()] };
        let rows = sample.rows().map(|x| point(x).mean_gaussian_kernel(candidate, bandwidth));
        rows.sum::<f64>() / real(sample.len())
    };
    let linear = DVector::from_iterator(size, candidates.iter().map(with_sample));
    (DMatrix::from_fn(size, size, inner), linear)
}

/// Refuses candidates that are not densities over `dims` channels.
fn check(candidates: &[Normal], dims: usize) -> Result<(), Refused> {
    for candidate in candidates {
        same_dims(dims, candidate.mean.len())?;
        same_dims(dims, candidate.deviation.len())?;
        Refused::unless_finite(&candidate.mean)?;
        for &deviation in &candidate.deviation {
            Refused::unless_positive("deviation", deviation)?;
        }
    }
    Ok(())
}

/// ‖μ_X − Σβᵢμᵢ‖: how far the embedding of a mixture of normal candidates is from that of the sample,
/// for the Gaussian kernel with bandwidth σ: the ε′ of [`expectation_error`]. In closed form, but for
/// O(n²) kernel values.
///
/// # Errors
/// [`Refused::Empty`] without candidates, [`Refused::Ragged`] unless there is a share for each and all
/// have the sample's dimension, [`Refused::BadWeight`] for shares that are no distribution,
/// [`Refused::BadParameter`] unless σ and all deviations are positive, [`Refused::NotFinite`].
pub fn distance(
    sample: &Points,
    shares: &[f64],
    candidates: &[Normal],
    bandwidth: f64,
) -> Result<f64, Refused> {
    Refused::unless_positive("bandwidth", bandwidth)?;
    check(candidates, sample.dims())?;
    if candidates.is_empty() {
        return Err(Refused::Empty);
    }
    same_dims(candidates.len(), shares.len())?;
    unless_distribution(shares)?;
    let (matrix, linear) = program(sample, candidates, bandwidth);
    let own = Weighted::even(sample.clone());
    let norm = exact::mean_kernel(&own, &own, gaussian(bandwidth))?;
    let b = DVector::from_column_slice(shares);
    Refused::if_finite((norm - 2.0 * linear.dot(&b) + b.dot(&(matrix * &b))).max(0.0).sqrt())
}

/// Lemma 1 (equation 28): how far the mean of any function f with ‖f‖ ≤ 1 under a fitted distribution may
/// be from that under the one which `samples` independent samples are of,
/// 2R_m + √(2·log(1/δ)/m) + ε′, with a probability of at least 1 − `probability`, for a kernel with
/// k(x, x) ≤ 1. The ε′ is [`distance`], and R_m the expected Rademacher average: what
/// [`rademacher_average`](crate::bounds::rademacher_average) is on average over samples, and at most
/// √(1/m). The lemma is printed without the factor 2 in the root, which bounded differences of 2/m give.
///
/// # Errors
/// [`Refused::Empty`] for no samples, [`Refused::BadLevel`], [`Refused::BadParameter`] unless ε′ and R_m
/// are 0 or more and finite.
pub fn expectation_error(
    samples: usize,
    rademacher: f64,
    distance: f64,
    probability: f64,
) -> Result<f64, Refused> {
    Refused::unless_level(probability)?;
    if samples == 0 {
        return Err(Refused::Empty);
    }
    for (name, value) in [("rademacher", rademacher), ("distance", distance)] {
        if !(value >= 0.0 && value.is_finite()) {
            return Err(Refused::BadParameter { name });
        }
    }
    Ok(2.0 * rademacher + (-2.0 * probability.ln() / real(samples)).sqrt() + distance)
}

/// The mixture's density at a point. O(Md).
///
/// # Errors
/// [`Refused::Ragged`] unless there is a share for each candidate and all have the point's
/// dimension, [`Refused::BadParameter`] unless all deviations are positive,
/// [`Refused::NotFinite`].
pub fn density(shares: &[f64], candidates: &[Normal], x: &[f64]) -> Result<f64, Refused> {
    same_dims(candidates.len(), shares.len())?;
    check(candidates, x.len())?;
    Refused::unless_finite(x.iter().chain(shares))?;
    let one = |candidate: &Normal| -> f64 {
        let channels = candidate.mean.iter().zip(&candidate.deviation).zip(x);
        let factor = |((mean, deviation), x): ((&f64, &f64), &f64)| {
            let z = (x - mean) / deviation;
            (-0.5 * z * z).exp() / (deviation * std::f64::consts::TAU.sqrt())
        };
        channels.map(factor).product()
    };
    let sum = shares.iter().zip(candidates).map(|(share, candidate)| share * one(candidate)).sum();
    Refused::if_finite(sum)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::Generator;
    use crate::tolerance;

    fn candidates() -> Vec<Normal> {
        let centres = [-4.0, -2.0, 0.0, 2.0, 4.0];
        centres.map(|centre| Normal { mean: vec![centre], deviation: vec![0.7] }).to_vec()
    }

    /// A mixture of two of five candidates, 0.3 and 0.7, is found again.
    #[test]
    fn a_known_mixture_is_found() -> Result<(), Refused> {
        let mut generator = Generator::new(31);
        let draw = |generator: &mut Generator| {
            let centre = if generator.uniform() < 0.3 { -2.0 } else { 2.0 };
            centre + 0.7 * generator.normal()
        };
        let sample = Points::new(1, (0..3000).map(|_| draw(&mut generator)).collect())?;
        let shares = shares(&sample, &candidates(), 0.7, 1e-6)?;
        for (share, truth) in shares.iter().zip([0.0, 0.3, 0.0, 0.7, 0.0]) {
            tolerance::MIXTURE_SHARE.hold("share", *share, truth);
        }
        // The density integrates to 1: rectangles of 0.01 from −10 to 10.
        let rectangles = (-1000..1000).map(|i| 0.01 * f64::from(i));
        let mut integral = 0.0;
        for x in rectangles {
            integral += 0.01 * density(&shares, &candidates(), &[x])?;
        }
        tolerance::QUANTILE.hold("integral", integral, 1.0);
        Ok(())
    }

    /// The distance in closed form is that of the sample from the mixture's density on a fine grid; and
    /// lemma 1 holds for a known mixture, whose error has a closed form too: the norm of what the shares
    /// are off by. Without ε′ it would not hold for a mixture that does not fit.
    #[test]
    fn means_under_a_mixture_are_within_lemma_1() -> Result<(), Refused> {
        const COUNT: usize = 400;
        let mut generator = Generator::new(33);
        let (candidates, truth) = (candidates(), [0.0, 0.3, 0.0, 0.7, 0.0]);
        let (matrix, _) = program(&Points::new(1, vec![0.0])?, &candidates, 0.7);
        let kernel = |x: &[f64; 1], y: &[f64; 1]| gaussian(0.7)(x, y);
        let mut averages = 0.0;
        for trial in 0..40 {
            let mut draw = || {
                let centre = if generator.uniform() < 0.3 { -2.0 } else { 2.0 };
                [centre + 0.7 * generator.normal()]
            };
            let values: Vec<[f64; 1]> = (0..COUNT).map(|_| draw()).collect();
            let sample = Points::new(1, values.concat())?;
            let average = crate::bounds::rademacher_average(&values, kernel, 5, &mut generator)?;
            averages += average / 40.0;
            // What fits, and all in one candidate, which does not.
            let fitted = shares(&sample, &candidates, 0.7, 1e-6)?;
            for (shares, fits) in [(fitted, true), (vec![0.0, 0.0, 1.0, 0.0, 0.0], false)] {
                let apart = distance(&sample, &shares, &candidates, 0.7)?;
                let off = DVector::from_iterator(5, shares.iter().zip(truth).map(|(b, t)| b - t));
                let error = off.dot(&(&matrix * &off)).sqrt();
                let bound = expectation_error(COUNT, average, apart, 0.05)?;
                tolerance::BOUND_KEPT.hold_below("lemma 1", error / bound);
                let without = expectation_error(COUNT, average, 0.0, 0.05)?;
                assert_eq!(error < without, fits, "{error} and {without}");
                if trial < 3 {
                    let grid: Vec<f64> = (-1000..=1000).map(|i| 0.01 * f64::from(i)).collect();
                    let heights: Vec<f64> = grid
                        .iter()
                        .map(|x| density(&shares, &candidates, &[*x]))
                        .collect::<Result<_, _>>()?;
                    let grid = Weighted::new(Points::new(1, grid)?, heights)?;
                    let own = Weighted::even(sample.clone());
                    let squared = exact::biased(&own, &grid, gaussian(0.7))?;
                    tolerance::QUANTILE.hold("distance²", apart * apart, squared);
                }
            }
        }
        tolerance::BOUND_KEPT.hold_below("R_m", averages * real(COUNT).sqrt());
        // By hand: 2·.1 + √(2·ln 20/200) + .05.
        let by_hand = 0.25 + (2.0 * 20.0_f64.ln() / 200.0).sqrt();
        let bound = expectation_error(200, 0.1, 0.05, 0.05)?;
        tolerance::REFERENCE_IDENTITY.hold("by hand", bound, by_hand);
        assert_eq!(expectation_error(0, 0.1, 0.0, 0.05), Err(Refused::Empty));
        assert_eq!(expectation_error(9, 0.1, 0.0, 1.0), Err(Refused::BadLevel));
        let bad = |name| Err(Refused::BadParameter { name });
        assert_eq!(expectation_error(9, f64::NAN, 0.0, 0.5), bad("rademacher"));
        assert_eq!(expectation_error(9, 0.1, -1.0, 0.5), bad("distance"));
        let sample = Points::new(1, vec![0.0, 1.0])?;
        let refused = |shares: &[f64]| distance(&sample, shares, &candidates, 0.7);
        assert_eq!(refused(&[0.5; 5]), Err(Refused::BadWeight));
        assert!(matches!(refused(&[1.0]), Err(Refused::Ragged { .. })));
        assert_eq!(distance(&sample, &[], &[], 0.7), Err(Refused::Empty));
        Ok(())
    }

    /// The wider the radius, the more even; no other mixture within the radius is more even.
    #[test]
    fn entropy_grows_with_the_radius() -> Result<(), Refused> {
        let mut generator = Generator::new(32);
        let values = (0..200).map(|i| if i % 3 == 0 { -2.0 } else { 2.0 } + generator.normal());
        let sample = Points::new(1, values.collect())?;
        let entropy = |b: &[f64]| -> f64 { b.iter().map(|b| -b * b.ln()).sum() };
        let (matrix, linear) = program(&sample, &candidates(), 0.7);
        let own = Weighted::even(sample.clone());
        let norm = exact::mean_kernel(&own, &own, gaussian(0.7))?;
        let mut last = 0.0;
        for radius in [0.1, 0.15, 0.25, 2.0] {
            let found = maximum_entropy(&sample, &candidates(), 0.7, radius)?;
            tolerance::QUANTILE.hold("Σβ", found.iter().sum(), 1.0);
            let own = entropy(&found);
            assert!(own > last, "{radius}: {own}");
            last = own;
            for _ in 0..200 {
                let other: Vec<f64> =
                    found.iter().map(|b| b * (0.1 * generator.normal()).exp()).collect();
                let total: f64 = other.iter().sum();
                let other: Vec<f64> = other.iter().map(|b| b / total).collect();
                let b = DVector::from_column_slice(&other);
                let squared = norm - 2.0 * linear.dot(&b) + b.dot(&(&matrix * &b));
                if squared <= radius * radius {
                    assert!(entropy(&other) <= own + tolerance::QUANTILE.limit);
                }
            }
        }
        tolerance::QUANTILE.hold("even", last, 5.0_f64.ln());
        let bad = Err(Refused::BadParameter { name: "radius" });
        assert_eq!(maximum_entropy(&sample, &candidates(), 0.7, 1e-6), bad);
        assert_eq!(maximum_entropy(&sample, &candidates(), 0.7, 0.0), bad);
        assert_eq!(maximum_entropy(&sample, &[], 0.7, 0.1), Err(Refused::Empty));
        Ok(())
    }

    #[test]
    fn bad_input_is_refused_by_name() -> Result<(), Refused> {
        let sample = Points::new(1, vec![0.0, 1.0])?;
        assert_eq!(shares(&sample, &[], 1.0, 0.1), Err(Refused::Empty));
        let bad = |name| Err(Refused::BadParameter { name });
        assert_eq!(shares(&sample, &candidates(), 0.0, 0.1), bad("bandwidth"));
        assert_eq!(shares(&sample, &candidates(), 1.0, 0.0), bad("lambda"));
        let plane = [Normal::standard(2)];
        assert!(matches!(shares(&sample, &plane, 1.0, 0.1), Err(Refused::Ragged { .. })));
        Ok(())
    }
}
