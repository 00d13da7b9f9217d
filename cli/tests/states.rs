//! `export`, `inspect`, `compare` and `merge`.

use std::fs;

use crate::common::{Ran, directory, fastmmd, file, noise};
use fastmmd::monitor::{Cyclic, Lean};
use fastmmd::{Config, Detector, Embedding, FeatureMap, Fourier, Recipe};
use fastmmd_reference::generate::Generator;
use fastmmd_reference::tolerance;
use serde_json::{Value, json};

fn ok(arguments: &[&str]) -> Ran {
    let ran = fastmmd(arguments);
    assert_eq!(ran.code, 0, "{arguments:?} {ran:?}");
    ran
}

/// A file of a directory as text.
struct Folder(std::path::PathBuf);

impl Folder {
    fn path(&self, name: &str) -> String {
        self.0.join(name).to_str().expect("UTF-8").to_owned()
    }
}

#[test]
fn what_is_exported_goes_on_as_the_log_would() {
    let at = Folder(directory("states-export"));
    let text = noise(6000, 4000, 4.0, 1);
    let lines: Vec<&str> = text.lines().collect();
    let whole = file(&at.0, "whole.csv", &text);
    let state = at.path("reference.bin");
    for (learn, options) in [
        (2000, vec![]),
        (1500, vec!["--features", "64", "--mtbfa", "4000"]),
        (2000, vec!["--period", "100.5"]),
        (1500, vec!["--relearn-after", "300"]),
    ] {
        let rows = learn.to_string();
        let options = [&["--learn", &rows], &options[..]].concat();
        // The drift in it raises an alarm and is not learned.
        let exported = ok(&[&["export", &whole, "-o", &state], &options[..]].concat());
        assert!(exported.out.contains("3 channels"), "{}", exported.out);
        let rest = format!("{}\n{}\n", lines[0], lines[learn + 1..].join("\n"));
        let rest = file(&at.0, "rest.csv", &rest);
        let resumed = fastmmd(&["replay", &rest, "--state", &state, "--json"]);
        let at_once = fastmmd(&[&["replay", &whole, "--json"], &options[..]].concat());
        let moved: Vec<usize> = resumed.alarm_rows().iter().map(|row| row + learn).collect();
        assert_eq!(moved, at_once.alarm_rows(), "{options:?}");
        assert!(!moved.is_empty());
    }
}

#[test]
fn learning_may_span_two_logs() {
    let at = Folder(directory("states-span"));
    let text = noise(4000, 3000, 4.0, 1);
    let lines: Vec<&str> = text.lines().collect();
    let whole = file(&at.0, "whole.csv", &text);
    for (cut, options) in [(999, vec![]), (500, vec!["--period", "100"]), (17, vec![])] {
        let state = at.path(&format!("{cut}.bin"));
        let first = file(&at.0, "first.csv", &(lines[..=cut].join("\n") + "\n"));
        let second = format!("{}\n{}\n", lines[0], lines[cut + 1..].join("\n"));
        let second = file(&at.0, "second.csv", &second);
        let learn = ["--learn", "1000", "--json"];
        let begun = [&["replay", &first, "--state", &state], &learn[..], &options].concat();
        let begun = ok(&begun).json().pop().expect("a summary");
        assert_eq!(begun["learning_rows_missing"], 1000 - cut, "{begun}");
        let resumed = fastmmd(&["replay", &second, "--state", &state, "--json"]);
        let at_once = fastmmd(&[&["replay", &whole], &learn[..], &options].concat());
        let moved: Vec<usize> = resumed.alarm_rows().iter().map(|row| row + cut).collect();
        assert_eq!((moved, resumed.code), (at_once.alarm_rows(), 1), "{options:?}");
        // Without --state, a log that is too short is an error.
        let short = fastmmd(&[&["replay", &first], &learn[..], &options].concat());
        assert_eq!(short.code, 2);
        assert!(short.err.contains("1000 are needed"), "{}", short.err);
    }
}

#[test]
fn a_log_that_drifts_is_exported_with_a_warning() {
    let at = Folder(directory("states-warning"));
    let log = file(&at.0, "log.csv", &noise(4000, 3000, 4.0, 1));
    let ran = ok(&["export", &log, "--learn", "2000", "-o", &at.path("x.bin")]);
    assert!(ran.out.contains("is the log healthy?"), "{}", ran.out);
}

