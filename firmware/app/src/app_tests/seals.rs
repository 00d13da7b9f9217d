//! Sealed commands and sealed states.

use core::sync::atomic::{AtomicU32, Ordering};

use super::*;
use crate::app::allowance::{MAX_WRITES, REFILL_PERIODS};
use crate::message::Lock;
use crate::seal::{Key, SEALED, Sealed};

static KEY: Key = Key::new([7; 32]);
static OTHER: Key = Key::new([8; 32]);
const NONCE: u64 = 0x0102_0304_0506_0708;

fn start(bench: &mut Bench, guard: Guard, store: Store) -> Device4<'_> {
    let parts = bench.parts(MagnetometerThermometer::default());
    started(Parts { guard, store: Some(store), ..parts }, Config::DEFAULT)
}

fn guarded() -> Guard {
    Guard::new(Some(&KEY), Some(NONCE))
}

/// The frame of a sealed command.
fn sealed(key: &Key, nonce: u64, [tag, counter]: [u8; 2], command: &Command) -> Vec<u8> {
    let (kind, payload) = command.encode();
    let call = Call { session: 1, tag };
    let counter = u32::from(counter);
    let seal = key.command(nonce, &Sealed { call, kind, counter, payload: payload.as_slice() });
    let payload = [payload.as_slice(), &counter.to_le_bytes(), &seal.finish()].concat();
    let mut bytes = Vec::new();
    frame::encode(&Frame { kind: kind | SEALED, call, payload: &payload }, |byte| {
        bytes.push(byte);
        Ok::<(), ()>(())
    })
    .unwrap();
    bytes
}

fn challenge(app: &mut Device4<'_>) -> (Lock, u64, u32, u32) {
    app.line().incoming.extend(bytes_of(99, &Command::Challenge));
    while app.poll() != Request::Idle {}
    let mut decoder = Decoder::<MAX_RAW>::new();
    for byte in app.line().outgoing.drain(..) {
        if let Some(frame) = decoder.push(byte)
            && let frame = frame.unwrap()
            && let Some(Message::Challenge { lock, nonce, counter, refused }) =
                Message::decode(frame.kind, frame.payload)
        {
            return (lock, nonce, counter, refused);
        }
    }
    panic!("no challenge");
}

const CHANGES: [Command; 6] = [
    Command::Step,
    Command::Relearn,
    Command::Dismiss,
    Command::Restart,
    Command::Acknowledge { row: 5 },
    Command::Configure { report_every: 3 },
];

#[test]
fn without_a_key_the_board_can_only_be_read() {
    for guard in [Guard::default(), Guard::new(Some(&KEY), None), Guard::new(None, Some(NONCE))] {
        let mut bench = Bench::new();
        let mut app = start(&mut bench, guard, Store::new());
        assert_eq!(challenge(&mut app).0, Lock::ReadOnly);
        for command in CHANGES {
            assert_eq!(ask(&mut app, 1, &command).nack, Some(Refusal::Locked), "{command:?}");
            let frame = sealed(&KEY, NONCE, [2, 1], &command);
            assert_eq!(answers(&mut app, &frame).0.nack, Some(Refusal::Locked), "{command:?}");
        }
        assert_eq!(app.monitor().rows(), 0);
        assert!(ask(&mut app, 3, &Command::Status).report.is_some());
        assert!(ask(&mut app, 4, &Command::Identify).identity.is_some());
        assert!(ask(&mut app, 5, &Command::History { index: 0 }).past.is_some());
        assert!(ask(&mut app, 6, &Command::ReadState { offset: 0, length: 9 }).state.is_some());
    }
}

