//! The long window before the short one.

use fastmmd::condition::Raw;
use fastmmd::shape::Windows;
use fastmmd::{Config, Detector, Fourier, checked};

static MAP: Fourier<3, 64> = Fourier::gaussian(1);
static START: Detector<Fourier<3, 64>, Raw<3>, Windows<2>> =
    checked!(Detector::new(&MAP, Config::rows(4e3).with_windows([16, 4])));

fn main() {
    let _ = &START;
}
