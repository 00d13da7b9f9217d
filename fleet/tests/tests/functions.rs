//! What the functions of states give.

use datafusion::arrow::array::AsArray;
use datafusion::arrow::datatypes::{Float32Type, Float64Type, Int64Type, UInt64Type};
use fastmmd_datafusion::{FleetMap, State};
use fastmmd_fleet_tests::{ask, batch, bytes, over};

fn table() -> datafusion::prelude::SessionContext {
    over(vec![vec![batch(&(0..3000).collect::<Vec<_>>(), 3)]])
}

#[tokio::test]
async fn two_states_have_a_distance_a_significance_and_a_witness() {
    let context = table();
    let sql = "WITH s AS (SELECT mmd_embed(x, y) FILTER (WHERE device = 'pump-0') a,
            mmd_embed(x, y) FILTER (WHERE device = 'pump-1') b,
            mmd_embed(x + 3, y) FILTER (WHERE device = 'pump-1') c FROM t)
        SELECT mmd2(a, b), mmd2(a, c), mmd2_unbiased(a, b), mmd_p_value(a, b), mmd_p_value(a, c),
            mmd_witness(a, c, -2.5, 0), mmd_witness(a, c, 5.0, 0), mmd2(a, a), mmd2(a, NULL) FROM s";
    let result = ask(&context, sql).await.unwrap();
    let value = |column: usize| result.column(column).as_primitive::<Float32Type>().value(0);
    let (same, other) = (value(0), value(1));
    assert!(same < 0.01 && other > 5.0 * same, "{same} {other}");
    assert!(value(2) < same);
    assert!(value(3) > 0.05 && value(4) < 0.05, "{} {}", value(3), value(4));
    assert!(value(5) > 0.0 && value(6) < 0.0, "{} {}", value(5), value(6));
    assert!(value(7).abs() < 1e-6);
    assert!(result.column(8).is_null(0));
}

#[tokio::test]
async fn a_state_tells_what_it_holds_and_its_integers_give_the_same_distance() {
    let context = table();
    let sql = "WITH s AS (SELECT device, mmd_embed('frequencies=32', x, y, n) s FROM t
            GROUP BY device),
        i AS (SELECT device, s, mmd_inspect(s) i FROM s)
        SELECT i['weight'], i['sums'], i['map'], s, mmd_count(s), i['skipped'], mmd_map(s)
        FROM i ORDER BY device";
    let result = ask(&context, sql).await.unwrap();
    let weights = result.column(0).as_primitive::<Float64Type>();
    assert_eq!(weights.values(), &[1000.0; 3]);
    assert_eq!(result.column(4).as_primitive::<Float64Type>().values(), &[1000.0; 3]);
    assert_eq!(result.column(5).as_primitive::<UInt64Type>().values(), &[0; 3]);
    let states: Vec<State> = (0..3)
        .map(|row| State::of_bytes(result.column(3).as_binary::<i64>().value(row)).unwrap())
        .collect();
    let sums = |row: usize| -> Vec<f64> {
        let sums = result.column(1).as_list::<i32>().value(row);
        sums.as_primitive::<Int64Type>().values().iter().map(|sum| *sum as f64).collect()
    };
    let by_hand: f64 = sums(0)
        .iter()
        .zip(sums(1))
        .map(|(a, b)| ((a - b) / 1000.0 / 16_777_216.0).powi(2))
        .sum::<f64>()
        / 32.0;
    let core =
        fastmmd::embedding::mmd::squared_biased(states[0].embedding(), states[1].embedding());
    assert!((by_hand - f64::from(core.unwrap())).abs() < 1e-6);
    let text = result.column(6).as_string::<i32>().value(0);
    assert_eq!(text, result.column(2).as_string::<i32>().value(0));
    assert!(FleetMap::of(text, 3).unwrap().is_as(states[0].map()));
}

#[tokio::test]
async fn a_scale_is_the_mean_and_deviation_and_serves_as_map() {
    let context = table();
    let sql =
        "WITH m AS (SELECT mmd_scale('frequencies=16 seed=9', x, 1e6 + 3 * y, device) m FROM t)
        SELECT mmd_embed(m, x, 1e6 + 3 * y, device), avg(x), stddev_pop(x) FROM t, m";
    let result = ask(&context, sql).await.unwrap();
    let state = State::of_bytes(&bytes(&result, 0)).unwrap();
    let scale = state.map().scales();
    let value = |column: usize| result.column(column).as_primitive::<Float64Type>().value(0);
    assert!((scale[0].level - value(1)).abs() < 1e-9);
    assert!((scale[0].deviation - value(2)).abs() < 1e-9);
    assert!((scale[1].level - 1e6).abs() < 1.0 && scale[1].deviation < 10.0);
    // The text is read back to the same map.
    let text = state.map().to_string();
    assert_eq!(*FleetMap::of(&text, 2).unwrap(), **state.map());
}
