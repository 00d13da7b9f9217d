//! The page as one file, with the results of a log inside.

use serde_json::Value;

/// The page, and the files that it loads. They are put inside, so that the report needs no other file
/// and no address.
const PAGE: &str = include_str!("../../web/page/index.html");
const STYLE: (&str, &str) =
    (r#"<link rel="stylesheet" href="style.css">"#, include_str!("../../web/page/style.css"));
const SCRIPTS: [(&str, &str); 3] = [
    (r#"<script src="chart.js"></script>"#, include_str!("../../web/page/chart.js")),
    (r#"<script src="view.js"></script>"#, include_str!("../../web/page/view.js")),
    (r#"<script src="app.js"></script>"#, include_str!("../../web/page/app.js")),
];
/// What the page may load, and what a report may: what is inside.
const POLICIES: (&str, &str) = (
    "script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; connect-src 'self'; worker-src 'self';",
    "script-src 'unsafe-inline'; style-src 'unsafe-inline';",
);

/// A report of these results.
pub(crate) fn report(results: &Value) -> String {
    // In a script of HTML, `<` may begin the end of the script.
    let results = results.to_string().replace('<', "\\u003c");
    let results = format!(r#"<script type="application/json" id="results">{results}</script>"#);
    let mut page = PAGE.replace(POLICIES.0, POLICIES.1);
    page = page.replace(STYLE.0, &format!("<style>\n{}</style>", STYLE.1));
    for (at, (link, script)) in SCRIPTS.into_iter().enumerate() {
        let before = if at == 0 { results.as_str() } else { "" };
        page = page.replace(link, &format!("{before}\n<script>\n{script}</script>"));
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_report_holds_everything_and_names_no_other_file() {
        let report = report(&json!({ "log": "</script><b>", "names": ["a < b"] }));
        for part in [POLICIES.1, STYLE.1].into_iter().chain(SCRIPTS.map(|(_, script)| script)) {
            assert_eq!(report.matches(part).count(), 1, "{}", part.lines().next().unwrap_or(""));
        }
        for link in ["src=", "href=\"style", "'self'", "</script><b>", "://"] {
            assert!(!report.contains(link), "{link}");
        }
        assert!(report.contains(r#""log":"\u003c/script>\u003cb>""#));
        // The control: the page itself has links.
        assert!(PAGE.contains("src=") && PAGE.contains("'self'"));
        // Text of a script that would end it.
        assert!(SCRIPTS.iter().all(|(_, script)| !script.contains("</script")));
    }
}
