//! `tune` on a file.

use crate::common::{directory, fastmmd, file, noise};
use fastmmd_reference::generate::Generator;

/// The Rust source that the command prints, compiled unchanged.
#[allow(dead_code, reason = "it only has to compile")]
mod pasted {
    include!("tuned/noise.rs");

    pub(crate) fn check() -> bool {
        Drift::new(&MAP, CONFIG).is_ok()
    }
}

#[allow(dead_code, reason = "it only has to compile")]
mod pasted_cycle {
    include!("tuned/cycle.rs");

    pub(crate) fn check() -> bool {
        Drift::new(&MAP, CONFIG).is_ok()
    }
}

/// The Rust source in the output.
fn rust(text: &str) -> &str {
    text.split("To paste:\n\n").nth(1).expect("something to paste")
}

/// The command in the output, split into words.
fn command(text: &str) -> Vec<&str> {
    let line = text.split("To try:\n\n").nth(1).and_then(|rest| rest.lines().next());
    line.expect("a command").split(' ').skip(1).collect()
}

/// Two channels with a cycle of 150 rows and one without.
fn cyclic(rows: usize, seed: u64) -> String {
    let mut random = Generator::new(seed);
    let mut text = "time,a,b,c\n".to_owned();
    for row in 0..rows {
        let turn = (fastmmd_reference::real(row) * std::f64::consts::TAU / 150.0).sin();
        let [a, b, c] = [4.0 * turn, 2.0 * turn * turn, 0.0].map(|x| x + 0.3 * random.normal());
        text.push_str(&format!("{row},{a:.4},{b:.4},{c:.4}\n"));
    }
    text
}

#[test]
fn changes_are_tried_and_settings_printed_as_rust_and_as_a_command() {
    let at = directory("tune");
    let log = file(&at, "log.csv", &noise(9000, 9000, 0.0, 1));
    let ran = fastmmd(&["tune", &log]);
    assert_eq!(ran.code, 0, "{ran:?}");
    for part in [
        "No cycle was found.",
        "9000 healthy rows of 3 channels",
        "promised",
        "median delay",
        "step of 1 deviation",
        "ramp to 2 deviations",
        "2 times the spread",
        "1/2 of the spread",
        "stuck",
        "1 in 10 readings lost",
        "as many as by default",
        "bytes of RAM",
        "Cortex-M4F",
    ] {
        assert!(ran.out.contains(part), "{part:?} is missing in\n{}", ran.out);
    }
    let widest = ran.out.lines().filter(|line| !line.contains(&log)).map(|it| it.chars().count());
    assert!(widest.max() <= Some(80), "{}", ran.out);
    assert_eq!(rust(&ran.out), include_str!("tuned/noise.rs"));
    assert!(pasted::check());
    assert!(fastmmd(&command(&ran.out)).code < 2);

    let lines = fastmmd(&["tune", &log, "--json"]).json();
    let candidates: Vec<_> = lines.iter().filter(|line| line["event"] == "candidate").collect();
    let [only] = candidates.as_slice() else { panic!("{lines:?}") };
    assert_eq!((&only["suggested"], &only["learning_rows"]), (&true.into(), &4096.into()));
    assert!(only["instructions_m0"].as_u64() > only["instructions_m4f"].as_u64(), "{only}");
    assert!(only["ram_bytes"].as_u64() > Some(500));
    let trials: Vec<_> = lines.iter().filter(|line| line["event"] == "trial").collect();
    assert_eq!(trials.len(), 18);
    for trial in trials {
        let (found, tried) = (trial["found"].as_u64(), trial["tried"].as_u64());
        assert!(found.is_some() && found == tried && tried >= Some(5), "{trial}");
        let most = if trial["change"] == "ramp" { 700 } else { 200 };
        assert!(trial["median_delay"].as_u64() < Some(most), "{trial}");
    }
}

#[test]
fn a_cycle_is_found_and_used() {
    let at = directory("tune-cycle");
    let log = file(&at, "log.csv", &cyclic(6000, 1));
    let ran = fastmmd(&["tune", &log]);
    assert!(ran.out.contains("A cycle of 150 rows, 40.0 times in the log."), "{}", ran.out);
    assert!(ran.out.contains("With the cycle "), "{}", ran.out);
    assert_eq!(rust(&ran.out), include_str!("tuned/cycle.rs"));
    assert!(pasted_cycle::check());
    assert!(command(&ran.out).contains(&"--period"));
    assert!(fastmmd(&command(&ran.out)).code < 2);
    let lines = fastmmd(&["tune", &log, "--json"]).json();
    assert_eq!(lines[0]["event"], "cycle");
    let explained = lines[0]["explained"].as_array().expect("a number for each channel");
    assert!(explained[0].as_f64() > Some(0.9) && explained[2].as_f64() < Some(0.1));
    // One that is given is not looked for.
    let given = fastmmd(&["tune", &log, "--period", "150"]).out;
    assert!(!given.contains("A cycle of") && given.contains("> cycle 150"), "{given}");
    // Too few of them to learn from.
    let few = file(&at, "few.csv", &cyclic(1000, 2));
    let ran = fastmmd(&["tune", &few]);
    assert!(ran.out.contains("note: too few cycles to use it: 1"), "{}", ran.out);
}

