//! Rows read ahead, by a thread of their own, while earlier ones are looked at.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::thread;

use crate::fault::Fault;
use crate::rows::{Row, Rows};
use crate::source;

/// Rows that change threads at once. One by one where they come slowly.
const MANY: usize = 2048;
/// Batches waiting.
const WAITING: usize = 4;

/// Rows of a log, and what comes after them.
pub(crate) struct Batch {
    rows: Vec<Row>,
    used: usize,
    /// Rows of data read so far, those left out included.
    pub(crate) read: u64,
    /// Bytes read, and bytes in all where that is known.
    pub(crate) progress: (u64, Option<u64>),
    pub(crate) after: After,
}

pub(crate) enum After {
    More,
    End,
    Fault(Fault),
}

impl Batch {
    pub(crate) fn rows(&self) -> &[Row] {
        self.rows.get(..self.used).unwrap_or_default()
    }
}

/// Where batches come from.
pub(crate) struct Ahead {
    batches: Receiver<Batch>,
    spare: Sender<Vec<Row>>,
}

impl Ahead {
    /// Begins to read. The thread ends with the log, with a fault, or when nobody listens.
    pub(crate) fn begin(log: Rows) -> Self {
        let (send, batches) = sync_channel(WAITING);
        let (spare, used) = channel();
        thread::spawn(move || read_all(log, &send, &used));
        Self { batches, spare }
    }

    /// The next rows; none once whoever follows the log has seen enough.
    pub(crate) fn next(&self) -> Result<Option<Batch>, Fault> {
        while !source::is_enough() {
            match self.batches.recv_timeout(source::PATIENCE) {
                // The end that an interruption makes may have cut a row in two.
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

    /// Gives the room of a batch back, to be filled again.
    pub(crate) fn give_back(&self, batch: Batch) {
        // After the last batch nobody needs it.
        let _ = self.spare.send(batch.rows);
    }
}

fn read_all(mut log: Rows, batches: &SyncSender<Batch>, spare: &Receiver<Vec<Row>>) {
    let size = if log.table.progress().1.is_some() { MANY } else { 1 };
    loop {
        let mut rows = spare.try_recv().unwrap_or_else(|_| vec![Row::default(); size]);
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
        let last = !matches!(after, After::More);
        let (read, progress) = (log.table.rows(), log.table.progress());
        let batch = Batch { rows, used, read, progress, after };
        if batches.send(batch).is_err() || last {
            return;
        }
    }
}
