//! Settings in a file: what `tune --save` writes, and `replay` and `export` read.
//!
//! The file is TOML of plain values: the names are those of the options, and what is given on the
//! command line wins.

use std::ffi::OsString;
use std::fs;
use std::marker::PhantomData;
use std::path::Path;

use clap::ValueEnum as _;
use fastmmd::Config;
use fastmmd_tune::detector::Detector;

use crate::fault::Fault;
use crate::files;
use crate::options::{Columns, Missing, listed};

/// The option that names such a file.
const OPTION: &str = "--settings";
/// The options that may stand in it.
const NAMES: [&str; 13] = [
    "columns",
    "exclude",
    "time",
    "delimiter",
    "skip-bad",
    "missing",
    "learn",
    "period",
    "relearn-after",
    "mean-time-between-false-alarms",
    "rate",
    "features",
    "seed",
];
/// Other names of options on the command line.
const ALIASES: [(&str, &str); 1] = [("mean-time-between-false-alarms", "mtbfa")];

/// Writes the settings of a detector, and how its log was read.
pub(crate) fn write(
    path: &Path,
    made_by: &str,
    columns: &Columns,
    missing: Missing,
    detector: &Detector<'_>,
) -> Result<(), Fault> {
    files::write(path, text(made_by, columns, missing, detector).as_bytes())
}

