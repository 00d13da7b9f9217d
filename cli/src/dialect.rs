//! How a table is written: its separator, decimal sign, header, units and comments, as its first
//! lines show.

use crate::cell::{self, Cell, Decimals};
use crate::time;

/// Separators, the likelier first.
const SEPARATORS: [Separator; 5] = [
    Separator::Byte(b','),
    Separator::Byte(b';'),
    Separator::Byte(b'\t'),
    Separator::Byte(b'|'),
    Separator::Spaces,
];
/// Rows that are looked at.
pub(crate) const SAMPLED_ROWS: usize = 256;

/// What stands between two cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Separator {
    Byte(u8),
    /// Any number of spaces and tabs.
    Spaces,
}

impl Separator {
    /// In words.
    pub(crate) fn name(self) -> String {
        match self {
            Self::Byte(b',') => "comma".to_owned(),
            Self::Byte(b';') => "semicolon".to_owned(),
            Self::Byte(b'\t') => "tab".to_owned(),
            Self::Byte(b'|') => "bar".to_owned(),
            Self::Byte(other) => format!("{:?}", char::from(other)),
            Self::Spaces => "spaces".to_owned(),
        }
    }

    /// As it is given on the command line.
    pub(crate) fn argument(self) -> String {
        match self {
            Self::Byte(b'\t') => "tab".to_owned(),
            Self::Byte(byte) => char::from(byte).to_string(),
            Self::Spaces => "spaces".to_owned(),
        }
    }

    /// The cells of a line.
    pub(crate) fn cells(self, line: &[u8]) -> Vec<Vec<u8>> {
        let Self::Byte(separator) = self else {
            let cells = line.split(|byte| byte.is_ascii_whitespace());
            return cells.filter(|cell| !cell.is_empty()).map(<[u8]>::to_vec).collect();
        };
        let end = line.iter().rposition(|byte| !matches!(byte, b'\n' | b'\r'));
        let line = end.map_or(&line[..0], |end| &line[..=end]);
        let (mut cells, mut cell, mut quoted) = (Vec::new(), Vec::new(), false);
        for byte in line {
            match byte {
                b'"' => quoted = !quoted,
                byte if *byte == separator && !quoted => cells.push(std::mem::take(&mut cell)),
                byte => cell.push(*byte),
            }
        }
        cells.push(cell);
        cells
    }
}

impl std::str::FromStr for Separator {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "comma" => Ok(Self::Byte(b',')),
            "semicolon" => Ok(Self::Byte(b';')),
            "tab" | "\\t" | "\t" => Ok(Self::Byte(b'\t')),
            "bar" | "pipe" => Ok(Self::Byte(b'|')),
            "space" | "spaces" | " " => Ok(Self::Spaces),
            _ => match text.as_bytes() {
                [byte] if byte.is_ascii_punctuation() && *byte != b'"' => Ok(Self::Byte(*byte)),
                _ => Err("one character, or one of the words comma, semicolon, tab, bar and \
                          spaces"
                    .to_owned()),
            },
        }
    }
}

/// How a table is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Dialect {
    pub(crate) separator: Separator,
    pub(crate) decimals: Decimals,
    /// The character with which comments begin.
    pub(crate) comment: Option<u8>,
    /// Lines of text before the table that are no comments.
    pub(crate) preamble: usize,
    /// The header.
    pub(crate) names: Option<Vec<String>>,
    pub(crate) units: Option<Vec<String>>,
    pub(crate) width: usize,
    /// Lines and bytes before the first row of data.
    pub(crate) lines_before: usize,
    pub(crate) bytes_before: usize,
    /// The first rows of data.
    pub(crate) sample: Vec<Vec<Vec<u8>>>,
}

/// A line of the beginning that is neither empty nor a comment.
struct Line<'a> {
    /// Lines and bytes before it.
    lines: usize,
    bytes: usize,
    text: &'a [u8],
}

/// What one separator makes of the lines.
struct Split {
    separator: Separator,
    decimals: Decimals,
    width: usize,
    /// From 0 to 1.
    fit: f64,
}

