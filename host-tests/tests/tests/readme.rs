//! Recomputes the figures of the README and compares.

use fastmmd::monitor::{All, Cyclic, Lean, Legs};
use fastmmd::{Detector, Fourier, TwoSample};

const README: &str = include_str!("../../../README.md");

type Watching<const C: usize, L> = Detector<'static, Fourier<C, 32>, L>;
type Pair<const C: usize> = TwoSample<'static, Fourier<C, 64>>;

/// The rows of the table of costs, as they should be.
fn rows() -> [String; 5] {
    fn detector<L: Legs>() -> [usize; 3] {
        [size_of::<Watching<1, L>>(), size_of::<Watching<3, L>>(), size_of::<Watching<8, L>>()]
    }
    let row = |name: &str, [one, three, eight]: [usize; 3]| {
        format!("| {name} | {one} | {three} | {eight} |")
    };
    [
        row("`Detector`, all legs, 32 frequencies", detector::<All>()),
        row("the same with a cycle of 32 parts", detector::<Cyclic<32>>()),
        row("`Detector`, level and jumps alone", detector::<Lean>()),
        row(
            "`TwoSample`, 64 frequencies",
            [size_of::<Pair<1>>(), size_of::<Pair<3>>(), size_of::<Pair<8>>()],
        ),
        row(
            "map in flash, 32 frequencies",
            [size_of::<Fourier<1, 32>>(), size_of::<Fourier<3, 32>>(), size_of::<Fourier<8, 32>>()],
        ),
    ]
}

/// The rows that are not in a text.
fn missing(text: &str) -> Vec<String> {
    rows().into_iter().filter(|row| !text.contains(row.as_str())).collect()
}

#[test]
fn the_table_of_costs_is_what_is_measured() {
    let missing = missing(README);
    assert!(missing.is_empty(), "README.md should say:\n{}", missing.join("\n"));
}

#[test]
fn a_wrong_number_is_caught() {
    let [first, ..] = rows();
    assert_eq!(missing(&README.replace(&first, "")), [first]);
}

#[test]
fn the_quickstart_is_the_example() {
    let example = include_str!("../../../examples/quickstart.rs");
    let code = example.split_once("\n\n").map_or(example, |(_, code)| code);
    assert!(README.contains(code.trim_end()), "README.md shows another quickstart");
    let lines = code.trim_end().lines().count();
    assert!(lines <= 15, "the first example has {lines} lines");
}

/// Smallest and largest of the numbers in parentheses in one column of a table.
fn range(table: &str, column: usize) -> String {
    let cells = table.lines().filter_map(|line| line.split('|').nth(column + 1));
    let pooled = cells.filter_map(|cell| cell.split_once('(')?.1.split_once(')')?.0.parse().ok());
    let pooled: Vec<f64> = pooled.collect();
    let smallest = pooled.iter().copied().fold(f64::INFINITY, f64::min);
    let largest = pooled.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    format!("{smallest:.2} to {largest:.2}")
}

/// One cell of the row whose first cell begins with `name`.
fn cell(table: &str, name: &str, column: usize) -> String {
    let line = table.lines().find(|line| line.starts_with(&format!("| {name}")));
    line.and_then(|line| line.split('|').nth(column + 1)).unwrap_or_default().trim().to_owned()
}

/// The smallest, the middle and the largest of the numbers in one column of the rows of a table that
/// are `wanted`.
fn scatter(table: &str, column: usize, wanted: impl Fn(&str) -> bool) -> [u32; 3] {
    let rows = table.lines().filter(|line| wanted(line));
    let cells = rows.filter_map(|line| line.split('|').nth(column + 1)?.trim().parse().ok());
    let mut numbers: Vec<u32> = cells.collect();
    numbers.sort_unstable();
    let [least, .., most] = numbers[..] else { panic!("{numbers:?} are too few") };
    [least, numbers[numbers.len() / 2], most]
}

/// The README's line on where alarms say that a change began. Blind: it began with the alarm.
fn onset(table: &str) -> String {
    let (_, events) = table.split_once("### By event").expect("a part on events");
    let is_sudden = |line: &str| line.contains("Level(") || line.contains("Spread(");
    let is_ramp = |line: &str| line.contains("Ramp(");
    let [_, delay, _] = scatter(events, 6, is_sudden);
    let [_, delay_of_ramp, _] = scatter(events, 6, is_ramp);
    let [least, middle, most] = scatter(events, 7, is_sudden);
    let [least_of_ramp, _, most_of_ramp] = scatter(events, 7, is_ramp);
    format!(
        "| rows from `since` to the onset, median of each event: steps and changes of spread; ramps over \
         2000 rows (blind: {delay} in the middle; {delay_of_ramp}) | {least} to {most}, {middle} in the \
         middle; {least_of_ramp} to {most_of_ramp} |"
    )
}

