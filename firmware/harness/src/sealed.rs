//! The board whose commands and saved states are sealed: somebody on the line, or with hands on the EEPROM.

use drift_app::fault::{Device as Part, Fault, FaultKind};
use drift_app::message::{Command, Origin, Refusal, flags};
use drift_app::profile::TEST_KEY;
use drift_app::seal::Key;

use crate::device::{Closing, Device};
use crate::error::{Error, expect};
use crate::learned::{self, LEARNED};
use crate::machine::{Eeprom, Setup};
use crate::scenarios::{Programs, status, step};
use crate::signal::Scene;

static OTHER_KEY: Key = Key::new([1; 32]);

fn refused(device: &mut Device, command: &Command, why: Refusal) -> Result<(), Error> {
    let answer = device.ask(command)?;
    expect(answer.closing == Closing::Nack(why), || format!("{command:?}: {answer:?}"))
}

/// Commands without a seal, with another key's, and recorded ones, at once and after a power cut.
pub(crate) fn commands(programs: &Programs) -> Result<String, Error> {
    let elf = programs.secured();
    let eeprom = Eeprom::new()?;
    let setup = Setup::new(&elf, &eeprom);
    let (mut device, _) = Device::start(&setup)?;
    let commands = [Command::Step, Command::Relearn, Command::Dismiss, Command::Restart];
    for command in &commands {
        refused(&mut device, command, Refusal::Locked)?;
    }
    status(&mut device)?;
    device.seal_with(&OTHER_KEY)?;
    for command in &commands {
        refused(&mut device, command, Refusal::Forged)?;
    }
    device.seal_with(&TEST_KEY)?;
    let mut scene = Scene::new(70);
    let first = step(&mut device, &mut scene)?.0;
    let (call, recorded) = device.recorded();
    let second = step(&mut device, &mut scene)?.0;
    let rows = [first.status.rows, second.status.rows];
    expect(rows == [1, 2], || format!("{rows:?}"))?;
    device.send_raw(&recorded)?;
    let again = device.answer(call)?;
    expect(again.closing == Closing::Nack(Refusal::Replayed), || format!("{again:?}"))?;
    device.ask(&Command::Relearn)?.report()?;
    let (call, relearn) = device.recorded();
    device.cut_power()?;
    let (mut device, _) = Device::start(&setup)?;
    device.send_raw(&relearn)?;
    let again = device.answer(call)?;
    expect(again.closing == Closing::Nack(Refusal::Forged), || format!("{again:?}"))?;
    device.cut_power()?;
    Ok("without a seal, of another key, recorded before and after a power cut: all refused".into())
}

/// States in the EEPROM that the board did not save.
pub(crate) fn store(programs: &Programs) -> Result<String, Error> {
    let elf = programs.secured();
    // Made without the key: whole, with checksums that fit.
    let eeprom = learned::eeprom(LEARNED)?;
    let setup = Setup::new(&elf, &eeprom);
    let forged = eeprom.read()?;
    let (mut device, origin) = Device::start(&setup)?;
    expect(origin == Origin::Fresh, || format!("{origin:?}"))?;
    let said = device.ask(&Command::Status)?;
    let fault = Fault::new(Part::Store, FaultKind::Forged);
    let held = said.report()?.flags & flags::HELD != 0;
    let told = !said.faults.is_empty() && said.faults.iter().all(|one| *one == fault);
    expect(told && held, || format!("{said:?}"))?;
    expect(eeprom.read()? == forged, || "it was written over".into())?;
    // Who has the key may: what the board saves then is its own.
    device.seal_with(&TEST_KEY)?;
    let report = device.ask(&Command::Relearn)?.report()?;
    expect(report.flags & flags::STORED != 0, || format!("{report:?}"))?;
    device.cut_power()?;
    let own = eeprom.read()?;
    let (mut device, origin) = Device::start(&setup)?;
    let said = device.ask(&Command::Status)?;
    expect(origin == Origin::Store && said.faults.is_empty(), || format!("{origin:?}, {said:?}"))?;
    device.cut_power()?;
    expect(own != forged, || "nothing was saved".into())?;
    Ok("a forged state is refused, reported and left alone; its own is taken up".into())
}
