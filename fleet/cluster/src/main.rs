//! `fastmmd-fleet-cluster`: the tool `fastmmd-fleet` with `--ballista`, and the two other programs that a
//! cluster needs, which must know the functions: `scheduler` and `executor`.

mod server;

use std::process::ExitCode;

use ballista::prelude::SessionContextExt;
use datafusion::error::DataFusionError;
use datafusion::execution::context::SessionState;
use datafusion::prelude::SessionContext;
use futures::future::BoxFuture;

fn main() -> ExitCode {
    let is_server = std::env::args()
        .nth(1)
        .is_some_and(|command| ["scheduler", "executor"].contains(&&*command));
    if is_server { server::run() } else { fastmmd_fleet::run(std::env::args_os(), Some(connect)) }
}

fn connect(
    url: String,
    state: SessionState,
) -> BoxFuture<'static, Result<SessionContext, DataFusionError>> {
    Box::pin(async move { SessionContext::remote_with_state(&url, state).await })
}
