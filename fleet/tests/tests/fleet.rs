//! The tool on the made-up fleet.

use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Instant;

use fastmmd_fleet::made::Fleet;

use crate::run::{Scratch, generate, lines, listed, program, said, tool, watched};

/// Not the seed that constants of the statistics were chosen with.
const MADE: Fleet = Fleet { devices: 10_000, rows: 1000, odd: 50, moved: 0, seed: 1 };

/// The fleet of 10,000 devices: made by the first test that wants it, gone with the last.
pub(crate) fn large() -> Arc<Scratch> {
    static LARGE: Mutex<Weak<Scratch>> = Mutex::new(Weak::new());
    let mut large = LARGE.lock().unwrap_or_else(PoisonError::into_inner);
    large.upgrade().unwrap_or_else(|| {
        let made = Arc::new(generate(&MADE, "large"));
        *large = Arc::downgrade(&made);
        made
    })
}

#[test]
fn the_odd_devices_are_found_and_few_others_are_listed() {
    let (fleet, scratch) = (large(), Scratch::new("report"));
    let report = scratch.file("odd.html");
    let found = tool(&["odd", fleet.text(), "--by", "site", "--json", "--report", &report]);
    assert_eq!(found.status.code(), Some(1), "{}", said(&found).1);
    let listed = listed(&found);
    let right = listed.iter().filter(|number| MADE.device(**number).odd.is_some()).count();
    let wrong = listed.len() - right;
    println!("{right} of {} odd devices found, {wrong} others listed", MADE.odd);
    assert!(right * 100 >= MADE.odd as usize * 95);
    // On average 5 % of a list are wrong: of about 53, 2.6; more than 8 come once in a thousand lists.
    assert!(wrong <= 8, "{wrong}");
    let html = std::fs::read_to_string(report).unwrap();
    assert!(html.contains("<svg") && html.contains(&format!("pump-{:05}", listed[0])));
    let told = lines(&found).pop().unwrap();
    assert_eq!(told["channels"], serde_json::json!(["x", "y", "z"]));
    assert_eq!(told["not_taken"], serde_json::json!(["second", "week", "firmware"]));
}

