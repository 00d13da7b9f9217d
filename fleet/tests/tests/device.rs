//! What devices save, as states.

use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, BinaryArray, RecordBatch};
use fastmmd::dynamic::{self, Map};
use fastmmd::{Config, Embedding, Error, Kernel, Sampling};
use fastmmd_datafusion::{Cause, State};
use fastmmd_fleet_tests::{ask, bytes, over, row};

fn map() -> Map {
    Map::fourier(Kernel::GAUSSIAN, Sampling::Additive, 1, 2, 32).unwrap()
}

/// A detector that has learned from rows at a level.
fn detector(level: f32, rows: u64) -> Vec<u8> {
    let map = map();
    let config = Config { learning_rows: 1024, ..Config::rows(1e4) };
    let mut detector = dynamic::detector(&map, config).unwrap();
    for index in 0..rows {
        let [x, y] = row(index);
        detector.push(&[x + level, 100.0 * y]).unwrap();
    }
    let mut bytes = vec![0; detector.saved_bytes()];
    detector.save(&mut bytes).unwrap();
    bytes
}

#[tokio::test]
async fn a_saved_detector_is_a_state_with_its_scale() {
    let saved = detector(20.0, 1100);
    let columns: [(&str, ArrayRef); 1] = [("b", Arc::new(BinaryArray::from(vec![&saved[..]])))];
    let context = over(vec![vec![RecordBatch::try_from_iter(columns).unwrap()]]);
    let result = ask(&context, "SELECT device_state(b, 'pump') FROM t").await.unwrap();
    let state = State::of_bytes(&bytes(&result, 0)).unwrap();
    assert!(state.count() > 500.0 && state.count() <= 1024.0);
    let [x, y] = state.map().scales() else { panic!("two channels") };
    assert!((x.level - 20.0).abs() < 0.5 && (x.deviation - 1.73).abs() < 0.3, "{x:?}");
    assert!(y.level.abs() < 30.0 && (y.deviation - 173.0).abs() < 30.0, "{y:?}");
    // Rows embedded with the map of the state lie where the reference is.
    let rows = over(vec![vec![fastmmd_fleet_tests::batch(&(0..1024).collect::<Vec<_>>(), 1)]]);
    let near = format!("SELECT mmd_embed('{}', x + 20, 100 * y) FROM t", state.map());
    let far = format!("SELECT mmd_embed('{}', x + 23, 100 * y) FROM t", state.map());
    let distance = async |sql: &str| {
        let other = State::of_bytes(&bytes(&ask(&rows, sql).await.unwrap(), 0)).unwrap();
        fastmmd::embedding::mmd::squared_biased(state.embedding(), other.embedding()).unwrap()
    };
    let (near, far) = (distance(&near).await, distance(&far).await);
    assert!(near < 0.005 && far > 20.0 * near, "{near} {far}");
}

#[test]
fn other_records_are_refused_and_embeddings_are_taken_as_they_are() {
    let map = map();
    let mut embedding = Embedding::new(&map);
    (0..100).for_each(|index| embedding.add(&map, &row(index)).unwrap());
    let mut bytes = vec![0; embedding.saved_bytes()];
    embedding.save(&map, &mut bytes).unwrap();
    let state = State::of_device(&bytes).unwrap();
    assert_eq!(*state.embedding(), embedding);
    assert_eq!(State::of_device(&state.to_bytes().unwrap()).unwrap(), state);
    // Still learning; no embedding at all.
    assert_eq!(State::of_device(&detector(0.0, 500)), Err(Cause::BadState(Error::NotLearned)));
    let mut recipe = [0; fastmmd::Recipe::SAVED_BYTES];
    fastmmd::FeatureMap::recipe(&map).save(&mut recipe).unwrap();
    assert_eq!(State::of_device(&recipe), Err(Cause::BadState(Error::WrongShape)));
}