#[test]
fn what_fits_into_the_ram_is_suggested() {
    let at = directory("tune-ram");
    let log = file(&at, "log.csv", &noise(4000, 4000, 0.0, 1));
    let all = fastmmd(&["tune", &log, "--json"]).json();
    let fits = fastmmd(&["tune", &log, "--json", "--ram", "4600"]).json();
    assert!(all[0]["ram_bytes"].as_u64() > Some(4600));
    assert!(fits[0]["ram_bytes"].as_u64() <= Some(4600), "{}", fits[0]);
    assert!(fits[0]["features"].as_u64() < all[0]["features"].as_u64());
    let ran = fastmmd(&["tune", &log, "--ram", "10"]);
    assert!(ran.code == 2 && ran.err.contains("bytes of RAM are needed"), "{ran:?}");
}

#[test]
fn settings_are_those_that_were_given() {
    let at = directory("tune-given");
    let log = file(&at, "log.csv", &noise(4000, 4000, 0.0, 4));
    let given = ["--learn", "1000", "--mtbfa", "2000", "--features", "16", "--within", "50"];
    let line = fastmmd(&[&["tune", &log, "--json"], &given[..]].concat()).json().swap_remove(0);
    assert_eq!((&line["learning_rows"], &line["features"]), (&1000.into(), &16.into()));
    assert_eq!((&line["within"], &line["watched"]), (&50.into(), &3000.into()));
    assert_eq!(line["mean_time_between_false_alarms"], 2000.0);
}

/// A random walk has no level of its own: why a ramp in it is missed is said.
#[test]
fn what_is_missed_has_a_reason() {
    let at = directory("tune-missed");
    let (mut random, mut level) = (Generator::new(2), 0.0);
    let mut text = "a\n".to_owned();
    for _ in 0..6000 {
        level += random.normal();
        text.push_str(&format!("{level:.4}\n"));
    }
    let text = text.replacen('a', "a very long name of a channel that does not fit at all", 1);
    let log = file(&at, "log.csv", &text);
    let ran = fastmmd(&["tune", &log]);
    let table = ran.out.lines().filter(|line| line.starts_with("a very") && line.contains("/"));
    assert!(table.map(|line| line.chars().count()).max() <= Some(80), "{}", ran.out);
    let said = " is missed most:\nits level ";
    assert!(ran.out.contains(said), "{}", ran.out);
    // The control: in noise nothing is missed.
    let log = file(&at, "noise.csv", &noise(9000, 9000, 0.0, 1));
    assert!(!fastmmd(&["tune", &log]).out.contains("is missed most"));
}

/// Notes on twelve channels, with long names, fit as well; what is compared at another promise than is
/// set says so.
#[test]
fn everything_but_what_is_pasted_fits_80_columns() {
    let at = directory("tune-widths");
    let mut random = Generator::new(8);
    let names: Vec<String> = (0..12).map(|it| format!("temperature of bearing {it}")).collect();
    let mut text = names.join(",") + "\n";
    let mut level = 0.0;
    for row in 0..6000 {
        let turn = 6.0 * (f64::from(row) * std::f64::consts::TAU / 300.0).sin();
        level += random.normal();
        let mut cells: Vec<String> =
            (0..12).map(|_| format!("{:.2}", turn + random.normal())).collect();
        (cells[0], cells[1], cells[2]) =
            (format!("{level:.2}"), "20.5".to_owned(), format!("{:.0}", random.normal()));
        if row % 9 == 0 {
            cells[3].clear();
        }
        text.push_str(&(cells.join(",") + "\n"));
    }
    let log = file(&at, "log.csv", &text);
    let ran = fastmmd(&["tune", &log]);
    assert!(ran.code == 0 && ran.out.matches("note: ").count() >= 4, "{ran:?}");
    let lines: Vec<_> = ran.out.lines().collect();
    let is_broken = |pair: &[&str]| pair[0].starts_with("note: ") && pair[1].starts_with("  ");
    assert!(lines.windows(2).any(is_broken), "nothing is broken: {}", ran.out);
    for line in ran.out.lines().filter(|line| !line.contains(&log)) {
        assert!(line.chars().count() <= 80, "{line}");
    }
    let lines = fastmmd(&["tune", &log, "--json"]).json();
    let promise = |line: &&serde_json::Value| line["mean_time_between_false_alarms"].as_f64();
    let all: Vec<_> = lines.iter().filter(|line| line["event"] == "candidate").collect();
    let least = all.iter().filter_map(promise).reduce(f64::min).expect("candidates");
    let most = all.iter().filter_map(promise).reduce(f64::max).expect("candidates");
    assert!(least < most, "the same promise: {all:?}");
    let said = format!("Compared at one false alarm in {least} rows:\n");
    assert!(ran.out.contains(&said), "{said} {}", ran.out);
}

