//! A session of the engine: tables, queries, progress.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use datafusion::arrow::datatypes::{DataType, SchemaRef};
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::error::DataFusionError;
use datafusion::execution::context::SessionState;
use datafusion::execution::{SendableRecordBatchStream, SessionStateBuilder};
use datafusion::physical_plan::{ExecutionPlan, execute_stream};
use datafusion::prelude::{CsvReadOptions, ParquetReadOptions, SessionConfig, SessionContext};
use futures::StreamExt;
use futures::future::BoxFuture;
use indicatif::{ProgressBar, ProgressStyle};

use crate::args::Engine;
use crate::fault::Fault;
use crate::files::{Format, Kept};

/// Opens a session on the Ballista scheduler at a URL, from a state.
pub type Connect =
    fn(String, SessionState) -> BoxFuture<'static, Result<SessionContext, DataFusionError>>;

/// How often progress is shown.
const SHOWN: Duration = Duration::from_millis(200);

pub(crate) struct Session {
    pub(crate) context: SessionContext,
    /// Whether queries run in this process.
    local: bool,
}

impl Session {
    pub(crate) async fn open(engine: &Engine, connect: Option<Connect>) -> Result<Self, Fault> {
        let mut config = SessionConfig::new().with_information_schema(true);
        // Folders in folders are read, too.
        config.options_mut().execution.listing_table_ignore_subdirectory = false;
        if let Some(partitions) = engine.partitions {
            if partitions == 0 {
                return Err(Fault::new("--partitions must be at least 1"));
            }
            config = config.with_target_partitions(partitions);
        }
        let Some(url) = &engine.ballista else {
            let context = SessionContext::new_with_config(config);
            fastmmd_datafusion::register(&context);
            return Ok(Self { context, local: true });
        };
        let Some(connect) = connect else {
            return Err(Fault::new(
                "--ballista: this program has no cluster; use fastmmd-fleet-cluster, which takes the \
                 same arguments",
            ));
        };
        let state = SessionStateBuilder::new_with_default_features().with_config(config).build();
        let context = connect(url.clone(), state).await?;
        fastmmd_datafusion::register(&context);
        Ok(Self { context, local: false })
    }

    /// Makes a file or a folder of Parquet or CSV files known as a table. Folders in it that are named
    /// `key=value` become columns.
    pub(crate) async fn add_table(&self, name: &str, path: &Path) -> Result<(), Fault> {
        if !path.exists() {
            return Err(Fault::of(path, "no such file or folder"));
        }
        // Executors may run in another folder.
        let whole = path.canonicalize().map_err(|error| Fault::of(path, error))?;
        let text = whole.to_str().ok_or_else(|| Fault::of(path, "a name that is not Unicode"))?;
        let Kept { format, ending, keys } = Kept::of(&whole)?;
        let ending = format!(".{ending}");
        let keys: Vec<_> = keys.into_iter().map(|key| (key, DataType::Utf8)).collect();
        match format {
            Format::Parquet => {
                let options = ParquetReadOptions::new().file_extension(&ending);
                let options = options.table_partition_cols(keys);
                self.context.register_parquet(name, text, options).await?;
            }
            Format::Csv => {
                let options = CsvReadOptions::new().file_extension(&ending);
                let options = options.table_partition_cols(keys);
                self.context.register_csv(name, text, options).await?;
            }
        }
        Ok(())
    }

    /// Asks a query; its answer comes in batches.
    pub(crate) async fn ask(&self, sql: &str) -> Result<Answer, Fault> {
        let frame = self.context.sql(sql).await?;
        let task = Arc::new(frame.task_ctx());
        let plan = frame.create_physical_plan().await?;
        let stream = execute_stream(Arc::clone(&plan), task)?;
        let bar = ProgressBar::new_spinner();
        // A cluster does not tell how many rows it has read.
        let shown = if self.local { "{human_pos} rows read" } else { "on the cluster" };
        let style = ProgressStyle::with_template(&format!("{{spinner}} {shown}, {{elapsed}}"));
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
        Ok(Answer { stream, plan: self.local.then_some(plan), bar })
    }

    /// Asks a query, and takes its whole answer.
    pub(crate) async fn run(&self, sql: &str) -> Result<Vec<RecordBatch>, Fault> {
        let mut answer = self.ask(sql).await?;
        let mut batches = Vec::new();
        while let Some(batch) = answer.next().await? {
            batches.push(batch);
        }
        Ok(batches)
    }
}

/// What comes of a query, with progress on a terminal.
pub(crate) struct Answer {
    stream: SendableRecordBatchStream,
    /// The plan, if it runs in this process and so tells how far it is.
    plan: Option<Arc<dyn ExecutionPlan>>,
    bar: ProgressBar,
}

impl Answer {
    pub(crate) fn schema(&self) -> SchemaRef {
        self.stream.schema()
    }

    /// The next batch.
    pub(crate) async fn next(&mut self) -> Result<Option<RecordBatch>, Fault> {
        loop {
            match tokio::time::timeout(SHOWN, self.stream.next()).await {
                Ok(batch) => {
                    // What is printed next stands on a line of its own.
                    self.bar.finish_and_clear();
                    return Ok(batch.transpose()?);
                }
                Err(_) => match &self.plan {
                    Some(plan) => self.bar.set_position(rows_read(plan.as_ref())),
                    None => self.bar.tick(),
                },
            }
        }
    }
}

/// Rows that the leaves of a plan have given so far.
fn rows_read(plan: &dyn ExecutionPlan) -> u64 {
    let children = plan.children();
    if children.is_empty() {
        let rows = plan.metrics().and_then(|metrics| metrics.output_rows());
        return rows.and_then(|rows| u64::try_from(rows).ok()).unwrap_or(0);
    }
    children.into_iter().map(|child| rows_read(child.as_ref())).sum()
}
