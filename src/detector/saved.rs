//! The whole detector as bytes.

use crate::delay::Delay;
use crate::error::Error;
use crate::map::FeatureMap;
use crate::sincos::{Point, SinCos};
use crate::state::{FRAME_BYTES, Field, Kind, Reader, Writer, expect, fields, payload, write};

use super::config::{Bandwidth, Calibration, Config, LoneOutliers, Policy, Reference};
use super::outlier::Gate;
use super::stillness::Stillness;
use super::verdict::{Alarm, Change, Stage};
use super::view::View;
use super::window::Window;
use super::{Baseline, Detector, MedianDistance, Scale};

/// Channels, windows, and which view.
const SHAPE_BYTES: usize = 4 + 4 + 1;

impl<M, V, const C: usize, const D: usize, const L: usize, const S: usize, B>
    Detector<'_, M, V, C, D, L, S, B>
where
    M: FeatureMap<D, L>,
    V: View<C>,
    B: SinCos,
{
    /// Length of a saved detector, in bytes.
    pub const SAVED_BYTES: usize = FRAME_BYTES
        + SHAPE_BYTES
        + Config::<S>::BYTES
        + u64::BYTES
        + Stage::BYTES
        + Scale::<C>::BYTES
        + MedianDistance::<C>::BYTES
        + <[f32; C]>::BYTES
        + f32::BYTES
        + V::LENGTH
        + Delay::<C, D>::BYTES
        + Gate::<C>::BYTES
        + <[Stillness; C]>::BYTES
        + 2 * u32::BYTES
        + Baseline::<C, L>::BYTES
        + S * (L * Point::BYTES + Window::<C>::BYTES)
        + u32::BYTES
        + Option::<Baseline<C, L>>::BYTES
        + Option::<Alarm>::BYTES;

    /// Writes everything: settings, what was learned, and the windows as they are, with the
    /// recipe of the map; returns the number of bytes. A restored detector goes on bit for bit
    /// as this one would.
    ///
    /// # Errors
    /// [`Error::BufferTooSmall`].
    pub fn save(&self, out: &mut [u8]) -> Result<usize, Error> {
        let recipe = self.map.recipe();
        write(out, Self::SAVED_BYTES, Kind::Detector, B::CODE, recipe, |writer| {
            shape::<C, S>().put(writer);
            V::CODE.put(writer);
            self.config.put(writer);
            self.rows.put(writer);
            self.stage.put(writer);
            self.scale.put(writer);
            self.distance.put(writer);
            self.gains.put(writer);
            self.inverse_bandwidth.put(writer);
            self.view.write(writer);
            self.delay.put(writer);
            self.gate.put(writer);
            self.stillness.put(writer);
            self.count.put(writer);
            self.learned.put(writer);
            self.reference.put(writer);
            for (index, window) in self.windows.iter().enumerate() {
                self.means.of(index).for_each(|point| point.put(writer));
                window.put(writer);
            }
            self.quiet_rows.put(writer);
            self.previous.put(writer);
            self.last_alarm.put(writer);
        })
    }

    /// Replaces the detector, settings included, by a saved one of the same shape, view, backend
    /// and map.
    ///
    /// # Errors
    /// As [`Embedding::restore`](crate::Embedding::restore); the detector is then as it was.
    pub fn restore(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let mut reader = expect(bytes, Kind::Detector, B::CODE, Self::SAVED_BYTES, self.map)?;
        if <[u32; 2]>::take(&mut reader)? != shape::<C, S>() || u8::take(&mut reader)? != V::CODE {
            return Err(Error::WrongShape);
        }
        // Everything is read twice, first to refuse it and then in place, so that no second
        // detector has to fit on the stack.
        Self::check_fields(&mut reader.clone())?;
        self.read_fields(&mut reader)
    }

    fn check_fields(reader: &mut Reader<'_>) -> Result<(), Error> {
        Config::<S>::take(reader)?.check().map_err(|_| Error::Inconsistent)?;
        u64::check(reader)?;
        Stage::check(reader)?;
        Scale::<C>::check(reader)?;
        MedianDistance::<C>::check(reader)?;
        let gains = <[f32; C]>::take(reader)?;
        let inverse_bandwidth = f32::take(reader)?;
        // Negative, they would let a sample leave the map's reach unnoticed.
        if inverse_bandwidth < 0.0 || gains.iter().any(|gain| *gain < 0.0) {
            return Err(Error::Inconsistent);
        }
        V::skim(reader)?;
        Delay::<C, D>::check(reader)?;
        Gate::<C>::check(reader)?;
        <[Stillness; C]>::check(reader)?;
        <[u32; 2]>::check(reader)?;
        Baseline::<C, L>::check(reader)?;
        for _ in 0..S {
            <[Point; L]>::check(reader)?;
            Window::<C>::check(reader)?;
        }
        u32::check(reader)?;
        Option::<Baseline<C, L>>::check(reader)?;
        match <Option<Alarm> as Field>::take(reader)? {
            Some(alarm) if alarm.channel >= C => Err(Error::Inconsistent),
            _ => Ok(()),
        }
    }

    fn read_fields(&mut self, reader: &mut Reader<'_>) -> Result<(), Error> {
        self.config.read_into(reader)?;
        self.rows.read_into(reader)?;
        self.stage.read_into(reader)?;
        self.scale.read_into(reader)?;
        self.distance.read_into(reader)?;
        self.gains.read_into(reader)?;
        self.inverse_bandwidth.read_into(reader)?;
        self.view.overwrite(reader)?;
        self.delay.read_into(reader)?;
        self.gate.read_into(reader)?;
        self.stillness.read_into(reader)?;
        self.count.read_into(reader)?;
        self.learned.read_into(reader)?;
        self.reference.read_into(reader)?;
        for (index, window) in self.windows.iter_mut().enumerate() {
            self.means.of_mut(index).try_for_each(|point| point.read_into(reader))?;
            window.read_into(reader)?;
        }
        self.quiet_rows.read_into(reader)?;
        // Any value will do to be read over in place.
        self.previous = Some(self.reference);
        self.previous.read_into(reader)?;
        self.last_alarm.read_into(reader)
    }
}

