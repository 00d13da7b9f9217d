//! The number of frequencies where the map belongs.

use fastmmd::Embedding;
use fastmmd::shape::Fixed;

fn learned(_embedding: &Embedding<Fixed<64>>) {}

fn main() {
    let _ = learned;
}
