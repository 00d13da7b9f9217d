//! The demo: a healthy sensor, then a drift.

use std::fs::File;
use std::io::{BufWriter, IsTerminal, Write, stdout};
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use drift_app::message::{Command, Report};
use fastmmd::monitor::Status;
use fastmmd::{Alarm, Change};

use crate::device::Device;
use crate::error::{Doing, Error, expect};
use crate::learned::SETTINGS;
use crate::machine::{Eeprom, Setup};
use crate::scenarios::Programs;
use crate::signal::{DEVIATION, Reading, Scene};

/// Samples of a healthy sensor after learning.
const HEALTHY: u32 = 500;
/// Number of drifted samples within which the alarm must come.
const PATIENCE: u32 = 500;
/// Number of samples after an alarm on which it may be amended.
const AMENDED: u32 = 32;
/// The drift, in standard deviations of its channel.
const DRIFT: f64 = 1.25;
/// The channel that drifts.
const CHANNEL: usize = 1;
const CHANNELS: [&str; 4] = ["X", "Y", "Z", "temperature"];
/// Pause between samples when the output is a terminal.
const PAUSE: Duration = Duration::from_millis(8);
/// Width of the bar. The longest changing line then fits into 80 columns; a line that wraps could
/// not be overwritten.
const WIDTH: usize = 36;

/// Plays the demo.
///
/// # Errors
/// [`Error`] if the alarm does not come, if one comes before the drift, or if the board fails.
pub fn play(programs: &Programs, seed: u64, record: Option<&Path>) -> Result<(), Error> {
    let begin = Instant::now();
    let mut screen = Screen { live: stdout().is_terminal(), shown: String::new() };
    let mut record = record.map(Record::new).transpose()?;
    let eeprom = Eeprom::new()?;
    let elf = programs.drift();
    let (mut device, _) = Device::start(&Setup::new(&elf, &eeprom))?;
    let promise = SETTINGS.mean_time_between_false_alarms;
    screen.line("an emulated Cortex-M4F with magnetometer, thermometer and EEPROM on its bus");
    screen.line(&format!("stated: one false alarm in {promise} samples on average; seed {seed}"));
    screen.line("");
    screen.line("a healthy sensor");
    let mut scene = Scene::new(seed);
    let mut next = |device: &mut Device, scene: &mut Scene, drifts: bool| {
        let reading = scene.reading();
        device.machine().set_sensors(&reading)?;
        let answer = device.ask(&Command::Step)?;
        expect(answer.faults.is_empty(), || format!("{:?}", answer.faults))?;
        let report = answer.report()?;
        let (raised, amended) = (answer.alarms.first().copied(), answer.amended.first().copied());
        if let Some(record) = &mut record {
            record.row(&reading, drifts, &report, raised.or(amended))?;
        }
        Ok::<_, Error>((report, raised, amended))
    };
    let learned = loop {
        let (report, alarm, _) = next(&mut device, &mut scene, false)?;
        none_yet(alarm)?;
        if report.status.stage.is_learned() {
            break report.status;
        }
        screen.learning(&report.status);
    };
    let threshold = learned.threshold;
    screen.keep(&format!("  learned   {} 100 %  sample {}", "█".repeat(WIDTH), learned.rows));
    screen.line(&format!("monitoring: █ is above the threshold, now {threshold:.2}"));
    let mut trace = Trace::default();
    let mut last = 0;
    for _ in 0..HEALTHY {
        let (report, alarm, _) = next(&mut device, &mut scene, false)?;
        none_yet(alarm)?;
        screen.monitoring("healthy", &report.status, &mut trace);
        last = report.status.rows;
    }
    screen.keep("");
    scene.shift[CHANNEL] = DRIFT * DEVIATION;
    let name = CHANNELS[CHANNEL];
    screen.line(&format!("channel {name} drifts by {DRIFT} deviations, from sample {last}"));
    let (mut found, mut rows, mut open): (Option<Alarm>, _, _) = (None, last, 0);
    let mut left = PATIENCE;
    while left > 0 {
        left -= 1;
        let (report, alarm, amended) = next(&mut device, &mut scene, true)?;
        screen.monitoring("drift", &report.status, &mut trace);
        (rows, open) = (report.status.rows, report.status.open);
        if let (None, Some(alarm)) = (found, alarm) {
            screen.keep("");
            screen.alarm(&alarm, last);
            (found, left) = (Some(alarm), AMENDED);
        }
        if let Some(amended) = amended.filter(|one| found.is_some_and(|alarm| alarm.row == one.row))
        {
            screen.keep("");
            screen.amended(&amended);
            found = Some(amended);
        }
    }
    screen.keep("");
    let Some(alarm) = found else {
        return Err(Error::Unexpected(format!("no alarm in {PATIENCE} samples of drift")));
    };
    let right = alarm.channel == CHANNEL && alarm.change == Change::Level;
    expect(right, || format!("another channel or change than the one that drifts: {alarm:?}"))?;
    screen.line(&format!("the right channel and change; {open} open"));
    let stack = device.machine().stack_high_water()?;
    device.ask(&Command::Acknowledge { row: alarm.row })?;
    device.cut_power()?;
    let seconds = begin.elapsed().as_secs_f64();
    screen.line(&format!("{rows} samples in {seconds:.1} s, {stack} bytes of stack"));
    record.map_or(Ok(()), Record::finish)
}