/// The control: one event that is dated worse changes the line.
#[test]
fn the_line_on_the_onset_follows_its_table() {
    const ATTRIBUTION: &str = include_str!("../../evaluation/tables/attribution.md");
    let worse = ATTRIBUTION.replace("|         224 |", "|         225 |");
    assert_eq!(onset(&worse), onset(ATTRIBUTION).replace("to 224,", "to 225,"));
    assert_ne!(worse, ATTRIBUTION);
}

/// The README's lines on detection, from the tables that `cargo xtask evaluate` writes.
fn detection() -> [String; 12] {
    const PROMISE: &str = include_str!("../../evaluation/tables/promise.md");
    const SLOW: &str = include_str!("../../evaluation/tables/slow-drift.md");
    const PUBLISHED: &str = include_str!("../../evaluation/tables/delay-published.md");
    const ATTRIBUTION: &str = include_str!("../../evaluation/tables/attribution.md");
    const NAB: &str = include_str!("../../evaluation/tables/nab.md");
    const SKAB: &str = include_str!("../../evaluation/tables/skab.md");
    const SERVERS: &str = include_str!("../../evaluation/tables/servers.md");
    let healthy = SERVERS.split_once("### Healthy parts").expect("a part on healthy recordings").1;
    let as_counts = |table: &str| {
        let (_, table) = table.split_once("### As counts").expect("a part on integers");
        let line = table.lines().filter(|line| line.starts_with("| ")).nth(1).expect("a row");
        let cells: Vec<_> = line.split('|').map(str::trim).collect();
        format!("{} of {}", cells[3], cells[1])
    };
    let delays = |name: &str| [3, 4, 5, 6].map(|index| cell(PUBLISHED, name, index)).join(", ");
    [
        format!(
            "| mean time between false alarms over the stated 1000 rows, thirteen kinds of signals | {} |",
            range(PROMISE, 1)
        ),
        format!(
            "| the same over the stated 10,000 rows, 16,384 learning rows | {} |",
            range(PROMISE, 3)
        ),
        format!(
            "| ramp of 3 deviations in 10,000 rows on a cycle of 1885 rows: found, after | {} %, {} rows |",
            cell(SLOW, "cycle", 2),
            cell(SLOW, "cycle", 4)
        ),
        format!(
            "| mean delay at a measured average run length of 1000, 20 channels, four changes (NEWMA: {}) | {} rows |",
            delays("NEWMA, published"),
            delays("detector")
        ),
        format!(
            "| share of alarms with the right channel, and the right kind (blind: {}, {}) | {}, {} |",
            cell(ATTRIBUTION, "blind", 3),
            cell(ATTRIBUTION, "blind", 5),
            cell(ATTRIBUTION, "all", 3),
            cell(ATTRIBUTION, "all", 5)
        ),
        onset(ATTRIBUTION),
        format!(
            "| Numenta benchmark, half of it: windows caught / false alarms (random: {} / {}) | {} / {} |",
            cell(NAB, "random alarms", 1),
            cell(NAB, "random alarms", 2),
            cell(NAB, "all", 3),
            cell(NAB, "all", 4)
        ),
        format!(
            "| Skoltech benchmark, half of it: change points missed / false alarms, of 63 (random: {}) | {} / {} |",
            cell(SKAB, "10000 ", 4),
            cell(SKAB, "10000 ", 1),
            cell(SKAB, "10000 ", 3)
        ),
        format!(
            "| servers and applications: events caught / false alarms, of 115 (random: {}) | {} |",
            cell(SERVERS, "10000 ", 4),
            cell(SERVERS, "10000 ", 3)
        ),
        format!(
            "| healthy recordings of servers: mean time between alarms over the stated 1000 and 4000 rows | {}, {} |",
            cell(healthy, "1000 ", 3),
            cell(healthy, "4000 ", 3)
        ),
        format!(
            "| healthy recording of Skoltech: the same over the stated 400 and 10,000 rows, 400 learning rows | {}, {} |",
            cell(SKAB, "400 ", 5),
            cell(SKAB, "10000 ", 5)
        ),
        format!(
            "| alarms on recordings of Numenta and Skoltech that rows of `i16` raise within two rows of `f32` | {}, {} |",
            as_counts(NAB),
            as_counts(SKAB)
        ),
    ]
}

#[test]
fn the_table_of_detection_is_what_was_measured() {
    let missing: Vec<String> =
        detection().into_iter().filter(|line| !README.contains(line.as_str())).collect();
    assert!(missing.is_empty(), "README.md should say:\n{}", missing.join("\n"));
}

/// What the README says of single readings far out, by the table on robustness.
#[test]
fn the_limit_of_single_readings_is_what_was_measured() {
    const ROBUSTNESS: &str = include_str!("../../evaluation/tables/robustness.md");
    let share = |name: &str| cell(ROBUSTNESS, name, 3);
    let alone = ["white", "AR .9", "sine (500)", "t3"].map(|name| share(&format!("{name}, one")));
    let least = alone.iter().min().expect("four");
    let most = alone.iter().max().expect("four");
    let said = format!(
        "Yet of readings 1000 deviations off, the share that alarm is {least} to {most} on one channel, \
         and on every channel at once {} with autocorrelation and {} with heavy tails",
        share("AR .9, every"),
        share("t3, every")
    );
    let unbroken = README.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(unbroken.contains(&said), "README.md should say: {said}");
}

