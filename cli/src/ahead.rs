//! Reads rows ahead in a separate thread, while earlier ones are processed.

use crate::fault::Fault;
use crate::progress::Progress;
use crate::rows::{Row, Rows};

/// Largest number of rows in a batch. Rows that arrive slowly are passed on one by one.
const MANY: usize = 2048;

/// Some rows of a log, and how far it has been read.
pub(crate) struct Batch {
    rows: Vec<Row>,
    used: usize,
    /// Number of rows of data read so far, including those left out.
    pub(crate) read: u64,
    /// Number of lines left out so far that are no rows.
    pub(crate) bad: u64,
    /// Bytes read, and bytes in total if known.
    progress: (u64, Option<u64>),
    after: After,
}

enum After {
    More,
    End,
    Fault(Fault),
}

impl Batch {
    pub(crate) fn rows(&self) -> &[Row] {
        self.rows.get(..self.used).unwrap_or_default()
    }
}

/// Reads a log to its end, or until the user interrupts a followed one, and shows how far it is. `take`
/// gets the rows, batch by batch, and the progress, to print beside it.
pub(crate) fn each(
    log: Rows,
    mut progress: Progress<'_>,
    mut take: impl FnMut(&Batch, &Progress<'_>) -> Result<(), Fault>,
) -> Result<(), Fault> {
    let rows = Ahead::begin(log);
    while let Some(batch) = rows.next()? {
        take(&batch, &progress)?;
        progress.show(batch.progress);
        match batch.after {
            After::More => rows.give_back(batch),
            After::End => break,
            After::Fault(fault) => return Err(fault),
        }
    }
    progress.finish();
    Ok(())
}

/// Reads the next batch into memory that was used before.
fn batch(log: &mut Rows, mut rows: Vec<Row>) -> Batch {
    let (mut used, mut after) = (0, After::More);
    for row in &mut rows {
        match log.next(row) {
            Ok(true) => used += 1,
            Ok(false) => after = After::End,
            Err(fault) => after = After::Fault(fault),
        }
        if !matches!(after, After::More) {
            break;
        }
    }
    let (read, bad, progress) = (log.table.rows(), log.table.bad(), log.table.progress());
    Batch { rows, used, read, bad, progress, after }
}

/// New memory for the batches of a log.
fn memory(log: &Rows) -> Vec<Row> {
    vec![Row::default(); if log.table.progress().1.is_some() { MANY } else { 1 }]
}

/// Reads a log in this thread: a page in a browser has no other.
#[cfg(not(feature = "terminal"))]
pub(crate) struct Ahead {
    /// The log, and memory for its next batch.
    log: std::cell::RefCell<(Rows, Vec<Row>)>,
}

#[cfg(not(feature = "terminal"))]
impl Ahead {
    pub(crate) fn begin(log: Rows) -> Self {
        let rows = memory(&log);
        Self { log: std::cell::RefCell::new((log, rows)) }
    }

    #[expect(clippy::unnecessary_wraps, reason = "as with a thread")]
    pub(crate) fn next(&self) -> Result<Option<Batch>, Fault> {
        let (log, rows) = &mut *self.log.borrow_mut();
        Ok(Some(batch(log, std::mem::take(rows))))
    }

    pub(crate) fn give_back(&self, batch: Batch) {
        self.log.borrow_mut().1 = batch.rows;
    }
}

#[cfg(feature = "terminal")]
pub(crate) use threaded::Ahead;

#[cfg(feature = "terminal")]
mod threaded {
    use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
    use std::thread;

    use super::{After, Batch, batch, memory};
    use crate::fault::Fault;
    use crate::rows::{Row, Rows};
    use crate::source;

    /// Largest number of batches waiting.
    const WAITING: usize = 4;

    /// The receiving end of the batches.
    pub(crate) struct Ahead {
        batches: Receiver<Batch>,
        spare: Sender<Vec<Row>>,
    }

    impl Ahead {
        /// Starts the thread. It ends with the log, with a fault, or when this is dropped.
        pub(crate) fn begin(log: Rows) -> Self {
            let (send, batches) = sync_channel(WAITING);
            let (spare, used) = channel();
            thread::spawn(move || read_all(log, &send, &used));
            Self { batches, spare }
        }

        /// The next rows; `None` after the user has interrupted a followed log.
        pub(crate) fn next(&self) -> Result<Option<Batch>, Fault> {
            while !source::is_enough() {
                match self.batches.recv_timeout(source::PATIENCE) {
                    // An interruption may have cut a row in two.
                    Ok(_) if source::is_enough() => break,
                    Ok(batch) => return Ok(Some(batch)),
                    Err(RecvTimeoutError::Timeout) => {}
                    Err(RecvTimeoutError::Disconnected) => {
                        return Err(Fault::new("reading the log has stopped"));
                    }
                }
            }
            Ok(None)
        }

        /// Returns the memory of a batch, to be filled again.
        pub(crate) fn give_back(&self, batch: Batch) {
            // Fails after the last batch, when it is no longer needed.
            let _ = self.spare.send(batch.rows);
        }
    }

    fn read_all(mut log: Rows, batches: &SyncSender<Batch>, spare: &Receiver<Vec<Row>>) {
        loop {
            let rows = spare.try_recv().unwrap_or_else(|_| memory(&log));
            let batch = batch(&mut log, rows);
            let last = !matches!(batch.after, After::More);
            if batches.send(batch).is_err() || last {
                return;
            }
        }
    }
}
