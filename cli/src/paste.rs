//! Settings as Rust source, and as a command.

use std::marker::PhantomData;

use clap::ValueEnum;
use fastmmd::Config;
use fastmmd::monitor::NotANumber;
use fastmmd_tune::detector::{BINS, Detector};
use fastmmd_tune::learning::default_promise;

use crate::options::{Columns, Missing, listed};
use crate::setup;

/// A map, settings and the type of a detector, to paste into firmware.
pub(crate) fn rust(detector: &Detector<'_>) -> String {
    let recipe = detector.recipe();
    let (channels, frequencies) = (recipe.inputs, recipe.frequencies);
    // All settings, so that a new one does not compile until it is written here too.
    let Config {
        mean_time_between_false_alarms,
        learning_rows,
        not_a_number,
        period,
        relearn_after,
        legs: PhantomData,
    } = detector.config();
    let preset = Config::rows(mean_time_between_false_alarms);
    let (mut fields, mut types) = (String::new(), Vec::new());
    if learning_rows != preset.learning_rows {
        fields.push_str(&format!("    learning_rows: {learning_rows},\n"));
    }
    if not_a_number != preset.not_a_number {
        fields.push_str(&format!("    not_a_number: NotANumber::{not_a_number:?},\n"));
        types.push("NotANumber");
    }
    if relearn_after != preset.relearn_after {
        fields.push_str(&format!("    relearn_after: {relearn_after:?},\n"));
    }
    let base = format!("Config::rows({mean_time_between_false_alarms:?})");
    let mut config = match fields.as_str() {
        "" => base,
        fields => format!("Config {{\n{fields}    ..{base}\n}}"),
    };
    let (mut of_config, mut legs) = ("Config".to_owned(), String::new());
    if let Some(rows) = period {
        config.push_str(&format!("\n.with_period({rows:?})"));
        of_config = format!("Config<Cyclic<{BINS}>>");
        legs = format!(", Cyclic<{BINS}>");
        types.insert(0, "Cyclic");
    }
    let types = match types.as_slice() {
        [] => String::new(),
        [one] => format!("use fastmmd::monitor::{one};\n"),
        more => format!("use fastmmd::monitor::{{{}}};\n", more.join(", ")),
    };
    format!(
        "{types}use fastmmd::{{Config, Detector, Fourier}};\n\n\
         static MAP: Fourier<{channels}, {frequencies}> = Fourier::additive({seed});\n\n\
         const CONFIG: {of_config} = {config};\n\n\
         type Drift = Detector<'static, Fourier<{channels}, {frequencies}>{legs}>;",
        seed = recipe.seed,
    )
}

/// Channels of the shapes of the library for C (`capi/`), and those that have a cycle, too. Each has
/// [`setup::FREQUENCIES`] and [`setup::SEED`].
const C_SHAPES: [u32; 5] = [1, 2, 3, 4, 6];
const C_CYCLES: [u32; 2] = [1, 3];

/// The same settings as C, for `fastmmd.h`; `None` if its library has no such shape.
pub(crate) fn c(detector: &Detector<'_>) -> Option<String> {
    let recipe = detector.recipe();
    // All settings, so that a new one does not compile until it is written here too.
    let Config {
        mean_time_between_false_alarms: promise,
        learning_rows,
        not_a_number,
        period,
        relearn_after,
        legs: PhantomData,
    } = detector.config();
    let usual = recipe.frequencies as usize == setup::FREQUENCIES && recipe.seed == setup::SEED;
    let shapes = if period.is_some() { C_CYCLES.as_slice() } else { C_SHAPES.as_slice() };
    let channels = recipe.inputs;
    if !usual || !shapes.contains(&channels) {
        return None;
    }
    let cycle = if period.is_some() { "_cycle" } else { "" };
    let shape = format!("fastmmd_f32_{channels}{cycle}");
    let bytes = format!("{}_BYTES", shape.to_uppercase());
    let mut set = format!("    settings.learning_rows = {learning_rows};\n");
    match not_a_number {
        NotANumber::Refused => {}
        NotANumber::Missing => {
            set.push_str("    settings.not_a_number = FASTMMD_NAN_MISSING;\n");
        }
    }
    if let Some(rows) = period {
        set.push_str(&format!("    settings.period = {rows:?}f;\n"));
    }
    if let Some(rows) = relearn_after {
        set.push_str(&format!("    settings.relearn_after = {rows};\n"));
    }
    Some(format!(
        "#include \"fastmmd.h\"\n\n\
         static uint64_t memory[FASTMMD_WORDS({bytes})];\n\
         static fastmmd_detector *detector;\n\n\
         /* 0, or what is wrong. */\n\
         int32_t drift_begin(void)\n{{\n    \
             fastmmd_settings settings;\n    \
             (void)fastmmd_defaults(&settings, {promise:?}f);\n\
         {set}    \
             return fastmmd_create(memory, sizeof memory, &{shape}, &settings, &detector);\n}}\n\n\
         /* A verdict: FASTMMD_ALARM if something has changed. */\n\
         int32_t drift_push(const float row[{channels}], fastmmd_alarm *alarm)\n{{\n    \
             return fastmmd_push_f32(detector, row, alarm);\n}}"
    ))
}

