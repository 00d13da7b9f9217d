//! What a detector looks at, in words.

use fastmmd::condition::ViewKind;

/// What a view of vectors of so many rows is called.
pub(crate) fn view(kind: ViewKind, lags: u32) -> &'static str {
    match (kind, lags) {
        (ViewKind::Raw, 2..) => "delay",
        (kind, _) => kind.name(),
    }
}

/// What it looks at.
pub(crate) fn seen(kind: ViewKind, lags: u32) -> String {
    match (kind, lags) {
        (ViewKind::Raw, 0 | 1) => "raw values".to_owned(),
        (ViewKind::Raw, lags) => format!("vectors of {lags} rows"),
        (ViewKind::Innovation, 0 | 1) => "innovations".to_owned(),
        (ViewKind::Innovation, lags) => format!("innovations in vectors of {lags} rows"),
    }
}
