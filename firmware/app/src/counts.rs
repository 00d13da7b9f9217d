//! Readings as counts, for a detector in integers: the choice for processors without floating point.

use fastmmd::Error;
use fastmmd::error::Parameter;
use fastmmd::features::Recipe;
use fastmmd::monitor::{Monitor, Status, Verdict, Warning};

use crate::sensor::nearest;

/// A monitor of `i16` rows that takes readings in the units of the sensor.
///
/// Each reading is divided by the step of its channel and rounded to the nearest whole number. With the
/// steps of the sensor's own converter nothing is lost. That costs a multiplication and a conversion a
/// channel, in software where there is no hardware for it; all that the monitor does is in integers.
#[derive(Debug, Clone)]
pub struct Counts<M, const C: usize> {
    monitor: M,
    per_unit: [f32; C],
}

impl<M, const C: usize> Counts<M, C> {
    /// Takes readings in steps of this size, in the units of their channels, such as
    /// [`Sensor::STEPS`](crate::sensor::Sensor::STEPS); in whole numbers if there are none.
    ///
    /// # Errors
    /// [`Error::OutOfRange`], naming the channel, for a step that is not positive and finite.
    pub fn new(monitor: M, steps: Option<[f32; C]>) -> Result<Self, Error> {
        let mut per_unit = [1.0; C];
        let steps = steps.unwrap_or(per_unit);
        for (channel, (per_unit, step)) in per_unit.iter_mut().zip(steps).enumerate() {
            *per_unit = 1.0 / step;
            if !(step > 0.0 && step.is_finite() && per_unit.is_finite()) {
                return Err(Error::OutOfRange(Parameter::Channel(channel)));
            }
        }
        Ok(Self { monitor, per_unit })
    }

    /// A reading in counts.
    fn count(&self, channel: usize, reading: f32) -> Result<i16, Error> {
        if !reading.is_finite() {
            return Err(Error::NonFinite(Parameter::Channel(channel)));
        }
        let steps = reading * self.per_unit.get(channel).copied().unwrap_or(1.0);
        nearest(steps).ok_or(Error::OutOfRange(Parameter::Channel(channel)))
    }
}

impl<M, const C: usize> Monitor for Counts<M, C>
where
    M: Monitor<Row = [i16; C], Partial = [Option<i16>; C]>,
{
    type Row = [f32; C];
    type Partial = [Option<f32>; C];
    type Config = M::Config;

    fn push(&mut self, row: &[f32; C]) -> Result<Verdict, Error> {
        let mut counts = [0; C];
        for (channel, (count, reading)) in counts.iter_mut().zip(row).enumerate() {
            *count = self.count(channel, *reading)?;
        }
        self.monitor.push(&counts)
    }

    fn push_partial(&mut self, row: &[Option<f32>; C]) -> Result<Verdict, Error> {
        let mut counts = [None; C];
        for (channel, (count, reading)) in counts.iter_mut().zip(row).enumerate() {
            if let Some(reading) = reading {
                *count = Some(self.count(channel, *reading)?);
            }
        }
        self.monitor.push_partial(&counts)
    }

    fn skip(&mut self, rows: u32) {
        self.monitor.skip(rows);
    }

    fn status(&self) -> Status {
        self.monitor.status()
    }

    fn recipe(&self) -> &Recipe {
        self.monitor.recipe()
    }

    fn config(&self) -> &M::Config {
        self.monitor.config()
    }

    fn warnings(&self) -> impl Iterator<Item = Warning> {
        self.monitor.warnings()
    }

    fn relearn_with(&mut self, config: M::Config) -> Result<(), Error> {
        self.monitor.relearn_with(config)
    }

    fn dismiss(&mut self) {
        self.monitor.dismiss();
    }

    fn saved_bytes(&self) -> usize {
        self.monitor.saved_bytes()
    }

    fn save(&self, out: &mut [u8]) -> Result<usize, Error> {
        self.monitor.save(out)
    }

    fn restore(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.monitor.restore(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::{FOUR_COUNTS, IntegerDetector, board};
    use crate::sensor::{MagnetometerThermometer, Sensor};
    use crate::testing::{Noise, World};

    fn detector() -> Counts<IntegerDetector<4>, 4> {
        let detector = IntegerDetector::new(&FOUR_COUNTS, board()).unwrap();
        Counts::new(detector, MagnetometerThermometer::STEPS).unwrap()
    }

    /// The counts of the sensor come back, every one of its range.
    #[test]
    fn nothing_of_a_reading_is_lost() {
        let counts = detector();
        let mut world = World::new();
        for count in -2048..2048 {
            world.field = [count; 3];
            world.celsius = i8::try_from(count / 20).unwrap();
            let row = MagnetometerThermometer::default().read(&mut world).unwrap();
            let expected = [count, count, count, 2 * (count / 20)];
            for (channel, reading) in row.iter().enumerate() {
                assert_eq!(counts.count(channel, *reading), Ok(expected[channel]), "{reading}");
            }
        }
    }

    #[test]
    fn verdicts_are_those_on_counts() {
        let (mut counts, mut noise) = (detector(), Noise::new(61));
        let mut direct = IntegerDetector::new(&FOUR_COUNTS, board()).unwrap();
        let mut alarms = 0;
        for row in 0..9000 {
            let level = if row < 8500 { 100.0 } else { 400.0 };
            #[expect(clippy::cast_possible_truncation, reason = "simulated counts")]
            let direct_row =
                [0.0, 300.0, level, 40.0].map(|at| (at + 30.0 * noise.normal()) as i16);
            let mut units = [0.0; 4];
            for ((unit, count), step) in
                units.iter_mut().zip(direct_row).zip(MagnetometerThermometer::STEPS.unwrap())
            {
                *unit = f32::from(count) * step;
            }
            let verdict = counts.push(&units);
            assert_eq!(verdict, direct.push(&direct_row));
            alarms += u32::from(matches!(verdict, Ok(Verdict::Alarm(_))));
        }
        assert!(alarms > 0);
    }

    #[test]
    fn readings_that_are_no_counts_are_refused_by_channel() {
        let mut counts = detector();
        for (reading, error) in [
            (f32::NAN, Error::NonFinite(Parameter::Channel(2))),
            (f32::INFINITY, Error::NonFinite(Parameter::Channel(2))),
            (4000.0, Error::OutOfRange(Parameter::Channel(2))),
            (-4000.0, Error::OutOfRange(Parameter::Channel(2))),
        ] {
            assert_eq!(counts.push(&[0.0, 0.0, reading, 0.0]), Err(error));
            assert_eq!(counts.push_partial(&[None, None, Some(reading), None]), Err(error));
        }
        assert_eq!(counts.status().rows, 0);
        for step in [0.0, -1.0, f32::NAN, f32::INFINITY, 1e-40] {
            assert!(Counts::new((), Some([1.0, step])).is_err(), "{step}");
        }
    }
}
