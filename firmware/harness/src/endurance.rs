//! A million samples in one run: compares the board's sums at the end, and every alarm, with those
//! of the host.

use std::fs;
use std::path::Path;
use std::time::Duration;

use drift_app::endurance::{self, Summary};

use crate::error::{Doing, Error, expect};
use crate::machine::{Board, Eeprom, Machine, Setup};
use crate::signal::Random;

/// Time limit: long enough for a debug build on a busy machine.
const PATIENCE: Duration = Duration::from_secs(400);

/// The samples: three channels of healthy noise, one of them skewed.
#[must_use]
pub fn samples(count: u32) -> Vec<[f32; 3]> {
    let mut random = Random::new(31);
    let sample = |_| {
        let (x, y) = (random.normal(), random.normal());
        #[expect(clippy::cast_possible_truncation, reason = "single precision is what is sent")]
        let sample = [20.0 + x, 1000.0 + 30.0 * (x + y), (0.5 * random.normal()).exp()]
            .map(|value| value as f32);
        sample
    };
    (0..count).map(sample).collect()
}

/// Processes `count` samples on the board and on the host, and compares the results.
///
/// # Errors
/// [`Error::Unexpected`] if they differ, or if there are too many false alarms.
pub fn compare(elf: &Path, count: u32) -> Result<(Summary, Vec<String>), Error> {
    let samples = samples(count);
    let mut data = Vec::with_capacity(12 * samples.len() + 8);
    data.extend(endurance::MARK.to_le_bytes());
    data.extend(count.to_le_bytes());
    data.extend(samples.iter().flatten().flat_map(|value| value.to_le_bytes()));
    // The EEPROM's directory is removed with it, including this file.
    let directory = Eeprom::new()?;
    let file = directory.sibling("samples");
    fs::write(&file, &data).doing("writing the samples")?;
    let setup = Setup { data: Some(&file), ..Setup::bare(Board::Mps2An386, elf) };
    let (machine, _line) = Machine::start(&setup)?;
    // Meanwhile the host computes the same.
    let mut expected = Vec::new();
    let summary = endurance::run(samples.iter().copied(), |alarm| {
        expected.push(format!("{alarm}"));
    });
    let summary = summary.map_err(|error| Error::Unexpected(error.to_string()))?;
    expected.push(format!("{summary}"));
    let (code, log) = machine.exit_code(PATIENCE)?;
    expect(code == 0, || format!("exit code {code}, {log:?}"))?;
    let lines = log.iter().map(|line| line.trim_start_matches("info ").to_owned());
    let lines: Vec<String> = lines.collect();
    expect(lines == expected, || format!("the board {lines:?}, the host {expected:?}"))?;
    Ok((summary, lines))
}
