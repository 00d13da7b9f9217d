//! Measures flash, RAM and stack of each board's firmware, against `firmware/budget.toml`.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::boards::{BOARDS, TARGETS};
use crate::outcome::{Failures, Outcome};
use crate::project::Project;
use crate::{firmware, setup};

const BUDGET: &str = "firmware/budget.toml";
const IN_FLASH: [&str; 5] = [".boot2", ".vector_table", ".text", ".rodata", ".data"];
/// The same program without and with the feature `secure`, and the section of what that costs.
pub(crate) const PRICE: [&str; 3] = ["drift", "secured", "secure"];
const IN_RAM: [&str; 3] = [".data", ".bss", ".uninit"];

/// Limits, or what was measured: by section and name, in bytes.
pub(crate) type Table = BTreeMap<String, BTreeMap<String, u64>>;

pub(crate) fn run(project: &Project) -> Result<Outcome> {
    setup::targets(project, &TARGETS)?;
    setup::qemu(project)?;
    setup::component(project, None, "llvm-tools")?;
    let mut failures = Failures::default();
    let mut found = Table::new();
    for board in &BOARDS {
        firmware::build(project, board, "release")?;
        for program in board.measured {
            found.insert((*program).to_owned(), sections(project, board.target, program)?);
        }
    }
    let said = firmware::harness(project, "stack", "release").output()?;
    for line in said.lines() {
        let mut words = line.split_whitespace();
        let (Some(section), Some(name), Some(Ok(bytes)), None) =
            (words.next(), words.next(), words.next().map(str::parse), words.next())
        else {
            bail!("the harness said {line}");
        };
        found.entry(section.to_owned()).or_default().insert(name.to_owned(), bytes);
    }
    for sizes in found.values_mut() {
        if let (Some(ram), Some(stack)) = (sizes.get("statics"), sizes.get("stack")) {
            sizes.insert("ram".into(), ram + stack);
        }
    }
    let [without, with, section] = PRICE;
    found.insert(section.to_owned(), price(&found, without, with)?);
    let budget = parsed(&project.read(BUDGET)?)?;
    print!("{}", shown(&found, &budget));
    failures.note("every size is within its budget", hold(&found, &budget));
    failures.note("control: a limit one byte lower fails", control(&found, &budget));
    failures.finish()
}

/// Bytes of flash, and of RAM without the stack, that a program takes.
fn sections(project: &Project, target: &str, program: &str) -> Result<BTreeMap<String, u64>> {
    let elf = project.firmware_file(target, "release", program);
    let [flash, statics] = section_bytes(project, &elf, [&IN_FLASH, &IN_RAM])?;
    Ok([("flash".to_owned(), flash), ("statics".to_owned(), statics)].into())
}

/// Bytes of a program in each group of sections.
pub(crate) fn section_bytes<const N: usize>(
    project: &Project,
    elf: &Path,
    groups: [&[&str]; N],
) -> Result<[u64; N]> {
    let table = project.llvm_tool("llvm-size")?.arg("-A").arg(elf).output()?;
    Ok(groups.map(|names| {
        let lines = table.lines().filter_map(|line| {
            let mut words = line.split_whitespace();
            let name = words.next()?;
            let bytes = words.next()?.parse::<u64>().ok()?;
            names.contains(&name).then_some(bytes)
        });
        lines.sum()
    }))
}

/// What one program takes more than another, in flash and RAM.
fn price(found: &Table, without: &str, with: &str) -> Result<BTreeMap<String, u64>> {
    let more = ["flash", "ram"].map(|name| {
        let of = |program: &str| {
            let bytes = found.get(program).and_then(|sizes| sizes.get(name)).copied();
            bytes.with_context(|| format!("{program}: {name} was not measured"))
        };
        Ok((name.to_owned(), of(with)?.saturating_sub(of(without)?)))
    });
    more.into_iter().collect()
}

