//! Messages come back as they were sent, as the bytes of the document.

use fastmmd::Change;
use fastmmd::monitor::{Leg, Stage, Status};
use std::vec::Vec;

use super::*;
use crate::fault::{Device, Fault, FaultKind};
use crate::frame::{self, Call, Frame, MAX_PAYLOAD};
use crate::seal::{Key, SEALED, Sealed};
use crate::testing::{Noise, alarm};

#[test]
fn commands_come_back() {
    let values = [1.5, -2.0, f32::MAX, 0.0, 1e-30, 6.0, 7.0, 8.0];
    let mut commands = std::vec![
        Command::Step,
        Command::Status,
        Command::Relearn,
        Command::Restart,
        Command::ReadState { offset: 70_000, length: 64 },
        Command::FailBus { address: 0x1E, transactions: 300, kind: Failure::Bus },
        Command::Acknowledge { row: u64::MAX - 1 },
        Command::Dismiss,
        Command::Identify,
        Command::Configure { report_every: 70_000 },
        Command::History { index: 3 },
    ];
    let piece = Piece::new(&[3; MAX_PIECE]).unwrap();
    let whole = Command::WriteState { total: 6396, offset: 64, piece };
    let (kind, payload) = whole.encode();
    assert_eq!(Command::decode(kind, payload.as_slice()), Some(whole));
    assert_eq!(MAX_COMMAND, payload.as_slice().len() + crate::seal::TRAILER_BYTES, "the longest");
    assert_eq!((Piece::new(&[]), Piece::new(&[0; MAX_PIECE + 1])), (None, None));
    for channels in 0..=MAX_CHANNELS {
        commands.push(Command::Push(Sample::new(&values[..channels]).unwrap()));
    }
    for command in commands {
        let (kind, payload) = command.encode();
        assert_eq!(Command::decode(kind, payload.as_slice()), Some(command));
        let mut longer = payload.as_slice().to_vec();
        longer.push(0);
        assert_eq!(Command::decode(kind, &longer), None);
    }
    assert_eq!(Sample::new(&[0.0; MAX_CHANNELS + 1]), None);
}

#[test]
fn messages_come_back() {
    let alarm = |change| alarm([1 << 40, (1 << 40) - 100], change, Leg::Jump);
    let report = |stage, alarm| {
        let (rows, progress, open) = (u64::MAX - 3, 0.125, 70_000);
        let (statistic, threshold) = (0.25, 0.5);
        let status = Status { stage, rows, progress, statistic, threshold, open, alarm };
        Message::Report(Report { status, pending: 2, flags: flags::SKIPPED, missed: 1 << 20 })
    };
    let start = Start { cause: Cause::Panic, detail: 0x0102_0304, tries: 2 };
    let identity = Message::Identity {
        version: [1, 2, 3],
        channels: 4,
        millihertz: 10_000,
        uptime: 1 << 33,
        board: *b"a board         ",
        recipe: [7; 32],
    };
    let bytes: Vec<u8> = (0..64).collect();
    let mut messages = std::vec![
        Message::Fault(Fault::new(Device::Thermometer, FaultKind::Bus)),
        Message::Nack(Refusal::Channels),
        Message::State { total: 5000, offset: 64, bytes: &bytes },
        Message::Boot { origin: Origin::Store, channels: 4, start },
        Message::Past { index: 1, count: 2, ago: 1 << 40, alarm: None },
        Message::Past { index: 0, count: 2, ago: 7, alarm: Some(alarm(Change::Level)) },
        identity,
    ];
    messages.extend(Stage::ALL.map(|stage| report(stage, None)));
    messages.extend(Change::ALL.map(|change| Message::Alarm(alarm(change))));
    messages.extend(Change::ALL.map(|change| Message::Amended(alarm(change))));
    messages.extend(Change::ALL.map(|change| report(Stage::Drift, Some(alarm(change)))));
    for message in messages {
        let (kind, payload) = message.encode();
        assert_eq!(Message::decode(kind, payload.as_slice()), Some(message));
    }
}

