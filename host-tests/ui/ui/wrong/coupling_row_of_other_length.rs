//! Two readings for a group of one channel.

use fastmmd::monitor::coupling::{Config, Monitor};
use fastmmd::{Error, Fourier};

static PUMP: Fourier<1, 16> = Fourier::gaussian(1);
static MOTOR: Fourier<3, 64> = Fourier::gaussian(1);

fn main() -> Result<(), Error> {
    let mut monitor = Monitor::new(&PUMP, &MOTOR, Config::rows(1e4))?;
    monitor.push(&[0.1, 0.2], &[0.1, 0.2, 0.3])?;
    Ok(())
}
