//! Results elsewhere: a page, settings for firmware, a broker. `cargo xtask test --only web` opens the
//! page in a browser.

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

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
    let data =
        page.split(r#"id="results">"#).nth(1).and_then(|rest| rest.split("</script>").next());
    let results: serde_json::Value = serde_json::from_str(data.expect("data")).expect("JSON");
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

/// Ends the program when dropped.
struct Ends(Child);

impl Drop for Ends {
    fn drop(&mut self) {
        // Both fail only if it has already ended.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The recipe of the README: alarms to a broker.
#[test]
#[cfg(unix)]
fn alarms_reach_a_broker() {
    let broker = ["/usr/sbin/mosquitto", "/usr/bin/mosquitto", "/usr/local/sbin/mosquitto"];
    let broker = broker.into_iter().find(|path| Path::new(path).exists());
    let tools = ["mosquitto_pub", "mosquitto_sub"].map(|it| Path::new("/usr/bin").join(it));
    let (Some(broker), true) = (broker, tools.iter().all(|tool| tool.exists())) else {
        println!("skipped: needs mosquitto and mosquitto-clients");
        return;
    };
    let recipe =
        "fastmmd replay pump.csv --follow --json | mosquitto_pub -h localhost -t pump/drift -l";
    assert!(include_str!("../README.md").contains(recipe));
    let at = directory("report-broker");
    let log = file(&at, "pump.csv", &noise(3000, 2000, 4.0, 3));
    let free = TcpListener::bind("127.0.0.1:0").and_then(|it| it.local_addr()).expect("a port");
    let port = free.port().to_string();
    let settings = format!("listener {port} 127.0.0.1\nallow_anonymous true\n");
    let settings = file(&at, "mosquitto.conf", &settings);
    let quiet = |command: &mut Command| {
        let command = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        Ends(command.spawn().expect("it starts"))
    };
    let _broker = quiet(Command::new(broker).args(["-c", &settings]));
    let begin = Instant::now();
    while TcpStream::connect(free).is_err() {
        assert!(begin.elapsed() < Duration::from_secs(20), "the broker does not answer");
        std::thread::sleep(Duration::from_millis(50));
    }
    let wanted = fastmmd(&["replay", &log, "--json", RARELY]);
    let count = wanted.json().len().to_string();
    // Subscribes and goes away: the broker keeps what comes.
    let listen = |more: &[&str]| {
        let place = ["-h", "localhost", "-p", &port, "-t", "pump/drift", "-q", "1"];
        let listener = ["-c", "-i", "listener", "-W", "20"];
        let done = Command::new(&tools[1]).args(place).args(listener).args(more).output();
        String::from_utf8(done.expect("it starts").stdout).expect("UTF-8")
    };
    assert_eq!(listen(&["-E"]), "");
    // Without waiting for more rows, so that it ends.
    let recipe = recipe.replace("--follow", RARELY);
    let recipe = recipe.replace("-h localhost", &format!("-q 1 -h localhost -p {port}"));
    let folder = Path::new(env!("CARGO_BIN_EXE_fastmmd")).parent().expect("a folder");
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").expect("a path"));
    let sent = Command::new("sh").args(["-c", &recipe]).env("PATH", path).current_dir(&at).status();
    assert!(sent.expect("a shell").success());
    assert_eq!(listen(&["-C", &count]), wanted.out);
    assert!(wanted.alarm_rows().len() == 1, "{}", wanted.out);
}