#[test]
fn the_readmes_query_runs() {
    let readme = include_str!("../../README.md");
    let sql = readme.split("```sql\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let folder = generate(&Fleet { devices: 100, rows: 200, odd: 1, moved: 0, seed: 5 }, "readme");
    let table = format!("telemetry={}", folder.display());
    let lines = lines(&tool(&["query", sql, "--table", &table, "--json"]));
    assert_eq!(lines.len(), 100);
    // The first odd device is at the first place of its turn, with another level.
    assert_eq!(lines[0]["device"], "pump-00000");
}

#[test]
fn a_fleet_without_odd_devices_lists_none_or_hardly_any() {
    // The control of the level: whole lists are wrong at most as often as stated.
    let lists = 10;
    let wrong = (0..lists)
        .filter(|seed| {
            let fleet = Fleet { devices: 300, rows: 100, odd: 0, moved: 0, seed: 100 + seed };
            let folder = generate(&fleet, &format!("normal-{seed}"));
            tool(&["odd", folder.text(), "--json"]).status.code() == Some(1)
        })
        .count();
    println!("{wrong} of {lists} lists of normal fleets are not empty");
    // At 5 % each, more than 3 of 10 come once in a thousand times.
    assert!(wrong <= 3, "{wrong}");
}

#[test]
fn a_tenth_with_other_firmware_is_noticed() {
    // The control is the same fleet with the old firmware only, and 50 odd devices that do not move.
    let moved = generate(&Fleet { odd: 0, moved: 100, seed: 7, ..MADE }, "moved");
    let still = large();
    for (path, code) in [(moved.text(), 1), (still.text(), 0)] {
        let weeks = ["--before", "week = 1", "--after", "week = 2"];
        let start = Instant::now();
        let found = tool(&[&["moved", path, "--json"][..], &weeks].concat());
        assert_eq!(found.status.code(), Some(code), "{}", said(&found).1);
        let p = lines(&found)[0]["p_value"].as_f64().unwrap();
        let seconds = start.elapsed().as_secs_f64();
        println!("moved, with a tenth of other firmware ({code}): p = {p:e}, {seconds:.1} s");
        assert!(if code > 0 { p < 1e-6 } else { p > 1e-3 });
    }
    let weeks = ["--before", "week = 1", "--after", "week = 2", "--by", "firmware", "--json"];
    let by_firmware = lines(&tool(&[&["moved", moved.text()][..], &weeks].concat()));
    let of = |group: &str| by_firmware.iter().find(|line| line["group"] == group).unwrap();
    assert_eq!((&of("1")["moved"], &of("2")["moved"]), (&false.into(), &true.into()));
    assert_eq!((&of("1")["devices"], &of("2")["devices"]), (&9000.into(), &1000.into()));
}

#[test]
fn memory_does_not_grow_with_rows() {
    let made = |rows: u32| {
        let fleet = Fleet { devices: 500, rows, odd: 0, moved: 0, seed: 3 };
        generate(&fleet, &format!("rows-{rows}"))
    };
    let (few, many) = (made(500), made(5000));
    let sql = "SELECT device, mmd_embed(x, y, z) s FROM t GROUP BY device";
    let most = |folder: &Scratch, partitions: &str| {
        let mut command = Command::new(program("fastmmd-fleet"));
        command.args(["query", sql, "--partitions", partitions, "--table"]);
        command.arg(format!("t={}", folder.display())).arg("--output");
        let output = Scratch::new("output");
        watched(command.arg(output.file("out.parquet")).spawn().unwrap()).1
    };
    for partitions in ["1", "4"] {
        let (few, many) = (most(&few, partitions), most(&many, partitions));
        println!("{partitions} partitions: {few} kB for 250,000 rows, {many} kB for 2,500,000");
        // The rows themselves would be 60 MB more.
        assert!(few > 0 && many < few + 15_000, "{few} {many}");
    }
}

#[test]
fn odd_holds_states_not_rows_and_partitions_share_the_work() {
    let fleet = large();
    let ask = |arguments: &[&str]| {
        let start = Instant::now();
        let mut command = Command::new(program("fastmmd-fleet"));
        let process = command.args(arguments).stdout(Stdio::null()).spawn().unwrap();
        let (ticks, kilobytes) = watched(process);
        (start.elapsed().as_secs_f64(), ticks as f64 / 100.0, kilobytes)
    };
    let (seconds, _, kilobytes) = ask(&["odd", fleet.text(), "--by", "site", "--partitions", "2"]);
    println!("odd over 10,000 devices, 10,000,000 rows: {kilobytes} kB, {seconds:.1} s");
    // The states of 10,000 devices are 11 MB, held a few times over; the rows are 240 MB.
    assert!(kilobytes > 0 && kilobytes < 300_000, "{kilobytes}");
    let table = format!("t={}", fleet.display());
    let over = |partitions: &str| {
        let sql = "SELECT mmd_embed(x, y, z) IS NULL FROM t";
        ask(&["query", sql, "--table", &table, "--partitions", partitions])
    };
    let (one, two) = (over("1"), over("2"));
    println!(
        "mmd_embed over a file of 10,000,000 rows: {:.1} s with one partition, {:.1} s with two; \
         {:.1} s and {:.1} s of processor time",
        one.0, two.0, one.1, two.1
    );
    // How much sooner depends on who else computes; but the work is divided, not doubled.
    assert!(two.1 < 1.6 * one.1, "{} {}", one.1, two.1);
}

#[test]
fn folders_of_device_states_become_a_table() {
    let folder = Scratch::new("states");
    let rows = |shift: f32| {
        let map = fastmmd_datafusion::FleetMap::of("frequencies=32", 2).unwrap();
        let mut embedding = fastmmd::Embedding::new(map.map());
        for index in 0..300 {
            let [x, y] = fastmmd_fleet_tests::row(index);
            embedding.add(map.map(), &[x + shift, y]).unwrap();
        }
        let mut bytes = vec![0; embedding.saved_bytes()];
        embedding.save(map.map(), &mut bytes).unwrap();
        bytes
    };
    for number in 0..30_u8 {
        let shift = if number == 17 { 1.0 } else { f32::from(number) * 0.002 };
        std::fs::write(folder.join(format!("pump-{number}.bin")), rows(shift)).unwrap();
    }
    let target = Scratch::new("states-table");
    let (path, output) = (folder.text(), &*target.file("states.parquet"));
    assert!(tool(&["ingest", path, output]).status.success());
    let odd = tool(&["odd", output, "--state", "state", "--json"]);
    assert_eq!(listed(&odd), [17]);
    // Nothing but the states is a reading, and that they are there is told.
    let refused = said(&tool(&["odd", output])).1;
    assert!(refused.contains("give --state state"), "{refused}");
    let kind = ["query", "SELECT arrow_typeof(rows) AS kind, rows FROM t LIMIT 1", "--json"];
    let kind = tool(&[&kind[..], &["--table", &format!("t={output}")]].concat());
    assert_eq!(lines(&kind), [serde_json::json!({ "kind": "UInt64", "rows": 300 })]);
    // A foreign file is named, or left out; so is a second one of a device.
    std::fs::write(folder.join("pump-5.bin"), "hello").unwrap();
    std::fs::write(folder.join("pump-6.old"), rows(0.0)).unwrap();
    let refused = tool(&["ingest", path, output]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(said(&refused).1.contains("device pump-5"), "{refused:?}");
    let skipped = tool(&["ingest", path, output, "--skip"]);
    assert!(skipped.status.success());
    let told = said(&skipped).0;
    assert!(told.contains("29 devices") && told.contains("pump-6: two files"), "{told}");
    std::fs::write(folder.join("pump-5.bin"), rows(0.0)).unwrap();
    let refused = said(&tool(&["ingest", path, output])).1;
    assert!(refused.contains("pump-6.bin") && refused.contains("pump-6.old"), "{refused}");
    std::fs::remove_file(folder.join("pump-6.old")).unwrap();
    // Folders in the folder are a column: here, sites of which one is elsewhere.
    let site = folder.join("north");
    std::fs::create_dir(&site).unwrap();
    for number in 30..60_u8 {
        let shift = 2.0 + f32::from(number) * 0.002;
        std::fs::write(site.join(format!("pump-{number}.bin")), rows(shift)).unwrap();
    }
    assert!(tool(&["ingest", path, output]).status.success());
    let by = tool(&["odd", output, "--state", "state", "--by", "folder", "--json"]);
    assert_eq!(listed(&by), [17]);
    assert_eq!(lines(&by)[0]["peers"], "");
    // Another device of the same name, in another folder, is not added to it in silence.
    std::fs::write(site.join("pump-3.bin"), rows(2.0)).unwrap();
    let told = said(&tool(&["ingest", path, output])).0;
    assert!(told.contains("60 devices, 61 states"), "{told}");
    assert!(told.contains("pump-3.bin and") && told.contains("north"), "{told}");
    for command in [&["odd"][..], &["odd", "--by", "folder"], &["map"]] {
        let refused = tool(&[command, &[output, "--state", "state"]].concat());
        assert_eq!(refused.status.code(), Some(2));
        let why = said(&refused).1;
        let both = "device pump-3: 2 states, in the outermost folder and in folder north";
        assert!(why.contains(both) && why.lines().count() == 1, "{why}");
    }
    let state = ["odd", output, "--state", "state", "--json"];
    let north = tool(&[&state[..], &["--where", "folder = 'north'"]].concat());
    assert_eq!(lines(&north).last().unwrap()["devices"], 31);
    // The control: added up when asked to be, it is between both sites, and like neither.
    let merged = tool(&[&state[..], &["--merge", "--all"]].concat());
    let merged = lines(&merged);
    let own = merged.iter().find(|line| line["device"] == "pump-3").unwrap();
    assert_eq!(own["rows"], 600.0);
}

#[test]
fn a_condition_may_have_thousands_of_parts() {
    let fleet = Fleet { devices: 40, rows: 20, odd: 0, moved: 0, seed: 8 };
    let folder = generate(&fleet, "condition");
    let names: Vec<_> = (0..3000).map(|number| format!("device = 'pump-{number:05}'")).collect();
    let chosen = tool(&["odd", folder.text(), "--json", "--where", &names.join(" OR ")]);
    assert_eq!(lines(&chosen).last().unwrap()["devices"], 40);
}

#[test]
fn mistakes_are_told_in_one_line() {
    for (arguments, text) in [
        (vec!["odd", "/nowhere"], "no such file"),
        (vec!["odd"], "required arguments were not provided: <PATH>"),
        (vec!["odd", "/nowhere", "--lvel", "2"], "unexpected argument '--lvel'"),
        (vec!["query", "SELECT 1", "--ballista", "http://x:1"], "fastmmd-fleet-cluster"),
        (vec!["query", "SELECT nothing"], "nothing"),
        (vec!["query", "SELECT FROM WHERE"], "not found"),
        (vec!["query", "SELECT 1", "--table", "t"], "NAME=PATH"),
        (vec!["odd", "/nowhere", "--level", "2"], "between 0 and 1"),
    ] {
        let refused = tool(&arguments);
        assert_eq!(refused.status.code(), Some(2), "{arguments:?}");
        let complaint = said(&refused).1;
        assert!(complaint.contains(text), "{arguments:?}: {complaint}");
        assert_eq!(complaint.lines().count(), 1, "{arguments:?}: {complaint}");
    }
    // The control: help has many lines, is no error if it was asked for, and one if it was not.
    let (asked, bare) = (tool(&["--help"]), tool(&[]));
    assert_eq!((asked.status.code(), bare.status.code()), (Some(0), Some(2)));
    assert!(said(&asked).0.lines().count() > 5 && said(&bare).1.lines().count() > 5);
}