/// What is saved is what is printed, and `replay` and `export` read it.
#[test]
fn settings_are_saved_and_read() {
    let at = directory("tune-saved");
    let log = file(&at, "log.csv", &cyclic(6000, 1));
    let path = |name: &str| at.join(name).to_str().expect("UTF-8").to_owned();
    let (toml, first, second) = (path("pump.toml"), path("1.bin"), path("2.bin"));
    let ran = fastmmd(&["tune", &log, "--exclude", "c", "--save", &toml]);
    assert!(ran.code == 0 && ran.out.ends_with(&format!("Saved: {toml}\n")), "{ran:?}");
    let text = std::fs::read_to_string(&toml).expect("settings");
    for line in
        ["exclude = [\"c\"]\n", "period = 150\n", "features = 32\n", "missing = \"reading\"\n"]
    {
        assert!(text.contains(line), "{text}");
    }
    let printed = fastmmd(&[command(&ran.out).as_slice(), &["--json"]].concat());
    let saved = fastmmd(&["replay", &log, "--settings", &toml, "--json"]);
    assert_eq!((saved.code, &saved.out), (printed.code, &printed.out));
    let mut words = command(&ran.out);
    words[0] = "export";
    assert_eq!(fastmmd(&[words.as_slice(), &["-o", &first]].concat()).code, 0);
    assert_eq!(fastmmd(&["export", &log, "--settings", &toml, "-o", &second]).code, 0);
    assert_eq!(std::fs::read(&first).expect("a state"), std::fs::read(&second).expect("a state"));
    // What is given wins.
    let other = fastmmd(&["replay", &log, "--settings", &toml, "--learn", "1500", "--json"]);
    assert_eq!(other.json().pop().expect("a summary")["learned"], 1500);
    let wrong = file(&at, "wrong.toml", "lern = 3\n");
    let ran = fastmmd(&["replay", &log, "--settings", &wrong]);
    assert!(ran.code == 2 && ran.err.contains("line 1: no setting \"lern\""), "{ran:?}");
}

/// Names of columns may hold commas, in files of settings and in commands.
#[test]
fn names_with_commas_are_saved_and_read() {
    let at = directory("tune-commas");
    let text = noise(3000, 2500, 9.0, 6).replacen("a,b,c", "\"flow, in\",b,c", 1);
    let log = file(&at, "log.csv", &text);
    let toml = at.join("pump.toml").to_str().expect("UTF-8").to_owned();
    let wanted = "\"flow, in\",b";
    let ran = fastmmd(&["tune", &log, "--columns", wanted, "--healthy", "2000", "--save", &toml]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.out.contains(&format!(" --columns '{wanted}' ")), "{}", ran.out);
    let [saved, given] = [["--settings", toml.as_str()], ["--columns", wanted]].map(|more| {
        let learn = ["--learn", "1000", "--mtbfa", "5000", "--json"];
        fastmmd(&[&["replay", &log], &more[..], &learn[..]].concat())
    });
    assert_eq!((saved.code, &saved.out), (given.code, &given.out));
    assert_eq!(saved.json().pop().expect("a summary")["channels"][0]["name"], "flow, in");
}

/// A drift in the log shows as false alarms.
#[test]
fn a_log_that_is_not_healthy_is_said_so() {
    let at = directory("tune-drift");
    let mut text = noise(3000, 3000, 0.0, 5);
    for step in [3.0, -3.0, 6.0, -6.0, 9.0, -9.0] {
        let (_, rows) = text.split_once('\n').expect("a heading");
        let more = noise(400, 0, step, rows.len() as u64);
        text.push_str(more.split_once('\n').expect("a heading").1);
    }
    let log = file(&at, "log.csv", &text);
    let ran = fastmmd(&["tune", &log, "--learn", "2500"]);
    assert!(ran.out.contains("is the log healthy to its end?"), "{}", ran.out);
}
