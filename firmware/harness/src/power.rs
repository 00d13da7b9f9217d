//! Resets and power cuts at any moment must not lose what was learned.

use drift_app::message::{Command, Origin, Refusal, Sample, flags};
use drift_app::profile::TEST_KEY;

use crate::device::{Closing, Device};
use crate::error::{Error, expect};
use crate::learned::{self, LEARNED};
use crate::machine::{Board, Eeprom, Setup};
use crate::scenarios::{Programs, learned_device, status, step};
use crate::signal::{Random, Scene};

/// How often the firmware stores its state while it learns.
const STORE_EVERY: u64 = drift_app::Config::DEFAULT.store_every_learning as u64;

pub(crate) fn resets(programs: &Programs) -> Result<String, Error> {
    let (mut scene, mut random) = (Scene::new(7), Random::new(7));
    for samples in [0, LEARNED] {
        let (mut device, _eeprom) = learned_device(programs, samples)?;
        for _ in 0..30 {
            for _ in 0..random.below(30) + 1 {
                let (_, alarm) = step(&mut device, &mut scene)?;
                expect(alarm.is_none(), || format!("{alarm:?}"))?;
            }
            let (before, state) = (status(&mut device)?, device.read_state()?);
            expect(before.status.stage.is_learned() == (samples > 0), || format!("{before:?}"))?;
            let origin = if random.below(2) == 0 { device.reset()? } else { device.restart()? };
            let after = status(&mut device)?;
            expect(origin == Origin::Memory, || format!("started from {origin:?}, {after:?}"))?;
            expect(
                after.status.rows == before.status.rows
                    && after.status.stage == before.status.stage,
                || format!("{before:?} became {after:?}"),
            )?;
            expect(device.read_state()? == state, || "the state is not the same".into())?;
        }
    }
    Ok("30 while learning, 30 while monitoring: the state is the same bit for bit".into())
}

/// The board with the record of its starts (`board-common/record.rs`) is reset again and again: at the sixth start
/// it only talks, and what it keeps in RAM stays. When it is told to restart, it goes on from there. (Its panics and
/// faults, which the same record holds, no command can cause; QEMU does not emulate the register that tells the
/// cause of a reset.)
pub(crate) fn boot_loop(programs: &Programs) -> Result<String, Error> {
    const ROWS: u64 = 20;
    let elf = programs.stm32f405();
    let (mut device, _) = Device::start(&Setup::bare(Board::NetduinoPlus2, &elf))?;
    let mut scene = Scene::new(18);
    for _ in 0..ROWS {
        let values = scene.reading().values();
        let sample = Sample::new(&values).ok_or(Error::Silent("four channels"))?;
        device.ask(&Command::Push(sample))?;
    }
    for tries in 1..=6 {
        if tries > 1 {
            device.reset()?;
        }
        let (start, report) = (device.last_start(), status(&mut device)?);
        let is_safe = report.flags & flags::SAFE != 0;
        expect(start.tries == tries && is_safe == (tries == 6), || {
            format!("{start:?} {report:?}")
        })?;
        expect(is_safe || report.status.rows == ROWS, || format!("start {tries}: {report:?}"))?;
    }
    for command in [Command::Step, Command::Relearn, Command::ReadState { offset: 0, length: 9 }] {
        let answer = device.ask(&command)?;
        expect(answer.closing == Closing::Nack(Refusal::Safe), || format!("{answer:?}"))?;
    }
    device.ask(&Command::Identify)?;
    let origin = device.restart()?;
    let (start, report) = (device.last_start(), status(&mut device)?);
    let goes_on = report.flags & flags::SAFE == 0 && report.status.rows == ROWS;
    expect(origin == Origin::Memory && start.tries == 1 && goes_on, || {
        format!("from {origin:?}: {start:?}, {report:?}")
    })?;
    Ok("at the sixth start in a row it only talks; told to restart, it goes on".into())
}

