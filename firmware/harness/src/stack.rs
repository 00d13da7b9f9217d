//! Measures the deepest use of the stack over all that the firmware can be asked to do.

use drift_app::message::{Command, Failure, Origin, Sample};

use drift_app::profile::TEST_KEY;
use drift_app::seal::Key;

use crate::device::Device;
use crate::error::{Error, expect};
use crate::learned::{self, LEARNED};
use crate::machine::{Board, Setup};
use crate::scenarios::{Programs, step};
use crate::signal::{DEVIATION, Scene};

/// Deepest use of the stack in bytes. Each part between resets is measured separately, since the
/// start-up code fills the stack with its pattern again.
///
/// # Errors
/// [`Error`] if the firmware does not do what it is asked to.
pub fn emulated(programs: &Programs) -> Result<usize, Error> {
    // From the last sample of learning through an alarm.
    let eeprom = learned::eeprom(LEARNED - 1)?;
    let elf = programs.drift();
    let (device, origin) = Device::start(&Setup::new(&elf, &eeprom))?;
    expect(origin == Origin::Store, || format!("{origin:?}"))?;
    deepest(device, None)
}

/// The same with sealed commands and states.
///
/// # Errors
/// [`Error`] if the firmware does not do what it is asked to.
pub fn secured(programs: &Programs) -> Result<usize, Error> {
    let eeprom = learned::sealed_eeprom(LEARNED - 1, &TEST_KEY)?;
    let elf = programs.secured();
    let (mut device, origin) = Device::start(&Setup::new(&elf, &eeprom))?;
    expect(origin == Origin::Store, || format!("{origin:?}"))?;
    device.seal_with(&TEST_KEY)?;
    deepest(device, Some(&TEST_KEY))
}

fn deepest(mut device: Device, key: Option<&'static Key>) -> Result<usize, Error> {
    let mut deepest = 0;
    let mut scene = Scene::new(11);
    for _ in 0..50 {
        step(&mut device, &mut scene)?;
    }
    scene.shift[0] = 4.0 * DEVIATION;
    let mut alarmed = false;
    for _ in 0..50 {
        alarmed |= step(&mut device, &mut scene)?.1.is_some();
    }
    expect(alarmed, || "no alarm".into())?;
    device.send_raw(&[0, 1, 2, 3, 0])?;
    device.ask(&Command::FailBus {
        address: 0x1E,
        transactions: 3,
        kind: Failure::NoAcknowledge,
    })?;
    device.ask(&Command::Step)?;
    device.ask(&Command::Status)?;
    device.read_state()?;
    deepest = deepest.max(device.machine().stack_high_water()?);
    // A start from RAM, and learning again.
    let origin = device.restart()?;
    expect(origin == Origin::Memory, || format!("{origin:?}"))?;
    if let Some(key) = key {
        device.do_not_seal();
        device.seal_with(key)?;
    }
    device.ask(&Command::Relearn)?;
    for _ in 0..20 {
        step(&mut device, &mut scene)?;
    }
    deepest = deepest.max(device.machine().stack_high_water()?);
    device.cut_power()?;
    Ok(deepest)
}

/// The same for the STM32F405, as far as it is emulated: no bus, so no EEPROM.
///
/// # Errors
/// [`Error`] if the firmware does not do what it is asked to.
pub fn stm32f405(programs: &Programs) -> Result<usize, Error> {
    let elf = programs.stm32f405();
    let (mut device, _) = Device::start(&Setup::bare(Board::NetduinoPlus2, &elf))?;
    let mut scene = Scene::new(12);
    let mut push = |device: &mut Device, level: f32| {
        let values = scene.reading().values().map(|value| value + level);
        let sample = Sample::new(&values).ok_or(Error::Silent("four channels"))?;
        device.ask(&Command::Push(sample))
    };
    for _ in 0..LEARNED + 20 {
        push(&mut device, 0.0)?;
    }
    let mut alarms = 0;
    for _ in 0..100 {
        alarms += push(&mut device, 40.0)?.alarms.len();
    }
    expect(alarms > 0, || "no alarm".into())?;
    device.read_state()?;
    let first = device.machine().stack_high_water()?;
    let origin = device.restart()?;
    expect(origin == Origin::Memory, || format!("{origin:?}"))?;
    device.ask(&Command::Relearn)?;
    push(&mut device, 0.0)?;
    let second = device.machine().stack_high_water()?;
    device.cut_power()?;
    Ok(first.max(second))
}
