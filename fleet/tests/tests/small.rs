//! The tool on small tables of its own: every command and option, and what is told of odd input.

use std::fmt::Write;

use serde_json::{Value, json};

use crate::run::{Scratch, generate, lines, listed, said, tool};
use fastmmd_fleet::made::Fleet;

/// Noise of a device's third reading.
fn noise(device: u32, row: u32) -> f32 {
    fastmmd_fleet_tests::noise(u64::from(1_000_000 + 1000 * device + row))
}

/// A table as CSV: devices with rows of two readings, and what `more` gives for a device and a row.
fn csv(names: &str, devices: u32, rows: u32, more: impl Fn(u32, u32) -> String) -> String {
    let mut text = format!("device,x,y,{names}\n");
    for device in 0..devices {
        for row in 0..rows {
            let [x, y] = fastmmd_fleet_tests::row(u64::from(device * rows + row));
            let (x, y) = (20.0 + x, 5.0 + 0.1 * y);
            let _ = writeln!(text, "pump-{device},{x},{y},{}", more(device, row));
        }
    }
    text
}

/// The last line of JSON.
fn summary(arguments: &[&str]) -> Value {
    lines(&tool(arguments)).pop().expect("a summary")
}

#[test]
fn csv_conditions_and_what_is_not_a_number() {
    let scratch = Scratch::new("csv");
    let file = scratch.file("t.csv");
    // Device 7 is off in column z, but only at night; device 3 has readings that are none.
    std::fs::write(
        &file,
        csv("z,hour", 60, 240, |device, row| {
            let (hour, z) = (row % 24, noise(device, row));
            match (device, row) {
                (3, 0..5) => format!("NaN,{hour}"),
                (7, _) if hour < 6 => format!("{},{hour}", z + 9.0),
                _ => format!("{z},{hour}"),
            }
        }),
    )
    .unwrap();
    let refused = tool(&["odd", &file]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(said(&refused).1.contains("device pump-3: channel 3"), "{}", said(&refused).1);
    let skip = ["--not-a-number", "skip", "--json"];
    let night = tool(&[&["odd", &file, "--where", "hour < 6"][..], &skip].concat());
    assert_eq!(listed(&night), [7]);
    let told = lines(&night).pop().unwrap();
    assert_eq!(told["skipped_rows"], 5);
    assert_eq!(told["channels"], json!(["x", "y", "z"]));
    assert_eq!(told["not_taken"], json!(["hour"]));
    let day = tool(&[&["odd", &file, "--where", "hour >= 6"][..], &skip].concat());
    assert!(listed(&day).is_empty());
    // As text: the table, the summary, and what was looked at.
    let text = tool(&["odd", &file, "--where", "hour < 6", "--not-a-number", "skip"]);
    let text = said(&text).0;
    for line in
        ["pump-7", "1 of 60 devices are odd", "channels: x, y, z", "integers: hour", "5 rows"]
    {
        assert!(text.contains(line), "{line}: {text}");
    }
}

#[test]
fn groups_of_too_few_devices_are_not_called_unmoved() {
    // 12 devices in the south, all of which move by far; 50 in the north, which do not; one in the east.
    let scratch = Scratch::new("few");
    let file = scratch.file("t.csv");
    let site = |device: u32| match device {
        0..50 => "north",
        50..62 => "south",
        _ => "east",
    };
    let table = csv("week,site,z", 63, 60, |device, row| {
        let shift = if (50..62).contains(&device) && row >= 30 { 5.0 } else { 0.0 };
        format!("{},{},{}", 1 + row / 30, site(device), noise(device, row) + shift)
    });
    std::fs::write(&file, table).unwrap();
    let weeks = ["--before", "week = 1", "--after", "week = 2", "--by", "site"];
    let ask = |more: &[&str]| tool(&[&["moved", &file][..], &weeks, more].concat());
    let found = ask(&["--json"]);
    assert_eq!(found.status.code(), Some(0));
    let found = lines(&found);
    let of = |group: &str| found.iter().find(|line| line["group"] == group).unwrap();
    for (group, devices) in [("south", 12), ("east", 1)] {
        let line = of(group);
        assert_eq!((&line["devices"], &line["tested"]), (&json!(devices), &json!(false)));
        assert!(["p_value", "q_value", "moved"].iter().all(|name| line[name].is_null()), "{line}");
    }
    let north = of("north");
    assert_eq!((&north["tested"], &north["moved"]), (&json!(true), &json!(false)));
    // One test alone: its level is not divided among groups that were not tested.
    assert_eq!(north["q_value"], north["p_value"]);
    let summary = found.last().unwrap();
    assert_eq!((&summary["groups"], &summary["tested"]), (&json!(3), &json!(1)));
    let text = said(&ask(&[])).0;
    assert_eq!(text.lines().filter(|line| line.contains("too few devices")).count(), 3, "{text}");
    assert!(text.contains("0 of 1 group moved") && text.contains("2 not tested"), "{text}");
    // Nothing that could be tested is not the same as nothing that moved.
    let none = ask(&["--where", "site <> 'north' OR device < 'pump-2'"]);
    assert_eq!(none.status.code(), Some(2), "{}", said(&none).0);
    assert!(said(&none).1.contains("none was tested"), "{}", said(&none).1);
    // A device without peers.
    let odd = tool(&["odd", &file, "--by", "site", "--where", "week = 1", "--all", "--json"]);
    let found = lines(&odd);
    let lone = found.iter().find(|line| line["peers"] == "east").unwrap();
    assert_eq!((&lone["tested"], &lone["device"]), (&json!(false), &json!("pump-62")));
    assert!(
        ["p_value", "q_value", "odd", "mmd2"].iter().all(|name| lone[name].is_null()),
        "{lone}"
    );
    assert_eq!(found.last().unwrap()["not_tested"], json!(["pump-62"]));
    let text = said(&tool(&["odd", &file, "--by", "site", "--where", "week = 1", "--all"])).0;
    assert!(text.contains("of 62 devices are odd") && text.contains("too few devices"), "{text}");
    let nobody = tool(&["odd", &file, "--by", "device", "--where", "week = 1"]);
    assert!(said(&nobody).1.contains("0 devices with peers"), "{}", said(&nobody).1);
}

#[test]
fn times_and_what_conditions_name_are_no_channels() {
    let scratch = Scratch::new("times");
    let file = scratch.file("t.csv");
    let table = csv("z,Time,week,logged_ts", 40, 60, |device, row| {
        let (z, second) = (noise(device, row), f64::from(row) + 0.5);
        format!("{z},{second},{}.5,{second}", 1 + row / 30)
    });
    std::fs::write(&file, table).unwrap();
    let weeks = ["--before", "week < 2", "--after", "week > 2", "--json"];
    let ask = |more: &[&str]| tool(&[&["moved", &file][..], &weeks, more].concat());
    let found = ask(&[]);
    assert_eq!(found.status.code(), Some(0), "{}", said(&found).1);
    let told = lines(&found).pop().unwrap();
    assert_eq!(told["channels"], json!(["x", "y", "z"]));
    assert_eq!(told["left_out"], json!(["Time", "week", "logged_ts"]));
    // The control: with a time as a channel, everything has moved.
    assert_eq!(ask(&["--channels", "x,y,z,Time"]).status.code(), Some(1));
    // What --where names is left out; what it only compares with is not.
    let night = summary(&["odd", &file, "--where", "z < 9 AND 'y' < 'z'", "--json"]);
    assert_eq!(night["channels"], json!(["x", "y"]));
    let text = said(&tool(&["odd", &file, "--where", "z < 9"])).0;
    assert!(
        text.contains("being times or named in a condition: z, Time, week, logged_ts"),
        "{text}"
    );
    let only = tool(&["odd", &file, "--where", "x + y + z < 999"]);
    assert!(said(&only).1.contains("give --channels"), "{}", said(&only).1);
}

#[test]
fn reported_mmd2_is_that_of_sql_against_the_peers() {
    let folder = generate(&Fleet { devices: 25, rows: 80, odd: 0, moved: 0, seed: 12 }, "mmd2");
    let found = lines(&tool(&["odd", folder.text(), "--all", "--json"]));
    let (told, devices) = found.split_last().unwrap();
    assert_eq!((&told["odd"], devices.len()), (&json!(0), 25));
    let sql = format!(
        "WITH d AS (SELECT device, mmd_embed('{}', x, y, z) AS s FROM t GROUP BY device),
            peers AS (SELECT a.device AS device, mmd_merge(b.s) AS s FROM d a, d b
                WHERE a.device <> b.device GROUP BY a.device)
        SELECT d.device AS device, mmd2(d.s, peers.s) AS mmd2 FROM d JOIN peers ON d.device = peers.device",
        told["map"].as_str().unwrap()
    );
    let table = format!("t={}", folder.text());
    let exact = lines(&tool(&["query", &sql, "--table", &table, "--json"]));
    assert_eq!(exact.len(), 25);
    for line in &exact {
        let own = devices.iter().find(|own| own["device"] == line["device"]).unwrap();
        let (own, exact) = (own["mmd2"].as_f64().unwrap(), line["mmd2"].as_f64().unwrap());
        // Both in f32. The mean of 24 peers is uncertain by 4 % of a device: that is not in it.
        assert!((own / exact - 1.0).abs() < 0.002 && exact > 1e-4, "{line}: {own}");
    }
}

#[test]
fn map_draws_every_device() {
    let fleet = Fleet { devices: 60, rows: 200, odd: 1, moved: 0, seed: 4 };
    let folder = generate(&fleet, "map");
    let scratch = Scratch::new("map-files");
    let (picture, page) = (scratch.file("fleet.svg"), scratch.file("fleet.html"));
    let map = ["map", folder.text(), "--picture", &picture, "--report", &page];
    let text = said(&tool(&map)).0;
    assert!(text.contains("60 devices") && text.contains("channels: x, y, z"), "{text}");
    let svg = std::fs::read_to_string(&picture).unwrap();
    assert_eq!(svg.matches("<circle").count(), 60);
    assert!(std::fs::read_to_string(&page).unwrap().contains(&svg));
    let drawn = lines(&tool(&[&map[..], &["--json"]].concat()));
    assert_eq!(drawn.len(), 61);
    assert!(drawn[..60].iter().all(|line| line["x"].is_f64() && line["y"].is_f64()));
    assert_eq!(drawn[60]["devices"], 60);
    assert!(drawn[0]["odd"].is_boolean());
    // A few devices have places, too; which of them is odd is not told.
    let few = [&map[..], &["--where", "device < 'pump-00003'", "--json"]].concat();
    let drawn = lines(&tool(&few));
    assert_eq!(drawn.len(), 4);
    assert!(drawn[..3].iter().all(|line| line["x"].is_f64() && line["odd"].is_null()), "{drawn:?}");
}

#[test]
fn an_updated_device_is_among_those_with_its_new_version() {
    // Half of the devices go from version 9 to 10, and read higher from then on. As text, 9 is above 10.
    let scratch = Scratch::new("versions");
    let table = |quote: &str| {
        csv("week,version,z", 80, 60, |device, row| {
            let (week, updated) = (1 + row / 30, device % 2 == 0 && row >= 30);
            let version = if updated { "10" } else { "9" };
            let z = noise(device, row) + if updated { 2.0 } else { 0.0 };
            format!("{week},{quote}{version},{z}")
        })
    };
    for (name, quote) in [("numbers.csv", ""), ("texts.csv", "v1.")] {
        let file = scratch.file(name);
        std::fs::write(&file, table(quote)).unwrap();
        let weeks = ["--before", "week = 1", "--after", "week = 2", "--by", "version"];
        let found = lines(&tool(&[&["moved", &file, "--json"][..], &weeks].concat()));
        let of = |version: &str| {
            let group = format!("{quote}{version}");
            let line = found.iter().find(|line| line["group"] == group);
            line.unwrap_or_else(|| panic!("{name}: no group {group}")).clone()
        };
        assert_eq!((&of("10")["devices"], &of("10")["moved"]), (&json!(40), &json!(true)));
        assert_eq!((&of("9")["devices"], &of("9")["moved"]), (&json!(40), &json!(false)));
        assert_eq!(found.last().unwrap()["in_two_groups"], json!([]));
        // Without times, such devices are in two groups, which is told.
        let told = summary(&["odd", &file, "--by", "version", "--json"]);
        assert_eq!(told["in_two_groups"].as_array().unwrap().len(), 40, "{name}");
    }
    // A device that moves alone is named, in text and in the page.
    let file = scratch.file("alone.csv");
    let alone = csv("week,z", 60, 60, |device, row| {
        let moved = device == 5 && row >= 30;
        format!("{},{}", 1 + row / 30, noise(device, row) + if moved { 9.0 } else { 0.0 })
    });
    std::fs::write(&file, alone).unwrap();
    let page = scratch.file("moved.html");
    let found =
        tool(&["moved", &file, "--before", "week = 1", "--after", "week = 2", "--report", &page]);
    let text = said(&found).0;
    assert!(text.contains("devices that moved otherwise") && text.contains("pump-5"), "{text}");
    let html = std::fs::read_to_string(&page).unwrap();
    assert!(html.contains("<td>pump-5</td>"), "{html}");
}

#[test]
fn rows_without_a_device_are_left_out_and_told() {
    let scratch = Scratch::new("nameless");
    let file = scratch.file("t.csv");
    let text = csv("z", 40, 30, |device, row| noise(device, row).to_string());
    // Rows that nobody owns, far away; one of them is not even a number.
    let stray = (0..20).map(|row| format!(",1e6,1e6,{}\n", if row == 0 { "NaN" } else { "1e6" }));
    std::fs::write(&file, text + &stray.collect::<String>()).unwrap();
    let found = tool(&["odd", &file, "--json", "--all"]);
    let told = lines(&found).pop().unwrap();
    assert_eq!((&told["devices"], &told["nameless_rows"]), (&json!(40), &json!(20)));
    assert_eq!(listed(&found).len(), 40);
}

#[test]
fn one_device_far_away_does_not_hide_another() {
    let scratch = Scratch::new("far");
    let table = |far: f32| {
        csv("z", 60, 100, |device, row| {
            let shift = match device {
                11 => 4.0,
                30 => far,
                _ => 0.0,
            };
            (noise(device, row) + shift).to_string()
        })
    };
    // Farther than a map reaches: by the mean and deviation of all rows, the others would be flat.
    for far in [0.0, 1e9] {
        let file = scratch.file("t.csv");
        std::fs::write(&file, table(far)).unwrap();
        let found = tool(&["odd", &file, "--json"]);
        let cut: &[&str] = if far > 0.0 { &["z"] } else { &[] };
        assert_eq!(lines(&found).pop().unwrap()["cut_off"], json!(cut));
        let mut found = listed(&found);
        found.sort_unstable();
        assert_eq!(found, if far > 0.0 { vec![11, 30] } else { vec![11] });
    }
}

#[test]
fn folders_in_folders_are_read_and_their_keys_are_columns() {
    let scratch = Scratch::new("hive");
    for site in ["north", "south"] {
        let folder = scratch.join(format!("site={site}")).join("2026-01");
        std::fs::create_dir_all(&folder).unwrap();
        let text = csv("z", 25, 20, |device, row| noise(device, row).to_string());
        let text = text.replace("pump-", &format!("{site}-"));
        std::fs::write(folder.join("a.csv"), text).unwrap();
    }
    let table = format!("t={}", scratch.text());
    let sql = "SELECT site, count(DISTINCT device) AS devices FROM t GROUP BY site ORDER BY site";
    let found = lines(&tool(&["query", sql, "--table", &table, "--json"]));
    let expected = ["north", "south"].map(|site| json!({ "site": site, "devices": 25 }));
    assert_eq!(found, expected);
    let told = summary(&["odd", scratch.text(), "--by", "site", "--json"]);
    assert_eq!(told["devices"], 50);
    // What would be read in part only is refused.
    std::fs::write(scratch.join("site=south").join("more.csv"), "device,x,y,z\n").unwrap();
    std::fs::write(scratch.join("stray.csv"), "device,x,y,z\n").unwrap();
    let refused = said(&tool(&["query", sql, "--table", &table])).1;
    assert!(refused.contains("two layouts") && refused.contains("stray.csv"), "{refused}");
    std::fs::rename(scratch.join("stray.csv"), scratch.join("site=south/stray.parquet")).unwrap();
    let refused = said(&tool(&["query", sql, "--table", &table])).1;
    assert!(refused.contains("two kinds of files") && refused.contains("stray"), "{refused}");
}

#[test]
fn json_has_the_types_of_the_columns() {
    let sql = "SELECT true AS b, 1.5 AS n, [1, 2] AS l, named_struct('a', 'x', 'c', [true]) AS s, \
               NULL AS u, CAST('NaN' AS DOUBLE) AS nan, 'a' AS t";
    let found = summary(&["query", sql, "--json"]);
    let expected = json!({
        "b": true, "n": 1.5, "l": [1, 2], "s": { "a": "x", "c": [true] }, "u": null, "nan": null,
        "t": "a",
    });
    assert_eq!(found, expected);
    // A file has its name only when it is whole; an answer without rows is a table, too.
    let scratch = Scratch::new("output");
    let output = scratch.file("t.parquet");
    let late = "SELECT CAST(CASE WHEN v < 1000000 THEN '1' ELSE 'a' END AS INT) FROM \
                (SELECT unnest(range(0, 1000001)) AS v)";
    assert_eq!(tool(&["query", late, "--output", &output]).status.code(), Some(2));
    assert_eq!(std::fs::read_dir(&*scratch).unwrap().count(), 0);
    let none = "SELECT v FROM (SELECT 1 AS v) WHERE v > 1";
    assert!(tool(&["query", none, "--output", &output]).status.success());
    let table = format!("t={output}");
    let count = summary(&["query", "SELECT count(*) AS n FROM t", "--table", &table, "--json"]);
    assert_eq!(count["n"], 0);
}

#[test]
fn too_many_frequencies_are_refused_before_rows_are_read() {
    let folder =
        generate(&Fleet { devices: 20, rows: 4, odd: 0, moved: 0, seed: 1 }, "frequencies");
    for (count, code) in [("513", 2), ("128", 0)] {
        let words = format!("frequencies={count}");
        let found = tool(&["odd", folder.text(), "--map", &words]);
        assert_eq!(found.status.code(), Some(code), "{}", said(&found).1);
        assert_eq!(said(&found).1.contains("at most 512"), code == 2);
    }
}
