//! What several devices learned: how different it is, and all of it as one reference.

use crate::embedding::Embedding;
use crate::error::Error;
use crate::features::FeatureMap;
use crate::features::sincos::Points;
use crate::numeric::{exp, larger, ln, normal_tail, rounded, row_count, smaller, sqrt};

use super::detector::{Detector, Memory};
use super::legs::choice::{Legs, Slot};
use super::legs::wander::{BLOCKS, Steadiness};
use super::saved::LastAlarm;
use super::verdict::Stage;
use crate::state::State;

/// How far what two detectors learned is apart.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub struct Difference {
    /// MMD_b² of the two references; 0 for detectors without the joint leg of values.
    pub squared: f32,
    /// What it is on average for two references of the same distribution, as autocorrelated as
    /// the healthy rows of these two detectors were.
    pub expected: f32,
    /// The channel whose levels are farthest apart, for how well they are known.
    pub channel: usize,
    /// The probability of a difference at least as large, of any channel's level or of the joint
    /// distribution, if both devices are the same. 1 where a level wanders, of which nothing is
    /// known.
    pub p_value: f32,
}

impl<M, L> Detector<'_, M, L>
where
    M: FeatureMap<Backend: Points>,
    L: Legs,
{
    /// Keeps how values are measured, and learns all else anew: detectors with a common scale can
    /// be [compared](Self::difference) and [merged](Self::merge). Rows go on being counted. Before
    /// readings are standardised, as [`relearn`](Self::relearn).
    pub fn relearn_reference(&mut self) {
        let measured = self.config.scaling_rows().max(self.config.profile_rows());
        if self.state.learned < measured {
            return self.relearn();
        }
        // Every field is named, so that a new one has to be decided on.
        let Memory {
            last_alarm,
            rows: _,
            stage,
            learned,
            ln_time: _,
            ln_shares: _,
            watched,
            drifting,
            phase: _,
            extended,
            merged,
            channels,
            values,
            innovations,
            joint,
        } = &mut self.state;
        (*last_alarm, *stage, *learned) = (LastAlarm::NONE, Stage::Learning, measured);
        (*watched, *drifting, *extended, *merged) = (0, 0, false, 0);
        channels.iter_mut().for_each(|channel| channel.keep_scale());
        values.reset();
        innovations.reset();
        joint.reset();
    }

    /// How different what two detectors learned is: the levels of each channel, against how well
    /// blocks of the learning rows agree on them, and the joint distribution, against how far
    /// windows were from it. Learning should have been much longer than the signal remembers.
    /// O(C + L).
    ///
    /// # Errors
    /// [`Error::NotLearned`] before both have learned, [`Error::NotComparable`] if settings or
    /// scale differ, [`Error::MapMismatch`].
    pub fn difference(&self, other: &Self) -> Result<Difference, Error> {
        self.check_comparable(other)?;
        let plan = self.plan();
        let rows = row_count(self.config.learning_rows - self.config.profile_rows());
        let channels = || self.state.channels.iter().zip(other.state.channels.iter());
        let wanders = channels()
            .any(|(a, b)| [a, b].iter().any(|channel| channel.steadiness == Steadiness::Wandering));
        // Two estimates of each variance, from as many blocks.
        let degrees = 2.0 * (row_count(BLOCKS) - 1.0);
        let (mut p_value, mut farthest) = (1.0_f32, (0, 0.0));
        for (index, (own, theirs)) in channels().enumerate() {
            let ((a, of_a), (b, of_b)) = (own.known_level(), theirs.known_level());
            let ratio = (a - b) * (a - b) / larger(of_a * of_a + of_b * of_b, 1e-12);
            if ratio > farthest.1 {
                farthest = (index, ratio);
            }
        }
        let count = row_count(crate::numeric::u32_of(self.state.channels.len()));
        p_value = smaller(count * upper_tail(farthest.1, 1.0, degrees), p_value);
        let (mut squared, mut expected) = (0.0, 0.0);
        if let (Some(own), Some(theirs)) =
            (self.state.values.carried(), other.state.values.carried())
        {
            let inflation = channels().fold(1.0, |most, (a, b)| {
                larger(most, larger(a.inflation(rows), b.inflation(rows)))
            });
            let (distance, usual) = own.difference(theirs, &plan);
            let amplitude = self.map.recipe().kernel.amplitude();
            (squared, expected) = (amplitude * distance, amplitude * usual * inflation);
            let of_distance = smaller(own.degrees(&plan), theirs.degrees(&plan));
            let ratio = squared / larger(expected, 1e-12);
            let p = upper_tail(ratio, of_distance, degrees * of_distance);
            // Either way is a way to differ.
            p_value = smaller(2.0 * smaller(p, p_value), 1.0);
        }
        if wanders {
            p_value = 1.0;
        }
        Ok(Difference { squared, expected, channel: farthest.0, p_value })
    }

    /// Counts as healthy what another detector learned, too: means are those of both, each by its
    /// number of rows, and every threshold allows what either allowed. What this one predicts and
    /// how it measures stay as they are: rows of the other device then go through this one's
    /// predictor, so only devices that predict alike should be merged. Monitoring begins anew.
    /// O(C + L).
    ///
    /// # Errors
    /// As [`difference`](Self::difference); the detector is then as it was.
    pub fn merge(&mut self, other: &Self) -> Result<(), Error> {
        self.check_comparable(other)?;
        let plan = self.plan();
        let (own, theirs) = (self.state.merged.max(1), other.state.merged.max(1));
        let share = row_count(theirs) / (row_count(own) + row_count(theirs));
        let Memory { channels, values, innovations, joint, .. } = &mut self.state;
        for (channel, theirs) in channels.iter_mut().zip(other.state.channels.iter()) {
            channel.join(theirs, share);
        }
        if let (Some(own), Some(theirs)) = (values.carried_mut(), other.state.values.carried()) {
            own.join(theirs, share, &plan);
        }
        if let (Some(own), Some(theirs)) =
            (innovations.carried_mut(), other.state.innovations.carried())
        {
            own.join(theirs, share, &plan);
        }
        joint.iter_mut().for_each(State::reset);
        self.state.merged = own.saturating_add(theirs);
        self.state.last_alarm = LastAlarm::NONE;
        (self.state.watched, self.state.drifting) = (0, 0);
        self.state.stage = Stage::Monitoring;
        Ok(())
    }

    /// What was learned of the joint distribution, as an embedding of the standardised rows: to be
    /// compared with others, and merged with those of detectors that [measure](super::ChannelQuality)
    /// alike. A detector keeps mean points in `f32`, of which these are the sums: merging is exact
    /// from here on. O(L).
    ///
    /// # Errors
    /// [`Error::NotLearned`] before learning is over, [`Error::WrongShape`] for a detector without
    /// the joint leg of values, [`Error::Empty`] if every row lacked a reading.
    pub fn embedding(&self) -> Result<Embedding<M>, Error> {
        if !self.state.stage.is_learned() {
            return Err(Error::NotLearned);
        }
        let values = self.state.values.carried().ok_or(Error::WrongShape)?;
        let (rows, means) = values.reference();
        if rows == 0 {
            return Err(Error::Empty);
        }
        Ok(Embedding::of_means(self.map, rows, means))
    }

    /// Devices whose learning this detector stands on: 1, and more after [`merge`](Self::merge).
    #[must_use]
    pub fn merged(&self) -> u32 {
        self.state.merged.max(1)
    }

    fn check_comparable(&self, other: &Self) -> Result<(), Error> {
        if self.map.fingerprint() != other.map.fingerprint() {
            return Err(Error::MapMismatch);
        }
        if !self.state.stage.is_learned() || !other.state.stage.is_learned() {
            return Err(Error::NotLearned);
        }
        let mut channels = self.state.channels.iter().zip(other.state.channels.iter());
        let same = self.config == other.config && channels.all(|(a, b)| a.is_measured_as(b));
        if same { Ok(()) } else { Err(Error::NotComparable) }
    }
}

