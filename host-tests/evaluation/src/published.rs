//! Checks the README's figures against measured ones.

const README: &str = include_str!("../../../README.md");

/// Fails unless the README contains this line.
///
/// # Panics
/// With the line that is missing.
pub fn hold_line(line: &str) {
    assert!(README.lines().any(|other| other == line), "README.md should say:\n{line}");
}

/// Fails if `value`, rounded to one digit, exceeds the figure in the second cell of the README's
/// line that begins with `row`.
///
/// # Panics
/// With both figures.
pub fn hold_at_most(row: &str, value: f64) {
    let start = format!("| {row} |");
    let line = README.lines().find_map(|line| line.strip_prefix(&start));
    let cell = line.and_then(|rest| rest.split('|').next()).unwrap_or_default().trim();
    let admitted: f64 = cell.parse().unwrap_or_else(|_| panic!("README.md: no figure in {start}"));
    let rounded: f64 = format!("{value:.0e}").parse().unwrap_or(f64::NAN);
    assert!(rounded <= admitted, "README.md says {row}: {cell}; measured {value:.1e}");
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROW: &str = "mean of 10⁹ samples, error";

    #[test]
    fn a_figure_too_good_is_caught() {
        hold_at_most(ROW, 1e-12);
        assert!(std::panic::catch_unwind(|| hold_at_most(ROW, 1.0)).is_err());
        assert!(std::panic::catch_unwind(|| hold_at_most(ROW, f64::NAN)).is_err());
        assert!(std::panic::catch_unwind(|| hold_at_most("no such row", 0.0)).is_err());
    }

    #[test]
    fn a_line_that_is_not_there_is_caught() {
        hold_line("# fastmmd");
        assert!(std::panic::catch_unwind(|| hold_line("| no such line |")).is_err());
    }
}
