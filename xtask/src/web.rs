//! The page in `web/`: builds it, serves it on this computer, and tests it in a browser.

use std::env;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::thread;

use anyhow::{Context, Result, bail};

use crate::outcome::{Failures, Outcome};
use crate::project::{Project, Tool};
use crate::setup;

pub(crate) const TARGET: &str = "wasm32-unknown-unknown";
/// Names of the browser, the first of Debian.
const BROWSERS: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];

/// Options of `cargo xtask web`.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Only build it, into target/web.
    #[arg(long)]
    build: bool,
    /// Port to serve it on; 0 takes a free one.
    #[arg(long, value_name = "N", default_value_t = 8000)]
    port: u16,
}

pub(crate) fn run(project: &Project, arguments: &Arguments) -> Result<Outcome> {
    let directory = build(project)?;
    if arguments.build {
        println!("{}", directory.display());
        return Ok(Outcome::Passed);
    }
    let port = arguments.port;
    let listener = TcpListener::bind(("127.0.0.1", port))
        .with_context(|| format!("port {port} cannot be used: choose another with --port"))?;
    println!("http://{}/ (ends with Ctrl-C)", listener.local_addr()?);
    serve(&listener, &directory);
    Ok(Outcome::Passed)
}

/// Cargo for the module of the page.
pub(crate) fn cargo(project: &Project, subcommand: &str) -> Tool {
    // Messages of the module name files: not where they are on this computer.
    let home = env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(PathBuf::from(env::var_os("HOME")?).join(".cargo")));
    let remap = |from: &Path, to: &str| format!("--remap-path-prefix={}={to}", from.display());
    let mut flags = vec![remap(&project.path(""), "")];
    flags.extend(home.map(|home| remap(&home, "cargo")));
    let cargo = project.cargo().within(&project.path("web")).arg(subcommand);
    let cargo = cargo.builds_in(&project.scratch("")).arg("--package=fastmmd-web");
    let cargo = cargo.args(["--locked", "--release", "--target", TARGET]);
    cargo.quiet_env("CARGO_ENCODED_RUSTFLAGS", flags.join("\u{1f}"))
}

/// Builds the page and returns its directory: the files of `web/page`, the module, and the JavaScript
/// that loads it.
fn build(project: &Project) -> Result<PathBuf> {
    setup::targets(project, &[TARGET])?;
    cargo(project, "build").arg("--quiet").run()?;
    let pack = project.cargo().within(&project.path("web")).arg("build");
    let pack = pack.args(["--quiet", "--locked", "--package=pack"]);
    pack.builds_in(&project.scratch("")).run()?;
    let directory = project.scratch("web");
    if directory.exists() {
        fs::remove_dir_all(&directory)?;
    }
    fs::create_dir_all(&directory)?;
    for entry in fs::read_dir(project.path("web/page"))? {
        let entry = entry?;
        fs::copy(entry.path(), directory.join(entry.file_name()))?;
    }
    let pack = project.scratch("debug").join(format!("pack{}", env::consts::EXE_SUFFIX));
    let module = project.scratch(TARGET).join("release/fastmmd_web.wasm");
    project.program(&pack, "pack").arg(module).arg(&directory).run()?;
    Ok(directory)
}

/// Serves the files of a directory until the program ends.
fn serve(listener: &TcpListener, directory: &Path) {
    for stream in listener.incoming().flatten() {
        let directory = directory.to_path_buf();
        // One that goes away early is no fault of the server.
        thread::spawn(move || answer(&stream, &directory).unwrap_or_default());
    }
}

fn answer(mut stream: &TcpStream, directory: &Path) -> Result<()> {
    let mut lines = BufReader::new(stream).lines();
    let first = lines.next().context("no request")??;
    // The headers are read, so that the browser does not see the line break off.
    while lines.next().is_some_and(|line| line.is_ok_and(|line| !line.is_empty())) {}
    let (status, kind, content) = match file(&first, directory) {
        Some((name, content)) => ("200 OK", kind_of(&name), content),
        None => ("404 Not Found", "text/plain", b"not found\n".to_vec()),
    };
    write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nCache-Control: no-cache\r\n\
         X-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n",
        content.len()
    )?;
    stream.write_all(&content)?;
    Ok(stream.flush()?)
}

/// The name and the content of the file that a request asks for: one of the directory itself.
fn file(request: &str, directory: &Path) -> Option<(String, Vec<u8>)> {
    let path = request.strip_prefix("GET /")?.split([' ', '?']).next()?;
    let name = if path.is_empty() { "index.html" } else { path };
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    if !name.chars().all(plain) || name.starts_with('.') {
        return None;
    }
    fs::read(directory.join(name)).ok().map(|content| (name.to_owned(), content))
}

fn kind_of(name: &str) -> &'static str {
    match name.rsplit('.').next() {
        Some("html") => "text/html; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("wasm") => "application/wasm",
        _ => "application/octet-stream",
    }
}

/// Builds the page and tests it in a browser, with the report of the tool.
pub(crate) fn test(project: &Project) -> Result<Outcome> {
    let browser = browser(project)?;
    setup::programs(project, &[("node", "nodejs"), ("npm", "npm")])?;
    let mut failures = Failures::default();
    let directory = build(project)?;
    let tool = project.host_program("fastmmd")?;
    let web = project.path("web");
    project.tool("npm").within(&web).args(["ci", "--no-audit", "--no-fund"]).run()?;
    for part in ["tsconfig.json", "tsconfig.worker.json"] {
        let check = project.tool("node").within(&web);
        let check = check.args(["node_modules/typescript/bin/tsc", "--project", part]);
        failures.note(&format!("types of the scripts, {part}"), check.run());
    }
    let listener = TcpListener::bind(("127.0.0.1", 0))?;
    let address = format!("http://{}/", listener.local_addr()?);
    let served = directory.clone();
    thread::spawn(move || serve(&listener, &served));
    let seen = project.scratch("web-test");
    fs::create_dir_all(&seen)?;
    let test = project.tool("node").within(&web).args(["--test", "tests/page.test.mjs"]);
    let result = test
        .quiet_env("PAGE", address)
        .quiet_env("BUILT", directory)
        .quiet_env("TOOL", tool)
        .quiet_env("BROWSER", browser)
        .quiet_env("SEEN", seen)
        .run();
    failures.note("the page and the report in a browser", result);
    failures.finish()
}

/// The browser's program, installed if it is missing.
fn browser(project: &Project) -> Result<String> {
    let place = |name: &str| {
        let found = project.tool("which").arg(name).output();
        found.ok().map(|path| path.trim().to_owned()).filter(|path| !path.is_empty())
    };
    if let Some(path) = BROWSERS.into_iter().find_map(place) {
        return Ok(path);
    }
    setup::programs(project, &[(BROWSERS[0], BROWSERS[0])])?;
    match place(BROWSERS[0]) {
        Some(path) => Ok(path),
        None => bail!("no {} after its installation", BROWSERS[0]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_of_the_directory_are_served() {
        let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../web/page");
        let asked = |path: &str| file(&format!("GET {path} HTTP/1.1"), &directory);
        assert_eq!(asked("/").map(|(name, _)| name).as_deref(), Some("index.html"));
        assert_eq!(asked("/chart.js?1").map(|(name, _)| name).as_deref(), Some("chart.js"));
        for path in ["/../Cargo.toml", "/..%2fCargo.toml", "//etc/passwd", "/none.js", "/."] {
            assert!(asked(path).is_none(), "{path}");
        }
        assert!(file("POST / HTTP/1.1", &directory).is_none());
    }
}
