//! What several devices learned: how different it is, and all of it as one reference.

use crate::condition::View;
use crate::error::Error;
use crate::features::FeatureMap;
use crate::features::sincos::SinCos;
use crate::numeric::{larger, row_count};
use crate::shape::{Length, Per};

use super::attribution::evidence;
use super::bank::Features;
use super::comparison::{Baseline, Comparison};
use super::detector::Detector;
use super::verdict::Stage;

/// How far the references of two detectors are apart.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub struct Difference {
    /// MMD_b² of the two references.
    pub squared: f32,
    /// What it is on average for two references of the same distribution, as autocorrelated as
    /// the healthy rows of these two detectors were.
    pub expected: f32,
    /// The probability of at least `squared` if both distributions are the same: the larger of
    /// what the two detectors make of it.
    pub p_value: f32,
}

/// A number for each channel of a view: `[f32; C]`.
type PerChannel<V> = <<V as View>::Channels as Length>::Of<f32>;

impl<M, V, W> Detector<'_, M, V, W>
where
    M: FeatureMap<Inputs = V::Inputs, Backend: SinCos>,
    V: View,
    W: Length,
{
    /// The mean and the standard deviation of each channel by which rows are standardised, in
    /// units of the input; `None` while scaling.
    #[must_use]
    pub fn scale(&self) -> Option<(PerChannel<V>, PerChannel<V>)> {
        if self.state.stage == Stage::Scaling {
            return None;
        }
        let condition = &self.state.condition;
        let (mut means, mut deviations) =
            (condition.scaling.gains.like(0.0), condition.scaling.gains.like(0.0));
        for (mean, learned) in means.iter_mut().zip(condition.scaling.scale.means().as_ref()) {
            *mean = *learned;
        }
        for (deviation, gain) in deviations.iter_mut().zip(condition.scaling.gains.iter()) {
            *deviation = 1.0 / gain.0;
        }
        Some((means.0, deviations.0))
    }

    /// The bandwidth of the kernel in standard deviations of a channel, of a family the widest;
    /// `None` while scaling.
    #[must_use]
    pub fn bandwidth(&self) -> Option<f32> {
        let scaled = self.state.stage != Stage::Scaling;
        let inverse_bandwidth = self.state.condition.scaling.inverse_bandwidth.0;
        scaled.then(|| self.map.recipe().kernel.bandwidth() / inverse_bandwidth)
    }

    /// Rows in the reference.
    #[must_use]
    pub fn reference_rows(&self) -> u32 {
        self.state.comparison.reference.rows
    }

    /// Forgets everything learned but the scale, and learns anew by it: the references of
    /// detectors with a common scale can be [compared](Self::difference) and
    /// [merged](Self::merge). Rows go on being counted. While scaling, as
    /// [`relearn`](Self::relearn).
    pub fn relearn_reference(&mut self) {
        if self.state.stage == Stage::Scaling {
            return self.relearn();
        }
        let scaling = self.state.condition.scaling.clone();
        self.relearn();
        self.state.condition.scaling = scaling;
        self.state.stage = Stage::Learning;
    }

    /// How different what two detectors learned is: R = MMD_b²/(Σa² + Σb²), a and b being the
    /// weights of the rows in each reference, against what R of the longest window was while
    /// all was well. O(L).
    ///
    /// # Errors
    /// [`Error::NotLearned`] before both have learned, [`Error::NotComparable`] if settings or
    /// scale differ, [`Error::MapMismatch`]; [`Error::WrongShape`] for another number of channels
    /// or windows, or another view, where the types do not say so.
    pub fn difference(&self, other: &Self) -> Result<Difference, Error> {
        self.check_comparable(other)?;
        let (own, theirs) = (&self.state.comparison.reference, &other.state.comparison.reference);
        let normaliser = own.weight_squares.0 + theirs.weight_squares.0;
        let distance = own.mean.squared_distance(&theirs.mean);
        let (mut p_value, mut usual) = (0.0_f32, 0.0_f32);
        for detector in [self, other] {
            let windows = &detector.state.comparison.windows;
            if let Some((window, length)) = windows.last().zip(detector.config.lengths().last()) {
                p_value = p_value.max(window.null.p_value(*length, distance / normaliser));
                usual = usual.max(window.null.mean);
            }
        }
        let amplitude = self.map.recipe().kernel.amplitude();
        let (squared, expected) = (amplitude * distance, amplitude * usual * normaliser);
        Ok(Difference { squared, expected, p_value })
    }

    /// Takes what another detector learned into this one's reference, each by its number of rows.
    /// Thresholds are set for windows of either device against the common reference, which is
    /// farther from each of them than its own was: R' ≤ (√R + √δ)² for a reference δ away. Each
    /// window's threshold is the larger of what both devices need and what they need together.
    ///
    /// What this one's view has learned stays as it is: with innovations, rows of the other device
    /// then go through this one's predictor, so only devices that predict alike should be merged.
    /// Monitoring begins anew. O(W·(L + C)).
    ///
    /// # Errors
    /// As [`difference`](Self::difference); the detector is then as it was.
    pub fn merge(&mut self, other: &Self) -> Result<(), Error> {
        self.check_comparable(other)?;
        let theirs = &other.state.comparison;
        let Comparison { reference, bank, windows, .. } = &mut self.state.comparison;
        let joined = reference.joined(&theirs.reference);
        let kept = 1.0 - reference.share_of(&theirs.reference);
        let own_away = reference.mean.squared_distance(&joined.mean);
        let other_away = theirs.reference.mean.squared_distance(&joined.mean);
        let squares = joined.weight_squares.0;
        let distances = bank.distances(&joined.mean);
        let rules = self.config.rules();
        let usual =
            self.state.attribution.usual.iter_mut().zip(other.state.attribution.usual.iter());
        let windows = windows.iter_mut().zip(theirs.windows.iter()).zip(usual);
        let lengths = self.config.lengths().iter().zip(distances.iter());
        for (((window, theirs), (usual, their_usual)), (length, distance)) in windows.zip(lengths) {
            window.share_in_part(kept, squares, *distance);
            let normaliser = window.normaliser(squares);
            let own = window.null.seen_from(own_away / normaliser);
            let share = row_count(theirs.null.rows)
                / (row_count(theirs.null.rows) + row_count(own.rows)).max(1.0);
            let others = theirs.null.seen_from(other_away / normaliser);
            window.null = own.pooled(&others);
            // Pooled alone, a quiet device would lower the threshold of a noisy one.
            let needed = [&own, &others, &window.null].map(|null| rules.threshold(null, *length));
            window.threshold.0 = needed.into_iter().fold(0.0, f32::max);
            let own_evidence = evidences(&reference.mean, &joined.mean);
            let other_evidence = evidences(&other.state.comparison.reference.mean, &joined.mean);
            let usual = usual.iter_mut().flatten().zip(their_usual.iter().flatten());
            let found = own_evidence.iter().flatten().zip(other_evidence.iter().flatten());
            for ((usual, theirs), (own, other)) in usual.zip(found) {
                *usual = (1.0 - share) * (*usual + own / normaliser)
                    + share * (theirs + other / normaliser);
            }
        }
        *reference = joined;
        let condition = &mut self.state.condition;
        condition.gate.join(&other.state.condition.gate);
        let stillness = condition.stillness.iter_mut().zip(other.state.condition.stillness.iter());
        for (stillness, theirs) in stillness {
            stillness.allow(theirs);
        }
        self.state.previous.clear();
        self.state.last_alarm = None;
        self.state.stage = Stage::Monitoring;
        Ok(())
    }

    fn check_comparable(&self, other: &Self) -> Result<(), Error> {
        if self.map.fingerprint() != other.map.fingerprint() {
            return Err(Error::MapMismatch);
        }
        if self.shape() != other.shape() {
            return Err(Error::WrongShape);
        }
        if !self.state.stage.is_learned() || !other.state.stage.is_learned() {
            return Err(Error::NotLearned);
        }
        let (own, theirs) = (&self.state.condition.scaling, &other.state.condition.scaling);
        let same = self.config == other.config
            && same(own.scale.means().as_ref(), theirs.scale.means().as_ref())
            && own.gains.iter().zip(theirs.gains.iter()).all(|(a, b)| same(&[a.0], &[b.0]))
            && same(&[own.inverse_bandwidth.0], &[theirs.inverse_bandwidth.0]);
        if same { Ok(()) } else { Err(Error::NotComparable) }
    }
}