/// The settings of a detector, and how its log was read, as TOML.
pub(crate) fn text(
    made_by: &str,
    columns: &Columns,
    missing: Missing,
    detector: &Detector<'_>,
) -> String {
    let recipe = detector.recipe();
    // All of them: a new one does not compile until a file can hold it. `missing` says what a reading
    // that is not a number means.
    let Config {
        mean_time_between_false_alarms,
        learning_rows,
        not_a_number: _,
        period,
        relearn_after,
        legs: PhantomData,
    } = detector.config();
    let mut text = format!("# {made_by}\n# fastmmd replay LOG --settings FILE\n");
    let mut add = |name: &str, value: String| text.push_str(&format!("{name} = {value}\n"));
    let list = |names: &Vec<String>| {
        let names: Vec<String> = names.iter().map(|name| quoted(name)).collect();
        format!("[{}]", names.join(", "))
    };
    for (name, names) in [("columns", &columns.columns), ("exclude", &columns.exclude)] {
        if let Some(names) = names {
            add(name, list(names));
        }
    }
    if let Some(time) = &columns.time {
        add("time", quoted(time));
    }
    if let Some(delimiter) = columns.delimiter {
        add("delimiter", quoted(&delimiter.argument()));
    }
    if columns.skip_bad > 0 {
        add("skip-bad", columns.skip_bad.to_string());
    }
    if let Some(missing) = missing.to_possible_value() {
        add("missing", quoted(missing.get_name()));
    }
    add("learn", learning_rows.to_string());
    if let Some(rows) = period {
        add("period", rows.to_string());
    }
    if let Some(rows) = relearn_after {
        add("relearn-after", rows.to_string());
    }
    add("mean-time-between-false-alarms", mean_time_between_false_alarms.to_string());
    add("features", recipe.frequencies.to_string());
    add("seed", recipe.seed.to_string());
    text
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// The arguments of the program, with those of a file of settings put after the command.
pub(crate) fn expanded(mut arguments: Vec<OsString>) -> Result<Vec<OsString>, Fault> {
    let texts: Vec<&str> = arguments.iter().map(|it| it.to_str().unwrap_or_default()).collect();
    let value = |(at, text): (usize, &&str)| match text.strip_prefix(OPTION) {
        Some("") => arguments.get(at + 1).cloned(),
        Some(rest) => rest.strip_prefix('=').map(OsString::from),
        None => None,
    };
    let Some(path) = texts.iter().enumerate().find_map(value) else { return Ok(arguments) };
    let path = Path::new(&path);
    let text = fs::read_to_string(path).map_err(|error| Fault::of_io(path.display(), &error))?;
    let given = |name: &str| {
        let is = |text: &&str, name: &str| {
            let rest = text.strip_prefix("--").and_then(|text| text.strip_prefix(name));
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
        };
        let aliases = ALIASES.iter().filter(|(own, _)| *own == name).map(|(_, alias)| *alias);
        aliases.chain([name]).any(|name| texts.iter().any(|text| is(text, name)))
    };
    let mut more = Vec::new();
    for (line, text) in (1..).zip(text.lines()) {
        let wrong = |why: &str| Fault::of(path.display(), format!("line {line}: {why}"));
        let text = text.trim();
        if text.is_empty() || text.starts_with('#') {
            continue;
        }
        let (name, value) = text.split_once('=').ok_or_else(|| wrong("no setting"))?;
        let name = name.trim();
        if !NAMES.contains(&name) {
            return Err(wrong(&format!("no setting {name:?}; there are {}", NAMES.join(", "))));
        }
        let value = value_of(value).ok_or_else(|| wrong("no number, text or list of texts"))?;
        if !given(name) {
            more.push(OsString::from(format!("--{name}={value}")));
        }
    }
    // After the program and the command.
    arguments.splice(2.min(arguments.len())..2.min(arguments.len()), more);
    Ok(arguments)
}

/// A number, a text or a list of texts, as it stands on the command line.
fn value_of(text: &str) -> Option<String> {
    let text = text.trim();
    if let Some(inner) = text.strip_prefix('[') {
        let (mut rest, mut values) = (inner, Vec::new());
        loop {
            rest = rest.trim_start_matches([' ', ',']);
            if let Some(end) = rest.strip_prefix(']') {
                return is_end(end).then(|| listed(&values));
            }
            let (value, after) = string(rest)?;
            values.push(value);
            rest = after;
        }
    }
    if text.starts_with('"') {
        let (value, after) = string(text)?;
        return is_end(after).then_some(value);
    }
    let number = text.split('#').next().unwrap_or_default().trim();
    number.replace('_', "").parse::<f64>().ok().map(|_| number.replace('_', ""))
}

/// Whether nothing but a comment follows.
fn is_end(text: &str) -> bool {
    let text = text.trim();
    text.is_empty() || text.starts_with('#')
}

/// A text in quotes at the beginning, and what follows it.
fn string(text: &str) -> Option<(String, &str)> {
    let mut chars = text.strip_prefix('"')?.char_indices();
    let mut value = String::new();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return text.get(at + 2..).map(|rest| (value, rest)),
            '\\' => value.push(chars.next().map(|(_, c)| c).filter(|c| matches!(c, '"' | '\\'))?),
            c => value.push(c),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_as_written() {
        assert_eq!(value_of("1_000.5 # rows"), Some("1000.5".to_owned()));
        assert_eq!(value_of(r#""a \"b\" (°C)" # name"#), Some("a \"b\" (°C)".to_owned()));
        assert_eq!(value_of(r#"["a", "b c",]"#), Some("a,b c".to_owned()));
        assert_eq!(value_of(r#"["a, b", "c"]"#), Some(r#""a, b",c"#.to_owned()));
        assert_eq!(value_of(&quoted(r#"x\"y"#)), Some(r#"x\"y"#.to_owned()));
        for wrong in ["", "yes", "[1, 2]", "\"open", "[\"a\"", "\"a\" b", "{ a = 1 }"] {
            assert_eq!(value_of(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn what_is_given_on_the_command_line_wins() {
        let path = std::env::temp_dir().join(format!("fastmmd-{}.toml", std::process::id()));
        fs::write(&path, "# made\nlearn = 500\nmean-time-between-false-alarms = 1e4\n")
            .expect("room");
        let all = |more: &[&str]| {
            let path = path.to_str().expect("UTF-8");
            let line = [&["fastmmd", "replay", "log", "--settings", path], more].concat();
            let all = expanded(line.into_iter().map(OsString::from).collect()).expect("settings");
            all.into_iter().skip(2).filter_map(|it| it.into_string().ok()).collect::<Vec<_>>()
        };
        let both = ["--learn=500", "--mean-time-between-false-alarms=1e4"];
        assert_eq!(all(&[])[..2], both);
        assert_eq!(all(&["--mtbfa", "7"])[..2], ["--learn=500", "log"]);
        assert_eq!(all(&["--learn=9"])[..2], [both[1], "log"]);
        fs::write(&path, "lern = 500\n").expect("room");
        let line =
            ["fastmmd", "replay", &format!("--settings={}", path.display())].map(OsString::from);
        let why = expanded(line.to_vec()).expect_err("refused").to_string();
        assert!(why.contains("line 1: no setting \"lern\"; there are columns"), "{why}");
        fs::remove_file(&path).expect("it is there");
        let none = ["fastmmd", "demo"].map(OsString::from).to_vec();
        assert_eq!(expanded(none.clone()), Ok(none));
    }
}
