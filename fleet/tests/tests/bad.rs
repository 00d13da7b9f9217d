//! Bad input: typed errors that name the device, and what is skipped is counted.

use std::sync::Arc;

use datafusion::arrow::array::{
    ArrayRef, AsArray, BinaryArray, Float32Array, Float64Array, RecordBatch, StringArray,
    StructArray,
};
use datafusion::arrow::buffer::NullBuffer;
use datafusion::arrow::datatypes::{DataType, Field, Float64Type, UInt64Type};
use datafusion::prelude::SessionContext;
use fastmmd::dynamic::Map;
use fastmmd::{Error, FeatureMap, Kernel, Recipe, Sampling};
use fastmmd_datafusion::{Cause, FleetError, FleetMap, Scale, State};
use fastmmd_fleet_tests::{ask, bytes, over};

fn table(x: Vec<Option<f64>>) -> SessionContext {
    let names: Vec<_> = (0..x.len()).map(|row| if row % 2 == 0 { "good" } else { "bad" }).collect();
    let columns: [(&str, ArrayRef); 2] =
        [("device", Arc::new(StringArray::from(names))), ("x", Arc::new(Float64Array::from(x)))];
    over(vec![vec![RecordBatch::try_from_iter(columns).unwrap()]])
}

/// States of two devices, in one partition or in one each.
fn states_over(partitions: usize, good: &[u8], bad: &[u8]) -> SessionContext {
    let columns: [(&str, ArrayRef); 2] = [
        ("device", Arc::new(StringArray::from(vec!["good", "bad"]))),
        ("s", Arc::new(BinaryArray::from(vec![good, bad]))),
    ];
    let both = RecordBatch::try_from_iter(columns).unwrap();
    match partitions {
        1 => over(vec![vec![both]]),
        _ => over(vec![vec![both.slice(0, 1)], vec![both.slice(1, 1)]]),
    }
}

fn states(good: &[u8], bad: &[u8]) -> SessionContext {
    states_over(1, good, bad)
}

async fn refused(context: &SessionContext, sql: &str) -> FleetError {
    let error = ask(context, sql).await.expect_err(sql);
    FleetError::find(&error).unwrap_or_else(|| panic!("{sql}: {error}")).clone()
}

fn state(words: &str) -> Vec<u8> {
    State::new(FleetMap::of(words, 1).unwrap()).to_bytes().unwrap()
}

#[tokio::test]
async fn nulls_are_skipped_and_counted() {
    let context = table(vec![Some(1.0), None, Some(2.0), None, Some(3.0), Some(0.5)]);
    let sql = "SELECT device, mmd_embed(x, device) s FROM t GROUP BY device ORDER BY device";
    let result = ask(&context, &format!("WITH s AS ({sql}) SELECT mmd_count(s), mmd_inspect(s)['skipped'] FROM s ORDER BY device")).await.unwrap();
    assert_eq!(result.column(1).as_primitive::<UInt64Type>().values(), &[2, 0]);
    // All null: an empty state, which says so when it is compared.
    let empty = "SELECT mmd2(a, b, 'bad') FROM (SELECT mmd_embed(x) FILTER (WHERE x IS NULL) a, \
                 mmd_embed(x) FILTER (WHERE x IS NOT NULL) b FROM t)";
    let error = refused(&context, empty).await;
    assert_eq!((error.cause, error.device.as_deref()), (Cause::Empty, Some("bad")));
    // No row at all: null, as an average of nothing.
    let none = ask(&context, "SELECT mmd_embed(x) FROM t WHERE x > 99").await.unwrap();
    assert!(none.column(0).is_null(0));
}

#[tokio::test]
async fn what_is_not_a_number_is_refused_by_name() {
    for (value, is_number) in [(f64::NAN, false), (f64::INFINITY, false), (1e30, true)] {
        let context = table(vec![Some(1.0), Some(value), Some(2.0)]);
        let grouped = "SELECT device, mmd_embed(x, device) FROM t GROUP BY device";
        for sql in [grouped, "SELECT mmd_embed(x, device) FROM t"] {
            let error = refused(&context, sql).await;
            assert_eq!(error.device.as_deref(), Some("bad"));
            let channel = usize::from(!is_number);
            assert!(matches!(error.cause, Cause::BadValue { channel: c, .. } if c == channel));
            assert!(error.to_string().contains("device bad"), "{error}");
        }
        if !is_number {
            assert_eq!(
                refused(&context, "SELECT mmd_scale(x, device) FROM t").await.device.as_deref(),
                Some("bad")
            );
        }
    }
    let context = table(vec![Some(1.0)]);
    let error = refused(&context, "SELECT mmd_embed(x, mmd_weight(1e9), device) FROM t").await;
    assert_eq!(error.device.as_deref(), Some("good"));
}

