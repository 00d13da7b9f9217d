//! The README's table of costs, made anew and compared.

use fastmmd::detector::{Detector, Raw};
use fastmmd::innovation::Innovation;
use fastmmd::{Fourier, TwoSample};

const README: &str = include_str!("../../README.md");

type RawValues<const C: usize> = Detector<'static, Fourier<C, 64>, Raw, C, C, 64, 4>;
type Innovations<const C: usize> = Detector<'static, Fourier<C, 16>, Innovation<C>, C, C, 16, 3>;
type Pair<const C: usize> = TwoSample<'static, Fourier<C, 64>, C, 64>;

/// The rows of the table of costs, as they should stand.
fn rows() -> [String; 4] {
    let row = |name: &str, [one, three, eight]: [usize; 3]| {
        format!("| {name} | {one} | {three} | {eight} |")
    };
    [
        row(
            "`Detector`, raw values, 64 frequencies, 4 windows",
            [size_of::<RawValues<1>>(), size_of::<RawValues<3>>(), size_of::<RawValues<8>>()],
        ),
        row(
            "`Detector`, innovations, 16 frequencies, 3 windows",
            [size_of::<Innovations<1>>(), size_of::<Innovations<3>>(), size_of::<Innovations<8>>()],
        ),
        row(
            "`TwoSample`, 64 frequencies",
            [size_of::<Pair<1>>(), size_of::<Pair<3>>(), size_of::<Pair<8>>()],
        ),
        row(
            "map in flash, 64 frequencies",
            [size_of::<Fourier<1, 64>>(), size_of::<Fourier<3, 64>>(), size_of::<Fourier<8, 64>>()],
        ),
    ]
}

/// The rows that do not stand in a text.
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
    let example = include_str!("../../examples/quickstart.rs");
    let code = example.split_once("\n\n").map_or(example, |(_, code)| code);
    assert!(README.contains(code.trim_end()), "README.md shows another quickstart");
}
