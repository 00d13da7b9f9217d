//! The whole detector as bytes.

use crate::condition::{View, ViewKind};
use crate::error::Error;
use crate::features::FeatureMap;
use crate::features::sincos::{Backend, SinCos};
use crate::numeric::u32_of;
use crate::shape::{Length, Windows};
use crate::state::{
    FRAME_BYTES, Kind, Plain, Reader, State, VERSION, Writer, expect, plain, plain_states, read,
    replace, write,
};

use super::config::Config;
use super::detector::Detector;
use super::verdict::{Alarm, Change, Stage};

plain!(
    struct SavedShape {
        channels: u32,
        windows: u32,
        view: ViewKind,
    }
);
plain!(
    struct Alarm {
        row: u64,
        since: u64,
        window: u32,
        score: f32,
        threshold: f32,
        channel: usize,
        change: Change,
    }
);
plain_states!(Stage = Stage::Scaling, Option<Alarm> = None);

impl Alarm {
    /// Length of [`to_bytes`](Self::to_bytes).
    pub const BYTES: usize = <Self as Plain>::BYTES;

    /// The alarm as in a saved state, little-endian: for messages.
    #[must_use]
    pub fn to_bytes(self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        self.write(&mut Writer::new(&mut bytes));
        bytes
    }

    /// Reads what [`to_bytes`](Self::to_bytes) wrote.
    ///
    /// # Errors
    /// [`Error::Inconsistent`] for numbers or codes that no alarm has.
    pub fn from_bytes(bytes: &[u8; Self::BYTES]) -> Result<Self, Error> {
        Self::take(&mut Reader::new(bytes))
    }
}

/// Kept as four bytes, whatever the target has.
impl Plain for usize {
    const BYTES: usize = u32::BYTES;

    fn write(self, writer: &mut Writer<'_>) {
        u32_of(self).write(writer);
    }

    fn take(reader: &mut Reader<'_>) -> Result<Self, Error> {
        u32::take(reader).map(|number| number as usize)
    }
}

/// Which detector it is, or a record is of, so that one of the right shape can be made to restore it.
///
/// ```
/// use fastmmd::condition::{Raw, ViewKind};
/// use fastmmd::monitor::SavedShape;
/// use fastmmd::{Config, Detector, Fourier, Recipe};
///
/// static MAP: Fourier<2, 16> = Fourier::gaussian(1);
/// let detector = Detector::new(&MAP, Config::rows(1e4))?;
/// let mut bytes = [0; Detector::<Fourier<2, 16>, Raw<2>>::SAVED_BYTES];
/// detector.save(&mut bytes)?;
/// let shape = SavedShape::restore(&bytes)?;
/// assert_eq!((shape.channels, shape.windows, shape.view), (2, 4, ViewKind::Raw));
/// assert_eq!(Recipe::restore(&bytes)?.frequencies, 16);
/// # Ok::<(), fastmmd::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub struct SavedShape {
    /// Channels C.
    pub channels: u32,
    /// Windows W.
    pub windows: u32,
    /// Which view.
    pub view: ViewKind,
}

impl SavedShape {
    /// Reads the shape of a saved detector; the rest is in its
    /// [recipe](crate::Recipe::restore).
    ///
    /// # Errors
    /// As [`Recipe::restore`](crate::Recipe::restore), and [`Error::WrongShape`] for a record of
    /// another kind.
    pub fn restore(bytes: &[u8]) -> Result<Self, Error> {
        Self::take(&mut read(bytes)?.payload(Kind::Detector)?)
    }
}

/// Length of a record of a detector with so many windows and so many bytes of state.
pub(super) const fn record_bytes(windows: usize, state: usize) -> usize {
    FRAME_BYTES + payload_bytes(windows, state)
}

const fn payload_bytes(windows: usize, state: usize) -> usize {
    SavedShape::BYTES + Config::<(), Windows<0>>::saved_bytes(windows) + state
}

