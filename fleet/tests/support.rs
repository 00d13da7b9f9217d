//! What the tests share: made-up rows, sessions, and the bytes of a single value.

use std::sync::Arc;

use datafusion::arrow::array::{
    ArrayRef, AsArray, Float32Array, Float64Array, Int64Array, RecordBatch, StringArray,
};
use datafusion::datasource::MemTable;
use datafusion::error::Result;
use datafusion::prelude::{SessionConfig, SessionContext};
use fastmmd_fleet::made::SplitMix64;

/// Numbers from −3 to 3 that look random.
#[must_use]
pub fn noise(index: u64) -> f32 {
    let bits = SplitMix64(index.wrapping_mul(0x9e37_79b9_7f4a_7c15)).bits();
    let unit = ((bits >> 40) as f32) / 16_777_216.0;
    6.0 * unit - 3.0
}

/// A row of two channels.
#[must_use]
pub fn row(index: u64) -> [f32; 2] {
    [noise(2 * index), noise(2 * index + 1)]
}

/// Rows as a batch: `device`, `x`, `y` in `f32`, `w` and `n`.
///
/// # Panics
/// Never: all columns are of one length.
#[must_use]
pub fn batch(rows: &[u64], devices: u64) -> RecordBatch {
    let column = |channel: usize| -> ArrayRef {
        Arc::new(Float32Array::from_iter_values(rows.iter().map(|index| row(*index)[channel])))
    };
    let names = rows.iter().map(|index| format!("pump-{}", index % devices));
    let weights = rows.iter().map(|index| f64::from(u32::try_from(index % 5).unwrap()) * 0.5);
    let columns: [(&str, ArrayRef); 5] = [
        ("device", Arc::new(StringArray::from_iter_values(names))),
        ("x", column(0)),
        ("y", column(1)),
        ("w", Arc::new(Float64Array::from_iter_values(weights))),
        ("n", Arc::new(Int64Array::from_iter_values(rows.iter().map(|index| *index as i64 % 7)))),
    ];
    RecordBatch::try_from_iter(columns).expect("columns of one length")
}

/// A session with the functions, and this many partitions.
#[must_use]
pub fn session(partitions: usize) -> SessionContext {
    let config = SessionConfig::new().with_target_partitions(partitions).with_batch_size(1000);
    let context = SessionContext::new_with_config(config);
    fastmmd_datafusion::register(&context);
    context
}

/// A session with these batches as the partitions of table `t`.
///
/// # Panics
/// If the batches differ in schema.
#[must_use]
pub fn over(partitions: Vec<Vec<RecordBatch>>) -> SessionContext {
    let context = session(partitions.len().max(1));
    let schema = partitions[0][0].schema();
    let table = MemTable::try_new(schema, partitions).expect("batches of one schema");
    context.register_table("t", Arc::new(table)).expect("a new name");
    context
}

/// The rows of a query as one batch.
///
/// # Errors
/// What the engine or the functions refuse.
///
/// # Panics
/// If the result has no batch at all.
pub async fn ask(context: &SessionContext, sql: &str) -> Result<RecordBatch> {
    let batches = context.sql(sql).await?.collect().await?;
    let schema = batches.first().map(RecordBatch::schema).expect("a result has a batch");
    Ok(datafusion::arrow::compute::concat_batches(&schema, &batches)?)
}

/// The bytes in the first row of a column.
///
/// # Panics
/// If there are none.
#[must_use]
pub fn bytes(batch: &RecordBatch, column: usize) -> Vec<u8> {
    batch.column(column).as_binary::<i64>().value(0).to_vec()
}
