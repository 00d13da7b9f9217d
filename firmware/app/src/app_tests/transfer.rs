//! States read and written over the link, and what the device says of itself.

use super::*;
use crate::app::PIECE_PERIODS;
use crate::message::{MAX_PIECE, Piece};

/// A learned state of the same detector, from elsewhere.
fn reference() -> Vec<u8> {
    let mut detector = detector();
    let mut noise = Noise::new(41);
    for _ in 0..LEARNED {
        detector.push(&[0.0, 20.0, 40.0, 21.0].map(|mean| mean + 4.0 * noise.normal())).unwrap();
    }
    let mut state = vec![0; Detector::SAVED_BYTES];
    detector.save(&mut state).unwrap();
    state
}

fn piece_of(state: &[u8], offset: usize) -> Command {
    let end = state.len().min(offset + MAX_PIECE);
    Command::WriteState {
        total: u32::try_from(state.len()).unwrap(),
        offset: u32::try_from(offset).unwrap(),
        piece: Piece::new(&state[offset..end]).unwrap(),
    }
}

/// Sends pieces from the first; the answer to the last.
fn push(app: &mut Device4<'_>, state: &[u8], upto: usize) -> Answers {
    let mut last = Answers::default();
    for offset in (0..upto).step_by(MAX_PIECE) {
        // The first is never the tag of the command before, which would make it a repetition.
        let tag =
            if offset == 0 { 249 } else { u8::try_from(offset / MAX_PIECE % 200).unwrap() + 1 };
        last = ask(app, tag, &piece_of(state, offset));
        if offset + MAX_PIECE < state.len() {
            assert_eq!(last.offset, Some(u32::try_from(offset + MAX_PIECE).unwrap()));
        }
    }
    last
}

fn pull(app: &mut Device4<'_>) -> Vec<u8> {
    let mut state = Vec::new();
    loop {
        let offset = u32::try_from(state.len()).unwrap();
        let (_, piece) = ask(app, 7, &Command::ReadState { offset, length: 64 }).state.unwrap();
        if piece.is_empty() {
            return state;
        }
        state.extend(&piece);
    }
}

#[test]
fn a_pushed_state_monitors_at_once_and_comes_back_the_same() {
    let state = reference();
    let mut bench = Bench::new();
    let mut app = bench.start();
    let report = push(&mut app, &state, state.len()).report();
    assert_eq!((report.status.stage, report.status.rows), (Stage::Monitoring, LEARNED));
    assert_eq!(report.flags & flags::STORED, flags::STORED);
    assert!(pull(&mut app) == state);
    drop(app);
    bench.cut_power();
    let mut app = bench.start();
    assert_eq!(answers(&mut app, &[]).0.boot, Some(Origin::Store));
    assert!(pull(&mut app) == state, "after a power cut");
    assert!(run(&mut app, &mut Noise::new(42), 100, 4000.0).is_some());
}

/// The power is cut, or the board reset, after any number of pieces.
#[test]
fn a_cut_in_the_midst_of_a_push_leaves_the_old_state() {
    let state = reference();
    let mut bench = Bench::new();
    run(&mut bench.start(), &mut Noise::new(43), LEARNED, 0.0);
    let mut old = vec![0; state.len()];
    bench.start().monitor().save(&mut old).unwrap();
    for upto in [64, 128, 3200, state.len() - 1] {
        for cut in [false, true] {
            let mut app = bench.start();
            push(&mut app, &state, upto - upto % MAX_PIECE);
            drop(app);
            if cut {
                bench.cut_power();
            }
            let mut app = bench.start();
            assert!(pull(&mut app) == old, "{upto} bytes, power cut: {cut}");
        }
    }
}

