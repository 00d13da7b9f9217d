//! Scheduler and executor.

use std::process::ExitCode;
use std::sync::Arc;

use ballista_core::error::BallistaError;
use ballista_core::registry::BallistaFunctionRegistry;
use ballista_core::utils::default_session_builder;
use ballista_executor::executor_process::{ExecutorProcessConfig, start_executor_process};
use ballista_scheduler::cluster::BallistaCluster;
use ballista_scheduler::config::SchedulerConfig;
use ballista_scheduler::scheduler_process::start_server;
use clap::{Args, Parser, Subcommand};
use datafusion::execution::FunctionRegistry;

/// The programs of a Ballista cluster that know the functions of fastmmd.
#[derive(Parser)]
#[command(name = "fastmmd-fleet-cluster")]
struct Server {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Takes queries, and hands out their parts
    Scheduler(Scheduler),
    /// Computes parts of queries
    Executor(Executor),
}

#[derive(Args)]
struct Scheduler {
    /// Address to listen on. There is no authentication: only in a network that you trust
    #[arg(long, default_value = "127.0.0.1")]
    bind: String,
    /// Port to listen on
    #[arg(long, default_value_t = 50050)]
    port: u16,
    /// Seconds without a sign of life after which an executor is given up, and its parts of queries
    /// are handed out again
    #[arg(long, default_value_t = 30, value_name = "SECONDS")]
    timeout: u64,
}

#[derive(Args)]
struct Executor {
    /// Address to listen on, and to be reached at
    #[arg(long, default_value = "127.0.0.1")]
    bind: String,
    /// Port for data
    #[arg(long, default_value_t = 50051)]
    port: u16,
    /// Port for the scheduler
    #[arg(long, default_value_t = 50052)]
    grpc_port: u16,
    /// The scheduler's host
    #[arg(long, default_value = "127.0.0.1", value_name = "HOST")]
    scheduler: String,
    /// The scheduler's port
    #[arg(long, default_value_t = 50050, value_name = "PORT")]
    scheduler_port: u16,
    /// Parts that are computed at a time [default: one for each processor]
    #[arg(long, value_name = "COUNT")]
    parts: Option<usize>,
    /// Folder for intermediate results [default: a temporary one]
    #[arg(long, value_name = "FOLDER")]
    work: Option<String>,
    /// Seconds between signs of life
    #[arg(long, default_value_t = 5, value_name = "SECONDS")]
    heartbeat: u64,
}

/// Runs the scheduler or an executor, until it is stopped.
pub(crate) fn run() -> ExitCode {
    let server = Server::parse();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .thread_stack_size(fastmmd_fleet::STACK)
        .build();
    let ended = match runtime {
        Ok(runtime) => match server.command {
            Command::Scheduler(scheduler) => runtime.block_on(schedule(scheduler)),
            Command::Executor(executor) => runtime.block_on(execute(executor)),
        },
        Err(error) => Err(BallistaError::IoError(error)),
    };
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

async fn schedule(own: Scheduler) -> Result<(), BallistaError> {
    let address = format!("{}:{}", own.bind, own.port)
        .parse()
        .map_err(|error| BallistaError::Configuration(format!("--bind {}: {error}", own.bind)))?;
    let config = SchedulerConfig {
        bind_host: own.bind.clone(),
        external_host: own.bind,
        bind_port: own.port,
        executor_timeout_seconds: own.timeout,
        expire_dead_executor_interval_seconds: own.timeout.div_ceil(2).max(1),
        override_session_builder: Some(Arc::new(|config| {
            let mut state = default_session_builder(config)?;
            for function in fastmmd_datafusion::scalars() {
                state.register_udf(function)?;
            }
            for function in fastmmd_datafusion::aggregates() {
                state.register_udaf(function)?;
            }
            Ok(state)
        })),
        ..SchedulerConfig::default()
    };
    let cluster = BallistaCluster::new_from_config(&config).await?;
    start_server(cluster, address, Arc::new(config)).await
}

async fn execute(own: Executor) -> Result<(), BallistaError> {
    let mut known = BallistaFunctionRegistry::default();
    let scalars = fastmmd_datafusion::scalars().into_iter();
    known.scalar_functions.extend(scalars.map(|one| (one.name().to_owned(), one)));
    let aggregates = fastmmd_datafusion::aggregates().into_iter();
    known.aggregate_functions.extend(aggregates.map(|one| (one.name().to_owned(), one)));
    let mut config = ExecutorProcessConfig {
        bind_host: own.bind.clone(),
        external_host: Some(own.bind),
        port: own.port,
        grpc_port: own.grpc_port,
        scheduler_host: own.scheduler,
        scheduler_port: own.scheduler_port,
        scheduler_connect_timeout_seconds: 30,
        work_dir: own.work,
        executor_heartbeat_interval_seconds: own.heartbeat.max(1),
        override_function_registry: Some(Arc::new(known)),
        ..ExecutorProcessConfig::default()
    };
    if let Some(parts) = own.parts {
        config.vcores = parts.max(1);
    }
    start_executor_process(Arc::new(config)).await
}
