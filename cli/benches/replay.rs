//! A million rows of eight channels: `cargo bench -p fastmmd-cli`; `FASTMMD_BENCH_ROWS` sets another
//! number, and `FASTMMD_BENCH_TURNS` how often each is measured.
//!
//! Replaying them takes at most four times as long as parsing them alone, looking at them at most
//! twice as long, also where there is a cycle to be found and proven, and all less than 50 MB of memory.
//! All are measured alternately in one run, because only their ratio is reproducible; on Linux in
//! processor time, of all threads, which hardly depends on what else the machine does.

#[allow(dead_code, reason = "the tests use more of it")]
#[path = "../tests/common/mod.rs"]
mod common;

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use fastmmd_reference::generate::Generator;

const ROWS: usize = 1_000_000;
const CHANNELS: usize = 8;
const TURNS: usize = 5;
/// Limits for the time of a replay and of a look, relative to parsing alone.
const MOST_TIME: f64 = 4.0;
const MOST_LOOK: f64 = 2.0;
/// Limit for the memory of either.
const MOST_KILOBYTES: u64 = 50_000;

fn main() -> ExitCode {
    if !std::env::args().any(|argument| argument == "--bench") {
        println!("skipped: only with cargo bench");
        return ExitCode::SUCCESS;
    }
    let file = |name: &str| {
        std::env::temp_dir().join(format!("fastmmd-bench-{}-{name}.csv", std::process::id()))
    };
    let (log, cyclic) = (file("plain"), file("cyclic"));
    let rows = std::env::var("FASTMMD_BENCH_ROWS").ok().and_then(|rows| rows.parse().ok());
    let rows = rows.unwrap_or(ROWS);
    let turns = std::env::var("FASTMMD_BENCH_TURNS").ok().and_then(|turns| turns.parse().ok());
    let turns = turns.unwrap_or(TURNS);
    write_log(&log, rows, 0.0);
    write_log(&cyclic, rows, 3.0);
    let [mut parsing, mut barely, mut replaying, mut looking] = [Duration::MAX; 4];
    let [mut parsing_cyclic, mut looking_cyclic] = [Duration::MAX; 2];
    let [mut memory, mut of_look] = [0; 2];
    for _ in 0..turns {
        parsing = parsing.min(parse(&log, rows));
        barely = barely.min(parse_barely(&log, rows));
        let (time, peak) = run("replay", &log);
        (replaying, memory) = (replaying.min(time), memory.max(peak));
        let (time, peak) = run("look", &log);
        (looking, of_look) = (looking.min(time), of_look.max(peak));
        parsing_cyclic = parsing_cyclic.min(parse(&cyclic, rows));
        let (time, peak) = run("look", &cyclic);
        (looking_cyclic, of_look) = (looking_cyclic.min(time), of_look.max(peak));
    }
    for log in [log, cyclic] {
        fs::remove_file(log).expect("the log is there");
    }
    let over = |other: Duration| replaying.as_secs_f64() / other.as_secs_f64();
    let ratio = over(parsing);
    let time = if children().is_some() { "processor time" } else { "time" };
    println!(
        "{rows} rows of {CHANNELS} channels, default settings; {time}, least of {turns} turns"
    );
    println!("parsing alone: {parsing:.2?}, replay: {replaying:.2?}");
    println!("replay over parsing alone: {ratio:.2} (at most {MOST_TIME})");
    println!("over parsing at its barest: {:.2}", over(barely));
    println!("peak memory of the replay: {} MB (at most {})", memory / 1000, MOST_KILOBYTES / 1000);
    let look = looking.as_secs_f64() / parsing.as_secs_f64();
    println!("look: {looking:.2?}, over parsing alone: {look:.2} (at most {MOST_LOOK})");
    let cycle = looking_cyclic.as_secs_f64() / parsing_cyclic.as_secs_f64();
    println!("look with a cycle: {looking_cyclic:.2?}, over parsing alone: {cycle:.2}");
    println!("peak memory of the look: {} MB (at most {})", of_look / 1000, MOST_KILOBYTES / 1000);
    let small = |peak: u64| peak > 0 && peak < MOST_KILOBYTES;
    let quick = ratio <= MOST_TIME && look <= MOST_LOOK && cycle <= MOST_LOOK;
    let kept = quick && small(memory) && small(of_look);
    if kept { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Noise, and in half of the channels a cycle of 1000 rows of this height.
fn write_log(path: &Path, rows: usize, height: f64) {
    let mut random = Generator::new(1);
    let mut out = BufWriter::new(File::create(path).expect("a temporary file"));
    writeln!(out, "time,a,b,c,d,e,f,g,h").expect("room");
    for row in 0..rows {
        write!(out, "{row}").expect("room");
        for channel in 0..CHANNELS {
            let turn = std::f64::consts::TAU * fastmmd_reference::real(row % 1000) / 1000.0;
            let cycle = if channel % 2 == 0 { height * turn.sin() } else { 0.0 };
            let level = 10.0 * fastmmd_reference::real(channel) + cycle;
            write!(out, ",{:.4}", level + random.normal()).expect("room");
        }
        writeln!(out).expect("room");
    }
}

/// Processor time of this process and of its children that have ended, in hundredths of a second as Linux
/// counts them; nothing elsewhere.
fn spent() -> Option<[Duration; 2]> {
    let stat = fs::read_to_string("/proc/self/stat").ok()?;
    // After the name, which may hold anything: the state, ten other numbers, and then the times.
    let fields: Vec<u64> = stat
        .rsplit_once(')')?
        .1
        .split_whitespace()
        .skip(11)
        .take(4)
        .map_while(|field| field.parse().ok())
        .collect();
    let [user, system, of_children, of_their_system] = *fields.as_slice() else { return None };
    Some(
        [user + system, of_children + of_their_system]
            .map(|ticks| Duration::from_millis(10 * ticks)),
    )
}

fn own() -> Option<Duration> {
    spent().map(|[own, _]| own)
}

fn children() -> Option<Duration> {
    spent().map(|[_, children]| children)
}

/// Measures processor time, or time where that is not told.
struct Clock {
    begin: Instant,
    spent: fn() -> Option<Duration>,
    before: Option<Duration>,
}

impl Clock {
    fn start(spent: fn() -> Option<Duration>) -> Self {
        Self { begin: Instant::now(), spent, before: spent() }
    }

    fn read(&self) -> Duration {
        let spent = (self.spent)().zip(self.before);
        spent.map_or(self.begin.elapsed(), |(now, before)| now - before)
    }
}

/// Only parses every record and every number, in the usual way.
fn parse(path: &Path, all: usize) -> Duration {
    let clock = Clock::start(own);
    let mut reader = csv::Reader::from_path(path).expect("the log");
    let mut record = csv::StringRecord::new();
    let (mut rows, mut sum) = (0, 0.0_f32);
    while reader.read_record(&mut record).expect("a record") {
        rows += 1;
        for cell in record.iter().skip(1) {
            sum += cell.parse::<f32>().expect("a number");
        }
    }
    assert!(rows == all && std::hint::black_box(sum).is_finite());
    clock.read()
}

/// The same without UTF-8 checks and with the number parser of the command: about as fast as
/// possible.
fn parse_barely(path: &Path, all: usize) -> Duration {
    let clock = Clock::start(own);
    let mut reader = csv::Reader::from_path(path).expect("the log");
    let mut record = csv::ByteRecord::new();
    let (mut rows, mut sum) = (0, 0.0_f32);
    while reader.read_byte_record(&mut record).expect("a record") {
        rows += 1;
        for cell in record.iter().skip(1) {
            sum += fast_float2::parse::<f32, _>(cell).expect("a number");
        }
    }
    assert!(rows == all && std::hint::black_box(sum).is_finite());
    clock.read()
}

/// Time and peak memory, in kilobytes, of the command.
fn run(command: &str, path: &Path) -> (Duration, u64) {
    let clock = Clock::start(children);
    let mut child = Command::new(env!("CARGO_BIN_EXE_fastmmd"))
        .arg(command)
        .arg(path)
        .args(["--json"])
        .stdout(Stdio::null())
        .spawn()
        .expect("the command starts");
    let mut peak = 0;
    loop {
        // The peak so far: the last value counts, and none can be read after the process ends.
        peak = peak.max(common::peak_kilobytes(&child));
        if let Some(status) = child.try_wait().expect("a child") {
            assert!(matches!(status.code(), Some(0 | 1)), "{status}");
            return (clock.read(), peak);
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}
