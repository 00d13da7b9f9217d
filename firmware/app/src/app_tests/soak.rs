//! Power cuts and resets without end, and bytes without sense: seeded, bounded forms of what may go on for
//! years.

use super::*;
use crate::store::Loaded;

/// A board that has learned is cut off or reset again and again, a third of the times after its EEPROM lost
/// power at any byte of what it was to save. A reset loses no row, a power cut none that was stored.
fn soak(times: u32) -> [u32; 3] {
    let mut bench = Bench::new();
    let mut noise = Noise::new(80);
    run(&mut bench.start(), &mut noise, LEARNED, 0.0);
    let mut stored = LEARNED;
    let [mut cuts, mut resets, mut inside] = [0; 3];
    for time in 0..times {
        let mut app = bench.start();
        // A header that was torn while it was written cannot be told from one that is damaged.
        let (said, _) = answers(&mut app, &[]);
        assert!(said.faults.iter().all(|fault| fault.kind == FaultKind::Damaged), "{said:?}");
        for tag in 1..=u8::try_from(noise.below(4)).unwrap() {
            assert_eq!(one_step(&mut app, &mut noise, tag, 0.0).faults, []);
        }
        if noise.below(3) == 0 {
            app.bus().inner().power = Some(noise.below(14_000));
            let report = ask(&mut app, 253, &Command::Dismiss).report();
            if report.flags & flags::STORE_FAULT == 0 {
                stored = report.status.rows;
            } else {
                inside += 1;
            }
        }
        let rows = app.monitor().rows();
        drop(app);
        bench.world.power = None;
        let is_cut = noise.below(2) == 0;
        if is_cut {
            bench.cut_power();
            cuts += 1;
        } else {
            resets += 1;
        }
        let app = bench.start();
        let found = app.monitor().rows();
        assert!(app.monitor().stage().is_learned(), "{time}");
        if is_cut {
            assert!((stored..=rows).contains(&found), "{time}: {found} of {stored} to {rows}");
            stored = found;
        } else {
            assert_eq!(found, rows, "{time}");
        }
    }
    [cuts, resets, inside]
}

/// Half a minute without optimisation.
#[test]
fn nothing_learned_is_lost_by_ten_thousand_power_cuts_and_resets() {
    let [cuts, resets, inside] = soak(10_000);
    assert!(cuts > 4000 && resets > 4000 && inside > 1000, "{cuts}, {resets}, {inside}");
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
