//! A period for legs that carry no profile.

use fastmmd::{Config, Detector, Fourier, checked};

static MAP: Fourier<3, 64> = Fourier::additive(1);
static START: Detector<Fourier<3, 64>> =
    checked!(Detector::new(&MAP, Config { period: Some(24.0), ..Config::rows(4e3) }));

fn main() {
    let _ = &START;
}
