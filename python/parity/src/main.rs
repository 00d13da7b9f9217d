//! What the Python package is compared with: the detector with its shape in the type, as on a device,
//! over rows of a file.
//!
//! `fastmmd-parity SETTING FILE` reads rows of three little-endian `f32` from FILE. It writes the code
//! of each row's verdict, the statistic nearest to its threshold and the threshold to FILE.said, 9 bytes
//! for each row, and the saved state to FILE.state; it prints alarms and amendments. Settings: `default`, `missing` (NaN is a missing reading) or `period` (a cycle of 500 rows).

use std::process::ExitCode;

use fastmmd::monitor::{Legs, NotANumber};
use fastmmd::{Config, Detector, Fourier, Verdict};

type Map = Fourier<3, 32>;
static MAP: Map = Fourier::additive(1);

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [setting, path] = arguments.as_slice() else {
        eprintln!("usage: fastmmd-parity default|missing|period FILE");
        return ExitCode::FAILURE;
    };
    let rows = match std::fs::read(path) {
        Ok(bytes) => rows(&bytes),
        Err(error) => {
            eprintln!("{path}: {error}");
            return ExitCode::FAILURE;
        }
    };
    let missing = Config { not_a_number: NotANumber::Missing, ..Config::rows(1e4) };
    let done = match setting.as_str() {
        "default" => run(Config::rows(1e4), &rows, path),
        "missing" => run(missing, &rows, path),
        "period" => run(missing.with_period(500.0), &rows, path),
        other => Err(format!("{other}: no such setting")),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}

fn rows(bytes: &[u8]) -> Vec<[f32; 3]> {
    let (numbers, _) = bytes.as_chunks::<4>();
    let numbers: Vec<f32> = numbers.iter().map(|it| f32::from_le_bytes(*it)).collect();
    numbers.as_chunks::<3>().0.to_vec()
}

fn run<L: Legs>(config: Config<L>, rows: &[[f32; 3]], path: &str) -> Result<(), String>
where
    Map: fastmmd::monitor::FixedShape<L>,
{
    let mut detector = Detector::new(&MAP, config).map_err(|error| error.to_string())?;
    let mut said = Vec::with_capacity(9 * rows.len());
    for row in rows {
        let verdict = detector.push(row).map_err(|error| error.to_string())?;
        let code = match verdict {
            Verdict::Learning { .. } => 0,
            Verdict::Healthy => 1,
            Verdict::Alarm(_) => 2,
            Verdict::Amended(_) => 3,
            Verdict::Drifting => 4,
        };
        let near = detector.nearest();
        let near = near.map_or([f32::NAN; 2], |leg| [leg.statistic, leg.threshold]);
        said.push(code);
        said.extend(near.into_iter().flat_map(f32::to_le_bytes));
        if let Verdict::Alarm(it) | Verdict::Amended(it) = verdict {
            let (change, leg) = (it.change.name(), it.leg.name());
            let [score, threshold] = [it.score, it.threshold].map(f32::to_bits);
            println!(
                "{code} {} {} {} {change} {leg} {} {score:08x} {threshold:08x}",
                it.row, it.since, it.channel, it.window
            );
        }
    }
    let mut state = vec![0; detector.saved_bytes()];
    detector.save(&mut state).map_err(|error| error.to_string())?;
    let write = |end: &str, bytes: &[u8]| {
        std::fs::write(format!("{path}.{end}"), bytes).map_err(|error| error.to_string())
    };
    write("said", &said)?;
    write("state", &state)
}
