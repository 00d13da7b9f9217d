//! What a detector watches, in words.

use fastmmd::condition::ViewKind;

/// The name of a view with vectors of `lags` rows.
pub(crate) fn view(kind: ViewKind, lags: u32) -> &'static str {
    match (kind, lags) {
        (ViewKind::Raw, 2..) => "delay",
        (kind, _) => kind.name(),
    }
}

/// What the view watches.
pub(crate) fn seen(kind: ViewKind, lags: u32) -> String {
    match (kind, lags) {
        (ViewKind::Raw, 0 | 1) => "raw values".to_owned(),
        (ViewKind::Raw, lags) => format!("vectors of {lags} rows"),
        (ViewKind::Innovation, 0 | 1) => "innovations".to_owned(),
        (ViewKind::Innovation, lags) => format!("innovations in vectors of {lags} rows"),
    }
}