#[tokio::test]
async fn states_of_another_map_are_refused_by_name() {
    for other in ["seed=2", "frequencies=32", "level=1 deviation=2"] {
        let context = states(&state(""), &state(other));
        let merged = refused(&context, "SELECT mmd_merge(s, device) FROM t").await;
        assert_eq!(merged.device.as_deref(), Some("bad"), "{other}");
        assert!(
            matches!(&merged.cause, Cause::OtherMap { found, .. } if found.contains(other.split(' ').next().unwrap())),
            "{merged}"
        );
        let sql = "SELECT mmd2(a.s, b.s, b.device) FROM t a, t b WHERE a.device = 'good' AND b.device = 'bad'";
        assert!(matches!(refused(&context, sql).await.cause, Cause::OtherMap { .. }));
    }
    // The control: the same map is merged.
    ask(&states(&state(""), &state("seed=1")), "SELECT mmd_merge(s, device) FROM t").await.unwrap();
    let context = table(vec![Some(1.0), Some(2.0)]);
    let sql = "SELECT mmd_embed('seed=' || CASE device WHEN 'bad' THEN '1' ELSE '2' END, x) FROM t";
    assert!(matches!(refused(&context, sql).await.cause, Cause::OtherMap { .. }));
}

/// Another seed whose map has the same fingerprint. It is a CRC-32, so differences of seeds add up to
/// differences of fingerprints: of 33 bits, some add up to none.
fn seed_of_the_same_fingerprint() -> u64 {
    let recipe = *FleetMap::of("seed=1", 1).unwrap().map().recipe();
    let turned = |bits: u64| Recipe { seed: recipe.seed ^ bits, ..recipe }.fingerprint();
    let mut basis: Vec<(u32, u64)> = Vec::new();
    for bit in 0..64 {
        let (mut rest, mut bits) = (turned(1 << bit) ^ turned(0), 1 << bit);
        for (known, others) in &basis {
            if rest ^ known < rest {
                (rest, bits) = (rest ^ known, bits ^ others);
            }
        }
        if rest == 0 {
            return recipe.seed ^ bits;
        }
        basis.push((rest, bits));
        basis.sort_unstable_by(|a, b| b.cmp(a));
    }
    unreachable!("33 numbers of 32 bits depend on each other")
}

#[tokio::test]
async fn maps_of_one_fingerprint_are_told_apart() {
    let seed = seed_of_the_same_fingerprint();
    let (own, other) =
        (FleetMap::of("", 1).unwrap(), FleetMap::of(&format!("seed={seed}"), 1).unwrap());
    assert_eq!(own.map().fingerprint(), other.map().fingerprint());
    assert!(seed != 1 && !own.is_as(&other) && own.is_as(&own));
    let context = states(&state(""), &state(&format!("seed={seed}")));
    let refused = refused(&context, "SELECT mmd_merge(s, device) FROM t").await;
    assert_eq!(refused.device.as_deref(), Some("bad"));
    assert!(matches!(refused.cause, Cause::OtherMap { .. }), "{refused}");
}

#[tokio::test]
async fn another_map_in_another_partition_is_refused_by_name() {
    let all = "SELECT mmd_merge(s, device) FROM t";
    let grouped = "SELECT mmd_merge(s, device) FROM t GROUP BY length(device) > 0";
    for sql in [all, grouped] {
        let context = states_over(2, &state("seed=1"), &state("seed=2"));
        let error = refused(&context, sql).await;
        // Which of the two comes first is chance: the one that is named has the map that is told.
        let Cause::OtherMap { found, .. } = &error.cause else { panic!("{sql}: {error}") };
        let named = if found.contains("seed=2") { "bad" } else { "good" };
        assert_eq!(error.device.as_deref(), Some(named), "{sql}: {error}");
        // The control: without a name, none is told; of one map, nothing is refused.
        let nameless = sql.replace(", device)", ")");
        assert_eq!(refused(&context, &nameless).await.device, None);
        ask(&states_over(2, &state(""), &state("seed=1")), sql).await.unwrap();
    }
    let words = "'seed=' || CASE device WHEN 'bad' THEN '2' ELSE '1' END";
    for sql in [
        format!("SELECT mmd_embed({words}, length(device), device) FROM t"),
        format!("SELECT mmd_embed({words}, length(device), device) FROM t GROUP BY s IS NULL"),
        format!("SELECT mmd_scale({words}, length(device), device) FROM t"),
    ] {
        for partitions in [1, 2] {
            let error = refused(&states_over(partitions, b"", b""), &sql).await;
            let Cause::OtherMap { found, .. } = &error.cause else { panic!("{sql}: {error}") };
            let named = if found.contains("seed=2") { "bad" } else { "good" };
            assert_eq!(error.device.as_deref(), Some(named), "{sql}: {error}");
        }
    }
    // What is damaged is refused where it is read.
    let context = states_over(2, &state(""), b"hello");
    assert_eq!(refused(&context, all).await.device.as_deref(), Some("bad"));
}

