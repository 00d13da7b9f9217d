//! Proves at link time that the core cannot panic.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::outcome::{Failures, Outcome};
use crate::project::{Finished, Project, Tool};
use crate::setup;

/// What is proven by default: every level and every target; on processors with and without
/// floating-point unit the levels that users choose, 3 and "z". A build takes over a minute.
const PROVEN: [(&str, &[&str]); 5] =
    [("1", &[M4F]), ("2", &[M33]), ("3", &[M4F, M0]), ("s", &[RISC_V]), ("z", &[M4F, M0])];
const M4F: &str = "thumbv7em-none-eabihf";
const M0: &str = "thumbv6m-none-eabi";
const M33: &str = "thumbv8m.main-none-eabihf";
const RISC_V: &str = "riscv32imac-unknown-none-elf";
const TARGETS: [&str; 4] = [M4F, M0, M33, RISC_V];
/// The undefined function that the panic handler of `firmware/proofs` calls.
const SENTINEL: &str = "the_core_can_panic";

/// The program of `firmware/proofs` that calls everything, and the one that breaks its promises.
pub(crate) const PROOF: &str = "proofs";
pub(crate) const CONTROLS: &str = "controls";

/// Options of `cargo xtask no-panic`.
#[derive(clap::Args, Default)]
pub(crate) struct Arguments {
    /// Every level on every target; by default each level and each target at least once.
    #[arg(long)]
    all: bool,
    /// Build with overflow checks and list what could overflow. The core need not link this way.
    #[arg(long)]
    overflow_checks: bool,
}

pub(crate) fn run(project: &Project, arguments: &Arguments) -> Result<Outcome> {
    setup::targets(project, &TARGETS)?;
    setup::component(project, None, "llvm-tools")?;
    let mut failures = Failures::default();
    failures.note("the proof calls every public function", is_complete(project));
    for (level, some) in PROVEN {
        let targets = if arguments.all { &TARGETS } else { some };
        let proof = |targets| Proof { targets, level, overflow_checks: arguments.overflow_checks };
        // One program keeps one processor busy, so all targets are built at once; only if one does
        // not link is each looked at.
        let all_link = proof(targets).build(project, PROOF, "").attempt()?.success;
        for target in targets {
            let name = format!("no panic at opt-level {level} on {target}");
            let alone = || proof(std::slice::from_ref(target)).check(project);
            failures.note(&name, if all_link { Ok(()) } else { alone() });
        }
    }
    let control = Proof { targets: &TARGETS, level: "3", overflow_checks: false };
    failures.note("an injected index is noticed on each", control.check_control(project));
    failures.note("without it the same program links", control.check_empty(project));
    failures.finish()
}

/// One way to build the proof.
struct Proof {
    targets: &'static [&'static str],
    level: &'static str,
    overflow_checks: bool,
}

impl Proof {
    fn build(&self, project: &Project, bin: &str, features: &str) -> Tool {
        let mut tool = project
            .proof_cargo(self.level)
            .args(["--keep-going", "--package=proofs"])
            .arg(format!("--bin={bin}"))
            .args(self.targets.iter().map(|target| format!("--target={target}")));
        if !features.is_empty() {
            tool = tool.arg(format!("--features={features}"));
        }
        if self.overflow_checks {
            tool = tool.env("CARGO_PROFILE_RELEASE_OVERFLOW_CHECKS", "true");
        }
        tool
    }

    fn check(&self, project: &Project) -> Result<()> {
        let linked = self.build(project, PROOF, "").attempt()?;
        if linked.success {
            return Ok(());
        }
        expect_sentinel(&linked)?;
        let callers = self.locate(project)?;
        bail!("these can panic:\n        {}", callers.join("\n        "))
    }

    fn check_control(&self, project: &Project) -> Result<()> {
        let linked = self.build(project, CONTROLS, "inject-panic").attempt()?;
        if linked.success || !all_fail(&linked, self.targets.len()) {
            bail!("the control linked, so the proof is void");
        }
        expect_sentinel(&linked)
    }

