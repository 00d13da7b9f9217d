//! The literature's figures as one Markdown report with plots: started by `cargo xtask reproduce`.

use std::env;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use fastmmd_evaluation::reproduce::budget::{self, Stopwatch};
use fastmmd_evaluation::reproduce::{self, Effort, Figure, PARTS, Part};
use indicatif::{ProgressBar, ProgressStyle};

const USAGE: &str = "reproduce [--quick] [--out DIR] [--part NAME]...";

struct Options {
    effort: Effort,
    out: PathBuf,
    parts: Vec<Part>,
}

fn options() -> Result<Options, String> {
    let (mut effort, mut out, mut parts) = (Effort::Full, None, Vec::new());
    let mut arguments = env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or(format!("{argument} needs a value: {USAGE}"));
        match argument.as_str() {
            "--quick" => effort = Effort::Quick,
            "--out" => out = Some(PathBuf::from(value()?)),
            "--part" => {
                let name = value()?;
                let names: Vec<_> = PARTS.iter().map(|part| part.name).collect();
                let part = PARTS.into_iter().find(|part| part.name == name);
                let unknown = || format!("no part {name}; there are {}", names.join(", "));
                parts.push(part.ok_or_else(unknown)?);
            }
            _ => return Err(format!("unknown argument {argument}: {USAGE}")),
        }
    }
    let out = out.ok_or(format!("--out is needed: {USAGE}"))?;
    let parts = if parts.is_empty() { PARTS.to_vec() } else { parts };
    Ok(Options { effort, out, parts })
}

/// A progress bar on standard error, if that is a terminal.
fn bar(parts: &[Part]) -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:40} {pos}/{len} {elapsed} {msg}");
    let bar = ProgressBar::new(parts.iter().map(|part| u64::from(part.steps)).sum());
    // The template is a constant; if it were wrong, the default would be used.
    bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

fn save(directory: &Path, figure: &Figure) -> Result<(), String> {
    for plot in &figure.plots {
        write(&directory.join(&plot.file), &plot.svg)?;
    }
    Ok(())
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))
}

/// The report and how many limits were broken.
fn report(options: &Options) -> Result<(String, usize), String> {
    fs::create_dir_all(&options.out)
        .map_err(|error| format!("{}: {error}", options.out.display()))?;
    let mut text = reproduce::beginning(options.effort);
    let (mut kept, mut broken) = (0, Vec::new());
    let watch = Stopwatch::start();
    let bar = bar(&options.parts);
    for part in &options.parts {
        bar.set_message(part.name);
        let figure = part.figure(options.effort, &|| bar.inc(1));
        let figure = figure.map_err(|error| format!("{}: {error}", part.name))?;
        save(&options.out, &figure)?;
        let _ = write!(text, "\n{}", figure.text);
        kept += figure.checks.iter().filter(|check| check.kept).count();
        broken.extend(figure.broken());
    }
    bar.finish_and_clear();
    let (time, in_time) = budget::verdict(options.effort, watch.seconds());
    let _ = write!(text, "\n{time}.\n");
    if in_time {
        kept += 1;
    } else {
        broken.push(time);
    }
    let _ = write!(text, "\n{kept} limits kept, {} broken.\n", broken.len());
    for what in &broken {
        let _ = writeln!(text, "- {what}");
    }
    write(&options.out.join("report.md"), &text)?;
    Ok((text, broken.len()))
}

fn main() -> ExitCode {
    let result = options().and_then(|options| Ok((report(&options)?, options.out)));
    match result {
        Ok(((text, broken), out)) => {
            println!("{text}");
            println!("With its plots: {}", out.join("report.md").display());
            if broken == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
        Err(message) => {
            eprintln!("{message}");
            ExitCode::from(2)
        }
    }
}
