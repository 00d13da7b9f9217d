//! Moments that seldom come: a power cut while a state is written over the link, and the row that needs
//! more than 32 bits.

use std::thread;
use std::time::Duration;

use drift_app::message::{Command, MAX_PIECE, Origin, Piece};

use crate::device::{Closing, Device};
use crate::error::{Error, expect};
use crate::learned::{self, LEARNED};
use crate::machine::Setup;
use crate::scenarios::{Programs, learned_device, status, step};
use crate::signal::{DEVIATION, Scene};

fn piece(state: &[u8], number: usize) -> Result<Command, Error> {
    let bytes = state.chunks(MAX_PIECE).nth(number).unwrap_or_default();
    Ok(Command::WriteState {
        total: u32::try_from(state.len()).unwrap_or(u32::MAX),
        offset: u32::try_from(number * MAX_PIECE).unwrap_or(u32::MAX),
        piece: Piece::new(bytes).ok_or(Error::Silent("a piece"))?,
    })
}

/// A state is written over the link to a board that has learned, and the power is cut: after some of its
/// pieces, while the whole is being stored, and once the board has said that it is. The board has the one
/// state or the other.
pub(crate) fn push_cut(programs: &Programs) -> Result<String, Error> {
    let pushed = learned::state(LEARNED, 1_000_000)?;
    let last = pushed.len().div_ceil(MAX_PIECE) - 1;
    let elf = programs.drift();
    let [mut old, mut new] = [0; 2];
    // Pieces, and for how long the whole is stored, in milliseconds; 0: until it says so.
    let cuts = [1, last / 2, last].map(|pieces| (pieces, None));
    let stored = [2, 10, 30, 60, 120, 250].map(|milliseconds| (last, Some(milliseconds)));
    for (pieces, milliseconds) in cuts.into_iter().chain(stored).chain([(last, Some(0))]) {
        let (mut device, eeprom) = learned_device(programs, LEARNED)?;
        for number in 0..pieces {
            let answer = device.ask(&piece(&pushed, number)?)?;
            expect(matches!(answer.closing, Closing::State(..)), || format!("{answer:?}"))?;
        }
        match milliseconds {
            None => {}
            Some(0) => {
                device.ask(&piece(&pushed, last)?)?.report()?;
            }
            Some(milliseconds) => {
                device.send(&piece(&pushed, last)?)?;
                thread::sleep(Duration::from_millis(milliseconds));
            }
        }
        device.cut_power()?;
        let (mut device, origin) = Device::start(&Setup::new(&elf, &eeprom))?;
        let report = status(&mut device)?;
        expect(origin == Origin::Store, || format!("{origin:?}, {report:?}"))?;
        expect(report.status.stage.is_learned(), || format!("{report:?}"))?;
        match report.status.rows {
            LEARNED if milliseconds != Some(0) => old += 1,
            _ if milliseconds.is_some() && device.read_state()? == pushed => new += 1,
            _ => return Err(Error::Unexpected(format!("{report:?} after {pieces} pieces"))),
        }
        device.cut_power()?;
    }
    Ok(format!("{old} power cuts left the old state, {new} the new one"))
}

/// A board that has run for 497 days at 100 samples per second.
pub(crate) fn beyond_32_bits(programs: &Programs) -> Result<String, Error> {
    const LIMIT: u64 = 1 << 32;
    let eeprom = learned::eeprom_of(&learned::state(LEARNED, LIMIT - 20)?)?;
    let elf = programs.drift();
    let setup = Setup::new(&elf, &eeprom);
    let (mut device, _) = Device::start(&setup)?;
    let mut scene = Scene::new(63);
    for number in 1..=40 {
        let (report, alarm) = step(&mut device, &mut scene)?;
        let right = report.status.rows == LIMIT - 20 + number && alarm.is_none();
        expect(right, || format!("{report:?}, {alarm:?}"))?;
    }
    scene.shift = [0.0, 3.0 * DEVIATION, 0.0];
    for _ in 0..200 {
        if let (_, Some(alarm)) = step(&mut device, &mut scene)? {
            expect(alarm.row >= LIMIT + 20 && alarm.since > LIMIT, || format!("{alarm:?}"))?;
            let again = device.ask(&Command::Status)?;
            expect(again.alarms == [alarm], || format!("{again:?}"))?;
            device.ask(&Command::Acknowledge { row: alarm.row })?;
            let after = device.ask(&Command::Status)?;
            expect(after.alarms.is_empty(), || format!("{after:?}"))?;
            let before = status(&mut device)?;
            device.reset()?;
            let after = status(&mut device)?;
            expect(after.status.rows == before.status.rows, || format!("{after:?}"))?;
            return Ok(format!("an alarm on row {}, acknowledged; kept by a reset", alarm.row));
        }
    }
    Err(Error::Unexpected("no alarm".into()))
}
