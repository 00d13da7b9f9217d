//! Two readings, one of them missing, for a detector of three channels.

use fastmmd::{Config, Detector, Error, Fourier};

static MAP: Fourier<3, 64> = Fourier::additive(1);

fn main() -> Result<(), Error> {
    let mut detector = Detector::new(&MAP, Config::rows(4e3))?;
    detector.push_partial(&[Some(0.1), None])?;
    Ok(())
}