/// The bytes on the link: a change needs a new [`VERSION`](crate::frame::VERSION).
#[test]
fn messages_are_these_bytes() {
    let command = Command::ReadState { offset: 0x0102_0304, length: 5 };
    let (kind, payload) = command.encode();
    assert_eq!((kind, payload.as_slice()), (0x05, &[4, 3, 2, 1, 5][..]));
    let told = [
        &[8, 7, 6, 5, 4, 3, 2, 1, 9, 0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, 2, 5][..],
        &[64, 0, 0, 0, 0, 0, 0x80, 0x3f, 0, 0, 0, 0x3f],
    ]
    .concat();
    let alarm = alarm([0x0102_0304_0506_0708, 9], Change::Shape, Leg::Innovations);
    let (kind, payload) = Message::Alarm(alarm).encode();
    assert_eq!((kind, payload.as_slice()), (0x82, &told[..]));
    let (kind, payload) = Message::Amended(alarm).encode();
    assert_eq!((kind, payload.as_slice()), (0x87, &told[..]));
    let start = Start { cause: Cause::Panic, detail: 0x0102_0304, tries: 2 };
    let status = Status {
        stage: Stage::Drift,
        rows: 10,
        progress: 1.0,
        statistic: 0.5,
        threshold: 2.0,
        open: 3,
        alarm: Some(alarm),
    };
    let (kind, payload) =
        Message::Report(Report { status, pending: 1, flags: 8, missed: 5 }).encode();
    let front = [
        &[1, 8, 0, 5, 0, 0, 0, 2, 10, 0, 0, 0, 0, 0, 0, 0][..],
        &[0, 0, 0x80, 0x3f, 0, 0, 0, 0x3f, 0, 0, 0, 0x40, 3, 0, 0, 0],
    ];
    assert_eq!((kind, payload.as_slice()), (0x81, &[front.concat(), told].concat()[..]));
    let (kind, payload) = Message::Boot { origin: Origin::Store, channels: 4, start }.encode();
    assert_eq!((kind, payload.as_slice()), (0x86, &[2, 4, 6, 4, 3, 2, 1, 2][..]));
}