/// Reads how a table is written from its first lines; `None` if there are none.
pub(crate) fn sniffed(head: &[u8], given: Option<Separator>) -> Option<Dialect> {
    let comment = comment_sign(head);
    let (mut lines, mut comments, mut bytes) = (Vec::new(), Vec::new(), 0);
    for (number, text) in head.split_inclusive(|byte| *byte == b'\n').enumerate() {
        let trimmed = text.trim_ascii();
        if comment.is_some_and(|sign| trimmed.first() == Some(&sign)) {
            comments.push((lines.len(), trimmed));
        } else if !trimmed.is_empty() {
            lines.push(Line { lines: number, bytes, text });
        }
        bytes += text.len();
    }
    let candidates: &[Separator] = match &given {
        Some(given) => std::slice::from_ref(given),
        None => &SEPARATORS,
    };
    let splits = candidates.iter().filter_map(|separator| split(*separator, &lines));
    // `max_by` returns the last of equal ones.
    let best = splits.rev().max_by(|a, b| a.fit.total_cmp(&b.fit))?;
    let Split { separator, decimals, width, .. } = best;
    let rows: Vec<Vec<Vec<u8>>> = lines.iter().map(|line| separator.cells(line.text)).collect();
    let first = rows.iter().position(|row| row.len() == width)?;
    let is_value = |cell: &Vec<u8>| {
        let is_number = matches!(cell::kind(cell, decimals), Cell::Number(_) | Cell::TooLarge);
        is_number || time::is_stamp(cell)
    };
    let has_names = |row: &[Vec<u8>]| !row.iter().any(is_value);
    let words = |row: &[Vec<u8>]| -> Vec<String> {
        row.iter().map(|cell| cell::text(cell).trim().to_owned()).collect()
    };
    let (mut names, mut units, mut data) = (None, None, first);
    // Some programs end rows, but not the header, with a separator.
    let shorter = first.checked_sub(1).map(|before| words(&rows[before])).filter(|names| {
        let ends_empty = |row: &Vec<Vec<u8>>| row.len() != width || row[width - 1].is_empty();
        names.len() + 1 == width && has_names(&rows[first - 1]) && rows.iter().all(ends_empty)
    });
    let ended = shorter.is_some();
    if let Some(mut shorter) = shorter {
        shorter.push(String::new());
        names = Some(shorter);
    } else if has_names(&rows[first]) {
        names = Some(words(&rows[first]));
        data = first + 1;
        // Text above a column of numbers, once more.
        let above = |row: &Vec<Vec<u8>>, below: &Vec<Vec<u8>>| {
            let is_text = |cell: &Vec<u8>| cell::kind(cell, decimals) == Cell::Text;
            row.iter().zip(below).any(|(cell, below)| is_text(cell) && is_value(below))
        };
        if let (Some(row), Some(below)) = (rows.get(data), rows.get(data + 1)) {
            let whole = row.len() == width && words(row) != words(&rows[first]);
            if whole && has_names(row) && above(row, below) {
                units = Some(words(row));
                data += 1;
            }
        }
    } else if let Some((_, text)) = comments.iter().rfind(|(before, _)| *before <= first) {
        // Some programs write the header as a comment.
        let row = separator.cells(text.get(1..).unwrap_or_default().trim_ascii());
        names = (row.len() == width && has_names(&row)).then(|| words(&row));
    }
    let end = lines.get(data).map_or((0, head.len()), |line| (line.lines, line.bytes));
    Some(Dialect {
        separator,
        decimals,
        comment,
        preamble: if ended { first - 1 } else { first },
        names,
        units,
        width,
        lines_before: end.0,
        bytes_before: end.1,
        sample: rows
            .into_iter()
            .skip(data)
            .filter(|row| row.len() == width)
            .take(SAMPLED_ROWS)
            .collect(),
    })
}

/// The sign that begins comments: one that begins a line of the beginning.
fn comment_sign(head: &[u8]) -> Option<u8> {
    let lines = || head.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    // Spreadsheets write #N/A where there is no value.
    let is_value = |line: &[u8]| {
        let end = line.iter().position(|byte| b",;\t| ".contains(byte)).unwrap_or(line.len());
        cell::is_blank(&line[..end])
    };
    let begins = |sign: &u8| lines().any(|line| line.first() == Some(sign) && !is_value(line));
    // A percent sign begins comments only where it begins the first line.
    let percent = lines().next().is_some_and(|line| line.first() == Some(&b'%'));
    [b'#'].into_iter().find(begins).or(percent.then_some(b'%'))
}

