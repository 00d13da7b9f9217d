//! A map whose shape is known at run time, where it has to be in the type.

use fastmmd::dynamic::Map;
use fastmmd::{Config, Detector, Kernel, Sampling};

fn main() {
    let map = Map::fourier(Kernel::GAUSSIAN, Sampling::Additive, 1, 3, 32).unwrap();
    let _ = Detector::new(&map, Config::rows(1e4));
}
