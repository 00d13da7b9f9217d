//! Two devices learn separately, and a host merges what they learned.
//!
//! Each device sends its embedding as bytes. The merged embedding is the same, bit for bit, as if
//! one device had seen all samples, in any order.

use fastmmd::embedding::mmd;
use fastmmd::{Embedding, Fourier};

type Map = Fourier<2, 64>;

static MAP: Map = Fourier::gaussian(1);

/// The readings of a device: points on a circle, moved by `offset`.
fn reading(step: u16, offset: f32) -> [f32; 2] {
    let (sin, cos) = (f32::from(step) * 0.77).sin_cos();
    [cos + offset, sin]
}

/// A device: learns from its readings and sends its embedding.
fn device(offset: f32) -> Result<Vec<u8>, fastmmd::Error> {
    let mut learned = Embedding::new(&MAP);
    for step in 0..500 {
        learned.add(&MAP, &reading(step, offset))?;
    }
    let mut bytes = vec![0; Embedding::<Map>::SAVED_BYTES];
    learned.save(&MAP, &mut bytes)?;
    Ok(bytes)
}

/// The host: restores the embedding that a device sent.
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
    println!("merged: {} samples, equal to one device that saw them all", joined.weight());
    Ok(())
}
