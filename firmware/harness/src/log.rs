//! Decodes the firmware's log as it arrives.

use std::io::Read;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use defmt_decoder::{DecodeError, Table};

/// Lines of text that a thread collects from a stream.
#[derive(Debug)]
pub(crate) struct Log {
    lines: Arc<Mutex<Vec<String>>>,
    reader: Option<JoinHandle<()>>,
}

impl Log {
    /// Decodes defmt frames from `stream` by the table in the firmware's `elf`.
    pub(crate) fn of_defmt(elf: &[u8], mut stream: impl Read + Send + 'static) -> Self {
        let table = Table::parse(elf).ok().flatten();
        Self::collect(move |push| {
            let Some(table) = table else { return push("(the firmware has no log)".into()) };
            let mut decoder = table.new_stream_decoder();
            let mut buffer = [0; 1024];
            while let Ok(count @ 1..) = stream.read(&mut buffer) {
                decoder.received(&buffer[..count]);
                loop {
                    match decoder.decode() {
                        Ok(frame) => {
                            let level = frame.level().map_or("", |level| level.as_str());
                            push(format!("{level} {}", frame.display_message()));
                        }
                        Err(DecodeError::UnexpectedEof) => break,
                        Err(DecodeError::Malformed) => {
                            push("(an incomplete log frame)".into());
                            // The rzCOBS decoder has dropped the frame and continues with the next.
                            if !table.encoding().can_recover() {
                                return;
                            }
                        }
                    }
                }
            }
        })
    }

    /// Collects lines of text from `stream`.
    pub(crate) fn of_text(mut stream: impl Read + Send + 'static) -> Self {
        Self::collect(move |push| {
            let mut text = Vec::new();
            // Show what was read before an error.
            let _ = stream.read_to_end(&mut text);
            for line in String::from_utf8_lossy(&text).lines() {
                push(line.to_owned());
            }
        })
    }

    fn collect(read: impl FnOnce(&dyn Fn(String)) + Send + 'static) -> Self {
        let lines = Arc::new(Mutex::new(Vec::new()));
        let sink = Arc::clone(&lines);
        let reader = thread::spawn(move || {
            read(&|line| sink.lock().unwrap_or_else(PoisonError::into_inner).push(line));
        });
        Self { lines, reader: Some(reader) }
    }

    /// The lines so far.
    pub(crate) fn lines(&self) -> Vec<String> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// All lines, once the stream has ended.
    pub(crate) fn finish(&mut self) -> Vec<String> {
        if let Some(reader) = self.reader.take() {
            // If the reader failed, its lines so far are still there.
            let _ = reader.join();
        }
        self.lines()
    }
}
