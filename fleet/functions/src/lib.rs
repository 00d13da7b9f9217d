//! Embeddings and the maximum mean discrepancy (MMD) of [`fastmmd`] as functions of
//! [DataFusion](datafusion): which device of thousands is odd, and did the fleet move, in SQL.
//!
//! ```
//! # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
//! use datafusion::prelude::SessionContext;
//!
//! let context = SessionContext::new();
//! fastmmd_datafusion::register(&context);
//! let query = "WITH devices AS (
//!         SELECT device, mmd_embed(x, y, device) AS state
//!         FROM (VALUES ('a', 0.1, 1.0), ('a', 0.2, 1.1), ('b', 0.1, 3.0), ('b', 0.3, 2.9))
//!             AS telemetry (device, x, y)
//!         GROUP BY device)
//!     SELECT mmd2(a.state, b.state) FROM devices a JOIN devices b ON a.device < b.device";
//! let rows = context.sql(query).await?.collect().await?;
//! assert_eq!(rows.iter().map(|batch| batch.num_rows()).sum::<usize>(), 1);
//! # Ok::<(), datafusion::error::DataFusionError>(()) }).unwrap();
//! ```
//!
//! A state is the exact sums of a device's rows ([`fastmmd::Embedding`]) with the map that made them.
//! Sums are integers: states merge to the same bytes in any order, partition and place. One map
//! serves a fleet ([`FleetMap`]); states of different maps are refused by a typed error
//! ([`FleetError`]) that names the device, where the query gives its name as last argument.
//!
//! | function | what |
//! |---|---|
//! | [`mmd_embed`](Embed) | rows to a state |
//! | [`mmd_merge`](Merge) | states to one |
//! | [`mmd_scale`](MakeScale) | rows to the text of a map, with the scale of each channel |
//! | [`mmd2`, `mmd2_unbiased`, `mmd_p_value`, `mmd_witness`](Function) | two states: how different, and where |
//! | [`mmd_count`, `mmd_map`, `mmd_inspect`](Function) | what a state holds |
//! | [`device_state`](Function) | what a device saved, as a state |
//! | [`mmd_weight`](Function) | marks the weight of rows |

mod columns;
mod embed;
mod error;
mod exact;
mod inspect;
mod map;
mod merge;
mod scalar;
mod scale;
mod state;

pub use embed::Embed;
pub use error::{Cause, FleetError};
pub use map::{FREQUENCIES, FleetMap, Scale, Words};
pub use merge::Merge;
pub use scalar::{Function, Scalar};
pub use scale::MakeScale;
pub use state::State;

use std::sync::Arc;

use datafusion::logical_expr::{AggregateUDF, ScalarUDF};
use datafusion::prelude::SessionContext;

/// The aggregate functions: `mmd_embed`, `mmd_merge`, `mmd_scale`.
#[must_use]
pub fn aggregates() -> Vec<Arc<AggregateUDF>> {
    vec![
        Arc::new(AggregateUDF::from(Embed::default())),
        Arc::new(AggregateUDF::from(Merge::default())),
        Arc::new(AggregateUDF::from(MakeScale::default())),
    ]
}

/// The scalar functions: all of [`Function`].
#[must_use]
pub fn scalars() -> Vec<Arc<ScalarUDF>> {
    Function::ALL.iter().map(|one| Arc::new(ScalarUDF::from(Scalar::from(*one)))).collect()
}

/// Makes all functions known to a session.
pub fn register(context: &SessionContext) {
    for function in aggregates() {
        context.register_udaf(function.as_ref().clone());
    }
    for function in scalars() {
        context.register_udf(function.as_ref().clone());
    }
}