/// A board that keeps rows in RAM and saves its state once for several of them, against one that saves its
/// state on every row and is never reset.
pub(crate) fn resets_between_saves(programs: &Programs) -> Result<String, Error> {
    const RESETS: u64 = 15;
    let (mut scene, mut random) = (Scene::new(17), Random::new(17));
    let elf = programs.secured();
    let mut replayed = 0;
    for samples in [0, LEARNED] {
        let (mut twin, _twins) = learned_device(programs, samples)?;
        let eeprom = learned::sealed_eeprom(samples, &TEST_KEY)?;
        let (mut device, origin) = Device::start(&Setup::new(&elf, &eeprom))?;
        expect(origin == Origin::Store, || format!("started from {origin:?}"))?;
        device.seal_with(&TEST_KEY)?;
        let mut rows = samples;
        for _ in 0..RESETS {
            for _ in 0..random.below(30) + 1 {
                let reading = scene.reading();
                for board in [&mut device, &mut twin] {
                    board.machine().set_sensors(&reading)?;
                    let answer = board.ask(&Command::Step)?;
                    expect(answer.faults.is_empty(), || format!("{answer:?}"))?;
                }
                rows += 1;
            }
            let origin = if random.below(2) == 0 { device.reset()? } else { device.restart()? };
            let after = status(&mut device)?;
            expect(origin == Origin::Memory && after.status.rows == rows, || {
                format!("{rows} rows became {after:?}, from {origin:?}")
            })?;
            // The nonce is another one.
            device.do_not_seal();
            device.seal_with(&TEST_KEY)?;
            // Not from the start, which would save the state first.
            let kept = device.state_from(1)?;
            let state = device.read_state()?;
            expect(state == twin.read_state()?, || format!("another state after {rows} rows"))?;
            replayed += u64::from(state[1..] != kept);
        }
    }
    // By chance a save may be on the last row before a reset.
    expect(replayed > RESETS, || format!("rows were kept before {replayed} resets only"))?;
    let resets = 2 * RESETS;
    Ok(format!("{resets}, {replayed} of them with rows to process again: as if there were none"))
}

/// A reset while a sample is processed. If the state was just being copied to the RAM that survives
/// a reset, the firmware must restore the one in the EEPROM.
pub(crate) fn resets_at_any_moment(programs: &Programs) -> Result<String, Error> {
    let (mut scene, mut random) = (Scene::new(15), Random::new(15));
    let (mut from_memory, mut from_store) = (0, 0);
    let (mut device, _eeprom) = learned_device(programs, LEARNED)?;
    for _ in 0..60 {
        for _ in 0..random.below(5) + 1 {
            step(&mut device, &mut scene)?;
        }
        let before = status(&mut device)?;
        device.machine().set_sensors(&scene.reading())?;
        device.send(&Command::Step)?;
        std::thread::sleep(std::time::Duration::from_micros(random.below(2500)));
        let origin = device.reset()?;
        let after = status(&mut device)?;
        expect(after.status.stage.is_learned(), || format!("{before:?} became {after:?}"))?;
        let all = [before.status.rows, before.status.rows + 1].contains(&after.status.rows);
        match origin {
            Origin::Memory => {
                expect(all, || format!("{before:?} became {after:?}"))?;
                from_memory += 1;
            }
            Origin::Store => {
                // If the state in RAM was the stored one, the rows after it are still there.
                let learned = after.status.rows == LEARNED;
                expect(all || learned, || format!("{before:?} became {after:?}"))?;
                from_store += 1;
            }
            Origin::Fresh => return Err(Error::Unexpected("all was lost".into())),
        }
    }
    Ok(format!("60: {from_memory} continued from RAM, {from_store} from the EEPROM"))
}

