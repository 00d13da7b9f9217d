//! Settings with a cycle for a detector without.

use fastmmd::{Config, Detector, Error, Fourier};

static MAP: Fourier<3, 64> = Fourier::additive(1);

fn main() -> Result<(), Error> {
    let mut detector = Detector::new(&MAP, Config::rows(4e3))?;
    detector.relearn_with(Config::rows(4e3).with_period(24.0))?;
    Ok(())
}
