//! The scenarios that the emulated board must pass. Each is a function; its error says what failed.

use std::path::{Path, PathBuf};

use drift_app::fault::{Device as Part, Fault, FaultKind};
use drift_app::message::{Command, Failure, Origin, Refusal, Report, Sample, flags};
use drift_app::profile::{EIGHT_CHANNELS, ONE_CHANNEL};
use fastmmd::{Alarm, Change, Config, Fourier, Stage};

use crate::device::{Closing, Device};
use crate::error::{Error, expect};
use crate::learned::{self, LEARNED, SETTINGS};
use crate::machine::{Board, Eeprom, Machine, PATIENCE, Setup};
use crate::signal::{DEVIATION, Random, Scene, USUAL};
use crate::{bus, endurance, moments, power, recording, sealed, stack, tool};

/// A scenario: its name and the function that plays it with the programs in a directory.
pub type Scenario = (&'static str, fn(&Programs) -> Result<String, Error>);

/// All scenarios, short ones first.
pub const ALL: [Scenario; 31] = [
    ("stack-guard", stack_guard),
    ("learns-and-alarms", learns_and_alarms),
    ("dismissed", dismissed),
    ("sensors-absent", sensors_absent),
    ("sensor-fails", sensor_fails),
    ("sensor-stuck", sensor_stuck),
    ("axis-stuck", axis_stuck),
    ("store-absent", store_absent),
    ("store-write-protected", store_write_protected),
    ("settings-changed", settings_changed),
    ("line-noise", line_noise),
    ("sealed-commands", sealed::commands),
    ("sealed-store", sealed::store),
    ("recorded-samples", recorded_samples),
    ("stm32-over-usart", stm32_over_usart),
    ("stm32-boot-loop", power::boot_loop),
    ("resets", power::resets),
    ("resets-between-saves", power::resets_between_saves),
    ("resets-at-any-moment", power::resets_at_any_moment),
    ("power-cuts", power::power_cuts),
    ("torn-store", power::torn_store),
    ("push-cut", moments::push_cut),
    ("beyond-32-bits", moments::beyond_32_bits),
    ("exported", tool::exported),
    ("pushed", tool::pushed),
    ("store-unwritable", bus::store_unwritable),
    ("store-unreadable", bus::store_unreadable),
    ("recording", synthetic_recording),
    ("skab", skab),
    ("nab", nab),
    ("million-samples", million_samples),
];

/// More samples than any learning may take.
const LEARNING_LIMIT: u32 = 20_000;

/// The paths of the boards' programs.
#[derive(Debug, Clone)]
pub struct Programs {
    directory: PathBuf,
    skab: Option<PathBuf>,
    nab: Option<PathBuf>,
    pub(crate) tool: Option<PathBuf>,
}

impl Programs {
    /// Programs in `directory`, such as `target/thumbv7em-none-eabihf/release`.
    #[must_use]
    pub fn new(directory: &Path) -> Self {
        Self { directory: directory.to_owned(), skab: None, nab: None, tool: None }
    }

    /// With recordings of the Skoltech and the Numenta anomaly benchmark, if there are any.
    #[must_use]
    pub fn with_recordings(self, skab: Option<PathBuf>, nab: Option<PathBuf>) -> Self {
        Self { skab, nab, ..self }
    }

    /// With the host command.
    #[must_use]
    pub fn with_tool(self, tool: Option<PathBuf>) -> Self {
        Self { tool, ..self }
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

    /// The same, with commands and states that are sealed.
    #[must_use]
    pub fn secured(&self) -> PathBuf {
        self.directory.join("secured")
    }

    /// The app for recordings of eight channels.
    #[must_use]
    pub fn recorded(&self) -> PathBuf {
        self.directory.join("recorded")
    }

    /// The app for recordings of one channel.
    #[must_use]
    pub fn recorded_single(&self) -> PathBuf {
        self.directory.join("recorded-single")
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

/// One sample: sets the sensors, then makes the firmware read them.
///
/// # Errors
/// [`Error`] if the board is gone or reports a fault.
pub fn step(device: &mut Device, scene: &mut Scene) -> Result<(Report, Option<Alarm>), Error> {
    device.machine().set_sensors(&scene.reading())?;
    let answer = device.ask(&Command::Step)?;
    expect(answer.faults.is_empty(), || format!("{:?}", answer.faults))?;
    Ok((answer.report()?, answer.alarms.first().copied()))
}

/// Steps until learning is complete; returns the last report.
///
/// # Errors
/// [`Error`] if that takes too long, or an alarm comes.
pub fn learn(device: &mut Device, scene: &mut Scene) -> Result<Report, Error> {
    for _ in 0..LEARNING_LIMIT {
        let (report, alarm) = step(device, scene)?;
        expect(alarm.is_none(), || format!("false alarm while learning: {alarm:?}"))?;
        if report.status.stage.is_learned() {
            return Ok(report);
        }
    }
    Err(Error::Unexpected(format!("still learning after {LEARNING_LIMIT} samples")))
}

/// Asks for a report.
pub(crate) fn status(device: &mut Device) -> Result<Report, Error> {
    device.ask(&Command::Status)?.report()
}

/// A board that has processed `samples` healthy samples, and its EEPROM.
pub(crate) fn learned_device(programs: &Programs, samples: u64) -> Result<(Device, Eeprom), Error> {
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
    let mut scene = Scene::new(2);
    let learned = learn(&mut device, &mut scene)?;
    for _ in 0..1000 {
        let (report, alarm) = step(&mut device, &mut scene)?;
        expect(alarm.is_none(), || format!("false alarm {alarm:?}, {report:?}"))?;
    }
    let before = status(&mut device)?;
    scene.shift = [0.0, 1.5 * DEVIATION, 0.0];
    let alarm = alarm_within(&mut device, &mut scene, 500)?;
    let delay = alarm.row + 1 - before.status.rows;
    expect(alarm.channel == 1 && alarm.change == Change::Level, || format!("{alarm:?}"))?;
    // As if the alarm had been lost on the line: it is sent again until acknowledged.
    let again = device.ask(&Command::Status)?;
    expect(again.alarms == [alarm], || format!("{again:?}"))?;
    let open = again.report()?.status.open;
    expect(open > 0, || format!("{again:?}"))?;
    device.ask(&Command::Acknowledge { row: alarm.row })?;
    let after = device.ask(&Command::Status)?;
    expect(after.alarms.is_empty(), || format!("{after:?}"))?;
    let (rows, change) = (learned.status.rows, alarm.change.name());
    Ok(format!("learned in {rows}, delay {delay}, {change}, {open} open"))
}

/// Steps until an alarm comes, and on until it may have been amended; the alarm as it then is.
fn alarm_within(device: &mut Device, scene: &mut Scene, samples: u32) -> Result<Alarm, Error> {
    const AMENDED: u32 = 32;
    let (mut found, mut left): (Option<Alarm>, _) = (None, samples);
    while left > 0 {
        left -= 1;
        device.machine().set_sensors(&scene.reading())?;
        let answer = device.ask(&Command::Step)?;
        expect(answer.faults.is_empty(), || format!("{:?}", answer.faults))?;
        if found.is_none() && !answer.alarms.is_empty() {
            found = answer.alarms.first().copied();
            left = AMENDED;
        }
        let amended =
            answer.amended.into_iter().find(|one| found.is_some_and(|a| a.row == one.row));
        found = amended.or(found);
    }
    found.ok_or_else(|| Error::Unexpected(format!("no alarm in {samples} samples of drift")))
}

/// A drift that the operator says is nothing: it closes, does not alarm again, also after a power
/// cut, and does not hide a larger one.
fn dismissed(programs: &Programs) -> Result<String, Error> {
    let (mut device, eeprom) = learned_device(programs, LEARNED)?;
    let mut scene = Scene::new(16);
    scene.shift = [0.0, 2.0 * DEVIATION, 0.0];
    let alarm = alarm_within(&mut device, &mut scene, 500)?;
    // Until the longest window has seen all of it.
    for _ in 0..500 {
        step(&mut device, &mut scene)?;
    }
    let report = device.ask(&Command::Dismiss)?.report()?;
    let closed = report.status.stage == Stage::Monitoring && report.status.open == 0;
    expect(closed, || format!("{report:?}"))?;
    let quiet = |device: &mut Device, scene: &mut Scene| {
        for _ in 0..500 {
            let (_, alarm) = step(device, scene)?;
            expect(alarm.is_none(), || format!("{alarm:?}"))?;
        }
        Ok::<(), Error>(())
    };
    quiet(&mut device, &mut scene)?;
    device.cut_power()?;
    let elf = programs.drift();
    let (mut device, origin) = Device::start(&Setup::new(&elf, &eeprom))?;
    expect(origin == Origin::Store, || format!("{origin:?}"))?;
    quiet(&mut device, &mut scene)?;
    scene.shift[1] = 8.0 * DEVIATION;
    let larger = alarm_within(&mut device, &mut scene, 100)?;
    expect(larger.channel == 1, || format!("{larger:?}"))?;
    let change = alarm.change.name();
    Ok(format!("a {change} is closed and stays so through a power cut; a larger one alarms"))
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
    expect(report.status.rows == 0, || format!("{report:?}"))?;
    Ok("reported once, no sample invented".into())
}

fn sensor_fails(programs: &Programs) -> Result<String, Error> {
    let (mut device, _eeprom) = learned_device(programs, LEARNED)?;
    let mut scene = Scene::new(2);
    for (address, part) in [(0x1E, Part::Magnetometer), (0x48, Part::Thermometer)] {
        let before = status(&mut device)?.status.rows;
        device.ask(&Command::FailBus {
            address,
            transactions: 30,
            kind: Failure::NoAcknowledge,
        })?;
        let mut faults = Vec::new();
        let mut failing = 0;
        for _ in 0..20 {
            device.machine().set_sensors(&scene.reading())?;
            let answer = device.ask(&Command::Step)?;
            failing += u32::from(answer.report()?.flags & flags::SENSOR_FAULT != 0);
            expect(answer.alarms.iter().all(|alarm| alarm.change == Change::Missing), || {
                format!("{answer:?}")
            })?;
            faults.extend(answer.faults);
        }
        expect(faults == [Fault::new(part, FaultKind::NoAcknowledge)], || format!("{faults:?}"))?;
        let report = status(&mut device)?;
        let taken = report.status.rows - before;
        expect(failing == 10 && taken == 20 && report.flags & flags::SENSOR_FAULT == 0, || {
            format!("{failing} failing, {taken} taken, {report:?}")
        })?;
    }
    Ok("10 of 20 rows without its channels, no row lost, no alarm but of missing readings".into())
}

/// All sensors repeat their values. Each reading is valid, so that is no fault, but the detector
/// must say that they are stuck, whatever it says before; and be healthy again once they have moved
/// for a while.
fn sensor_stuck(programs: &Programs) -> Result<String, Error> {
    const LIMIT: u32 = 1000;
    let (mut device, _eeprom) = learned_device(programs, LEARNED)?;
    let mut scene = Scene::new(3);
    for _ in 0..50 {
        let (_, alarm) = step(&mut device, &mut scene)?;
        expect(alarm.is_none(), || format!("{alarm:?}"))?;
    }
    device.machine().set_sensors(&USUAL)?;
    let mut noticed = None;
    for number in 1..=LIMIT {
        let answer = device.ask(&Command::Step)?;
        expect(answer.faults.is_empty(), || format!("{answer:?}"))?;
        if answer.alarms.iter().any(|alarm| alarm.change == Change::Stuck) {
            noticed = Some(number);
            break;
        }
    }
    let noticed = noticed.ok_or_else(|| Error::Unexpected(format!("no alarm in {LIMIT}")))?;
    for number in 1..=LIMIT {
        let (report, _) = step(&mut device, &mut scene)?;
        if report.status.stage == Stage::Monitoring {
            return Ok(format!("alarm after {noticed} samples, healthy {number} later"));
        }
    }
    Err(Error::Unexpected(format!("still stuck after {LIMIT} samples that moved")))
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
        // At an unusual value, a window alarms before it is clear that nothing moves.
        if let (_, Some(alarm)) = step(&mut device, &mut scene)? {
            expect(alarm.channel == 0, || format!("{alarm:?}"))?;
            if alarm.change == Change::Stuck {
                return Ok(format!("said after {number} samples"));
            }
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
    expect(report.flags == flags::STORE_FAULT | flags::HELD, || format!("{report:?}"))?;
    let mut scene = Scene::new(4);
    device.machine().set_sensors(&scene.reading())?;
    let report = device.ask(&Command::Step)?.report()?;
    expect(report.status.rows == 1, || format!("{report:?}"))?;
    Ok("reported; continues without it".into())
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
    Ok("detected by reading back".into())
}

/// The EEPROM of a board that had learned with another firmware.
fn settings_changed(programs: &Programs) -> Result<String, Error> {
    let before = Config { mean_time_between_false_alarms: 4096.0, ..SETTINGS };
    let eeprom = learned::eeprom_with(before, LEARNED)?;
    let elf = programs.drift();
    let (mut device, origin) = Device::start(&Setup::new(&elf, &eeprom))?;
    let answer = device.ask(&Command::Status)?;
    let said = [Fault::new(Part::Detector, FaultKind::OtherSettings)];
    expect(origin == Origin::Store && answer.faults == said, || format!("{origin:?}, {answer:?}"))?;
    let report = answer.report()?;
    let in_force = flags::STORED | flags::OTHER_SETTINGS;
    expect(report.status.stage.is_learned() && report.flags == in_force, || format!("{report:?}"))?;
    let report = device.ask(&Command::Relearn)?.report()?;
    expect(report.flags == flags::STORED, || format!("{report:?}"))?;
    device.cut_power()?;
    let (mut device, _) = Device::start(&Setup::new(&elf, &eeprom))?;
    let answer = device.ask(&Command::Status)?;
    expect(answer.faults.is_empty(), || format!("{answer:?}"))?;
    Ok("reported; the old settings stay in force until the command to relearn".into())
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
        expect(report.status.rows == number, || format!("{report:?} at sample {number}"))?;
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
        expect(report.status.rows == u64::from(number), || {
            format!("{report:?} at sample {number}")
        })?;
    }
    let rate = f64::from(SAMPLES) / begin.elapsed().as_secs_f64();
    let nan = Sample::new(&[f32::NAN; 8]).ok_or(Error::Silent("eight channels"))?;
    let answer = device.ask(&Command::Push(nan))?;
    let refused = [Fault::new(Part::Sample, FaultKind::NotFinite)];
    expect(answer.faults == refused, || format!("{answer:?}"))?;
    let short = Sample::new(&[1.0; 3]).ok_or(Error::Silent("three channels"))?;
    let answer = device.ask(&Command::Push(short))?;
    expect(answer.closing == Closing::Nack(Refusal::Channels), || format!("{answer:?}"))?;
    Ok(format!("{rate:.0} samples per second; NaN and wrong shapes refused"))
}

fn stm32_over_usart(programs: &Programs) -> Result<String, Error> {
    let elf = programs.stm32f405();
    let (mut device, origin) = Device::start(&Setup::bare(Board::NetduinoPlus2, &elf))?;
    expect(origin == Origin::Fresh, || format!("started from {origin:?}"))?;
    let report = status(&mut device)?;
    expect(report.flags & flags::STORE_FAULT != 0, || format!("no bus, no fault: {report:?}"))?;
    // A build for a product has no command that makes its bus fail.
    let answer = device.ask(&Command::FailBus {
        address: 0x1E,
        transactions: 1,
        kind: Failure::NoAcknowledge,
    })?;
    expect(answer.closing == Closing::Nack(Refusal::Unknown), || format!("{answer:?}"))?;
    drop(device);
    let stack = stack::stm32f405(programs)?;
    Ok(format!("learns, alarms, restarts; absent bus reported; {stack} bytes of stack"))
}

fn synthetic_recording(programs: &Programs) -> Result<String, Error> {
    let rows = recording::synthetic();
    let alarms = recording::compare(&programs.recorded(), &EIGHT_CHANNELS, &rows)?;
    let at: Vec<u64> = alarms.iter().map(|alarm| alarm.row).collect();
    expect(alarms.iter().any(|alarm| (700..760).contains(&alarm.row)), || format!("{at:?}"))?;
    Ok(format!("{} rows of 8 channels as on the host; alarms at {at:?}", rows.len()))
}

fn skab(programs: &Programs) -> Result<String, Error> {
    recordings(programs, programs.skab.as_deref(), "skab", &programs.recorded(), &EIGHT_CHANNELS)
}

fn nab(programs: &Programs) -> Result<String, Error> {
    let elf = programs.recorded_single();
    recordings(programs, programs.nab.as_deref(), "nab", &elf, &ONE_CHANNEL)
}

/// Runs every recording below a directory on the board, on the host and, if available, with the
/// host command.
fn recordings<const C: usize>(
    programs: &Programs,
    directory: Option<&Path>,
    name: &str,
    elf: &Path,
    map: &'static Fourier<C, 32>,
) -> Result<String, Error> {
    let Some(directory) = directory else {
        return Err(Error::Skipped(format!("no recordings: cargo xtask firmware --{name} DIR")));
    };
    let files = recording::files(directory)?;
    expect(!files.is_empty(), || format!("no .csv below {}", directory.display()))?;
    let (mut rows, mut alarms) = (0, 0);
    for file in &files {
        let recording = recording::read(file)?;
        rows += recording.len();
        let raised = recording::compare(elf, map, &recording)?;
        if programs.tool.is_some() {
            tool::replays::<C>(programs, file, &raised)?;
        }
        alarms += raised.len();
    }
    let files = files.len();
    Ok(format!("{files} recordings, {rows} rows, {alarms} alarms, as on the host"))
}

fn million_samples(programs: &Programs) -> Result<String, Error> {
    let (summary, _) = endurance::compare(&programs.endurance(), 1_000_000)?;
    // 19 are expected after learning; by chance there are this many once in a thousand runs.
    expect(summary.alarms <= 34, || format!("{summary}"))?;
    Ok(format!("{summary}; as on the host"))
}