/// The vectors of the document, which were made by other code.
#[test]
fn frames_are_those_of_the_document() {
    let call = Call { session: 0x0403_0201, tag: 7 };
    let hex = |kind: u8, payload: &Payload| {
        let mut text = std::string::String::new();
        frame::encode(&Frame { kind, call, payload: payload.as_slice() }, |byte| {
            text.push_str(&std::format!("{byte:02x}"));
            Ok::<(), ()>(())
        })
        .unwrap();
        text
    };
    let piece = Piece::new(&[0xAA, 0xBB]).unwrap();
    let nonce = 0x0102_0304_0506_0708;
    let challenge = Message::Challenge { lock: Lock::Sealed, nonce, counter: 9, refused: 2 };
    let alarm = alarm([1 << 32, 9], Change::Shape, Leg::Innovations);
    let report = |stage, [progress, statistic, threshold]: [f32; 3], alarm| {
        let is_drift = stage == Stage::Drift;
        let open = if is_drift { 3 } else { 0 };
        let status = Status { stage, rows: 10, progress, statistic, threshold, open, alarm };
        let (pending, flags, missed) = if is_drift { (1, 8, 5) } else { (0, flags::HELD, 0) };
        Message::Report(Report { status, pending, flags, missed })
    };
    let start = Start { cause: Cause::Panic, detail: 0x0102_0304, tries: 2 };
    let mut board = [0; 16];
    board[..4].copy_from_slice(b"test");
    let (version, recipe) = ([1, 2, 3], [7; 32]);
    let identity = Message::Identity {
        version,
        channels: 4,
        millihertz: 10_000,
        uptime: 1 << 33,
        board,
        recipe,
    };
    let commands = [
        ("status", Command::Status),
        ("read state 0x01020304 5", Command::ReadState { offset: 0x0102_0304, length: 5 }),
        ("acknowledge 4294967296", Command::Acknowledge { row: 1 << 32 }),
        ("write state 6396 32 aabb", Command::WriteState { total: 6396, offset: 32, piece }),
        ("configure 10", Command::Configure { report_every: 10 }),
        ("history 1", Command::History { index: 1 }),
        ("challenge", Command::Challenge),
    ];
    let messages = [
        ("refused channels", Message::Nack(Refusal::Channels)),
        ("fault store damaged", Message::Fault(Fault::new(Device::Store, FaultKind::Damaged))),
        ("refused replayed", Message::Nack(Refusal::Replayed)),
        ("fault store forged", Message::Fault(Fault::new(Device::Store, FaultKind::Forged))),
        ("challenge sealed 0x0102030405060708 9 2", challenge),
        ("report 1 8 5 drift 10 1.0 0.5 2.0 3", report(Stage::Drift, [1.0, 0.5, 2.0], None)),
        (
            "report 0 128 0 learning 10 0.25 0.0 0.0 0 and the alarm below",
            report(Stage::Learning, [0.25, 0.0, 0.0], Some(alarm)),
        ),
        ("alarm 4294967296 9 7 shape innovations 64 1.0 0.5", Message::Alarm(alarm)),
        ("state 6396 64 aabb", Message::State { total: 6396, offset: 64, bytes: piece.bytes() }),
        (
            "started store 4 panic 16909060 2",
            Message::Boot { origin: Origin::Store, channels: 4, start },
        ),
        ("amended 4294967296 9 7 shape innovations 64 1.0 0.5", Message::Amended(alarm)),
        ("identity 1.2.3 4 10000 8589934592 test, recipe 07 … 07", identity),
        (
            "past 0 2 7 and the alarm above",
            Message::Past { index: 0, count: 2, ago: 7, alarm: Some(alarm) },
        ),
        ("past 2 2 0", Message::Past { index: 2, count: 2, ago: 0, alarm: None }),
    ];
    let sealed = [
        ("sealed relearn 10", Command::Relearn, 10),
        ("sealed configure 10 11", Command::Configure { report_every: 10 }, 11),
    ];
    let ours = commands.map(|(name, command)| (name, command.encode()));
    let ours = ours.into_iter().chain(messages.map(|(name, message)| (name, message.encode())));
    let seal = |(name, command, counter): (&'static str, Command, u32)| {
        let (kind, payload) = command.encode();
        let key = Key::new(core::array::from_fn(|at| u8::try_from(at).unwrap()));
        let sealed = Sealed { call, kind, counter, payload: payload.as_slice() };
        let seal = key.command(nonce, &sealed).finish();
        let mut whole = Payload::new();
        for part in [payload.as_slice(), &counter.to_le_bytes(), &seal] {
            whole.put(part);
        }
        (name, (kind | SEALED, whole))
    };
    let ours = ours.chain(sealed.map(seal));
    let document = include_str!("../../../LINK.md");
    let mut compared = 0;
    for (name, (kind, payload)) in ours {
        let line = std::format!("\n{name}: {}\n", hex(kind, &payload));
        assert!(document.contains(&line), "{line}");
        compared += 1;
    }
    let vectors = document.split("```text").nth(1).unwrap().lines().filter(|it| it.contains(": "));
    assert_eq!(vectors.count(), compared);
}

/// `TooOften` as "too often".
fn words(name: &str) -> std::string::String {
    let mut words = std::string::String::new();
    for letter in name.chars() {
        if letter.is_uppercase() && !words.is_empty() {
            words.push(' ');
        }
        words.extend(letter.to_lowercase());
    }
    words
}

