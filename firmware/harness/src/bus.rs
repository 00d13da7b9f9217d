//! Errors on the bus with the EEPROM, while the board runs and while it starts.

use drift_app::fault::{Device as Part, Fault, FaultKind};
use drift_app::message::{Command, Failure, Origin, Piece, flags};

use crate::device::Device;
use crate::error::{Error, expect};
use crate::learned::LEARNED;
use crate::machine::Setup;
use crate::scenarios::{Programs, learned_device, status, step};
use crate::signal::Scene;

/// Rows after which a board that learns has stored its state once.
const STORED_ONCE: u64 = drift_app::Config::DEFAULT.store_every_learning as u64;

/// The bus fails when the state is to be written: that is said with every status, and a few errors in a row
/// are overcome.
pub(crate) fn store_unwritable(programs: &Programs) -> Result<String, Error> {
    let (mut device, eeprom) = learned_device(programs, LEARNED)?;
    let before = eeprom.read()?;
    // Errors of the bus, more than are borne: dismissing is not stored, and that is said.
    let (address, kind) = (0x50, Failure::Bus);
    device.ask(&Command::FailBus { address, transactions: u16::MAX, kind })?;
    let answer = device.ask(&Command::Dismiss)?;
    let broken = [Fault::new(Part::Store, FaultKind::Bus)];
    expect(answer.faults == broken, || format!("{answer:?}"))?;
    // Said again with each status.
    let answer = device.ask(&Command::Status)?;
    let flagged = answer.report()?.flags & flags::STORE_FAULT != 0;
    expect(answer.faults == broken && flagged, || format!("{answer:?}"))?;
    // A few errors are overcome.
    device.ask(&Command::FailBus { address, transactions: 4, kind })?;
    let answer = device.ask(&Command::Dismiss)?;
    expect(answer.faults.is_empty() && answer.report()?.flags == flags::STORED, || {
        format!("{answer:?}")
    })?;
    device.cut_power()?;
    expect(eeprom.read()? != before, || "nothing was stored".into())?;
    Ok("reported with every status; four errors in a row are overcome".into())
}

/// The EEPROM holds what was learned, and the bus fails when the board starts and long after: it learns
/// anew and says so, and nothing is written over what was learned.
pub(crate) fn store_unreadable(programs: &Programs) -> Result<String, Error> {
    let (mut device, eeprom) = learned_device(programs, LEARNED)?;
    let before = eeprom.read()?;
    // A push that ends before its end takes the place of the state in RAM, so that the next start needs the
    // EEPROM.
    let total = u32::try_from(device.read_state()?.len()).unwrap_or(u32::MAX);
    let piece = Piece::new(&[0; 8]).ok_or(Error::Silent("a piece of eight bytes"))?;
    device.ask(&Command::WriteState { total, offset: 0, piece })?;
    let (address, kind) = (0x50, Failure::Bus);
    device.ask(&Command::FailBus { address, transactions: u16::MAX, kind })?;
    let origin = device.restart()?;
    expect(origin == Origin::Fresh, || format!("started from {origin:?}"))?;
    let answer = device.ask(&Command::Status)?;
    let broken = Fault::new(Part::Store, FaultKind::Bus);
    let report = answer.report()?;
    let told = answer.faults.iter().all(|fault| *fault == broken) && !answer.faults.is_empty();
    expect(told && report.flags == flags::STORE_FAULT | flags::HELD, || format!("{answer:?}"))?;
    let mut scene = Scene::new(18);
    for _ in 0..STORED_ONCE + 40 {
        step(&mut device, &mut scene)?;
    }
    let report = status(&mut device)?;
    let held = report.flags == flags::STORE_FAULT | flags::HELD;
    expect(held && report.status.rows == STORED_ONCE + 40, || format!("{report:?}"))?;
    device.cut_power()?;
    expect(eeprom.read()? == before, || "the EEPROM was written over".into())?;
    let elf = programs.drift();
    let (mut device, origin) = Device::start(&Setup::new(&elf, &eeprom))?;
    let report = status(&mut device)?;
    let learned = report.status.stage.is_learned() && report.status.rows == LEARNED;
    expect(origin == Origin::Store && learned, || format!("{report:?}, from {origin:?}"))?;
    let rows = STORED_ONCE + 40;
    Ok(format!(
        "reported, {rows} rows learned anew, nothing written; all there when it can be read"
    ))
}