#[test]
fn pieces_out_of_order_and_states_that_are_none_are_refused_and_change_nothing() {
    let state = reference();
    let mut bench = Bench::new();
    let mut app = bench.start();
    run(&mut app, &mut Noise::new(44), 40, 0.0);
    let before = pull(&mut app);
    assert_eq!(ask(&mut app, 250, &piece_of(&state, 64)).nack, Some(Refusal::Piece));
    push(&mut app, &state, 128);
    assert_eq!(ask(&mut app, 251, &piece_of(&state, 192)).nack, Some(Refusal::Piece));
    assert_eq!(ask(&mut app, 252, &piece_of(&state, 128)).nack, Some(Refusal::Piece));
    let long = vec![0; 100_000];
    let tail = Command::WriteState {
        total: u32::MAX,
        offset: u32::MAX - 1,
        piece: Piece::new(&long[..MAX_PIECE]).unwrap(),
    };
    assert_eq!(ask(&mut app, 253, &tail).nack, Some(Refusal::State));
    for byte in [5, 500, state.len() - 1] {
        let mut altered = state.clone();
        altered[byte] ^= 1;
        assert_eq!(push(&mut app, &altered, altered.len()).nack, Some(Refusal::State));
        assert!(pull(&mut app) == before, "byte {byte}");
    }
    assert_eq!(app.monitor().rows(), 40);
    // A repeated piece is answered, not refused.
    push(&mut app, &state, 128);
    let again = ask(&mut app, 4, &piece_of(&state, 96));
    assert_eq!((again.nack, again.offset), (None, Some(128)));
}

#[test]
fn rows_go_on_while_a_state_is_written() {
    let state = reference();
    let mut bench = Bench::new();
    let mut app = bench.start();
    run(&mut app, &mut Noise::new(45), 40, 0.0);
    push(&mut app, &state, 640);
    for _ in 0..100 {
        app.sample(1);
    }
    assert_eq!(app.monitor().rows(), 140);
    said(&mut app.line().outgoing);
    let next = ask(&mut app, 251, &piece_of(&state, 640));
    assert_eq!(next.offset, Some(672));
}

const ABANDONED: Fault = Fault::new(Device::Detector, FaultKind::Abandoned);

/// The host is gone after a few pieces: the board says so once, keeps rows again, and looks again for what an
/// EEPROM holds that could not be read.
#[test]
fn a_push_that_is_abandoned_ends() {
    let state = reference();
    let mut bench = Bench::new();
    run(&mut bench.start(), &mut Noise::new(47), LEARNED, 0.0);
    bench.cut_power();
    bench.world.bus_errors = 20;
    let mut app = bench.start();
    assert_eq!(said(&mut app.line().outgoing).boot, Some(Origin::Fresh));
    app.bus().inner().bus_errors = 0;
    push(&mut app, &state, 640);
    // A piece in time makes it wait on; nor does the time to save what is learned end it.
    (0..600).for_each(|_| app.sample(1));
    assert_eq!(ask(&mut app, 250, &piece_of(&state, 640)).offset, Some(672));
    (1..PIECE_PERIODS).for_each(|_| app.sample(1));
    assert_eq!(said(&mut app.line().outgoing).faults, []);
    app.sample(1);
    let found = said(&mut app.line().outgoing);
    assert_eq!((found.faults, found.boot), (vec![ABANDONED], Some(Origin::Store)));
    assert_eq!(app.monitor().stage(), Stage::Monitoring);
    (0..3).for_each(|_| app.sample(1));
    let rows = app.monitor().rows();
    assert_eq!(ask(&mut app, 251, &piece_of(&state, 672)).nack, Some(Refusal::Piece));
    assert_eq!(said(&mut app.line().outgoing).faults, []);
    drop(app);
    assert_eq!(bench.start().monitor().rows(), rows, "rows are kept again");
}

#[test]
fn it_says_what_it_is() {
    let mut bench = Bench::new();
    let mut app = bench.start();
    let (board, channels) = ask(&mut app, 1, &Command::Identify).identity.unwrap();
    assert_eq!((&board[..5], channels), (&b"test\0"[..], 4));
}

#[test]
fn the_last_alarms_are_told_with_their_age() {
    let mut bench = Bench::new();
    let mut noise = Noise::new(46);
    let mut app = bench.start();
    assert_eq!(ask(&mut app, 1, &Command::History { index: 0 }).past, Some((0, 0, None)));
    run(&mut app, &mut noise, LEARNED + 50, 0.0);
    let alarm = run(&mut app, &mut noise, 100, 200.0).expect("an alarm");
    ask(&mut app, 251, &Command::Acknowledge { row: alarm.row });
    let age = app.monitor().rows() - 1 - alarm.row;
    let told = ask(&mut app, 252, &Command::History { index: 0 }).past;
    assert_eq!(told, Some((1, age, Some(alarm))), "also when it is acknowledged");
    assert_eq!(ask(&mut app, 253, &Command::History { index: 1 }).past, Some((1, 0, None)));
}