/// The evidence of each channel of some mean features against others.
fn evidences<C: Length, F: Length>(
    features: &Features<C, F>,
    reference: &Features<C, F>,
) -> Per<C, [f32; 4]> {
    let mut all = features.axes.like([0.0; 4]);
    let axes = features.axes.iter().zip(reference.axes.iter());
    for (found, (axis, reference)) in all.iter_mut().zip(axes) {
        *found = evidence(axis, reference);
    }
    all
}

/// Whether two scales are the same bit for bit.
#[inline]
fn same(a: &[f32], b: &[f32]) -> bool {
    a.iter().zip(b).all(|(a, b)| a.to_bits() == b.to_bits())
}

impl<C: Length, F: Length> Baseline<Features<C, F>> {
    /// The weight of another reference in the mean of both.
    fn share_of(&self, other: &Self) -> f32 {
        row_count(other.rows) / larger(row_count(other.rows) + row_count(self.rows), 1.0)
    }

    /// The mean of both, each by its number of rows.
    fn joined(&self, other: &Self) -> Self {
        let share = self.share_of(other);
        let mut joined = self.clone();
        joined.mean.blend(&other.mean, share);
        let (own, others) = (self.weight_squares.0, other.weight_squares.0);
        joined.weight_squares.0 = (1.0 - share) * (1.0 - share) * own + share * share * others;
        joined.rows = self.rows.saturating_add(other.rows);
        joined
    }
}