    fn check_empty(&self, project: &Project) -> Result<()> {
        let linked = self.build(project, CONTROLS, "").attempt()?;
        if linked.success { Ok(()) } else { bail!("it does not link:\n{}", linked.stderr) }
    }

    /// The functions that call a panic, each with what it calls.
    fn locate(&self, project: &Project) -> Result<Vec<String>> {
        self.build(project, PROOF, "locate").run()?;
        let target = self.targets.first().context("no target")?;
        let assembly = project
            .llvm_tool("llvm-objdump")?
            .args(["--disassemble", "--demangle", "--no-show-raw-insn"])
            .arg(project.proof_file(target, PROOF))
            .output()?;
        Ok(panicking(&assembly))
    }
}

/// Whether exactly `programs` programs did not link.
pub(crate) fn all_fail(linked: &Finished, programs: usize) -> bool {
    linked.stderr.matches("error: linking").count() == programs
}

/// An error unless the link failed because of the undefined function.
fn expect_sentinel(linked: &Finished) -> Result<()> {
    if linked.stderr.contains(SENTINEL) {
        return Ok(());
    }
    bail!("it failed for another reason:\n{}", linked.stderr)
}

/// Lines `ours calls theirs` from a disassembly, where `theirs` can panic: the places to fix.
/// Instances of the same generic function count as one.
fn panicking(assembly: &str) -> Vec<String> {
    let mut calls = BTreeSet::new();
    let mut function = "";
    for line in assembly.lines() {
        if let Some((_, name)) = line.strip_suffix(">:").and_then(|l| l.split_once(" <")) {
            function = without_hash(name);
        } else if let Some((_, callee)) = line.split_once(" <")
            && let Some((callee, _)) = callee.rsplit_once("> @")
        {
            calls.insert((function, without_hash(callee)));
        }
    }
    let mut ends = BTreeSet::new();
    loop {
        let more = calls.iter().filter(|(caller, callee)| {
            let panics = callee.starts_with("core::panicking") || ends.contains(callee);
            panics && !is_ours(caller) && !ends.contains(caller)
        });
        let more: Vec<_> = more.map(|(caller, _)| *caller).collect();
        if more.is_empty() {
            break;
        }
        ends.extend(more);
    }
    let found = calls.iter().filter(|(caller, callee)| {
        is_ours(caller) && (callee.starts_with("core::panicking") || ends.contains(callee))
    });
    found.map(|(caller, callee)| format!("{caller} calls {callee}")).collect()
}

/// Whether a function belongs to this project. Others, and code that several functions share after
/// optimisation for size, are only followed to their callers.
fn is_ours(symbol: &str) -> bool {
    symbol == "_start" || symbol.contains("fastmmd") || symbol.contains("proofs")
}

/// A symbol without the hash that distinguishes instances of a generic function.
fn without_hash(symbol: &str) -> &str {
    match symbol.rsplit_once("::h") {
        Some((name, hash)) if hash.len() == 16 => name,
        _ => symbol,
    }
}

/// The recorded public interface of the core.
const INTERFACE: &str = "host-tests/tests/api.txt";
/// Modules with types whose names others have, too: the proof names these types with their module.
const QUALIFIED: [&str; 2] = ["fixed", "coupling"];
/// What needs an allocator.
const HOSTS_ALONE: &str = "dynamic";

