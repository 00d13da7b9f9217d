//! What the emulated board must live through, each a function that says what went wrong.

use std::path::{Path, PathBuf};

use drift_app::engine::Alarm;
use drift_app::fault::{Device as Part, Fault, FaultKind};
use drift_app::message::{Command, Origin, Refusal, Report, Sample, flags};

use crate::device::{Closing, Device};
use crate::error::{Error, expect};
use crate::learned::{self, LEARNED};
use crate::machine::{Board, Eeprom, Machine, PATIENCE, Setup};
use crate::signal::{DEVIATION, Random, Scene};
use crate::{endurance, recording, stack};

/// A scenario: its name and the function that plays it with the programs in a directory.
pub type Scenario = (&'static str, fn(&Programs) -> Result<String, Error>);

/// All scenarios, short ones first.
pub const ALL: [Scenario; 18] = [
    ("stack-guard", stack_guard),
    ("learns-and-alarms", learns_and_alarms),
    ("sensors-absent", sensors_absent),
    ("sensor-fails", sensor_fails),
    ("sensor-stuck", sensor_stuck),
    ("axis-stuck", axis_stuck),
    ("store-absent", store_absent),
    ("store-write-protected", store_write_protected),
    ("line-noise", line_noise),
    ("recorded-samples", recorded_samples),
    ("stm32-over-usart", stm32_over_usart),
    ("resets", resets),
    ("resets-at-any-moment", resets_at_any_moment),
    ("power-cuts", power_cuts),
    ("torn-store", torn_store),
    ("recording", synthetic_recording),
    ("skab", skab),
    ("million-samples", million_samples),
];

/// More samples than any learning may take.
const LEARNING_LIMIT: u32 = 20_000;

/// Recordings of a directory that are streamed.
const RECORDINGS: usize = 4;

/// How often the firmware stores its state while it learns.
const STORE_EVERY: u32 = drift_app::Config::DEFAULT.store_every_learning;

/// Where the programs of the board are.
#[derive(Debug, Clone)]
pub struct Programs {
    directory: PathBuf,
    recordings: Option<PathBuf>,
}

impl Programs {
    /// Programs in `directory`, such as `target/thumbv7em-none-eabihf/release`.
    #[must_use]
    pub fn new(directory: &Path) -> Self {
        Self { directory: directory.to_owned(), recordings: None }
    }

    /// With recordings of the Skoltech Anomaly Benchmark, if there are any.
    #[must_use]
    pub fn with_recordings(self, recordings: Option<PathBuf>) -> Self {
        Self { recordings, ..self }
    }

    /// The program for a million samples.
    #[must_use]
    pub fn endurance(&self) -> PathBuf {
        self.directory.join("endurance")
    }

    /// The app with magnetometer and thermometer.
    #[must_use]
    pub fn drift(&self) -> PathBuf {
        self.directory.join("drift")
    }

    /// The app for recordings of eight channels.
    #[must_use]
    pub fn recorded(&self) -> PathBuf {
        self.directory.join("recorded")
    }

    /// The app for the STM32F405.
    #[must_use]
    pub fn stm32f405(&self) -> PathBuf {
        self.directory.join("stm32f405")
    }

    /// The program that uses up the stack.
    #[must_use]
    pub fn overflow(&self) -> PathBuf {
        self.directory.join("overflow")
    }
}

/// One sample in lockstep: sets the sensors, lets the firmware read them.
///
/// # Errors
/// [`Error`] if the board is gone or reports a fault.
pub fn step(device: &mut Device, scene: &mut Scene) -> Result<(Report, Option<Alarm>), Error> {
    device.machine().set_sensors(&scene.reading())?;
    let answer = device.ask(&Command::Step)?;
    expect(answer.faults.is_empty(), || format!("{:?}", answer.faults))?;
    Ok((answer.report()?, answer.alarms.first().copied()))
}

/// Steps until learning is complete; the report then.
///
/// # Errors
/// [`Error`] if it never is, or an alarm comes.
pub fn learn(device: &mut Device, scene: &mut Scene) -> Result<Report, Error> {
    for _ in 0..LEARNING_LIMIT {
        let (report, alarm) = step(device, scene)?;
        expect(alarm.is_none(), || format!("false alarm while learning: {alarm:?}"))?;
        if report.phase.is_learned() {
            return Ok(report);
        }
    }
    Err(Error::Unexpected(format!("still learning after {LEARNING_LIMIT} samples")))
}

fn status(device: &mut Device) -> Result<Report, Error> {
    device.ask(&Command::Status)?.report()
}

/// A board that has processed so many healthy samples, and its EEPROM.
fn learned_device(programs: &Programs, samples: u32) -> Result<(Device, Eeprom), Error> {
    let eeprom = learned::eeprom(samples)?;
    let elf = programs.drift();
    let (device, origin) = Device::start(&Setup::new(&elf, &eeprom))?;
    expect(origin == Origin::Store, || format!("started from {origin:?}"))?;
    Ok((device, eeprom))
}

fn stack_guard(programs: &Programs) -> Result<String, Error> {
    const MEMORY_FAULT: i32 = 103;
    let elf = programs.overflow();
    let setup = Setup::bare(Board::Mps2An386, &elf);
    let (machine, _line) = Machine::start(&setup)?;
    let (code, log) = machine.exit_code(PATIENCE)?;
    expect(code == MEMORY_FAULT, || format!("exit code {code}, log {log:?}"))?;
    Ok(log.last().cloned().unwrap_or_default())
}

fn learns_and_alarms(programs: &Programs) -> Result<String, Error> {
    let eeprom = Eeprom::new()?;
    let elf = programs.drift();
    let (mut device, origin) = Device::start(&Setup::new(&elf, &eeprom))?;
    expect(origin == Origin::Fresh, || format!("started from {origin:?}"))?;
    let mut scene = Scene::new(1);
    let learned = learn(&mut device, &mut scene)?;
    for _ in 0..1000 {
        let (report, alarm) = step(&mut device, &mut scene)?;
        expect(alarm.is_none(), || format!("false alarm {alarm:?}, {report:?}"))?;
    }
    let before = status(&mut device)?;
    scene.shift = [0.0, 1.5 * DEVIATION, 0.0];
    for _ in 0..500 {
        if let (_, Some(alarm)) = step(&mut device, &mut scene)? {
            let delay = alarm.sample - before.count;
            expect(alarm.channel == 1, || format!("{alarm:?}"))?;
            // As if the alarm had been lost on the line: it comes again until acknowledged.
            let again = device.ask(&Command::Status)?;
            expect(again.alarms == [alarm], || format!("{again:?}"))?;
            device.ask(&Command::Acknowledge { sample: alarm.sample })?;
            let after = device.ask(&Command::Status)?;
            expect(after.alarms.is_empty(), || format!("{after:?}"))?;
            return Ok(format!("learned in {}, delay {delay}, {:?}", learned.count, alarm.kind));
        }
    }
    Err(Error::Unexpected("no alarm in 500 samples of drift".into()))
}

fn sensors_absent(programs: &Programs) -> Result<String, Error> {
    let eeprom = Eeprom::new()?;
    let elf = programs.drift();
    let setup = Setup { sensors: false, ..Setup::new(&elf, &eeprom) };
    let (mut device, _) = Device::start(&setup)?;
    let absent = Fault::new(Part::Magnetometer, FaultKind::NoAcknowledge);
    let answer = device.ask(&Command::Step)?;
    expect(answer.faults == [absent], || format!("{answer:?}"))?;
    let answer = device.ask(&Command::Step)?;
    let report = answer.report()?;
    let wanted = flags::SENSOR_FAULT | flags::SKIPPED;
    expect(answer.faults.is_empty() && report.flags == wanted, || format!("{answer:?}"))?;
    expect(report.count == 0, || format!("{report:?}"))?;
    Ok("reported once, no sample made up".into())
}

fn sensor_fails(programs: &Programs) -> Result<String, Error> {
    let (mut device, _eeprom) = learned_device(programs, LEARNED)?;
    let mut scene = Scene::new(2);
    for (address, part) in [(0x1E, Part::Magnetometer), (0x48, Part::Thermometer)] {
        let before = status(&mut device)?.count;
        device.ask(&Command::FailBus { address, transactions: 30 })?;
        let mut faults = Vec::new();
        let mut skipped = 0;
        for _ in 0..20 {
            device.machine().set_sensors(&scene.reading())?;
            let answer = device.ask(&Command::Step)?;
            skipped += u32::from(answer.report()?.flags & flags::SKIPPED != 0);
            expect(answer.alarms.is_empty(), || format!("{answer:?}"))?;
            faults.extend(answer.faults);
        }
        expect(faults == [Fault::new(part, FaultKind::NoAcknowledge)], || format!("{faults:?}"))?;
        let report = status(&mut device)?;
        let taken = report.count - before;
        expect(skipped == 10 && taken == 10 && report.flags & flags::SENSOR_FAULT == 0, || {
            format!("{skipped} skipped, {taken} taken, {report:?}")
        })?;
    }
    Ok("10 of 20 samples skipped, then on without alarm".into())
}

fn sensor_stuck(programs: &Programs) -> Result<String, Error> {
    let eeprom = Eeprom::new()?;
    let elf = programs.drift();
    let (mut device, _) = Device::start(&Setup::new(&elf, &eeprom))?;
    let mut scene = Scene::new(3);
    device.machine().set_sensors(&scene.reading())?;
    for number in 0..200 {
        let answer = device.ask(&Command::Step)?;
        if let Some(fault) = answer.faults.first() {
            let stuck = Fault::new(Part::Sample, FaultKind::Stuck);
            expect(*fault == stuck, || format!("{fault:?}"))?;
            step(&mut device, &mut scene)?;
            return Ok(format!("noticed after {number} samples, recovered"));
        }
    }
    Err(Error::Unexpected("a sensor stuck for 200 samples went unnoticed".into()))
}

fn axis_stuck(programs: &Programs) -> Result<String, Error> {
    let (mut device, _eeprom) = learned_device(programs, LEARNED)?;
    let mut scene = Scene::new(13);
    for _ in 0..50 {
        let (_, alarm) = step(&mut device, &mut scene)?;
        expect(alarm.is_none(), || format!("{alarm:?}"))?;
    }
    scene.stuck = Some(0);
    for number in 1..400 {
        if let (_, Some(alarm)) = step(&mut device, &mut scene)? {
            expect(alarm.channel == 0, || format!("{alarm:?}"))?;
            return Ok(format!("alarm after {number} samples, {:?}", alarm.kind));
        }
    }
    Err(Error::Unexpected("an axis stuck for 400 samples went unnoticed".into()))
}

fn store_absent(programs: &Programs) -> Result<String, Error> {
    let elf = programs.drift();
    let setup = Setup { sensors: true, ..Setup::bare(Board::Mps2An386, &elf) };
    let (mut device, origin) = Device::start(&setup)?;
    expect(origin == Origin::Fresh, || format!("{origin:?}"))?;
    let report = status(&mut device)?;
    expect(report.flags == flags::STORE_FAULT, || format!("{report:?}"))?;
    let mut scene = Scene::new(4);
    device.machine().set_sensors(&scene.reading())?;
    let report = device.ask(&Command::Step)?.report()?;
    expect(report.count == 1, || format!("{report:?}"))?;
    Ok("reported, and on without it".into())
}

fn store_write_protected(programs: &Programs) -> Result<String, Error> {
    let eeprom = Eeprom::new()?;
    let elf = programs.drift();
    let setup = Setup { write_protected: true, ..Setup::new(&elf, &eeprom) };
    let (mut device, _) = Device::start(&setup)?;
    let answer = device.ask(&Command::Relearn)?;
    let noticed = [Fault::new(Part::Store, FaultKind::NotWritten)];
    expect(answer.faults == noticed, || format!("{answer:?}"))?;
    let report = answer.report()?;
    expect(report.flags == flags::STORE_FAULT, || format!("{report:?}"))?;
    Ok("noticed by reading back".into())
}

fn line_noise(programs: &Programs) -> Result<String, Error> {
    let eeprom = Eeprom::new()?;
    let elf = programs.drift();
    let (mut device, _) = Device::start(&Setup::new(&elf, &eeprom))?;
    let (mut scene, mut random) = (Scene::new(5), Random::new(5));
    let mut sent = 0;
    for number in 1..=500 {
        let noise: Vec<u8> = (0..random.below(100)).map(|_| random.byte()).collect();
        sent += noise.len();
        device.send_raw(&noise)?;
        let (report, _) = step(&mut device, &mut scene)?;
        expect(report.count == number, || format!("{report:?} at sample {number}"))?;
    }
    Ok(format!("500 samples between {sent} bytes of noise"))
}

fn recorded_samples(programs: &Programs) -> Result<String, Error> {
    let elf = programs.recorded();
    let setup = Setup::bare(Board::Mps2An386, &elf);
    let (mut device, _) = Device::start(&setup)?;
    let mut random = Random::new(6);
    let begin = std::time::Instant::now();
    const SAMPLES: u32 = 3000;
    for number in 1..=SAMPLES {
        #[expect(clippy::cast_possible_truncation, reason = "single precision is what is sent")]
        let values: [f32; 8] = std::array::from_fn(|_| random.normal() as f32);
        let sample = Sample::new(&values).ok_or(Error::Silent("eight channels"))?;
        let report = device.ask(&Command::Push(sample))?.report()?;
        expect(report.count == number, || format!("{report:?} at sample {number}"))?;
    }
    let rate = f64::from(SAMPLES) / begin.elapsed().as_secs_f64();
    let nan = Sample::new(&[f32::NAN; 8]).ok_or(Error::Silent("eight channels"))?;
    let answer = device.ask(&Command::Push(nan))?;
    let refused = [Fault::new(Part::Sample, FaultKind::NotFinite)];
    expect(answer.faults == refused, || format!("{answer:?}"))?;
    let short = Sample::new(&[1.0; 3]).ok_or(Error::Silent("three channels"))?;
    let answer = device.ask(&Command::Push(short))?;
    expect(answer.closing == Closing::Nack(Refusal::Channels), || format!("{answer:?}"))?;
    Ok(format!("{rate:.0} samples a second; NaN and wrong shapes refused"))
}

fn stm32_over_usart(programs: &Programs) -> Result<String, Error> {
    let elf = programs.stm32f405();
    let (mut device, origin) = Device::start(&Setup::bare(Board::NetduinoPlus2, &elf))?;
    expect(origin == Origin::Fresh, || format!("started from {origin:?}"))?;
    let report = status(&mut device)?;
    expect(report.flags & flags::STORE_FAULT != 0, || format!("no bus, no fault: {report:?}"))?;
    drop(device);
    let stack = stack::stm32f405(programs)?;
    Ok(format!("learns, alarms, restarts; absent bus reported; {stack} bytes of stack"))
}

fn resets(programs: &Programs) -> Result<String, Error> {
    let (mut scene, mut random) = (Scene::new(7), Random::new(7));
    for samples in [0, LEARNED] {
        let (mut device, _eeprom) = learned_device(programs, samples)?;
        for _ in 0..30 {
            for _ in 0..random.below(30) + 1 {
                let (_, alarm) = step(&mut device, &mut scene)?;
                expect(alarm.is_none(), || format!("{alarm:?}"))?;
            }
            let (before, state) = (status(&mut device)?, device.read_state()?);
            expect(before.phase.is_learned() == (samples > 0), || format!("{before:?}"))?;
            let origin = if random.below(2) == 0 { device.reset()? } else { device.restart()? };
            let after = status(&mut device)?;
            expect(origin == Origin::Memory, || format!("started from {origin:?}, {after:?}"))?;
            expect(after.count == before.count && after.phase == before.phase, || {
                format!("{before:?} became {after:?}")
            })?;
            expect(device.read_state()? == state, || "the state is not the same".into())?;
        }
    }
    Ok("30 in learning, 30 in monitoring: bit for bit the same".into())
}

/// The reset button while a sample is processed, perhaps while the state is copied to the RAM
/// that outlives it: then what the EEPROM has is taken up.
fn resets_at_any_moment(programs: &Programs) -> Result<String, Error> {
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
        expect(after.phase.is_learned(), || format!("{before:?} became {after:?}"))?;
        match origin {
            Origin::Memory => {
                let good = [before.count, before.count + 1].contains(&after.count);
                expect(good, || format!("{before:?} became {after:?}"))?;
                from_memory += 1;
            }
            Origin::Store => {
                expect(after.count == LEARNED, || format!("{before:?} became {after:?}"))?;
                from_store += 1;
            }
            Origin::Fresh => return Err(Error::Unexpected("all was lost".into())),
        }
    }
    Ok(format!("60: {from_memory} went on from RAM, {from_store} from the EEPROM"))
}

