//! Power cuts and resets without end, and bytes without sense: seeded, bounded forms of what may go on for
//! years.

use super::*;
use crate::app::allowance::MAX_SAVES;
use crate::seal::Key;
use crate::store::Loaded;

/// The EEPROM of a board in the soak.
#[derive(Clone, Copy)]
enum Kept {
    Plain,
    /// States are sealed, and refused without their seal.
    Sealed,
}

static KEY: Key = Key::new([3; 32]);

/// Starts a board that saves every few rows while it learns, so that many cuts come in the midst of that.
fn start(bench: &mut Bench, kept: Kept) -> Device4<'_> {
    let parts = bench.parts(MagnetometerThermometer::default());
    let store = match kept {
        Kept::Plain => Store::new(),
        Kept::Sealed => Store::sealed(Some(&KEY), None),
    };
    let config = Config { store_every_learning: SAVED_EVERY, ..Config::DEFAULT };
    started(Parts { store: Some(store), ..parts }, config)
}

const SAVED_EVERY: u32 = 4;

/// What has happened in a soak.
#[derive(Debug, Default)]
struct Soaked {
    cuts: u32,
    resets: u32,
    /// Cuts of the EEPROM in the midst of a save, by what was done: rows while learning, the end of learning, a
    /// command that dismisses or begins anew.
    learning: u32,
    monitoring: u32,
    /// How often it has learned.
    learned: u32,
}

/// A board learns, monitors, and learns anew, while it is cut off or reset again and again, a third of the times
/// after its EEPROM lost power at any byte of what it was to save. A reset loses no row, a power cut none that was
/// stored.
fn soak(times: u32, kept: Kept) -> Soaked {
    let mut bench = Bench::new();
    let mut noise = Noise::new(80);
    let (mut stored, mut monitored, mut left) = (0, 0, MAX_SAVES);
    let mut soaked = Soaked::default();
    for time in 0..times {
        let mut app = start(&mut bench, kept);
        // A header that was torn while it was written cannot be told from one that is damaged, nor a torn seal
        // from one of somebody else.
        let (said, _) = answers(&mut app, &[]);
        let torn = |fault: &Fault| match kept {
            Kept::Plain => fault.kind == FaultKind::Damaged,
            Kept::Sealed => matches!(fault.kind, FaultKind::Damaged | FaultKind::Forged),
        };
        assert!(said.faults.iter().all(torn), "{said:?}");
        let is_held = ask(&mut app, 252, &Command::Status).report().flags & flags::HELD != 0;
        if is_held {
            // The very first one was torn, and there is no other: somebody has to say what to do.
            assert_eq!(stored, 0, "{time}");
            let report = ask(&mut app, 254, &Command::Dismiss).report();
            assert_eq!(report.flags & (flags::HELD | flags::STORED), flags::STORED, "{time}");
            stored = report.status.rows;
        }
        let was_learned = app.monitor().stage().is_learned();
        let fails = noise.below(3) == 0;
        app.bus().inner().power =
            fails.then(|| noise.below(if was_learned { 14_000 } else { 6000 }));
        for tag in 1..=u8::try_from(noise.below(4)).unwrap() {
            let found = one_step(&mut app, &mut noise, tag, 0.0);
            let rows = app.monitor().rows();
            let is_due = !was_learned && rows.is_multiple_of(SAVED_EVERY.into()) && left > 0;
            left -= u8::from(is_due && rows < LEARNED);
            let failed = found.faults.iter().any(|fault| fault.device == Device::Store);
            assert!(fails || !failed, "{time}: {found:?}");
            if (is_due || rows == LEARNED && !was_learned) && app.bus().inner().power != Some(0) {
                stored = rows;
            }
        }
        let is_learned = app.monitor().stage().is_learned();
        soaked.learned += u32::from(is_learned && !was_learned);
        soaked.learning += u32::from(!was_learned && app.bus().inner().power == Some(0));
        if is_learned && noise.below(3) == 0 {
            monitored += 1;
            let command = if monitored == 400 { Command::Relearn } else { Command::Dismiss };
            let report = ask(&mut app, 253, &command).report();
            if app.bus().inner().power != Some(0) {
                assert_eq!(report.flags & flags::STORED, flags::STORED, "{time}");
                stored = report.status.rows;
            } else {
                soaked.monitoring += 1;
            }
        }
        let (rows, learned) = (app.monitor().rows(), app.monitor().stage().is_learned());
        drop(app);
        bench.world.power = None;
        // Fewer while it learns, or it would not come to an end.
        let is_cut = noise.below(if learned { 2 } else { 8 }) == 0;
        if is_cut {
            bench.cut_power();
            soaked.cuts += 1;
            left = MAX_SAVES;
        } else {
            soaked.resets += 1;
        }
        let app = start(&mut bench, kept);
        let found = app.monitor().rows();
        if is_cut {
            assert!((stored..=rows).contains(&found), "{time}: {found} of {stored} to {rows}");
            stored = found;
        } else {
            assert_eq!((found, app.monitor().stage().is_learned()), (rows, learned), "{time}");
        }
    }
    soaked
}