#[test]
fn states_are_explained() {
    let at = Folder(directory("states-inspect"));
    let log = file(&at.0, "log.csv", &noise(3000, 3000, 0.0, 1));
    let state = at.path("x.bin");
    let options = ["--learn", "2000", "--period", "100", "--relearn-after", "900"];
    ok(&[&["export", &log, "-o", &state], &options[..]].concat());
    let text = ok(&["inspect", &state]).out;
    for part in [
        "detector",
        "channels                       3",
        "legs                           level, jump, spread, range, values, innovations, stuck",
        "parts of a cycle               32",
        "monitoring",
        "period                         100.0 rows",
        "relearn after                  900 rows",
        "not a number                   missing",
        "steadiness                     steady, steady, steady",
        "spread of channel 2 over 64 rows: ",
        "innovations of all channels over ",
    ] {
        assert!(text.contains(part), "{part:?} is missing in\n{text}");
    }
    let json: Value = serde_json::from_str(&ok(&["inspect", &state, "--json"]).out).expect("JSON");
    assert_eq!((&json["channels"], &json["rows"]), (&3.into(), &2000.into()));
    assert_eq!(json["levels"].as_array().map(Vec::len), Some(3));
    assert!(json["statistics"].as_array().is_some_and(|all| all.len() > 20), "{json}");

    let map = Fourier::<3, 64>::gaussian(7);
    let mut bytes = [0; Recipe::SAVED_BYTES];
    map.recipe().save(&mut bytes).expect("long enough");
    fs::write(&state, bytes).expect("a small file");
    let text = ok(&["inspect", &state]).out;
    assert!(text.contains("map") && text.contains("seed                           7"), "{text}");
    let mut embedding = Embedding::new(&map);
    embedding.add(&map, &[1.0; 3]).expect("within reach");
    let mut bytes = [0; Embedding::<Fourier<3, 64>>::SAVED_BYTES];
    embedding.save(&map, &mut bytes).expect("long enough");
    fs::write(&state, bytes).expect("a small file");
    assert!(ok(&["inspect", &state]).out.contains("embedding"));

    for (bytes, why) in [
        (&b"something else"[..], "the bytes are not a saved state"),
        (&bytes[..200], "the saved state is cut short or has bytes left over"),
    ] {
        fs::write(&state, bytes).expect("a small file");
        let ran = fastmmd(&["inspect", &state]);
        assert_eq!((ran.code, ran.err), (2, format!("error: {state}: {why}\n")));
    }
}

/// Three devices with the scale of the first; the third one differs.
fn fleet(at: &Folder) -> [String; 3] {
    let names = ["a", "b", "c"].map(|name| at.path(&format!("{name}.bin")));
    for (index, (name, step)) in names.iter().zip([9999, 9999, 0]).enumerate() {
        let seed = u64::try_from(index).expect("few") + 1;
        let log = file(&at.0, &format!("{index}.csv"), &noise(3000, step, 0.5, seed));
        if index == 0 {
            ok(&["export", &log, "-o", name, "--learn", "2500"]);
        } else {
            ok(&["export", &log, "-o", name, "--scale-from", &names[0]]);
        }
    }
    names
}

#[test]
fn devices_are_compared_and_merged() {
    let at = Folder(directory("states-fleet"));
    let [a, b, c] = fleet(&at);
    let alike = ok(&["compare", &a, &b]);
    assert!(alike.out.contains("no difference"), "{}", alike.out);
    let other = fastmmd(&["compare", &a, &c, "--json"]);
    assert_eq!(other.code, 1, "{other:?}");
    let json = &other.json()[0];
    tolerance::TOOL_SURE.hold_below("p", json["p_value"].as_f64().expect("a number"));
    assert!(json["mmd2_biased"].as_f64() > json["mmd2_expected"].as_f64());
    assert_eq!(json["channel"], 1);

    let all = at.path("all.bin");
    let merged = ok(&["merge", &a, &b, &c, "-o", &all]).out;
    assert!(merged.contains("3 devices"), "{merged}");
    assert!(merged.contains("channels are predicted from their past as"), "{merged}");
    assert_eq!(ok(&["inspect", &all, "--json"]).json()[0]["devices"], 3);
    // The first alone reports drift on the third device's log; the merged one does not.
    for (state, code) in [(&a, 1), (&all, 0)] {
        let copy = at.path("copy.bin");
        fs::copy(state, &copy).expect("a small file");
        let log = file(&at.0, "third.csv", &noise(1500, 0, 0.5, 77));
        assert_eq!(fastmmd(&["replay", &log, "--state", &copy]).code, code, "{state}");
    }
}

/// Nothing is known of a level that wanders: no difference is claimed, and that is said.
#[test]
fn devices_that_wander_are_not_compared() {
    let at = Folder(directory("states-wander"));
    let walk = |seed: u64| {
        let mut random = Generator::new(seed);
        let mut level = 0.0;
        let row = |_| {
            level += random.normal();
            format!("{level:.4}\n")
        };
        format!("a\n{}", (0..3000).map(row).collect::<String>())
    };
    let [a, b] = ["a.bin", "b.bin"].map(|name| at.path(name));
    let [own, other] = [1, 2].map(|seed| file(&at.0, &format!("{seed}.csv"), &walk(seed)));
    let exported = ok(&["export", &own, "-o", &a, "--learn", "2000"]).out;
    assert!(exported.contains("note: a: its level wanders, and is not watched"), "{exported}");
    ok(&["export", &other, "-o", &b, "--scale-from", &a]);
    let compared = fastmmd(&["compare", &a, &b]);
    let refused = compared.code == 2 && compared.err.contains("another scale");
    let told = compared.code == 0 && compared.out.contains("so it is not compared");
    assert!(refused || told, "{compared:?}");
}

