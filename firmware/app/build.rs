//! Takes the settings of the boards' detector from the file that the environment variable
//! `FASTMMD_SETTINGS` names, as `fastmmd tune --save` writes it; without it, they are the usual ones.

use std::path::PathBuf;
use std::{env, fs};

/// The usual settings: see `profile::board`.
const USUAL: &str = "Config { learning_rows: 8192, ..Config::rows(8192.0) }";
/// What the boards' maps are, so that nothing else can be asked for.
const FIXED: [(&str, &str); 2] = [("features", "32"), ("seed", "1")];
/// How a log is read: of no meaning to a board.
const OF_LOGS: [&str; 6] = ["columns", "exclude", "time", "delimiter", "skip-bad", "rate"];

#[cfg_attr(test, expect(dead_code, reason = "tests use the other function of this file alone"))]
fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=FASTMMD_SETTINGS");
    let written = match env::var_os("FASTMMD_SETTINGS").map(PathBuf::from) {
        None => USUAL.to_owned(),
        Some(path) => {
            println!("cargo::rerun-if-changed={}", path.display());
            let text = fs::read_to_string(&path);
            let text = text.unwrap_or_else(|error| {
                panic!("FASTMMD_SETTINGS={}: {error}; give the whole path", path.display())
            });
            rust(&text).unwrap_or_else(|why| panic!("{}: {why}", path.display()))
        }
    };
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    fs::write(out.join("settings.rs"), written).expect("the settings can be written");
}

/// Settings of a file as an expression of Rust. Their ranges are checked where it is compiled.
pub(crate) fn rust(text: &str) -> Result<String, String> {
    let (mut fields, mut promise) = (String::new(), None);
    for (line, text) in (1..).zip(text.lines()) {
        let text = text.trim();
        if text.is_empty() || text.starts_with('#') {
            continue;
        }
        let (name, value) = text.split_once('=').ok_or(format!("line {line}: no setting"))?;
        let (name, value) = (name.trim(), value.split('#').next().unwrap_or_default().trim());
        let number = || {
            let number = value.replace('_', "").parse::<f64>();
            number.map_err(|_| format!("line {line}: {name}: not a number of rows: {value}"))
        };
        match name {
            "mean-time-between-false-alarms" => promise = Some(number()?),
            "learn" => fields.push_str(&format!("learning_rows: {}, ", number()?)),
            "relearn-after" => fields.push_str(&format!("relearn_after: Some({}), ", number()?)),
            "missing" if value == "\"reading\"" => {
                fields.push_str("not_a_number: fastmmd::monitor::NotANumber::Missing, ");
            }
            "missing" => {}
            "period" => return Err(format!("line {line}: the boards' detector has no cycle")),
            _ if OF_LOGS.contains(&name) => {}
            _ => match FIXED.iter().find(|(fixed, _)| *fixed == name) {
                Some((_, wanted)) if value == *wanted => {}
                Some((_, wanted)) => {
                    return Err(format!(
                        "line {line}: {name} of the boards is {wanted}, not {value}"
                    ));
                }
                None => return Err(format!("line {line}: no setting {name:?}")),
            },
        }
    }
    let promise = promise.ok_or("no mean-time-between-false-alarms")?;
    Ok(format!("Config {{ {fields}..Config::rows({promise:?}) }}"))
}