/// The README's lines on instructions and cycles, from the budget that `cargo xtask bench` writes.
fn instructions() -> Vec<String> {
    const BUDGET: &str = include_str!("../../../firmware/bench/budget.json");
    let rows: Vec<serde_json::Value> = serde_json::from_str(BUDGET).expect("an array of results");
    let figure =
        |name: &str, core: &str, map: &str, backend: &str, (d, l): (u32, u32), opt: &str| {
            let found = rows.iter().find(|row| {
                row["core"] == core
                    && row["map"] == map
                    && row["backend"] == backend
                    && row["d"] == d
                    && row["l"] == l
                    && row["opt"] == opt
            });
            found.map_or("–".to_owned(), |row| row[name].to_string())
        };
    let both = |name: &str, core: &str, map: &str, backend: &str, shape| {
        let [fast, small] = ["3", "s"].map(|opt| figure(name, core, map, backend, shape, opt));
        format!("{fast} ({small})")
    };
    let cell = |core: &str, map: &str, backend: &str, shape| {
        both("instructions", core, map, backend, shape)
    };
    let cycles = |name: &str, map: &str, shape| {
        let cells =
            ["polynomial", "fixed"].map(|backend| both("cycles", "m4f", map, backend, shape));
        format!("| {name} | {} |", cells.join(" | "))
    };
    let line = |name: &str, core: &str, map: &str, backend: &str| {
        let shapes = [(4, 64), (8, 128), (16, 128), (32, 256)];
        let cells = shapes.map(|shape| cell(core, map, backend, shape));
        format!("| {name} | {} |", cells.join(" | "))
    };
    let sensor = |name: &str, map: &str| {
        let cells = [("m4f", "polynomial"), ("m3", "fixed"), ("rv32", "fixed"), ("m0", "fixed")]
            .map(|(core, backend)| cell(core, map, backend, (3, 32)));
        format!("| {name} | {} |", cells.join(" | "))
    };
    let detector = |map: &str, opt: &str| -> u64 {
        figure("instructions", "m4f", map, "polynomial", (3, 32), opt).parse().expect("a count")
    };
    // What a leg alone takes, less what is always watched.
    let [level, jumps, spread, values, innovations] =
        ["level", "jump", "spread", "values", "innovations"]
            .map(|leg| detector(leg, "3") - detector("base", "3"));
    vec![
        line("Cortex-M4F, `Fourier`", "m4f", "fourier", "polynomial"),
        line("Cortex-M4F, `Fastfood`", "m4f", "fastfood", "polynomial"),
        line("Cortex-M4F, `Fastfood`, `sincos::Quick`", "m4f", "fastfood", "quick"),
        line("Cortex-M4F, `Fourier`, `micromath`", "m4f", "fourier", "micromath"),
        line("Cortex-M4F, `Fourier`, `libm`", "m4f", "fourier", "libm"),
        line("ARMv6-M, `fixed::Fastfood`", "m0", "fastfood", "fixed"),
        sensor("`Detector`, all legs, 32 frequencies, one row", "detector"),
        sensor("the same while it learns, mean", "learning"),
        sensor("the dearest row, as learning ends or an alarm begins", "peak"),
        sensor("one row with a cycle", "cyclic"),
        sensor("innovations alone", "innovations"),
        sensor("level and jumps alone", "lean"),
        format!(
            "In `f32` without floating-point unit a row takes {} instructions on ARMv6-M",
            figure("instructions", "m0", "detector", "polynomial", (3, 32), "3")
        ),
        format!(
            "Besides, `Detector::save` {} and `Embedding::add` at 64 frequencies {} on a Cortex-M4F",
            cell("m4f", "save", "polynomial", (3, 32)),
            cell("m4f", "fourier", "polynomial", (3, 64))
        ),
        format!(
            "on a Cortex-M4F a row without legs takes {} instructions (standardising, predicting, range, \
             stuck, missing); the level adds {level}, jumps {jumps}, the spread {spread}, the joint \
             distribution of values {values} and of innovations {innovations}",
            detector("base", "3")
        ),
        format!(
            "At \"z\", at which the boards are built, a row of all legs takes {}, and keeping it through \
             a reset {} more",
            detector("detector", "z"),
            detector("keeping", "z")
        ),
        cycles("`Fourier`, 4/64", "fourier", (4, 64)),
        cycles("`Fastfood`, 4/64", "fastfood", (4, 64)),
        cycles("`Detector`, all legs, 3/32, one row", "detector", (3, 32)),
    ]
}

#[test]
fn the_table_of_instructions_is_what_was_counted() {
    // Sentences are broken into lines.
    let unbroken = README.replace('\n', " ").replace("| |", "|\n|");
    let missing: Vec<String> =
        instructions().into_iter().filter(|line| !unbroken.contains(line.as_str())).collect();
    assert!(missing.is_empty(), "README.md should say:\n{}", missing.join("\n"));
}
