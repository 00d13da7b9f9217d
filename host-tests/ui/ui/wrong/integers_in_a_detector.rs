//! A detector over a map of integer samples.

use fastmmd::{Config, Detector, Error, fixed};

static MAP: fixed::Fourier<3, 64> = fixed::Fourier::gaussian(1);

fn main() -> Result<(), Error> {
    Detector::new(&MAP, Config::rows(4e3))?;
    Ok(())
}
