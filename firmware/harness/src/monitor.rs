//! QEMU's monitor protocol (QMP), as much of it as is needed.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
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
        monitor.execute("qmp_capabilities", &Value::Null)?;
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

    /// Executes a command and returns what it gives.
    pub(crate) fn execute(&mut self, command: &str, arguments: &Value) -> Result<Value, Error> {
        let mut request = json!({ "execute": command });
        if !arguments.is_null() {
            request["arguments"] = arguments.clone();
        }
        writeln!(self.writer, "{request}").doing("writing to QEMU's monitor")?;
        loop {
            let mut answer = self.line()?;
            if let Some(error) = answer.get("error") {
                return Err(Error::Refused(format!("{command} {arguments}: {error}")));
            }
            if let Some(value) = answer.get_mut("return") {
                return Ok(value.take());
            }
            // Anything else is an event, such as RESET.
        }
    }

    /// Sets a property of a device.
    pub(crate) fn set(&mut self, path: &str, property: &str, value: i64) -> Result<(), Error> {
        let arguments = json!({ "path": path, "property": property, "value": value });
        self.execute("qom-set", &arguments).map(drop)
    }
}