fn none_yet(alarm: Option<Alarm>) -> Result<(), Error> {
    expect(alarm.is_none(), || format!("a false alarm before the drift: {alarm:?}"))
}

/// The last values of the statistic, in units of the threshold.
#[derive(Default)]
struct Trace(Vec<f32>);

impl Trace {
    /// Adds a value; the threshold is at ⅞ of the height.
    fn push(&mut self, ratio: f32) -> String {
        if self.0.len() == WIDTH {
            self.0.remove(0);
        }
        self.0.push(ratio);
        let mark = |ratio: &f32| match ratio {
            r if *r < 0.15 => '▁',
            r if *r < 0.3 => '▂',
            r if *r < 0.45 => '▃',
            r if *r < 0.6 => '▄',
            r if *r < 0.75 => '▅',
            r if *r < 0.9 => '▆',
            r if *r <= 1.0 => '▇',
            _ => '█',
        };
        self.0.iter().map(mark).collect()
    }
}

/// The line that changes while monitoring.
fn monitored(name: &str, marks: &str, statistic: f32, threshold: f32, rows: u64) -> String {
    format!("  {name:9} {marks:WIDTH$} {statistic:5.2} of {threshold:5.2}  sample {rows}")
}

/// The terminal, or a file that gets plain lines.
struct Screen {
    live: bool,
    shown: String,
}

impl Screen {
    fn line(&mut self, text: &str) {
        println!("{text}");
    }

    /// Replaces the line that changes.
    fn show(&mut self, text: String) {
        if self.live && text != self.shown {
            print!("\r{text}\x1b[K");
            // A failed write to the terminal does not matter.
            let _ = stdout().flush();
            self.shown = text;
        }
    }

    /// Ends the line that changes; its last text is `text`, unless that is empty.
    fn keep(&mut self, text: &str) {
        match (self.live, text.is_empty()) {
            (true, true) => println!(),
            (true, false) => println!("\r{text}\x1b[K"),
            (false, true) => {}
            (false, false) => println!("{text}"),
        }
        self.shown.clear();
    }

