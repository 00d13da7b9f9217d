//! The host command `fastmmd` and the board: each can continue from the other's saved state, and
//! both raise the same alarms.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

use drift_app::message::{self, MAX_PIECE, Origin, Piece, Sample};
use fastmmd::Alarm;
use serde_json::Value;

use crate::device::{Closing, Device};
use crate::error::{Doing, Error, expect};
use crate::learned::{self, LEARNED, SETTINGS};
use crate::machine::{Eeprom, Machine, Scratch, Setup};
use crate::recording::amend;
use crate::scenarios::{Programs, status};
use crate::signal::{DEVIATION, Scene};

/// Settings of the detector for recordings, as options of `fastmmd replay`.
const RECORDING: [&str; 7] = [
    "--features=32",
    "--learn=384",
    "--mean-time-between-false-alarms=1000",
    "--time=1",
    "--missing=error",
    "--seed=1",
    "--json",
];

/// Number of samples after learning that are also in the host's log; they must not change what it
/// exports.
const FURTHER: u64 = 300;
/// Number of healthy samples on the board, and of drifted ones after them.
const WATCHED: [u32; 2] = [100, 400];

/// Puts the state that `fastmmd export` wrote into the EEPROM. The board must restore it, and raise
/// the alarms that `fastmmd replay` raises on the same samples.
///
/// # Errors
/// [`Error::Unexpected`] naming what differs.
pub fn exported(programs: &Programs) -> Result<String, Error> {
    let tool = programs.tool()?;
    let scratch = Scratch::new()?;
    let (healthy, drifted) = (scratch.path("healthy.csv"), scratch.path("drifted.csv"));
    let state = scratch.path("reference.bin");
    let mut scene = Scene::new(31);
    let mut rows = Log::new();
    for _ in 0..LEARNED + FURTHER {
        rows.add(&scene.reading().values());
    }
    rows.write(&healthy)?;
    let promise =
        format!("--mean-time-between-false-alarms={}", SETTINGS.mean_time_between_false_alarms);
    let learn = format!("--learn={LEARNED}");
    let learning = ["export", "--missing=error", &promise, &learn, "-o"];
    run(tool, &learning, &[&state, &healthy])?;

    let eeprom = learned::eeprom_of(&fs::read(&state).doing("reading what was exported")?)?;
    let elf = programs.drift();
    let (mut device, origin) = Device::start(&Setup::new(&elf, &eeprom))?;
    let report = status(&mut device)?;
    expect(origin == Origin::Store && report.status.rows == LEARNED, || {
        format!("{origin:?}, {report:?}")
    })?;
    expect(report.status.stage.is_learned(), || format!("{report:?}"))?;
    let mut rows = Log::new();
    let mut alarms = Vec::new();
    for (samples, shift) in WATCHED.into_iter().zip([0.0, 1.5 * DEVIATION]) {
        scene.shift[1] = shift;
        for _ in 0..samples {
            // Sent over the link, so that both get the same bits.
            let values = scene.reading().values();
            rows.add(&values);
            let sample = Sample::new(&values).ok_or(Error::Silent("four channels"))?;
            let answer = device.ask(&message::Command::Push(sample))?;
            alarms.extend(answer.alarms);
            answer.amended.into_iter().for_each(|amended| amend(&mut alarms, amended));
        }
    }
    device.cut_power()?;
    rows.write(&drifted)?;
    let output = run(tool, &["replay", "--json", "--state"], &[&state, &drifted])?;
    agree(&alarms, &output, LEARNED)?;
    expect(!alarms.is_empty(), || "no alarm".into())?;
    Ok(format!("{} samples learned on the host, {} equal alarms", LEARNED, alarms.len()))
}

