//! The needed part of QEMU's monitor protocol (QMP).

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

use crate::error::{Doing, Error};

/// A connection to a QEMU's monitor.
#[derive(Debug)]
pub(crate) struct Monitor {
    reader: BufReader<UnixStream>,
    writer: UnixStream,
}

impl Monitor {
    /// Greets the monitor behind `stream`.
    pub(crate) fn new(stream: UnixStream, timeout: Duration) -> Result<Self, Error> {
        stream.set_read_timeout(Some(timeout)).doing("setting the monitor's timeout")?;
        let writer = stream.try_clone().doing("sharing the monitor's socket")?;
        let mut monitor = Self { reader: BufReader::new(stream), writer };
        monitor.line()?;
        monitor.execute("qmp_capabilities")?;
        Ok(monitor)
    }

    fn line(&mut self) -> Result<Value, Error> {
        let mut line = String::new();
        let read = self.reader.read_line(&mut line).doing("reading from QEMU's monitor")?;
        if read == 0 {
            return Err(Error::Silent("QEMU's monitor has closed"));
        }
        serde_json::from_str(&line).map_err(|error| Error::Refused(format!("{error}: {line}")))
    }

    /// Executes a command.
    pub(crate) fn execute(&mut self, command: &str) -> Result<(), Error> {
        self.send(&json!({ "execute": command }))?;
        self.done()
    }

    fn send(&mut self, request: &Value) -> Result<(), Error> {
        // In one write: each write is a system call.
        let line = format!("{request}\n");
        self.writer.write_all(line.as_bytes()).doing("writing to QEMU's monitor")
    }

    /// Waits for the end of the oldest command that was sent.
    fn done(&mut self) -> Result<(), Error> {
        loop {
            let answer = self.line()?;
            if let Some(error) = answer.get("error") {
                return Err(Error::Refused(error.to_string()));
            }
            if answer.get("return").is_some() {
                return Ok(());
            }
            // Anything else is an event, such as RESET.
        }
    }

    /// Sets properties of devices, each given by its path. Sends all before it waits for the first
    /// answer.
    pub(crate) fn set<const N: usize>(
        &mut self,
        properties: [(&str, &str, i64); N],
    ) -> Result<(), Error> {
        let mut requests = String::new();
        for (path, property, value) in properties {
            let arguments = json!({ "path": path, "property": property, "value": value });
            let request = json!({ "execute": "qom-set", "arguments": arguments });
            requests.push_str(&format!("{request}\n"));
        }
        self.writer.write_all(requests.as_bytes()).doing("writing to QEMU's monitor")?;
        // Takes all answers, even after a refusal, so that none is left for the next command.
        properties.map(|_| self.done()).into_iter().collect()
    }

    /// Writes `length` bytes of the machine's memory, from `address`, to a file.
    pub(crate) fn save_memory(
        &mut self,
        address: u64,
        length: u64,
        file: &Path,
    ) -> Result<(), Error> {
        let arguments = json!({ "val": address, "size": length, "filename": file });
        self.send(&json!({ "execute": "pmemsave", "arguments": arguments }))?;
        self.done()
    }
}