/// Each ten thousand times. A minute without optimisation.
#[test]
fn nothing_learned_is_lost_by_ten_thousand_power_cuts_and_resets() {
    for kept in [Kept::Plain, Kept::Sealed] {
        let soaked = soak(10_000, kept);
        let Soaked { cuts, resets, learning, monitoring, learned } = soaked;
        assert!(cuts > 3000 && resets > 4000 && learned > 1, "{soaked:?}");
        assert!(learning > 200 && monitoring > 300, "{soaked:?}");
    }
}

/// Whole frames of any kind and payload, some of them sealed, to a board that lets everything through: none
/// stops it, and each is answered once.
#[test]
fn any_command_is_answered_once_and_stops_nothing() {
    let mut bench = Bench::new();
    let mut noise = Noise::new(81);
    let mut app = bench.start();
    said(&mut app.line().outgoing);
    let mut refused = 0;
    for number in 0..20_000_u32 {
        // Half of them have a payload of the right length.
        let (kind, length) = if noise.below(2) == 0 {
            [(1, 0), (2, 0), (5, 5), (6, 16), (8, 8), (10, 0), (11, 40), (12, 4), (13, 1), (14, 0)]
                [noise.below(10)]
        } else {
            (noise.byte(), noise.below(60))
        };
        let payload: Vec<u8> =
            (0..length).map(|_| if noise.below(2) == 0 { 0 } else { noise.byte() }).collect();
        let call = Call { session: number, tag: noise.byte() };
        let mut bytes = Vec::new();
        frame::encode(&Frame { kind, call, payload: &payload }, |byte| {
            bytes.push(byte);
            Ok::<(), ()>(())
        })
        .unwrap();
        app.line().incoming.extend(bytes);
        while app.poll() != Request::Idle {}
        let mut decoder = Decoder::<MAX_RAW>::new();
        let mut closed = 0;
        for byte in app.line().outgoing.drain(..) {
            let Some(frame) = decoder.push(byte) else { continue };
            let frame = frame.unwrap();
            let message = Message::decode(frame.kind, frame.payload).unwrap();
            refused += u32::from(matches!(message, Message::Nack(_)));
            let comes_before =
                matches!(message, Message::Fault(_) | Message::Alarm(_) | Message::Amended(_));
            // A frame that is too long for any command has no call.
            let is_its = frame.call == call || frame.call == Call::NONE;
            closed += u32::from(is_its && !comes_before);
        }
        assert_eq!(closed, 1, "{kind:#04x} {payload:?}");
    }
    assert!((8000..14_000).contains(&refused), "{refused}");
}

/// Images with altered bytes, some with headers whose checksums fit: each is loaded or not, and what is
/// saved then is there.
#[test]
fn any_image_can_be_loaded_and_saved_over() {
    let mut noise = Noise::new(82);
    let mut world = World::new();
    let mut store = Store::new();
    let state: Vec<u8> = (0..1000).map(|_| noise.byte()).collect();
    for length in [1000, 900, 1000] {
        store.save(&mut world, &state[..length]).unwrap();
    }
    let good = world.eeprom.clone();
    let mut loaded = 0;
    for _ in 0..3000 {
        world.eeprom.clone_from(&good);
        for _ in 0..=noise.below(3) {
            let slot = [0, 1 << 14][noise.below(2)];
            let header = slot + 64 * noise.below(4);
            let at = header + noise.below(32);
            world.eeprom[at] = noise.byte();
            let sum = fastmmd::state::checksum(0, &world.eeprom[header..header + 28]);
            world.eeprom[header + 28..header + 32].copy_from_slice(&sum.to_le_bytes());
            if noise.below(3) == 0 {
                world.eeprom[slot + 256 + noise.below(1000)] ^= 1;
            }
        }
        let mut room = vec![0; 1000];
        let mut store = Store::new();
        match store.load(&mut world, &mut room) {
            Ok(Some(Loaded { length, .. })) => {
                assert!(state.starts_with(&room[..length]), "not what was saved");
                loaded += 1;
            }
            Ok(None) => {}
            Err(fault) => assert!(matches!(fault.kind, FaultKind::TooLong | FaultKind::Damaged)),
        }
        let new: Vec<u8> = (0..700).map(|_| noise.byte()).collect();
        // Spare pages may be said to be used up.
        if store.save(&mut world, &new).is_ok() {
            let saved = store.sequence();
            let mut again = Store::new();
            let found = again.load(&mut world, &mut room);
            if again.sequence() == saved {
                assert_eq!(found.unwrap().map(|found| found.length), Some(700));
                assert!(room[..700] == new);
            }
        }
    }
    assert!(loaded > 1000, "{loaded}");
}
