//! Feature selection: which channels predict a label best? Backward elimination by HSIC, BAHSIC
//! (Smola and others, 2007, section 2.4), and its special cases with linear kernels.

use nalgebra::DMatrix;

use crate::error::Refused;
use crate::hsic::{ExactPairs, Pairs};
use crate::null::symmetric;
use crate::points::{Points, same_dims};
use crate::real;

/// The channels in the order of elimination: each time, the one without which HSIC between the rest
/// and the labels is largest. The last is the most relevant. `kernel` gets the remaining channels.
/// O(d²m²) kernel values.
///
/// # Errors
/// [`Refused::Ragged`] if the label kernel is not m × m, [`Refused::TooFewSamples`] for one
/// sample, [`Refused::NotFinite`] if a kernel is not, or its sums overflow.
pub fn backward_elimination(
    points: &Points,
    labels: &DMatrix<f64>,
    kernel: impl Fn(&[f64], &[f64]) -> f64,
) -> Result<Vec<usize>, Refused> {
    let mut left: Vec<usize> = (0..points.dims()).collect();
    // Bad labels are refused even if there is nothing to choose.
    dependence(points, &left, labels, &kernel)?;
    let mut given_up = Vec::new();
    while left.len() > 1 {
        let mut best = (f64::NEG_INFINITY, 0);
        for place in 0..left.len() {
            let kept: Vec<usize> =
                left.iter().enumerate().filter(|&(at, _)| at != place).map(|(_, &c)| c).collect();
            let value = dependence(points, &kept, labels, &kernel)?;
            if value > best.0 {
                best = (value, place);
            }
        }
        given_up.push(left.remove(best.1));
    }
    given_up.extend(left);
    Ok(given_up)
}

/// m²·HSIC = tr(KHLH) between some channels and the labels. O(m²) kernel values.
///
/// # Errors
/// As [`backward_elimination`], [`Refused::Empty`] without channels, and
/// [`Refused::BadParameter`] for a channel that does not exist.
pub fn dependence(
    points: &Points,
    channels: &[usize],
    labels: &DMatrix<f64>,
    kernel: impl Fn(&[f64], &[f64]) -> f64,
) -> Result<f64, Refused> {
    if channels.is_empty() {
        return Err(Refused::Empty);
    }
    if channels.iter().any(|&channel| channel >= points.dims()) {
        return Err(Refused::BadParameter { name: "channels" });
    }
    let part = |row: &[f64]| -> Vec<f64> { channels.iter().map(|&c| row[c]).collect() };
    let rows: Vec<Vec<f64>> = points.rows().map(part).collect();
    let gram = symmetric(&rows.iter().collect::<Vec<_>>(), |x, y| kernel(x, y))?;
    let count = real(points.len());
    Refused::if_finite(ExactPairs::from_gram(gram, labels.clone())?.hsic()? * count * count)
}

/// ⟨x, y⟩, with which BAHSIC scores channels one by one.
#[must_use]
pub fn linear_kernel(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(a, b)| a * b).sum()
}

/// Channels minus their means, divided by their deviations (with 1/m).
///
/// # Errors
/// [`Refused::Constant`] for a channel that does not vary, [`Refused::NotFinite`] for one whose
/// values or squares are not.
pub fn standardised(points: &Points) -> Result<Points, Refused> {
    let count = real(points.len());
    let mut values: Vec<f64> = points.rows().flatten().copied().collect();
    for channel in 0..points.dims() {
        let own = || points.rows().map(|row| row[channel]);
        let mean = own().sum::<f64>() / count;
        let deviation = (own().map(|x| (x - mean).powi(2)).sum::<f64>() / count).sqrt();
        if Refused::if_finite(deviation)? <= 0.0 {
            return Err(Refused::Constant);
        }
        for value in values.iter_mut().skip(channel).step_by(points.dims()) {
            *value = (*value - mean) / deviation;
        }
    }
    Points::new(points.dims(), values)
}

/// Pearson's correlation of each channel with a label (equation 10).
///
/// # Errors
/// [`Refused::Ragged`] for another number of labels, [`Refused::Constant`] for a channel or a
/// label that does not vary, [`Refused::NotFinite`].
pub fn pearson(points: &Points, labels: &[f64]) -> Result<Vec<f64>, Refused> {
    same_dims(points.len(), labels.len())?;
    let (x, y) = (standardised(points)?, standardised(&Points::new(1, labels.to_vec())?)?);
    let correlation = |channel: usize| {
        let products = x.rows().zip(y.rows()).map(|(x, y)| x[channel] * y[0]);
        products.sum::<f64>() / real(points.len())
    };
    Ok((0..points.dims()).map(correlation).collect())
}

/// The difference of the means of both classes in each channel.
///
/// # Errors
/// [`Refused::Ragged`] for another number of labels, [`Refused::Empty`] for an empty class,
/// [`Refused::NotFinite`].
pub fn centroids(points: &Points, positive: &[bool]) -> Result<Vec<f64>, Refused> {
    let sizes = class_sizes(points.len(), positive)?;
    let mut difference = vec![0.0; points.dims()];
    for (row, &positive) in points.rows().zip(positive) {
        let weight = if positive { 1.0 / sizes[0] } else { -1.0 / sizes[1] };
        for (sum, x) in difference.iter_mut().zip(row) {
            *sum += weight * x;
        }
    }
    Refused::unless_finite(&difference)?;
    Ok(difference)
}

