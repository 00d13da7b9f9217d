//! A fixed sequence of commands for each program in the emulator, with the program's answers.
//! `cargo xtask snapshot` compares it with the recorded one.

use std::path::Path;

use drift_app::message::{Command, Failure};
use drift_app::profile::{EIGHT_CHANNELS, ONE_CHANNEL};
use fastmmd::Fourier;

use crate::device::Device;
use crate::endurance;
use crate::error::Error;
use crate::learned::{self, LEARNED};
use crate::machine::{Board, Eeprom, Machine, PATIENCE, Setup};
use crate::recording;
use crate::scenarios::Programs;
use crate::signal::{DEVIATION, Scene};

/// The lines of the transcript of `program`.
///
/// # Errors
/// [`Error::Skipped`] for a program without one, or [`Error`] if the program fails.
pub fn of(programs: &Programs, program: &str) -> Result<Vec<String>, Error> {
    match program {
        "drift" => drift(programs),
        "secured" => secured(programs),
        "recorded" => recorded(&programs.recorded(), &EIGHT_CHANNELS, &recording::synthetic()),
        "recorded-single" => {
            // The channel whose level changes.
            let rows: Vec<[f32; 1]> = recording::synthetic().iter().map(|row| [row[2]]).collect();
            recorded(&programs.recorded_single(), &ONE_CHANNEL, &rows)
        }
        "endurance" => Ok(endurance::compare(&programs.endurance(), 60_000)?.1),
        "overflow" => overflow(programs),
        "stm32f405" => stm32f405(programs),
        other => Err(Error::Skipped(format!("there is no transcript for {other}"))),
    }
}

/// A transcript so far.
struct Talk<'a> {
    setup: Setup<'a>,
    device: Device,
    scene: Scene,
    lines: Vec<String>,
}

impl<'a> Talk<'a> {
    fn start(setup: Setup<'a>, scene: Scene, mut lines: Vec<String>) -> Result<Self, Error> {
        let (device, origin) = Device::start(&setup)?;
        lines.push(format!("power on: from {origin:?}"));
        Ok(Self { setup, device, scene, lines })
    }

    fn ask(&mut self, name: &str, command: &Command) -> Result<(), Error> {
        let answer = self.device.ask(command)?;
        self.lines.extend(answer.faults.iter().map(|fault| format!("{name}: {fault}")));
        self.lines.extend(answer.alarms.iter().map(|alarm| format!("{name}: {alarm:?}")));
        self.lines.extend(answer.amended.iter().map(|alarm| format!("{name}, amended: {alarm:?}")));
        self.lines.push(format!("{name}: {:?}", answer.closing));
        Ok(())
    }

    /// Takes samples; adds all messages and the last report.
    fn steps(&mut self, count: u32) -> Result<(), Error> {
        for number in 1..=count {
            let feels = self.scene.reading();
            self.device.machine().set_sensors(&feels)?;
            let answer = self.device.ask(&Command::Step)?;
            self.lines.extend(answer.faults.iter().map(|fault| format!("step: {fault}")));
            self.lines.extend(answer.alarms.iter().map(|alarm| format!("step: {alarm:?}")));
            self.lines
                .extend(answer.amended.iter().map(|alarm| format!("step, amended: {alarm:?}")));
            if number == count {
                self.lines.push(format!("after {count} steps: {:?}", answer.closing));
            }
        }
        Ok(())
    }

    fn restart(&mut self) -> Result<(), Error> {
        let origin = self.device.restart()?;
        self.lines.push(format!("restart: from {origin:?}"));
        Ok(())
    }

    /// Cuts the power and adds the log.
    fn end(mut self) -> Result<(Setup<'a>, Scene, Vec<String>), Error> {
        let log = self.device.cut_power()?;
        // The use of the stack depends on the build.
        let log = log.into_iter().filter(|line| !line.contains("stack"));
        self.lines.extend(log.map(|line| format!("log: {line}")));
        self.lines.push("power off".into());
        Ok((self.setup, self.scene, self.lines))
    }
}

