//! A healthy sensor, then a drift, to be watched.

use std::fs::File;
use std::io::{BufWriter, IsTerminal, Write, stdout};
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use drift_app::engine::{Alarm, Phase};
use drift_app::message::{Command, Report};
use drift_app::profile::BOARD;

use crate::device::Device;
use crate::error::{Doing, Error, expect};
use crate::machine::{Eeprom, Setup};
use crate::scenarios::Programs;
use crate::signal::{DEVIATION, Reading, Scene};

/// Samples of a healthy sensor after learning.
const HEALTHY: u32 = 500;
/// Samples of drift within which the alarm must come.
const PATIENCE: u32 = 500;
/// The drift, in deviations of its channel.
const DRIFT: f64 = 1.25;
/// The channel it is in.
const CHANNEL: usize = 1;
const CHANNELS: [&str; 4] = ["X", "Y", "Z", "temperature"];
/// Pause between samples that somebody watches.
const PAUSE: Duration = Duration::from_millis(8);
/// With it the longest line that changes still fits into 80 columns: one that wraps could not be
/// overwritten.
const WIDTH: usize = 36;

/// Plays the demo; an error unless the alarm came, and none before the drift.
///
/// # Errors
/// [`Error`] if not, or if the board fails.
pub fn play(programs: &Programs, seed: u64, record: Option<&Path>) -> Result<(), Error> {
    let begin = Instant::now();
    let mut screen = Screen { live: stdout().is_terminal(), shown: String::new() };
    let mut record = record.map(Record::new).transpose()?;
    let eeprom = Eeprom::new()?;
    let elf = programs.drift();
    let (mut device, _) = Device::start(&Setup::new(&elf, &eeprom))?;
    let promise = BOARD.mean_time_between_false_alarms;
    screen.line("an emulated Cortex-M4F with magnetometer, thermometer and EEPROM on its bus");
    screen.line(&format!("promised: one false alarm in {promise} samples; seed {seed}"));
    screen.line("");
    screen.line("a healthy sensor");
    let mut scene = Scene::new(seed);
    let mut next = |device: &mut Device, scene: &mut Scene, drifts: bool| {
        let reading = scene.reading();
        device.machine().set_sensors(&reading)?;
        let answer = device.ask(&Command::Step)?;
        expect(answer.faults.is_empty(), || format!("{:?}", answer.faults))?;
        let (report, alarm) = (answer.report()?, answer.alarms.first().copied());
        if let Some(record) = &mut record {
            record.row(&reading, drifts, &report, alarm)?;
        }
        Ok::<_, Error>((report, alarm))
    };
    let learned = loop {
        let (report, alarm) = next(&mut device, &mut scene, false)?;
        none_yet(alarm)?;
        match report.phase {
            Phase::Scaling { permille } | Phase::Learning { permille } => {
                screen.learning(report.count, permille);
            }
            Phase::Monitoring | Phase::Drift => break report,
        }
    };
    let threshold = learned.threshold;
    screen.keep(&format!("  learned   {} 100 %  sample {}", "█".repeat(WIDTH), learned.count));
    screen.line(&format!("monitoring: █ is beyond the threshold, now {threshold:.2}"));
    let mut trace = Trace::default();
    let mut last = 0;
    for _ in 0..HEALTHY {
        let (report, alarm) = next(&mut device, &mut scene, false)?;
        none_yet(alarm)?;
        screen.monitoring("healthy", &report, &mut trace);
        last = report.count;
    }
    screen.keep("");
    scene.shift[CHANNEL] = DRIFT * DEVIATION;
    let name = CHANNELS[CHANNEL];
    screen.line(&format!("channel {name} drifts by {DRIFT} deviations from sample {}", last + 1));
    for _ in 0..PATIENCE {
        let (report, alarm) = next(&mut device, &mut scene, true)?;
        screen.monitoring("drift", &report, &mut trace);
        if let Some(alarm) = alarm {
            screen.keep("");
            screen.alarm(&alarm, last);
            let right = usize::from(alarm.channel) == CHANNEL;
            screen.line(if right {
                "the right channel"
            } else {
                "another channel than the one that drifts"
            });
            let stack = device.machine().stack_high_water()?;
            device.ask(&Command::Acknowledge { sample: alarm.sample })?;
            device.cut_power()?;
            let seconds = begin.elapsed().as_secs_f64();
            screen.line(&format!(
                "{} samples in {seconds:.1} s, {stack} bytes of stack",
                alarm.sample
            ));
            return record.map_or(Ok(()), Record::finish);
        }
    }
    screen.keep("");
    Err(Error::Unexpected(format!("no alarm in {PATIENCE} samples of drift")))
}

