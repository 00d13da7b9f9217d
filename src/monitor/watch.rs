//! What firmware and tools need of a detector, whatever its shape.

use crate::error::Error;
use crate::features::sincos::Points;
use crate::features::{FeatureMap, Recipe, Sample, ScalarOf};
use crate::shape::Length;

use super::config::{Config, Warning};
use super::detector::Detector;
use super::legs::choice::Legs;
use super::verdict::{Alarm, Stage, Verdict};

/// How a [`Monitor`] stands.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Status {
    /// What it is doing.
    pub stage: Stage,
    /// Rows pushed in all, also before learning anew. Rows are numbered from 0, so this is the
    /// number of the next one.
    pub rows: u64,
    /// Part done of learning, from 0 to 1.
    pub progress: f32,
    /// The statistic nearest to its threshold, or farthest beyond; 0 while learning.
    pub statistic: f32,
    /// Its threshold; 0 while learning.
    pub threshold: f32,
    /// How many things differ from what was learned, now.
    pub open: u32,
    /// The alarm that stands: the last one, as it was amended, while the stage is
    /// [`Stage::Drift`].
    pub alarm: Option<Alarm>,
}

/// Rows in, verdicts out, and a state that can be kept: what a program around a detector needs of
/// it, without the detector's shape in its types.
///
/// ```
/// use fastmmd::monitor::Monitor;
/// use fastmmd::{Config, Detector, Fourier, Stage};
///
/// fn watch<M: Monitor<Row = [f32; 2]>>(monitor: &mut M) -> Result<Stage, fastmmd::Error> {
///     monitor.push(&[20.5, 1013.0])?;
///     Ok(monitor.status().stage)
/// }
///
/// static MAP: Fourier<2, 16> = Fourier::additive(1);
/// let mut detector = Detector::new(&MAP, Config::rows(1e4))?;
/// assert_eq!(watch(&mut detector)?, Stage::Learning);
/// # Ok::<(), fastmmd::Error>(())
/// ```
pub trait Monitor {
    /// One row of readings, in the sensors' own units: `[f32; C]` for C channels.
    type Row: ?Sized;

    /// One row in which readings may be missing: `[Option<f32>; C]` for C channels.
    type Partial: ?Sized;

    /// The settings: part of the state, and so saved and restored with it.
    type Config: Clone + PartialEq;

    /// Takes one row. The row that ends learning is answered with [`Verdict::Learning`], while
    /// the [stage](Status::stage) is [`Stage::Monitoring`] already; no other row is.
    ///
    /// Costs O(C + L) for C channels and L frequencies, beside the map.
    ///
    /// # Errors
    /// [`Error::NonFinite`] or [`Error::OutOfRange`], naming the channel; the row is then not
    /// counted, and nothing has changed.
    fn push(&mut self, row: &Self::Row) -> Result<Verdict, Error>;

    /// Takes one row in which readings may be missing, such as those of a sensor that fails. As
    /// [`push`](Self::push) otherwise.
    ///
    /// # Errors
    /// As [`push`](Self::push).
    fn push_partial(&mut self, row: &Self::Partial) -> Result<Verdict, Error>;

    /// Says that `rows` rows passed that were never pushed, or were refused: as
    /// [`Detector::skip`]. O(C).
    fn skip(&mut self, rows: u32);

    /// How it stands after the last row. O(C + L).
    fn status(&self) -> Status;

    /// The recipe of its map: states of another are refused.
    fn recipe(&self) -> &Recipe;

    /// The settings under which it learns or has learned.
    fn config(&self) -> &Self::Config;

    /// The promises that these settings cannot be trusted to keep.
    fn warnings(&self) -> impl Iterator<Item = Warning>;

    /// Forgets everything but the number of rows, and learns anew under these settings. O(C + L).
    ///
    /// # Errors
    /// [`Error::NonFinite`] or [`Error::OutOfRange`] for settings that mean nothing; nothing is
    /// then forgotten.
    fn relearn_with(&mut self, config: Self::Config) -> Result<(), Error>;

    /// Dismisses what differs now as harmless: it closes, and the same does not alarm again, while
    /// other changes do. O(C + L).
    fn dismiss(&mut self);

    /// Length in bytes of what [`save`](Self::save) writes: the same at any time.
    fn saved_bytes(&self) -> usize;

    /// Writes the whole state, with a checksum of its own, to the front of `out`, and returns its
    /// length in bytes. O(C + L); several times a [`push`](Self::push), mostly for the checksum.
    ///
    /// # Errors
    /// [`Error::BufferTooSmall`]; `out` is then as it was.
    fn save(&self, out: &mut [u8]) -> Result<usize, Error>;

    /// Takes up a saved state, settings included, and goes on from it bit for bit.
    ///
    /// Any bytes may be tried, such as RAM whose content after a reset is unknown: those
    /// that are torn, foreign or altered are refused, and change nothing.
    ///
    /// # Errors
    /// As [`Embedding::restore`](crate::Embedding::restore).
    fn restore(&mut self, bytes: &[u8]) -> Result<(), Error>;
}

