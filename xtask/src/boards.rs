//! The boards of the firmware, and the cores that QEMU emulates: the only lists of them. Other
//! places that name them use these lists, or are compared with them by the tests below.

/// A board with its own programs.
pub(crate) struct Board {
    /// Its directory in `firmware`.
    pub(crate) directory: &'static str,
    /// Its package.
    pub(crate) package: &'static str,
    /// The target it is built for.
    pub(crate) target: &'static str,
    /// Programs with their own section in `firmware/budget.toml`.
    pub(crate) measured: &'static [&'static str],
    /// A program that is built by itself, with the feature `secure`.
    pub(crate) secured: Option<&'static str>,
    /// The level of its log, as in its own configuration.
    pub(crate) log: &'static str,
    /// Whether QEMU emulates the board, so that the harness can talk to its programs.
    pub(crate) is_emulated: bool,
}

pub(crate) static BOARDS: [Board; 4] = [
    EMULATED,
    Board {
        directory: "stm32f405",
        package: "stm32f405",
        target: "thumbv7em-none-eabihf",
        measured: &["stm32f405"],
        secured: None,
        log: "info",
        is_emulated: true,
    },
    Board {
        directory: "microbit-v2",
        // Not just `microbit-v2`, which is the name of its support crate.
        package: "microbit-v2-board",
        target: "thumbv7em-none-eabihf",
        measured: &["microbit-v2"],
        secured: None,
        log: "info",
        is_emulated: false,
    },
    Board {
        directory: "rp2040",
        package: "rp2040",
        target: "thumbv6m-none-eabi",
        measured: &["rp2040"],
        secured: None,
        log: "error",
        is_emulated: false,
    },
];

/// The board that QEMU emulates with all devices on its bus.
pub(crate) const EMULATED: Board = Board {
    directory: "mps2-an386",
    package: "mps2-an386",
    target: "thumbv7em-none-eabihf",
    measured: &["drift", "secured", "recorded"],
    secured: Some("secured"),
    log: "info",
    is_emulated: true,
};

/// The targets of the boards, each once.
pub(crate) const TARGETS: [&str; 2] = ["thumbv7em-none-eabihf", "thumbv6m-none-eabi"];

/// A core that QEMU emulates, for programs that run on their own: `parity` and `bench`.
pub(crate) struct Core {
    /// Its name in the results of `bench`.
    pub(crate) short: &'static str,
    /// Its name in messages.
    pub(crate) name: &'static str,
    /// QEMU's machine.
    pub(crate) machine: &'static str,
    /// The target to build for.
    pub(crate) target: &'static str,
}

pub(crate) static CORES: [Core; 5] = [
    Core {
        short: "m4f",
        name: "Cortex-M4F",
        machine: "mps2-an386",
        target: "thumbv7em-none-eabihf",
    },
    Core { short: "m7", name: "Cortex-M7", machine: "mps2-an500", target: "thumbv7em-none-eabihf" },
    Core {
        short: "m3",
        name: "Cortex-M3, soft float",
        machine: "mps2-an385",
        target: "thumbv7m-none-eabi",
    },
    // QEMU has no Cortex-M0 board with this memory map; a Cortex-M3 runs the code of an M0.
    Core { short: "m0", name: "ARMv6-M code", machine: "mps2-an385", target: "thumbv6m-none-eabi" },
    Core {
        short: "rv32",
        name: "RISC-V without floating point",
        machine: RISC_V_MACHINE,
        target: "riscv32imc-unknown-none-elf",
    },
];

/// QEMU's only machine here that is not of the ARM family.
pub(crate) const RISC_V_MACHINE: &str = "virt";

/// The targets of the cores, each once.
pub(crate) const CORE_TARGETS: [&str; 4] = [
    "thumbv7em-none-eabihf",
    "thumbv7m-none-eabi",
    "thumbv6m-none-eabi",
    "riscv32imc-unknown-none-elf",
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::Project;
    use std::collections::BTreeSet;
    use std::fs;

    fn sorted<'a>(names: impl IntoIterator<Item = &'a str>) -> BTreeSet<String> {
        names.into_iter().map(str::to_owned).collect()
    }

    #[test]
    fn every_directory_with_a_target_of_its_own_is_a_board() {
        let project = Project::find(false);
        let mut found = BTreeSet::new();
        for entry in fs::read_dir(project.path("firmware")).unwrap() {
            let directory = entry.unwrap().file_name().into_string().unwrap();
            if project.path(format!("firmware/{directory}/.cargo/config.toml")).exists() {
                found.insert(directory);
            }
        }
        assert_eq!(found, sorted(BOARDS.iter().map(|board| board.directory)));
        for Board { directory, package, target, log, .. } in &BOARDS {
            let manifest = project.read(format!("firmware/{directory}/Cargo.toml")).unwrap();
            assert!(manifest.contains(&format!("name = \"{package}\"\n")), "{directory}");
            let config = project.read(format!("firmware/{directory}/.cargo/config.toml"));
            let config = config.unwrap();
            assert!(config.contains(&format!("target = \"{target}\"\n")), "{directory}");
            assert!(config.contains(&format!("DEFMT_LOG = \"{log}\"\n")), "{directory}");
        }
    }

    #[test]
    fn the_targets_are_those_of_the_boards() {
        assert_eq!(sorted(TARGETS), sorted(BOARDS.iter().map(|board| board.target)));
        let toolchain = include_str!("../../rust-toolchain.toml");
        assert!(TARGETS.iter().all(|target| toolchain.contains(&format!("\"{target}\""))));
    }

    #[test]
    fn the_targets_of_the_cores_are_theirs() {
        assert_eq!(sorted(CORE_TARGETS), sorted(CORES.iter().map(|core| core.target)));
    }

    #[test]
    fn every_program_has_a_budget_and_no_other_has() {
        let budget = crate::size::parsed(include_str!("../../firmware/budget.toml")).unwrap();
        let programs = BOARDS.iter().flat_map(|board| board.measured).copied();
        let sections: BTreeSet<String> = budget.into_keys().collect();
        assert_eq!(sections, sorted(programs.chain(["detector", crate::size::PRICE[2]])));
    }

    #[test]
    fn the_boards_are_optimised_for_size() {
        let manifest = include_str!("../../firmware/Cargo.toml");
        let (_, profile) = manifest.split_once("[profile.release]\n").unwrap();
        let profile = profile.split("\n\n").next().unwrap();
        assert!(profile.lines().any(|line| line == "opt-level = \"z\""), "{profile}");
        // Nothing of the core or the app at another level, which the proofs would then not see, either.
        let (_, packages) = manifest.split_once("[profile.release.package]\n").unwrap();
        let packages = packages.split("\n\n").next().unwrap();
        let others = packages.lines().filter_map(|line| line.split_once(".opt-level"));
        assert_eq!(others.map(|(name, _)| name).collect::<Vec<_>>(), ["sha2"]);
    }
}