/// The label kernel yy'/(m_y·m_y') that makes BAHSIC the centroid criterion (before equation 14).
///
/// # Errors
/// As [`centroids`].
pub fn centroid_kernel(positive: &[bool]) -> Result<DMatrix<f64>, Refused> {
    let sizes = class_sizes(positive.len(), positive)?;
    let weight = |index: usize| if positive[index] { 1.0 / sizes[0] } else { -1.0 / sizes[1] };
    Ok(DMatrix::from_fn(positive.len(), positive.len(), |i, j| weight(i) * weight(j)))
}

pub(crate) fn class_sizes(samples: usize, positive: &[bool]) -> Result<[f64; 2], Refused> {
    same_dims(samples, positive.len())?;
    let count = positive.iter().filter(|&&label| label).count();
    if count == 0 || count == positive.len() {
        return Err(Refused::Empty);
    }
    Ok([real(count), real(positive.len() - count)])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::Generator;
    use crate::kernel::gaussian;
    use crate::tolerance;

    /// Six channels; channel 4 predicts the label best, then channel 1, and the others not at all.
    fn labelled(generator: &mut Generator) -> Result<(Points, Vec<bool>), Refused> {
        let positive: Vec<bool> = (0..80).map(|_| generator.below(2) == 1).collect();
        let mut values = Vec::new();
        for &label in &positive {
            let sign = if label { 1.0 } else { -1.0 };
            for shift in [0.0, 0.6, 0.0, 0.0, 1.2, 0.0] {
                values.push(sign * shift + generator.normal());
            }
        }
        Ok((Points::new(6, values)?, positive))
    }

    fn signs(positive: &[bool]) -> Vec<f64> {
        positive.iter().map(|&label| if label { 1.0 } else { -1.0 }).collect()
    }

    /// Channels by the size of a score, smallest first.
    fn by_size(scores: &[f64]) -> Vec<usize> {
        let mut order: Vec<usize> = (0..scores.len()).collect();
        order.sort_by(|&a, &b| scores[a].abs().total_cmp(&scores[b].abs()));
        order
    }

    /// Equation 13: tr KHLH = m²·ΣR² for standardised channels and labels.
    #[test]
    fn pearson_is_a_special_case() -> Result<(), Refused> {
        let (points, positive) = labelled(&mut Generator::new(41))?;
        let scores = pearson(&points, &signs(&positive))?;
        let channels = standardised(&points)?;
        let y = standardised(&Points::new(1, signs(&positive))?)?;
        let y: Vec<f64> = y.rows().flatten().copied().collect();
        let labels = DMatrix::from_fn(80, 80, |i, j| y[i] * y[j]);
        let all: Vec<usize> = (0..6).collect();
        let trace = dependence(&channels, &all, &labels, linear_kernel)?;
        let sum: f64 = scores.iter().map(|r| r * r).sum();
        tolerance::SELECTION.hold("ΣR²", trace / 6400.0, sum);
        let order = backward_elimination(&channels, &labels, linear_kernel)?;
        assert_eq!(order, by_size(&scores));
        Ok(())
    }

    /// Equation 15: tr KHLH = Σ(x₊ − x₋)².
    #[test]
    fn the_centroid_is_a_special_case() -> Result<(), Refused> {
        let (points, positive) = labelled(&mut Generator::new(42))?;
        let scores = centroids(&points, &positive)?;
        let labels = centroid_kernel(&positive)?;
        let all: Vec<usize> = (0..6).collect();
        let trace = dependence(&points, &all, &labels, linear_kernel)?;
        let sum: f64 = scores.iter().map(|v| v * v).sum();
        tolerance::SELECTION.hold("Σ(x₊ − x₋)²", trace, sum);
        let order = backward_elimination(&points, &labels, linear_kernel)?;
        assert_eq!(order, by_size(&scores));
        Ok(())
    }

    /// The label is the sign of a product: no single channel predicts it, two together do.
    #[test]
    fn a_gaussian_kernel_finds_what_linear_scores_cannot() -> Result<(), Refused> {
        let mut generator = Generator::new(43);
        let values: Vec<f64> = (0..5 * 150).map(|_| generator.normal()).collect();
        let points = Points::new(5, values)?;
        let y: Vec<f64> = points.rows().map(|row| (row[1] * row[3]).signum()).collect();
        let labels = DMatrix::from_fn(150, 150, |i, j| f64::from(u8::from(y[i] * y[j] > 0.0)));
        let order = backward_elimination(&points, &labels, gaussian(1.5))?;
        let mut last = order[3..].to_vec();
        last.sort_unstable();
        assert_eq!(last, [1, 3]);
        Ok(())
    }

    #[test]
    fn bad_input_is_refused_by_name() -> Result<(), Refused> {
        let points = Points::new(2, vec![1.0, 2.0, 1.0, 4.0])?;
        assert_eq!(pearson(&points, &[1.0, 2.0]), Err(Refused::Constant));
        assert!(matches!(pearson(&points, &[1.0]), Err(Refused::Ragged { .. })));
        assert_eq!(centroids(&points, &[true, true]), Err(Refused::Empty));
        let three = DMatrix::zeros(3, 3);
        let ragged = backward_elimination(&points, &three, linear_kernel);
        assert!(matches!(ragged, Err(Refused::Ragged { .. })));
        Ok(())
    }
}
