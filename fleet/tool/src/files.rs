//! What a folder of telemetry holds.

use std::path::{Path, PathBuf};

use crate::fault::Fault;

/// A format of tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    Parquet,
    Csv,
}

impl Format {
    fn of(path: &Path) -> Option<(Self, String)> {
        let ending = path.extension()?.to_str()?;
        match &*ending.to_lowercase() {
            "parquet" => Some((Self::Parquet, ending.to_owned())),
            "csv" => Some((Self::Csv, ending.to_owned())),
            _ => None,
        }
    }
}

/// How a table is kept in files.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Kept {
    pub(crate) format: Format,
    /// The ending of its files, as it is spelled.
    pub(crate) ending: String,
    /// The keys of folders named `key=value`, from the outermost.
    pub(crate) keys: Vec<String>,
}

impl Kept {
    /// Of a file, or of all files in a folder and the folders in it. What would be read in part only
    /// is refused.
    pub(crate) fn of(path: &Path) -> Result<Self, Fault> {
        let files = if path.is_dir() { files(path)? } else { vec![path.to_owned()] };
        let mut first: Option<(Self, PathBuf)> = None;
        for file in files {
            let Some((format, ending)) = Format::of(&file) else { continue };
            let own = Self { format, ending, keys: keys(path, &file) };
            match &first {
                None => first = Some((own, file)),
                Some((kept, _)) if *kept == own => {}
                Some((kept, other)) => {
                    let what = if kept.keys == own.keys { "kinds of files" } else { "layouts" };
                    let why = format!("two {what}: {} and {}", other.display(), file.display());
                    return Err(Fault::of(path, why));
                }
            }
        }
        let missing = "neither a Parquet nor a CSV file, nor a folder of them";
        first.map(|(kept, _)| kept).ok_or_else(|| Fault::of(path, missing))
    }
}

/// The keys of the folders between.
fn keys(folder: &Path, file: &Path) -> Vec<String> {
    let between = file.strip_prefix(folder).ok().and_then(Path::parent);
    let names = between.into_iter().flat_map(Path::components);
    let names = names.map(|name| name.as_os_str().to_string_lossy().into_owned());
    names.map_while(|name| Some(name.split_once('=')?.0.to_owned())).collect()
}

/// All files in a folder and the folders in it, by name.
pub(crate) fn files(folder: &Path) -> Result<Vec<PathBuf>, Fault> {
    let refused = |error| Fault::of(folder, error);
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(refused)? {
        let path = entry.map_err(refused)?.path();
        if path.is_dir() {
            found.extend(files(&path)?);
        } else {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}