/// What the command says of a record of one channel and 8 frequencies, as a device saves it.
fn inspected(name: &str, bytes: &[u8]) -> Value {
    let at = Folder(directory(name));
    let state = at.path("small.bin");
    fs::write(&state, bytes).expect("a small file");
    let json = ok(&["inspect", &state, "--json"]).json().swap_remove(0);
    assert_eq!((&json["kind"], &json["frequencies"]), (&"detector".into(), &8.into()));
    assert_eq!(json["channels"], 1);
    json
}

/// The bytes of a new detector.
macro_rules! saved {
    ($map:expr, $config:expr) => {{
        let map: Fourier<1, 8> = $map;
        let detector = Detector::new(&map, $config).expect("settings");
        let mut bytes = vec![0; detector.saved_bytes()];
        detector.save(&mut bytes).expect("long enough");
        bytes
    }};
}

#[test]
fn states_of_any_shape_are_explained() {
    let json = inspected("states-shape", &saved!(Fourier::additive(7), Config::rows(1e4)));
    assert_eq!((&json["stage"], &json["parts_of_a_cycle"]), (&"learning".into(), &0.into()));
    let cyclic = Config::rows(1e4).with_period(100.0);
    let json = inspected("states-cycle", &saved!(Fourier::additive(7), cyclic));
    assert_eq!((&json["period"], &json["parts_of_a_cycle"]), (&100.0.into(), &32.into()));
}

/// Given frequencies cannot be drawn again, and other legs are not those of the tool: everything
/// else is shown.
#[test]
fn states_of_unknown_shape_are_explained_as_far_as_can_be() {
    let frequencies = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8].map(|turns| [turns]);
    let map = Fourier::given(frequencies, 1.0).expect("finite");
    let json = inspected("states-given", &saved!(map, Config::rows(1e4)));
    assert_eq!((&json["map"], &json["stage"]), (&"given".into(), &Value::Null));
    let lean = saved!(Fourier::additive(7), Config::rows(1e4).with_legs::<Lean>());
    let json = inspected("states-lean", &lean);
    assert_eq!(json["legs"], json!(["level", "jump", "range", "stuck", "missing"]));
    assert_eq!(json["stage"], Value::Null);
    let hours = Config { period: Some(24.0), ..Config::rows(1e4) }.with_legs::<Cyclic<24>>();
    let hours = saved!(Fourier::additive(7), hours);
    assert_eq!(inspected("states-hours", &hours)["parts_of_a_cycle"], 24);
    let at = Folder(directory("states-other"));
    let log = file(&at.0, "log.csv", &noise(300, 300, 0.0, 1));
    fs::write(at.path("lean.bin"), lean).expect("a small file");
    let ran = fastmmd(&["replay", &log, "--columns", "a", "--state", &at.path("lean.bin")]);
    assert!(ran.code == 2 && ran.err.contains("other legs"), "{ran:?}");
}

/// What is learned by phase and what is not do not compare.
#[test]
fn other_legs_are_not_comparable() {
    let at = Folder(directory("states-legs"));
    let log = file(&at.0, "log.csv", &noise(3000, 3000, 0.0, 1));
    let [a, b] = ["a.bin", "b.bin"].map(|name| at.path(name));
    ok(&["export", &log, "-o", &a, "--learn", "2000"]);
    ok(&["export", &log, "-o", &b, "--learn", "2000", "--period", "100"]);
    let ran = fastmmd(&["compare", &a, &b]);
    assert!(ran.code == 2 && ran.err.contains("another kind, shape or map"), "{ran:?}");
}

#[test]
fn what_is_not_comparable_is_said_so() {
    let at = Folder(directory("states-refused"));
    let log = file(&at.0, "log.csv", &noise(3000, 3000, 0.0, 1));
    let other = file(&at.0, "other.csv", &noise(3000, 3000, 0.0, 2));
    let [a, b, c] = ["a.bin", "b.bin", "c.bin"].map(|name| at.path(name));
    ok(&["export", &log, "-o", &a, "--learn", "2000"]);
    ok(&["export", &other, "-o", &b, "--learn", "2000"]);
    ok(&["export", &other, "-o", &c, "--learn", "2000", "--features", "64"]);
    for command in [vec!["compare", &a, &b], vec!["merge", &a, &b, "-o", &c]] {
        let ran = fastmmd(&command);
        assert_eq!(ran.code, 2, "{ran:?}");
        assert!(ran.err.contains("learned with another scale") && ran.err.contains("--scale-from"));
    }
    let ran = fastmmd(&["compare", &a, &c]);
    assert!(ran.err.contains("another kind, shape or map"), "{ran:?}");
    assert_eq!(fastmmd(&["compare", &a, &log]).code, 2);
    let narrow = fastmmd(&["export", &log, "--columns", "a", "--scale-from", &a, "-o", &c]);
    assert!(narrow.err.contains("a detector of 3 channels; the log has 1"), "{narrow:?}");
}
