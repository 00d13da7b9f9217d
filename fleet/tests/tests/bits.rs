//! The same bytes for any partition and order, and those of the core.

use datafusion::arrow::array::AsArray;
use datafusion::arrow::datatypes::Float32Type;
use fastmmd::dynamic::Map;
use fastmmd::{Embedding, Kernel, Sampling};
use fastmmd_datafusion::State;
use fastmmd_fleet_tests::{ask, batch, bytes, over, row};
use fastmmd_reference::features::Frequencies;
use fastmmd_reference::points::{Points, Weighted};
use fastmmd_reference::tolerance;

const ROWS: u64 = 100_000;
const WORDS: &str = "frequencies=64 level=0.25,-0.5 deviation=1.5,0.75";

/// The rows in an order that depends on `seed`, cut into so many partitions.
fn partitions(count: usize, seed: u64) -> Vec<Vec<datafusion::arrow::array::RecordBatch>> {
    let mut rows: Vec<u64> = (0..ROWS).collect();
    if seed > 0 {
        rows.sort_by_key(|index| (index ^ seed).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    }
    rows.chunks(rows.len().div_ceil(count))
        .map(|part| part.chunks(1700).map(|rows| batch(rows, 13)).collect())
        .collect()
}

/// The core's embedding of standardised rows, one by one.
fn core_embedding(map: &Map, rows: impl Iterator<Item = [f32; 2]>) -> Embedding<Map> {
    let mut embedding = Embedding::new(map);
    for row in rows {
        let standard =
            |x: f32, level: f64, deviation: f64| ((f64::from(x) - level) / deviation) as f32;
        let row = [standard(row[0], 0.25, 1.5), standard(row[1], -0.5, 0.75)];
        embedding.add(map, &row).unwrap();
    }
    embedding
}

#[tokio::test]
async fn any_partition_and_order_gives_the_same_bytes() {
    let sql = format!("SELECT mmd_embed('{WORDS}', x, y, device) FROM t");
    let by_device = format!(
        "SELECT device, mmd_embed('{WORDS}', x, y, mmd_weight(w), device) s FROM t GROUP BY device ORDER BY device"
    );
    let scale = "SELECT mmd_scale('seed=3', x, y) FROM t";
    let mut first = None;
    for (count, seed) in [(1, 0), (7, 0), (64, 0), (1, 1), (7, 2), (64, 3)] {
        let context = over(partitions(count, seed));
        let own = (
            bytes(&ask(&context, &sql).await.unwrap(), 0),
            ask(&context, &by_device).await.unwrap(),
            ask(&context, scale).await.unwrap(),
        );
        assert_eq!(own.1.num_rows(), 13);
        let first = first.get_or_insert_with(|| own.clone());
        assert!(*first == own, "{count} partitions, order {seed}");
    }
    // The control: one row less gives other bytes.
    let context = over(partitions(7, 0));
    let less = ask(&context, &format!("{sql} WHERE x <> (SELECT max(x) FROM t)")).await.unwrap();
    assert_ne!(bytes(&less, 0), first.unwrap().0);
}

#[tokio::test]
async fn groups_that_hardly_repeat_give_the_same_bytes() {
    // The engine then hands rows on as states of their own.
    let sql = "WITH d AS (SELECT x, mmd_embed(x, y, device) FILTER (WHERE n > 2) s, \
        min(device) device FROM t GROUP BY x), \
        e AS (SELECT x, mmd_merge(s, device) s FROM d GROUP BY x) SELECT mmd_merge(s, 'all') FROM e";
    let mut states = Vec::new();
    for rows in ["100000000", "0"] {
        let context = over(partitions(3, 0));
        let set = "SET datafusion.execution.skip_partial_aggregation_probe";
        for setting in ["rows_threshold = ", "ratio_threshold = 0.1 --"] {
            context.sql(&format!("{set}_{setting}{rows}")).await.unwrap();
        }
        states.push(bytes(&ask(&context, sql).await.unwrap(), 0));
    }
    assert_eq!(states[0], states[1]);
    let state = State::of_bytes(&states[0]).unwrap();
    assert_eq!(state.count(), (0..ROWS).filter(|row| row % 7 > 2).count() as f64);
}

#[tokio::test]
async fn sql_and_the_core_give_the_same_bits() {
    let context = over(partitions(7, 5));
    let sql = format!("SELECT mmd_embed('{WORDS}', x, y) FROM t");
    let state = State::of_bytes(&bytes(&ask(&context, &sql).await.unwrap(), 0)).unwrap();
    let map = Map::fourier(Kernel::GAUSSIAN, Sampling::Additive, 1, 2, 64).unwrap();
    let core = core_embedding(&map, (0..ROWS).map(row));
    assert!(*state.embedding() == core);
    assert!(state.embedding().exact_sums().eq(core.exact_sums()));
    // The control: a single row of them that is off by a thousandth is seen.
    let other = (0..ROWS).map(|index| {
        let [x, y] = row(index);
        if index == 777 { [x + 1e-3, y] } else { [x, y] }
    });
    assert!(*state.embedding() != core_embedding(&map, other));
}

#[tokio::test]
async fn weights_and_merging_are_those_of_the_core() {
    let context = over(partitions(3, 0));
    let sql = format!(
        "WITH d AS (SELECT device, mmd_embed('{WORDS}', x, y) s FROM t GROUP BY device)
         SELECT mmd_merge(s, device), (SELECT mmd_embed('{WORDS}', x, y) FROM t),
                (SELECT mmd_embed('{WORDS}', x, y, mmd_weight(w)) FROM t) FROM d"
    );
    let result = ask(&context, &sql).await.unwrap();
    assert_eq!(bytes(&result, 0), bytes(&result, 1));
    let weighted = State::of_bytes(&bytes(&result, 2)).unwrap();
    // Weights are 0, 0.5, … 2 by turns.
    assert_eq!(weighted.count(), ROWS as f64);
    assert_ne!(bytes(&result, 2), bytes(&result, 1));
}

#[tokio::test]
async fn mmd_is_that_of_the_reference_in_f64() {
    let context = over(partitions(2, 0));
    let sql = "SELECT mmd2(a.s, b.s), mmd2_unbiased(a.s, b.s) FROM
        (SELECT mmd_embed(x, y) s FROM t) a, (SELECT mmd_embed(x, y + 0.5) s FROM t) b";
    let result = ask(&context, sql).await.unwrap();
    let value =
        |column: usize| f64::from(result.column(column).as_primitive::<Float32Type>().value(0));
    let map = Map::fourier(Kernel::GAUSSIAN, Sampling::Additive, 1, 2, 64).unwrap();
    let omega = map.frequencies().iter().map(|turns| f64::from(*turns)).collect::<Vec<_>>();
    let omega = Frequencies::new(omega.chunks(2).map(<[f64]>::to_vec).collect()).unwrap();
    let spectrum = |shift: f64| {
        // What is embedded is in f32.
        let rows = (0..ROWS).map(row);
        let rows = rows.flat_map(|[x, y]| [f64::from(x), f64::from((f64::from(y) + shift) as f32)]);
        omega.spectrum(&Weighted::even(Points::new(2, rows.collect()).unwrap())).unwrap()
    };
    let (plain, moved) = (spectrum(0.0), spectrum(0.5));
    let exact = plain.biased(&moved);
    tolerance::MMD2.hold("10⁵ rows by SQL", value(0), exact);
    tolerance::MMD2.hold("the same, unbiased", value(1), plain.unbiased(&moved).unwrap());
    // The control: a difference that can be seen.
    assert!(exact > 100.0 * tolerance::MMD2.limit, "{exact}");
}
