//! `fleet`: the functions of DataFusion and the tool of fleets, which have a workspace of their own.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};
use serde_json::Value;

use crate::outcome::{Failures, Outcome};
use crate::project::{Project, Tool};
use crate::setup;

const FLEET: &str = "fleet";
const FUNCTIONS: &str = "fleet/functions";
/// What the functions are linked with: a part of cargo's name of the package, if there are several,
/// and its library.
const LINKED: [(&str, &str); 3] =
    [("", "datafusion"), ("", "fastmmd"), ("#num-bigint@0.5", "num_bigint")];
const REQUIREMENTS: &str = "fleet/recipes/requirements.txt";

/// States for the recipe, with what the tool says of them.
const STATES: &str =
    "WITH devices AS (SELECT device, mmd_embed(x, y, z) AS state FROM t GROUP BY device),
    fleet AS (SELECT mmd_merge(state) AS state FROM devices),
    seen AS (SELECT device, devices.state AS state, mmd2(devices.state, fleet.state) AS mmd2,
        mmd_inspect(devices.state) AS i FROM devices, fleet)
    SELECT device, state, mmd2, i['weight'] AS weight, i['frequencies'] AS frequencies,
        i['amplitude'] AS amplitude, i['sums'] AS sums FROM seen";

pub(crate) fn run(project: &Project) -> Result<Outcome> {
    setup::component(project, None, "clippy")?;
    let fleet = Fleet { project, target: project.path(FLEET).join("target") };
    let mut failures = Failures::default();
    // Tests run the programs.
    fleet.cargo("build").args(["--workspace", "--all-targets"]).run()?;
    failures.note("documentation", fleet.documentation());
    failures.note("tests", fleet.cargo("test").arg("--workspace").run());
    match setup::python(project)? {
        Ok(python) => failures.note("recipes", fleet.recipes(python)),
        Err(reason) => println!("    recipes skipped: {reason}"),
    }
    failures.finish()
}

struct Fleet<'p> {
    project: &'p Project,
    target: PathBuf,
}

impl Fleet<'_> {
    /// Clippy is the compiler of the members, so that they are compiled and linked once: `cargo clippy`
    /// would also check all dependencies anew, which are compiled anyway.
    fn cargo(&self, subcommand: &str) -> Tool {
        let cargo = self.project.cargo().within(&self.project.path(FLEET));
        cargo
            .arg(subcommand)
            .args(["--quiet", "--locked"])
            .builds_in(&self.target)
            .quiet_env("RUSTC_WORKSPACE_WRAPPER", "clippy-driver")
            .quiet_env("CLIPPY_ARGS", "--deny=warnings")
    }

    fn built(&self, name: &str) -> PathBuf {
        self.target.join("debug").join(name)
    }

    /// Writes the documentation of the functions; a warning is an error. Not by `cargo doc`, which would
    /// check all dependencies anew: with the libraries that are built.
    fn documentation(&self) -> Result<()> {
        let build = self.cargo("build").args(["--workspace", "--all-targets"]);
        let told = build.arg("--message-format=json").output()?;
        let artifacts: Vec<Value> =
            told.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
        let rustdoc = self.project.tool("rustdoc").within(&self.project.path(FUNCTIONS));
        let mut rustdoc = rustdoc.args(["src/lib.rs", "--edition=2024", "--deny=warnings"]);
        rustdoc = rustdoc.arg("--crate-name=fastmmd_datafusion");
        let mut paths = vec!["--out-dir".to_owned(), self.target.join("doc").display().to_string()];
        let libraries = self.target.join("debug/deps");
        paths.extend(["-L".to_owned(), format!("dependency={}", libraries.display())]);
        for (package, name) in LINKED {
            let own = |it: &&Value| {
                let id = it["package_id"].as_str().unwrap_or_default();
                it["target"]["name"] == name && id.contains(package)
            };
            let found = artifacts.iter().filter(own).flat_map(|it| it["filenames"].as_array());
            let mut files = found.flatten().filter_map(Value::as_str);
            let file = files.find(|file| file.ends_with(".rlib"));
            let file = file.with_context(|| format!("{name} is not built"))?;
            paths.push(format!("--extern={name}={file}"));
        }
        rustdoc.quiet_args(paths).run()
    }

    /// Runs the recipes for DuckDB and for the Python package `datafusion`.
    fn recipes(&self, python: Tool) -> Result<()> {
        let folder = self.target.join("recipes");
        fs::create_dir_all(&folder).context("fleet/target/recipes")?;
        let wanted = self.project.read(REQUIREMENTS)?;
        let (stamp, environment) = (folder.join("requirements.txt"), folder.join("venv"));
        let interpreter = environment.join("bin/python");
        let within = |tool: Tool| tool.within(&self.project.path("fleet/recipes"));
        let program = || within(self.project.program(&interpreter, "python"));
        if fs::read_to_string(&stamp).ok().as_ref() != Some(&wanted) || !interpreter.exists() {
            python.args(["-m", "venv", "--clear"]).arg(&environment).run()?;
            let pip = program().args(["-m", "pip", "install", "--quiet", "--only-binary=:all:"]);
            pip.args(["--disable-pip-version-check", "--requirement", "requirements.txt"]).run()?;
            fs::write(&stamp, wanted).context("requirements.txt")?;
        }
        let (made, states) = (folder.join("telemetry"), folder.join("states.parquet"));
        let tool = || within(self.project.program(&self.built("fastmmd-fleet"), "fastmmd-fleet"));
        let small = ["--devices", "2000", "--rows", "50", "--odd", "5"];
        tool().arg("generate").arg(&made).args(small).run()?;
        let table = format!("t={}", made.display());
        tool().args(["query", STATES, "--table", &table, "--output"]).arg(&states).run()?;
        let rank = program().arg("rank_states.py").arg(&states);
        let told = rank.quiet_args([self.built("fastmmd-fleet")]).output()?;
        told.lines().for_each(|line| println!("    {line}"));
        let module = folder.join("fastmmd_fleet.so");
        fs::copy(self.built("libfastmmd_fleet.so"), &module).context("libfastmmd_fleet.so")?;
        let functions = program().arg("functions.py").arg(&made).quiet_env("PYTHONPATH", &folder);
        functions.quiet_args([self.built("fastmmd-fleet")]).run()?;
        if let Err(error) = setup::programs(self.project, &[setup::BROKER]) {
            println!("    without a broker: {error:#}");
        } else {
            let published = folder.join("published");
            let _ = fs::remove_dir_all(&published);
            let check = program().arg("check_mqtt.py").quiet_args([published]);
            check.quiet_args([self.built("fastmmd-fleet")]).run()?;
        }
        // So many rows that the start of the programs does not count.
        let many = folder.join("many");
        let rows = ["--devices", "2000", "--rows", "500", "--odd", "0"];
        tool().arg("generate").arg(&many).args(rows).run()?;
        let speed = program().arg("speed.py").quiet_args([many]).quiet_env("PYTHONPATH", &folder);
        let told = speed.output()?;
        told.lines().for_each(|line| println!("    {line}"));
        Ok(())
    }
}
