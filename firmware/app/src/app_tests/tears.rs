//! Resets in the midst of what is written to the RAM that they leave alone, on a board without EEPROM and with
//! memory for two states, as the micro:bit.

use super::cost::Counted;
use super::*;
use crate::retained::memory_bytes_for_two;
use crate::testing::with_reset;

/// Few, so that the state is saved often.
const ROWS: usize = 4;

/// A board with nothing but its RAM.
struct Bare {
    memory: Vec<u8>,
    world: World,
    pipe: Pipe,
    monitor: Counted,
}

type Device<'a> = App<'a, &'a mut World, &'a mut Pipe, MagnetometerThermometer, Counted, 4>;

impl Bare {
    fn new(bytes: usize) -> Self {
        let monitor = Counted(detector(), Cell::new(0));
        Self { memory: vec![0x5A; bytes], world: World::new(), pipe: Pipe::default(), monitor }
    }

    /// Starts it with a new detector, as after a reset.
    fn start(&mut self) -> Device<'_> {
        self.monitor = Counted(detector(), Cell::new(0));
        self.pipe = Pipe::default();
        let parts = Parts {
            board: &BOARD,
            bus: &mut self.world,
            line: &mut self.pipe,
            sensor: MagnetometerThermometer::default(),
            monitor: &mut self.monitor,
            settings: &SETTINGS,
            store: None,
            guard: Guard::open(),
            memory: &mut self.memory,
        };
        let mut app = App::new(parts, Config::DEFAULT);
        app.start();
        app
    }
}

/// Restarts the board and gives what its detector knows.
fn state(board: &mut Bare) -> Vec<u8> {
    let mut state = vec![0; Detector::SAVED_BYTES];
    board.start().monitor().0.save(&mut state).unwrap();
    state
}

fn push(app: &mut Device<'_>, tag: u8, noise: &mut Noise) {
    let steps = MagnetometerThermometer::STEPS.unwrap();
    let values = steps.map(|step| step * (100.0 * noise.normal()).round());
    execute(app, tag, &Command::Push(Sample::new(&values).unwrap()));
}

fn execute(app: &mut Device<'_>, tag: u8, command: &Command) {
    app.line().incoming.extend(bytes_of(tag, command));
    while app.poll() != Request::Idle {}
}

/// Tears `work` at each byte in turn: what is found then is what was there before, or what is there when nothing
/// tears it. Returns how often it was found as before, and as behind.
fn torn_at_each_byte(board: &mut Bare, mut work: impl FnMut(&mut Device<'_>)) -> [usize; 2] {
    let memory = board.memory.clone();
    let before = state(board);
    work(&mut board.start());
    let behind = state(board);
    let mut found = [0; 2];
    for bytes in 0.. {
        board.memory.clone_from(&memory);
        let mut app = board.start();
        let is_torn = with_reset(bytes, || work(&mut app));
        drop(app);
        let now = state(board);
        assert!(now == before || now == behind, "a reset at byte {bytes}");
        found[usize::from(now == behind)] += 1;
        if !is_torn {
            return found;
        }
    }
    found
}

/// With memory for one state a reset while it is written leaves none: the control of the tests below.
#[test]
fn with_one_copy_a_reset_in_the_midst_of_a_save_leaves_none() {
    let mut board = Bare::new(memory_bytes(Detector::SAVED_BYTES, ROWS, 4));
    let mut noise = Noise::new(90);
    let mut app = board.start();
    (1..=4).for_each(|tag| push(&mut app, tag, &mut noise));
    assert!(with_reset(3000, || push(&mut app, 5, &mut noise)), "a save");
    drop(app);
    assert_eq!(board.start().monitor().0.rows(), 0);
}

#[test]
fn a_reset_at_any_byte_of_a_save_loses_nothing() {
    let mut board = Bare::new(memory_bytes_for_two(Detector::SAVED_BYTES, ROWS, 4));
    let mut noise = Noise::new(91);
    let mut app = board.start();
    (1..=4).for_each(|tag| push(&mut app, tag, &mut noise));
    drop(app);
    for command in [None, Some(Command::Relearn)] {
        let [before, behind] = torn_at_each_byte(&mut board, |app| match &command {
            // The rows are full: the state is saved.
            None => push(app, 5, &mut Noise::new(92)),
            Some(command) => execute(app, 5, command),
        });
        // All but the last bytes, which end the state before.
        assert!(before > Detector::SAVED_BYTES && behind > 1, "{before}, {behind}: {command:?}");
    }
}

/// Also while a host writes a state, of which nothing is left then.
#[test]
fn a_reset_while_a_host_writes_a_state_loses_nothing() {
    let mut board = Bare::new(memory_bytes_for_two(Detector::SAVED_BYTES, ROWS, 4));
    let mut noise = Noise::new(93);
    let mut app = board.start();
    (1..=3).for_each(|tag| push(&mut app, tag, &mut noise));
    drop(app);
    let before = state(&mut board);
    let pieces = before.chunks(32).count();
    for sent in [1, pieces / 2, pieces - 1] {
        let mut app = board.start();
        for (number, piece) in before.chunks(32).take(sent).enumerate() {
            let (total, offset) =
                (before.len().try_into().unwrap(), (32 * number).try_into().unwrap());
            let piece = crate::message::Piece::new(piece).unwrap();
            let tag = u8::try_from(number % 250).unwrap() + 1;
            execute(&mut app, tag, &Command::WriteState { total, offset, piece });
        }
        drop(app);
        assert!(state(&mut board) == before, "after {sent} pieces");
    }
}

/// Thousands of resets at any byte, while learning and after: each loses the row that is being taken at most.
#[test]
fn resets_in_the_midst_of_saves_lose_nothing() {
    let mut board = Bare::new(memory_bytes_for_two(Detector::SAVED_BYTES, ROWS, 4));
    let mut noise = Noise::new(94);
    let (mut rows, mut torn) = (0, 0);
    for time in 0..2000 {
        let bytes = noise.below(30_000);
        let mut app = board.start();
        assert!((rows..=rows + 1).contains(&app.monitor().0.rows()), "{time}");
        rows = app.monitor().0.rows();
        torn += u32::from(with_reset(bytes, || {
            for tag in 1..=10 {
                push(&mut app, tag, &mut noise);
                rows += 1;
            }
        }));
        drop(app);
    }
    assert!(torn > 500 && torn < 1900 && rows > 3 * LEARNED, "{torn} of 2000, {rows}");
    assert_eq!(board.start().monitor().0.stage(), Stage::Monitoring);
}