#[test]
fn codes_and_flags_are_those_of_the_document() {
    let document = include_str!("../../../LINK.md");
    macro_rules! listed {
        ($title:literal, $kind:ident) => {
            let codes = $kind::ALL
                .map(|it| std::format!("{} {}", it.code(), words(&std::format!("{it:?}"))));
            let line = std::format!("\n| {} | {} |\n", $title, codes.join(", "));
            assert!(document.contains(&line), "{line}");
        };
    }
    listed!("why a command is refused", Refusal);
    listed!("device", Device);
    listed!("kind of fault", FaultKind);
    listed!("origin", Origin);
    listed!("cause", Cause);
    listed!("stage", Stage);
    listed!("change", Change);
    listed!("leg", Leg);
    let flags = [
        (flags::SENSOR_FAULT, "the sensor is failing"),
        (flags::STORE_FAULT, "the last attempt to store"),
        (flags::SKIPPED, "the last sample was skipped"),
        (flags::STORED, "the EEPROM holds"),
        (flags::UNCERTAIN, "the stated time between false alarms is uncertain"),
        (flags::ALARMS_LOST, "alarms that were not acknowledged"),
        (flags::OTHER_SETTINGS, "monitoring goes on with the settings"),
        (flags::HELD, "the EEPROM may hold"),
        (flags::SAFE, "the board started again and again"),
    ];
    for (flag, text) in flags {
        assert_eq!(flag.count_ones(), 1);
        let line = std::format!("\n| {} | {text}", flag.trailing_zeros());
        assert!(document.contains(&line), "{line}");
    }
    let table = document.split("### Flags").nth(1).unwrap().split("## ").next().unwrap();
    assert_eq!(table.lines().filter(|line| line.starts_with("| ")).count(), flags.len() + 1);
}

#[test]
fn every_code_comes_back() {
    for device in Device::ALL {
        assert_eq!(Device::from_code(device.code()), Some(device));
    }
    for kind in FaultKind::ALL {
        assert_eq!(FaultKind::from_code(kind.code()), Some(kind));
    }
    for refusal in Refusal::ALL {
        assert_eq!(Refusal::from_code(refusal.code()), Some(refusal));
    }
    for origin in Origin::ALL {
        assert_eq!(Origin::from_code(origin.code()), Some(origin));
    }
}

#[test]
fn any_payload_is_a_message_or_none() {
    let mut noise = Noise::new(5);
    for _ in 0..100_000 {
        let payload: Vec<u8> = (0..noise.below(MAX_PAYLOAD + 1)).map(|_| noise.byte()).collect();
        let kind = noise.byte();
        let _ = Command::decode(kind, &payload);
        let _ = Message::decode(kind, &payload);
    }
}

/// What each command may do: only read, wear the EEPROM, change something.
#[test]
fn commands_are_told_apart_by_what_they_do() {
    let sample = Sample::new(&[1.0, 2.0]).unwrap();
    assert_eq!((sample.values(), sample.values::<3>()), (Some([1.0, 2.0]), None));
    let piece = |offset| {
        let piece = Piece::new(&[1]).unwrap();
        Command::WriteState { total: 100, offset, piece }
    };
    for (command, may) in [
        (Command::Status, [true, false, false]),
        (Command::ReadState { offset: 0, length: 1 }, [true, false, false]),
        (Command::Identify, [true, false, false]),
        (Command::History { index: 0 }, [true, false, false]),
        (Command::Restart, [false, false, false]),
        (Command::Acknowledge { row: 1 }, [false, false, false]),
        (Command::Step, [false, false, true]),
        (Command::Push(sample), [false, false, true]),
        (Command::Configure { report_every: 1 }, [false, false, true]),
        (piece(1), [false, false, true]),
        (piece(0), [false, true, true]),
        (Command::Relearn, [false, true, true]),
        (Command::Dismiss, [false, true, true]),
    ] {
        let found = [command.only_reads(), command.wears(), command.changes_state()];
        assert_eq!(found, may, "{command:?}");
    }
}

#[test]
fn flags_have_names() {
    assert_eq!(flags::names(0).count(), 0);
    let names = |given| flags::names(given).collect::<Vec<_>>();
    let (held, safe) = (names(flags::HELD), names(flags::SAFE));
    assert_eq!((held.len(), safe.as_slice()), (1, &["only talks"][..]));
    assert_eq!(names(flags::HELD | flags::SAFE), [held, safe].concat());
}
