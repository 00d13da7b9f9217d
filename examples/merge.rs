//! Two devices learn apart, and their references are joined exactly.
//!
//! Each device sends its embedding as bytes; the host merges them, and the result is the same,
//! bit for bit, as if one device had seen all samples. The order does not matter either.

use fastmmd::embedding::mmd;
use fastmmd::{Embedding, Fourier};

type Map = Fourier<2, 64>;

static MAP: Map = Fourier::gaussian(1);

/// What a device reads: a circle, seen from `offset`.
fn reading(step: u16, offset: f32) -> [f32; 2] {
    let (sin, cos) = (f32::from(step) * 0.77).sin_cos();
    [cos + offset, sin]
}

/// A device: learns from its readings and sends what it learned.
fn device(offset: f32) -> Result<Vec<u8>, fastmmd::Error> {
    let mut learned = Embedding::new(&MAP);
    for step in 0..500 {
        learned.add(&MAP, &reading(step, offset))?;
    }
    let mut bytes = vec![0; Embedding::<Map>::SAVED_BYTES];
    learned.save(&MAP, &mut bytes)?;
    Ok(bytes)
}

/// The host: reads what a device sent.
fn received(bytes: &[u8]) -> Result<Embedding<Map>, fastmmd::Error> {
    let mut embedding = Embedding::new(&MAP);
    embedding.restore(&MAP, bytes)?;
    Ok(embedding)
}

fn main() -> Result<(), fastmmd::Error> {
    let (first, second) = (received(&device(0.0)?)?, received(&device(0.3)?)?);
    println!("the devices differ by MMD² = {:.5}", mmd::squared_unbiased(&first, &second)?);

    let mut joined = second.clone();
    joined.merge(&first)?;

    let mut alone = Embedding::new(&MAP);
    for offset in [0.0, 0.3] {
        for step in 0..500 {
            alone.add(&MAP, &reading(step, offset))?;
        }
    }
    assert_eq!(joined, alone, "merging is exact");
    println!("joined: {} samples, equal to one device that saw them all", joined.weight());
    Ok(())
}
