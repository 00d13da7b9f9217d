//! A row of four readings for a detector of three channels.

use fastmmd::{Config, Detector, Error, Fourier};

static MAP: Fourier<3, 64> = Fourier::additive(1);

fn main() -> Result<(), Error> {
    let mut detector = Detector::new(&MAP, Config::rows(4e3))?;
    detector.push(&[0.1, 0.2, 0.3, 0.4])?;
    Ok(())
}
