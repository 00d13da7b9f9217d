//! What the tools, the firmware and the packages are made of: licences and sources of all dependencies
//! against `deny.toml`, and a bill of materials.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::outcome::{Failures, Outcome};
use crate::project::Project;

/// The workspaces that something is delivered from, and the names of their bills.
const WORKSPACES: [(&str, &str); 8] = [
    (".", "fastmmd"),
    ("capi", "capi"),
    ("firmware", "firmware"),
    ("firmware/async", "async"),
    ("firmware/async/esp32c3", "esp32c3"),
    ("fleet", "fleet"),
    ("python", "python"),
    ("web", "page"),
];

const RULES: &str = "deny.toml";

/// The only source of packages besides the checkout itself.
const REGISTRY: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// A package, as `cargo metadata` tells it.
#[derive(Deserialize)]
struct Package {
    name: String,
    version: String,
    license: Option<String>,
    /// None for those of the checkout.
    source: Option<String>,
}

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

pub(crate) fn run(project: &Project) -> Result<Outcome> {
    let rules = project.read(RULES)?;
    let allowed = allowed(&rules)?;
    let mut failures = Failures::default();
    for (directory, name) in WORKSPACES {
        let packages = packages(project, directory)?;
        let count = packages.len();
        let refused = refused(&packages, &allowed);
        let result =
            if refused.is_empty() { Ok(()) } else { Err(anyhow::anyhow!(refused.join("; "))) };
        failures.note(&format!("{name}: licences and sources of {count} packages"), result);
        let file = project.scratch("sbom").join(format!("{name}.cdx.json"));
        failures.note(&format!("{name}: {}", file.display()), write(&file, &bill(name, &packages)));
    }
    if project.cargo().args(["deny", "--version"]).output().is_err() {
        println!("    not checked for known weaknesses: no cargo-deny (cargo install cargo-deny)");
        return failures.finish();
    }
    let file = project.path(RULES);
    for (directory, name) in WORKSPACES {
        let deny = || {
            let cargo = project.cargo().within(&project.path(directory));
            cargo.args(["deny", "--offline", "check", "--config"]).arg(&file)
        };
        let result = deny().args(["licenses", "bans", "sources"]).run();
        failures.note(&format!("{name}: cargo deny"), result);
        // Only where the database of advisories was fetched before: a failure may be its absence.
        let known = deny().arg("advisories").attempt()?;
        if known.success {
            println!("    ok: {name}: no known weakness");
        } else if known.stderr.contains("failed to fetch") || known.stderr.contains("advisory-db") {
            println!("    not checked for known weaknesses: no database (cargo deny fetch)");
        } else {
            failures
                .note(&format!("{name}: no known weakness"), Err(anyhow::anyhow!(known.stderr)));
        }
    }
    failures.finish()
}

/// All packages of a workspace, for any target and with any feature.
fn packages(project: &Project, directory: &str) -> Result<Vec<Package>> {
    let cargo = project.cargo().within(&project.path(directory));
    let arguments = ["metadata", "--format-version=1", "--locked", "--all-features"];
    let told = cargo.args(arguments).output()?;
    let metadata: Metadata = serde_json::from_str(&told).context("cargo metadata")?;
    Ok(metadata.packages)
}

/// The licences that the rules allow.
fn allowed(rules: &str) -> Result<Vec<&str>> {
    let list = rules.split_once("allow = [").and_then(|(_, rest)| rest.split_once(']'));
    let (list, _) = list.context("no list of licences in the rules")?;
    Ok(list
        .split(',')
        .map(|name| name.trim().trim_matches('"'))
        .filter(|it| !it.is_empty())
        .collect())
}

/// Packages that have another licence or come from elsewhere.
fn refused(packages: &[Package], allowed: &[&str]) -> Vec<String> {
    let mut refused = Vec::new();
    for Package { name, version, license, source } in packages {
        let terms = license.as_deref().unwrap_or("none");
        if !permits(terms, allowed) {
            refused.push(format!("{name} {version} has the licence {terms}"));
        }
        if let Some(source) = source.as_deref().filter(|source| *source != REGISTRY) {
            refused.push(format!("{name} {version} is from {source}"));
        }
    }
    refused
}

