//! Speed, as ratios of one run: processor time of the thread, so that a busy machine does not matter.

use std::hint::black_box;
use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, Float32Array, RecordBatch};
use fastmmd::dynamic::Map;
use fastmmd::{Kernel, Sampling};
use fastmmd_fleet_bare::{at_once, one_by_one};
use fastmmd_fleet_tests::{ask, over, row};

/// So many that planning does not count.
const ROWS: u64 = 2_000_000;

/// Nanoseconds that this thread has run.
fn processor_time() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_whitespace().next()?.parse().ok()
}

/// The least time of several runs; all work is on this thread.
fn least(mut run: impl FnMut()) -> Option<f64> {
    let times = (0..3).map(|_| {
        let start = processor_time()?;
        run();
        Some(processor_time()? - start)
    });
    times.min().flatten().map(|time| time as f64)
}

#[test]
fn sql_takes_at_most_twice_the_time_of_the_cores_own_loop() {
    let rows: Vec<[f32; 2]> = (0..ROWS).map(row).collect();
    let columns: [(&str, ArrayRef); 2] = [0, 1].map(|channel| {
        let values = rows.iter().map(|row| row[channel]);
        let name = ["x", "y"][channel];
        (name, Arc::new(Float32Array::from_iter_values(values)) as ArrayRef)
    });
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let parts = (0..batch.num_rows()).step_by(8192);
    let parts = parts.map(|at| batch.slice(at, 8192.min(batch.num_rows() - at))).collect();
    let context = over(vec![parts]);
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let sql = |sql: &str| least(|| drop(runtime.block_on(ask(&context, sql)).unwrap()));
    let map = Map::fourier(Kernel::GAUSSIAN, Sampling::Additive, 1, 2, 64).unwrap();
    let one_by_one = least(|| drop(black_box(one_by_one(&map, &rows).unwrap())));
    let at_once = least(|| drop(black_box(at_once(&map, rows.as_flattened()).unwrap())));
    let embed = sql("SELECT mmd_embed(x, y) FROM t");
    let larger = sql("SELECT mmd_embed('frequencies=256', x, y) FROM t");
    let (Some(one_by_one), Some(at_once), Some(embed)) = (one_by_one, at_once, embed) else {
        println!("not measured: this system does not tell a thread's processor time");
        return;
    };
    let per_row = 1.0 / ROWS as f64;
    println!(
        "mmd_embed over 64 frequencies: {:.0} ns per row; {:.2} times Embedding::add_many, {:.2} \
         times Embedding::add",
        embed * per_row,
        embed / at_once,
        embed / one_by_one
    );
    assert!(embed < 2.0 * at_once, "{}", embed / at_once);
    // The control: four times the frequencies are beyond that limit.
    let larger = larger.unwrap_or_default();
    assert!(larger > 2.0 * at_once, "{}", larger / at_once);
}