/// The probability that a ratio of two mean squares with these degrees of freedom is at least
/// `ratio`: Paulson's approximation by the cube root.
fn upper_tail(ratio: f32, degrees: f32, of_other: f32) -> f32 {
    let (a, b) = (2.0 / (9.0 * f64::from(degrees)), 2.0 / (9.0 * f64::from(of_other)));
    let root = exp(ln(f64::from(larger(ratio, 1e-6))) / 3.0);
    rounded(normal_tail(((1.0 - b) * root - (1.0 - a)) / sqrt(b * root * root + a)))
}

// Thousands of rows each: too slow when interpreted.
#[cfg(all(test, not(miri)))]
mod tests {
    use super::*;
    use crate::{Config, Fourier, Verdict};
    use rand_core::{Rng, SeedableRng};
    use rand_xorshift::XorShiftRng;

    static MAP: Fourier<2, 32> = Fourier::additive(1);
    static OTHER: Fourier<2, 32> = Fourier::additive(2);
    type Small = Detector<'static, Fourier<2, 32>>;

    /// A device whose channels remember `memory` of the row before, the first at another level.
    struct Device {
        rng: XorShiftRng,
        last: [f32; 2],
        memory: f32,
        level: f32,
    }

    impl Device {
        fn new(seed: u64, memory: f32, level: f32) -> Self {
            Self { rng: XorShiftRng::seed_from_u64(seed), last: [0.0; 2], memory, level }
        }

        /// Long enough to be stationary.
        fn settle(&mut self) {
            for _ in 0..5000 {
                self.row();
            }
        }

        fn row(&mut self) -> [f32; 2] {
            let noise = (1.0 - self.memory * self.memory).sqrt();
            for x in &mut self.last {
                let sum = (0..12).map(|_| self.rng.next_u32() as f32 / u32::MAX as f32);
                *x = self.memory * *x + noise * (sum.sum::<f32>() - 6.0);
            }
            [self.last[0] + self.level, self.last[1]]
        }

        fn run(&mut self, detector: &mut Small, rows: usize) -> usize {
            let alarms = (0..rows).filter(|_| {
                let row = self.row();
                matches!(detector.push(&row), Ok(Verdict::Alarm(_)))
            });
            alarms.count()
        }
    }