/// Whether the allowed licences satisfy an expression such as `(MIT OR Apache-2.0) AND Unicode-3.0`; `/`
/// is the old way to write OR.
fn permits(expression: &str, allowed: &[&str]) -> bool {
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let mut words = spaced.split_whitespace().collect::<Vec<_>>().into_iter().peekable();
    let whole = any(&mut words, allowed);
    whole && words.next().is_none()
}

type Words<'a> = std::iter::Peekable<std::vec::IntoIter<&'a str>>;

fn any(words: &mut Words<'_>, allowed: &[&str]) -> bool {
    let mut found = all(words, allowed);
    while words.next_if_eq(&"OR").is_some() {
        found |= all(words, allowed);
    }
    found
}

fn all(words: &mut Words<'_>, allowed: &[&str]) -> bool {
    let mut found = one(words, allowed);
    while words.next_if_eq(&"AND").is_some() {
        found &= one(words, allowed);
    }
    found
}

fn one(words: &mut Words<'_>, allowed: &[&str]) -> bool {
    match words.next() {
        Some("(") => {
            let found = any(words, allowed);
            words.next_if_eq(&")").is_some() && found
        }
        Some(name) if words.next_if_eq(&"WITH").is_some() => {
            let exception = words.next().unwrap_or_default();
            allowed.contains(&format!("{name} WITH {exception}").as_str())
        }
        Some(name) => allowed.contains(&name),
        None => false,
    }
}

/// A bill of materials in the format CycloneDX.
fn bill(name: &str, packages: &[Package]) -> Value {
    let component = |package: &Package| {
        let Package { name, version, license, source } = package;
        let mut component = json!({ "type": "library", "name": name, "version": version });
        if source.is_some() {
            component["purl"] = json!(format!("pkg:cargo/{name}@{version}"));
        }
        if let Some(license) = license {
            component["licenses"] = json!([{ "expression": license.replace('/', " OR ") }]);
        }
        component
    };
    json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": { "component": { "type": "application", "name": name } },
        "components": packages.iter().map(component).collect::<Vec<_>>(),
    })
}

fn write(file: &Path, bill: &Value) -> Result<()> {
    let Some(directory) = file.parent() else { bail!("no directory") };
    fs::create_dir_all(directory)?;
    Ok(fs::write(file, serde_json::to_string_pretty(bill)? + "\n")?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(license: &str, source: Option<&str>) -> Package {
        let [name, version] = ["one", "1.2.3"].map(str::to_owned);
        Package { name, version, license: Some(license.into()), source: source.map(str::to_owned) }
    }

    #[test]
    fn expressions_are_permitted_by_what_they_say() {
        let allowed = ["MIT", "Apache-2.0 WITH LLVM-exception", "Unicode-3.0"];
        for good in [
            "MIT",
            "MIT/Apache-2.0",
            "GPL-3.0 OR MIT",
            "(GPL-3.0 OR MIT) AND Unicode-3.0",
            "Apache-2.0 WITH LLVM-exception OR GPL-3.0",
        ] {
            assert!(permits(good, &allowed), "{good}");
        }
        for bad in [
            "",
            "none",
            "GPL-3.0",
            "Apache-2.0",
            "MIT AND GPL-3.0",
            "GPL-3.0 OR MIT AND GPL-2.0",
            "(MIT OR GPL-3.0) AND Apache-2.0",
            "(MIT",
            "MIT GPL-3.0",
            "Apache-2.0 WITH other",
        ] {
            assert!(!permits(bad, &allowed), "{bad}");
        }
    }

    #[test]
    fn other_licences_and_sources_are_refused() {
        let rules = include_str!("../../deny.toml");
        let allowed = allowed(rules).unwrap();
        assert!(allowed.contains(&"MIT") && !allowed.contains(&"GPL-3.0"));
        let packages = [
            package("MIT", Some(REGISTRY)),
            package("MIT", None),
            package("GPL-3.0", Some(REGISTRY)),
            package("MIT", Some("git+https://example.org/one")),
        ];
        assert_eq!(refused(&packages, &allowed).len(), 2);
        assert_eq!(bill("tool", &packages)["components"].as_array().unwrap().len(), 4);
        assert_eq!(bill("tool", &packages)["components"][0]["purl"], "pkg:cargo/one@1.2.3");
    }
}
