//! Rows that depend on earlier ones: blocks of rows are shuffled instead of rows.

use fastmmd_tune::memory::Memory;
use serde_json::{Value, json};

use crate::sample::Readings;

/// How much the rows of two samples depend on earlier ones.
pub(crate) fn memory(x: &Readings, y: &Readings) -> Memory {
    let both = [x, y];
    Memory::of([x.len(), y.len()], x.dims(), |sample, row, channel| {
        f64::from(both[sample].values[row * x.dims() + channel])
    })
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
