//! What devices save, as states.

use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, BinaryArray, RecordBatch};
use fastmmd::dynamic::{self, Map};
use fastmmd::monitor::{CYCLE_BINS, Cyclic, Legs};
use fastmmd::{Config, Embedding, Error, Kernel, Sampling};
use fastmmd_datafusion::{Cause, State};
use fastmmd_fleet_tests::{ask, bytes, over, row};

use crate::run::{Scratch, lines, listed, said, tool};

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

/// Detectors of a fleet, each with its own rows and one scale, as `fastmmd export --scale-from` learns them:
/// one of 25 at another level.
fn of_one_scale<L: Legs>(config: Config<L>) -> Scratch {
    let map = map();
    let learned = u64::from(config.learning_rows);
    let mut first = dynamic::detector(&map, config).unwrap();
    for index in 0..learned {
        first.push(&row(index)).unwrap();
    }
    let mut saved = vec![0; first.saved_bytes()];
    first.save(&mut saved).unwrap();
    let folder = Scratch::new("detectors");
    for number in 0..25_u16 {
        let mut detector = dynamic::restored::<L, _>(&map, &saved).unwrap();
        detector.relearn_reference();
        let level = if number == 11 { 1.5 } else { f32::from(number) * 0.002 };
        for index in 0..2 * learned {
            let [x, y] = row(10_000 * u64::from(number + 1) + index);
            detector.push(&[x + level, y]).unwrap();
        }
        let mut bytes = vec![0; detector.saved_bytes()];
        detector.save(&mut bytes).unwrap();
        std::fs::write(folder.join(format!("pump-{number}.bin")), bytes).unwrap();
    }
    folder
}

#[test]
fn an_odd_detector_of_one_scale_is_found() {
    let plain = Config { learning_rows: 1024, ..Config::rows(1e4) };
    let cyclic: Config<Cyclic<CYCLE_BINS>> = Config::rows(1e4).with_period(48.0);
    let cyclic = Config { learning_rows: 2048, ..cyclic };
    for folder in [of_one_scale(plain), of_one_scale(cyclic)] {
        let table = Scratch::new("detectors-table");
        let states = table.file("states.parquet");
        let taken = tool(&["ingest", folder.text(), &states]);
        assert!(taken.status.success(), "{}", said(&taken).1);
        let odd = tool(&["odd", &states, "--state", "state", "--json"]);
        assert_eq!(listed(&odd), [11]);
        assert_eq!(lines(&odd).last().unwrap()["devices"], 25);
        // One that learned by itself has a scale of its own.
        std::fs::write(folder.join("alone.bin"), detector(0.1, 1100)).unwrap();
        let refused = tool(&["ingest", folder.text(), &states]);
        assert_eq!(refused.status.code(), Some(2));
        assert!(said(&refused).1.contains("another map"), "{}", said(&refused).1);
    }
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
