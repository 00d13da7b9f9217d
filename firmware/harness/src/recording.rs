//! Runs recordings through the board and through the same detector on the host.

use std::fs;
use std::path::{Path, PathBuf};

use drift_app::message::{Command, Sample};
use drift_app::profile::recording;
use fastmmd::monitor::Monitor;
use fastmmd::{Alarm, Detector, Fourier, Verdict};

use crate::device::Device;
use crate::error::{Doing, Error, expect};
use crate::machine::{Board, Setup};
use crate::signal::Random;

/// A synthetic recording: cycles, trends and noise that depend on each other; the level of channel
/// 2 changes at row 700, and the noise of channel 5 at row 1100.
#[must_use]
pub fn synthetic() -> Vec<[f32; 8]> {
    let mut random = Random::new(77);
    let mut slow = [0.0_f64; 8];
    let mut rows = Vec::new();
    for number in 0..1500_u32 {
        let time = f64::from(number);
        let row = std::array::from_fn(|channel| {
            let loud = if channel == 5 && number >= 1100 { 4.0 } else { 1.0 };
            slow[channel] = 0.9 * slow[channel] + loud * random.normal();
            let moved = if channel == 2 && number >= 700 { 12.0 } else { 0.0 };
            let cycle =
                (time / (5.0 + 3.0 * [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0][channel])).sin();
            #[expect(clippy::cast_possible_truncation, reason = "single precision is what is sent")]
            let value = (100.0 + 2.0 * cycle + slow[channel] + moved) as f32;
            value
        });
        rows.push(row);
    }
    rows
}

/// Reads the rows of a public recording: a header line, then time, C channels and perhaps labels in
/// each line. The Skoltech Anomaly Benchmark has eight channels separated by semicolons, Numenta's
/// has one after a comma.
///
/// # Errors
/// [`Error`] for a file that is missing or has other columns.
pub fn read<const C: usize>(file: &Path) -> Result<Vec<[f32; C]>, Error> {
    let text = fs::read_to_string(file).doing("reading a recording")?;
    let mut rows = Vec::new();
    for line in text.lines().skip(1) {
        let mut row = [0.0; C];
        let mut columns = line.split([';', ',']).skip(1);
        for value in &mut row {
            let number = columns.next().and_then(|column| column.trim().parse().ok());
            let other = || Error::Unexpected(format!("{}: {line}", file.display()));
            *value = number.ok_or_else(other)?;
        }
        rows.push(row);
    }
    Ok(rows)
}

/// All recordings below a directory, by name.
///
/// # Errors
/// [`Error::Io`].
pub fn files(directory: &Path) -> Result<Vec<PathBuf>, Error> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).doing("listing the recordings")? {
        let path = entry.doing("listing the recordings")?.path();
        if path.is_dir() {
            found.extend(files(&path)?);
        } else if path.extension().is_some_and(|extension| extension == "csv") {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// Streams `rows` through the board and the host's detector. Every answer must be the same, and so
/// must every byte of the final state. Returns the alarms, as they were amended.
///
/// # Errors
/// [`Error::Unexpected`] naming the first row that differs.
pub fn compare<const C: usize>(
    elf: &Path,
    map: &'static Fourier<C, 32>,
    rows: &[[f32; C]],
) -> Result<Vec<Alarm>, Error> {
    let (mut device, _) = Device::start(&Setup::bare(Board::Mps2An386, elf))?;
    let mut host = Detector::new(map, recording())?;
    let mut alarms = Vec::new();
    for (number, row) in rows.iter().enumerate() {
        let (expected, amended) = match host.push(row)? {
            Verdict::Alarm(alarm) => (vec![alarm], vec![]),
            Verdict::Amended(alarm) => (vec![], vec![alarm]),
            Verdict::Learning { .. } | Verdict::Healthy | Verdict::Drifting => (vec![], vec![]),
        };
        let sample = Sample::new(row).ok_or(Error::Silent("channels"))?;
        let answer = device.ask(&Command::Push(sample))?;
        let report = answer.report()?;
        expect((&answer.alarms, &answer.amended) == (&expected, &amended), || {
            format!("row {number}: the board {answer:?}, the host {expected:?}, {amended:?}")
        })?;
        let (board, wanted) = (report.status, host.status());
        expect(board == wanted, || {
            format!("row {number}: the board {board:?}, the host {wanted:?}")
        })?;
        alarms.extend(expected);
        amended.into_iter().for_each(|amended| amend(&mut alarms, amended));
    }
    let mut state = vec![0; host.saved_bytes()];
    host.save(&mut state)?;
    expect(device.read_state()? == state, || "the final states differ".into())?;
    device.cut_power()?;
    Ok(alarms)
}

/// Puts an amended alarm in the place of the one it amends.
pub(crate) fn amend(alarms: &mut [Alarm], amended: Alarm) {
    let same = alarms.iter_mut().filter(|alarm| alarm.row == amended.row);
    same.for_each(|alarm| *alarm = amended);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_a_recording_with_labels_and_refuses_another() {
        let file = std::env::temp_dir().join(format!("drift-skab-{}.csv", std::process::id()));
        fs::write(&file, "a;b\n2020;1;2;3;4;5;6;7;8.5;0.0;1.0\n").unwrap();
        assert_eq!(read(&file).unwrap(), [[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.5]]);
        fs::write(&file, "a;b\n2020;1;2;3\n").unwrap();
        assert!(read::<8>(&file).is_err());
        fs::write(&file, "timestamp,value\n2014-02-14 14:30:00,0.132\n").unwrap();
        assert_eq!(read(&file).unwrap(), [[0.132]]);
        fs::remove_file(&file).unwrap();
    }
}
