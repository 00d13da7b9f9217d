//! Proves that the core needs no allocator.

use anyhow::{Result, bail};

use crate::no_panic::{CONTROLS, PROOF};
use crate::outcome::{Failures, Outcome};
use crate::project::{Project, Tool};
use crate::setup;

const TARGET: &str = "thumbv7em-none-eabihf";

pub(crate) fn run(project: &Project) -> Result<Outcome> {
    setup::targets(project, &[TARGET])?;
    setup::component(project, None, "llvm-tools")?;
    let mut failures = Failures::default();
    failures.note("no crate below the core has std or alloc on", graph(project));
    failures.note("control: std below this tool is found", graph_control(project));
    failures.note("no allocating symbol is linked", symbols(project));
    let refused = refused(project);
    failures.note("control: `extern crate alloc` without allocator does not link", refused);
    let noticed = symbols_control(project);
    failures.note("control: allocating symbols are found", noticed);
    failures.finish()
}

/// Lines `name features` of a package's dependencies for the target.
fn tree(project: &Project, package: &str, more: &[&str]) -> Result<String> {
    project
        .cargo()
        .args(["tree", "--edges=normal", "--prefix=none"])
        .args(["--format={p} [{f}]", &format!("--package={package}")])
        .args(more)
        .output()
}

/// Dependencies with a feature `std` or `alloc`. Macros run on the host, so they may have it. The
/// first line is the package itself: its feature `alloc` is for hosts, and the proof is linked
/// without it.
fn allocating(tree: &str) -> Vec<&str> {
    let is_it = |line: &&str| {
        let features = line.rsplit_once('[').map_or("", |(_, features)| features);
        let features = features.trim_end_matches([']', '(', ')', '*', ' ']);
        let mut features = features.split(',');
        !line.contains("(proc-macro)") && features.any(|f| f == "std" || f == "alloc")
    };
    tree.lines().skip(1).filter(is_it).collect()
}

fn graph(project: &Project) -> Result<()> {
    // Dependencies of macros are listed below the macro: these branches are cut by name.
    let prune = ["--prune=defmt-macros", "--all-features"];
    let target = format!("--target={TARGET}");
    let tree = tree(project, "fastmmd", &[&prune[..], &[&target]].concat())?;
    let found = allocating(&tree);
    if found.is_empty() && tree.contains("fastmmd") {
        return Ok(());
    }
    bail!("{found:?} in\n{tree}")
}

fn graph_control(project: &Project) -> Result<()> {
    if allocating(&tree(project, "xtask", &[])?).is_empty() {
        bail!("cargo xtask depends on std, and that was not found");
    }
    Ok(())
}

fn build(project: &Project, bin: &str, features: &[&str]) -> Tool {
    // One of the levels of the other proof, whose program is then there already.
    project
        .proof_cargo("s")
        .arg("--package=proofs")
        .args([format!("--bin={bin}"), format!("--target={TARGET}")])
        .args(features.iter().map(|feature| format!("--features={feature}")))
}

/// Symbols of a linked program that belong to an allocator.
fn linked(project: &Project, bin: &str) -> Result<Vec<String>> {
    let symbols = project
        .llvm_tool("llvm-nm")?
        .arg("--demangle")
        .arg(project.proof_file(TARGET, bin))
        .output()?;
    if !symbols.contains("_start") {
        bail!("the symbols cannot be read");
    }
    let is_it = |line: &&str| {
        ["__rust_alloc", "__rust_no_alloc", "__rustc::__rust", "alloc::", "__rg_"]
            .iter()
            .any(|name| line.contains(name))
    };
    Ok(symbols.lines().filter(is_it).map(str::to_owned).collect())
}

/// Linking without a global allocator already proves that no crate in the graph uses `alloc`: rustc
/// refuses otherwise. The symbols are a second check.
fn symbols(project: &Project) -> Result<()> {
    // Panics are another proof's business: with one, a handler is put in.
    if !build(project, PROOF, &[]).attempt()?.success {
        build(project, PROOF, &["locate"]).run()?;
    }
    let found = linked(project, PROOF)?;
    if found.is_empty() {
        return Ok(());
    }
    bail!("linked: {found:?}")
}

fn refused(project: &Project) -> Result<()> {
    let built = build(project, CONTROLS, &["locate", "inject-alloc"]).attempt()?;
    if built.success {
        bail!("the control linked, so the proof is void");
    }
    if built.stderr.contains("no global memory allocator") {
        return Ok(());
    }
    bail!("it failed for another reason:\n{}", built.stderr)
}

fn symbols_control(project: &Project) -> Result<()> {
    build(project, CONTROLS, &["locate", "inject-allocator"]).run()?;
    if linked(project, CONTROLS)?.is_empty() {
        bail!("none was found in a program that allocates");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::allocating;

    #[test]
    fn only_features_of_target_crates_count() {
        let tree = "fastmmd v0.1.0 (/somewhere/alloc) [alloc,default,libm]\ncrc v3.4.0 []\n\
                    syn v2.0.0 (proc-macro) [std]\nserde v1.0.0 [alloc,derive] (*)\n\
                    other v1.0.0 [no_std,allocator]";
        assert_eq!(allocating(tree), ["serde v1.0.0 [alloc,derive] (*)"]);
    }
}
