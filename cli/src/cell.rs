//! The content of a cell: a number, a time, nothing, or text.

/// The content of a cell.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Cell {
    Number(f32),
    Missing,
    /// A number out of the range of `f32`.
    TooLarge,
    Text,
}

/// Longest number with a decimal comma, in bytes.
const LONGEST: usize = 64;

/// Reads a cell, with a comma or a point before its decimals.
pub(crate) fn kind(cell: &[u8], decimal_comma: bool) -> Cell {
    let cell = cell.trim_ascii();
    let mut copy = [0; LONGEST];
    let number = if decimal_comma { pointed(cell, &mut copy) } else { cell };
    match fast_float2::parse::<f32, _>(number) {
        Ok(value) if value.is_finite() => Cell::Number(value),
        // The words for infinity are not numbers.
        Ok(_) if cell.iter().any(u8::is_ascii_digit) => Cell::TooLarge,
        Ok(_) => Cell::Missing,
        Err(_) if cell.is_empty() => Cell::Missing,
        Err(_) => {
            let blank = [b"na".as_slice(), b"n/a", b"null", b"none", b"-", b"--", b"?"];
            if blank.iter().any(|word| cell.eq_ignore_ascii_case(word)) {
                Cell::Missing
            } else {
                Cell::Text
            }
        }
    }
}

/// A copy of a cell with points for its commas; the cell itself if it is too long for a number.
fn pointed<'c>(cell: &'c [u8], copy: &'c mut [u8; LONGEST]) -> &'c [u8] {
    let Some(copy) = copy.get_mut(..cell.len()) else { return cell };
    for (to, from) in copy.iter_mut().zip(cell) {
        *to = if *from == b',' { b'.' } else { *from };
    }
    copy
}

/// A number in double precision, for times.
pub(crate) fn double(cell: &[u8], decimal_comma: bool) -> Option<f64> {
    let cell = cell.trim_ascii();
    let mut copy = [0; LONGEST];
    let number = if decimal_comma { pointed(cell, &mut copy) } else { cell };
    fast_float2::parse::<f64, _>(number).ok().filter(|number| number.is_finite())
}

/// A cell as text: UTF-8, or else the Latin letters of old spreadsheets. Control characters, which
/// could move the cursor of a terminal, become spaces.
pub(crate) fn text(cell: &[u8]) -> String {
    let printable = |c: char| if c.is_control() { ' ' } else { c };
    match std::str::from_utf8(cell) {
        Ok(text) => text.chars().map(printable).collect(),
        Err(_) => cell.iter().map(|byte| printable(char::from(*byte))).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_numbers_missing_or_text() {
        for (cell, comma, wanted) in [
            ("1.5", false, Cell::Number(1.5)),
            (" -2e3 ", false, Cell::Number(-2000.0)),
            ("", false, Cell::Missing),
            ("NaN", false, Cell::Missing),
            ("inf", false, Cell::Missing),
            ("NA", false, Cell::Missing),
            ("1e39", false, Cell::TooLarge),
            ("-1e300", false, Cell::TooLarge),
            ("1,5", false, Cell::Text),
            ("1,5", true, Cell::Number(1.5)),
            ("-1,5e-1", true, Cell::Number(-0.15)),
            ("1.5", true, Cell::Number(1.5)),
            ("1,2,3", true, Cell::Text),
            ("abc", false, Cell::Text),
        ] {
            assert_eq!(kind(cell.as_bytes(), comma), wanted, "{cell:?}");
        }
        assert_eq!(double(b"1,25", true), Some(1.25));
        assert_eq!(double(b"nan", false), None);
    }

    #[test]
    fn names_are_read_in_utf_8_or_latin_letters() {
        assert_eq!(text("°C\t".as_bytes()), "°C ");
        assert_eq!(text(b"\xb0C"), "°C");
    }
}