/// What a separator makes of the lines; `None` without any.
fn split(separator: Separator, lines: &[Line<'_>]) -> Option<Split> {
    let rows: Vec<Vec<Vec<u8>>> =
        lines.iter().take(SAMPLED_ROWS).map(|line| separator.cells(line.text)).collect();
    // The usual number of cells; of equally usual ones the larger.
    let times = |width: usize| rows.iter().filter(|row| row.len() == width).count();
    let width = rows.iter().map(Vec::len).max_by_key(|width| (times(*width), *width))?;
    let usual: Vec<&Vec<Vec<u8>>> = rows.iter().filter(|row| row.len() == width).collect();
    // Names and units say little.
    let data = usual.get(2.min(usual.len() / 3)..).unwrap_or_default();
    let fit = |decimals: Decimals| {
        let good =
            |cell: &Vec<u8>| cell::kind(cell, decimals) != Cell::Text || time::is_stamp(cell);
        let cells = data.iter().flat_map(|row| row.iter());
        let (all, good) =
            cells.fold((0, 0), |(all, count), cell| (all + 1, count + usize::from(good(cell))));
        let part = |some: usize, all: usize| {
            fastmmd_reference::real(some) / fastmmd_reference::real(all.max(1))
        };
        // One column fits every line: it must not beat two.
        let alone = if width > 1 { 1.0 } else { 0.5 };
        alone * part(good, all) * part(usual.len(), rows.len())
    };
    let (point, comma) = (Decimals::POINT, Decimals::COMMA);
    // Of equally good ones the first: a comma between commas parts thousands, in quotes.
    let ways = match separator {
        Separator::Byte(b',') => [point, point.in_groups(), comma, comma.in_groups()],
        _ => [point, comma, point.in_groups(), comma.in_groups()],
    };
    // `max_by` returns the last of equal ones.
    let ways = ways.into_iter().rev().map(|way| (way, fit(way)));
    let (mut decimals, fit) = ways.max_by(|a, b| a.1.total_cmp(&b.1))?;
    let mut cells = data.iter().flat_map(|row| row.iter());
    decimals.grouped |= cells.any(|cell| cell::is_in_groups(cell, decimals));
    Some(Split { separator, decimals, width, fit })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Dialect {
        sniffed(text.as_bytes(), None).expect("lines")
    }

    fn names(dialect: &Dialect) -> String {
        dialect.names.as_ref().map_or("-".to_owned(), |names| names.join(" "))
    }

    #[test]
    fn separators_and_decimal_signs_are_told_apart() {
        for (text, separator, comma, width) in [
            ("a,b\n1.5,2\n3,4\n", "comma", false, 2),
            ("a;b\n1,5;2\n3;4\n", "semicolon", true, 2),
            ("1,5;2,5\n3,5;4,5\n1,0;2,0\n", "semicolon", true, 2),
            ("a\tb\n1,5\t2\n3\t4\n", "tab", true, 2),
            ("a|b|c\n1|2|x\n", "bar", false, 3),
            ("a b\n1.5   2\n3 \t 4\n", "spaces", false, 2),
            ("1,5 2,5\n3,5 4,5\n7,5 8,5\n", "spaces", true, 2),
            ("t, a\n2024-01-01 10:00:00, 1.5\n2024-01-01 10:00:01, 1.5\n", "comma", false, 2),
            ("alone\n1.5\n2.5\n", "comma", false, 1),
            ("a,\"b; c\"\n1,2\n3,4\n", "comma", false, 2),
            ("a;b\n1.234,5;2\n1.000,5;4\n2,5;3\n", "semicolon", true, 2),
            ("a;b\n1,234;2\n3,456;4\n", "semicolon", true, 2),
            ("a,b\n\"1,234.5\",2\n3,4\n", "comma", false, 2),
            ("a,b\n\"1,234\",2\n3,4\n", "comma", false, 2),
            ("a,b\n\"1,5\",\"2,5\"\n\"0,5\",\"4,5\"\n", "comma", true, 2),
        ] {
            let dialect = of(text);
            let found = (dialect.separator.name(), dialect.decimals.comma, dialect.width);
            assert_eq!(found, (separator.to_owned(), comma, width), "{text:?}");
            let grouped = text.contains("1.234,5") || text.contains("\"1,234");
            assert_eq!(dialect.decimals.grouped, grouped, "{text:?}");
        }
        let given = sniffed(b"a;b,c\n1;2,3\n", Some(Separator::Byte(b';'))).expect("lines");
        assert_eq!((given.width, given.decimals), (2, Decimals::COMMA));
    }

    #[test]
    fn headers_units_and_comments_are_found() {
        let plain = of("time,a\n1,2\n3,4\n");
        assert_eq!(
            (names(&plain), plain.lines_before, plain.bytes_before),
            ("time a".into(), 1, 7)
        );
        assert_eq!((plain.sample.len(), plain.units), (2, None));
        let bare = of("1,2\n3,4\n");
        assert_eq!((names(&bare), bare.lines_before), ("-".into(), 0));
        let units = of("time,a\ns,°C\n1,2\n3,4\n");
        assert_eq!(units.units, Some(vec!["s".to_owned(), "°C".to_owned()]));
        let said = of("# made by a logger\n# time a\n0.1 2\n0.2 4\n");
        assert_eq!((names(&said), said.comment), ("time a".into(), Some(b'#')));
        let boot = of("Logger 2.1\nready\n\ntime,a,b\n1,2,3\n3,4,5\n6,7,8\n");
        assert_eq!((names(&boot), boot.preamble, boot.lines_before), ("time a b".into(), 2, 4));
        let ended = of("a,b\n1,2,\n3,4,\n");
        assert_eq!((names(&ended), ended.preamble, ended.width), ("a b ".into(), 0, 3));
        // A row without readings is no row of units, nor is a header that comes again.
        assert_eq!(of("a,b\nNaN,\n1,2\n").units, None);
        assert_eq!(of("a,b\na,b\n1,2\n").units, None);
        assert!(sniffed(b"\n\n", None).is_none());
    }
}