/// The command that runs this detector over a log.
pub(crate) fn command(
    log: &str,
    columns: &Columns,
    missing: Missing,
    detector: &Detector<'_>,
) -> String {
    let (config, recipe) = (detector.config(), detector.recipe());
    let mut line = format!("fastmmd replay {}{}", quoted(log), reading(columns));
    line.push_str(&format!(" --learn {}", config.learning_rows));
    if let Some(rows) = config.period {
        line.push_str(&format!(" --period {rows}"));
    }
    if let Some(rows) = config.relearn_after {
        line.push_str(&format!(" --relearn-after {rows}"));
    }
    if let Some(missing) = missing.to_possible_value().filter(|_| missing != Missing::Reading) {
        line.push_str(&format!(" --missing {}", missing.get_name()));
    }
    let promise = config.mean_time_between_false_alarms;
    if default_promise(&config).to_bits() != promise.to_bits() {
        line.push_str(&format!(" --mean-time-between-false-alarms {promise}"));
    }
    if recipe.frequencies as usize != setup::FREQUENCIES {
        line.push_str(&format!(" --features {}", recipe.frequencies));
    }
    if recipe.seed != setup::SEED {
        line.push_str(&format!(" --seed {}", recipe.seed));
    }
    line
}

/// The options that say how a log is read.
pub(crate) fn reading(columns: &Columns) -> String {
    let Columns { columns, exclude, time, dates, delimiter, skip_bad } = columns;
    let mut line = String::new();
    let list = |names: &Vec<String>| listed(names);
    for (option, value) in [
        ("columns", columns.as_ref().map(list)),
        ("exclude", exclude.as_ref().map(list)),
        ("time", time.clone()),
        ("dates", dates.map(|order| order.argument().to_owned())),
        ("delimiter", delimiter.map(|delimiter| delimiter.argument())),
        ("skip-bad", (*skip_bad > 0).then(|| skip_bad.to_string())),
    ] {
        if let Some(value) = value {
            line.push_str(&format!(" --{option} {}", quoted(&value)));
        }
    }
    line
}

/// A word of a shell command.
pub(crate) fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./,".contains(c);
    if word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::setup::map;

    /// What is written, compiled unchanged.
    mod every {
        include!("../tests/tuned/every.rs");

        pub(super) fn settings() -> Config {
            let detector = Drift::new(&MAP, CONFIG).expect("valid settings");
            detector.config().with_legs()
        }
    }

    fn written(config: Config) -> String {
        let map = map(2, 16, 7).expect("a small map");
        rust(&Detector::new(&map, config).expect("valid settings"))
    }

    #[test]
    fn every_setting_is_written_and_compiles() {
        // None of these is that of the preset.
        let config = Config {
            mean_time_between_false_alarms: 2500.5,
            learning_rows: 300,
            not_a_number: NotANumber::Missing,
            period: Some(24.5),
            relearn_after: Some(5000),
            legs: PhantomData,
        };
        assert_eq!(every::settings(), config);
        assert_eq!(written(config).trim(), include_str!("../tests/tuned/every.rs").trim());
    }

    #[test]
    fn a_preset_is_written_as_such() {
        let text = written(Config::rows(1e4));
        assert!(text.contains("const CONFIG: Config = Config::rows(10000.0);\n"), "{text}");
    }

    #[test]
    fn c_is_written_for_the_shapes_of_its_library_and_compiles() {
        let of = |channels, frequencies, period| {
            let config = Config {
                not_a_number: NotANumber::Missing,
                relearn_after: Some(5000),
                period,
                ..Config::rows(2500.5)
            };
            let map = map(channels, frequencies, setup::SEED).expect("a small map");
            c(&Detector::new(&map, config).expect("valid settings"))
        };
        assert_eq!((of(3, 16, None), of(5, 32, None), of(2, 32, Some(50.0))), (None, None, None));
        let header = concat!(env!("CARGO_MANIFEST_DIR"), "/../capi/include");
        for (channels, period) in [(1, None), (4, None), (6, None), (3, Some(24.5))] {
            let text = of(channels, 32, period).expect("a shape");
            assert!(text.contains("fastmmd_defaults(&settings, 2500.5f);"), "{text}");
            assert_eq!(text.contains("_cycle, &settings"), period.is_some());
            assert_eq!(text.contains("settings.period = 24.5f;"), period.is_some());
            let name = format!("fastmmd-{}-{channels}.c", std::process::id());
            let file = std::env::temp_dir().join(name);
            std::fs::write(&file, format!("{text}\n")).expect("room");
            let strict = ["-fsyntax-only", "-std=c99", "-Wall", "-Wextra", "-Werror", "-I", header];
            let told = std::process::Command::new("cc").args(strict).arg(&file).output();
            std::fs::remove_file(&file).expect("it is there");
            let told = told.expect("a C compiler");
            assert!(told.status.success(), "{}", String::from_utf8_lossy(&told.stderr));
        }
    }

    /// The lines of the library's table, `name: Fourier<channels, frequencies>, channels, legs;`, are
    /// the shapes that are written here.
    #[test]
    fn the_shapes_of_c_are_those_of_its_library() {
        let text = include_str!("../../capi/src/shapes.rs");
        let lines = text.lines().filter_map(|line| line.trim().strip_prefix("fastmmd_f32_"));
        let mut compiled: Vec<&str> = lines.collect();
        let plain = C_SHAPES.map(|channels| (channels, "", "All".to_owned()));
        let cyclic = C_CYCLES.map(|channels| (channels, "_cycle", format!("Cyclic<{BINS}>")));
        let frequencies = setup::FREQUENCIES;
        let mut written: Vec<String> = plain
            .into_iter()
            .chain(cyclic)
            .map(|(channels, cycle, legs)| {
                format!(
                    "{channels}{cycle}: Fourier<{channels}, {frequencies}>, {channels}, {legs};"
                )
            })
            .collect();
        compiled.sort_unstable();
        written.sort_unstable();
        assert_eq!(compiled, written);
    }

    #[test]
    fn words_with_spaces_are_quoted() {
        assert_eq!(quoted("a/b-1.csv"), "a/b-1.csv");
        assert_eq!(quoted("it's here"), r"'it'\''s here'");
    }
}