/// Checks that the proof's source names every public function and struct of the core, and that each
/// function of a type is called where that type is named: in the same function of the proof. What needs
/// an allocator is left out. That each is called for every shape and backend is not checked.
fn is_complete(project: &Project) -> Result<()> {
    let mut proof = String::new();
    each_source(&project.path("firmware/proofs/src"), &mut |_, text| {
        proof.push_str(text);
    })?;
    let mut missing = BTreeMap::new();
    let hosts_alone = project.path("src").join(HOSTS_ALONE);
    each_source(&project.path("src"), &mut |path, text| {
        for name in public_names(text).filter(|_| !path.starts_with(&hosts_alone)) {
            if !mentions(&proof, name) {
                missing.insert(name.to_owned(), path.display().to_string());
            }
        }
    })?;
    let interface = project.read(INTERFACE)?;
    for missed in uncalled(&interface, &proof) {
        missing.insert(missed, INTERFACE.to_owned());
    }
    if missing.is_empty() {
        return Ok(());
    }
    bail!("firmware/proofs does not call {missing:?}")
}

/// Functions of types in a listing of the interface that are called in no function of the proof that
/// names the type.
fn uncalled(interface: &str, proof: &str) -> Vec<String> {
    let traits: BTreeSet<&str> =
        interface.lines().filter_map(|line| line.strip_prefix("trait ")).map(path_of).collect();
    let functions = functions(proof);
    let calls = interface.lines().filter_map(typed_function);
    // Functions of traits and of macros are those of a type that the listing does not say.
    let calls = calls.filter(|(path, _)| {
        let is_type = !traits.contains(path) && !path.ends_with('!');
        is_type && path.split("::").next() != Some(HOSTS_ALONE)
    });
    let missed = calls.filter(|(path, name)| {
        !functions.iter().any(|text| names_type(text, path) && mentions(text, name))
    });
    missed.map(|(path, name)| format!("{path}::{name}")).collect()
}

/// The path of a type and the name of its function, of a line `path::Type<…>: fn name(…)`.
fn typed_function(line: &str) -> Option<(&str, &str)> {
    let (path, rest) = line.split_once(": ")?;
    let rest = rest.strip_prefix("const ").unwrap_or(rest).strip_prefix("fn ")?;
    Some((path_of(path), path_of(rest)))
}

/// What stands before generic parameters, arguments or bounds.
fn path_of(text: &str) -> &str {
    let end = text.find(['<', '(', ' ']).unwrap_or(text.len());
    text[..end].trim_end_matches(':')
}

/// The functions of a source, each from its first line to the brace that closes it.
fn functions(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut open: Option<String> = None;
    for line in text.lines() {
        let begins = line.starts_with(|c: char| c.is_alphabetic()) && mentions(line, "fn");
        if open.is_none() && begins {
            open = Some(String::new());
        }
        if let Some(function) = &mut open {
            function.push_str(line);
            function.push('\n');
        }
        if line == "}" {
            found.extend(open.take());
        }
    }
    found
}

/// Whether a text names a type, and not one of the same name in another module.
fn names_type(text: &str, path: &str) -> bool {
    let (modules, name) = path.rsplit_once("::").unwrap_or(("", path));
    let module = modules.rsplit("::").next().filter(|module| QUALIFIED.contains(module));
    let is_part = |c: char| c == '_' || c.is_alphanumeric();
    text.match_indices(name).any(|(at, _)| {
        let (before, after) = (&text[..at], &text[at + name.len()..]);
        if before.ends_with(is_part) || after.starts_with(is_part) {
            return false;
        }
        let inside = before.strip_suffix("::").map(|before| {
            let start = before.rfind(|c| !is_part(c)).map_or(0, |last| last + 1);
            &before[start..]
        });
        inside.filter(|module| QUALIFIED.contains(module)) == module
    })
}

/// Public names, except those hidden from the documentation and those that a macro generates.
fn public_names(text: &str) -> impl Iterator<Item = &str> {
    // Tests are at the end of each file.
    let code = text.split("#[cfg(test)]\nmod tests").next().unwrap_or(text);
    let mut hidden = false;
    code.lines().filter_map(move |line| {
        let line = line.trim_start();
        let is_hidden = hidden;
        hidden = line == "#[doc(hidden)]" || (hidden && line.starts_with("#["));
        let line = line.strip_prefix("pub ").filter(|_| !is_hidden)?;
        let line = line.strip_prefix("const ").unwrap_or(line);
        let name = ["fn ", "struct "].iter().find_map(|kind| line.strip_prefix(kind))?;
        name.split(['(', '<', ':', ' ', ';']).next().filter(|name| !name.starts_with('$'))
    })
}