    fn learning(&mut self, status: &Status) {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "from 0 to 100, and the cast saturates"
        )]
        let percent = (100.0 * status.progress) as usize;
        let rows = status.rows;
        let done = percent * WIDTH / 100;
        let (full, empty) = ("█".repeat(done), "░".repeat(WIDTH - done));
        let text = format!("  learning  {full}{empty} {percent:3} %  sample {rows}");
        if !self.live && rows.is_multiple_of(1024) {
            println!("{text}");
        }
        if rows.is_multiple_of(16) {
            self.show(text);
        }
    }

    fn monitoring(&mut self, name: &str, status: &Status, trace: &mut Trace) {
        let Status { rows, statistic, threshold, .. } = *status;
        let marks = trace.push(statistic / threshold);
        let text = monitored(name, &marks, statistic, threshold, rows);
        if !self.live && rows.is_multiple_of(50) {
            println!("{text}");
        }
        self.show(text);
        if self.live {
            sleep(PAUSE);
        }
    }

    fn alarm(&mut self, alarm: &Alarm, onset: u64) {
        let (bold, plain) = if self.live { ("\x1b[1;31m", "\x1b[0m") } else { ("", "") };
        let delay = alarm.row + 1 - onset;
        let channel = CHANNELS.get(alarm.channel).unwrap_or(&"?");
        let kind = alarm.change.name();
        println!(
            "{bold}ALARM{plain} at sample {}, {delay} samples after the drift began:",
            alarm.row
        );
        println!("  channel {channel}, its {kind}, probably since sample {}", alarm.since);
        println!(
            "  {:.2} of {:.2} (×{:.2}) by the leg {} over {} samples",
            alarm.score,
            alarm.threshold,
            alarm.severity(),
            alarm.leg.name(),
            alarm.window,
        );
    }

    fn amended(&mut self, alarm: &Alarm) {
        let channel = CHANNELS.get(alarm.channel).unwrap_or(&"?");
        let (kind, since) = (alarm.change.name(), alarm.since);
        println!("  amended: channel {channel}, its {kind}, probably since sample {since}");
    }
}

/// Writes all samples and reports as CSV.
struct Record(BufWriter<File>);

impl Record {
    fn new(path: &Path) -> Result<Self, Error> {
        let file = File::create(path).doing("making the file to record to")?;
        let mut file = BufWriter::new(file);
        let columns = "sample,x_nanotesla,y_nanotesla,z_nanotesla,millicelsius,drifts,stage,\
                       progress,statistic,threshold,open,alarm,row,channel,kind,leg,since";
        writeln!(file, "{columns}").doing("recording")?;
        Ok(Self(file))
    }

    fn row(
        &mut self,
        reading: &Reading,
        drifts: bool,
        report: &Report,
        alarm: Option<Alarm>,
    ) -> Result<(), Error> {
        let Status { stage, rows, progress, statistic, threshold, open, .. } = report.status;
        // The sample that was taken last.
        let sample = rows.saturating_sub(1);
        let [x, y, z] = reading.nanotesla;
        let celsius = reading.millicelsius;
        let (drifts, stage) = (u8::from(drifts), stage.name());
        write!(
            self.0,
            "{sample},{x},{y},{z},{celsius},{drifts},{stage},{progress},{statistic},{threshold},{open}"
        )
        .doing("recording")?;
        match alarm {
            Some(Alarm { row, channel, change, leg, since, .. }) => {
                let (change, leg) = (change.name(), leg.name());
                writeln!(self.0, ",1,{row},{channel},{change},{leg},{since}")
            }
            None => writeln!(self.0, ",0,,,,,"),
        }
        .doing("recording")
    }

    fn finish(mut self) -> Result<(), Error> {
        self.0.flush().doing("recording")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_trace_keeps_its_width_and_marks_what_is_beyond() {
        let mut trace = Trace::default();
        for _ in 0..2 * WIDTH {
            trace.push(0.1);
        }
        let marks = trace.push(1.01);
        assert_eq!(marks.chars().count(), WIDTH);
        assert!(marks.ends_with("▁█"));
    }

    #[test]
    fn a_line_that_changes_fits_into_a_terminal() {
        let marks = "█".repeat(WIDTH);
        let line = monitored("drift", &marks, 12.34, 12.34, 123_456);
        assert!(line.chars().count() < 80, "{line}");
    }
}
