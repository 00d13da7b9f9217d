//! Sensors on the bus: a magnetometer, a thermometer, both together.

use embedded_hal::i2c::I2c;
use lm75::{Address, Lm75};

use crate::fault::{Device, Fault, FaultKind};

/// A sensor on the bus with `C` channels.
pub trait Sensor<const C: usize> {
    /// The steps of its channels: each reading is that of its channel times a whole number, from
    /// -32,767 to 32,767, rounded once. `None` if there are no such steps. Others may come over the link.
    const STEPS: Option<[f32; C]> = None;

    /// Reads all channels once, now.
    ///
    /// # Errors
    /// A [`Fault`] naming the device; later reads are always possible.
    fn read<B: I2c>(&mut self, bus: &mut B) -> Result<[f32; C], Fault>;

    /// Reads with up to `attempts` attempts, at least one.
    ///
    /// # Errors
    /// The [`Fault`] of the last attempt.
    // Not inlined: what it needs of the stack would be below that of the detector.
    #[inline(never)]
    fn insist<B: I2c>(&mut self, bus: &mut B, attempts: u8) -> Result<[f32; C], Fault> {
        let mut left = attempts;
        loop {
            // In one place, where it is inlined.
            match self.read(bus) {
                Err(_) if left > 1 => left -= 1,
                reading => return reading,
            }
        }
    }

    /// Reads with up to `attempts` attempts for each device of it. The channels of one that fails are
    /// missing, and its [`Fault`] is told.
    fn readings<B: I2c>(&mut self, bus: &mut B, attempts: u8) -> ([Option<f32>; C], Option<Fault>) {
        match self.insist(bus, attempts) {
            Ok(values) => (values.map(Some), None),
            Err(fault) => ([None; C], Some(fault)),
        }
    }
}

/// The whole number of steps nearest to a number of them, half a step away from zero; `None` beyond 16
/// bits.
pub(crate) fn nearest(steps: f32) -> Option<i16> {
    let half = if steps < 0.0 { -0.5 } else { 0.5 };
    // By way of 32 bits, which is one instruction.
    #[expect(clippy::cast_possible_truncation, reason = "rounds; what does not fit is refused")]
    i16::try_from((steps + half) as i32).ok()
}

/// No sensor: for boards that only get samples over the link.
#[derive(Debug, Clone, Copy)]
pub struct NoSensor;

impl<const C: usize> Sensor<C> for NoSensor {
    fn read<B: I2c>(&mut self, _: &mut B) -> Result<[f32; C], Fault> {
        Err(Fault::new(Device::Magnetometer, FaultKind::NoAcknowledge))
    }
}

/// The magnetometer of an LSM303DLHC: 12 bits per channel, ±1.3 gauss, 220 samples per second.
///
/// It is identified and set up at the first read, and again after every fault, so that it may be
/// unplugged and plugged in. After a moment without power it sleeps, and repeats its last reading for
/// ever: it is also set up again after many equal readings ([`Repeats`]).
#[derive(Debug, Clone, Default)]
pub struct Lsm303dlhcMagnetometer {
    ready: bool,
    repeats: Repeats<[i16; 3]>,
}

/// Counts equal readings.
#[derive(Debug, Clone, Copy, Default)]
pub struct Repeats<T> {
    last: T,
    count: u8,
}

impl<T: PartialEq> Repeats<T> {
    /// So many equal readings are suspicious. They may be usual; to set up a sensor again does no harm.
    pub const MANY: u8 = 32;

    /// Takes a reading; whether it is the last of so many equal ones. Counts from 0 then.
    pub fn are_many(&mut self, reading: T) -> bool {
        self.count = if reading == self.last { self.count + 1 } else { 1 };
        self.last = reading;
        let many = self.count >= Self::MANY;
        if many {
            self.count = 0;
        }
        many
    }
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
    /// First of three bytes that identify the device.
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
    const MICROTESLA: [f32; 3] = [100.0 / 1100.0, 100.0 / 1100.0, 100.0 / 980.0];
    /// The count of a channel when the field is out of range.
    const OVERFLOW: i16 = -4096;

    /// A magnetometer that is not set up yet.
    #[must_use]
    pub const fn new() -> Self {
        Self { ready: false, repeats: Repeats { last: [0; 3], count: 0 } }
    }

    /// The field along X, Y, Z in counts.
    ///
    /// # Errors
    /// A [`Fault`] of the magnetometer.
    pub fn counts<B: I2c>(&mut self, bus: &mut B) -> Result<[i16; 3], Fault> {
        let counts = self.try_counts(bus);
        // After a fault it may have lost power: it is set up again.
        self.ready = counts.is_ok_and(|counts| !self.repeats.are_many(counts));
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
        let [of_x, of_y, of_z] = Self::MICROTESLA;
        [f32::from(x) * of_x, f32::from(y) * of_y, f32::from(z) * of_z]
    }
}

