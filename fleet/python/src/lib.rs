//! The functions for the Python package `datafusion`, of the same major version.
//!
//! `fastmmd_fleet.register(context)` makes them known to a `datafusion.SessionContext`. They cross by
//! `datafusion-ffi`: the package's own engine calls them, with data where it lies.

use std::sync::Arc;

use datafusion::logical_expr::{AggregateUDF, ScalarUDF};
use datafusion_ffi::udaf::FFI_AggregateUDF;
use datafusion_ffi::udf::FFI_ScalarUDF;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

/// A scalar function, as the package takes it.
#[pyclass(frozen)]
struct Scalar(Arc<ScalarUDF>);

#[pymethods]
impl Scalar {
    fn __datafusion_scalar_udf__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let function = FFI_ScalarUDF::from(Arc::clone(&self.0));
        PyCapsule::new_with_value(py, function, c"datafusion_scalar_udf")
    }
}

/// An aggregate function, as the package takes it.
#[pyclass(frozen)]
struct Aggregate(Arc<AggregateUDF>);

#[pymethods]
impl Aggregate {
    fn __datafusion_aggregate_udf__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let function = FFI_AggregateUDF::from(Arc::clone(&self.0));
        PyCapsule::new_with_value(py, function, c"datafusion_aggregate_udf")
    }
}

/// Makes all functions known to a `datafusion.SessionContext`.
#[pyfunction]
fn register(context: &Bound<'_, PyAny>) -> PyResult<()> {
    let datafusion = context.py().import("datafusion")?;
    for function in fastmmd_datafusion::scalars() {
        let function = datafusion.call_method1("udf", (Scalar(function),))?;
        context.call_method1("register_udf", (function,))?;
    }
    for function in fastmmd_datafusion::aggregates() {
        let function = datafusion.call_method1("udaf", (Aggregate(function),))?;
        context.call_method1("register_udaf", (function,))?;
    }
    Ok(())
}

/// Embeddings and MMD of fastmmd for the package `datafusion`.
#[pymodule]
fn fastmmd_fleet(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Scalar>()?;
    module.add_class::<Aggregate>()?;
    module.add_function(wrap_pyfunction!(register, module)?)
}