#[tokio::test]
async fn what_would_be_ignored_is_refused() {
    let context = table(vec![Some(1.0), Some(2.0), Some(1.0)]);
    for sql in [
        "SELECT mmd_embed(DISTINCT x, x + 1) FROM t",
        "SELECT mmd_embed(DISTINCT x, device) FROM t GROUP BY device",
        "SELECT mmd_merge(DISTINCT s, device) FROM (SELECT device, mmd_embed(x) s FROM t GROUP BY device)",
        "SELECT mmd_scale(DISTINCT x, x + 1) FROM t",
        "SELECT mmd_scale(x, mmd_weight(x)) FROM t",
        "SELECT mmd_witness(s, s, 1.0, mmd_weight(2.0)) FROM (SELECT mmd_embed(x) s FROM t)",
        "SELECT mmd_embed(x, named_struct('weight', 'a')) FROM t",
    ] {
        let error = ask(&context, sql).await.expect_err(sql).to_string();
        let told = ["DISTINCT is not supported", "takes no mmd_weight", "not a number"];
        assert!(told.iter().any(|told| error.contains(told)), "{sql}: {error}");
    }
    // The engine itself takes distinct values of a single argument.
    let counts = "SELECT mmd_count(a), mmd_count(b) FROM (SELECT mmd_embed(DISTINCT x) a FROM t),
        (SELECT mmd_embed(x, mmd_weight(x)) b FROM t)";
    let result = ask(&context, counts).await.unwrap();
    let count = |column: usize| result.column(column).as_primitive::<Float64Type>().value(0);
    assert_eq!((count(0), count(1)), (2.0, 4.0));
}

#[tokio::test]
async fn a_row_without_a_weight_is_skipped() {
    let context = table(vec![Some(1.0), Some(2.0), Some(3.0)]);
    let weight = "CASE WHEN x > 1 THEN mmd_weight(x) END";
    let sql = format!(
        "WITH s AS (SELECT mmd_embed(x, {weight}) s FROM t) SELECT mmd_count(s), mmd_inspect(s)['skipped'] FROM s"
    );
    let result = ask(&context, &sql).await.unwrap();
    assert_eq!(result.column(0).as_primitive::<Float64Type>().value(0), 5.0);
    assert_eq!(result.column(1).as_primitive::<UInt64Type>().value(0), 1);
    // A number under a null: what a join or a union may leave there.
    let numbers: ArrayRef = Arc::new(Float32Array::from(vec![1.0, 1.0, 1.0]));
    let field = Arc::new(Field::new("weight", DataType::Float32, true));
    let nulls = NullBuffer::from(vec![true, false, true]);
    let weights = StructArray::new(vec![field].into(), vec![numbers], Some(nulls));
    let columns: [(&str, ArrayRef); 2] =
        [("x", Arc::new(Float64Array::from(vec![1.0, 2.0, 3.0]))), ("w", Arc::new(weights))];
    let context = over(vec![vec![RecordBatch::try_from_iter(columns).unwrap()]]);
    let result = ask(&context, "SELECT mmd_count(mmd_embed(x, w)) FROM t").await.unwrap();
    assert_eq!(result.column(0).as_primitive::<Float64Type>().value(0), 2.0);
}