impl<M, L> Monitor for Detector<'_, M, L>
where
    M: FeatureMap<Backend: Points>,
    L: Legs,
{
    type Row = Sample<M>;
    type Partial = <M::Inputs as Length>::Slice<Option<ScalarOf<M>>>;
    type Config = Config<L>;

    fn push(&mut self, row: &Self::Row) -> Result<Verdict, Error> {
        self.push(row)
    }

    fn push_partial(&mut self, row: &Self::Partial) -> Result<Verdict, Error> {
        self.push_partial(row)
    }

    fn skip(&mut self, rows: u32) {
        self.skip(rows);
    }

    fn status(&self) -> Status {
        let stage = self.stage();
        let nearest = self.nearest();
        Status {
            stage,
            rows: self.rows(),
            progress: self.progress(),
            statistic: nearest.map_or(0.0, |leg| leg.statistic),
            threshold: nearest.map_or(0.0, |leg| leg.threshold),
            open: self.open().fold(0, |count, _| count + 1),
            alarm: self.last_alarm().filter(|_| stage == Stage::Drift),
        }
    }

    fn recipe(&self) -> &Recipe {
        self.map.recipe()
    }

    fn config(&self) -> &Config<L> {
        self.config()
    }

    fn warnings(&self) -> impl Iterator<Item = Warning> {
        self.config().warnings()
    }

    fn relearn_with(&mut self, config: Config<L>) -> Result<(), Error> {
        self.relearn_with(config)
    }

    fn dismiss(&mut self) {
        self.dismiss();
    }

    fn saved_bytes(&self) -> usize {
        self.saved_bytes()
    }

    fn save(&self, out: &mut [u8]) -> Result<usize, Error> {
        self.save(out)
    }

    fn restore(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.restore(bytes)
    }
}

// Thousands of rows: too slow when interpreted.
#[cfg(all(test, not(miri)))]
mod tests {
    use super::*;
    use crate::{Fourier, Parameter};
    use rand_core::{Rng, SeedableRng};
    use rand_xorshift::XorShiftRng;
    use std::vec;

    const CONFIG: Config = Config { learning_rows: 512, ..Config::rows(1e4) };

    /// Pushes noise around `level`, and gives how often learning ended and the last alarm.
    fn run<M: Monitor<Row = [f32; 1]>>(
        monitor: &mut M,
        rng: &mut XorShiftRng,
        rows: u32,
        level: f32,
    ) -> (u32, Option<Alarm>) {
        let (mut ended, mut last) = (0, None);
        for _ in 0..rows {
            let noise = rng.next_u32() as f32 / u32::MAX as f32;
            match monitor.push(&[noise + level]).unwrap() {
                Verdict::Learning { .. } => {
                    ended += u32::from(monitor.status().stage.is_learned());
                }
                Verdict::Healthy | Verdict::Drifting => {}
                Verdict::Alarm(alarm) | Verdict::Amended(alarm) => last = Some(alarm),
            }
        }
        (ended, last)
    }

    /// From the first row through an alarm and its end, over the trait alone.
    fn lives<M: Monitor<Row = [f32; 1]>>(monitor: &mut M, other: &M::Config) {
        let mut rng = XorShiftRng::seed_from_u64(4);
        assert_eq!(run(monitor, &mut rng, 512, 0.0), (1, None));
        let status = monitor.status();
        assert_eq!((status.rows, status.progress, status.alarm), (512, 1.0, None));
        assert_eq!(run(monitor, &mut rng, 100, 0.0), (0, None));
        let (_, alarm) = run(monitor, &mut rng, 100, 1.0);
        assert!(alarm.is_some());
        let drifts = monitor.status();
        assert_eq!((drifts.stage, drifts.alarm), (Stage::Drift, alarm));
        assert!(drifts.statistic > drifts.threshold && drifts.threshold > 0.0, "{drifts:?}");

        let mut bytes = vec![0; monitor.saved_bytes()];
        let needed = bytes.len();
        let short = monitor.save(&mut bytes[1..]);
        assert_eq!(short, Err(Error::BufferTooSmall { needed }));
        assert_eq!(monitor.save(&mut bytes), Ok(needed));

        assert!(drifts.open > 0);
        monitor.dismiss();
        let dismissed = monitor.status();
        assert_eq!((dismissed.stage, dismissed.alarm), (Stage::Monitoring, None));
        monitor.restore(&bytes).unwrap();
        assert_eq!(monitor.status(), drifts);

        let nan = monitor.push(&[f32::NAN]);
        assert_eq!(nan, Err(Error::NonFinite(Parameter::Channel(0))));
        assert_eq!(monitor.status(), drifts);
        assert!(monitor.warnings().next().is_some());
        monitor.relearn_with(other.clone()).unwrap();
        assert!(monitor.config() == other);
        let anew = monitor.status();
        assert_eq!((anew.stage, anew.rows, anew.progress), (Stage::Learning, drifts.rows, 0.0));
    }

    #[test]
    fn a_detector_lives_through_the_trait() {
        let map = Fourier::<1, 16>::additive(1);
        let mut detector = Detector::new(&map, CONFIG).unwrap();
        lives(&mut detector, &Config { learning_rows: 1024, ..CONFIG });
    }
}
