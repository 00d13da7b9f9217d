//! The paper's efficiency test: started by `cargo xtask bench --host`. The argument is the SVG file
//! to write.

use std::process::ExitCode;
use std::{env, fs};

use fastmmd_evaluation::speed::{self, Times, chart};

type Failed = Box<dyn std::error::Error>;

fn main() -> ExitCode {
    match run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<bool, Failed> {
    let samples = speed::over_samples(&speed::COUNTS)?;
    println!(
        "times over that of Fastfood, {} channels, {} frequencies; one thread each, one run;",
        speed::DIMENSION,
        speed::FREQUENCIES_BY_SAMPLES
    );
    println!("exact MMD beyond 20000 samples by their square:");
    table("samples", &samples);
    let dimensions = speed::over_dimensions(&speed::DIMENSIONS, speed::SAMPLES)?;
    println!(
        "\nthe same, {} samples, {} frequencies; exact MMD from 1000 samples by their square,",
        speed::SAMPLES,
        speed::FREQUENCIES_BY_DIMENSION
    );
    println!("dense from 200 by their number:");
    table("channels", &dimensions);
    println!();
    let mut all_kept = true;
    for (promise, kept) in speed::promises(&samples, &dimensions) {
        println!("{} {promise}", if kept { "ok:" } else { "BROKEN:" });
        all_kept &= kept;
    }
    if let Some(path) = env::args_os().nth(1) {
        fs::write(&path, chart::svg(&samples, &dimensions)?)?;
        println!("charts: {}", path.display());
    }
    Ok(all_kept)
}

fn table(at: &str, times: &[Times]) {
    println!("{at:>9}{:>12}{:>9}{:>9}{:>9}", "exact", "B-test", "linear", "dense");
    for t in times {
        let over = |time: f64| time / t.fastfood;
        println!(
            "{:>9}{:>12.0}{:>9.1}{:>9.3}{:>9.2}",
            t.at,
            over(t.exact),
            over(t.b_test),
            over(t.linear),
            over(t.fourier)
        );
    }
}