#[test]
fn with_a_key_every_change_needs_its_seal() {
    let mut bench = Bench::new();
    let mut app = start(&mut bench, guarded(), Store::new());
    assert_eq!(challenge(&mut app), (Lock::Sealed, NONCE, 0, 0));
    for (number, command) in (1..).zip(CHANGES) {
        assert_eq!(ask(&mut app, 1, &command).nack, Some(Refusal::Locked), "{command:?}");
        let (answer, _) = answers(&mut app, &sealed(&KEY, NONCE, [number, number], &command));
        assert!(answer.report.is_some() && answer.nack.is_none(), "{command:?}: {answer:?}");
    }
    assert_eq!(app.monitor().rows(), 1);
    assert_eq!(challenge(&mut app), (Lock::Sealed, NONCE, 6, 0));
}

#[test]
fn forged_and_replayed_commands_are_refused_and_counted() {
    let mut bench = Bench::new();
    let mut app = start(&mut bench, guarded(), Store::new());
    let mut give = |frame: &[u8]| answers(&mut app, frame).0;
    let step = |key, nonce, numbers| sealed(key, nonce, numbers, &Command::Step);
    assert_eq!(give(&step(&OTHER, NONCE, [1, 1])).nack, Some(Refusal::Forged), "another key");
    assert_eq!(give(&step(&KEY, NONCE - 1, [1, 1])).nack, Some(Refusal::Forged), "another start");
    let first = step(&KEY, NONCE, [1, 5]);
    assert_eq!(give(&first).report().status.rows, 1);
    assert_eq!(give(&first).report().status.rows, 1, "its answer was lost");
    assert_eq!(give(&step(&KEY, NONCE, [2, 5])).nack, Some(Refusal::Replayed), "same counter");
    assert_eq!(give(&step(&KEY, NONCE, [3, 6])).report().status.rows, 2);
    assert_eq!(give(&first).nack, Some(Refusal::Replayed));
    assert_eq!(challenge(&mut app), (Lock::Sealed, NONCE, 6, 4));
    drop(app);
    // The same frames after a start, which has drawn another nonce.
    let mut app = start(&mut bench, Guard::new(Some(&KEY), Some(NONCE + 1)), Store::new());
    assert_eq!(answers(&mut app, &first).0.nack, Some(Refusal::Forged));
    let relearn = sealed(&KEY, NONCE + 1, [1, 1], &Command::Relearn);
    let mut altered = relearn.clone();
    altered[12] ^= 1;
    assert_eq!(answers(&mut app, &altered).0.nack, Some(Refusal::Garbled));
    assert!(answers(&mut app, &relearn).0.report.is_some());
}

#[test]
fn an_open_lock_needs_no_seal_until_it_is_closed() {
    let mut bench = Bench::new();
    let mut app = start(&mut bench, Guard::default(), Store::new());
    app.guard().set_open(true);
    assert_eq!(challenge(&mut app).0, Lock::Open);
    assert_eq!(ask(&mut app, 1, &Command::Step).report().status.rows, 1);
    app.guard().set_open(false);
    assert_eq!(ask(&mut app, 2, &Command::Step).nack, Some(Refusal::Locked));
}

/// There is nothing to check it against.
#[test]
fn a_seal_does_no_harm_at_an_open_lock_without_a_key() {
    let mut bench = Bench::new();
    let mut app = start(&mut bench, Guard::default(), Store::new());
    app.guard().set_open(true);
    let step = |tag| sealed(&KEY, NONCE, [tag, tag], &Command::Step);
    assert_eq!(answers(&mut app, &step(1)).0.report().status.rows, 1);
    app.guard().set_open(false);
    assert_eq!(answers(&mut app, &step(2)).0.nack, Some(Refusal::Locked));
    // With a key, a seal must be one of it, lock or no lock.
    app = start(&mut bench, guarded(), Store::new());
    app.guard().set_open(true);
    let forged = sealed(&KEY, NONCE + 1, [3, 3], &Command::Step);
    assert_eq!(answers(&mut app, &forged).0.nack, Some(Refusal::Forged));
}

