//! What it costs to keep the state.

use super::*;
use crate::retained::put;
use fastmmd::features::Recipe;
use fastmmd::monitor::{Monitor, Status, Warning};
use fastmmd::{Error, Verdict};

/// A detector that counts how often it is saved, and may be reset at any byte of that.
pub(super) struct Counted(pub(super) Detector, pub(super) Cell<u32>);

impl Monitor for Counted {
    type Row = [f32; 4];
    type Partial = [Option<f32>; 4];
    type Config = Settings;

    fn push(&mut self, row: &[f32; 4]) -> Result<Verdict, Error> {
        self.0.push(row)
    }

    fn push_partial(&mut self, row: &[Option<f32>; 4]) -> Result<Verdict, Error> {
        self.0.push_partial(row)
    }

    fn skip(&mut self, rows: u32) {
        self.0.skip(rows);
    }

    fn status(&self) -> Status {
        self.0.status()
    }

    fn recipe(&self) -> &Recipe {
        self.0.recipe()
    }

    fn config(&self) -> &Settings {
        self.0.config()
    }

    fn warnings(&self) -> impl Iterator<Item = Warning> {
        self.0.warnings()
    }

    fn relearn_with(&mut self, settings: Settings) -> Result<(), Error> {
        self.0.relearn_with(settings)
    }

    fn dismiss(&mut self) {
        self.0.dismiss();
    }

    fn saved_bytes(&self) -> usize {
        self.0.saved_bytes()
    }

    fn save(&self, out: &mut [u8]) -> Result<usize, Error> {
        self.1.set(self.1.get() + 1);
        let mut state = [0; Detector::SAVED_BYTES];
        let length = self.0.save(&mut state)?;
        put(out, state);
        Ok(length)
    }

    fn restore(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.0.restore(bytes)
    }
}

/// To save costs far more than a push: it is done once for as many rows as there is room for, and no
/// row is lost.
#[test]
fn the_state_is_saved_once_for_many_rows_and_nothing_is_lost() {
    let mut bench = Bench::new();
    let mut counted = Counted(detector(), Cell::new(0));
    let parts = Parts {
        board: &BOARD,
        bus: &mut bench.world,
        line: &mut bench.pipe,
        sensor: MagnetometerThermometer::default(),
        monitor: &mut counted,
        settings: &SETTINGS,
        store: Some(Store::new()),
        guard: Guard::open(),
        memory: &mut bench.memory,
    };
    let mut app = App::new(parts, Config::DEFAULT);
    app.start();
    let mut noise = Noise::new(13);
    // Includes the periodic saves to the EEPROM and the one at the end of learning.
    for number in 0..=LEARNED {
        let steps = MagnetometerThermometer::STEPS.unwrap();
        let values = steps.map(|step| step * (100.0 * noise.normal()).round());
        let push = Command::Push(Sample::new(&values).unwrap());
        app.line().incoming.extend(bytes_of(u8::try_from(number % 250).unwrap() + 1, &push));
        while app.poll() != Request::Idle {}
    }
    assert_eq!(app.monitor().0.stage(), Stage::Monitoring);
    // And at the start, for the EEPROM, and when learning ends.
    let saves = u64::from(app.monitor().1.get());
    let rows = LEARNED / (ROWS as u64 + 1);
    assert!((rows..rows + 8).contains(&saves), "{saves} of {rows}");
    assert_eq!(bench.start().monitor().rows(), LEARNED + 1, "a reset");
    bench.cut_power();
    assert_eq!(bench.start().monitor().rows(), LEARNED, "a power cut");
}