pub(crate) fn power_cuts(programs: &Programs) -> Result<String, Error> {
    let elf = programs.drift();
    let (mut scene, mut random) = (Scene::new(8), Random::new(8));
    let mut inside = 0;
    for (samples, learned) in [(0, false), (LEARNED, true)] {
        let eeprom = learned::eeprom(samples)?;
        let setup = Setup::new(&elf, &eeprom);
        let mut kept = samples;
        for cut in 0..30 {
            let before = eeprom.read()?;
            let (mut device, origin) = Device::start(&setup)?;
            let mut last = status(&mut device)?;
            expect(last.status.rows >= kept && origin == Origin::Store, || {
                format!("{kept} samples kept, {last:?} ({origin:?})")
            })?;
            expect(last.status.stage.is_learned() == learned, || format!("{last:?}"))?;
            kept = last.status.rows;
            for _ in 0..random.below(40) {
                last = step(&mut device, &mut scene)?.0;
            }
            if !learned && cut % 3 == 0 {
                // Steps up to the sample on which a state is written.
                while (last.status.rows + 1) % STORE_EVERY != 0 {
                    last = step(&mut device, &mut scene)?.0;
                }
            }
            // The power is cut while a sample is processed, and perhaps while a state is written.
            device.machine().set_sensors(&scene.reading())?;
            device.send(&Command::Step)?;
            std::thread::sleep(std::time::Duration::from_micros(random.below(40_000)));
            let log = device.cut_power()?;
            kept = kept.max(stored_count(&log));
            let image = eeprom.read()?;
            let unfinished = learned::sequence(&image)? == learned::sequence(&before)?;
            inside += usize::from(image != before && unfinished);
        }
    }
    expect(inside > 0, || "no cut was during a save".into())?;
    Ok(format!(
        "30 while learning, 30 while monitoring, {inside} during a save: no stored state was lost"
    ))
}

/// The number of samples in the newest state that the firmware says it stored.
fn stored_count(log: &[String]) -> u64 {
    let counts = log.iter().filter(|line| line.contains("stored"));
    let number =
        |line: &String| line.split("after ").nth(1)?.split_whitespace().next()?.parse::<u64>().ok();
    counts.filter_map(number).next_back().unwrap_or(0)
}

pub(crate) fn torn_store(programs: &Programs) -> Result<String, Error> {
    // Two images, one save apart: the second save ends learning.
    let eeprom = learned::eeprom(LEARNED - STORE_EVERY - 1)?;
    let elf = programs.drift();
    let setup = Setup::new(&elf, &eeprom);
    let mut scene = Scene::new(9);
    let mut images = Vec::new();
    for _ in 0..2 {
        let (mut device, _) = Device::start(&setup)?;
        for _ in 0..2 * STORE_EVERY {
            step(&mut device, &mut scene)?;
            if device.machine().log().iter().any(|line| line.contains("stored")) {
                break;
            }
        }
        let count = stored_count(&device.cut_power()?);
        images.push((count, eeprom.read()?));
    }
    let [(older_count, older), (newer_count, newer)] = &images[..] else {
        return Err(Error::Silent("two images"));
    };
    expect(newer_count > older_count, || format!("{older_count} and {newer_count} samples"))?;
    let mut random = Random::new(9);
    let (mut old_seen, mut new_seen) = (0, 0);
    let order = write_order(older, newer)?;
    for _ in 0..200 {
        // Every fourth cut is in the last bytes, where the newer state becomes valid.
        let all = order.len() as u64;
        let written = if random.below(4) == 0 { all - random.below(26) } else { random.below(all) };
        let mut torn = older.clone();
        for (position, byte) in order.iter().take(usize::try_from(written).unwrap_or(0)) {
            torn[*position] = *byte;
        }
        let image = torn.try_into().map_err(|_| Error::Silent("an image of 32 KiB"))?;
        eeprom.write(&image)?;
        let (mut device, origin) = Device::start(&setup)?;
        let count = status(&mut device)?.status.rows;
        expect(origin == Origin::Store, || format!("{origin:?} after {written} bytes"))?;
        expect(count == *older_count || count == *newer_count, || {
            format!("{count} samples after {written} bytes")
        })?;
        if count == *older_count {
            old_seen += 1;
        } else {
            new_seen += 1;
        }
        device.cut_power()?;
    }
    Ok(format!(
        "200 incomplete images of {} bytes: {old_seen} gave the older state, {new_seen} the newer",
        order.len()
    ))
}

/// The bytes that saves write between two images, in their order: state, then header; the slot that
/// was the older one first.
fn write_order(older: &[u8], newer: &[u8]) -> Result<Vec<(usize, u8)>, Error> {
    const SLOT: usize = Eeprom::BYTES / 2;
    const HEADERS: usize = 4 * 64;
    let slots = if learned::sequence(older)? % 2 == 0 { [0, SLOT] } else { [SLOT, 0] };
    let order = slots
        .into_iter()
        .flat_map(|slot| (slot + HEADERS..slot + SLOT).chain(slot..slot + HEADERS));
    let changed = order.filter(|position| older[*position] != newer[*position]);
    Ok(changed.map(|position| (position, newer[position])).collect())
}
