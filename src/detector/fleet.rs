//! What several devices learned: how different it is, and all of it as one reference.

use crate::error::Error;
use crate::map::FeatureMap;
use crate::null::Null;
use crate::numeric::{larger, row_count, sqrt_f32};
use crate::sincos::SinCos;

use super::verdict::Stage;
use super::view::View;
use super::{Baseline, Detector, per_window};

/// How far the references of two detectors are apart.
#[derive(Debug, Clone, Copy, PartialEq)]
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

impl<M, V, const C: usize, const D: usize, const L: usize, const S: usize, B>
    Detector<'_, M, V, C, D, L, S, B>
where
    M: FeatureMap<D, L>,
    V: View<C>,
    B: SinCos,
{
    /// The mean and the standard deviation of each channel by which rows are standardised, in
    /// units of the input; `None` while scaling.
    #[must_use]
    pub fn scale(&self) -> Option<([f32; C], [f32; C])> {
        let scaled = self.stage != Stage::Scaling;
        scaled.then(|| (*self.scale.means(), self.gains.map(|gain| 1.0 / gain)))
    }

    /// The bandwidth of the kernel in standard deviations of a channel, of a family the widest;
    /// `None` while scaling.
    #[must_use]
    pub fn bandwidth(&self) -> Option<f32> {
        let scaled = self.stage != Stage::Scaling;
        scaled.then(|| self.map.recipe().kernel.bandwidth() / self.inverse_bandwidth)
    }

    /// Rows in the reference.
    #[must_use]
    pub fn reference_rows(&self) -> u32 {
        self.reference.rows
    }

    /// Forgets everything learned but the scale, and learns anew by it: the references of
    /// detectors with a common scale can be [compared](Self::difference) and
    /// [merged](Self::merge). Rows go on being counted. While scaling, as
    /// [`relearn`](Self::relearn).
    pub fn relearn_reference(&mut self) {
        let scaled = self.stage != Stage::Scaling;
        let (scale, distance) = (self.scale, self.distance);
        self.relearn();
        if scaled {
            self.scale = scale;
            self.distance = distance;
            self.stage = Stage::Learning;
        }
    }

    /// How different what two detectors learned is: R = MMD_b²/(Σa² + Σb²), a and b being the
    /// weights of the rows in each reference, against what R of the longest window was while
    /// all was well. O(L).
    ///
    /// # Errors
    /// [`Error::NotLearned`] before both have learned, [`Error::NotComparable`] if settings or
    /// scale differ, [`Error::MapMismatch`].
    pub fn difference(&self, other: &Self) -> Result<Difference, Error> {
        self.check_comparable(other)?;
        let normaliser = self.reference.own + other.reference.own;
        let distance = self.reference.mean.squared_distance(&other.reference.mean);
        let (mut p_value, mut usual) = (0.0_f32, 0.0_f32);
        for detector in [self, other] {
            let longest = detector.windows.last().zip(detector.config.scales.last());
            if let Some((window, length)) = longest {
                p_value = p_value.max(window.null.p_value(*length, distance / normaliser));
                usual = usual.max(window.null.mean);
            }
        }
        let scale = self.map.recipe().kernel.scale();
        Ok(Difference { squared: scale * distance, expected: scale * usual * normaliser, p_value })
    }

    /// Takes what another detector learned into this one's reference, each by its number of rows.
    /// Thresholds are set for windows of either device against the common reference, which is
    /// farther from each of them than its own was: R' ≤ (√R + √δ)² for a reference δ away. Each
    /// window's threshold is the larger of what both devices need and what they need together.
    ///
    /// What this one's view has learned stays as it is: with innovations, rows of the other device
    /// then go through this one's predictor, so only devices that predict alike should be merged.
    /// Monitoring begins anew. O(S·(L + C)).
    ///
    /// # Errors
    /// As [`difference`](Self::difference); the detector is then as it was.
    pub fn merge(&mut self, other: &Self) -> Result<(), Error> {
        self.check_comparable(other)?;
        let joined = self.reference.joined(&other.reference);
        let kept = 1.0 - self.reference.share_of(&other.reference);
        let away = |reference: &Baseline<C, L>| reference.mean.squared_distance(&joined.mean);
        let (own_away, other_away) = (away(&self.reference), away(&other.reference));
        let wide = self.config.is_wide();
        let time = per_window(self.config.mean_time_between_false_alarms, S);
        let scales = self.config.scales;
        let distances = self.means.distances(&joined.mean);
        let windows = self.windows.iter_mut().zip(&other.windows);
        for (((window, theirs), length), distance) in windows.zip(scales).zip(distances) {
            let block = Null::block_of(length, self.config.learning_rows);
            window.share_in_part(kept, joined.own, distance);
            let normaliser = window.normaliser(joined.own);
            let own = window.null.seen_from(own_away / normaliser);
            let share = row_count(theirs.null.rows)
                / (row_count(theirs.null.rows) + row_count(own.rows)).max(1.0);
            let others = theirs.null.seen_from(other_away / normaliser);
            window.null = own.pooled(&others);
            // Pooled alone, a quiet device would lower the threshold of a noisy one.
            let needed =
                [&own, &others, &window.null].map(|null| null.threshold(length, block, time, wide));
            window.threshold = needed.into_iter().fold(0.0, f32::max);
            let own_signs = self.reference.axes.signs(&joined.axes);
            let other_signs = other.reference.axes.signs(&joined.axes);
            let usual = window.usual.iter_mut().flatten().zip(theirs.usual.iter().flatten());
            let signs = own_signs.iter().flatten().zip(other_signs.iter().flatten());
            for ((usual, theirs), (own_sign, other_sign)) in usual.zip(signs) {
                *usual = (1.0 - share) * (*usual + own_sign / normaliser)
                    + share * (theirs + other_sign / normaliser);
            }
        }
        self.gate.join(&other.gate);
        for (stillness, theirs) in self.stillness.iter_mut().zip(&other.stillness) {
            stillness.allow(theirs);
        }
        self.reference = joined;
        self.previous = None;
        self.last_alarm = None;
        self.stage = Stage::Monitoring;
        Ok(())
    }

    fn check_comparable(&self, other: &Self) -> Result<(), Error> {
        if self.map.fingerprint() != other.map.fingerprint() {
            return Err(Error::MapMismatch);
        }
        let learned = |stage| matches!(stage, Stage::Monitoring | Stage::Drift);
        if !learned(self.stage) || !learned(other.stage) {
            return Err(Error::NotLearned);
        }
        let same = self.config == other.config
            && same(self.scale.means(), other.scale.means())
            && same(&self.gains, &other.gains)
            && same(&[self.inverse_bandwidth], &[other.inverse_bandwidth]);
        if same { Ok(()) } else { Err(Error::NotComparable) }
    }
}

