//! What a device of two channels learned, merged into one of three.

use fastmmd::{Config, Detector, Error, Fourier};

static TWO: Fourier<2, 64> = Fourier::additive(1);
static THREE: Fourier<3, 64> = Fourier::additive(1);

fn main() -> Result<(), Error> {
    let mut detector = Detector::new(&THREE, Config::rows(4e3))?;
    detector.merge(&Detector::new(&TWO, Config::rows(4e3))?)?;
    Ok(())
}
