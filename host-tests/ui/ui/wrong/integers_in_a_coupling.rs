//! A coupling over a map of integer samples.

use fastmmd::monitor::coupling::{Config, Monitor};
use fastmmd::{Error, Fourier, fixed};

static PUMP: Fourier<1, 16> = Fourier::gaussian(1);
static MOTOR: fixed::Fourier<3, 64> = fixed::Fourier::gaussian(1);

fn main() -> Result<(), Error> {
    Monitor::new(&PUMP, &MOTOR, Config::rows(1e4))?;
    Ok(())
}