impl<M, V, W> Detector<'_, M, V, W>
where
    M: FeatureMap<Inputs = V::Inputs, Backend: SinCos>,
    V: View,
    W: Length,
{
    /// Length of the saved detector, in bytes.
    #[must_use]
    pub fn saved_bytes(&self) -> usize {
        record_bytes(self.config.lengths().len(), self.state.bytes(VERSION))
    }

    /// Channels, windows and view.
    #[must_use]
    pub fn shape(&self) -> SavedShape {
        let channels = u32_of(self.state.condition.channels());
        let windows = u32_of(self.config.lengths().len());
        SavedShape { channels, windows, view: self.state.condition.view.kind() }
    }

    /// Rows in a vector: 1, or more for a map of more inputs than there are channels.
    #[must_use]
    pub fn lags(&self) -> u32 {
        self.map.recipe().inputs.checked_div(self.shape().channels).unwrap_or(1)
    }

    /// Writes everything: settings, what was learned, and the windows as they are, with the
    /// recipe of the map; returns the number of bytes. A restored detector goes on bit for bit
    /// as this one would.
    ///
    /// # Errors
    /// [`Error::BufferTooSmall`].
    pub fn save(&self, out: &mut [u8]) -> Result<usize, Error> {
        let length = payload_bytes(self.config.lengths().len(), self.state.bytes(VERSION));
        let recipe = self.map.recipe();
        write(out, length, Kind::Detector, <M::Backend as Backend>::CODE, recipe, |writer| {
            self.shape().write(writer);
            self.config.put(writer);
            self.state.put(writer);
        })
    }

    /// Replaces the detector, settings included, by a saved one of the same shape, view, backend
    /// and map.
    ///
    /// # Errors
    /// As [`Embedding::restore`](crate::Embedding::restore); the detector is then as it was.
    pub fn restore(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let shape = SavedShape::restore(bytes)?;
        let length = payload_bytes(self.config.lengths().len(), self.state.bytes(VERSION));
        let mut reader = expect(bytes, Kind::Detector, self.map, length)?;
        if shape != self.shape() {
            return Err(Error::WrongShape);
        }
        SavedShape::take(&mut reader)?;
        let config = self.config.taken(&mut reader)?;
        config.check().map_err(|_| Error::Inconsistent)?;
        replace(&mut self.state, &mut reader)?;
        self.config = config;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::condition::{Innovation, Raw, Shaped};
    use crate::monitor::config::{Calibration, Policy};
    use crate::shape::Fixed;
    use crate::{Fourier, Verdict};
    use rand_core::{Rng, SeedableRng};
    use rand_xorshift::XorShiftRng;
    use std::vec;

    static MAP: Fourier<4, 16> = Fourier::gaussian(1);
    type Small<'m, V> = Detector<'m, Fourier<4, 16>, V, Windows<2>>;

    fn config<V>() -> Config<V, Windows<2>> {
        let config: Config<Raw<2>> = Config::rows(1000.0);
        Config {
            scaling_rows: 64,
            learning_rows: 256,
            calibration: Calibration::Adaptive(500),
            policy: Policy::Relearn { hold_off: 20, settle: 100 },
            ..config.with_windows([4, 16]).with_view()
        }
    }

    /// Saves and restores on every row of learning, monitoring, drift and relearning.
    fn goes_on_bit_for_bit<V>()
    where
        V: View<Channels = Fixed<2>, Inputs = Fixed<4>> + Shaped,
    {
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
            alarms += usize::from(matches!(verdict, Verdict::Alarm(_)));
            assert_eq!(interrupted.save(&mut bytes), Ok(Small::<V>::SAVED_BYTES));
            let other = Config { scaling_rows: 99, ..config() };
            interrupted = Detector::new(&MAP, other).unwrap();
            interrupted.restore(&bytes).unwrap();
        }
        assert!(alarms >= 1);
    }

    #[test]
    #[cfg_attr(miri, ignore = "too slow when interpreted")]
    fn a_restored_detector_goes_on_bit_for_bit() {
        goes_on_bit_for_bit::<Raw<2, 4>>();
        goes_on_bit_for_bit::<Innovation<2, 4>>();
    }

    #[test]
    fn another_view_or_a_torn_record_is_refused() {
        let mut raw: Small<'_, Raw<2, 4>> = Detector::new(&MAP, config()).unwrap();
        let mut bytes = vec![0; Small::<Raw<2, 4>>::SAVED_BYTES];
        raw.save(&mut bytes).unwrap();
        let mut other: Small<'_, Innovation<2, 4>> = Detector::new(&MAP, config()).unwrap();
        assert_eq!(other.restore(&bytes), Err(Error::WrongShape));
        bytes[200] ^= 4;
        assert_eq!(raw.restore(&bytes), Err(Error::ChecksumMismatch));
        let mut forged = raw.clone();
        forged.state.condition.scaling.inverse_bandwidth.0 = -1e30;
        forged.save(&mut bytes).unwrap();
        assert_eq!(raw.restore(&bytes), Err(Error::Inconsistent));
        let channel_of = |channel| {
            let (score, threshold, change) = (2.0, 1.0, Change::Level);
            let alarm = Alarm { row: 1, since: 0, window: 4, score, threshold, channel, change };
            let mut forged = raw.clone();
            forged.state.last_alarm = Some(alarm);
            forged
        };
        let before = raw.state.clone();
        channel_of(2).save(&mut bytes).unwrap();
        let mut own = raw.clone();
        assert_eq!(own.restore(&bytes), Err(Error::Inconsistent));
        assert_eq!(own.state, before);
        channel_of(1).save(&mut bytes).unwrap();
        own.restore(&bytes).unwrap();
        assert_eq!(own.state, channel_of(1).state);
        assert_eq!(raw.save(&mut [0; 10]), Err(Error::BufferTooSmall { needed: bytes.len() }));
    }

    #[test]
    #[cfg_attr(miri, ignore = "too slow when interpreted")]
    fn a_forged_state_is_refused_or_harmless() {
        let mut rng = XorShiftRng::seed_from_u64(5);
        let mut detector: Small<'_, Innovation<2, 4>> = Detector::new(&MAP, config()).unwrap();
        for _ in 0..400 {
            let row = [0; 2].map(|_| rng.next_u32() as f32 / u32::MAX as f32);
            detector.push(&row).unwrap();
        }
        let mut good = vec![0; Small::<Innovation<2, 4>>::SAVED_BYTES];
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
            let checksum = crate::features::CHECKSUM.checksum(&bytes[..end]);
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
            let _ = (forged.p_value(), forged.attribution(), forged.windows().count());
        }
        assert!(accepted > 100 && refused > 100, "{accepted} {refused}");
    }
}