/// Which detector a record is of, so that one of the right shape can be made to restore it.
///
/// ```
/// use fastmmd::detector::{Config, Detector, Raw, SavedShape};
/// use fastmmd::{Fourier, Kernel, Recipe, Sampling};
///
/// let map = Fourier::<2, 16>::new(Kernel::GAUSSIAN, Sampling::Auto, 1)?;
/// let detector: Detector<_, Raw, 2, 2, 16, 4> = Detector::new(&map, Config::rows(1e4))?;
/// let mut bytes = [0; Detector::<Fourier<2, 16>, Raw, 2, 2, 16, 4>::SAVED_BYTES];
/// detector.save(&mut bytes)?;
/// let shape = SavedShape::restore(&bytes)?;
/// assert_eq!((shape.channels, shape.windows, shape.innovation), (2, 4, false));
/// assert_eq!(Recipe::restore(&bytes)?.features, 16);
/// # Ok::<(), fastmmd::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub struct SavedShape {
    /// Channels C.
    pub channels: u32,
    /// Windows S.
    pub windows: u32,
    /// Whether the view is [`Innovation`](crate::innovation::Innovation), and not
    /// [`Raw`](super::Raw).
    pub innovation: bool,
}

impl SavedShape {
    /// Reads the shape of a saved detector; the rest is in its
    /// [recipe](crate::Recipe::restore).
    ///
    /// # Errors
    /// As [`Recipe::restore`](crate::Recipe::restore), and [`Error::WrongShape`] for a record of
    /// another kind.
    pub fn restore(bytes: &[u8]) -> Result<Self, Error> {
        let mut reader = payload(bytes, Kind::Detector)?;
        let [channels, windows] = Field::take(&mut reader)?;
        Ok(Self { channels, windows, innovation: u8::take(&mut reader)? != 0 })
    }
}

/// Channels and windows, as they stand in a saved detector.
fn shape<const C: usize, const S: usize>() -> [u32; 2] {
    [crate::numeric::u32_of(C), crate::numeric::u32_of(S)]
}

fields!(Baseline<const C, const L> {
    mean: crate::mean::Mean<L>,
    axes: super::attribution::Axes<C>,
    own: f32,
    rows: u32,
});

fields!(Config<const S> {
    mean_time_between_false_alarms: f32,
    scales: [u32; S],
    scaling_rows: u32,
    learning_rows: u32,
    bandwidth: Bandwidth,
    reference: Reference,
    calibration: Calibration,
    lone_outliers: LoneOutliers,
    policy: Policy,
});

/// Makes enums without data fields: one byte each.
macro_rules! coded_fields {
    ($($name:ident),*) => {$(
        impl Field for $name {
            const BYTES: usize = 1;

            fn put(&self, writer: &mut Writer<'_>) {
                self.code().put(writer);
            }

            fn take(reader: &mut Reader<'_>) -> Result<Self, Error> {
                Self::from_code(u8::take(reader)?).ok_or(Error::Inconsistent)
            }
        }
    )*};
}

coded_fields!(LoneOutliers, Stage, Change);

impl Field for Alarm {
    const BYTES: usize = 2 * u64::BYTES + 2 * u32::BYTES + 2 * f32::BYTES + Change::BYTES;

    fn put(&self, writer: &mut Writer<'_>) {
        self.row.put(writer);
        self.since.put(writer);
        self.scale.put(writer);
        self.score.put(writer);
        self.threshold.put(writer);
        crate::numeric::u32_of(self.channel).put(writer);
        self.change.put(writer);
    }