/// Somebody records a command that was refused, and sends it when it would be executed.
#[test]
fn a_sealed_command_that_was_refused_is_not_executed_later() {
    let mut bench = Bench::new();
    let mut app = start(&mut bench, guarded(), Store::new());
    let relearn = |number| sealed(&KEY, NONCE, [number, number], &Command::Relearn);
    for number in 1..=MAX_WRITES {
        assert_eq!(answers(&mut app, &relearn(number)).0.nack, None);
    }
    let recorded = relearn(100);
    assert_eq!(answers(&mut app, &recorded).0.nack, Some(Refusal::TooOften));
    app.sample(REFILL_PERIODS);
    said(&mut app.line().outgoing);
    let rows = app.monitor().rows();
    let again = answers(&mut app, &recorded).0;
    assert_eq!((again.nack, again.report), (Some(Refusal::TooOften), None));
    assert_eq!(app.monitor().rows(), rows);
    assert_eq!(answers(&mut app, &relearn(101)).0.nack, None, "control: another one is executed");
}

/// Commands without a seal, while the lock was open, do not make the last sealed one new.
#[test]
fn an_open_lock_between_does_not_let_a_sealed_command_be_replayed() {
    let mut bench = Bench::new();
    let mut app = start(&mut bench, guarded(), Store::new());
    let recorded = sealed(&KEY, NONCE, [1, 1], &Command::Step);
    assert_eq!(answers(&mut app, &recorded).0.report().status.rows, 1);
    app.guard().set_open(true);
    assert_eq!(ask(&mut app, 2, &Command::Step).report().status.rows, 2);
    app.guard().set_open(false);
    assert_eq!(answers(&mut app, &recorded).0.nack, Some(Refusal::Replayed));
    assert_eq!(app.monitor().rows(), 2);
}

/// Of a test: it is not reset by anything.
static KEPT: AtomicU32 = AtomicU32::new(0);

fn ratchet(number: u32) -> u32 {
    KEPT.fetch_max(number, Ordering::Relaxed).max(number)
}

fn open_with(bench: &mut Bench, store: Store) -> Device4<'_> {
    start(bench, Guard::open(), store)
}

#[test]
fn states_that_the_board_did_not_save_are_refused_and_reported() {
    let sealing = || Store::sealed(Some(&KEY), None);
    let mut bench = Bench::new();
    run(&mut open_with(&mut bench, sealing()), &mut Noise::new(60), LEARNED, 0.0);
    let own = bench.world.eeprom.clone();
    // By somebody who has no key, or another one.
    for store in [Store::new(), Store::sealed(Some(&OTHER), None)] {
        let mut other = Bench::new();
        run(&mut open_with(&mut other, store), &mut Noise::new(61), LEARNED, 0.0);
        bench.world.eeprom.clone_from(&other.world.eeprom);
        bench.cut_power();
        let mut app = open_with(&mut bench, sealing());
        let (said, _) = answers(&mut app, &[]);
        assert_eq!(said.boot, Some(Origin::Fresh));
        assert_eq!(said.faults, [Fault::new(Device::Store, FaultKind::Forged)]);
        assert_eq!(ask(&mut app, 1, &Command::Status).report().flags & flags::HELD, flags::HELD);
        run(&mut app, &mut Noise::new(62), EVERY + 10, 0.0);
        drop(app);
        assert!(bench.world.eeprom == other.world.eeprom, "nothing is written over it");
        // Nor after a reset.
        let mut app = open_with(&mut bench, sealing());
        assert_eq!(answers(&mut app, &[]).0.faults, [Fault::new(Device::Store, FaultKind::Forged)]);
        run(&mut app, &mut Noise::new(62), 2 * EVERY, 0.0);
        drop(app);
        assert!(bench.world.eeprom == other.world.eeprom, "nothing is written over it");
        let mut store = sealing();
        let [mut room, again] = [[0; Detector::SAVED_BYTES]; 2];
        assert!(store.load(&mut bench.world, &mut room).is_err());
        assert!(store.begin(&mut bench.world, &again).is_err(), "nor by a store that was told");
        // Who may command it can end that, for good.
        let mut app = open_with(&mut bench, sealing());
        assert!(ask(&mut app, 1, &Command::Relearn).report().flags & flags::STORED != 0);
        drop(app);
        bench.cut_power();
        let (said, _) = answers(&mut open_with(&mut bench, sealing()), &[]);
        assert_eq!((said.boot, said.faults), (Some(Origin::Store), vec![]));
    }
    bench.world.eeprom = own;
    bench.cut_power();
    assert_eq!(open_with(&mut bench, sealing()).monitor().rows(), LEARNED, "control: its own");
    // What was sealed with a key is not for a board without one to write over: it can read it.
    bench.cut_power();
    assert_eq!(open_with(&mut bench, Store::new()).monitor().rows(), LEARNED);
}

