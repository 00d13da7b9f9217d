//! The whole monitor as bytes.

use core::ops::RangeInclusive;

use crate::error::Error;
use crate::map::FeatureMap;
use crate::null::Null;
use crate::scale::Scale;
use crate::sincos::SinCos;
use crate::state::{FRAME_BYTES, Field, Kind, Reader, expect, fields, write};

use super::{Config, Moments, Monitor};

impl<MA, MB, const CA: usize, const CB: usize, const LA: usize, const LB: usize, B>
    Monitor<'_, MA, MB, CA, CB, LA, LB, B>
where
    MA: FeatureMap<CA, LA>,
    MB: FeatureMap<CB, LB>,
    B: SinCos,
{
    /// Length of a saved monitor, in bytes.
    pub const SAVED_BYTES: usize = FRAME_BYTES
        + <[u32; 3]>::BYTES
        + Config::BYTES
        + u64::BYTES
        + Scale::<CA>::BYTES
        + Scale::<CB>::BYTES
        + u32::BYTES
        + 2 * Moments::<LA, LB>::BYTES
        + f32::BYTES
        + Null::BYTES
        + 2 * f32::BYTES
        + u8::BYTES;

    /// Channels and frequencies of the second group, and its map.
    fn second_group(&self) -> Result<[u32; 3], Error> {
        let count = |number| u32::try_from(number).map_err(|_| Error::WrongShape);
        Ok([count(CB)?, count(LB)?, self.maps.1.fingerprint()])
    }

    /// Writes everything: settings, what was learned and the window as it is, with the recipe of
    /// the first map; returns the number of bytes. A restored monitor goes on bit for bit.
    ///
    /// # Errors
    /// [`Error::BufferTooSmall`].
    pub fn save(&self, out: &mut [u8]) -> Result<usize, Error> {
        let second = self.second_group()?;
        let recipe = self.maps.0.recipe();
        write(out, Self::SAVED_BYTES, Kind::Coupling, B::CODE, recipe, |writer| {
            second.put(writer);
            self.config.put(writer);
            self.rows.put(writer);
            self.scales.0.put(writer);
            self.scales.1.put(writer);
            self.count.put(writer);
            self.reference.put(writer);
            self.window.put(writer);
            self.shared.put(writer);
            self.null.put(writer);
            self.statistic.put(writer);
            self.threshold.put(writer);
            u8::from(self.drifting).put(writer);
        })
    }

    /// Replaces the monitor, settings included, by a saved one of the same shape, backend and
    /// maps.
    ///
    /// # Errors
    /// As [`Embedding::restore`](crate::Embedding::restore); the monitor is then as it was.
    pub fn restore(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let mut reader = expect(bytes, Kind::Coupling, B::CODE, Self::SAVED_BYTES, self.maps.0)?;
        let (saved, own) = (<[u32; 3]>::take(&mut reader)?, self.second_group()?);
        if saved[..2] != own[..2] {
            return Err(Error::WrongShape);
        }
        if saved != own {
            return Err(Error::MapMismatch);
        }
        // Read twice, first to refuse it and then in place: no second monitor on the stack.
        Self::check_fields(&mut reader.clone())?;
        self.config.read_into(&mut reader)?;
        self.rows.read_into(&mut reader)?;
        self.scales.0.read_into(&mut reader)?;
        self.scales.1.read_into(&mut reader)?;
        self.count.read_into(&mut reader)?;
        self.reference.read_into(&mut reader)?;
        self.window.read_into(&mut reader)?;
        self.shared.read_into(&mut reader)?;
        self.null.read_into(&mut reader)?;
        self.statistic.read_into(&mut reader)?;
        self.threshold.read_into(&mut reader)?;
        self.drifting = u8::take(&mut reader)? != 0;
        Ok(())
    }

    fn check_fields(reader: &mut Reader<'_>) -> Result<(), Error> {
        let config = Config::take(reader)?;
        config.check().map_err(|_| Error::Inconsistent)?;
        u64::check(reader)?;
        Scale::<CA>::check(reader)?;
        Scale::<CB>::check(reader)?;
        let count = u32::take(reader)?;
        check_moments::<LA, LB>(reader)?;
        check_moments::<LA, LB>(reader)?;
        check_range(reader, 1, 0.0..=1.0)?;
        Null::check(reader)?;
        let [statistic, threshold] = <[f32; 2]>::take(reader)?;
        let drifting = u8::take(reader)?;
        let armed = threshold > 0.0 || count < config.learning_rows;
        let plausible = statistic >= 0.0 && threshold >= 0.0 && drifting <= 1;
        if armed && plausible { Ok(()) } else { Err(Error::Inconsistent) }
    }
}

