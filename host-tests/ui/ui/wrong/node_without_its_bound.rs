//! Generic code that makes a detector of a map of unknown shape.

use fastmmd::monitor::Legs;
use fastmmd::{Config, Detector, Error, FeatureMap};

fn make<M: FeatureMap, L: Legs>(map: &M, config: Config<L>) -> Result<Detector<'_, M, L>, Error> {
    Detector::new(map, config)
}

fn main() {}
