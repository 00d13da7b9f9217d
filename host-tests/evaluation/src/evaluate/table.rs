//! Results as Markdown.

use std::fmt;

/// A table; the first column is text, the others are numbers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Table {
    lines: Vec<Vec<String>>,
}

impl Table {
    /// A table with these headings.
    #[must_use]
    pub fn new<const N: usize>(headings: [&str; N]) -> Self {
        Self { lines: vec![headings.map(str::to_owned).to_vec()] }
    }

    /// A table with any number of headings.
    #[must_use]
    pub fn of(headings: impl IntoIterator<Item = String>) -> Self {
        Self { lines: vec![headings.into_iter().collect()] }
    }

    /// Adds a line.
    pub fn line(&mut self, cells: impl IntoIterator<Item = String>) {
        self.lines.push(cells.into_iter().collect());
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let columns = self.lines.iter().map(Vec::len).max().unwrap_or(0);
        let width = |column: usize| {
            let cells = self.lines.iter().filter_map(|line| line.get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        for (index, line) in self.lines.iter().enumerate() {
            write!(f, "|")?;
            for column in 0..columns {
                let (cell, width) = (line.get(column).map_or("", String::as_str), width(column));
                match column {
                    0 => write!(f, " {cell:width$} |")?,
                    _ => write!(f, " {cell:>width$} |")?,
                }
            }
            writeln!(f)?;
            if index == 0 {
                write!(f, "|{:-<1$}|", "", width(0) + 2)?;
                for column in 1..columns {
                    write!(f, "{:-<1$}:|", "", width(column) + 1)?;
                }
                writeln!(f)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned() {
        let mut table = Table::new(["family", "x"]);
        table.line(["AR".to_owned(), "0.25".to_owned()]);
        assert_eq!(table.to_string(), "| family |    x |\n|--------|-----:|\n| AR     | 0.25 |\n");
    }
}