#[test]
fn a_small_record_cannot_demand_a_large_map() {
    // A map of this shape would take 17 GB; here is only its recipe, with a valid checksum.
    let recipe = Recipe { inputs: 65_535, frequencies: 65_536, ..*drawn(1, 64).recipe() };
    let mut saved = vec![0; Recipe::SAVED_BYTES];
    recipe.save(&mut saved).unwrap();
    let forged = |channels: u16, record: &[u8]| {
        let mut bytes = b"FMFL\x01\0".to_vec();
        bytes.extend(channels.to_le_bytes());
        bytes.extend([0; 8]);
        let scale = [0.0_f64.to_le_bytes(), 1.0_f64.to_le_bytes()].concat();
        bytes.extend(scale.repeat(usize::from(channels)));
        bytes.extend(record);
        let sum = fastmmd::state::checksum(0, &bytes);
        bytes.extend(sum.to_le_bytes());
        bytes
    };
    let start = std::time::Instant::now();
    for channels in [65_535, 1] {
        let refused = State::of_bytes(&forged(channels, &saved));
        assert_eq!(refused, Err(Cause::BadState(Error::WrongLength)));
    }
    assert!(start.elapsed().as_secs() < 5, "it was drawn");
    // A whole record whose map is too large, and one that is not.
    for (inputs, fits) in [(4097, false), (64, true)] {
        let map = drawn(inputs, 4096);
        let map = FleetMap::new(map, vec![Scale::NONE; inputs]).unwrap();
        let bytes = State::new(Arc::new(map)).to_bytes().unwrap();
        assert_eq!(State::of_bytes(&bytes).is_ok(), fits, "{inputs}");
    }
    let words = FleetMap::of("frequencies=65536", 1000);
    assert!(matches!(words, Err(Cause::BadMap(what)) if what.contains("too many")));
}

fn drawn(inputs: usize, frequencies: usize) -> Map {
    Map::fourier(Kernel::GAUSSIAN, Sampling::Independent, 1, inputs, frequencies).unwrap()
}

#[tokio::test]
async fn states_have_room_for_more_than_two_gibibytes() {
    // 32-bit offsets end at 1.8 million devices of 64 frequencies: this is the type of all states.
    let context = table(vec![Some(1.0), Some(2.0)]);
    let sql = "WITH s AS (SELECT device, mmd_embed(x) s FROM t GROUP BY device)
        SELECT s, device_state(s), (SELECT mmd_merge(s) FROM s) FROM s";
    let result = ask(&context, sql).await.unwrap();
    for column in result.columns() {
        assert_eq!(*column.data_type(), DataType::LargeBinary);
    }
}

#[tokio::test]
async fn foreign_and_damaged_bytes_are_refused_by_name() {
    let good = state("");
    let mut flipped = good.clone();
    flipped[100] ^= 1;
    let mut newer = good.clone();
    newer[4] = 2;
    let cases = [
        (b"hello".to_vec(), Error::NotAState),
        (vec![], Error::NotAState),
        (flipped, Error::ChecksumMismatch),
        (good[..good.len() - 1].to_vec(), Error::ChecksumMismatch),
        (newer, Error::NewerVersion(2)),
    ];
    for (bytes, expected) in cases {
        let context = states(&good, &bytes);
        for sql in [
            "SELECT mmd_merge(s, device) FROM t",
            "SELECT mmd_inspect(s, device) FROM t",
            "SELECT device_state(s, device) FROM t",
        ] {
            let error = refused(&context, sql).await;
            assert_eq!(error.device.as_deref(), Some("bad"), "{sql}");
            assert_eq!(error.cause, Cause::BadState(expected), "{sql}");
        }
    }
    // Every single bit that is turned is noticed.
    for bit in 0..8 * good.len() {
        let mut bytes = good.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        assert!(State::of_bytes(&bytes).is_err(), "bit {bit}");
    }
}

#[tokio::test]
async fn wrong_words_and_arguments_are_told() {
    let context = table(vec![Some(1.0)]);
    for words in [
        "frequency=3",
        "seed",
        "seed=x",
        "frequencies=0",
        "kernel=round",
        "level=1",
        "level=1 deviation=0",
        "level=1,2 deviation=1,1",
        "block=4",
    ] {
        let error = refused(&context, &format!("SELECT mmd_embed('{words}', x) FROM t")).await;
        assert!(matches!(error.cause, Cause::BadMap(_)), "{words}: {error}");
    }
    for sql in [
        "SELECT mmd_embed() FROM t",
        "SELECT mmd_embed('seed=1') FROM t",
        "SELECT mmd2(x, x) FROM t",
        "SELECT mmd_merge('a') FROM t",
        "SELECT mmd_weight('a') FROM t",
    ] {
        assert!(context.sql(sql).await.is_err(), "{sql}");
    }
    let state = bytes(&ask(&context, "SELECT mmd_embed(x) FROM t").await.unwrap(), 0);
    let context = states(&state, &state);
    let error = refused(&context, "SELECT mmd_witness(s, s, 1.0, 2.0, device) FROM t").await;
    assert!(matches!(error.cause, Cause::Arguments(_)));
}