fn power_cuts(programs: &Programs) -> Result<String, Error> {
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
            expect(last.count >= kept && origin == Origin::Store, || {
                format!("{kept} samples kept, {last:?} ({origin:?})")
            })?;
            expect(last.phase.is_learned() == learned, || format!("{last:?}"))?;
            kept = last.count;
            for _ in 0..random.below(40) {
                last = step(&mut device, &mut scene)?.0;
            }
            if !learned && cut % 3 == 0 {
                // Up to the sample with which a state is written.
                while (last.count + 1) % STORE_EVERY != 0 {
                    last = step(&mut device, &mut scene)?.0;
                }
            }
            // The power goes while a sample is processed, and perhaps a state written.
            device.machine().set_sensors(&scene.reading())?;
            device.send(&Command::Step)?;
            std::thread::sleep(std::time::Duration::from_micros(random.below(40_000)));
            let log = device.cut_power()?;
            kept = kept.max(stored_count(&log));
            let image = eeprom.read()?;
            inside += usize::from(image != before && is_being_written(&image));
        }
    }
    expect(inside > 0, || "no cut was inside a save".into())?;
    Ok(format!("30 in learning, 30 in monitoring, {inside} inside a save: nothing stored was lost"))
}

/// Whether a slot has the void header that it has while its state is written.
fn is_being_written(image: &[u8]) -> bool {
    image.chunks(Eeprom::BYTES / 2).any(|slot| slot.iter().take(24).all(|byte| *byte == 0))
}

