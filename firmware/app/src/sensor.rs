//! Sensors on the bus: a magnetometer, a thermometer, both together.

use embedded_hal::i2c::I2c;
use lm75::{Address, Lm75};

use crate::fault::{Device, Fault, FaultKind};

/// Something on the bus with `C` readings.
pub trait Sensor<const C: usize, B: I2c> {
    /// Reads all channels once, now.
    ///
    /// # Errors
    /// A [`Fault`] naming the device; reading again later is always possible.
    fn read(&mut self, bus: &mut B) -> Result<[f32; C], Fault>;
}

/// No sensor: for boards that only get samples over the link.
#[derive(Debug, Clone, Copy)]
pub struct NoSensor;

impl<const C: usize, B: I2c> Sensor<C, B> for NoSensor {
    fn read(&mut self, _: &mut B) -> Result<[f32; C], Fault> {
        Err(Fault::new(Device::Magnetometer, FaultKind::NoAcknowledge))
    }
}

/// The magnetometer of an LSM303DLHC: 12 bits a channel, ±1.3 gauss, 220 readings a second.
///
/// It is looked for and set up at the first reading, and again after every fault, so it may come
/// and go.
#[derive(Debug, Clone, Default)]
pub struct Lsm303dlhcMagnetometer {
    ready: bool,
}

mod register {
    /// Data rate.
    pub(super) const CRA: u8 = 0x00;
    /// Gain.
    pub(super) const CRB: u8 = 0x01;
    /// Mode.
    pub(super) const MR: u8 = 0x02;
    /// First of X, Z, Y (in this order), high byte first.
    pub(super) const OUT_X_H: u8 = 0x03;
    /// First of three bytes that tell the device.
    pub(super) const IRA: u8 = 0x0A;
}

impl Lsm303dlhcMagnetometer {
    /// Its fixed address on the bus.
    pub const ADDRESS: u8 = 0x1E;
    const IDENTITY: [u8; 3] = *b"H43";
    const RATE_220_HZ: u8 = 0b1_1100;
    const GAIN_1_3_GAUSS: u8 = 0b0010_0000;
    const CONTINUOUS: u8 = 0;
    /// Microtesla per count at this gain: 1100 (X, Y) and 980 (Z) counts per gauss.
    const MICROTESLA_XY: f32 = 100.0 / 1100.0;
    const MICROTESLA_Z: f32 = 100.0 / 980.0;
    /// What a channel reads when the field is beyond the range.
    const OVERFLOW: i16 = -4096;

    /// A magnetometer that has not been looked for yet.
    #[must_use]
    pub const fn new() -> Self {
        Self { ready: false }
    }

    /// The field along X, Y, Z in counts.
    ///
    /// # Errors
    /// A [`Fault`] of the magnetometer.
    pub fn counts<B: I2c>(&mut self, bus: &mut B) -> Result<[i16; 3], Fault> {
        let counts = self.try_counts(bus);
        // After a fault it may have lost power: set it up again.
        self.ready = counts.is_ok();
        counts
    }

    fn try_counts<B: I2c>(&self, bus: &mut B) -> Result<[i16; 3], Fault> {
        if !self.ready {
            Self::set_up(bus)?;
        }
        let mut bytes = [0; 6];
        bus.write_read(Self::ADDRESS, &[register::OUT_X_H], &mut bytes).map_err(fault)?;
        let [x_high, x_low, z_high, z_low, y_high, y_low] = bytes;
        let counts = [[x_high, x_low], [y_high, y_low], [z_high, z_low]].map(i16::from_be_bytes);
        if counts.contains(&Self::OVERFLOW) {
            return Err(Fault::new(Device::Magnetometer, FaultKind::OutOfRange));
        }
        Ok(counts)
    }

    fn set_up<B: I2c>(bus: &mut B) -> Result<(), Fault> {
        let mut identity = [0; 3];
        bus.write_read(Self::ADDRESS, &[register::IRA], &mut identity).map_err(fault)?;
        if identity != Self::IDENTITY {
            return Err(Fault::new(Device::Magnetometer, FaultKind::WrongIdentity));
        }
        for (register, value) in [
            (register::CRA, Self::RATE_220_HZ),
            (register::CRB, Self::GAIN_1_3_GAUSS),
            (register::MR, Self::CONTINUOUS),
        ] {
            bus.write(Self::ADDRESS, &[register, value]).map_err(fault)?;
        }
        Ok(())
    }

    fn microtesla([x, y, z]: [i16; 3]) -> [f32; 3] {
        [
            f32::from(x) * Self::MICROTESLA_XY,
            f32::from(y) * Self::MICROTESLA_XY,
            f32::from(z) * Self::MICROTESLA_Z,
        ]
    }
}

#[expect(clippy::needless_pass_by_value, reason = "the shape that map_err wants")]
fn fault<E: embedded_hal::i2c::Error>(error: E) -> Fault {
    Fault::of_bus(Device::Magnetometer, &error)
}

impl<B: I2c> Sensor<3, B> for Lsm303dlhcMagnetometer {
    fn read(&mut self, bus: &mut B) -> Result<[f32; 3], Fault> {
        self.counts(bus).map(Self::microtesla)
    }
}

/// A thermometer of the LM75 family (here TMP105) at 0x48; degrees Celsius in steps of ½.
#[derive(Debug, Clone, Copy, Default)]
pub struct Thermometer;