// Thousands of rows each: too slow when interpreted.
#[cfg(all(test, not(miri)))]
mod tests {
    use super::*;
    use crate::condition::Raw;
    use crate::monitor::Policy;
    use crate::shape::Windows;
    use crate::{Config, Fourier, Verdict};
    use rand_core::{Rng, SeedableRng};
    use rand_xorshift::XorShiftRng;
    use std::vec::Vec;

    static MAP: Fourier<2, 32> = Fourier::gaussian(1);
    static OTHER: Fourier<2, 32> = Fourier::gaussian(2);
    type Small = Detector<'static, Fourier<2, 32>, Raw<2>, Windows<2>>;

    /// Uniform noise around a level in the first channel.
    fn run(detector: &mut Small, rng: &mut XorShiftRng, rows: usize, level: f32) -> usize {
        let mut alarms = 0;
        for _ in 0..rows {
            let mut row = [0; 2].map(|_| rng.next_u32() as f32 / u32::MAX as f32);
            row[0] += level;
            alarms += usize::from(matches!(detector.push(&row), Ok(Verdict::Alarm(_))));
        }
        alarms
    }

    fn fresh() -> Small {
        let config = Config {
            learning_rows: 4096,
            policy: Policy::HoldOff(100),
            ..Config::rows(4000.0).with_windows([16, 64])
        };
        Detector::new(&MAP, config).unwrap()
    }

    /// Two devices with a common scale, the second at another level.
    fn fleet(level: f32, seed: u64) -> [Small; 2] {
        let mut rng = XorShiftRng::seed_from_u64(seed);
        let mut first = fresh();
        run(&mut first, &mut rng, 256 + 4096, 0.0);
        let mut second = first.clone();
        second.relearn_reference();
        assert_eq!((second.stage(), second.scale()), (Stage::Learning, first.scale()));
        run(&mut second, &mut rng, 4096, level);
        assert_eq!(second.stage(), Stage::Monitoring);
        [first, second]
    }

    #[test]
    fn devices_alike_differ_by_chance_and_others_do_not() {
        let alike: Vec<f32> = (0..40)
            .map(|seed| {
                let [first, second] = fleet(0.0, seed);
                let difference = first.difference(&second).unwrap();
                assert_eq!(second.difference(&first).unwrap(), difference);
                difference.p_value
            })
            .collect();
        // Of 40 p-values, 4 below 0.1 are expected: 11 or more come once in a thousand times.
        let low = alike.iter().filter(|p| **p < 0.1).count();
        assert!(low <= 10, "{alike:?}");
        assert!(alike.iter().any(|p| *p > 0.3) && alike.iter().any(|p| *p < 0.7), "{alike:?}");
        let [first, second] = fleet(0.1, 1);
        let difference = first.difference(&second).unwrap();
        assert!(difference.p_value < 1e-6 && difference.squared > 3.0 * difference.expected);
    }

    #[test]
    fn a_merged_reference_is_for_either_device() {
        let [mut first, second] = fleet(0.25, 3);
        let mut rng = XorShiftRng::seed_from_u64(99);
        // The control: alone, each finds the other one drifted.
        assert!(run(&mut first.clone(), &mut rng, 1000, 0.25) > 3);
        assert!(run(&mut second.clone(), &mut rng, 1000, 0.0) > 3);
        first.merge(&second).unwrap();
        assert_eq!(first.reference_rows(), 2 * 4096);
        assert_eq!(run(&mut first.clone(), &mut rng, 4000, 0.0), 0);
        assert_eq!(run(&mut first.clone(), &mut rng, 4000, 0.25), 0);
        assert!(run(&mut first, &mut rng, 1000, 1.0) > 3);
    }

    #[test]
    fn merging_the_same_distribution_keeps_the_thresholds() {
        let [mut first, second] = fleet(0.0, 4);
        let before: Vec<_> = first.windows().collect();
        first.merge(&second).unwrap();
        for (window, before) in first.windows().zip(before) {
            let ratio = window.threshold / before.threshold;
            assert!((0.7..1.6).contains(&ratio), "{ratio}");
        }
    }

    #[test]
    fn what_is_not_comparable_is_refused_and_changes_nothing() {
        let [mut first, _] = fleet(0.0, 5);
        let mut own_scale = fresh();
        assert_eq!(first.difference(&own_scale), Err(Error::NotLearned));
        assert_eq!((own_scale.scale(), own_scale.bandwidth()), (None, None));
        run(&mut own_scale, &mut XorShiftRng::seed_from_u64(8), 256 + 4096, 0.0);
        let windows: Vec<_> = first.windows().collect();
        assert_eq!(first.merge(&own_scale), Err(Error::NotComparable));
        assert_eq!(first.windows().collect::<Vec<_>>(), windows);
        let foreign = Detector { map: &OTHER, ..first.clone() };
        assert_eq!(first.difference(&foreign), Err(Error::MapMismatch));
        let longer = Config { policy: Policy::HoldOff(200), ..*first.config() };
        let stricter = Detector { config: longer, ..first.clone() };
        assert_eq!(first.difference(&stricter), Err(Error::NotComparable));
    }
}