/// Whether two scales are the same bit for bit.
fn same<const N: usize>(a: &[f32; N], b: &[f32; N]) -> bool {
    a.iter().zip(b).all(|(a, b)| a.to_bits() == b.to_bits())
}

impl<const C: usize, const L: usize> Baseline<C, L> {
    /// The weight of another reference in the mean of both.
    fn share_of(&self, other: &Self) -> f32 {
        row_count(other.rows) / larger(row_count(other.rows) + row_count(self.rows), 1.0)
    }

    /// The mean of both, each by its number of rows.
    fn joined(&self, other: &Self) -> Self {
        let share = self.share_of(other);
        let mut joined = *self;
        joined.mean.blend(&other.mean, share);
        joined.axes.blend(&other.axes, share);
        joined.own = (1.0 - share) * (1.0 - share) * self.own + share * share * other.own;
        joined.rows = self.rows.saturating_add(other.rows);
        joined
    }
}

impl Null {
    /// The same windows, compared with a reference farther away: δ = `away`, in units of R.
    ///
    /// With w the window and r the reference, R' = ‖(w − r) + (r − r')‖²: on average R + δ, with a
    /// variance larger by at most 4·δ·R, and at most (√R + √δ)².
    fn seen_from(&self, away: f32) -> Self {
        let farther = |value: f32| {
            let root = sqrt_f32(value.max(0.0)) + sqrt_f32(away);
            root * root
        };
        let stretch = 1.0 + sqrt_f32(away / self.largest_mean.max(1e-9));
        Self {
            mean: self.mean + away,
            second: self.second + 4.0 * away * self.mean,
            block_largest: farther(self.block_largest),
            largest_mean: farther(self.largest_mean),
            largest_second: self.largest_second * stretch * stretch,
            ..*self
        }
    }

