//! Plays the scenarios with built programs: `drift-harness DIRECTORY [NAME…]`.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use drift_harness::scenarios::{ALL, Programs};

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let Some(directory) = arguments.next().map(PathBuf::from) else {
        eprintln!("usage: drift-harness DIRECTORY [NAME…]");
        return ExitCode::FAILURE;
    };
    let programs = Programs::new(&directory);
    let wanted: Vec<String> = arguments.collect();
    let mut failures = 0;
    for (name, play) in ALL {
        if !wanted.is_empty() && !wanted.iter().any(|one| one == name) {
            continue;
        }
        let begin = Instant::now();
        let result = play(&programs);
        let seconds = begin.elapsed().as_secs_f64();
        match result {
            Ok(found) => println!("ok   {name} ({seconds:.1} s): {found}"),
            Err(error) => {
                failures += 1;
                println!("FAIL {name} ({seconds:.1} s): {error}");
            }
        }
    }
    if failures == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
