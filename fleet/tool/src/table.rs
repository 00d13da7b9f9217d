//! Results as a table of text, JSON and HTML.

use serde_json::Value;

use crate::fault::Fault;
use crate::output::say;

/// Rows under names.
pub(crate) struct Table {
    pub(crate) names: Vec<&'static str>,
    pub(crate) rows: Vec<Vec<String>>,
}

impl Table {
    pub(crate) fn new(names: &[&'static str]) -> Self {
        Self { names: names.to_vec(), rows: vec![] }
    }

    /// Prints it with aligned columns; nothing if it is empty.
    pub(crate) fn say(&self) -> Result<(), Fault> {
        if self.rows.is_empty() {
            return Ok(());
        }
        let names: Vec<String> = self.names.iter().map(|name| (*name).to_owned()).collect();
        let width = |column: usize| {
            let cells = self.rows.iter().chain([&names]).map(|row| row[column].chars().count());
            cells.max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..self.names.len()).map(width).collect();
        for row in [&names].into_iter().chain(&self.rows) {
            let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
            say(cells.collect::<Vec<_>>().join("  ").trim_end())?;
        }
        Ok(())
    }

    /// As a table of HTML.
    pub(crate) fn html(&self) -> String {
        let row = |tag: &str, cells: &mut dyn Iterator<Item = &str>| {
            let cells: String =
                cells.map(|cell| format!("<{tag}>{}</{tag}>", escaped(cell))).collect();
            format!("<tr>{cells}</tr>\n")
        };
        let head = row("th", &mut self.names.iter().copied());
        let body: String = self
            .rows
            .iter()
            .map(|cells| row("td", &mut cells.iter().map(String::as_str)))
            .collect();
        format!("<table>\n<thead>{head}</thead>\n<tbody>\n{body}</tbody>\n</table>\n")
    }
}

/// Text for HTML and SVG.
pub(crate) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// A number for JSON; null where there is none.
pub(crate) fn known(value: Option<f64>) -> Value {
    value.map_or(Value::Null, number)
}

/// A number for JSON; null for what is not finite.
pub(crate) fn number(value: f64) -> Value {
    serde_json::Number::from_f64(value).map_or(Value::Null, Value::Number)
}