    fn fresh() -> Small {
        Detector::new(&MAP, Config { learning_rows: 4096, ..Config::rows(40_000.0) }).unwrap()
    }

    /// Two detectors with a common scale, on devices with this memory, the second at a level.
    fn fleet(memory: f32, level: f32, seed: u64) -> [Small; 2] {
        let mut first = fresh();
        let mut device = Device::new(seed, memory, 0.0);
        device.settle();
        device.run(&mut first, 4096);
        let mut second = first.clone();
        second.relearn_reference();
        assert_eq!(second.stage(), Stage::Learning);
        let mut device = Device::new(seed + 10_000, memory, level);
        device.settle();
        device.run(&mut second, 4096);
        assert!(second.stage().is_learned());
        [first, second]
    }

    #[test]
    fn devices_alike_differ_by_chance_and_others_do_not() {
        for (memory, most) in [(0.0, 7), (0.9, 7), (0.99, 7), (0.999, 7)] {
            let low = (0..60).filter(|seed| {
                let [first, second] = fleet(memory, 0.0, *seed);
                match first.difference(&second) {
                    Ok(difference) => {
                        assert_eq!(second.difference(&first), Ok(difference));
                        difference.p_value < 0.05
                    }
                    // A slow signal may be measured anew by a factor of two.
                    Err(error) => {
                        assert_eq!((error, memory > 0.98), (Error::NotComparable, true));
                        false
                    }
                }
            });
            // Of 60 p-values, 3 below 0.05 are expected: 8 or more come once in a hundred times.
            let low = low.count();
            assert!(low <= most, "{memory}: {low}");
        }
        let [first, second] = fleet(0.0, 0.3, 1);
        let difference = first.difference(&second).unwrap();
        assert!(difference.p_value < 1e-6 && difference.squared > 3.0 * difference.expected);
        assert_eq!(difference.channel, 0);
        let [first, second] = fleet(0.9, 1.0, 2);
        assert!(first.difference(&second).unwrap().p_value < 1e-3);
    }

    #[test]
    fn a_merged_reference_is_for_either_device() {
        let [mut first, mut second] = fleet(0.0, 1.0, 3);
        let (mut at_0, mut at_1) = (Device::new(5, 0.0, 0.0), Device::new(6, 0.0, 1.0));
        let mut far = Device::new(7, 0.0, 5.0);
        // The control: alone, each finds the other one drifted.
        assert!(at_1.run(&mut first.clone(), 1000) > 0);
        assert!(at_0.run(&mut second.clone(), 1000) > 0);
        first.merge(&second).unwrap();
        assert_eq!(first.merged(), 2);
        assert_eq!(at_0.run(&mut first.clone(), 4000), 0);
        assert_eq!(at_1.run(&mut first.clone(), 4000), 0);
        assert!(far.run(&mut first, 1000) > 0);
        // The merged one keeps its thresholds, whatever it sees later.
        second.merge(&first.clone()).unwrap();
        assert_eq!(second.merged(), 3);
        // Learned anew, it is of one device again, and nothing is older than its learning.
        second.relearn_reference();
        assert_eq!((second.merged(), second.state.watched, second.state.extended), (1, 0, false));
    }

    #[test]
    fn the_learned_reference_is_an_embedding_of_the_learning_rows() {
        let [first, second] = fleet(0.0, 0.3, 1);
        let (own, theirs) = (first.embedding().unwrap(), second.embedding().unwrap());
        let difference = first.difference(&second).unwrap();
        let squared = crate::embedding::mmd::squared_biased(&own, &theirs).unwrap();
        assert!((squared - difference.squared).abs() < 1e-6, "{squared}");
        assert!(own.weight() > 3000.0 && own.weight() <= 4096.0);
        let mut both = own.clone();
        both.merge(&theirs).unwrap();
        assert_eq!(both.exact_weight(), own.exact_weight() + theirs.exact_weight());
        let sums = own.exact_sums().zip(theirs.exact_sums());
        assert!(sums.zip(both.exact_sums()).all(|((a, b), c)| [a[0] + b[0], a[1] + b[1]] == c));
        assert_eq!(fresh().embedding().err(), Some(Error::NotLearned));
    }

    #[test]
    fn what_is_not_comparable_is_refused_and_changes_nothing() {
        let [mut first, _] = fleet(0.0, 0.0, 5);
        let mut own_scale = fresh();
        assert_eq!(first.difference(&own_scale), Err(Error::NotLearned));
        Device::new(8, 0.0, 0.0).run(&mut own_scale, 4096);
        let before = first.state.clone();
        assert_eq!(first.merge(&own_scale), Err(Error::NotComparable));
        assert_eq!(first.state, before);
        let foreign = Detector { map: &OTHER, ..first.clone() };
        assert_eq!(first.difference(&foreign), Err(Error::MapMismatch));
        let longer = Config { relearn_after: Some(9), ..*first.config() };
        let other = Detector { config: longer, ..first.clone() };
        assert_eq!(first.difference(&other), Err(Error::NotComparable));
    }
}