/// The number of samples in the newest state that the firmware says it stored.
fn stored_count(log: &[String]) -> u32 {
    let counts = log.iter().filter(|line| line.contains("stored"));
    let number =
        |line: &String| line.split("after ").nth(1)?.split_whitespace().next()?.parse::<u32>().ok();
    counts.filter_map(number).next_back().unwrap_or(0)
}

fn torn_store(programs: &Programs) -> Result<String, Error> {
    // Two images, one save apart: the second save ends learning.
    let eeprom = learned::eeprom(LEARNED / STORE_EVERY * STORE_EVERY - 1)?;
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
    let order = write_order(older, newer);
    for _ in 0..200 {
        // Every fourth cut is in the last bytes, where it turns from the older to the newer state.
        let all = order.len() as u64;
        let written = if random.below(4) == 0 { all - random.below(26) } else { random.below(all) };
        let mut torn = older.clone();
        for (position, byte) in order.iter().take(usize::try_from(written).unwrap_or(0)) {
            torn[*position] = *byte;
        }
        let image = torn.try_into().map_err(|_| Error::Silent("an image of 32 KiB"))?;
        eeprom.write(&image)?;
        let (mut device, origin) = Device::start(&setup)?;
        let count = status(&mut device)?.count;
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
    Ok(format!("200 torn images of {} bytes: {old_seen} older, {new_seen} newer", order.len()))
}

/// The bytes that a save writes between two images, in its order: void header, state, header.
fn write_order(older: &[u8], newer: &[u8]) -> Vec<(usize, u8)> {
    const SLOT: usize = Eeprom::BYTES / 2;
    const PAGE: usize = 64;
    const HEADER: usize = 24;
    let slot = if older[..SLOT] == newer[..SLOT] { SLOT } else { 0 };
    let length = newer[slot + 12..].first_chunk().map_or(0, |length| u32::from_le_bytes(*length));
    let state = slot + PAGE..slot + PAGE + usize::try_from(length).unwrap_or(0);
    let header = slot..slot + HEADER;
    let void = header.clone().map(|position| (position, 0));
    let written = state.chain(header).map(|position| (position, newer[position]));
    void.chain(written).collect()
}

fn synthetic_recording(programs: &Programs) -> Result<String, Error> {
    let rows = recording::synthetic();
    let alarms = recording::compare(&programs.recorded(), &rows)?;
    let at: Vec<u32> = alarms.iter().map(|alarm| alarm.sample).collect();
    expect(alarms.iter().any(|alarm| (701..760).contains(&alarm.sample)), || format!("{at:?}"))?;
    Ok(format!("{} rows of 8 channels as on the host; alarms at {at:?}", rows.len()))
}

fn skab(programs: &Programs) -> Result<String, Error> {
    let Some(directory) = &programs.recordings else {
        return Err(Error::Skipped("no recordings: cargo xtask firmware --skab DIR".into()));
    };
    let files = recording::files(directory)?;
    expect(!files.is_empty(), || format!("no .csv below {}", directory.display()))?;
    let (mut rows, mut alarms, mut names) = (0, 0, Vec::new());
    for file in files.iter().step_by(files.len().div_ceil(RECORDINGS)) {
        let recording = recording::read_skab(file)?;
        rows += recording.len();
        alarms += recording::compare(&programs.recorded(), &recording)?.len();
        let name = file.strip_prefix(directory).unwrap_or(file);
        names.push(name.display().to_string());
    }
    Ok(format!("{rows} rows, {alarms} alarms, as on the host: {}", names.join(", ")))
}

fn million_samples(programs: &Programs) -> Result<String, Error> {
    let (summary, _) = endurance::compare(&programs.endurance(), 1_000_000)?;
    // Promised are 19 after learning; so many come by chance once in a thousand times.
    expect(summary.alarms <= 34, || format!("{summary}"))?;
    Ok(format!("{summary}; as on the host"))
}