fn none_yet(alarm: Option<Alarm>) -> Result<(), Error> {
    expect(alarm.is_none(), || format!("a false alarm before the drift: {alarm:?}"))
}

/// The last values of the statistic, in units of the threshold.
#[derive(Default)]
struct Trace(Vec<f32>);

impl Trace {
    /// Beyond ⅞ of the height is beyond the threshold.
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
fn monitored(name: &str, marks: &str, statistic: f32, threshold: f32, count: u32) -> String {
    format!("  {name:9} {marks:WIDTH$} {statistic:5.2} of {threshold:5.2}  sample {count}")
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
            // If nobody reads, nobody misses it.
            let _ = stdout().flush();
            self.shown = text;
        }
    }

    /// Ends the line that changes, with this as its last state unless it is empty.
    fn keep(&mut self, text: &str) {
        match (self.live, text.is_empty()) {
            (true, true) => println!(),
            (true, false) => println!("\r{text}\x1b[K"),
            (false, true) => {}
            (false, false) => println!("{text}"),
        }
        self.shown.clear();
    }

    fn learning(&mut self, count: u32, permille: u16) {
        let done = usize::from(permille) * WIDTH / 1000;
        let (full, empty) = ("█".repeat(done), "░".repeat(WIDTH - done));
        let text = format!("  learning  {full}{empty} {:3} %  sample {count}", permille / 10);
        if !self.live && count.is_multiple_of(1024) {
            println!("{text}");
        }
        if count.is_multiple_of(16) {
            self.show(text);
        }
    }

    fn monitoring(&mut self, name: &str, report: &Report, trace: &mut Trace) {
        let marks = trace.push(report.statistic / report.threshold);
        let Report { count, statistic, threshold, .. } = report;
        let text = monitored(name, &marks, *statistic, *threshold, *count);
        if !self.live && count.is_multiple_of(50) {
            println!("{text}");
        }
        self.show(text);
        if self.live {
            sleep(PAUSE);
        }
    }

    fn alarm(&mut self, alarm: &Alarm, last_healthy: u32) {
        let (bold, plain) = if self.live { ("\x1b[1;31m", "\x1b[0m") } else { ("", "") };
        let delay = alarm.sample - last_healthy;
        let channel = CHANNELS.get(usize::from(alarm.channel)).unwrap_or(&"?");
        let kind = format!("{:?}", alarm.kind).to_lowercase();
        println!(
            "{bold}ALARM{plain} at sample {}, {delay} samples after the drift began:",
            alarm.sample
        );
        println!("  channel {channel}, its {kind}, probably since sample {}", alarm.since);
        println!(
            "  {:.2} of {:.2} (×{:.2}) in the window of {} samples",
            alarm.score,
            alarm.threshold,
            alarm.severity(),
            alarm.scale,
        );
    }
}

/// What was streamed and reported, as CSV.
struct Record(BufWriter<File>);

impl Record {
    fn new(path: &Path) -> Result<Self, Error> {
        let file = File::create(path).doing("making the file to record to")?;
        let mut file = BufWriter::new(file);
        let columns = "sample,x_nanotesla,y_nanotesla,z_nanotesla,millicelsius,drifts,phase,\
                       permille,statistic,threshold,alarm,channel,kind,since";
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
        let Report { count, statistic, threshold, .. } = report;
        let [x, y, z] = reading.nanotesla;
        let celsius = reading.millicelsius;
        let (phase, permille) = match report.phase {
            Phase::Scaling { permille } => ("scaling", permille),
            Phase::Learning { permille } => ("learning", permille),
            Phase::Monitoring => ("monitoring", 1000),
            Phase::Drift => ("drift", 1000),
        };
        let drifts = u8::from(drifts);
        write!(
            self.0,
            "{count},{x},{y},{z},{celsius},{drifts},{phase},{permille},{statistic},{threshold}"
        )
        .doing("recording")?;
        match alarm {
            Some(Alarm { channel, kind, since, .. }) => {
                writeln!(self.0, ",1,{channel},{kind:?},{since}")
            }
            None => writeln!(self.0, ",0,,,"),
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
