//! What was learned is never lost, nor given up in silence.

use super::*;
use crate::message::Cause;

const BUS: Fault = Fault::new(Device::Store, FaultKind::Bus);
const DAMAGED: Fault = Fault::new(Device::Store, FaultKind::Damaged);

/// A bench whose EEPROM holds what was learned.
fn learned() -> Bench {
    let mut bench = Bench::new();
    let mut app = bench.start();
    run(&mut app, &mut Noise::new(21), LEARNED, 0.0);
    drop(app);
    bench.cut_power();
    bench
}

/// The bus fails for this many transactions with the EEPROM when the board starts.
fn start_with_errors(bench: &mut Bench, errors: u16) -> Device4<'_> {
    bench.world.bus_errors = errors;
    bench.start()
}

#[test]
fn one_error_of_the_bus_at_the_start_costs_nothing() {
    let mut bench = learned();
    for errors in 1..5 {
        let mut app = start_with_errors(&mut bench, errors);
        let (start, _) = answers(&mut app, &[]);
        assert_eq!((start.boot, start.faults), (Some(Origin::Store), vec![]), "{errors} errors");
        assert_eq!(app.monitor().stage(), Stage::Monitoring);
        bench.cut_power();
    }
}

/// The EEPROM cannot be read for as long as it takes to learn: nothing is written over it, it is said
/// with every report, and when it can be read, what it holds is taken up.
#[test]
fn nothing_is_learned_over_a_store_that_could_not_be_read() {
    let mut bench = learned();
    let before = bench.world.eeprom.clone();
    let mut noise = Noise::new(22);
    let mut app = start_with_errors(&mut bench, u16::MAX);
    let (start, _) = answers(&mut app, &[]);
    assert_eq!((start.boot, start.faults), (Some(Origin::Fresh), vec![BUS]));
    for tag in 1..=3 {
        run(&mut app, &mut noise, LEARNED / 3, 0.0);
        let status = ask(&mut app, tag, &Command::Status);
        let held = flags::HELD | flags::STORE_FAULT;
        assert_eq!((status.faults.as_slice(), status.report().flags & held), (&[BUS][..], held));
    }
    assert_eq!(app.bus().inner().eeprom, before);
    app.bus().inner().bus_errors = 0;
    let mut origin = None;
    for tag in 1..=32 {
        origin = one_step(&mut app, &mut noise, tag, 0.0).boot.or(origin);
    }
    assert_eq!(origin, Some(Origin::Store));
    assert_eq!(app.monitor().stage(), Stage::Monitoring);
    let rows = app.monitor().rows();
    assert!((LEARNED..LEARNED + 32).contains(&rows), "{rows}");
    let status = ask(&mut app, 200, &Command::Status);
    assert_eq!((status.faults, status.report.unwrap().flags & flags::HELD), (vec![], 0));
}

/// What is kept in RAM meanwhile says so, too: a reset does not make the board forget why it must not write.
#[test]
fn a_reset_does_not_end_the_hold() {
    const HELD: u16 = flags::HELD | flags::STORE_FAULT;
    let other_build = Fault::new(Device::Store, FaultKind::TooLong);
    for (fault, errors) in [(BUS, u16::MAX), (other_build, 0), (DAMAGED, 0)] {
        let mut bench = learned();
        match fault.kind {
            FaultKind::TooLong => {
                Store::new().save(&mut bench.world, &[7; Detector::SAVED_BYTES + 1]).unwrap();
            }
            FaultKind::Damaged => {
                bench.world.eeprom[1000] ^= 1;
                bench.world.eeprom[16384 + 1000] ^= 1;
            }
            _ => {}
        }
        let before = bench.world.eeprom.clone();
        let mut noise = Noise::new(27);
        for start in 0..3 {
            let mut app = start_with_errors(&mut bench, errors);
            let (said, _) = answers(&mut app, &[]);
            let origin = if start == 0 { Origin::Fresh } else { Origin::Memory };
            assert_eq!((said.boot, said.faults), (Some(origin), vec![fault]), "{start}");
            run(&mut app, &mut noise, EVERY + 50, 0.0);
            assert_eq!(app.monitor().rows(), (EVERY + 50) * (start + 1));
            let status = ask(&mut app, 251, &Command::Status);
            assert_eq!(
                (status.faults.as_slice(), status.report().flags & HELD),
                (&[fault][..], HELD)
            );
            drop(app);
            assert!(bench.world.eeprom == before, "{fault}");
        }
        // It can be read again, or somebody says what to do.
        bench.world.bus_errors = 0;
        let mut app = bench.start();
        if fault == BUS {
            assert_eq!(answers(&mut app, &[]).0.boot, Some(Origin::Store));
            assert_eq!(app.monitor().stage(), Stage::Monitoring);
        } else {
            let report = ask(&mut app, 252, &Command::Relearn).report();
            assert_eq!(report.flags & (HELD | flags::STORED), flags::STORED, "{fault}");
        }
        drop(app);
        let mut app = bench.start();
        assert_eq!(answers(&mut app, &[]).0.faults, [], "{fault}: also after a reset");
        drop(app);
        bench.cut_power();
        assert_eq!(answers(&mut bench.start(), &[]).0.boot, Some(Origin::Store), "{fault}");
    }
}

