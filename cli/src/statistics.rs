//! The statistic nearest to its threshold at every row, as CSV.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use crate::fault::Fault;
use crate::play::{Said, Step};

/// A file that is written row by row.
pub(crate) struct Statistics {
    name: String,
    file: BufWriter<File>,
    names: Vec<String>,
}

impl Statistics {
    pub(crate) fn create(path: &Path, names: &[String]) -> Result<Self, Fault> {
        let name = path.display().to_string();
        let file = File::create(path).map_err(|error| Fault::of_io(&name, &error))?;
        let mut statistics = Self { name, file: BufWriter::new(file), names: names.to_vec() };
        statistics.line(format_args!(
            "row,time,stage,leg,channel,window,statistic,threshold,ratio,alarm"
        ))?;
        Ok(statistics)
    }

    pub(crate) fn note(&mut self, step: &Step<'_>) -> Result<(), Fault> {
        let row = step.row.number;
        let time = step.row.time.as_deref().map_or(String::new(), crate::cell::text);
        let (time, stage) = (quoted(time.trim()), step.detector.stage().name());
        let alarm = u8::from(matches!(step.said, Some(Said::Alarm(_))));
        let Some(leg) = step.detector.nearest() else {
            return self.line(format_args!("{row},{time},{stage},,,,,,,{alarm}"));
        };
        let channel = leg.channel.and_then(|channel| self.names.get(channel));
        let channel = channel.map_or(String::new(), |name| quoted(name));
        let (name, window) = (leg.leg.name(), leg.window);
        let (statistic, threshold, ratio) = (leg.statistic, leg.threshold, leg.ratio());
        self.line(format_args!(
            "{row},{time},{stage},{name},{channel},{window},{statistic},{threshold},{ratio},{alarm}"
        ))
    }

    fn line(&mut self, line: std::fmt::Arguments<'_>) -> Result<(), Fault> {
        writeln!(self.file, "{line}").map_err(|error| Fault::of_io(&self.name, &error))
    }

    pub(crate) fn finish(mut self) -> Result<(), Fault> {
        self.file.flush().map_err(|error| Fault::of_io(&self.name, &error))
    }
}

/// A cell of CSV.
fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}
