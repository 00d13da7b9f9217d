//! A mean time between false alarms of ten rows.

use fastmmd::{Config, Detector, Fourier, checked};

static MAP: Fourier<3, 64> = Fourier::additive(1);
static START: Detector<Fourier<3, 64>> = checked!(Detector::new(&MAP, Config::rows(10.0)));

fn main() {
    let _ = &START;
}
