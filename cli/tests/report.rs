//! Results elsewhere: a page, settings for firmware. `cargo xtask test --only web` opens the page in a
//! browser.

use std::fs;

use crate::common::{RARELY, directory, fastmmd, file, noise};

#[path = "../../firmware/app/build.rs"]
mod build;

/// What would make a browser ask for something.
fn asks_elsewhere(page: &str) -> bool {
    ["://", "src=", "url(", "@import", "href=\"style"].iter().any(|word| page.contains(word))
}

#[test]
fn a_report_is_one_file_with_everything() {
    let at = directory("report-file");
    let log = file(&at, "a <b> & \"c\".csv", &noise(3000, 2000, 4.0, 3));
    let report = at.join("report.html").to_str().expect("UTF-8").to_owned();
    let ran = fastmmd(&["replay", &log, "--json", RARELY, "--report", &report]);
    assert_eq!(ran.code, 1, "{ran:?}");
    let page = fs::read_to_string(&report).expect("a report");
    assert!(!asks_elsewhere(&page));
    assert!(asks_elsewhere(include_str!("../../web/page/index.html")), "the control");
    let results = results(&page);
    assert!(results["alarm_counts"].is_null(), "a few have a line each");
    let rows = |list: &serde_json::Value| {
        let all = list.as_array().expect("alarms");
        all.iter().map(|alarm| alarm["row"].as_u64().expect("a row")).collect::<Vec<_>>()
    };
    assert_eq!(rows(&results["alarms"]), rows(&ran.alarms().into()));
    assert_eq!(Some(&results["summary"]), ran.json().last());
    assert!(results["command"].as_str().is_some_and(|it| it.starts_with("fastmmd replay '")));
    assert!(results["look"]["lines"][0].as_str().is_some_and(|line| line.contains(": CSV")));
    // What cannot be.
    for (arguments, why) in [
        (vec!["replay", &log, "--report", "report.txt"], "must end in .html"),
        (vec!["replay", &log, "--follow", "--report", &report], "cannot be used with"),
        (vec!["replay", &log, &log, "--report", &report], "--report is for a single log"),
    ] {
        let ran = fastmmd(&arguments);
        assert!(ran.code == 2 && ran.err.contains(why), "{}", ran.err);
    }
}

/// What a report has in it.
fn results(page: &str) -> serde_json::Value {
    let data = page.split(r#"id="results">"#).nth(1).expect("data");
    serde_json::from_str(data.split("</script>").next().expect("its end")).expect("JSON")
}

/// Pulses, each an alarm: more than are kept one by one. The picture and the report count all.
#[test]
fn more_alarms_than_have_a_line_each_are_counted() {
    let at = directory("report-crowded");
    let mut random = fastmmd_reference::generate::Generator::new(5);
    let mut text = "a\n".to_owned();
    for row in 0..800_000 {
        let pulse = if row >= 3000 && row % 400 < 20 { 8.0 } else { 0.0 };
        text.push_str(&format!("{:.3}\n", random.normal() + pulse));
    }
    let log = file(&at, "pulses.csv", &text);
    let name = |ending: &str| at.join(ending).to_str().expect("UTF-8").to_owned();
    let (report, plot) = (name("report.html"), name("plot.svg"));
    let often = "--mean-time-between-false-alarms=100";
    let options = ["--json", "--learn", "2500", often, "--report", &report, "--plot", &plot];
    let ran = fastmmd(&[&["replay", &log], options.as_slice()].concat());
    let all = ran.alarms().len();
    assert!(ran.code == 1 && all > 1000, "{all} alarms, {}", ran.err);
    let results = results(&fs::read_to_string(&report).expect("a report"));
    assert_eq!(results["alarms"].as_array().map(Vec::len), Some(1000));
    let counts = results["alarm_counts"].as_array().expect("counts");
    assert_eq!(Some(counts.len()), results["ratios"].as_array().map(Vec::len));
    let sum: u64 = counts.iter().filter_map(serde_json::Value::as_u64).sum();
    assert_eq!(usize::try_from(sum), Ok(all));
    // Also after the last of the first thousand.
    let last = &results["alarms"][999]["row"];
    let length = results["length"].as_u64().expect("rows of a stretch");
    let after = usize::try_from(last.as_u64().expect("a row") / length).expect("small") + 1;
    assert!(counts[after..].iter().any(|count| count.as_u64() > Some(0)), "{last}");
    let picture = fs::read_to_string(&plot).expect("a picture");
    assert!(picture.contains("alarms, at most "), "no strip");
}

#[test]
fn the_firmware_reads_the_settings_that_tune_saves() {
    let at = directory("report-settings");
    let log = file(&at, "log.csv", &noise(6000, 9999, 0.0, 2));
    let saved = at.join("log.toml").to_str().expect("UTF-8").to_owned();
    let ran = fastmmd(&["tune", &log, "--learn", "2000", "--save", &saved]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let text = fs::read_to_string(&saved).expect("settings");
    let written = build::rust(&text).expect("settings of a board");
    assert!(written.contains("learning_rows: 2000, ..Config::rows(10000.0)"), "{written}");
}

#[test]
fn settings_of_a_file_are_those_of_the_detector() {
    let text = "# fastmmd tune pump.csv\ncolumns = [\"a\", \"b\"]\nmissing = \"reading\"\nlearn = 3_000\n\
                relearn-after = 9000 # a shift\nmean-time-between-false-alarms = 10000\nfeatures = 32\n\
                seed = 1\n";
    let wanted = "Config { not_a_number: fastmmd::monitor::NotANumber::Missing, learning_rows: 3000, \
                  relearn_after: Some(9000), ..Config::rows(10000.0) }";
    assert_eq!(build::rust(text).as_deref(), Ok(wanted));
    for (wrong, why) in [
        ("learn = 3000", "no mean-time"),
        ("mean-time-between-false-alarms = soon", "line 1: mean-time"),
        ("\nperiod = 100", "line 2: the boards' detector has no cycle"),
        ("features = 16", "features of the boards is 32, not 16"),
        ("speed = 1", "no setting \"speed\""),
        ("learn", "line 1: no setting"),
    ] {
        let told = build::rust(wrong).expect_err(wrong);
        assert!(told.contains(why), "{told}");
    }
}
