//! A sample of two values for a map of three inputs.

use fastmmd::{Embedding, Error, Fourier};

static MAP: Fourier<3, 64> = Fourier::gaussian(1);

fn main() -> Result<(), Error> {
    let mut embedding = Embedding::new(&MAP);
    embedding.add(&MAP, &[0.1, 0.2])?;
    Ok(())
}