/// Whether a text contains a name as a whole word.
fn mentions(text: &str, name: &str) -> bool {
    text.split(|c: char| c != '_' && !c.is_alphanumeric()).any(|word| word == name)
}

fn each_source(directory: &Path, visit: &mut impl FnMut(&Path, &str)) -> Result<()> {
    let entries = fs::read_dir(directory);
    for entry in entries.with_context(|| format!("cannot list {}", directory.display()))? {
        let path = entry?.path();
        if path.is_dir() {
            each_source(&path, visit)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            visit(&path, &fs::read_to_string(&path)?);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_who_panics_and_nobody_else() {
        let assembly = "\
000200e2 <fastmmd::a::h0123456789abcdef>:
   200e2:      \tbl\t0x2030a <core::panicking::panic_fmt::h0123456789abcdef> @ imm = #0x224
   200e6:      \tb\t0x2030a <core::result::Result$LT$T$C$E$GT$::map> @ imm = #0x224
000200f2 <fastmmd::b::h0123456789abcdef>:
   200f2:      \tbl\t0x2030a <fastmmd::a::h0123456789abcdef> @ imm = #0x224
   200f4:      \tbl\t0x2030a <<f32>::clamp> @ imm = #0x224
000200f2 <<f32>::clamp>:
   200f2:      \tbl\t0x2030a <core::panicking::panic_fmt> @ imm = #0x224
";
        let expected =
            ["fastmmd::a calls core::panicking::panic_fmt", "fastmmd::b calls <f32>::clamp"];
        assert_eq!(panicking(assembly), expected);
    }

    #[test]
    fn the_proof_calls_the_whole_interface() {
        is_complete(&Project::find(false)).unwrap();
    }

    #[test]
    fn a_function_is_called_where_its_type_is_named() {
        let interface = "a::Set<'m, M>: fn add(&mut self)\na::Set: const fn new() -> Self\n\
                         fixed::Set<D>: fn add(&mut self)\na::Set.size: usize\n\
                         a::Walk: fn step(&self)\ntrait a::Walk: Copy\n\
                         dynamic::Map: fn draw()\na::sets!: fn name(self)\nstruct a::Set<'m, M>\n";
        let all = "fn one<T>(set: &Set<T>) {\n    set.add();\n    Set::new();\n}\n\
                   pub(crate) fn two() {\n    fixed::Set::default().add();\n}\n";
        assert_eq!(uncalled(interface, all), [""; 0]);
        // The same names, but each elsewhere.
        let apart = "fn one<T>(set: &Set<T>) {\n    Set::new();\n}\n\
                     fn two() {\n    fixed::Set::default().add();\n}\n";
        assert_eq!(uncalled(interface, apart), ["a::Set::add"]);
        let apart =
            "fn one<T>(set: &Set<T>) {\n    set.add();\n}\nfn two() {\n    Sets::new();\n}\n";
        assert_eq!(uncalled(interface, apart), ["a::Set::new", "fixed::Set::add"]);
    }

    #[test]
    fn lists_public_names_only() {
        let text = "pub fn a(\n    pub const fn b<T>(\npub(crate) fn c(\nfn d(\npub struct F;\n\
                    pub struct $name;\n#[doc(hidden)]\n#[inline]\npub fn g(\n\
                    #[cfg(test)]\nmod tests {\npub fn e(";
        assert_eq!(public_names(text).collect::<Vec<_>>(), ["a", "b", "F"]);
        assert!(mentions("x.a(F::new())", "F") && !mentions("Faa", "F"));
    }
}