impl<B: I2c> Sensor<1, B> for Thermometer {
    fn read(&mut self, bus: &mut B) -> Result<[f32; 1], Fault> {
        match Lm75::new(bus, Address::default()).read_temperature() {
            Ok(celsius) => Ok([celsius]),
            Err(lm75::Error::I2C(error)) => Err(Fault::of_bus(Device::Thermometer, &error)),
            Err(lm75::Error::InvalidInputData) => {
                Err(Fault::new(Device::Thermometer, FaultKind::Refused))
            }
        }
    }
}

/// Magnetometer and thermometer: microtesla along X, Y, Z, and degrees Celsius.
#[derive(Debug, Clone, Default)]
pub struct MagnetometerThermometer {
    magnetometer: Lsm303dlhcMagnetometer,
    thermometer: Thermometer,
}

impl<B: I2c> Sensor<4, B> for MagnetometerThermometer {
    fn read(&mut self, bus: &mut B) -> Result<[f32; 4], Fault> {
        let [x, y, z] = self.magnetometer.read(bus)?;
        let [celsius] = self.thermometer.read(bus)?;
        Ok([x, y, z, celsius])
    }
}

/// Stands between a sensor and the engine: tries again, and lets no bad reading through.
#[derive(Debug, Clone)]
pub struct Watched<S, const C: usize> {
    sensor: S,
    attempts: u8,
    stuck_after: u32,
    last: [u32; C],
    repeats: u32,
}

impl<S, const C: usize> Watched<S, C> {
    /// Gives `sensor` this many attempts at each reading, and takes it for stuck when so many
    /// readings in a row have been the same in all channels (0: never).
    pub const fn new(sensor: S, attempts: u8, stuck_after: u32) -> Self {
        Self { sensor, attempts, stuck_after, last: [0; C], repeats: 0 }
    }

    /// A reading that is finite and not stuck.
    ///
    /// # Errors
    /// The [`Fault`] of the last attempt, [`FaultKind::NotFinite`] or [`FaultKind::Stuck`].
    pub fn read<B: I2c>(&mut self, bus: &mut B) -> Result<[f32; C], Fault>
    where
        S: Sensor<C, B>,
    {
        let mut reading = self.sensor.read(bus);
        for _ in 1..self.attempts {
            if reading.is_err() {
                reading = self.sensor.read(bus);
            }
        }
        let reading = reading?;
        if !reading.iter().all(|value| value.is_finite()) {
            return Err(Fault::new(Device::Sample, FaultKind::NotFinite));
        }
        let bits = reading.map(f32::to_bits);
        self.repeats = if bits == self.last { self.repeats.saturating_add(1) } else { 0 };
        self.last = bits;
        if self.stuck_after > 0 && self.repeats >= self.stuck_after {
            return Err(Fault::new(Device::Sample, FaultKind::Stuck));
        }
        Ok(reading)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bus::{Bus, FaultyBus};
    use crate::testing::World;

    #[test]
    fn channels_come_in_the_order_x_y_z() {
        let mut world = World::new();
        world.field = [110, -220, 98];
        world.celsius = -5;
        let reading = MagnetometerThermometer::default().read(&mut world).unwrap();
        for (value, expected) in reading.iter().zip([10.0, -20.0, 10.0, -5.0]) {
            assert!((value - expected).abs() < 1e-4, "{reading:?}");
        }
    }

    #[test]
    fn a_device_with_another_identity_is_refused_until_it_is_the_right_one() {
        let mut world = World::new();
        world.identity = [0; 3];
        let mut sensor = Lsm303dlhcMagnetometer::new();
        let other = Fault::new(Device::Magnetometer, FaultKind::WrongIdentity);
        assert_eq!(sensor.counts(&mut world), Err(other));
        world.identity = *b"H43";
        assert_eq!(sensor.counts(&mut world), Ok([1, 2, 3]));
        world.field[2] = -4096;
        let beyond = Fault::new(Device::Magnetometer, FaultKind::OutOfRange);
        assert_eq!(sensor.counts(&mut world), Err(beyond));
    }

    #[test]
    fn short_faults_are_overcome_and_long_ones_reported_by_name() {
        let mut bus = FaultyBus::new(World::new());
        let mut sensor = Watched::new(MagnetometerThermometer::default(), 3, 0);
        bus.fail_next(0x1E, 2);
        assert!(sensor.read(&mut bus).is_ok());
        bus.fail_next(0x1E, 3);
        let silent = Fault::new(Device::Magnetometer, FaultKind::NoAcknowledge);
        assert_eq!(sensor.read(&mut bus), Err(silent));
        bus.fail_next(0x48, 3);
        let silent = Fault::new(Device::Thermometer, FaultKind::NoAcknowledge);
        assert_eq!(sensor.read(&mut bus), Err(silent));
        assert!(sensor.read(&mut bus).is_ok());
    }

    #[test]
    fn a_sensor_that_repeats_itself_is_stuck_until_it_moves() {
        let mut world = World::new();
        let mut sensor = Watched::new(Lsm303dlhcMagnetometer::new(), 1, 10);
        for _ in 0..10 {
            assert!(sensor.read(&mut world).is_ok());
        }
        let stuck = Fault::new(Device::Sample, FaultKind::Stuck);
        assert_eq!(sensor.read(&mut world), Err(stuck));
        world.field[1] += 1;
        assert!(sensor.read(&mut world).is_ok());
    }

    struct Broken;

    impl<B: I2c> Sensor<2, B> for Broken {
        fn read(&mut self, _: &mut B) -> Result<[f32; 2], Fault> {
            Ok([1.0, f32::NAN])
        }
    }

    #[test]
    fn readings_that_are_not_finite_go_no_further() {
        let fault = Fault::new(Device::Sample, FaultKind::NotFinite);
        assert_eq!(Watched::new(Broken, 3, 0).read(&mut World::new()), Err(fault));
    }
}