/// While an EEPROM that cannot be read is tried again, what the RAM holds stays valid: a reset in the midst of
/// that, or at the start, loses no row.
#[test]
fn to_try_the_store_again_does_not_cost_the_copy_in_ram() {
    let mut bench = learned();
    let mut app = start_with_errors(&mut bench, u16::MAX);
    said(&mut app.line().outgoing);
    run(&mut app, &mut Noise::new(28), 40, 0.0);
    drop(app);
    for tries in 0..4 {
        let parts = bench.parts(MagnetometerThermometer::default());
        // The reset comes before anything is done with what was, or was not, read.
        let before = parts.memory.to_vec();
        let app = started(parts, Config::DEFAULT);
        assert_eq!(app.monitor().rows(), 40);
        drop(app);
        assert!(bench.memory == before, "start {tries}: not written at all");
    }
}

/// With nothing in the EEPROM, or nothing that can be read.
#[test]
fn rows_after_a_torn_copy_are_kept() {
    for errors in [0, u16::MAX] {
        let mut bench = Bench::new();
        let mut app = bench.start();
        run(&mut app, &mut Noise::new(33), 40, 0.0);
        drop(app);
        bench.memory[1000] ^= 4;
        let mut app = start_with_errors(&mut bench, errors);
        assert_eq!(said(&mut app.line().outgoing).boot, Some(Origin::Fresh));
        run(&mut app, &mut Noise::new(34), 7, 0.0);
        drop(app);
        assert_eq!(bench.start().monitor().rows(), 7, "{errors} errors");
    }
}

/// All sensors are dead: time passes, and no row comes.
#[test]
fn the_store_is_tried_again_without_rows() {
    let mut bench = learned();
    let mut app = start_with_errors(&mut bench, 20);
    assert_eq!(answers(&mut app, &[]).0.faults, [BUS]);
    app.bus().inner().bus_errors = 0;
    app.bus().inner().unplugged = true;
    (0..32).for_each(|_| app.sample(1));
    assert_eq!(said(&mut app.line().outgoing).boot, Some(Origin::Store));
    assert_eq!(app.monitor().stage(), Stage::Monitoring);
}

/// A command that stores the state is answered when it is stored. Until then each turn makes one transaction
/// with the EEPROM, so that the watchdog is fed, and rows are taken.
#[test]
fn a_command_that_stores_keeps_nothing_waiting() {
    let mut bench = learned();
    bench.world.busy_after_write = 40;
    let mut app = bench.start();
    said(&mut app.line().outgoing);
    // With nothing to dismiss, most pages hold the right bytes already.
    for (tag, command, least) in [(1, Command::Dismiss, 200), (2, Command::Relearn, 4000)] {
        let (rows, mut turns) = (app.monitor().rows(), 0);
        app.line().incoming.extend(bytes_of(tag, &command));
        loop {
            let before = app.bus().inner().transactions;
            let request = app.poll();
            assert!(app.bus().inner().transactions - before <= 1, "turn {turns}");
            if request == Request::Idle {
                break;
            }
            turns += 1;
            if turns % 1000 == 0 {
                app.sample(1);
            }
            let report = said(&mut app.line().outgoing).report;
            assert!(report.is_none_or(|report| report.flags & flags::STORED != 0), "{turns}");
        }
        assert!(turns > least, "{turns}");
        assert_eq!(app.monitor().rows(), rows + turns / 1000);
    }
}

#[test]
fn an_empty_store_that_can_be_read_later_is_used_then() {
    let mut bench = Bench::new();
    let mut noise = Noise::new(23);
    let mut app = start_with_errors(&mut bench, 1000);
    assert_eq!(answers(&mut app, &[]).0.faults, [BUS]);
    run(&mut app, &mut noise, EVERY + 10, 0.0);
    app.bus().inner().bus_errors = 0;
    run(&mut app, &mut noise, EVERY, 0.0);
    assert_eq!(ask(&mut app, 251, &Command::Status).report().flags & flags::HELD, 0);
    bench.cut_power();
    assert_eq!(bench.start().monitor().rows(), 2 * EVERY);
}

#[test]
fn only_a_command_gives_up_what_could_not_be_read() {
    let mut bench = learned();
    let mut app = start_with_errors(&mut bench, 20);
    app.bus().inner().bus_errors = 0;
    let report = ask(&mut app, 1, &Command::Relearn).report();
    assert_eq!((report.status.stage, report.flags & flags::HELD), (Stage::Learning, 0));
    bench.cut_power();
    assert_eq!(bench.start().monitor().stage(), Stage::Learning);
}

