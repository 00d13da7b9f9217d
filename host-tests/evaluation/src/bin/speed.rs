//! The paper's efficiency test: started by `cargo xtask bench --host`. The argument is the SVG file
//! to write.

use std::process::ExitCode;
use std::{env, fs};

use fastmmd_evaluation::speed::features::{self, OverNumpy};
use fastmmd_evaluation::speed::{self, Times, chart, stack};

type Failed = Box<dyn std::error::Error>;

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    if let Some(is_drawn) = stack::draw(&arguments) {
        return if is_drawn { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    }
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
    let stack = stack::least().map_or("more than 4".to_owned(), |over| format!("{over:.2}"));
    println!("stack of drawing a dense map, 64/1024, over the map: {stack}\n");
    let mut promises = Vec::new();
    match features::over_numpy() {
        Ok((version, rows)) => {
            println!(
                "mean embeddings, times as fast as numpy {version} in single precision, one thread:"
            );
            over_numpy(&rows);
            promises.extend(features::promises(&rows));
        }
        Err(reason) => println!("not compared with numpy: {reason}"),
    }
    println!();
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
    promises.extend(speed::promises(&samples, &dimensions));
    let mut all_kept = true;
    for (promise, kept) in promises {
        println!("{} {promise}", if kept { "ok:" } else { "BROKEN:" });
        all_kept &= kept;
    }
    if let Some(path) = env::args_os().nth(1) {
        fs::write(&path, chart::svg(&samples, &dimensions)?)?;
        println!("charts: {}", path.display());
    }
    Ok(all_kept)
}

fn over_numpy(rows: &[OverNumpy]) {
    println!(
        "{:>9}{:>9}{:>12}{:>10}{:>12}{:>20}{:>10}",
        "shape",
        "Fourier",
        "one by one",
        "Fastfood",
        "one by one",
        "at run time: dense",
        "Fastfood"
    );
    for row in rows {
        let [d, l] = row.shape;
        println!(
            "{:>9}{:>9.2}{:>12.2}{:>10.2}{:>12.2}{:>20.2}{:>10.2}",
            format!("{d}/{l}"),
            row.fourier,
            row.fourier_single,
            row.fastfood,
            row.fastfood_single,
            row.dynamic[0],
            row.dynamic[1]
        );
    }
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
