//! The harness as a program, called by `cargo xtask`. DIRECTORY holds the boards' programs.
//!
//! ```text
//! drift-harness play DIRECTORY [--skab RECORDINGS] [--nab RECORDINGS] [--tool FASTMMD] [NAME…]
//! drift-harness demo DIRECTORY [--seed N] [--record FILE]
//! drift-harness transcript DIRECTORY PROGRAM
//! drift-harness stack DIRECTORY
//! ```

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Instant;

use drift_app::profile::BoardDetector;
use drift_harness::scenarios::{ALL, Programs, Scenario};
use drift_harness::{Error, demo, stack, transcript};

/// The arguments after the command.
struct Arguments {
    directory: PathBuf,
    names: Vec<String>,
    skab: Option<PathBuf>,
    nab: Option<PathBuf>,
    tool: Option<PathBuf>,
    record: Option<PathBuf>,
    seed: u64,
}

fn arguments(mut given: impl Iterator<Item = String>) -> Option<Arguments> {
    let directory = given.next().map(PathBuf::from)?;
    let mut found = Arguments {
        directory,
        names: Vec::new(),
        skab: None,
        nab: None,
        tool: None,
        record: None,
        seed: 1,
    };
    while let Some(argument) = given.next() {
        match argument.as_str() {
            "--skab" => found.skab = Some(given.next()?.into()),
            "--nab" => found.nab = Some(given.next()?.into()),
            "--tool" => found.tool = Some(given.next()?.into()),
            "--record" => found.record = Some(given.next()?.into()),
            "--seed" => found.seed = given.next()?.parse().ok()?,
            _ => found.names.push(argument),
        }
    }
    Some(found)
}

fn main() -> ExitCode {
    let mut given = std::env::args().skip(1);
    let command = given.next().unwrap_or_default();
    let Some(arguments) = arguments(given) else {
        eprintln!("usage: drift-harness (play | demo | transcript | stack) DIRECTORY …");
        return ExitCode::FAILURE;
    };
    let programs = Programs::new(&arguments.directory)
        .with_recordings(arguments.skab.clone(), arguments.nab.clone())
        .with_tool(arguments.tool.clone());
    let result = match command.as_str() {
        "play" => return play(&programs, &arguments.names),
        "demo" => demo::play(&programs, arguments.seed, arguments.record.as_deref()),
        "transcript" => say(&programs, &arguments.names),
        "stack" => measure(&programs),
        other => Err(Error::Unexpected(format!("command {other}"))),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            println!("FAIL {error}");
            ExitCode::FAILURE
        }
    }
}

fn play(programs: &Programs, wanted: &[String]) -> ExitCode {
    let unknown = wanted.iter().find(|name| ALL.iter().all(|(known, _)| known != name));
    if let Some(unknown) = unknown {
        println!("FAIL there is no scenario {unknown}");
        return ExitCode::FAILURE;
    }
    let chosen = |name: &str| wanted.is_empty() || wanted.iter().any(|one| one == name);
    let scenarios: Vec<Scenario> = ALL.into_iter().filter(|(name, _)| chosen(name)).collect();
    // Each scenario has its own machines, so as many run in parallel as there are processors.
    let (next, failures) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let players = thread::available_parallelism().map_or(1, NonZeroUsize::get);
    thread::scope(|scope| {
        for _ in 0..players.min(scenarios.len()) {
            scope.spawn(|| {
                while let Some(scenario) = scenarios.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if !passes(programs, scenario) {
                        failures.fetch_add(1, Ordering::Relaxed);
                    }
                }
            });
        }
    });
    if failures.into_inner() == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Plays one scenario and prints the result.
fn passes(programs: &Programs, (name, play): &Scenario) -> bool {
    let begin = Instant::now();
    let result = play(programs);
    let seconds = begin.elapsed().as_secs_f64();
    match &result {
        Ok(found) => println!("ok   {name} ({seconds:.1} s): {found}"),
        Err(Error::Skipped(why)) => println!("skip {name}: {why}"),
        Err(error) => println!("FAIL {name} ({seconds:.1} s): {error}"),
    }
    matches!(result, Ok(_) | Err(Error::Skipped(_)))
}

fn say(programs: &Programs, names: &[String]) -> Result<(), Error> {
    for name in names {
        for line in transcript::of(programs, name)? {
            println!("{line}");
        }
    }
    Ok(())
}

fn measure(programs: &Programs) -> Result<(), Error> {
    // On the host a detector is larger by one pointer and some padding.
    println!("detector ram {}", size_of::<BoardDetector<3>>());
    println!("detector saved {}", BoardDetector::<3>::SAVED_BYTES);
    println!("drift stack {}", stack::emulated(programs)?);
    println!("secured stack {}", stack::secured(programs)?);
    println!("stm32f405 stack {}", stack::stm32f405(programs)?);
    Ok(())
}