/// Each byte of the state and of both headers, with checksums that fit.
#[test]
fn no_byte_of_a_sealed_state_can_be_forged() {
    let mut world = World::new();
    let state: Vec<u8> = (0..200_u8).collect();
    Store::sealed(Some(&KEY), None).save(&mut world, &state).unwrap();
    let mut room = vec![0; 200];
    for byte in 0..200 {
        let mut forged = state.clone();
        forged[byte] ^= 4;
        // As somebody without the key would: all but the seal.
        let mut other = World::new();
        Store::sealed(Some(&OTHER), None).save(&mut other, &forged).unwrap();
        let loaded = Store::sealed(Some(&KEY), None).load(&mut other, &mut room);
        assert_eq!(loaded, Err(Fault::new(Device::Store, FaultKind::Forged)), "byte {byte}");
        let seal = 64 + 32;
        other.eeprom[seal..seal + 16].copy_from_slice(&world.eeprom[seal..seal + 16]);
        let header = [0, 64, 128, 192].map(|page| page + 32);
        for at in header {
            let genuine = world.eeprom[at..at + 16].to_vec();
            other.eeprom[at..at + 16].copy_from_slice(&genuine);
        }
        let loaded = Store::sealed(Some(&KEY), None).load(&mut other, &mut room);
        assert_eq!(loaded, Err(Fault::new(Device::Store, FaultKind::Forged)), "the old seal");
    }
    let loaded = Store::sealed(Some(&KEY), None).load(&mut world, &mut room).unwrap();
    assert_eq!(loaded.map(|loaded| loaded.length), Some(200));
}

#[test]
fn an_old_image_is_refused_and_reported_if_the_board_has_a_ratchet() {
    let store = || Store::sealed(Some(&KEY), Some(ratchet));
    let mut bench = Bench::new();
    let mut noise = Noise::new(63);
    run(&mut open_with(&mut bench, store()), &mut noise, EVERY, 0.0);
    let old = bench.world.eeprom.clone();
    run(&mut open_with(&mut bench, store()), &mut noise, LEARNED - EVERY, 0.0);
    let (newest, floor) = (bench.world.eeprom.clone(), ratchet(0));
    bench.world.eeprom = old;
    bench.cut_power();
    let mut app = open_with(&mut bench, store());
    let (said, _) = answers(&mut app, &[]);
    assert_eq!(said.faults, [Fault::new(Device::Store, FaultKind::Replayed)]);
    assert_eq!((said.boot, app.monitor().rows()), (Some(Origin::Fresh), 0));
    // Who may command it can end that, and what is saved then is newer than all before.
    assert!(ask(&mut app, 1, &Command::Relearn).report().flags & flags::STORED != 0);
    assert!(ratchet(0) > floor);
    drop(app);
    bench.cut_power();
    let (said, _) = answers(&mut open_with(&mut bench, store()), &[]);
    assert_eq!((said.boot, said.faults), (Some(Origin::Store), vec![]));
    // Without a ratchet the board cannot know: said in SECURITY.md.
    bench.world.eeprom = newest;
    bench.cut_power();
    let app = open_with(&mut bench, Store::sealed(Some(&KEY), None));
    assert_eq!(app.monitor().rows(), LEARNED);
}