/// Reads over `count` numbers, refusing those outside a range.
fn check_range(
    reader: &mut Reader<'_>,
    count: usize,
    range: RangeInclusive<f32>,
) -> Result<(), Error> {
    for _ in 0..count {
        if !range.contains(&f32::take(reader)?) {
            return Err(Error::Inconsistent);
        }
    }
    Ok(())
}

/// Reads over moments: features lie within ±√2, but for a coarse backend's error.
fn check_moments<const LA: usize, const LB: usize>(reader: &mut Reader<'_>) -> Result<(), Error> {
    check_range(reader, LA.saturating_add(LB), -1.5..=1.5)?;
    check_range(reader, LA.saturating_mul(LB), -2.25..=2.25)?;
    check_range(reader, 1, 0.0..=1.001)
}

fields!(Config {
    mean_time_between_false_alarms: f32,
    scaling_rows: u32,
    learning_rows: u32,
    window: u32,
});

fields!(Moments<const LA, const LB> {
    a: [f32; LA],
    b: [f32; LB],
    products: [[f32; LB]; LA],
    own: f32,
});

#[cfg(test)]
mod tests {
    use super::super::{Monitor, Verdict};
    use super::*;
    use crate::{Fourier, Kernel, Sampling};

    type Small<'m> = Monitor<'m, Fourier<1, 4>, Fourier<2, 4>, 1, 2, 4, 4>;

    fn row(index: u32) -> ([f32; 1], [f32; 2]) {
        let x = |factor: f32| (row_fraction(index) * factor).fract();
        ([x(7.3)], [x(7.3) + 0.1 * x(91.7), x(23.1)])
    }

    fn row_fraction(index: u32) -> f32 {
        (index as f32 * 0.618_034).fract()
    }

    #[test]
    fn goes_on_bit_for_bit_and_refuses_what_is_not_its_own() {
        let a = Fourier::<1, 4>::new(Kernel::GAUSSIAN, Sampling::Auto, 1).unwrap();
        let b = Fourier::<2, 4>::new(Kernel::GAUSSIAN, Sampling::Auto, 2).unwrap();
        let config =
            Config { window: 4, scaling_rows: 16, learning_rows: 64, ..Config::rows(500.0) };
        let mut monitor: Small<'_> = Monitor::new(&a, &b, config).unwrap();
        for index in 0..120 {
            let (x, y) = row(index);
            monitor.push(&x, &y).unwrap();
        }
        let mut bytes = [0; Small::SAVED_BYTES];
        assert_eq!(monitor.save(&mut bytes), Ok(Small::SAVED_BYTES));
        let mut again: Small<'_> = Monitor::new(&a, &b, Config::rows(9.0)).unwrap();
        again.restore(&bytes).unwrap();
        for index in 120..200 {
            let (x, y) = row(index);
            let verdict = monitor.push(&x, &y).unwrap();
            assert_eq!(again.push(&x, &y), Ok(verdict));
            assert!(!matches!(verdict, Verdict::Learning { .. }));
        }
        let other = Fourier::<2, 4>::new(Kernel::GAUSSIAN, Sampling::Auto, 3).unwrap();
        let mut foreign: Small<'_> = Monitor::new(&a, &other, config).unwrap();
        assert_eq!(foreign.restore(&bytes), Err(Error::MapMismatch));
        bytes[60] ^= 1;
        assert_eq!(again.restore(&bytes), Err(Error::ChecksumMismatch));
    }

    #[test]
    fn what_no_monitor_can_hold_is_refused() {
        let a = Fourier::<1, 4>::new(Kernel::GAUSSIAN, Sampling::Auto, 1).unwrap();
        let b = Fourier::<2, 4>::new(Kernel::GAUSSIAN, Sampling::Auto, 2).unwrap();
        let good: Small<'_> = Monitor::new(&a, &b, Config::rows(500.0)).unwrap();
        let forge = |change: fn(&mut Small<'_>)| {
            let (mut forged, mut own) = (good.clone(), good.clone());
            change(&mut forged);
            let mut bytes = [0; Small::SAVED_BYTES];
            forged.save(&mut bytes).unwrap();
            own.restore(&bytes)
        };
        assert_eq!(forge(|_| {}), Ok(()));
        assert_eq!(forge(|m| m.window.products[1][2] = 3e38), Err(Error::Inconsistent));
        assert_eq!(forge(|m| m.reference.a[3] = -1.6), Err(Error::Inconsistent));
        assert_eq!(forge(|m| m.reference.own = -1.0), Err(Error::Inconsistent));
        assert_eq!(forge(|m| m.statistic = -1.0), Err(Error::Inconsistent));
        // Armed, but without a threshold: it would alarm for ever.
        assert_eq!(forge(|m| m.count = 5000), Err(Error::Inconsistent));
    }
}