fn drift(programs: &Programs) -> Result<Vec<String>, Error> {
    let elf = programs.drift();
    let eeprom = Eeprom::new()?;
    let mut talk = Talk::start(Setup::new(&elf, &eeprom), Scene::new(21), Vec::new())?;
    talk.steps(520)?;
    talk.ask("status", &Command::Status)?;
    let (setup, scene, lines) = talk.end()?;
    let mut talk = Talk::start(setup, scene, lines)?;
    talk.ask("status", &Command::Status)?;
    talk.ask(
        "fail bus",
        &Command::FailBus { address: 0x1E, transactions: 3, kind: Failure::NoAcknowledge },
    )?;
    talk.steps(1)?;
    talk.steps(1)?;
    talk.restart()?;
    talk.ask("status", &Command::Status)?;
    talk.ask("relearn", &Command::Relearn)?;
    let (_, mut scene, lines) = talk.end()?;

    let eeprom = learned::eeprom(LEARNED - 1)?;
    scene.shift = [0.0; 3];
    let mut talk = Talk::start(Setup::new(&elf, &eeprom), scene, lines)?;
    talk.steps(100)?;
    talk.scene.shift[2] = 2.0 * DEVIATION;
    talk.steps(40)?;
    talk.restart()?;
    talk.ask("status", &Command::Status)?;
    talk.ask("acknowledge", &Command::Acknowledge { row: u64::MAX })?;
    talk.ask("status", &Command::Status)?;
    // Until the longest window has seen all of it.
    talk.steps(500)?;
    talk.ask("dismiss", &Command::Dismiss)?;
    talk.steps(100)?;
    Ok(talk.end()?.2)
}

/// What the board reports needs no seal; commands that change something are refused without one.
fn secured(programs: &Programs) -> Result<Vec<String>, Error> {
    let elf = programs.secured();
    let eeprom = Eeprom::new()?;
    let mut talk = Talk::start(Setup::new(&elf, &eeprom), Scene::new(23), Vec::new())?;
    talk.steps(20)?;
    talk.ask("status", &Command::Status)?;
    talk.ask("relearn without a seal", &Command::Relearn)?;
    let (_, _, lines) = talk.end()?;
    Ok(lines)
}

fn recorded<const C: usize>(
    elf: &Path,
    map: &'static Fourier<C, 32>,
    rows: &[[f32; C]],
) -> Result<Vec<String>, Error> {
    let alarms = recording::compare(elf, map, rows)?;
    Ok(alarms.iter().map(|alarm| format!("{alarm:?}")).collect())
}

fn overflow(programs: &Programs) -> Result<Vec<String>, Error> {
    let elf = programs.overflow();
    let (machine, _line) = Machine::start(&Setup::bare(Board::Mps2An386, &elf))?;
    let (code, log) = machine.exit_code(PATIENCE)?;
    // The address depends on the build.
    let without_address = |line: &String| line.split(" at 0x").next().map(str::to_owned);
    let mut lines: Vec<String> = log.iter().filter_map(without_address).collect();
    lines.push(format!("exit code {code}"));
    Ok(lines)
}

fn stm32f405(programs: &Programs) -> Result<Vec<String>, Error> {
    let elf = programs.stm32f405();
    let setup = Setup::bare(Board::NetduinoPlus2, &elf);
    let (mut device, origin) = Device::start(&setup)?;
    let mut lines = vec![format!("power on: from {origin:?}")];
    let mut scene = Scene::new(22);
    for _ in 0..300 {
        let sample = drift_app::message::Sample::new(&scene.reading().values());
        let sample = sample.ok_or(Error::Silent("four channels"))?;
        device.ask(&Command::Push(sample))?;
    }
    // The flags depend on when the board last looked for its sensors, by a timer of its own.
    let report = device.ask(&Command::Status)?.report()?;
    lines.push(format!("status: {:?}", report.status));
    let state = device.read_state()?;
    let sum = state.iter().fold(0_u32, |sum, byte| sum.rotate_left(5) ^ u32::from(*byte));
    lines.push(format!("state: {} bytes, {sum:#010x}", state.len()));
    lines.push(format!("restart: from {:?}", device.restart()?));
    let report = device.ask(&Command::Relearn)?.report()?;
    lines.push(format!("relearn: {:?}", report.status));
    device.cut_power()?;
    Ok(lines)
}
