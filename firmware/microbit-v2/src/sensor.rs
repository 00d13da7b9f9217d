//! The magnetometer on the board, read by its driver crate.

use drift_app::fault::{Device, Fault, FaultKind};
use drift_app::sensor::{Repeats, Sensor};
use embedded_hal::i2c::{Error as BusError, I2c};
use lsm303agr::{Error, Lsm303agr};

/// The magnetometer of an LSM303AGR, one measurement at a time; microtesla along X, Y, Z.
#[derive(Debug, Default)]
pub(crate) struct Lsm303agrMagnetometer {
    ready: bool,
    repeats: Repeats<[f32; 3]>,
}

/// Microtesla per count.
const MICROTESLA: f32 = 0.15;

/// Number of polls for a result: a measurement takes about 10 ms, a poll about 0.5 ms.
const PATIENCE: u32 = 100;

impl Lsm303agrMagnetometer {
    fn measure<B: I2c>(&self, bus: &mut B) -> Result<[f32; 3], Fault> {
        let mut driver = Lsm303agr::new_with_i2c(bus);
        if !self.ready {
            driver.init().map_err(fault)?;
        }
        for _ in 0..PATIENCE {
            match driver.magnetic_field() {
                Ok(field) => {
                    let (x, y, z) = field.xyz_unscaled();
                    return Ok([x, y, z].map(|count| f32::from(count) * MICROTESLA));
                }
                Err(nb::Error::WouldBlock) => {}
                Err(nb::Error::Other(error)) => return Err(fault(error)),
            }
        }
        Err(Fault::new(Device::Magnetometer, FaultKind::Bus))
    }
}

fn fault<E: BusError>(error: Error<E>) -> Fault {
    match error {
        Error::Comm(error) => Fault::of_bus(Device::Magnetometer, &error),
        Error::InvalidInputData => Fault::new(Device::Magnetometer, FaultKind::Refused),
    }
}

impl Sensor<3> for Lsm303agrMagnetometer {
    const STEPS: Option<[f32; 3]> = Some([MICROTESLA; 3]);

    fn read<B: I2c>(&mut self, bus: &mut B) -> Result<[f32; 3], Fault> {
        let reading = self.measure(bus);
        // After a fault it may have lost power: it is set up again.
        self.ready = reading.is_ok_and(|reading| !self.repeats.are_many(reading));
        reading
    }
}