#[expect(clippy::needless_pass_by_value, reason = "the shape that map_err wants")]
fn fault<E: embedded_hal::i2c::Error>(error: E) -> Fault {
    Fault::of_bus(Device::Magnetometer, &error)
}

impl Sensor<3> for Lsm303dlhcMagnetometer {
    const STEPS: Option<[f32; 3]> = Some(Self::MICROTESLA);

    fn read<B: I2c>(&mut self, bus: &mut B) -> Result<[f32; 3], Fault> {
        self.counts(bus).map(Self::microtesla)
    }
}

/// A thermometer of the LM75 family (here TMP105) at 0x48: degrees Celsius in steps of ½ °C.
#[derive(Debug, Clone, Copy, Default)]
pub struct Thermometer;

impl Thermometer {
    const CELSIUS: f32 = 0.5;
}

impl Sensor<1> for Thermometer {
    const STEPS: Option<[f32; 1]> = Some([Self::CELSIUS]);

    fn read<B: I2c>(&mut self, bus: &mut B) -> Result<[f32; 1], Fault> {
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

impl Sensor<4> for MagnetometerThermometer {
    const STEPS: Option<[f32; 4]> = {
        let [x, y, z] = Lsm303dlhcMagnetometer::MICROTESLA;
        Some([x, y, z, Thermometer::CELSIUS])
    };

    fn read<B: I2c>(&mut self, bus: &mut B) -> Result<[f32; 4], Fault> {
        let [x, y, z] = self.magnetometer.read(bus)?;
        let [celsius] = self.thermometer.read(bus)?;
        Ok([x, y, z, celsius])
    }

    fn readings<B: I2c>(&mut self, bus: &mut B, attempts: u8) -> ([Option<f32>; 4], Option<Fault>) {
        let ([x, y, z], field_fault) = self.magnetometer.readings(bus, attempts);
        let ([celsius], fault) = self.thermometer.readings(bus, attempts);
        ([x, y, z, celsius], field_fault.or(fault))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bus::FaultyBus;
    use crate::message::Failure;
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
    fn no_sensor_gives_no_reading() {
        let none: Result<[f32; 2], Fault> = NoSensor.read(&mut World::new());
        assert_eq!(none, Err(Fault::new(Device::Magnetometer, FaultKind::NoAcknowledge)));
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

    /// The magnetometer loses power for a moment and sleeps.
    #[test]
    fn a_magnetometer_that_sleeps_is_woken() {
        let mut world = World::new();
        let mut sensor = Lsm303dlhcMagnetometer::new();
        assert_eq!(sensor.counts(&mut world), Ok([1, 2, 3]));
        world.asleep = Some([1, 2, 3]);
        let mut woken = None;
        for number in 0..100 {
            world.field = [number, 0, 0];
            if sensor.counts(&mut world) == Ok([number, 0, 0]) {
                woken = woken.or(Some(number));
            }
        }
        assert_eq!(woken, Some(31));
    }

    #[test]
    fn short_faults_are_overcome_and_long_ones_reported_by_name() {
        let mut bus = FaultyBus::new(World::new());
        let mut sensor = MagnetometerThermometer::default();
        bus.fail_next(0x1E, 2, Failure::NoAcknowledge);
        assert!(sensor.insist(&mut bus, 3).is_ok());
        bus.fail_next(0x1E, 3, Failure::NoAcknowledge);
        let silent = Fault::new(Device::Magnetometer, FaultKind::NoAcknowledge);
        assert_eq!(sensor.insist(&mut bus, 3), Err(silent));
        bus.fail_next(0x48, 3, Failure::NoAcknowledge);
        let silent = Fault::new(Device::Thermometer, FaultKind::NoAcknowledge);
        assert_eq!(sensor.insist(&mut bus, 3), Err(silent));
        assert!(sensor.insist(&mut bus, 3).is_ok());
    }

    #[test]
    fn a_device_that_fails_costs_its_channels_alone() {
        let mut bus = FaultyBus::new(World::new());
        let mut sensor = MagnetometerThermometer::default();
        let present = |sensor: &mut MagnetometerThermometer, bus: &mut FaultyBus<World>| {
            let (row, fault) = sensor.readings(bus, 3);
            (row.map(|reading| reading.is_some()), fault.map(|fault| fault.device))
        };
        assert_eq!(present(&mut sensor, &mut bus), ([true; 4], None));
        bus.fail_next(0x1E, 3, Failure::NoAcknowledge);
        let without_field = ([false, false, false, true], Some(Device::Magnetometer));
        assert_eq!(present(&mut sensor, &mut bus), without_field);
        bus.fail_next(0x48, 3, Failure::NoAcknowledge);
        let without_heat = ([true, true, true, false], Some(Device::Thermometer));
        assert_eq!(present(&mut sensor, &mut bus), without_heat);
        bus.fail_next(0x48, 2, Failure::NoAcknowledge);
        assert_eq!(present(&mut sensor, &mut bus), ([true; 4], None));
    }
}
