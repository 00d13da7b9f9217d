//! A page of HTML that needs nothing else.

use std::path::Path;

use crate::fault::Fault;
use crate::fleet::Fleet;
use crate::table::{Table, escaped};

const STYLE: &str = "body{font-family:sans-serif;max-width:60em;margin:2em auto;padding:0 1em;\
    color:#222;background:#fff}table{border-collapse:collapse;font-variant-numeric:tabular-nums}\
    th,td{padding:.2em .7em;border-bottom:1px solid #ddd;text-align:left}svg{max-width:40em;\
    width:100%;height:auto}p.note{color:#666}";

pub(crate) struct Page {
    title: String,
    body: String,
}

impl Page {
    pub(crate) fn new(title: &str, summary: &str) -> Self {
        let body = format!("<h1>{}</h1>\n<p>{}</p>\n", escaped(title), escaped(summary));
        Self { title: title.to_owned(), body }
    }

    /// Adds an SVG.
    pub(crate) fn picture(&mut self, svg: &str) {
        self.body.push_str(svg);
    }

    pub(crate) fn table(&mut self, table: &Table) {
        self.body.push_str(&table.html());
    }

    /// What was looked at, and what was not.
    pub(crate) fn notes(&mut self, fleet: &Fleet) {
        fleet.notes().iter().for_each(|note| self.note(note));
        self.note(&format!("map: {}", fleet.map));
    }

    pub(crate) fn note(&mut self, text: &str) {
        self.body.push_str(&format!("<p class=\"note\">{}</p>\n", escaped(text)));
    }

    pub(crate) fn write(self, path: &Path) -> Result<(), Fault> {
        let Self { title, body } = self;
        let html = format!(
            "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{}</title>\
             <style>{STYLE}</style></head><body>\n{body}</body></html>\n",
            escaped(&title)
        );
        std::fs::write(path, html).map_err(|error| Fault::of(path, error))
    }
}
