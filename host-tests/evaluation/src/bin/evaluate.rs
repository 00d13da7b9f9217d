//! Measures how well the detector performs, and compares with the tables in this package:
//! started by `cargo xtask evaluate`.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use fastmmd_evaluation::evaluate::recordings::Unreadable;
use fastmmd_evaluation::evaluate::{Draw, Report, SECTIONS, Scope, nab, servers, skab};

const USAGE: &str = "evaluate [--quick] [--overwrite] [--seed N] [--section NAME]... \
                     [--nab DIR] [--skab DIR] [--servers DIR]";

#[derive(Default)]
struct Options {
    quick: bool,
    overwrite: bool,
    seed: usize,
    sections: Vec<String>,
    nab: Option<PathBuf>,
    skab: Option<PathBuf>,
    servers: Option<PathBuf>,
}

fn options() -> Result<Options, String> {
    let mut options = Options::default();
    let mut arguments = env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or(format!("{argument} needs a value: {USAGE}"));
        match argument.as_str() {
            "--quick" => options.quick = true,
            "--overwrite" => options.overwrite = true,
            "--seed" => {
                let seed = value()?;
                options.seed = seed.parse().map_err(|_| format!("no seed {seed}: {USAGE}"))?;
            }
            "--section" => options.sections.push(value()?),
            "--nab" => options.nab = Some(value()?.into()),
            "--skab" => options.skab = Some(value()?.into()),
            "--servers" => options.servers = Some(value()?.into()),
            _ => return Err(format!("unknown argument {argument}: {USAGE}")),
        }
    }
    let known = |name: &String| {
        ["nab", "skab", "servers"].contains(&name.as_str())
            || SECTIONS.iter().any(|section| section.name == name)
    };
    if options.overwrite && options.seed != 0 {
        return Err("tables are only written for seed 0".to_owned());
    }
    if let Some(name) = options.sections.iter().find(|name| !known(name)) {
        let names: Vec<_> = SECTIONS.iter().map(|section| section.name).collect();
        return Err(format!("no section {name}; there are {}", names.join(", ")));
    }
    Ok(options)
}

/// Compares with the recorded table, or records this one.
fn settle(name: &str, text: &str, overwrite: bool) -> Result<(), String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tables").join(name);
    if overwrite {
        return fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()));
    }
    match fs::read_to_string(&path) {
        Ok(kept) if kept == text => Ok(()),
        Ok(_) => Err(format!("differs from tables/{name}; if intended, use --overwrite")),
        Err(error) => Err(format!("tables/{name}: {error}; --overwrite writes it")),
    }
}

fn main() -> ExitCode {
    let options = match options() {
        Ok(options) => options,
        Err(message) => {
            eprintln!("{message}");
            return ExitCode::from(2);
        }
    };
    let scope = if options.quick { Scope::Quick } else { Scope::Full };
    let mut failures = Vec::new();
    let chosen =
        |name: &str| options.sections.is_empty() || options.sections.iter().any(|s| s == name);
    for section in SECTIONS.iter().filter(|section| chosen(section.name)) {
        let report = (section.run)(scope, Draw(options.seed));
        println!("{}", report.text);
        let kept = report.checks.iter().filter(|check| check.kept).count();
        println!("{kept} of {} bounds kept.\n", report.checks.len());
        failures.extend(report.broken().into_iter().map(|check| format!("bound broken: {check}")));
        let name = format!("{}{}.md", section.name, scope.suffix());
        if options.seed == 0 {
            failures.extend(settle(&name, &report.text, options.overwrite).err());
        }
    }
    type Recorded = fn(&Path) -> Result<(Report, bool), Unreadable>;
    let recorded: [(&str, &Option<PathBuf>, Recorded); 3] = [
        ("nab", &options.nab, nab::run),
        ("skab", &options.skab, skab::run),
        ("servers", &options.servers, servers::run),
    ];
    for (name, directory, run) in recorded {
        let Some(directory) = directory.as_deref().filter(|_| chosen(name)) else { continue };
        match run(directory) {
            Ok((report, half)) => {
                println!("{}", report.text);
                let broken = report.broken().into_iter();
                failures.extend(broken.map(|check| format!("bound broken: {check}")));
                if half {
                    let file = format!("{name}.md");
                    failures.extend(settle(&file, &report.text, options.overwrite).err());
                } else {
                    println!("The bounds and the recorded table are for another half.\n");
                }
            }
            Err(error) => failures.push(error.to_string()),
        }
    }
    if options.nab.is_none() || options.skab.is_none() || options.servers.is_none() {
        println!(
            "Recordings: clone the public repositories numenta/NAB and waico/SKAB, and give their \
             directories with --nab and --skab; servers of SMD and ASD, as CSV files with a \
             column label, with --servers."
        );
    }
    for failure in &failures {
        println!("FAILED: {failure}");
    }
    if failures.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