/// `fastmmd export` → `device push` → monitors without learning → `device pull`: the same bytes, also
/// after a power cut. A push that is cut short leaves what was there.
///
/// # Errors
/// [`Error::Unexpected`] naming what differs.
pub fn pushed(programs: &Programs) -> Result<String, Error> {
    let tool = programs.tool()?;
    let scratch = Scratch::new()?;
    let [healthy, state, back] =
        ["healthy.csv", "reference.bin", "back.bin"].map(|name| scratch.path(name));
    let mut scene = Scene::new(32);
    let mut rows = Log::new();
    for _ in 0..LEARNED {
        rows.add(&scene.reading().values());
    }
    rows.write(&healthy)?;
    let promise =
        format!("--mean-time-between-false-alarms={}", SETTINGS.mean_time_between_false_alarms);
    let learn = format!("--learn={LEARNED}");
    run(tool, &["export", "--missing=error", &promise, &learn, "-o"], &[&state, &healthy])?;
    let exported = fs::read(&state).doing("reading what was exported")?;

    let eeprom = Eeprom::new()?;
    let elf = programs.drift();
    let setup = Setup::new(&elf, &eeprom);
    // A power cut in the midst of a push: the board learns, as before.
    let (mut device, _) = Device::start(&setup)?;
    for (number, bytes) in exported.chunks(MAX_PIECE).take(100).enumerate() {
        let piece = Piece::new(bytes).ok_or(Error::Silent("a piece"))?;
        let total = u32::try_from(exported.len()).unwrap_or(u32::MAX);
        let offset = u32::try_from(number * MAX_PIECE).unwrap_or(u32::MAX);
        let answer = device.ask(&message::Command::WriteState { total, offset, piece })?;
        expect(matches!(answer.closing, Closing::State(..)), || format!("{answer:?}"))?;
    }
    device.cut_power()?;
    let (mut device, origin) = Device::start(&setup)?;
    expect(origin == Origin::Fresh, || format!("{origin:?}"))?;
    expect(!status(&mut device)?.status.stage.is_learned(), || "half a state was used".into())?;
    device.cut_power()?;

    let (machine, line) = Machine::start(&setup)?;
    drop(line);
    let port = machine.port();
    let said = run(tool, &["device", &port, "--json", "push"], &[&state])?;
    expect(said.contains("\"monitoring\""), || said.clone())?;
    run(tool, &["device", &port, "pull"], &[&back])?;
    expect(fs::read(&back).doing("reading what was pulled")? == exported, || "other bytes".into())?;
    machine.cut_power()?;
    let (mut device, origin) = Device::start(&setup)?;
    let report = status(&mut device)?;
    let kept = origin == Origin::Store && report.status.stage.is_learned();
    expect(kept && report.status.rows == LEARNED, || format!("{origin:?}, {report:?}"))?;
    expect(device.read_state()? == exported, || "other bytes after a power cut".into())?;
    Ok(format!("{} bytes pushed, pulled and kept", exported.len()))
}

/// `fastmmd replay` of a recording raises the alarms that the board raised.
///
/// # Errors
/// [`Error::Unexpected`] naming what differs.
pub fn replays<const C: usize>(
    programs: &Programs,
    file: &Path,
    alarms: &[Alarm],
) -> Result<(), Error> {
    // The first column is the time, and after the channels there may be labels.
    let columns: Vec<String> = (2..C + 2).map(|column| column.to_string()).collect();
    let columns = format!("--columns={}", columns.join(","));
    let arguments: Vec<&str> = ["replay", &columns].into_iter().chain(RECORDING).collect();
    let output = run(programs.tool()?, &arguments, &[file])?;
    agree(alarms, &output, 0)
}

/// A log as the command reads it.
struct Log(String);

impl Log {
    fn new() -> Self {
        Self("x,y,z,temperature\n".to_owned())
    }

    fn add(&mut self, [x, y, z, temperature]: &[f32; 4]) {
        // Writing to a string cannot fail. Numbers are printed with as few digits as they need.
        let _ = writeln!(self.0, "{x},{y},{z},{temperature}");
    }

    fn write(&self, path: &Path) -> Result<(), Error> {
        fs::write(path, &self.0).doing("writing a log")
    }
}