    /// The moments and maxima of both, each by its number of rows.
    fn pooled(&self, other: &Self) -> Self {
        let share =
            |own: u32, other: u32| row_count(other) / (row_count(other) + row_count(own)).max(1.0);
        let b = share(self.rows, other.rows);
        let mean = self.mean + b * (other.mean - self.mean);
        let (from, to) = (self.mean - mean, other.mean - mean);
        let third = |null: &Self, d: f32| null.third + 3.0 * d * null.second + d * d * d;
        let c = share(self.blocks, other.blocks);
        let apart = other.largest_mean - self.largest_mean;
        Self {
            rows: self.rows.saturating_add(other.rows),
            mean,
            second: (1.0 - b) * (self.second + from * from) + b * (other.second + to * to),
            third: (1.0 - b) * third(self, from) + b * third(other, to),
            block_largest: self.block_largest.max(other.block_largest),
            block_rows: self.block_rows,
            blocks: self.blocks.saturating_add(other.blocks),
            largest_mean: self.largest_mean + c * apart,
            largest_second: (1.0 - c) * self.largest_second
                + c * other.largest_second
                + c * (1.0 - c) * apart * apart,
        }
    }
}

// Thousands of rows each: too slow when interpreted.
#[cfg(all(test, not(miri)))]
mod tests {
    use super::*;
    use crate::detector::{Config, Policy, Raw, Verdict};
    use crate::{Fourier, Kernel, Sampling};
    use rand_core::{Rng, SeedableRng};
    use rand_xorshift::XorShiftRng;
    use std::vec::Vec;

    static MAP: Fourier<2, 32> = match Fourier::new(Kernel::GAUSSIAN, Sampling::Auto, 1) {
        Ok(map) => map,
        Err(_) => panic!(),
    };
    type Small = Detector<'static, Fourier<2, 32>, Raw, 2, 2, 32, 2>;

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
            ..Config::rows(4000.0).with_scales([16, 64])
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
        let before = first.readings();
        first.merge(&second).unwrap();
        for (reading, before) in first.readings().iter().zip(before) {
            let ratio = reading.threshold / before.threshold;
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
        let readings = first.readings();
        assert_eq!(first.merge(&own_scale), Err(Error::NotComparable));
        assert_eq!(first.readings(), readings);
        let other = Fourier::<2, 32>::new(Kernel::GAUSSIAN, Sampling::Auto, 2).unwrap();
        let foreign = Detector { map: &other, ..first.clone() };
        assert_eq!(first.difference(&foreign), Err(Error::MapMismatch));
        let longer = Config { policy: Policy::HoldOff(200), ..*first.config() };
        let stricter = Detector { config: longer, ..first.clone() };
        assert_eq!(first.difference(&stricter), Err(Error::NotComparable));
    }

    #[test]
    fn pooled_moments_are_those_of_all_values() {
        let mut rng = XorShiftRng::seed_from_u64(6);
        let (mut first, mut second, mut all) = (Null::new(), Null::new(), Null::new());
        for row in 0..600 {
            let value = rng.next_u32() as f32 / u32::MAX as f32;
            let (null, value) =
                if row < 400 { (&mut first, value) } else { (&mut second, value * value + 1.0) };
            null.push(value, 10, u32::MAX);
            all.push(value, 10, u32::MAX);
        }
        let pooled = first.pooled(&second);
        assert_eq!((pooled.rows, pooled.blocks), (all.rows, all.blocks));
        let pairs = [
            (pooled.mean, all.mean),
            (pooled.second, all.second),
            (pooled.third, all.third),
            (pooled.largest_mean, all.largest_mean),
            (pooled.largest_second, all.largest_second),
        ];
        for (got, wanted) in pairs {
            assert!((got - wanted).abs() < 1e-4, "{got} {wanted}");
        }
        assert_eq!(first.seen_from(0.0).mean, first.mean);
    }
}
