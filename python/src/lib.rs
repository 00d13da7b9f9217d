//! The compiled half of the Python package `fastmmd`: the core's detector, statistics of two samples,
//! and what `tune` tries. Names, data frames and plots are in the other half, `python/fastmmd`.
//!
//! Every call that takes long lets other Python threads run. A refused call raises and leaves the
//! state as it was.

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
    use fastmmd::{Alarm, Verdict};
    use pyo3::prelude::*;
    use pyo3::types::PyTuple;

    #[pymodule_export]
    use super::native::Native;
    #[pymodule_export]
    use super::tune::tune;
    #[pymodule_export]
    use super::two_sample::{mmd2, two_sample_test};

    /// The names of verdicts, by their codes.
    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("VERDICTS", PyTuple::new(module.py(), Verdict::<Alarm>::NAMES)?)
    }
}
