//! The core's own loops, compiled as the functions are: generic code is compiled where it is used.

use fastmmd::dynamic::Map;
use fastmmd::{Embedding, Error, FeatureMap};

/// Adds rows one by one.
///
/// # Errors
/// As [`Embedding::add`].
pub fn one_by_one(map: &Map, rows: &[[f32; 2]]) -> Result<Embedding<Map>, Error> {
    let mut embedding = Embedding::new(map);
    rows.iter().try_for_each(|row| embedding.add(map, row))?;
    Ok(embedding)
}

/// Adds rows at once, which lie one after the other.
///
/// # Errors
/// As [`Embedding::add_many`].
pub fn at_once(map: &Map, rows: &[f32]) -> Result<Embedding<Map>, Error> {
    let mut embedding = Embedding::new(map);
    embedding.add_many(map, rows.chunks_exact(map.recipe().inputs as usize))?;
    Ok(embedding)
}