/// Checks that every limit belongs to a measured figure and is kept.
fn hold(found: &Table, budget: &Table) -> Result<()> {
    let mut beyond = Vec::new();
    for (section, limits) in budget {
        for (name, limit) in limits {
            match found.get(section).and_then(|sizes| sizes.get(name)) {
                Some(bytes) if bytes <= limit => {}
                Some(bytes) => beyond.push(format!("{section}: {name} {bytes} of {limit}")),
                None => beyond.push(format!("{section}: {name} was not measured")),
            }
        }
    }
    for section in found.keys().filter(|section| !budget.contains_key(*section)) {
        beyond.push(format!("{section} has no budget"));
    }
    if beyond.is_empty() { Ok(()) } else { bail!("{}", beyond.join("; ")) }
}

/// The control: each limit, set to one byte less than what was measured, must be reported.
fn control(found: &Table, budget: &Table) -> Result<()> {
    for (section, limits) in budget {
        for name in limits.keys() {
            let mut tight = budget.clone();
            let bytes = found.get(section).and_then(|sizes| sizes.get(name));
            let bytes = bytes.with_context(|| format!("{section}: {name} was not measured"))?;
            tight.entry(section.clone()).or_default().insert(name.clone(), bytes.saturating_sub(1));
            let noticed = hold(found, &tight).is_err_and(|error| {
                error.to_string().contains(&format!("{section}: {name} {bytes}"))
            });
            if *bytes > 0 && !noticed {
                bail!("{section}: {name} one byte above its limit was not reported");
            }
        }
    }
    Ok(())
}

fn shown(found: &Table, budget: &Table) -> String {
    let mut text = format!("    {:14}{:>9}  {:>8}{:>10}\n", "", "", "bytes", "budget");
    for (section, sizes) in found {
        for (name, bytes) in sizes {
            let limit = budget.get(section).and_then(|limits| limits.get(name));
            let limit = limit.map_or(String::new(), u64::to_string);
            text.push_str(&format!("    {section:14}{name:>9}  {bytes:>8}{limit:>10}\n"));
        }
    }
    text
}

/// Parses the part of TOML that the budget uses: sections and integers.
pub(crate) fn parsed(text: &str) -> Result<Table> {
    let mut table = Table::new();
    let mut section = None;
    for line in text.lines() {
        let line = line.split('#').next().unwrap_or_default().trim();
        if let Some(name) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            section = Some(name.to_owned());
        } else if let Some((name, number)) = line.split_once('=') {
            let section = section.clone().with_context(|| format!("no section for {line}"))?;
            let number = number.trim().replace('_', "");
            let number = number.parse().with_context(|| format!("{BUDGET}: {line}"))?;
            table.entry(section).or_default().insert(name.trim().to_owned(), number);
        } else if !line.is_empty() {
            bail!("{BUDGET}: {line}");
        }
    }
    Ok(table)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_is_read_and_held() {
        let budget = parsed("# why\n[a]\nflash = 1_000 # bytes\nram = 20\n").unwrap();
        let found = parsed("[a]\nflash = 1000\nram = 20\n").unwrap();
        assert!(hold(&found, &budget).is_ok() && control(&found, &budget).is_ok());
        let more = parsed("[a]\nflash = 1001\nram = 20\n").unwrap();
        assert!(hold(&more, &budget).is_err());
        let unknown = parsed("[a]\nflash = 1\nram = 1\n[b]\nram = 1\n").unwrap();
        assert!(hold(&unknown, &budget).is_err());
        let unmeasured = parsed("[a]\nram = 20\n").unwrap();
        assert!(hold(&unmeasured, &budget).is_err());
        let both = parsed("[a]\nflash = 1000\nram = 30\n[b]\nflash = 1300\nram = 20\n").unwrap();
        assert_eq!(
            price(&both, "a", "b").unwrap(),
            parsed("[c]\nflash = 300\nram = 0\n").unwrap()["c"]
        );
        assert!(price(&found, "a", "b").is_err());
        assert!(parsed("flash = 1").is_err() && parsed("[a]\nflash = x").is_err());
    }
}