/// Runs the command; an exit code of 1 says that there was drift.
fn run(tool: &Path, arguments: &[&str], files: &[&Path]) -> Result<String, Error> {
    let output = Command::new(tool).args(arguments).args(files).output();
    let output = output.doing("running the host command")?;
    expect(matches!(output.status.code(), Some(0 | 1)), || {
        format!("{arguments:?}: {}", String::from_utf8_lossy(&output.stderr))
    })?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The alarms of the board, after `before` samples, are those that the command printed, both as they
/// were amended.
fn agree(alarms: &[Alarm], output: &str, before: u64) -> Result<(), Error> {
    let lines: Vec<Value> =
        output.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    expect(lines.iter().any(|line| line["event"] == "summary"), || "no summary".into())?;
    let mut printed: Vec<&Value> = Vec::new();
    for line in &lines {
        if line["event"] == "alarm" {
            printed.push(line);
        } else if line["event"] == "amended" {
            let same = printed.iter_mut().filter(|alarm| alarm["row"] == line["row"]);
            same.for_each(|alarm| *alarm = line);
        }
    }
    let told: Vec<String> = printed.iter().map(|line| describe_line(line)).collect();
    let raised: Vec<String> = alarms.iter().map(|alarm| describe_alarm(alarm, before)).collect();
    expect(told == raised, || format!("the board {raised:?}, the host {told:?}"))
}

fn describe_line(line: &Value) -> String {
    let real = |name: &str| {
        #[expect(clippy::cast_possible_truncation, reason = "printed from single precision")]
        let value = line[name].as_f64().unwrap_or(f64::NAN) as f32;
        value.to_bits()
    };
    format!(
        "row {} since {} window {} score {:08x} threshold {:08x} channel {} {} by {}",
        line["row"],
        line["since_row"],
        line["window"],
        real("score"),
        real("threshold"),
        line["channel"],
        line["change"].as_str().unwrap_or_default(),
        line["leg"].as_str().unwrap_or_default()
    )
}

fn describe_alarm(alarm: &Alarm, before: u64) -> String {
    // The board counts all rows, the command those of the log.
    let row = |row: u64| i128::from(row) - i128::from(before);
    format!(
        "row {} since {} window {} score {:08x} threshold {:08x} channel {} {} by {}",
        row(alarm.row),
        row(alarm.since),
        alarm.window,
        alarm.score.to_bits(),
        alarm.threshold.to_bits(),
        alarm.channel,
        alarm.change.name(),
        alarm.leg.name()
    )
}

impl Programs {
    fn tool(&self) -> Result<&Path, Error> {
        let why = || Error::Skipped("no host command: cargo xtask firmware builds it".into());
        self.tool.as_deref().ok_or_else(why)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fastmmd::Change;
    use fastmmd::monitor::Leg;

    /// Only the core can make an alarm: this one is read from its bytes.
    fn alarm(score: f32) -> Alarm {
        let [row, since] = [110_u64, 100].map(u64::to_le_bytes);
        let [channel, window] = [2_u32, 16].map(u32::to_le_bytes);
        let codes = [Change::Level.code(), Leg::Jump.code()];
        let [score, threshold] = [score, 0.05].map(f32::to_le_bytes);
        let parts: [&[u8]; 7] = [&row, &since, &channel, &codes, &window, &score, &threshold];
        Alarm::from_bytes(parts.concat().as_slice().try_into().unwrap()).unwrap()
    }

    #[test]
    fn alarms_that_differ_in_one_bit_are_noticed() {
        let line = |event: &str, since: i32| {
            format!(
                "{{\"event\":\"{event}\",\"row\":10,\"since_row\":{since},\"window\":16,\
                 \"score\":0.1,\"threshold\":0.05,\"channel\":2,\"change\":\"level\",\
                 \"leg\":\"jump\"}}\n"
            )
        };
        let printed = line("alarm", 0) + "{\"event\":\"summary\"}\n";
        assert!(agree(&[alarm(0.1)], &printed, 100).is_ok());
        assert!(agree(&[alarm(0.1)], &printed, 101).is_err());
        assert!(agree(&[], &printed, 100).is_err());
        assert!(agree(&[alarm(0.1_f32.next_up())], &printed, 100).is_err());
        let amended = line("alarm", 5) + &line("amended", 0) + "{\"event\":\"summary\"}\n";
        assert!(agree(&[alarm(0.1)], &amended, 100).is_ok());
    }
}
