//! Vectors of three values, of rows of two.

use fastmmd::condition::Raw;
use fastmmd::{Config, Detector, Error, Fourier};

static MAP: Fourier<3, 64> = Fourier::gaussian(1);

fn main() -> Result<(), Error> {
    let config: Config<Raw<2, 3>> = Config::lagged(4e3);
    let mut detector = Detector::new(&MAP, config)?;
    detector.push(&[0.1, 0.2])?;
    Ok(())
}