/// Any one flipped bit of the EEPROM leaves what was learned, and is reported if it cost a copy.
#[test]
fn a_flipped_bit_never_brings_back_an_unfinished_learning() {
    let bench = learned();
    let mut noise = Noise::new(24);
    let mut reported = 0;
    for _ in 0..150 {
        let mut hit = Bench::new();
        hit.world.eeprom.clone_from(&bench.world.eeprom);
        let slot = noise.below(2) * 16384;
        // Mostly where something is.
        hit.world.eeprom[slot + noise.below(6396 + 256)] ^= 1 << noise.below(8);
        hit.cut_power();
        let mut app = hit.start();
        let (start, _) = answers(&mut app, &[]);
        assert_eq!((start.boot, app.monitor().stage()), (Some(Origin::Store), Stage::Monitoring));
        assert!(start.faults.iter().all(|fault| *fault == DAMAGED), "{start:?}");
        reported += start.faults.len();
        // Polling has written the good copy over the damaged one.
        assert_eq!(ask(&mut app, 1, &Command::Status).faults, []);
        hit.cut_power();
        assert_eq!(answers(&mut hit.start(), &[]).0.faults, []);
    }
    assert!((40..110).contains(&reported), "{reported}: half of the hits are in the newest slot");
}

/// A board that restarts for ever is told apart, keeps what it has, and still talks.
#[test]
fn a_boot_loop_ends_in_a_state_that_only_talks() {
    let mut bench = learned();
    let (eeprom, memory) = (bench.world.eeprom.clone(), bench.memory.clone());
    let start = Start { cause: Cause::Panic, detail: 77, tries: 6 };
    let board = Board { start, ..BOARD };
    let parts = Parts { board: &board, ..bench.parts(MagnetometerThermometer::default()) };
    let mut app = started(parts, Config { report_every: 2, ..Config::DEFAULT });
    let (found, _) = answers(&mut app, &[]);
    assert_eq!(found.start, Some(start));
    for command in [Command::Step, Command::Relearn, Command::ReadState { offset: 0, length: 9 }] {
        assert_eq!(ask(&mut app, 1, &command).nack, Some(Refusal::Safe));
    }
    let report = ask(&mut app, 2, &Command::Status).report();
    assert_eq!((report.flags, report.status.rows), (flags::SAFE, app.monitor().rows()));
    assert!(ask(&mut app, 3, &Command::Identify).identity.is_some());
    app.sample(2);
    assert_eq!(said(&mut app.line().outgoing).report().missed, 2);
    let (_, requests) = answers(&mut app, &bytes_of(4, &Command::Restart));
    assert_eq!(requests, [Request::Restart]);
    drop(app);
    assert!(bench.world.eeprom == eeprom && bench.memory == memory);
    assert_eq!(bench.start().monitor().stage(), Stage::Monitoring, "after the restart");
}

/// The EEPROM takes its time, and samples are taken meanwhile.
#[test]
fn samples_are_taken_while_a_state_is_stored() {
    let mut bench = Bench::new();
    bench.world.busy_after_write = 40;
    let mut noise = Noise::new(25);
    let mut app = bench.start();
    run(&mut app, &mut noise, EVERY - 1, 0.0);
    app.bus().inner().field = [5, 6, 7];
    app.sample(1);
    let mut polls = 0;
    while app.poll() == Request::Continue {
        polls += 1;
        if polls % 1000 == 0 {
            app.sample(1);
        }
    }
    assert!(polls > 4000, "{polls}");
    assert_eq!(app.monitor().rows(), EVERY + polls / 1000);
    bench.cut_power();
    assert_eq!(bench.start().monitor().rows(), EVERY);
}

/// A reset after any row, with rows that were not saved yet.
#[test]
fn a_reset_loses_no_row() {
    let mut bench = Bench::new();
    let mut plain = detector();
    let mut noise = Noise::new(26);
    let mut saved = [vec![0; Detector::SAVED_BYTES], vec![0; Detector::SAVED_BYTES]];
    for round in 0..60_u64 {
        let mut app = bench.start();
        for tag in 1..=noise.below(40) + 1 {
            let values = [0.0; 4].map(|_: f32| noise.normal());
            plain.push(&values).unwrap();
            let push = Command::Push(Sample::new(&values).unwrap());
            ask(&mut app, u8::try_from(tag).unwrap(), &push);
        }
        assert_eq!(app.monitor().rows(), plain.rows());
        drop(app);
        bench.start().monitor().save(&mut saved[0]).unwrap();
        plain.save(&mut saved[1]).unwrap();
        assert!(saved[0] == saved[1], "round {round}");
    }
}
