//! Rows that depend on earlier ones: blocks of rows are shuffled instead of rows.

use fastmmd_reference::features::Frequencies;
use fastmmd_reference::null::Features;
use fastmmd_tune::memory::Memory;
use serde_json::{Value, json};

use crate::fault::Fault;
use crate::sample::{Readings, points, refused};

/// How much the rows of two samples depend on earlier ones.
pub(crate) fn memory(x: &Readings, y: &Readings) -> Memory {
    let both = [x, y];
    Memory::of([x.len(), y.len()], x.dims(), |sample, row, channel| {
        f64::from(both[sample].values[row * x.dims() + channel])
    })
}

/// The mean features of blocks of rows, of one sample and then the other: to shuffle blocks is to
/// shuffle these. MMD² between the two groups is that of all rows in whole blocks.
pub(crate) fn pool(
    frequencies: &Frequencies,
    x: &Readings,
    y: &Readings,
    block: usize,
) -> Result<Features, Fault> {
    let (mut values, mut sizes) = (Vec::new(), [0; 2]);
    for (sample, size) in [x, y].into_iter().zip(&mut sizes) {
        for rows in sample.values.chunks_exact(block * sample.dims()) {
            let rows = points(sample.dims(), rows.chunks_exact(sample.dims()))?;
            let features = frequencies.columns(&rows).map_err(refused)?;
            values.extend(features.column_mean().iter());
            *size += 1;
        }
    }
    Features::from_values(sizes, values).map_err(refused)
}

/// The same of features that are there already, those of `sizes[0]` rows and then of `sizes[1]`.
pub(crate) fn of_features(
    features: &[Vec<f64>],
    sizes: [usize; 2],
    block: usize,
) -> Result<Features, Fault> {
    let (mut values, mut blocks) = (Vec::new(), [0; 2]);
    let (x, y) = features.split_at(sizes[0]);
    for (sample, count) in [x, y].into_iter().zip(&mut blocks) {
        for rows in sample.chunks_exact(block) {
            let mean = |place: usize| {
                let sum: f64 = rows.iter().map(|row| row[place]).sum();
                sum / fastmmd_reference::real(block)
            };
            values.extend((0..rows[0].len()).map(mean));
            *count += 1;
        }
    }
    Features::from_values(blocks, values).map_err(refused)
}

/// Rows that the toolbox shuffles together: one, unless rows depend on earlier ones.
pub(crate) fn rows(memory: &Memory) -> usize {
    if memory.is_dependent() { memory.block } else { 1 }
}

/// How rows depend on earlier ones, as `test` writes it.
pub(crate) fn tell(memory: &Memory, object: &mut Value) {
    object["memory_rows"] = json!(memory.rows);
    object["independent_rows"] = json!(memory.worth);
    object["block_rows"] = json!(memory.is_dependent().then_some(memory.block));
}

/// What there is to say where rows depend on earlier ones.
pub(crate) fn lines(memory: &Memory) -> Vec<String> {
    if !memory.is_dependent() {
        return Vec::new();
    }
    let [x, y] = memory.worth;
    let mut lines = vec![format!(
        "rows depend on earlier ones, and are worth {:.0} independent ones: blocks of {} rows were \
         shuffled",
        x.min(y),
        memory.block
    )];
    lines.extend(memory.short.then(|| SHORT.to_owned()));
    lines
}

/// Of blocks that had to be short.
pub(crate) const SHORT: &str =
    "note: too few rows for blocks as long as they should be: p may be too small";
