//! The compiled half of the Python package `fastmmd`: the core's detector, statistics of two samples,
//! and what `tune` tries. Names, data frames and plots are in the other half, `python/fastmmd`.
//!
//! Every call that takes long lets other Python threads run. A refused call raises and leaves the
//! state as it was.

// The tool's own files, so that both halves of the project decide alike: which legs a period needs,
// how a cycle is found, and what is injected to try settings.
#[path = "../../cli/src/detector.rs"]
#[allow(dead_code, reason = "the tool asks for more than this package does")]
mod detector;
#[path = "../../cli/src/inject.rs"]
#[allow(dead_code, reason = "the tool also says it in words")]
mod inject;
#[path = "../../cli/src/period.rs"]
#[allow(dead_code, reason = "the tool asks for more than this package does")]
mod period;
#[path = "../../cli/src/trial/tries.rs"]
mod tries;

mod error;
mod native;
mod settings;
mod told;
mod tune;
mod two_sample;

use pyo3::prelude::*;

/// What `import fastmmd._native` gives.
#[pymodule]
mod _native {
    #[pymodule_export]
    use super::native::Native;
    #[pymodule_export]
    use super::tune::tune;
    #[pymodule_export]
    use super::two_sample::{mmd2, two_sample_test};
}
