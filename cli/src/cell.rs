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

/// How numbers are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Decimals {
    /// Whether a comma stands before the decimals; a point is read, too.
    pub(crate) comma: bool,
    /// Whether the other sign parts thousands: 1.234 is then above a thousand. Without it, only what has
    /// no other meaning is read so: 1.234,5 and 1.234.567.
    pub(crate) grouped: bool,
}

impl Decimals {
    pub(crate) const POINT: Self = Self { comma: false, grouped: false };
    pub(crate) const COMMA: Self = Self { comma: true, grouped: false };

    /// The same with thousands in groups.
    pub(crate) fn in_groups(self) -> Self {
        Self { grouped: true, ..self }
    }
}

/// Longest number with a decimal comma, in bytes.
const LONGEST: usize = 64;
/// Words for no reading.
const BLANK: [&[u8]; 10] =
    [b"na", b"n/a", b"null", b"none", b"-", b"--", b"?", b"#n/a", b"#na", b"<na>"];

/// Reads a cell.
pub(crate) fn kind(cell: &[u8], decimals: Decimals) -> Cell {
    let cell = cell.trim_ascii();
    match parsed::<f32>(cell, decimals) {
        Some(value) if value.is_finite() => Cell::Number(value),
        // The words for infinity are not numbers.
        Some(_) if cell.iter().any(u8::is_ascii_digit) => Cell::TooLarge,
        Some(_) => Cell::Missing,
        None if cell.is_empty() || is_blank(cell) => Cell::Missing,
        None => Cell::Text,
    }
}

/// Whether this is a word for no reading.
pub(crate) fn is_blank(cell: &[u8]) -> bool {
    BLANK.iter().any(|word| cell.eq_ignore_ascii_case(word))
}

/// Whether a number has its thousands in groups, and could mean nothing else.
pub(crate) fn is_in_groups(cell: &[u8], decimals: Decimals) -> bool {
    let alone = Decimals { grouped: false, ..decimals };
    ungrouped(cell.trim_ascii(), alone, &mut [0; LONGEST]).is_some()
}

fn parsed<T: fast_float2::FastFloat>(cell: &[u8], decimals: Decimals) -> Option<T> {
    let mut copy = [0; LONGEST];
    // It would pass for a number with decimals.
    if decimals == Decimals::COMMA.in_groups()
        && let Some(number) = ungrouped(cell, decimals, &mut copy)
    {
        return fast_float2::parse(number).ok();
    }
    let number = if decimals.comma { pointed(cell, &mut copy) } else { cell };
    if let Ok(number) = fast_float2::parse(number) {
        return Some(number);
    }
    fast_float2::parse(ungrouped(cell, decimals, &mut copy)?).ok()
}

/// A copy of a number like 1,234,567.8 without what parts its thousands; `None` if it is none.
fn ungrouped<'c>(cell: &[u8], decimals: Decimals, copy: &'c mut [u8; LONGEST]) -> Option<&'c [u8]> {
    let (parting, point) = if decimals.comma { (b'.', b',') } else { (b',', b'.') };
    let (sign, number) = cell.split_at(usize::from(matches!(cell.first(), Some(b'-' | b'+'))));
    let end = number.iter().position(|byte| *byte == point).unwrap_or(number.len());
    let (whole, fraction) = number.split_at(end);
    let mut groups = whole.split(|byte| *byte == parting);
    let digits = |part: &[u8]| part.iter().all(u8::is_ascii_digit);
    let first = groups.next().filter(|first| (1..=3).contains(&first.len()) && digits(first))?;
    let (mut count, mut length) = (0, 0);
    let mut put = |part: &[u8]| {
        copy.get_mut(length..length + part.len())?.copy_from_slice(part);
        length += part.len();
        Some(())
    };
    put(sign)?;
    put(first)?;
    for group in groups {
        (group.len() == 3 && digits(group)).then_some(())?;
        put(group)?;
        count += 1;
    }
    if let Some(fraction) = fraction.get(1..) {
        digits(fraction).then_some(())?;
        put(b".")?;
        put(fraction)?;
    }
    let one_meaning = count > 1 || (count == 1 && (decimals.grouped || !fraction.is_empty()));
    one_meaning.then(|| copy.get(..length))?
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
pub(crate) fn double(cell: &[u8], decimals: Decimals) -> Option<f64> {
    parsed::<f64>(cell.trim_ascii(), decimals).filter(|number| number.is_finite())
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
            ("#N/A", false, Cell::Missing),
            ("#N/B", false, Cell::Text),
        ] {
            let decimals = if comma { Decimals::COMMA } else { Decimals::POINT };
            assert_eq!(kind(cell.as_bytes(), decimals), wanted, "{cell:?}");
        }
        assert_eq!(double(b"1,25", Decimals::COMMA), Some(1.25));
        assert_eq!(double(b"nan", Decimals::POINT), None);
    }

    #[test]
    fn thousands_are_read_in_groups() {
        // By a point, by a point in groups, by a comma, by a comma in groups.
        for (cell, wanted) in [
            ("1,234.5", [Some(1234.5), Some(1234.5), None, None]),
            ("-1,234,567", [Some(-1_234_567.0), Some(-1_234_567.0), None, None]),
            ("1,234", [None, Some(1234.0), Some(1.234), Some(1.234)]),
            ("1.234,5", [None, None, Some(1234.5), Some(1234.5)]),
            ("1.234.567", [None, None, Some(1_234_567.0), Some(1_234_567.0)]),
            ("1.234", [Some(1.234), Some(1.234), Some(1.234), Some(1234.0)]),
            ("0.5", [Some(0.5); 4]),
            ("1,23.5", [None; 4]),
            ("1234,567.5", [None; 4]),
            ("1,234.5,6", [None; 4]),
            (",234.5", [None; 4]),
            ("1,234.x", [None; 4]),
        ] {
            let [point, comma] = [Decimals::POINT, Decimals::COMMA];
            let all = [point, point.in_groups(), comma, comma.in_groups()];
            assert_eq!(all.map(|it| double(cell.as_bytes(), it)), wanted, "{cell}");
        }
        assert!(is_in_groups(b"1.234,5", Decimals::COMMA.in_groups()));
        assert!(!is_in_groups(b"1.234", Decimals::COMMA.in_groups()));
    }

    #[test]
    fn names_are_read_in_utf_8_or_latin_letters() {
        assert_eq!(text("°C\t".as_bytes()), "°C ");
        assert_eq!(text(b"\xb0C"), "°C");
    }
}