    fn take(reader: &mut Reader<'_>) -> Result<Self, Error> {
        Ok(Self {
            row: Field::take(reader)?,
            since: Field::take(reader)?,
            scale: Field::take(reader)?,
            score: Field::take(reader)?,
            threshold: Field::take(reader)?,
            channel: u32::take(reader)? as usize,
            change: Field::take(reader)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::innovation::Innovation;
    use crate::{Fourier, Kernel, Sampling};
    use rand_core::{Rng, SeedableRng};
    use rand_xorshift::XorShiftRng;
    use std::vec;

    static MAP: Fourier<4, 16> = match Fourier::new(Kernel::GAUSSIAN, Sampling::Auto, 1) {
        Ok(map) => map,
        Err(_) => panic!(),
    };
    type Small<'m, V> = Detector<'m, Fourier<4, 16>, V, 2, 4, 16, 2>;

    fn config() -> Config<2> {
        Config {
            scaling_rows: 64,
            learning_rows: 256,
            calibration: Calibration::Adaptive(500),
            policy: Policy::Relearn { hold_off: 20, settle: 100 },
            ..Config::rows(1000.0).with_scales([4, 16])
        }
    }

    /// Saves and restores on every row of learning, monitoring, drift and relearning.
    fn goes_on_bit_for_bit<V: View<2>>() {
        let mut rng = XorShiftRng::seed_from_u64(3);
        let mut straight: Small<'_, V> = Detector::new(&MAP, config()).unwrap();
        let mut interrupted = straight.clone();
        let mut bytes = vec![0; Small::<V>::SAVED_BYTES];
        let mut alarms = 0;
        for row in 0..900 {
            let drift = if row > 500 { 3.0 } else { 0.0 };
            let sample = [0; 2].map(|_| rng.next_u32() as f32 / u32::MAX as f32 + drift);
            let verdict = straight.push(&sample).unwrap();
            assert_eq!(interrupted.push(&sample).unwrap(), verdict, "row {row}");
            alarms += usize::from(matches!(verdict, crate::detector::Verdict::Alarm(_)));
            assert_eq!(interrupted.save(&mut bytes), Ok(Small::<V>::SAVED_BYTES));
            interrupted = Detector::new(&MAP, Config::rows(5e5).with_scales([8, 32])).unwrap();
            interrupted.restore(&bytes).unwrap();
        }
        assert!(alarms >= 1);
    }

    #[test]
    #[cfg_attr(miri, ignore = "too slow when interpreted")]
    fn a_restored_detector_goes_on_bit_for_bit() {
        goes_on_bit_for_bit::<crate::detector::Raw>();
        goes_on_bit_for_bit::<Innovation<2>>();
    }

    #[test]
    fn another_view_or_a_torn_record_is_refused() {
        let mut raw: Small<'_, crate::detector::Raw> = Detector::new(&MAP, config()).unwrap();
        let mut bytes = vec![0; Small::<crate::detector::Raw>::SAVED_BYTES];
        raw.save(&mut bytes).unwrap();
        let mut other: Small<'_, Innovation<2>> = Detector::new(&MAP, config()).unwrap();
        assert_eq!(other.restore(&bytes), Err(Error::WrongShape));
        bytes[200] ^= 4;
        assert_eq!(raw.restore(&bytes), Err(Error::ChecksumMismatch));
        let mut forged = raw.clone();
        forged.inverse_bandwidth = -1e30;
        forged.save(&mut bytes).unwrap();
        assert_eq!(raw.restore(&bytes), Err(Error::Inconsistent));
        assert_eq!(raw.save(&mut [0; 10]), Err(Error::BufferTooSmall { needed: bytes.len() }));
    }

    #[test]
    #[cfg_attr(miri, ignore = "too slow when interpreted")]
    fn a_forged_state_is_refused_or_harmless() {
        let mut rng = XorShiftRng::seed_from_u64(5);
        let mut detector: Small<'_, Innovation<2>> = Detector::new(&MAP, config()).unwrap();
        for _ in 0..400 {
            let row = [0; 2].map(|_| rng.next_u32() as f32 / u32::MAX as f32);
            detector.push(&row).unwrap();
        }
        let mut good = vec![0; Small::<Innovation<2>>::SAVED_BYTES];
        detector.save(&mut good).unwrap();
        let (mut accepted, mut refused) = (0, 0);
        for _ in 0..3000 {
            // One field overwritten with an extreme or random word, and the checksum mended.
            let mut bytes = good.clone();
            let end = bytes.len() - 4;
            let at = 44 + rng.next_u32() as usize % (end - 48);
            let extreme = [u32::MAX, 0, 1, 0x7f7f_ffff, 0xff7f_ffff, 0x7f80_0000, rng.next_u32()];
            let word = extreme[rng.next_u32() as usize % extreme.len()];
            bytes[at..at + 4].copy_from_slice(&word.to_le_bytes());
            let checksum = crate::map::CHECKSUM.checksum(&bytes[..end]);
            bytes[end..].copy_from_slice(&checksum.to_le_bytes());
            let mut forged = detector.clone();
            if forged.restore(&bytes).is_err() {
                refused += 1;
                continue;
            }
            accepted += 1;
            for _ in 0..20 {
                let row = [0; 2].map(|_| rng.next_u32() as f32 / u32::MAX as f32);
                assert!(forged.push(&row).is_ok(), "{at} {word:#x}");
            }
            let _ = (forged.p_value(), forged.attribution(), forged.readings());
        }
        assert!(accepted > 100 && refused > 100, "{accepted} {refused}");
    }
}
