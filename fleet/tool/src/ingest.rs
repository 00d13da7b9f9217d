//! `ingest`: a folder of device states to one Parquet file.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, LargeBinaryArray, RecordBatch, StringArray, UInt64Array};
use fastmmd_datafusion::{Cause, State};

use crate::args::Ingest;
use crate::fault::Fault;
use crate::files;
use crate::output::say;
use crate::query::Target;

pub(crate) fn run(arguments: &Ingest) -> Result<bool, Fault> {
    let (mut names, mut folders, mut states, mut rows) = (vec![], vec![], vec![], vec![]);
    let mut first: Option<State> = None;
    // Two files of one device in a folder would be added up as one.
    let mut seen = HashMap::<PathBuf, PathBuf>::new();
    // One name in two folders: one device at two times, or two devices.
    let (mut places, mut twice) = (HashMap::<String, PathBuf>::new(), vec![]);
    for path in files::files(&arguments.folder)? {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let state = match seen.insert(path.with_extension(""), path.clone()) {
            Some(other) => {
                let (own, other) = (path.display(), other.display());
                Err(Cause::Arguments(format!("two files: {other} and {own}")))
            }
            None => read(&path, first.as_ref()),
        };
        match state {
            Ok(state) => {
                rows.push(whole(state.count()));
                states.push(state.to_bytes().map_err(|cause| named(&name, cause))?);
                if let Some(other) = places.insert(name.clone(), path.clone()) {
                    twice.push(format!("{name}, in {} and {}", other.display(), path.display()));
                }
                names.push(name);
                let folder = path.strip_prefix(&arguments.folder).ok().and_then(Path::parent);
                folders.push(folder.unwrap_or(Path::new("")).to_string_lossy().into_owned());
                first.get_or_insert(state);
            }
            Err(cause) if arguments.skip => say(format!("skipped: {}", named(&name, cause)))?,
            Err(cause) => return Err(named(&name, cause)),
        }
    }
    let Some(first) = first else {
        return Err(Fault::of(&arguments.folder, "no device states"));
    };
    let count = names.len();
    let states: Vec<&[u8]> = states.iter().map(Vec::as_slice).collect();
    let columns: [(&str, ArrayRef); 4] = [
        ("device", Arc::new(StringArray::from(names))),
        ("folder", Arc::new(StringArray::from(folders))),
        ("rows", Arc::new(UInt64Array::from(rows))),
        ("state", Arc::new(LargeBinaryArray::from(states))),
    ];
    let batch = RecordBatch::try_from_iter(columns).map_err(Fault::new)?;
    let mut target = Target::create(&arguments.output, batch.schema())?;
    target.write(&batch)?;
    target.finish()?;
    let devices = places.len();
    let (output, map) = (arguments.output.display(), first.map());
    say(format!("{output}: {devices} devices, {count} states; map: {map}"))?;
    if let [one, rest @ ..] = &twice[..] {
        let more =
            if rest.is_empty() { String::new() } else { format!(" and {} more", rest.len()) };
        say(format!(
            "note: several states of device {one}{more}: odd, moved and map refuse them, unless chosen by \
             --where or added up by --merge"
        ))?;
    }
    Ok(false)
}

/// Rows as an integer, so that they are not taken for a reading. Weights may add up to parts of one.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to 2³³")]
fn whole(count: f64) -> u64 {
    count.round() as u64
}

fn named(name: &str, cause: Cause) -> Fault {
    Fault::new(cause.of(Some(name)))
}

/// A state of the same map as the first.
fn read(path: &Path, first: Option<&State>) -> Result<State, Cause> {
    let bytes = std::fs::read(path).map_err(|error| Cause::Arguments(error.to_string()))?;
    let state = State::of_device(&bytes)?;
    match first {
        Some(first) if !first.map().is_as(state.map()) => Err(Cause::OtherMap {
            expected: first.map().to_string(),
            found: state.map().to_string(),
        }),
        _ => Ok(state),
    }
}
